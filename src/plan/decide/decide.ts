/** Which candidates are sent: those that are new, and sound in their order beside all others. */

import { registersEvent } from "../../actions/actions.ts";
import { hasDeeds } from "../../ledger/deeds.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import type { Pending } from "../../ledger/pending.ts";
import type { RejectedRows } from "../../ledger/rejected-rows.ts";
import { openActionText } from "../../mapping/open-actions.ts";
import { openCandidateLines } from "../candidates/candidates.ts";
import type { ProblemLog } from "../findings/problem-log.ts";
import { openBeside } from "../identity/blocked-deeds.ts";
import { matchDeeds } from "../identity/match-deeds.ts";
import { findLastAccepted } from "../rejects/find-row-places.ts";
import { createHeldRows } from "./held-rows.ts";
import { OnePass, type PassOptions } from "./one-pass.ts";
import type { Selection } from "./selection.ts";

export interface SelectOptions extends PassOptions {
  /** The ledger to compare with, undefined when no environment is named. */
  readonly ledger: Ledger | undefined;
  readonly again: boolean;
  /** Rows that an earlier run rejected. */
  readonly rejectedRows: RejectedRows;
  /** The rows were put into the order of their times. */
  readonly isByTime: boolean;
  readonly problems: ProblemLog;
}

/**
 * Decides about every candidate, in order.
 *
 * A row is invalid whole if any of its actions is. Where the actions of a row don't stand together, one may turn out to
 * be invalid after others of its row have been counted on; then all is decided again, with the row known to be invalid
 * from the beginning, until nothing changes. Each time at least one row more is invalid, so that it ends.
 */
export async function select(options: SelectOptions): Promise<Selection> {
  const { directory, compiled, blockedRows, ledger, again, pending, problems } = options;
  const isAsked = hasDeedsOr(ledger, pending) || compiled.rejected.size > 0;
  const comparedWith = isAsked && !again ? ledger : undefined;
  using lines = openCandidateLines(directory);
  const given = new Set(compiled.rejected.values());
  const verdicts = await matchDeeds({
    directory,
    candidates: compiled.candidates,
    ledger: comparedWith,
    again,
    pending,
    // What is sent again on purpose is not compared with what stands around it.
    blockedRows: again ? [] : blockedRows,
    lines,
    inputs: compiled.inputs,
    sources: options.sources,
    isByTime: options.isByTime,
    isCut: compiled.isCut,
    // Where the config lets them pass, they are deeds that repeat like any other.
    isSentOnce: (action) =>
      options.severityOf(registersEvent(action) ? "event-registered-twice" : "ticket-sold-twice") !== "error",
    leftOut: (row) => compiled.leftOut.get(row) ?? [],
    rejected: (row) => {
      const key = compiled.rejected.get(row) ?? compiled.mended.get(row);
      return key === undefined ? undefined : options.rejectedRows.openSince(key);
    },
    newestFirstIn: (row) => {
      const key = compiled.rejected.get(row);
      return key === undefined ? new Set() : options.rejectedRows.newestFirstIn(key);
    },
    isFromRejects: (row) => compiled.rejected.has(row),
    standingsOf: ({ row, nth }, action) => {
      const key = compiled.rejected.get(row);
      const name = openActionText(action.action, nth);
      return key === undefined ? undefined : options.rejectedRows.standingsOf(key, action, name, given);
    },
    askedOf: ({ row, action, nth }) => {
      const key = compiled.rejected.get(row);
      return key === undefined ? undefined : options.rejectedRows.askedOf(key, openActionText(action, nth));
    },
    mendedTo: (row) => {
      const key = compiled.rejected.get(row);
      return key === undefined ? [] : options.rejectedRows.deedsOf(key);
    },
    takenBeside: (row) => {
      const key = compiled.rejected.get(row);
      return key === undefined ? [] : options.rejectedRows.takenBeside(key);
    },
    rejectedBeside: (history) => options.rejectedRows.runsOfOthers(history, given),
    hasRejected: compiled.rejected.size > 0,
  });
  const found = {
    bits: new Uint8Array((compiled.rows.read >> 3) + 1),
    problems: problems.fork(),
    held: createHeldRows(),
  };
  for (;;) {
    const log = problems.fork();
    log.absorb(found.problems);
    const selection = await new OnePass(options, { comparedWith, verdicts, lines }, found, log).run();
    if (selection === undefined) continue;
    problems.absorb(log);
    const lastAccepted = await findLastAccepted({
      directory,
      ledger: options.invalid.invalid + options.invalid.held > 0 ? comparedWith : undefined,
      pending,
      lines,
      verdicts,
      blockedRows,
      histories: options.invalid.histories,
      isCut: compiled.isCut,
    });
    const openOfInvalid = await openBeside(verdicts.closed, blockedRows);
    return { ...selection, lastAccepted, openOfInvalid, newestFirst: verdicts.newestFirst };
  }
}

function hasDeedsOr(ledger: Ledger | undefined, pending: Pending): boolean {
  return ledger !== undefined && (hasDeeds(ledger) || pending.deeds.size > 0);
}

/** Which candidates are sent: those that are new, and sound in their order beside all others. */

import type { CrossActionChecks } from "../../checks/cross-action.ts";
import { hasDeeds } from "../../ledger/deeds.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import type { Pending } from "../../ledger/pending.ts";
import type { RejectedRows } from "../../ledger/rejected-rows.ts";
import { openActionText } from "../../mapping/open-actions.ts";
import { type BlockedRow, openCandidateLines, readBlocks } from "../candidates/candidates.ts";
import type { InvalidRows } from "../candidates/rows-not-sent.ts";
import type { Compiled } from "../compile/compile.ts";
import type { ProblemLog } from "../findings/problem-log.ts";
import { openBeside } from "../identity/blocked-deeds.ts";
import { matchDeeds } from "../identity/match-deeds.ts";
import { findLastAccepted } from "../rejects/find-row-places.ts";
import { Bits } from "./bits.ts";
import { createHeldRows } from "./held-rows.ts";
import { OnePass, type PassOptions } from "./one-pass.ts";
import { isSentOnce, type Selection } from "./selection.ts";

export interface SelectOptions extends PassOptions {
  readonly directory: string;
  readonly compiled: Compiled;
  readonly invalid: InvalidRows;
  /** Actions of invalid rows, at their places among the candidates; may be read again. */
  readonly blockedRows: Iterable<BlockedRow> | AsyncIterable<BlockedRow>;
  /** Checks that know nothing of this input yet. */
  readonly crossChecks: () => CrossActionChecks;
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
    isSentOnce: isSentOnce(options.severityOf),
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
    bits: new Bits(),
    problems: problems.fork(),
    held: createHeldRows(),
  };
  for (;;) {
    const log = problems.fork();
    log.absorb(found.problems);
    await using held = holdsInOrder(blockedRows);
    using crossChecks = options.crossChecks();
    const known = { comparedWith, verdicts, lines, crossChecks };
    const pass = new OnePass(options, known, found, log, held.next);
    for await (const block of readBlocks(directory)) await pass.take(block);
    await pass.endRow();
    const { selection } = pass;
    if (selection === undefined) continue;
    problems.absorb(log);
    const lastAccepted = await findLastAccepted({
      directory,
      ledger: options.invalid.isKept && options.invalid.invalid + options.invalid.held > 0 ? comparedWith : undefined,
      pending,
      lines,
      verdicts,
      blockedRows,
      histories: options.invalid.histories,
      isCut: compiled.isCut,
    });
    const openOfInvalid = await openBeside(verdicts.closed, blockedRows);
    const { newestFirst } = verdicts;
    return { ...selection, lastAccepted, openOfInvalid, newestFirst };
  }
}

/** Gives the blocked rows one after the other; they are few compared with the candidates. */
function holdsInOrder(blockedRows: Iterable<BlockedRow> | AsyncIterable<BlockedRow>) {
  const iterator =
    Symbol.asyncIterator in blockedRows ? blockedRows[Symbol.asyncIterator]() : blockedRows[Symbol.iterator]();
  return {
    async next(): Promise<BlockedRow | undefined> {
      const { done, value } = await iterator.next();
      return done ? undefined : value;
    },
    async [Symbol.asyncDispose]() {
      await iterator.return?.();
    },
  };
}

function hasDeedsOr(ledger: Ledger | undefined, pending: Pending): boolean {
  return ledger !== undefined && (hasDeeds(ledger) || pending.deeds.size > 0);
}

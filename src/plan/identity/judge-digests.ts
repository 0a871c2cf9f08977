/**
 * What the digests in the index tell about candidates, for many at once. In an export that is sent every night, nearly all
 * are known and unchanged.
 */

import { open } from "node:fs/promises";
import { type ActionName, actionSpec, registers } from "../../actions/actions.ts";
import { keySources } from "../../ledger/keyed-deeds.ts";
import { acceptedDeeds, areAccepted, hasRepeats, type IndexedDeed } from "../../ledger/known-state.ts";
import { candidateFiles } from "../candidates/candidates.ts";
import { contentAt, identityAt, RECORD_BYTES, readOrigin } from "../files/index-file.ts";
import type { DeedsBeside } from "./accepted-under-other-keys.ts";
import type { BlockedHistories } from "./blocked-deeds.ts";
import { comesWithRows, type MatchOptions } from "./deed-group.ts";
import { lastCounts, replaces } from "./history-of-candidate.ts";
import { createProbableSet } from "./probable-set.ts";
import type { FoundVerdicts } from "./verdicts.ts";

/** @returns the identities (hex) whose candidates must be looked at together, or one by one. */
export async function judgeByDigests(
  options: MatchOptions,
  blockedRows: BlockedHistories,
  beside: DeedsBeside | undefined,
  found: FoundVerdicts,
): Promise<ReadonlySet<string>> {
  const { directory, candidates, ledger, again, pending, isSentOnce, rejected, isFromRejects } = options;
  const doubtful = new Set<string>();
  const seen = createProbableSet();
  const looksFurther = ledger !== undefined || pending.deeds.size > 0;
  const isOfSeveralSources = severalSources(options);

  const judgeOne = (seq: number, block: Buffer, at: number, isAccepted: boolean): void => {
    const { action, keyed, further, untimed, row, input } = readOrigin(block, at);
    const kind = actionSpec(action).identity;
    if (kind === "history") found.hasHistories = true;
    if (!untimed && lastCounts(action)) found.hasOrderedTimes = true;
    const rule = keyed ? "once" : kind;
    // newEvent and soldTicket that repeat within one input have rules of their own, but for those with a key.
    const repeatsMatter =
      keyed || !registers(action) || isSentOnce(action) || comesWithRows({ action, input }, options);
    const isTimed = rule === "history" && !untimed;
    const isRepeated =
      kind === "history" && (isTimed || isAccepted) && seen.has(block.subarray(at + 16, at + RECORD_BYTES));
    // Equal ones with times may be a row that stands twice, whatever was accepted.
    if (isTimed && isRepeated) {
      doubtful.add(identityAt(block, at).toString("hex"));
      return;
    }
    const identity = identityAt(block, at);
    // Rejects hold a row in each form that it had, whatever was accepted.
    const hasPlace = rejected(row) !== undefined || ((replaces(action) || untimed) && isFromRejects(row));
    if (rule === "history" && !keyed && hasPlace && !again) {
      doubtful.add(identity.toString("hex"));
      return;
    }
    if (!looksFurther && (rule === "history" ? blockedRows.size === 0 : !repeatsMatter)) return;
    const key = blockedRows.size > 0 || pending.deeds.size > 0 ? identity.toString("hex") : "";
    if (rule === "history" && blockedRows.has(key)) {
      doubtful.add(key);
      return;
    }
    if (isAccepted && keyed && isOfSeveralSources(action, input)) {
      doubtful.add(identity.toString("hex"));
      return;
    }
    // What stands beside it in its row is done with, also where it says the same.
    if (keyed && options.leftOut(row).length > 0) {
      doubtful.add(identity.toString("hex"));
      return;
    }
    if (isAccepted) {
      found.set(seq, "sent");
      if (kind !== "history") return;
      // The same once more, on either side, is a deed of its own, perhaps.
      if (isRepeated || (!keyed && untimed && ledger !== undefined && hasRepeats(ledger, identity)))
        doubtful.add(identity.toString("hex"));
      return;
    }
    if (pending.deeds.has(key)) {
      if (kind === "once") found.set(seq, "pending");
      else doubtful.add(key);
      return;
    }
    const deeds = ledger === undefined ? [] : acceptedDeeds(ledger, identity);
    const isKnown = deeds.length > 0 || (!keyed && beside?.has(identity) === true);
    if (keyed && !isKnown) found.hasNewKeys = true;
    if (isKnown) doubtful.add(identity.toString("hex"));
    // The first of its row was looked at.
    else if (further && kind === "history") return;
    else if (rule !== "history" && repeatsMatter && seen.has(identity)) doubtful.add(identity.toString("hex"));
  };

  await using index = await open(candidateFiles(directory).index, "r");
  const block = Buffer.allocUnsafe(RECORD_BYTES * 8192);
  for (let seq = 0; seq < candidates; ) {
    const { bytesRead } = await index.read(block, 0, block.length, seq * RECORD_BYTES);
    if (bytesRead === 0) throw new Error("the candidates' index is shorter than it should be");
    const accepted = ledger === undefined ? undefined : areAccepted(ledger, deedsOf(block.subarray(0, bytesRead)));
    for (let number = 0; number < bytesRead / RECORD_BYTES; number += 1, seq += 1)
      judgeOne(seq, block, number * RECORD_BYTES, accepted?.[number] === 1);
  }
  return doubtful;
}

/** Whether a kind of deeds has keys of several sources, which may be the same for different deeds. */
function severalSources({ ledger, inputs, sources }: MatchOptions): (action: ActionName, input: number) => boolean {
  const known = new Map<ActionName, ReadonlySet<string>>();
  return (action, input) => {
    let of = known.get(action);
    if (of === undefined) {
      const keyed = ledger === undefined || actionSpec(action).identity === "once" ? [] : keySources(ledger, action);
      of = new Set(keyed.filter((source) => sources.has(source)));
      known.set(action, of);
    }
    return of.size > 1 || (of.size === 1 && !of.has(inputs[input]?.readAs ?? ""));
  };
}

function deedsOf(records: Buffer): readonly IndexedDeed[] {
  return Array.from({ length: records.length / RECORD_BYTES }, (_, number) => ({
    identity: identityAt(records, number * RECORD_BYTES),
    content: contentAt(records, number * RECORD_BYTES),
  }));
}

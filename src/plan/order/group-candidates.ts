/** Candidates that are sent, added to the groups that lanes are made of. */

import { actionOf, type KeptRange, openCandidateLines, readCandidates } from "../candidates/candidates.ts";
import type { LaneGroups } from "./lane-groups.ts";

/** Adds the selected candidates to the groups, as they stand on disk. */
export async function groupKept(
  directory: string,
  kept: readonly KeptRange[],
  groups: LaneGroups,
  signal: AbortSignal,
): Promise<void> {
  using lines = openCandidateLines(directory);
  groups.expect(kept.reduce((sum, { count }) => sum + count, 0));
  const isKept = keptIn(kept);
  for await (const candidates of readCandidates(directory)) {
    signal.throwIfAborted();
    for (const candidate of candidates)
      if (isKept(candidate.seq)) groups.add(actionOf(candidate, lines).data, candidate.row, candidate.length);
  }
}

/** Whether a candidate is sent; to be asked in order. */
export function keptIn(kept: readonly KeptRange[]): (seq: number) => boolean {
  let at = 0;
  return (seq) => {
    let range = kept[at];
    while (range !== undefined && seq >= range.first + range.count) {
      at += 1;
      range = kept[at];
    }
    return range !== undefined && seq >= range.first;
  };
}

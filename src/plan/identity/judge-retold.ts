/** Deeds whose times are told otherwise than they were accepted with, and the resales and updates that stand beside them. */

import { areOfOneMoment, greatestShift, retoldAmong } from "../histories/retold-times.ts";
import type { FoundVerdicts } from "./verdicts.ts";

/** Of all histories together: what may be an accepted deed whose time is told otherwise, as that of its whole file, is not sent. */
export function judgeRetold(found: FoundVerdicts): void {
  for (const ofFile of Map.groupBy(found.compared, ({ candidate }) => candidate.input).values()) {
    for (const [{ candidate, acceptedAt }, retold] of retoldAmong(ofFile)) {
      const accepted = acceptedAt(retold.of);
      if (accepted === undefined) continue;
      const isCutShort = retold.minutes === 0;
      found.set(candidate.seq, "unclear", { kind: "told otherwise", accepted, isCutShort });
    }
  }
  judgeBesideRetold(found);
}

/** Seconds by which what has no key shows that inputs, by their numbers, are moved to later times. */
export function shiftsOfInputs(found: FoundVerdicts): ReadonlyMap<number, number> {
  const byFile = Map.groupBy(found.compared, ({ candidate }) => candidate.input);
  return new Map([...byFile].map(([input, compared]) => [input, greatestShift(compared)]));
}

/** Where times are told otherwise, what stands beside them has no place by its own: moved, it may only seem to be the last one. */
function judgeBesideRetold(found: FoundVerdicts): void {
  const shiftOf = shiftsOfInputs(found);
  for (const { open, accepted, seqs } of found.chains) {
    const isRetold = seqs.some((seq) => found.detailOf(seq)?.kind === "told otherwise");
    for (const { candidate, time } of open) {
      const shift = BigInt(shiftOf.get(candidate.input) ?? 0);
      const isDoubtful =
        time !== undefined &&
        accepted.some((other) => {
          const isMoved = other.time < time && time - shift <= other.time;
          return isMoved || (!other.isStanding && areOfOneMoment(other.time, time));
        });
      if ((isRetold || isDoubtful) && found.isNew(candidate.seq))
        found.set(candidate.seq, "unclear", { kind: "beside told otherwise" });
    }
  }
}

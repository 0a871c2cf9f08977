/**
 * Deeds that come too late by their times. Of what replaces (a resale, the ticket's holder) the last one that is sent counts, so
 * that one of an earlier time than an accepted one must not come after it, whichever file brings it. Those of one input go in its
 * order, and scans undo nothing. Behind which of those without times it comes too late, its place tells (histories/match-history.ts).
 */

import type { ActionName } from "../../actions/actions.ts";
import type { DeedVerdict, InputDeed, KnownDeed } from "../histories/history.ts";
import { areOfOneMoment } from "../histories/retold-times.ts";
import { replaces } from "./history-of-candidate.ts";

/** The time of a known deed by its number: as it was accepted, else as it came later. */
type TimeOfKnown = (of: number) => bigint | undefined;

export function timesOfKnown(
  known: readonly KnownDeed[],
  input: readonly InputDeed[],
  verdicts: readonly DeedVerdict[],
): TimeOfKnown {
  const came = new Map(
    input.flatMap((deed, at) => {
      const verdict = verdicts[at];
      return deed.content !== undefined && deed.isTimed && verdict?.kind === "changed"
        ? [[verdict.of, deed] as const]
        : [];
    }),
  );
  return (of) => known[of]?.said().time ?? came.get(of)?.said().time;
}

/**
 * Number of an accepted deed of a later time than this one; undefined where there is none, or the deed is not to be sent anyway.
 *
 * @param known what the service was asked for of its history.
 */
export function laterAccepted(
  action: ActionName,
  deed: InputDeed,
  { kind }: DeedVerdict,
  known: readonly KnownDeed[],
  timeOf: TimeOfKnown,
): number | undefined {
  const isOpen = kind === "new" || kind === "held";
  if (!isOpen || deed.content === undefined || !deed.isTimed || !replaces(action)) return undefined;
  const { time } = deed.said();
  if (time === undefined) return undefined;
  const at = known.findIndex(({ state }, of) => {
    const other = timeOf(of);
    return state === "accepted" && other !== undefined && other > time && !areOfOneMoment(other, time);
  });
  return at === -1 ? undefined : at;
}

/**
 * Deeds that come too late by their times. Of what replaces (a resale, the ticket's holder) the last one that is sent counts, so
 * that one of an earlier time than an accepted one must not come after it, whichever file brings it. Those of one input go in its
 * order, and scans undo nothing.
 */

import type { ActionName } from "../../actions/actions.ts";
import { replaces } from "./keyed-order.ts";
import type { DeedVerdict, InputDeed, KnownDeed } from "./match-history.ts";

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
): number | undefined {
  const isOpen = kind === "new" || kind === "held";
  if (!isOpen || deed.content === undefined || !deed.isTimed || !replaces(action)) return undefined;
  const { time } = deed.said();
  if (time === undefined) return undefined;
  const at = known.findIndex((each) => each.state === "accepted" && (each.said().time ?? 0n) > time);
  return at === -1 ? undefined : at;
}

/** What a command, a run or a chunk came to, in words. */

import type { Chunk, Settlement } from "../ledger/ledger.ts";
import type { ActionCounts, RowCounts } from "../plan/plan.ts";
import type { Summary } from "../run/summary.ts";
import { cleanText, count, number } from "../text.ts";
import type { localTimes } from "./local-time.ts";

/** `20 actions: 18 accepted, 2 rejected`. @param inFlight how many of those in doubt a living process is sending. */
export function describeActions(actions: Summary["actions"], inFlight = 0): string {
  const { total, accepted, rejected, inDoubt, notSent } = actions;
  const outcomes = { accepted, rejected, "in doubt": inDoubt - inFlight, "in flight": inFlight, "not sent": notSent };
  return withParts(count(total, "action"), { ...outcomes, ...backParts(actions) });
}

/** What of a plan is not new. */
const backParts = ({ alreadySent, changed, late, unclear }: Omit<ActionCounts, "total" | "new" | "held">) => ({
  "already sent": alreadySent,
  ...{ changed, late, unclear },
});

/** `40 already sent, 1 late`; nothing where all is new. */
export const describeBack = ({ held, ...actions }: ActionCounts): string => listOf({ ...backParts(actions), held });

/** `2 rejected, 40 already sent`: every part that is not zero. */
export const listOf = (parts: Readonly<Record<string, number>>): string =>
  Object.entries(parts)
    .filter(([, value]) => value > 0)
    .map(([part, value]) => `${number(value)} ${part}`)
    .join(", ");

/** `26 rows: 23 mapped, 2 skipped, 1 held` */
export const describeRows = ({ read, mapped, skipped, invalid, held }: RowCounts): string =>
  withParts(count(read, "row"), { mapped, skipped, invalid, held });

function withParts(all: string, parts: Readonly<Record<string, number>>): string {
  const list = listOf(parts);
  return list === "" ? all : `${all}: ${list}`;
}

/** `1 row invalid, 2 held` */
export function describeUnsentRows({ invalid, held }: RowCounts): string {
  if (invalid === 0) return `${count(held, "row")} held`;
  return `${count(invalid, "row")} invalid${held === 0 ? "" : `, ${number(held)} held`}`;
}

/** `4 (a part of chunk 2)`: a run is first described in the chunks that were planned. */
export const chunkNumber = ({ chunk, whole }: Pick<Chunk, "chunk" | "whole">): string =>
  whole === chunk ? `${chunk}` : `${chunk} (a part of chunk ${whole})`;

const DECIDED: Readonly<Record<Settlement["decision"], string>> = {
  sent: "settled as sent",
  "not-sent": "settled as not-sent",
  abandon: "closed",
  pause: "paused",
};

/** `settled as sent by anna, 18 Jan 03:00: found by support` */
export function describeSettlement(
  {
    decision,
    who,
    at,
    reason,
  }: Pick<Settlement, "decision" | "who" | "at"> & { readonly reason?: string | null | undefined },
  time: ReturnType<typeof localTimes>,
): string {
  return `${DECIDED[decision]} by ${who}, ${time(at)}${reason == null ? "" : `: ${cleanText(reason, 200)}`}`;
}

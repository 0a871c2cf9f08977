/** The line that shows the work under way. */

import type { WorkUnderWay } from "../run/progress.ts";
import { cleanText, count, durationText, number } from "../text.ts";

/** Where a piece of work began, in milliseconds of a monotonic clock: what its rate and the time left follow from. */
export interface Pace {
  readonly doing: string;
  readonly startedAt: number;
  readonly startedWith: number;
  readonly startedShare: number;
}

export const paceFrom = (state: WorkUnderWay, now: number): Pace => ({
  ...{ doing: state.doing, startedAt: now, startedWith: state.done, startedShare: shareOf(state) },
});

/** How much of the work is done, 0 to 1. */
const shareOf = ({ done, total, share = 0 }: WorkUnderWay): number =>
  total === undefined ? share : done / Math.max(1, total);

/** What a narrow line keeps, most needed first: what is under way always stands in it. */
const MOST_NEEDED = ["share", "left", "amount", "note", "rejected", "rate"] as const;

/** `sending 5,000 of 12,000 actions · 41% · 4,800/s · 2 s left · 3 rejected`, as much of it as has room. */
export function describeProgress(
  state: WorkUnderWay,
  pace: Pace,
  now: number,
  room = Number.POSITIVE_INFINITY,
): string {
  const { doing, done, total, unit, rejected = 0, waiting } = state;
  const elapsed = (now - pace.startedAt) / 1000;
  const perSecond = elapsed >= 0.5 ? (done - pace.startedWith) / elapsed : 0;
  const share = shareOf(state);
  const gained = elapsed >= 0.5 ? share - pace.startedShare : 0;
  // In the order in which they stand in the line.
  const parts: Readonly<Record<(typeof MOST_NEEDED)[number], string | false | undefined>> = {
    amount: ` ${total === undefined ? count(done, unit) : `${number(done)} of ${count(total, unit)}`}`,
    // Rounded down: what is not done is never called 100%.
    share: share > 0 && ` · ${Math.floor(100 * share)}%`,
    rate: perSecond > 0 && ` · ${number(Math.round(perSecond))}/s`,
    left: gained > 0 && share < 1 && ` · ${durationText((1000 * elapsed * (1 - share)) / gained)} left`,
    rejected: rejected > 0 && ` · ${number(rejected)} rejected`,
    note: waiting && ` · ${cleanText(waiting.detail, 60)}; trying again in ${durationText(waiting.waitMs)}`,
  };
  const shown: Partial<Record<string, string>> = {};
  let free = room - doing.length;
  for (const name of MOST_NEEDED) {
    const text = parts[name] || "";
    if (text.length > free) continue;
    free -= text.length;
    shown[name] = text;
  }
  const inOrder = Object.keys(parts).map((name) => shown[name] ?? "");
  return `${doing}${inOrder.join("")}`;
}

/** Times that are Unix seconds, yet too far away to be meant. */

import type { FieldName } from "../actions/fields.ts";
import { about, type Finding } from "../actions/problem.ts";

const DAY = 86_400;
const YEAR = 31_556_952;

/** 2009-01-01: there was no blockchain before, and no ticket on it. */
const EARLIEST_ORDER = 1_230_768_000;
/** As much as clocks and zones can be apart, generously. */
const LATEST_ORDER_AHEAD = 2 * DAY;
const FARTHEST_EVENT = 10 * YEAR;

/**
 * The finding about a time that is too far from `now` (Unix seconds). A zero says that the start or end of an event is
 * not known.
 *
 * @param dated - writes a time for people.
 */
export function farTime(
  field: FieldName,
  time: number | bigint,
  now: number,
  dated: (seconds: number | bigint) => string,
): Finding | undefined {
  if (field !== "orderTime") {
    if (time <= 0 || (time >= now - FARTHEST_EVENT && time <= now + FARTHEST_EVENT)) return undefined;
    const message = `${field} is ${dated(time)}, more than ten years from now.`;
    return { rule: "event-time-far", ...about(field, String(time)), message, hint: FAR_HINT };
  }
  if (time >= EARLIEST_ORDER && time <= now + LATEST_ORDER_AHEAD) return undefined;
  const message =
    time < EARLIEST_ORDER
      ? `orderTime is ${dated(time)}, before there were such tickets.`
      : `orderTime is ${dated(time)}, more than two days ahead.`;
  return { rule: "order-time-far", ...about(field, String(time)), message, hint: FAR_HINT };
}

const FAR_HINT = "Check that the right column is mapped, and that its day, month, year and zone are read as intended.";

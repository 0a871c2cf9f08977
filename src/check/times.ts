/** Times that are numbers as Unix seconds are, yet probably not meant as that one. */

import type { FieldName } from "../actions/fields.ts";
import { about, type Finding } from "../actions/problem.ts";
import { NONE } from "../actions/validate.ts";
import { utcText } from "../text.ts";

/** 2009-01-01: there was no blockchain before, and no ticket on it. */
const EARLIEST_ORDER = 1_230_768_000;
/** What was sold or scanned lies in the past; so far may clocks differ, and zones are further apart. */
const LATEST_ORDER_AHEAD = 15 * 60;
const FARTHEST_EVENT = 10 * 31_556_952;

/** The instants of 2001 to 2286 (2262 in nanoseconds) in each unit; as seconds they are thousands of years away. */
const FINER_UNITS = [
  { unit: "milliseconds", digits: 3, from: 1e12, below: 1e13 },
  { unit: "microseconds", digits: 6, from: 1e15, below: 1e16 },
  { unit: "nanoseconds", digits: 9, from: 1e18, below: 9.2e18 },
] as const;

/** What is likely wrong with a time. `now` is that of the check, in Unix seconds. */
export function mistakesOfTime(field: FieldName, text: string, now: number): readonly Finding[] {
  const time = Number(text);
  const finer = FINER_UNITS.find(({ from, below }) => time >= from && time < below);
  if (finer !== undefined && /^\d+$/.test(text)) {
    const seconds = text.slice(0, -finer.digits);
    const message = `${field} looks like ${finer.unit}; the service reads seconds.`;
    const hint = `Give ${seconds}, which is ${dated(seconds)}.`;
    return [{ rule: "looks-like-milliseconds", ...about(field, text), message, hint }];
  }
  const far = farTime(field, text, now);
  return far === undefined ? NONE : [{ ...about(field, text), ...far, hint: FAR_HINT }];
}

const FAR_HINT = "Check that the right column is mapped, and that its day, month, year and zone are read as intended.";

/** A zero says that the start or end of an event is not known. */
function farTime(field: FieldName, text: string, now: number): Pick<Finding, "rule" | "message"> | undefined {
  const time = Number(text);
  if (field !== "orderTime") {
    if (time <= 0 || (time >= now - FARTHEST_EVENT && time <= now + FARTHEST_EVENT)) return undefined;
    return { rule: "event-time-far", message: `${field} is ${dated(text)}, more than ten years from now.` };
  }
  if (time >= EARLIEST_ORDER && time <= now + LATEST_ORDER_AHEAD) return undefined;
  const why = time < EARLIEST_ORDER ? "before there were such tickets" : "which is in the future";
  return { rule: "order-time-far", message: `orderTime is ${dated(text)}, ${why}.` };
}

/** An event that ends before it starts. Zero is the default and means that nothing is known. */
export function mistakesOfSpan(start = "0", end = "0"): readonly Finding[] {
  if (Number(end) === 0 || !(Number(end) < Number(start))) return NONE;
  return [
    {
      rule: "end-before-start",
      ...about("endTime", end),
      message: `The event ends (${dated(end)}) before it starts (${dated(start)}).`,
      hint: "Check whether the two are mixed up or their zones differ.",
    },
  ];
}

/** A time for a message: as a date where it is one, else as the number it is. */
const dated = (seconds: string): string => utcText(Number(seconds)) ?? seconds;

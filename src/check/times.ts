/** Times that are numbers as Unix seconds are, yet probably not meant as that one. */

import type { FieldName } from "../actions/fields.ts";
import { about, type Finding } from "../actions/problem.ts";
import { utcText } from "../actions/text.ts";
import { NONE } from "../actions/validate.ts";

type Time = number | bigint;

const DAY = 86_400;
/** 2009-01-01: there was no blockchain before, and no ticket on it. */
const EARLIEST_ORDER = 1_230_768_000;
/** As much as clocks and zones can be apart, generously. */
const LATEST_ORDER_AHEAD = 2 * DAY;
const FARTHEST_EVENT = 10 * 31_556_952;

/** What is likely wrong with a time. `now` is that of the check, in Unix seconds; without it nothing is too far from now. */
export function mistakesOfTime(field: FieldName, time: Time, now: number | undefined): readonly Finding[] {
  const misread = misreadTime(field, time);
  if (misread !== undefined) return [{ ...about(field, String(time)), ...misread }];
  const far = now === undefined ? undefined : farTime(field, time, now);
  return far === undefined ? NONE : [{ ...about(field, String(time)), ...far, hint: FAR_HINT }];
}

const FAR_HINT = "Check that the right column is mapped, and that its day, month, year and zone are read as intended.";

/** A zero says that the start or end of an event is not known. */
function farTime(field: FieldName, time: Time, now: number): Pick<Finding, "rule" | "message"> | undefined {
  if (field !== "orderTime") {
    if (time <= 0 || (time >= now - FARTHEST_EVENT && time <= now + FARTHEST_EVENT)) return undefined;
    return { rule: "event-time-far", message: `${field} is ${dated(time)}, more than ten years from now.` };
  }
  if (time >= EARLIEST_ORDER && time <= now + LATEST_ORDER_AHEAD) return undefined;
  const why = time < EARLIEST_ORDER ? "before there were such tickets" : "more than two days ahead";
  return { rule: "order-time-far", message: `orderTime is ${dated(time)}, ${why}.` };
}

/** The seconds of 1973 to 5138: no other unit has them. */
const LIKELY_FROM = 1e8;
const LIKELY_BELOW = 1e11;

const DATE_DIGITS =
  /^(?:19[7-9]\d|20\d\d)(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])(?:(?:[01]\d|2[0-3])[0-5]\d(?:[0-5]\d)?)?$/;
const DATE_FORMATS: Readonly<Record<number, string>> = { 8: "yyyyMMdd", 12: "yyyyMMddHHmm", 14: "yyyyMMddHHmmss" };

/** The days of 2000 to 2099 as spreadsheets count them, and the day that they give 1970-01-01. */
const SHEET_DAYS = { from: 36_526, below: 73_051, epoch: 25_569n } as const;
/** The seconds of these years divided by a thousand. */
const THOUSANDTHS = { from: 946_684, below: 4_102_445 } as const;
/** The instants of 1973 to 5138 (2262 in nanoseconds) in each unit; as seconds they are thousands of years away. */
const FINER_UNITS = [
  { unit: "milliseconds", digits: 3, from: 1e11, below: 1e14 },
  { unit: "microseconds", digits: 6, from: 1e14, below: 1e17 },
  { unit: "nanoseconds", digits: 9, from: 1e17, below: 9.2e18 },
] as const;

const isWithin = (time: Time, { from, below }: { readonly from: number; readonly below: number }): boolean =>
  time >= from && time < below;

/** What a number is that is not a likely time in seconds, but is one in another form. */
function misreadTime(field: FieldName, time: Time): Pick<Finding, "rule" | "message" | "hint"> | undefined {
  if ((time >= LIKELY_FROM && time < LIKELY_BELOW) || time < SHEET_DAYS.from) return undefined;
  const noUnixTime = (what: string, hint: string) => ({
    rule: "looks-like-no-unix-time",
    message: `${field} looks like ${what}; the service reads Unix seconds, so ${dated(time)}.`,
    hint,
  });
  const digits = String(time);
  const format = DATE_FORMATS[digits.length];
  if (format !== undefined && DATE_DIGITS.test(digits))
    return noUnixTime("the digits of a date", `Declare how the file writes it: format: "${format}", with its zone.`);
  if (isWithin(time, SHEET_DAYS)) {
    const day = dated((BigInt(Math.floor(Number(time))) - SHEET_DAYS.epoch) * BigInt(DAY)).slice(0, 10);
    return noUnixTime(
      `the number that a spreadsheet has for ${day}`,
      "Format the column as date and time before saving it as CSV, or export again.",
    );
  }
  if (isWithin(time, THOUSANDTHS))
    return noUnixTime("a thousandth of Unix seconds", "Is format: unix-ms declared for a column of seconds?");
  if (typeof time === "number" && !Number.isInteger(time)) return undefined;
  const finer = FINER_UNITS.find((unit) => isWithin(time, unit));
  if (finer === undefined) return undefined;
  const seconds = BigInt(time) / 10n ** BigInt(finer.digits);
  return {
    rule: "looks-like-milliseconds",
    message: `${field} looks like ${finer.unit}; the service reads seconds.`,
    hint: `Give ${seconds}, which is ${dated(seconds)}.`,
  };
}

/** An event that ends before it starts. Zero is the default and means that nothing is known. */
export function mistakesOfSpan(start: unknown, end: unknown): readonly Finding[] {
  if (!isTime(start) || !isTime(end) || end >= start) return NONE;
  return [
    {
      rule: "end-before-start",
      ...about("endTime", String(end)),
      message: `The event ends (${dated(end)}) before it starts (${dated(start)}).`,
      hint: "Check whether the two are mixed up or their zones differ.",
    },
  ];
}

const isTime = (value: unknown): value is Time => (typeof value === "number" || typeof value === "bigint") && value > 0;

/** A time for a message: as a date where it is one, else as the number it is. */
const dated = (seconds: Time): string => utcText(seconds) ?? String(seconds);

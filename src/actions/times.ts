/** Times as text → Unix seconds. Fractions are cut; what is not an instant is reported, never guessed. */

import { namedZone, type Zone } from "./zones.ts";

/** Why a text that has the form of a time is no instant: it may have that form and not exist, such as 2026-02-30T10:00Z. */
export type TimeFault = "impossible" | "no-zone" | "skipped-hour" | "unknown-zone";

export const BEFORE_1970 = "Unix seconds can't express it; leave it out.";

/** Of a local time that no clock of its zone shows; `what` is the end of a sentence. */
export const SKIPPED_HOUR = {
  rule: "time-skipped",
  what: "is in the hour that the clocks skip",
  hint: "Check that the zone is the one in which the file writes its times.",
} as const;

/** What a clock shows, in seconds as if it showed UTC, and the zone that stands beside it → the instant. */
export type ToInstant = (local: number, named: string | undefined) => number | TimeFault;

/** Takes times that name no zone for times of `zone`. */
export function instantIn(zone: Zone | undefined): ToInstant {
  return (local, named) => {
    const shownIn = named === undefined ? zone : namedZone(named);
    if (shownIn === undefined) return named === undefined ? "no-zone" : "unknown-zone";
    return shownIn(local) ?? "skipped-hour";
  };
}

/** The end of an ISO time: an offset, and a zone in brackets. */
const OFFSET = /^(?: ?([Zz]|UTC|GMT)| ?([+-])(\d{2}):?(\d{2})?)?(?:\[([^\]]+)\])?$/;

/**
 * RFC 3339, and what systems write instead of it: a blank for the T, no seconds, an offset without colon, `UTC`, a zone name in
 * brackets (the offset wins). Undefined when the text has another form.
 */
export function readIso(text: string, toInstant: ToInstant): number | TimeFault | undefined {
  if (text.charCodeAt(4) !== 0x2d || text.charCodeAt(7) !== 0x2d || text.charCodeAt(13) !== 0x3a) return undefined;
  const between = text.charCodeAt(10);
  if (between !== 0x54 && between !== 0x20 && between !== 0x74) return undefined;
  const year = 100 * twoDigits(text, 0) + twoDigits(text, 2);
  let at = 16;
  let second = 0;
  if (text.charCodeAt(at) === 0x3a) {
    second = twoDigits(text, at + 1);
    at += 3;
    const mark = text.charCodeAt(at);
    if (mark === 0x2e || mark === 0x2c) {
      const start = at + 1;
      do at += 1;
      while (isDigit(text.charCodeAt(at)));
      if (at === start) return undefined;
    }
  }
  const local = clockSeconds(
    year,
    twoDigits(text, 5),
    twoDigits(text, 8),
    twoDigits(text, 11),
    twoDigits(text, 14),
    second,
  );
  if (Number.isNaN(local)) return undefined;
  if (at === text.length) return local === IMPOSSIBLE ? "impossible" : toInstant(local, undefined);
  const found = OFFSET.exec(text.slice(at));
  if (found === null) return undefined;
  if (local === IMPOSSIBLE) return "impossible";
  if (found[1] !== undefined) return local;
  if (found[2] === undefined) return toInstant(local, found[5]);
  const offset = offsetSeconds(found[2], found[3], found[4]);
  return offset === undefined ? "impossible" : local - offset;
}

const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39;

/** NaN where there are none. */
function twoDigits(text: string, at: number): number {
  const tens = text.charCodeAt(at);
  const ones = text.charCodeAt(at + 1);
  return isDigit(tens) && isDigit(ones) ? 10 * tens + ones - 11 * 0x30 : Number.NaN;
}

/** `+`, `01`, `30` → 5400; undefined when no clock on earth can be that far off. */
export function offsetSeconds(sign: string, hours = "0", minutes = "0"): number | undefined {
  const offset = Number(hours) * 3600 + Number(minutes) * 60;
  return Number(minutes) > 59 || offset > 24 * 3600 ? undefined : sign === "-" ? -offset : offset;
}

/** What no calendar or clock shows. */
export const IMPOSSIBLE = Number.NEGATIVE_INFINITY;

/**
 * The clock's reading taken as UTC; NaN where a part is. A leap second (23:59:60) is the second after it, as Unix time has
 * it.
 */
export function clockSeconds(
  year: number,
  month: number,
  day: number,
  hour: number,
  minute: number,
  second: number,
): number {
  const seconds = 86400 * daysBefore(year, month, day) + 3600 * hour + 60 * minute + second;
  const isShown =
    month >= 1 &&
    month <= 12 &&
    day >= 1 &&
    day <= daysIn(year, month) &&
    hour <= 23 &&
    minute <= 59 &&
    (second <= 59 || (second === 60 && minute === 59));
  return isShown || Number.isNaN(seconds) ? seconds : IMPOSSIBLE;
}

/** Days from 1970-01-01 to a date, by years that begin in March, so that the day of a leap year is their last. */
function daysBefore(year: number, month: number, day: number): number {
  const years = month > 2 ? year : year - 1;
  const days = Math.floor((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5) + day - 1;
  return 365 * years + Math.floor(years / 4) - Math.floor(years / 100) + Math.floor(years / 400) + days - 719_468;
}

function daysIn(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

/** Times as text → Unix seconds. Fractions are cut; what is not an instant is told, never guessed. */

/** A time of day at a date, in no zone yet. */
export interface LocalTime {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
}

export type IsoTime =
  | { readonly kind: "instant"; readonly seconds: number }
  | { readonly kind: "local"; readonly local: LocalTime; readonly zone?: string }
  /** Has the form of a time, such as 2026-02-30T10:00Z, but there is none. */
  | { readonly kind: "impossible" };

const ISO =
  /^(\d{4})-(\d{2})-(\d{2})[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:[.,]\d+)?)?(?: ?([Zz])| ?([+-])(\d{2}):?(\d{2})?)?(?:\[([^\]]+)\])?$/;

/**
 * RFC 3339, and what systems write instead of it: a blank for the T, no seconds, an offset without colon, a zone name in
 * brackets (the offset wins). Undefined when the text has another form.
 */
export function parseIso(text: string): IsoTime | undefined {
  const found = ISO.exec(text);
  if (found === null) return undefined;
  const local: LocalTime = {
    year: Number(found[1]),
    month: Number(found[2]),
    day: Number(found[3]),
    hour: Number(found[4]),
    minute: Number(found[5]),
    second: Number(found[6] ?? 0),
  };
  if (!exists(local)) return { kind: "impossible" };
  if (found[7] !== undefined) return { kind: "instant", seconds: secondsAsUtc(local) };
  if (found[8] === undefined) {
    return found[11] === undefined ? { kind: "local", local } : { kind: "local", local, zone: found[11] };
  }
  const offset = offsetSeconds(found[8], found[9], found[10]);
  return offset === undefined ? { kind: "impossible" } : { kind: "instant", seconds: secondsAsUtc(local) - offset };
}

/** `+`, `01`, `30` → 5400; undefined when no clock on earth can be that far off. */
export function offsetSeconds(sign: string, hours = "0", minutes = "0"): number | undefined {
  const offset = Number(hours) * 3600 + Number(minutes) * 60;
  return Number(minutes) > 59 || offset > 24 * 3600 ? undefined : sign === "-" ? -offset : offset;
}

/** The clock's reading taken as UTC. */
export function secondsAsUtc({ year, month, day, hour, minute, second }: LocalTime): number {
  const time = Date.UTC(year, month - 1, day, hour, minute, second);
  // `Date` takes the years 0 to 99 for those of the twentieth century.
  return (year < 100 ? new Date(time).setUTCFullYear(year) : time) / 1000;
}

/** Whether the calendar and the clock have it. A leap second (23:59:60) is the second after it, as Unix time has it. */
export function exists({ year, month, day, hour, minute, second }: LocalTime): boolean {
  return (
    month >= 1 &&
    month <= 12 &&
    day >= 1 &&
    day <= daysIn(year, month) &&
    hour <= 23 &&
    minute <= 59 &&
    (second <= 59 || (second === 60 && minute === 59))
  );
}

function daysIn(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

/** Times as text → Unix seconds. Fractions are cut; what is not an instant is reported, never guessed. */

import { IANAZone } from "luxon";
import { fold, nearest } from "./nearest.ts";

/** Why a text that has the form of a time is no instant: it may have that form and not exist, such as 2026-02-30T10:00Z. */
export type TimeFault = "impossible" | "no-zone" | "skipped-hour" | "unknown-zone";

/** What is wrong with such a text; `what` is the end of a sentence that begins with its field. */
export const TIME_FAULTS = {
  impossible: {
    rule: "time-unreadable",
    what: "is a time that does not exist",
    hint: "Check it and its format: day and month may be the other way round, or the hour is above 23.",
  },
  "no-zone": {
    rule: "time-without-zone",
    what: "is a local time without a zone",
    hint: "Write the offset, such as 2026-05-01T20:00:00+02:00, or declare the zone of the source in the config, such as zone: Europe/Berlin.",
  },
  "skipped-hour": {
    rule: "time-skipped",
    what: "is in the hour that the clocks skip",
    hint: "Check that the zone is the one in which the file writes its times.",
  },
  "unknown-zone": {
    rule: "time-unreadable",
    what: "names an unknown zone, or an abbreviation that several zones share",
    hint: "Write the offset.",
  },
} as const satisfies Record<TimeFault, object>;

export const BEFORE_1970 = {
  rule: "u64-invalid",
  what: "is before 1970",
  hint: "Unix seconds can't express it; leave it out.",
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

const ISO =
  /^(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,]\d+)?)?(?: ?([Zz]|UTC|GMT)| ?([+-])(\d\d):?(\d\d)?)?(?:\[([^\]]+)\])?$/;

/**
 * RFC 3339, and what systems write instead of it: a blank for the T, no seconds, an offset without colon, `UTC`, a zone name in
 * brackets (the offset wins). Undefined when the text has another form.
 */
export function readIso(text: string, toInstant: ToInstant): number | TimeFault | undefined {
  const found = ISO.exec(text);
  if (found === null) return undefined;
  const [, year, month, day, hour, minute, second = "0", utc, sign, hours, minutes, zone] = found;
  const local = clockSeconds(Number(year), Number(month), Number(day), Number(hour), Number(minute), Number(second));
  if (local === IMPOSSIBLE) return "impossible";
  if (utc !== undefined) return local;
  if (sign === undefined) return toInstant(local, zone);
  const offset = offsetSeconds(sign, hours, minutes);
  return offset === undefined ? "impossible" : local - offset;
}

/** `+`, `01`, `30` → 5400; undefined when no clock on earth can be that far off. */
export function offsetSeconds(sign: string, hours = "0", minutes = "0"): number | undefined {
  const offset = Number(hours) * 3600 + Number(minutes) * 60;
  return Number(minutes) > 59 || offset > 24 * 3600 ? undefined : sign === "-" ? -offset : offset;
}

/** What no calendar or clock shows. */
export const IMPOSSIBLE = Number.NEGATIVE_INFINITY;

/** The clock's reading taken as UTC. A leap second (23:59:60) is the second after it, as Unix time has it. */
export function clockSeconds(
  year: number,
  month: number,
  day: number,
  hour: number,
  minute: number,
  second: number,
): number {
  // 400 years later, where the calendar is the same: `Date.UTC` takes a year below 100 for one of the 20th century.
  const date = Date.UTC(year + 400, month - 1, day);
  const isDate = day >= 1 && month >= 1 && month <= 12 && date <= Date.UTC(year + 400, month, 0);
  const isShown = hour <= 23 && minute <= 59 && (second <= 59 || (second === 60 && minute === 59));
  return isDate && isShown ? date / 1000 - 146_097 * 86_400 + 3600 * hour + 60 * minute + second : IMPOSSIBLE;
}

// ---- zones: in an hour that occurs twice, the earlier instant counts; a time in a skipped hour has none ----

/** What a clock of the zone shows, in seconds as if it showed UTC → Unix seconds; undefined in the hour that the clocks skip. */
export type Zone = (local: number) => number | undefined;

const DAY = 86400;
/** Days of one zone whose offsets are remembered, about 11 years of them. */
const MOST_DAYS = 4000;

/** Names may come from the rows, so not every one of them is remembered. */
const MOST_ZONES = 1000;
const zones = new Map<string, Zone | undefined>();

/** Undefined for a name that is not a zone of the tz database. */
export function zoneOf(name: string): Zone | undefined {
  if (!zones.has(name)) {
    if (zones.size >= MOST_ZONES) zones.clear();
    zones.set(name, createZone(name));
  }
  return zones.get(name);
}

/**
 * The zone that a text of a row names. Undefined for an abbreviation, too: Node takes BST for Bangladesh's and NST for
 * New Zealand's. But GMT in a text is an offset and not the place that a config may mean by it.
 */
function namedZone(name: string): Zone | undefined {
  return namesNoPlace(name) && !/^GMT$/i.test(name) ? undefined : zoneOf(name);
}

function createZone(name: string): Zone | undefined {
  const zone = IANAZone.create(name);
  if (!zone.isValid) return undefined;
  const offsetAt = (seconds: number): number => Math.round(zone.offset(seconds * 1000) * 60);
  /** The offsets before and after each day. No zone changes twice within the three days that are looked at. */
  const days = new Map<number, readonly [number, number]>();
  return (local) => {
    const day = Math.floor(local / DAY);
    let offsets = days.get(day);
    if (offsets === undefined) {
      offsets = [offsetAt((day - 1) * DAY), offsetAt((day + 2) * DAY)];
      if (days.size >= MOST_DAYS) days.clear();
      days.set(day, offsets);
    }
    const [before, after] = offsets;
    if (before === after) return local - before;
    // The offset before the change comes first: in the hour that occurs twice, it gives the earlier instant.
    return [local - before, local - after].find((instant) => offsetAt(instant) === local - instant);
  };
}

/** `CET`, `PST8PDT`, `Pacific Time`; Node takes those of three letters in any case. */
const namesNoPlace = (name: string): boolean =>
  !/^UTC$/i.test(name) && /^(?:[A-Z]{2,5}|[A-Za-z]{3}|[A-Z]{3}\d[A-Z]{3}|.* [Tt]ime)$/.test(name);

/**
 * Why the config can't name the zone this way; undefined for a place or UTC. Abbreviations leave summer time, or even the
 * country, open.
 */
export function zoneFault(name: string): { readonly message: string; readonly near?: string | undefined } | undefined {
  if (namesNoPlace(name))
    return { message: "needs the zone of a place, such as Europe/London; an abbreviation may mean several" };
  if (IANAZone.isValidZone(name)) return undefined;
  return { message: "is not a time zone such as Europe/Berlin or UTC", near: nearestZone(name) };
}

/** A zone of that place, or of nearly that name. */
function nearestZone(written: string): string | undefined {
  const zones = Intl.supportedValuesOf("timeZone");
  const place = fold(written.split("/").at(-1) ?? "");
  return zones.find((zone) => fold(zone.split("/").at(-1) ?? "") === place) ?? nearest(written, zones);
}

/** Local times → instants. In an hour that occurs twice, the earlier instant counts; a time in a skipped hour has none. */

import { IANAZone } from "luxon";
import { fold, nearest } from "./nearest.ts";

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
export function namedZone(name: string): Zone | undefined {
  return namesNoPlace(name) && !/^GMT$/i.test(name) ? undefined : zoneOf(name);
}

/** The offsets around a day, and the instant at which one follows the other. */
interface Offsets {
  readonly before: number;
  readonly after: number;
  readonly changesAt: number;
}

function createZone(name: string): Zone | undefined {
  const zone = IANAZone.create(name);
  if (!zone.isValid) return undefined;
  const offsetAt = (seconds: number): number => Math.round(zone.offset(seconds * 1000) * 60);
  const days = new Map<number, Offsets>();
  return (local) => {
    const day = Math.floor(local / DAY);
    let offsets = days.get(day);
    if (offsets === undefined) {
      offsets = offsetsBetween((day - 1) * DAY, (day + 2) * DAY, offsetAt);
      if (days.size >= MOST_DAYS) days.clear();
      days.set(day, offsets);
    }
    // The offset before the change comes first: in the hour that occurs twice, it gives the earlier instant.
    if (local - offsets.before < offsets.changesAt) return local - offsets.before;
    return local - offsets.after >= offsets.changesAt ? local - offsets.after : undefined;
  };
}

/** Assumes that no zone changes twice within the three days that are looked at. */
function offsetsBetween(start: number, end: number, offsetAt: (seconds: number) => number): Offsets {
  const before = offsetAt(start);
  const after = offsetAt(end);
  if (before === after) return { before, after, changesAt: Number.POSITIVE_INFINITY };
  let low = start;
  let high = end;
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (offsetAt(middle) === before) low = middle;
    else high = middle;
  }
  return { before, after, changesAt: high };
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
    return { message: "names no place, and may mean several zones; write the zone of one, such as Europe/Berlin" };
  if (IANAZone.isValidZone(name)) return undefined;
  return { message: "is not a time zone such as Europe/Berlin or UTC", near: nearestZone(name) };
}

/** A zone of that place, or of nearly that name. */
function nearestZone(written: string): string | undefined {
  const zones = Intl.supportedValuesOf("timeZone");
  const place = fold(written.split("/").at(-1) ?? "");
  return zones.find((zone) => fold(zone.split("/").at(-1) ?? "") === place) ?? nearest(written, zones);
}

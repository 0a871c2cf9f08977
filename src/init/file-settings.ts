/** What a source says about its files: their names, how they are written, the zone of their times. */

import { cleanText } from "../actions/text.ts";
import { areMost, type ColumnProfile, hasGuards } from "./column-profile.ts";
import { type Entry, flow } from "./config-text.ts";
import { wordsOf } from "./header-words.ts";
import { exactPattern, widePattern } from "./match-patterns.ts";
import type { Evidence } from "./sample.ts";
import { clockOf, timesOf } from "./time-evidence.ts";
import { ask } from "./words.ts";

/** `match` for this file alone: what its config says about the event does not hold for the next file. */
export const onlyThisFile = (fileName: string): Entry => ({
  key: "match",
  value: { inQuotes: exactPattern(fileName) },
  note: "this file only: eventId below is that of one event",
});

/** `match` for the file and its successors. */
export const everySuchFile = (fileName: string): Entry => ({
  key: "match",
  value: { inQuotes: widePattern(fileName) },
});

/** How the file is written, where that is unusual. */
export function csvLines(
  { delimiter, encoding, columns }: Evidence,
  hasGuarded = columns.some(hasGuards),
): readonly Entry[] {
  const value = flow({
    delimiter: delimiter === undefined ? undefined : { inQuotes: delimiter },
    encoding,
    guards: hasGuarded ? "strip" : undefined,
  });
  return value.flow.length === 0 ? [] : [{ key: "csv", value, note: "as this file is written" }];
}

/** @param all in which a zone may stand. */
export function zoneLines(
  columns: readonly (ColumnProfile | undefined)[],
  all: readonly ColumnProfile[],
): readonly Entry[] {
  const local = columns.find(
    (column) =>
      column !== undefined &&
      (clockOf(column) !== undefined || timesOf(column)?.readings.some(({ isLocal }) => isLocal) === true),
  );
  if (local === undefined) return [];
  const name = cleanText(local.name, 40);
  const zones = all.find(holdsZones);
  const told =
    zones === undefined
      ? ""
      : `. ${cleanText(zones.name, 40)} names ${cleanText([...zones.values.keys()].slice(0, 5).join(", "), 120)}: where rows differ, each zone needs an action of its own, with when and with zone in its times`;
  return [
    {
      key: "zone",
      value: ask(`the time zone of ${name} and other times that name none, such as Europe/Berlin${told}`),
    },
  ];
}

const ZONE_NAME = /^(?:time)?zones?$|^tz$|^(?:utc|gmt)?offset$|^zeitzone$|^fuseau$|^fuso$|^huso$|^tijdzone$/;
const ZONE = /^(?:[A-Z][A-Za-z]+\/[A-Za-z_/+-]+|(?:UTC|GMT)?[+-]\d{1,2}(?::?\d{2})?|UTC|GMT|Z|[A-Z]{1,4}T)$/;

/** Whether its rows name the zone of their times. */
const holdsZones = (column: ColumnProfile): boolean =>
  wordsOf(column.name).some((word) => ZONE_NAME.test(word)) && areMost(column, (text) => ZONE.test(text));

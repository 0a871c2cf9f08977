/** What a source says about its files: their names, how they are written, the zone of their times. */

import { cleanText } from "../actions/text.ts";
import { type ColumnProfile, hasGuards } from "./column-profile.ts";
import { type Entry, flow } from "./config-text.ts";
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

export function zoneLines(columns: readonly (ColumnProfile | undefined)[]): readonly Entry[] {
  const local = columns.find(
    (column) =>
      column !== undefined &&
      (clockOf(column) !== undefined || timesOf(column)?.readings.some(({ isLocal }) => isLocal) === true),
  );
  if (local === undefined) return [];
  const name = cleanText(local.name, 40);
  return [
    { key: "zone", value: ask(`the time zone of ${name} and other times that name none, such as Europe/Berlin`) },
  ];
}

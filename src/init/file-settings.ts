/** What a source says of its files: their names, how they are written, the zone of their times. */

import { cleanText } from "../actions/text.ts";
import { type ColumnProfile, hasGuards } from "./column-profile.ts";
import { exactPattern, widePattern } from "./match-patterns.ts";
import type { Evidence } from "./sample.ts";
import { clockOf, timesOf } from "./time-evidence.ts";
import { ask } from "./words.ts";

/** `match` for this file alone: what its config says of the event is not true of the next one. */
export const onlyThisFile = (fileName: string): string =>
  `match: ${JSON.stringify(exactPattern(fileName))}   # this file only: eventId below is that of one event`;

/** `match` for the file and its successors. */
export const matchLine = (fileName: string): string => `match: ${JSON.stringify(widePattern(fileName))}`;

/** How the file is written, where that is not the usual. */
export function csvLine(
  { delimiter, encoding, columns }: Evidence,
  guards = columns.some(hasGuards),
): readonly string[] {
  const parts = [
    ...(delimiter === undefined ? [] : [`delimiter: ${JSON.stringify(delimiter)}`]),
    ...(encoding === undefined ? [] : [`encoding: ${encoding}`]),
    ...(guards ? ["guards: strip"] : []),
  ];
  return parts.length === 0 ? [] : [`csv: {${parts.join(", ")}}   # as this file is written`];
}

export function zoneLines(columns: readonly (ColumnProfile | undefined)[]): readonly string[] {
  const local = columns.find(
    (column) =>
      column !== undefined &&
      (clockOf(column) !== undefined || timesOf(column)?.readings.some(({ isLocal }) => isLocal) === true),
  );
  if (local === undefined) return [];
  return [
    `zone: ${ask(`the time zone of ${cleanText(local.name, 40)} and other times that name none, such as Europe/Berlin`)}`,
  ];
}

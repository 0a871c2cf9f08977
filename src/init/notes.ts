/** How the config names columns and rows, and how it asks for what no export says. */

import { cleanText, quoted } from "../actions/text.ts";
import { placeholder } from "../map/source.ts";
import { type Comment, type Entry, linesOf, type Value } from "./config-text.ts";
import type { Column } from "./evidence.ts";

/** What only the user knows. */
export const ask = (what: string): Value => ({ inQuotes: placeholder(what) });

/** How many values a comment shows. */
export const MOST_VALUES = 40;

export function valuesText({ values, filled, rows }: Column, most = 12): string {
  const shown = [...values].sort(([, one], [, other]) => other - one).slice(0, most);
  return [
    ...shown.map(([value, times]) => `${cleanText(value, 30)} ${times}`),
    ...(values.size > shown.length ? [`${values.size - shown.length} more values`] : []),
    ...(filled < rows ? [`empty ${rows - filled}`] : []),
  ].join(", ");
}

/** A rule as a comment, for the user to choose. */
export const choice = ({ key, value, note }: Entry): Comment => ({
  comment: `#${linesOf({ block: [{ key, value }] }).join("")}${note === undefined ? "" : `   # ${note.replace(/^guess(?:: | by name; )/, "")}`}`,
});

const WIDTH = 110;

export function wrapped(text: string): readonly string[] {
  return text.match(new RegExp(`.{1,${WIDTH}}(?:\\s|$)`, "g"))?.map((line) => line.trimEnd()) ?? [];
}

/** A column in a template; its name must not have braces. */
export const inner = ({ name }: Column): string => `{${name}}`;

export const template = (column: Column): Value => ({ inQuotes: inner(column) });

/** A template within a comment or a note. */
export const templateText = (column: Column): string => JSON.stringify(inner(column));

export const rowsText = (rows: number): string => `${rows} ${rows === 1 ? "row" : "rows"}`;

export const namesText = (columns: readonly Column[]): string =>
  columns
    .slice(0, 4)
    .map(({ name }) => quoted(name))
    .join(", ");

/** `; also "A", "B"`, or nothing. */
export const alsoText = (others: readonly Column[]): string =>
  others.length === 0 ? "" : `; also ${namesText(others)}`;

/** How the config speaks of columns and rows, and how it asks for what no export says. */

import { cleanText } from "../actions/text.ts";
import { placeholder } from "../mapping/placeholder.ts";
import type { ColumnProfile } from "./column-profile.ts";

/** What only the user knows, as a quoted value. */
export const ask = (what: string): string => JSON.stringify(placeholder(what));

export const ONE_OF_THE_NEXT = ask("one of the next lines, without its #");

/** Values and names told in comments. */
export const MOST_VALUES = 40;

export function valuesText({ values, filled, rows }: ColumnProfile): string {
  const shown = [...values].sort(([, one], [, other]) => other - one).slice(0, 12);
  return [
    ...shown.map(([value, times]) => `${cleanText(value, 30)} ${times}`),
    ...(values.size > shown.length ? [`${values.size - shown.length} more values`] : []),
    ...(filled < rows ? [`empty ${rows - filled}`] : []),
  ].join(", ");
}

export const indented = (blanks: number, lines: readonly string[]): readonly string[] =>
  lines.map((line) => `${" ".repeat(blanks)}${line}`);

const WIDTH = 110;

export function wrapped(text: string): readonly string[] {
  return text.match(new RegExp(`.{1,${WIDTH}}(?:\\s|$)`, "g"))?.map((line) => line.trimEnd()) ?? [];
}

/** A column in a template; braces of its own doubled, which no name may have. */
export const inner = ({ name }: ColumnProfile): string => `{${name}}`;

export const template = (column: ColumnProfile): string => JSON.stringify(inner(column));

export const quoted = (text: string): string => JSON.stringify(cleanText(text, 40));

export const rowsText = (rows: number): string => `${rows} ${rows === 1 ? "row" : "rows"}`;

export const namesText = (columns: readonly ColumnProfile[]): string =>
  columns
    .slice(0, 4)
    .map(({ name }) => quoted(name))
    .join(", ");

/** A text of the file as a YAML key or value: plain where nothing in it has a meaning. */
export function yamlText(text: string): string {
  return /^[\p{L}\p{N}](?:[\p{L}\p{N} _.()/–-]*[\p{L}\p{N})_])?$/u.test(text) ? text : JSON.stringify(text);
}

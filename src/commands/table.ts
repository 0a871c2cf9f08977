/** Rows for people: a table where it is narrow enough, else one line for each value. */

import { textWidth } from "../text.ts";

/** What a row has in each column; texts are clean already. */
export type TableRow = readonly string[];

/** What parts the columns. */
const GAP = "  ";

/** How wide each column is. */
export const widthsOf = (rows: readonly TableRow[]): readonly number[] =>
  (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => textWidth(row[at] ?? ""))));

export const padded = (text: string, width: number): string => text + " ".repeat(Math.max(0, width - textWidth(text)));

/** The cells beside each other, below those of other rows. */
export const inColumns = (cells: TableRow, widths: readonly number[]): string =>
  cells
    .map((text, at) => padded(text, widths[at] ?? 0))
    .join(GAP)
    .trimEnd();

/** @param columns of the terminal; infinite elsewhere. */
export function layOut(names: readonly string[], rows: readonly TableRow[], columns: number): string {
  const widths = widthsOf([names, ...rows]);
  const width = widths.reduce((sum, each) => sum + each, (names.length - 1) * GAP.length);
  if (width > columns) return blocks(names, rows);
  const line = (cells: TableRow): string => `${inColumns(cells, widths)}\n`;
  return [names, widths.map((each) => "─".repeat(each)), ...rows].map(line).join("");
}

/** How much room the last column needs at least to be wrapped. */
const LEAST_LAST = 20;

/**
 * The same for texts whose last column is a sentence: where the rows are too wide, that column goes on below itself, as long
 * as it has room for a few words.
 */
export function layOutSentences(names: readonly string[], rows: readonly TableRow[], columns: number): string {
  const before = widthsOf([names, ...rows]).slice(0, -1);
  const room = columns - before.reduce((sum, width) => sum + width + GAP.length, 0);
  if (room < LEAST_LAST) return blocks(names, rows, columns);
  const folded = rows.flatMap((row) => {
    const [first = "", ...rest] = foldWords(row.at(-1) ?? "", room);
    const empty = row.slice(0, -1).map(() => "");
    return [[...row.slice(0, -1), first], ...rest.map((text) => [...empty, text])];
  });
  return layOut(names, folded, columns);
}

/** Lines no wider than `room` unless a word is; all but the first begin with `indent`. */
export function foldWords(text: string, room: number, indent = ""): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && textWidth(`${last} ${word}`) <= room) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(lines.length === 0 ? word : `${indent}${word}`);
  }
  return lines;
}

/** @param columns in which a value goes on below itself; without it, it stands in one line whatever its length. */
function blocks(names: readonly string[], rows: readonly TableRow[], columns = Number.POSITIVE_INFINITY): string {
  const width = Math.max(...names.map(textWidth));
  const room = columns - width - GAP.length;
  const below = `\n${" ".repeat(width)}${GAP}`;
  const block = (row: TableRow): string =>
    row
      .map((text, at) => {
        const value = Number.isFinite(room) ? foldWords(text, room).join(below) : text;
        return text === "" ? "" : `${padded(names[at] ?? "", width)}${GAP}${value}\n`;
      })
      .join("");
  return rows.map(block).join("\n");
}

/** How wide the terminal is that a stream writes to; infinite for a file or a pipe. */
export const columnsOf = (stream: object): number =>
  "isTTY" in stream && stream.isTTY === true && "columns" in stream && Number(stream.columns) > 0
    ? Number(stream.columns)
    : Number.POSITIVE_INFINITY;

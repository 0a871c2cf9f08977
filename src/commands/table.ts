/** Rows for people: a table where it is narrow enough, else one line for each value. */

import { textWidth } from "../actions/text.ts";

/** What a row has in each column; texts are clean already. */
export type TableRow = readonly string[];

/** What parts the columns. */
const GAP = "  ";

/** @param columns of the terminal; infinite elsewhere. */
export function layOut(names: readonly string[], rows: readonly TableRow[], columns: number): string {
  const widths = names.map((name, at) => Math.max(...[name, ...rows.map((row) => row[at] ?? "")].map(textWidth)));
  const width = widths.reduce((sum, each) => sum + each, (names.length - 1) * GAP.length);
  if (width > columns) return blocks(names, rows);
  const line = (cells: TableRow): string =>
    `${cells
      .map((text, at) => `${text}${" ".repeat((widths[at] ?? 0) - textWidth(text))}`)
      .join(GAP)
      .trimEnd()}\n`;
  return [names, widths.map((each) => "─".repeat(each)), ...rows].map(line).join("");
}

/** How much room the last column needs at least to be wrapped. */
const LEAST_LAST = 20;

/**
 * The same for texts whose last column is a sentence: where the rows are too wide, that column goes on below itself, as long
 * as it has room for a few words.
 */
export function layOutSentences(names: readonly string[], rows: readonly TableRow[], columns: number): string {
  const before = names
    .slice(0, -1)
    .reduce(
      (sum, name, at) => sum + GAP.length + Math.max(...[name, ...rows.map((row) => row[at] ?? "")].map(textWidth)),
      0,
    );
  const room = columns - before;
  if (room < LEAST_LAST) return blocks(names, rows, columns);
  const folded = rows.flatMap((row) => {
    const [first = "", ...rest] = foldWords(row.at(-1) ?? "", room);
    const empty = row.slice(0, -1).map(() => "");
    return [[...row.slice(0, -1), first], ...rest.map((text) => [...empty, text])];
  });
  return layOut(names, folded, columns);
}

/** Lines no wider than `room` unless a word is. */
function foldWords(text: string, room: number): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && textWidth(`${last} ${word}`) <= room) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
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
        const name = names[at] ?? "";
        const value = Number.isFinite(room) ? foldWords(text, room).join(below) : text;
        return text === "" ? "" : `${name}${" ".repeat(width - textWidth(name))}${GAP}${value}\n`;
      })
      .join("");
  return rows.map(block).join("\n");
}

/** How wide the terminal is that a stream writes to; infinite for a file or a pipe. */
export const columnsOf = (stream: object): number =>
  "isTTY" in stream && stream.isTTY === true && "columns" in stream && Number(stream.columns) > 0
    ? Number(stream.columns)
    : Number.POSITIVE_INFINITY;

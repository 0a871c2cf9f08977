/** Rows for people: a table where it is narrow enough, else one line for each value. */

import { textWidth } from "../text.ts";

/** What a row has in each column; texts are clean already. */
type TableRow = readonly string[];

/** What parts the columns. */
const GAP = "  ";

/** How wide each column is. */
const widthsOf = (rows: readonly TableRow[]): readonly number[] =>
  (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => textWidth(row[at] ?? ""))));

const padded = (text: string, width: number): string => text + " ".repeat(Math.max(0, width - textWidth(text)));

/** The cells beside each other, below those of other rows. */
const inColumns = (cells: TableRow, widths: readonly number[]): string =>
  cells
    .map((text, at) => padded(text, widths[at] ?? 0))
    .join(GAP)
    .trimEnd();

/** How much room a last column needs at least to be wrapped. */
const LEAST_LAST = 20;

/**
 * Where the rows are too wide, the last column goes on below itself, as long as it has room for a few words.
 *
 * @param columns of the terminal; infinite elsewhere.
 */
export function layOut(names: readonly string[], rows: readonly TableRow[], columns: number): string {
  const widths = widthsOf([names, ...rows]);
  const room = columns - widths.slice(0, -1).reduce((sum, width) => sum + width + GAP.length, 0);
  if (room < Math.min(LEAST_LAST, widths.at(-1) ?? 0)) return inBlocks(names, rows, columns);
  const folded = rows.flatMap((row) => {
    const [first = "", ...rest] = foldWords(row.at(-1) ?? "", room);
    const blank = row.slice(0, -1).map(() => "");
    return [[...row.slice(0, -1), first], ...rest.map((text) => [...blank, text])];
  });
  const narrowed = widthsOf([names, ...folded]);
  const rule = narrowed.map((width) => "─".repeat(width));
  return [names, rule, ...folded].map((cells) => `${inColumns(cells, narrowed)}\n`).join("");
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

/** A value goes on below itself. */
function inBlocks(names: readonly string[], rows: readonly TableRow[], columns: number): string {
  const width = Math.max(...names.map(textWidth));
  const indent = " ".repeat(width + GAP.length);
  const lineOf = (name: string, text: string): string =>
    text === "" ? "" : `${padded(name, width)}${GAP}${foldWords(text, columns - indent.length).join(`\n${indent}`)}\n`;
  return rows.map((row) => row.map((text, at) => lineOf(names[at] ?? "", text)).join("")).join("\n");
}

/** What is not known is left out. */
export type Fact = readonly [name: string, value: string | null | undefined];

/** `  chunkSize  5000`: a line for each value, beside its name. */
export function inPairs(facts: readonly Fact[], indent = ""): readonly string[] {
  const known = facts.flatMap(([name, value]) => (value == null ? [] : [[name, value] as const]));
  const width = Math.max(...known.map(([name]) => textWidth(name)));
  return known.map(([name, value]) => `${indent}${padded(name, width)}${GAP}${value}`);
}

/** How wide the terminal is that a stream writes to; infinite for a file or a pipe. */
export const columnsOf = (stream: object): number =>
  "isTTY" in stream && stream.isTTY === true && "columns" in stream && Number(stream.columns) > 0
    ? Number(stream.columns)
    : Number.POSITIVE_INFINITY;

/** How texts are laid out for people: lines broken between words, facts beside their names, tables. */

import { textWidth } from "../text.ts";

/** How wide the terminal is that a stream writes to; infinite for a file or a pipe. */
export const columnsOf = (stream: object): number =>
  "isTTY" in stream && stream.isTTY === true && "columns" in stream && Number(stream.columns) > 0
    ? Number(stream.columns)
    : Number.POSITIVE_INFINITY;

/** A command to be copied, up to the end of its line. A line break would cut it in two, so the terminal folds it. */
const COMMAND = /(?<=^|: +)(?:npx )?tickets .*$/;

const CARETS = /^\s*\^+\s*$/;

/**
 * Breaks lines that are longer than `columns` between words. A line goes on under its own indent. Commands to be copied
 * stay whole, as do words that are longer than a line and a text with carets under it.
 */
export function wrapLines(text: string, columns: number): string {
  const lines = text.split("\n");
  return lines
    .map((line, at) => (CARETS.test(line) || CARETS.test(lines[at + 1] ?? "") ? line : wrapLine(line, columns)))
    .join("\n");
}

function wrapLine(line: string, columns: number): string {
  if (textWidth(line) <= columns) return line;
  const indent = (/^ */.exec(line)?.[0] ?? "").slice(0, Math.floor(columns / 2));
  return foldWords(line.trimStart(), columns - indent.length)
    .map((each) => indent + each)
    .join("\n");
}

/** Lines no wider than `room`, unless a word or a command is. */
function foldWords(text: string, room: number): readonly string[] {
  const command = COMMAND.exec(text);
  const words = [...text.slice(0, command?.index).matchAll(/\S+ */g)].map(([word]) => word);
  if (command !== null) words.push(command[0]);
  const lines: string[] = [];
  let current = "";
  for (const word of words) {
    if (current !== "" && textWidth(current + word.trimEnd()) > room) {
      lines.push(current);
      current = "";
    }
    current += word;
  }
  return [...lines, current].map((line) => line.trimEnd());
}

/** What parts the columns. */
const GAP = "  ";

const padded = (text: string, width: number): string => text + " ".repeat(Math.max(0, width - textWidth(text)));

/** What is not known is left out. */
export type Fact = readonly [name: string, value: string | null | undefined];

/** `  chunkSize  5000`: a line for each value, beside its name, where it goes on below itself; below its name where a word of it is too long for that. */
export function inPairs(facts: readonly Fact[], columns: number, indent = ""): readonly string[] {
  const known = facts.flatMap(([name, value]) => (value == null ? [] : [[name, value] as const]));
  const width = Math.max(...known.map(([name]) => textWidth(name)));
  const room = columns - indent.length - width - GAP.length;
  return known.flatMap(([name, value]) => {
    const beside = foldWords(value, room);
    if (beside.every((line) => textWidth(line) <= room))
      return beside.map((line, at) => `${indent}${padded(at === 0 ? name : "", width)}${GAP}${line}`);
    const below = foldWords(value, columns - indent.length - GAP.length);
    return [`${indent}${name}`, ...below.map((line) => `${indent}${GAP}${line}`)];
  });
}

/** What a row has in each column; texts are clean already. */
type TableRow = readonly string[];

/** How wide each column is. */
const widthsOf = (rows: readonly TableRow[]): readonly number[] =>
  (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => textWidth(row[at] ?? ""))));

/** The cells beside each other, below those of other rows. */
const inColumns = (cells: TableRow, widths: readonly number[]): string =>
  cells
    .map((text, at) => padded(text, widths[at] ?? 0))
    .join(GAP)
    .trimEnd();

/** How much room a last column needs at least to be wrapped. */
const LEAST_LAST = 20;

/**
 * Rows as a table. Where they are too wide, the last column goes on below itself, as long as it has room for a few words; where
 * that is too little, each row is a block of facts.
 */
export function layOut(names: readonly string[], rows: readonly TableRow[], columns: number): string {
  const widths = widthsOf([names, ...rows]);
  const room = columns - widths.slice(0, -1).reduce((sum, width) => sum + width + GAP.length, 0);
  if (room < Math.min(LEAST_LAST, widths.at(-1) ?? 0)) {
    const blocks = rows.map((row) => names.map((name, at): Fact => [name, row[at] || undefined]));
    return blocks.map((facts) => `${inPairs(facts, columns).join("\n")}\n`).join("\n");
  }
  const folded = rows.flatMap((row) => {
    const [first = "", ...rest] = foldWords(row.at(-1) ?? "", room);
    const blank = row.slice(0, -1).map(() => "");
    return [[...row.slice(0, -1), first], ...rest.map((text) => [...blank, text])];
  });
  const narrowed = widthsOf([names, ...folded]);
  const rule = narrowed.map((width) => "─".repeat(width));
  return [names, rule, ...folded].map((cells) => `${inColumns(cells, narrowed)}\n`).join("");
}

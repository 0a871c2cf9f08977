/** Rows for people: a table where it is narrow enough, else one line for each value. */

import { textWidth } from "../actions/text.ts";

/** What a row has in a column; texts are clean already. */
interface TableCell {
  readonly text: string;
  /** A number, which stands on the right. */
  readonly isNumber?: boolean;
}

export type TableRow = readonly TableCell[];

export interface Layout {
  /** What stands above all rows. */
  readonly head: string;
  /** The lines of rows; more rows may follow. */
  readonly lines: (rows: readonly TableRow[]) => string;
}

/** What parts the columns. */
const GAP = "  ";

/**
 * @param first rows by which it is laid out.
 * @param columns of the terminal; infinite elsewhere.
 */
export function layOut(names: readonly string[], first: readonly TableRow[], columns: number): Layout {
  const widths = names.map((name) => textWidth(name));
  widen(widths, first);
  const width = widths.reduce((sum, each) => sum + each, (names.length - 1) * GAP.length);
  return width <= columns ? table(names, widths, first) : blocks(names);
}

function widen(widths: number[], rows: readonly TableRow[]): void {
  for (const row of rows)
    for (const [at, { text }] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, textWidth(text));
}

function table(names: readonly string[], widths: number[], first: readonly TableRow[]): Layout {
  const onRight = names.map((_, at) => first.length > 0 && first.every((row) => row[at]?.isNumber !== false));
  const line = (cells: TableRow): string =>
    cells
      .map(({ text }, at) => {
        const room = " ".repeat(Math.max(0, (widths[at] ?? 0) - textWidth(text)));
        return onRight[at] ? `${room}${text}` : `${text}${room}`;
      })
      .join(GAP)
      .trimEnd();
  const rule = widths.map((width) => "─".repeat(width)).join(GAP);
  return {
    head: `${line(names.map((text) => ({ text })))}\n${rule}\n`,
    lines: (rows) => {
      widen(widths, rows);
      return rows.map((row) => `${line(row)}\n`).join("");
    },
  };
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
      (sum, name, at) =>
        sum + GAP.length + Math.max(...[name, ...rows.map((row) => row[at]?.text ?? "")].map(textWidth)),
      0,
    );
  const room = columns - before;
  if (room < LEAST_LAST) return blocks(names, columns).lines(rows);
  const folded = rows.flatMap((row) => {
    const [first = "", ...rest] = foldWords(row.at(-1)?.text ?? "", room);
    const empty = row.slice(0, -1).map(() => ({ text: "", isNumber: false }));
    return [
      [...row.slice(0, -1), { text: first, isNumber: false }],
      ...rest.map((text) => [...empty, { text, isNumber: false }]),
    ];
  });
  const { head, lines } = layOut(names, folded, columns);
  return head + lines(folded);
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
function blocks(names: readonly string[], columns = Number.POSITIVE_INFINITY): Layout {
  const width = Math.max(...names.map(textWidth));
  const room = columns - width - GAP.length;
  const below = `\n${" ".repeat(width)}${GAP}`;
  let isFirst = true;
  return {
    head: "",
    lines: (rows) =>
      rows
        .map((row) => {
          const said = row.flatMap(({ text }, at) => {
            const name = names[at] ?? "";
            const value = Number.isFinite(room) ? foldWords(text, room).join(below) : text;
            return text === "" ? [] : [`${name}${" ".repeat(width - textWidth(name))}${GAP}${value}\n`];
          });
          const lines = `${isFirst ? "" : "\n"}${said.join("")}`;
          isFirst = false;
          return lines;
        })
        .join(""),
  };
}

/** How wide the terminal is that a stream writes to; infinite for a file or a pipe. */
export const columnsOf = (stream: object): number =>
  "isTTY" in stream && stream.isTTY === true && "columns" in stream && Number(stream.columns) > 0
    ? Number(stream.columns)
    : Number.POSITIVE_INFINITY;

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

function blocks(names: readonly string[]): Layout {
  const width = Math.max(...names.map(textWidth));
  let isFirst = true;
  return {
    head: "",
    lines: (rows) =>
      rows
        .map((row) => {
          const said = row.flatMap(({ text }, at) => {
            const name = names[at] ?? "";
            return text === "" ? [] : [`${name}${" ".repeat(width - textWidth(name))}${GAP}${text}\n`];
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

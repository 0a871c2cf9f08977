/** Rows of a table that can't be used as they are, or are hardly meant so. */

import { fold } from "../actions/nearest.ts";
import { cleanText, count, escapeUnseen, number } from "../text.ts";
import type { DeclaredDialect, QuoteFault } from "./csv-records.ts";
import { malformed, type ReaderFinding, type Row, rawText } from "./row.ts";

/** The table as far as it is known. There is no header while the header itself is wrong. */
export interface KnownTable {
  readonly dialect?: DeclaredDialect;
  readonly header: readonly string[] | undefined;
  readonly delimiter: string | undefined;
}

export function quoteFaultRow(table: KnownTable, row: Buffer, line: number, fault: QuoteFault): Row {
  const column = columnName(table, fault.column);
  const where = fault.lineEnds === 0 ? "" : ` (line ${line + fault.lineEnds})`;
  const messages = {
    bare: `${column} has a quote inside, but does not begin with one${where}.`,
    "text-after": `${column} has text after its closing quote${where}.`,
    "never-closed": `${column} begins with a quote that never closes${where}.`,
  };
  return malformed(line, rawText(row), false, {
    rule: "csv-quotes",
    message: `${messages[fault.kind]} Nothing after this row was read.`,
    hint: quoteHint(table, rawText(row), fault),
  });
}

function quoteHint({ delimiter, dialect }: KnownTable, text: string, { kind }: QuoteFault): string {
  if (text.includes('\\"') && dialect?.escape === undefined)
    return 'A backslash stands before a quote, as PHP writes it: say csv: {escape: "\\\\"} in its source.';
  if (/[,;\t|] +"/.test(text)) return "A blank stands between a delimiter and a quote: export without it.";
  const right = 'Put a cell that holds quotes in quotes and double those inside: "5"" single".';
  if (kind === "never-closed") return right;
  return `${right} If the exporter can't, say csv: {delimiter: ${JSON.stringify(delimiter)}, quotes: loose} in its source.`;
}

export function loneReturnRow(
  table: KnownTable,
  row: Buffer,
  line: number,
  column: number,
  bordersKnown: boolean,
): Row {
  return malformed(line, rawText(row), bordersKnown, {
    rule: "lone-carriage-return",
    message: `${columnName(table, column)} holds a carriage return outside quotes; the lines of this file end otherwise, so two rows may stand in one.`,
    hint: "Give every line the same end (LF or CRLF), and put a cell that holds a line break in quotes.",
  });
}

/** After a header in another order, every cell would be read under the wrong column. */
export function secondHeaderRow(row: Buffer, line: number, kind: SecondHeader): Row {
  const isSame = kind === "same columns";
  return malformed(line, rawText(row), isSame, {
    rule: "header-repeated",
    message: isSame
      ? "The row is the header again."
      : "The row is a header again, with the columns in another order. Nothing after this row was read.",
    hint: isSame
      ? "Remove it: files that are put together need one header, at the top."
      : "Pass the two files separately: their columns differ.",
  });
}

export function cellCountRow(table: KnownTable, row: Buffer, line: number, cells: readonly string[]): Row {
  const { header } = table;
  const expected = header?.length ?? 0;
  const given = cells.length;
  const has = `The row has ${count(given, "cell")}, the header has ${number(expected)}`;
  const missing = expected - given === 1 ? "is missing" : "and what follows it are missing";
  const message =
    given < expected
      ? `${has}: ${columnName(table, given)} ${missing}.`
      : `${has}: cell ${expected + 1} has no column, the last is ${columnName(table, expected - 1)}.`;
  const first = header?.[0] === undefined ? "" : cleanText(header[0], 40);
  const hint =
    given === 1
      ? `It is ${asConfigText(cells[0] ?? "")}. If that is no row, take it out, or name it in the source: skip: {${first}: ${asConfigText(cells[0] ?? "")}}.`
      : given < expected
        ? `Leave empty cells empty, but keep their delimiters (${shownDelimiter(table)}).`
        : `Put a cell that holds the delimiter (${shownDelimiter(table)}) in quotes.`;
  return malformed(
    line,
    rawText(row),
    true,
    { rule: "cell-count", message, hint },
    given < expected ? cells : undefined,
  );
}

/** A cell as a config may hold it, so that the line that is printed is right as it stands: unseen characters as escapes. */
const asConfigText = (cell: string): string => escapeUnseen(JSON.stringify(cell));

const LINE_BREAK = /\r?\n/;

/**
 * Lines of a file that a quoted cell has swallowed: one lone quote opens it, and another closes it rows later. A cell looks so
 * when what stands before its first line break fills the row that it begins in, what stands behind its last one the row that
 * it ends in, and at least half of the lines between are rows of the table. In tables of one column any lines look so, and of
 * two columns any two: nothing is found.
 *
 * @param line on which the row begins.
 */
export function rowsInCell(
  table: KnownTable,
  cells: readonly string[],
  line: number,
): readonly ReaderFinding[] | undefined {
  const { header = [], delimiter = "," } = table;
  const spaced = hasBlanks(header) || hasBlanks(cells);
  let firstLine = line;
  for (const [column, cell] of cells.entries()) {
    const lastLine = firstLine + cell.split("\n").length - 1;
    if (lastLine > firstLine && looksLikeRows(cell, delimiter, spaced, column, cells.length))
      return [
        {
          rule: "rows-in-cell",
          message: `${columnName(table, column)} holds what looks like rows of the table: its quote opens in line ${firstLine} and closes in line ${lastLine}.`,
          hint: 'Double a quote that stands for itself (5"" single), or take it out. If the cell is right as it is, say rules: {rows-in-cell: warn} in the config.',
        },
      ];
    firstLine = lastLine;
  }
  return undefined;
}

/** Whether most delimiters of a row have a blank behind them. */
const hasBlanks = ([, ...behind]: readonly string[]): boolean =>
  behind.filter((cell) => cell.startsWith(" ")).length * 2 > behind.length;

/** @param spaced the table writes a blank behind its delimiters; elsewhere one with a blank is prose, as in addresses. */
function looksLikeRows(cell: string, delimiter: string, spaced: boolean, column: number, columns: number): boolean {
  const counts = cell.split(LINE_BREAK).map((line) => {
    if (line === "") return undefined;
    return line.split(delimiter).filter((behind, at) => at > 0 && (spaced || !behind.startsWith(" "))).length;
  });
  const [first = 0, last = 0] = [counts[0], counts.at(-1)];
  const between = counts.slice(1, -1).filter((count) => count !== undefined);
  if (columns < 2 || (columns === 2 && between.length === 0)) return false;
  const rows = between.filter((count) => count === columns - 1).length;
  return first === columns - column - 1 && last === column && rows * 2 >= between.length;
}

function columnName({ header }: KnownTable, index: number): string {
  const name = header?.[index]?.trim();
  return name === undefined || name === "" ? `Column ${index + 1}` : `Column ${index + 1} ("${cleanText(name, 40)}")`;
}

const shownDelimiter = ({ delimiter }: KnownTable): string => (delimiter === "\t" ? "TAB" : (delimiter ?? ","));

/** How a row repeats the header: each name in its column, or in others, so that what follows stands under wrong columns. */
type SecondHeader = "same columns" | "other columns";

/**
 * Tells whether a row is the header once more, as files that were put together have it: its cells are names of columns,
 * each once, compared as columns are (`fold`), and nothing else but blanks. Of several columns it names two at the least.
 */
export class HeaderAgain {
  readonly #names: readonly string[];
  readonly #known: ReadonlySet<string>;

  constructor(header: readonly string[]) {
    this.#names = header.map(fold);
    this.#known = new Set(this.#names.filter((name) => name !== ""));
  }

  /** Whether a cell is a name, as the first of nearly every row is not. */
  hasName(cell: string): boolean {
    return this.#known.has(fold(cell));
  }

  kindOf(cells: readonly string[]): SecondHeader | undefined {
    const left = this.#names.filter((name) => name !== "");
    const leastNamed = Math.min(2, left.length);
    let named = 0;
    let isInPlace = true;
    for (const [at, cell] of cells.entries()) {
      const name = fold(cell);
      if (name === "") continue;
      const found = left.indexOf(name);
      if (found === -1) return undefined;
      left.splice(found, 1);
      named += 1;
      if (this.#names[at] !== name) isInPlace = false;
    }
    if (named < leastNamed) return undefined;
    return isInPlace ? "same columns" : "other columns";
  }
}

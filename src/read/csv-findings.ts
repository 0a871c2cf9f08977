/** Findings about rows of a table that can't be used as they are. */

import { cleanText, count, number } from "../actions/text.ts";
import type { QuoteFault } from "./csv-records.ts";
import type { Row } from "./row.ts";
import { malformed, type ReaderFinding, rawText } from "./row-parser.ts";
import type { RowsInCell } from "./rows-in-cell.ts";
import type { SecondHeader } from "./second-header.ts";

/** The table as far as it is known. There is no header while the header itself is wrong. */
export interface KnownTable {
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
    hint: 'Put a cell that holds quotes in quotes and double those inside: "5"" single".',
  });
}

export function loneReturnRow(table: KnownTable, row: Buffer, line: number, column: number): Row {
  return malformed(line, rawText(row), true, {
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
  const expected = table.header?.length ?? 0;
  const given = cells.length;
  const has = `The row has ${count(given, "cell")}, the header has ${number(expected)}`;
  const missing = expected - given === 1 ? "is missing" : "and what follows it are missing";
  const message =
    given < expected
      ? `${has}: ${columnName(table, given)} ${missing}.`
      : `${has}: cell ${expected + 1} has no column, the last is ${columnName(table, expected - 1)}.`;
  const hint =
    given < expected
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

export function rowsInCellFinding(table: KnownTable, { column, firstLine, lastLine }: RowsInCell): ReaderFinding {
  return {
    rule: "rows-in-cell",
    message: `${columnName(table, column)} holds what looks like rows of the table: its quote opens in line ${firstLine} and closes in line ${lastLine}.`,
    hint: 'Double a quote that stands for itself (5"" single), or take it out. If the cell is right as it is, say rules: {rows-in-cell: warn} in the config.',
  };
}

function columnName({ header }: KnownTable, index: number): string {
  const name = header?.[index]?.trim();
  return name === undefined || name === "" ? `Column ${index + 1}` : `Column ${index + 1} ("${cleanText(name, 40)}")`;
}

const shownDelimiter = ({ delimiter }: KnownTable): string => (delimiter === "\t" ? "TAB" : (delimiter ?? ","));

/**
 * csv-parse tells where rows and their cells begin and end, and whether a quote is wrong. Every finding about a row comes
 * from what it gives.
 */

import { CsvError, type Options, parse } from "csv-parse/sync";
import type { CsvDialect } from "./csv-quotes.ts";

/** A row in the bytes that were taken. */
export interface CsvRow {
  /** Where it stands, without its line end. */
  readonly start: number;
  readonly end: number;
  /** Physical line on which it begins, from 1. */
  readonly line: number;
  readonly cells: readonly string[];
  readonly hasQuotes: boolean;
  /** 0-based number of the cell with the first CR outside quotes, where CR ends no rows. */
  readonly returnIn?: number | undefined;
}

export interface CsvRows {
  readonly rows: readonly CsvRow[];
  /** A row whose quotes are wrong: nobody can say where those behind it begin. */
  readonly broken: Omit<CsvRow, "cells" | "hasQuotes"> | undefined;
  /** Where the row begins whose end is still to come, and its line. */
  readonly rest: number;
  readonly restLine: number;
}

const CR = 13;
const LF = 10;

/**
 * The rows in the bytes from `from` on, where line `line` begins.
 *
 * csv-parse is told that every CR ends a row, and so shows which CRs stand in quotes. In a file whose rows end otherwise,
 * the pieces are put together again: CRs before an LF are part of the line end, any other one is a fault. Lines are counted
 * here, by csv-parse's byte offsets: it counts a CRLF in a cell as two.
 *
 * @param isEnd the input ends with the bytes, so its last row may lack its line end.
 */
export function readCsvRows(bytes: Buffer, from: number, line: number, dialect: CsvDialect, isEnd: boolean): CsvRows {
  const { quote, crEndsRows } = dialect;
  const rows: CsvRow[] = [];
  let broken: CsvRows["broken"];
  let start = from;
  let startLine = line;
  /** Of a row that a CR has cut: what stands before the first one, and whether anything else stands behind it. */
  let before: readonly string[] | undefined;
  let hasMore = false;
  let piece = from;

  function take(cells: readonly string[], next: number): void {
    if (broken !== undefined) return;
    if (before === undefined) before = cells;
    else if (!isLineEnd(bytes[piece])) hasMore = true;
    piece = next;
    const last = bytes[next - 1];
    const isWhole = last === LF || (crEndsRows && last === CR) || (isEnd && next === bytes.length);
    if (!isWhole) return;
    const end = withoutLineEnd(bytes, start, next);
    const hasQuotes = quote !== -1 && bytes.subarray(start, end).includes(quote);
    if (hasMore && hasQuotes && readCsvRow(bytes.subarray(start, end), dialect) === undefined)
      broken = { start, end, line: startLine };
    else if (end > start)
      rows.push({
        start,
        end,
        line: startLine,
        cells: before,
        hasQuotes,
        returnIn: hasMore ? before.length - 1 : undefined,
      });
    startLine += countLineEnds(bytes, start, next, crEndsRows);
    start = next;
    before = undefined;
    hasMore = false;
  }

  try {
    parse(bytes.subarray(from), {
      ...optionsOf(dialect),
      record_delimiter: ["\r\n", "\n", "\r"],
      on_record(cells: string[], { bytes: taken }) {
        take(cells, from + taken);
        return null;
      },
    });
  } catch (cause) {
    if (!(cause instanceof CsvError)) throw cause;
    const isOpen = cause.code === "CSV_QUOTE_NOT_CLOSED" && !isEnd;
    const end = isOpen || broken !== undefined ? undefined : endOfBroken(bytes, start, dialect, isEnd);
    if (end !== undefined) broken = { start, end, line: startLine };
  }
  return { rows, broken, rest: start, restLine: startLine };
}

/** The cells of one row without its line end; undefined when a quote is wrong. */
export function readCsvRow(row: Buffer, dialect: CsvDialect): readonly string[] | undefined {
  try {
    const [cells]: string[][] = parse(row, { ...optionsOf(dialect), record_delimiter: "\n" });
    return cells;
  } catch (cause) {
    if (cause instanceof CsvError) return undefined;
    throw cause;
  }
}

function optionsOf({ delimiter, quote }: CsvDialect): Options {
  const mark = quote === -1 ? null : String.fromCharCode(quote);
  return { delimiter: String.fromCharCode(delimiter), quote: mark, escape: mark, relax_column_count: true };
}

/** Physical line ends between two places. */
export function countLineEnds(bytes: Buffer, from: number, to: number, crEndsRows: boolean): number {
  let count = 0;
  for (let at = from; at < to; at += 1) {
    const byte = bytes[at];
    if (byte === LF) count += crEndsRows && at > from && bytes[at - 1] === CR ? 0 : 1;
    else if (byte === CR && crEndsRows) count += 1;
  }
  return count;
}

/** Where a row ends whose quotes are wrong, as far as they can be counted; undefined when that is still to come. */
function endOfBroken(
  bytes: Buffer,
  start: number,
  { quote, crEndsRows }: CsvDialect,
  isEnd: boolean,
): number | undefined {
  let isQuoted = false;
  for (let at = start; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === quote) isQuoted = !isQuoted;
    else if (!isQuoted && (byte === LF || (crEndsRows && byte === CR))) return withoutLineEnd(bytes, start, at);
  }
  if (!isEnd) return undefined;
  return isQuoted ? bytes.length : withoutLineEnd(bytes, start, bytes.length);
}

/** Programs that turn every LF into CRLF, even in a CRLF, leave several CRs. */
function withoutLineEnd(bytes: Buffer, start: number, next: number): number {
  let end = next;
  while (end > start && isLineEnd(bytes[end - 1])) end -= 1;
  return end;
}

const isLineEnd = (byte: number | undefined): boolean => byte === LF || byte === CR;

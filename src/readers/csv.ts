import { IS_FAST_PATH_ON } from "../actions/fast-path.ts";
import { GUARDED_COLUMN, unguardCell } from "../actions/formula-guard.ts";
import { cleanText } from "../actions/text.ts";
import { Failure } from "../failure.ts";
import { REASON_COLUMN } from "../mapping/open-actions.ts";
import type { Row } from "../mapping/row.ts";
import {
  cellCountRow,
  type KnownTable,
  loneReturnRow,
  quoteFaultRow,
  rowsInCellFinding,
  secondHeaderRow,
} from "./csv-findings.ts";
import { type CsvDialect, type RowTracker, trackRow } from "./csv-quotes.ts";
import { type CsvRow, countLineEnds, readCsvRow, readCsvRows } from "./csv-rows.ts";
import { detectDelimiter } from "./delimiter.ts";
import { FAST_FROM_BYTES, readPlainRows } from "./fast/plain-rows.ts";
import { EMPTY, MAX_ROW_BYTES, type RangeStart, type RowParser, rawText, rowTooLong } from "./row-parser.ts";
import { findRowsInCell } from "./rows-in-cell.ts";
import { compileSecondHeader } from "./second-header.ts";

export interface CsvOptions {
  /** One ASCII character; detected from the header when absent. */
  readonly delimiter?: string | undefined;
  /** One ASCII character (`"`), or "" when quotes have no meaning. */
  readonly quote?: string | undefined;
  /** The physical line on which the header begins, from 1; what stands above it is passed over. */
  readonly headerLine?: number | undefined;
  /** Reads on in a file whose header is known, and whose rows end in LF or CRLF. */
  readonly after?: CsvStart | undefined;
}

/** What a parser that goes on with a file has to know. */
export interface CsvStart {
  readonly header: readonly string[];
  readonly headerLine: number;
  readonly delimiter: string;
  /** Line ends before what is read on. */
  readonly lineEnds: number;
}

export interface CsvParser extends RowParser {
  /** The cells of the first row, as written; undefined until it has been read, and for an input without rows. */
  readonly header: readonly string[] | undefined;
  readonly headerLine: number | undefined;
  readonly delimiter: string | undefined;
}

const LF = 10;
const CR = 13;
const SEPARATOR_LINE = /^sep=(.)$/i;

const FAST_FROM = IS_FAST_PATH_ON ? FAST_FROM_BYTES : Number.POSITIVE_INFINITY;

/**
 * Reads CSV strictly, each row with its physical line and its raw text. csv-parse is the reference (csv-rows.ts); in all
 * but small files, the fast path takes the rows in which there is nothing to judge.
 *
 * Rows end in LF or CRLF, mixed as they come; in CR too when the header does. Where it does not, a CR in an unquoted cell
 * makes the row malformed: it may be the end of another. Blank lines are passed over, and so is a first line `sep=;`, by
 * which spreadsheets declare the delimiter.
 *
 * A row over 1 MiB is not kept in memory, which csv-parse would do: its end is found by `trackRow`.
 *
 * @param fastFrom bytes from which on the fast path is used, counted with the block that is read; infinite where it is not.
 */
export function csvParser(options: CsvOptions = {}, fastFrom: number = FAST_FROM): CsvParser {
  const { after } = options;
  const quote = oneByte("quote", options.quote ?? '"');
  const wantedLine = after === undefined ? (options.headerLine ?? 1) : 1;
  let delimiter = after?.delimiter ?? options.delimiter;
  if (delimiter !== undefined) oneByte("delimiter", delimiter, quote);

  let dialect: CsvDialect | undefined =
    after === undefined ? undefined : { delimiter: after.delimiter.charCodeAt(0), quote, crEndsRows: false };
  let header = after?.header;
  /** The file was written by `tickets` with `--safe-csv`. */
  let isGuarded = header?.includes(GUARDED_COLUMN) ?? false;
  let headerLine = after?.headerLine;
  let secondHeader = compileSecondHeader(header ?? []);
  let stopped = false;
  /** What was taken and belongs to a row that has not ended. */
  let carry: Buffer = EMPTY;
  let rowLine = (after?.lineEnds ?? 0) + 1;
  let blockEndedInCr = false;
  /** A row over the limit, followed to its end without being kept. */
  let long: { readonly head: Buffer; readonly tracker: RowTracker } | undefined;
  /** What is read on in a file is a part of a large one. */
  let bytesTaken = after === undefined ? 0 : FAST_FROM_BYTES;

  function take(block: Buffer): Row[] {
    if (stopped || block.length === 0) return [];
    const bytes = carry.length === 0 ? block : Buffer.concat([carry, block]);
    bytesTaken += block.length;
    if (dialect === undefined) return readHeader(bytes, false);
    if (long === undefined && !endsRow(block, dialect)) {
      const rows: Row[] = [];
      keep(rows, bytes === block ? Buffer.from(block) : bytes, dialect);
      return rows;
    }
    return readRows(bytes, dialect, false);
  }

  function end(): Row[] {
    if (stopped) return [];
    const rows = dialect === undefined ? readHeader(carry, true) : [];
    if (stopped || dialect === undefined) return rows;
    if (long !== undefined) {
      long.tracker.finish();
      rows.push(longRow(long));
    } else if (carry.length > 0) for (const row of readRows(carry, dialect, true)) rows.push(row);
    carry = EMPTY;
    return rows;
  }

  function stopAt(row: Row): Row[] {
    stopped = true;
    carry = EMPTY;
    return [row];
  }

  /** Passes over blank lines to the header, learns the dialect from it, and reads on. */
  function readHeader(bytes: Buffer, ended: boolean): Row[] {
    let start = 0;
    while (rowLine < wantedLine) {
      const title = titleLine(bytes, start, ended);
      if (title === undefined) {
        carry = Buffer.from(bytes.subarray(start));
        return carry.length > MAX_ROW_BYTES ? stopAt(rowTooLong(rowLine, carry, false)) : [];
      }
      const text = bytes.toString("utf8", start, title.end);
      // A rejects file of the source: it has no titles.
      if (rowLine === 1 && text.includes(REASON_COLUMN)) break;
      const declared = SEPARATOR_LINE.exec(text)?.[1];
      if (declared !== undefined && declared.charCodeAt(0) < 0x80) delimiter ??= declared;
      rowLine += 1;
      start = title.next;
      if (start === bytes.length && ended) return [];
    }
    for (;;) {
      const line = firstRow(bytes, start, quote, ended);
      if (line === undefined) {
        carry = Buffer.from(bytes.subarray(start));
        return carry.length > MAX_ROW_BYTES ? stopAt(rowTooLong(rowLine, carry, false)) : [];
      }
      const text = bytes.toString("utf8", start, line.end);
      const declared = SEPARATOR_LINE.exec(text)?.[1];
      if (declared !== undefined && declared.charCodeAt(0) < 0x80) delimiter ??= declared;
      else if (text !== "") {
        if (line.end - start > MAX_ROW_BYTES)
          return stopAt(rowTooLong(rowLine, bytes.subarray(start, line.end), false));
        return acceptHeader(bytes, start, line, text, ended);
      } else if (start === bytes.length) {
        carry = EMPTY;
        return [];
      }
      rowLine += line.lineEnds;
      start = line.next;
    }
  }

  function acceptHeader(bytes: Buffer, start: number, line: FirstRow, text: string, ended: boolean): Row[] {
    delimiter ??= detectDelimiter(text, options.quote);
    dialect = { delimiter: delimiter.charCodeAt(0), quote, crEndsRows: line.endsInCr };
    const row = bytes.subarray(start, line.end);
    const cells = readCsvRow(row, dialect);
    if (cells === undefined) return stopAt(quoteRow(row, rowLine, dialect));
    isGuarded = cells.includes(GUARDED_COLUMN);
    header = isGuarded ? cells.map(unguardCell) : cells;
    secondHeader = compileSecondHeader(header);
    headerLine = rowLine;
    rowLine += line.lineEnds;
    carry = EMPTY;
    return readRows(bytes.subarray(line.next), dialect, ended);
  }

  /** Reads the rows that end in `bytes`. */
  function readRows(bytes: Buffer, using: CsvDialect, isEnd: boolean): Row[] {
    const rows: Row[] = [];
    let start = 0;
    if (long !== undefined) {
      const last = long.tracker.feed(bytes, 0);
      if (last === -1 && long.tracker.fault === undefined) return rows;
      rows.push(longRow(long));
      if (stopped) return rows;
      rowLine += long.tracker.lineEnds;
      long = undefined;
      start = last + 1;
    }
    const { crEndsRows } = using;
    // The LF of a CRLF whose CR has ended the row before.
    const isAfterCr = start === 0 ? carry.length === 0 && blockEndedInCr : bytes[start - 1] === CR;
    if (crEndsRows && bytes[start] === LF && isAfterCr) start += 1;
    blockEndedInCr = bytes[bytes.length - 1] === CR;

    let asksReference = true;
    if (bytesTaken >= fastFrom && !isEnd) {
      const plain = readPlainRows(bytes, start, rowLine, using);
      asksReference = plain.asksReference;
      start = plain.rest;
      rowLine = plain.restLine;
      for (const each of plain.rows) {
        const row = judge(bytes, each, using);
        if (row.kind !== "cells" || row.findings !== undefined) {
          // What is found in a row is found in the cells that the reference gives.
          asksReference = true;
          start = each.start;
          rowLine = each.line;
          break;
        }
        rows.push(row);
      }
    }
    if (asksReference) {
      const read = readCsvRows(bytes, start, rowLine, using, isEnd);
      for (const each of read.rows) {
        const row = judge(bytes, each, using);
        rows.push(row);
        stopped = row.kind === "malformed" && !row.bordersKnown;
        if (stopped) return rows;
      }
      if (read.broken !== undefined) {
        const { start, end, line } = read.broken;
        rows.push(...stopAt(quoteRow(bytes.subarray(start, end), line, using)));
        return rows;
      }
      start = read.rest;
      rowLine = read.restLine;
    }
    // A copy: the block may be reused, and a few bytes must not keep it in memory.
    keep(rows, start === bytes.length ? EMPTY : Buffer.from(bytes.subarray(start)), using);
    return rows;
  }

  function keep(rows: Row[], open: Buffer, using: CsvDialect): void {
    carry = open;
    if (carry.length > MAX_ROW_BYTES && lengthOfOpen(carry, using) > MAX_ROW_BYTES) followLongRow(rows, using);
  }

  function followLongRow(rows: Row[], using: CsvDialect): void {
    const tracker = trackRow(using);
    long = { head: carry, tracker };
    tracker.feed(carry, 0);
    if (tracker.fault !== undefined) rows.push(longRow(long));
    else long = { head: Buffer.from(rawText(carry)), tracker };
    carry = EMPTY;
  }

  function longRow({ head, tracker }: { readonly head: Buffer; readonly tracker: RowTracker }): Row {
    if (tracker.fault === undefined) return rowTooLong(rowLine, head, true);
    stopped = true;
    return quoteFaultRow(known(), head, rowLine, tracker.fault);
  }

  function judge(bytes: Buffer, row: CsvRow, using: CsvDialect): Row {
    const { line, cells } = row;
    const length = row.end - row.start;
    if (length > MAX_ROW_BYTES || row.returnIn !== undefined || cells.length !== header?.length)
      return malformedRow(bytes.subarray(row.start, row.end), row);
    const plain = isGuarded ? cells.map(unguardCell) : cells;
    const second = secondHeader(plain);
    if (second !== undefined) return secondHeaderRow(bytes.subarray(row.start, row.end), line, second);
    if (!row.hasQuotes) return { kind: "cells", line, cells: plain };
    const separator = String.fromCharCode(using.delimiter);
    const found = findRowsInCell(cells, header, separator, line, (cell) => lineEndsIn(cell, using));
    return found === undefined
      ? { kind: "cells", line, cells: plain }
      : { kind: "cells", line, cells: plain, findings: [rowsInCellFinding(known(), found)] };
  }

  function malformedRow(raw: Buffer, { line, cells, returnIn }: CsvRow): Row {
    if (raw.length > MAX_ROW_BYTES) return rowTooLong(line, raw, true);
    if (returnIn !== undefined) return loneReturnRow(known(), raw, line, returnIn);
    return cellCountRow(known(), raw, line, cells);
  }

  function quoteRow(row: Buffer, line: number, using: CsvDialect): Row {
    const tracker = trackRow(using);
    tracker.feed(row, 0);
    tracker.finish();
    return quoteFaultRow(known(), row, line, tracker.fault ?? { kind: "never-closed", column: 0, lineEnds: 0 });
  }

  function known(): KnownTable {
    return { header, delimiter };
  }

  function leave(): RangeStart | undefined {
    // Rows are counted by their quotes where a file is cut, so without the fast path it is not.
    if (fastFrom === Number.POSITIVE_INFINITY) return undefined;
    if (dialect === undefined || dialect.crEndsRows || stopped || long !== undefined) return undefined;
    return { rest: carry, lineEnds: rowLine - 1, quote };
  }

  return {
    take,
    end,
    leave,
    get lineEnds() {
      if (dialect === undefined) return rowLine - 1;
      return rowLine - 1 + (long?.tracker.lineEnds ?? countLineEnds(carry, 0, carry.length, dialect.crEndsRows));
    },
    get stopped() {
      return stopped;
    },
    get header() {
      return header;
    },
    get headerLine() {
      return headerLine;
    },
    get delimiter() {
      return header === undefined ? undefined : delimiter;
    },
  };
}

interface FirstRow {
  readonly end: number;
  readonly next: number;
  readonly endsInCr: boolean;
  readonly hasQuotes: boolean;
  readonly lineEnds: number;
}

/** A line above the header, whose quotes mean nothing; undefined when its end is still to come. */
function titleLine(
  bytes: Buffer,
  start: number,
  ended: boolean,
): { readonly end: number; readonly next: number } | undefined {
  for (let at = start; at < bytes.length; at += 1) {
    if (bytes[at] === LF) return { end: at, next: at + 1 };
    if (bytes[at] !== CR) continue;
    if (at + 1 === bytes.length && !ended) return undefined;
    return { end: at, next: bytes[at + 1] === LF ? at + 2 : at + 1 };
  }
  return ended ? { end: bytes.length, next: bytes.length } : undefined;
}

/** The row at `start`, while it is not known yet how rows end; undefined when its end is still to come. */
function firstRow(bytes: Buffer, start: number, quote: number, ended: boolean): FirstRow | undefined {
  let inQuotes = false;
  let hasQuotes = false;
  let lfs = 0;
  let crs = 0;
  for (let at = start; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === quote) {
      inQuotes = !inQuotes;
      hasQuotes = true;
    } else if (byte === LF) {
      lfs += 1;
      if (!inQuotes) return { end: at, next: at + 1, endsInCr: false, hasQuotes, lineEnds: lfs };
    } else if (byte === CR) {
      if (at + 1 === bytes.length && !ended) return undefined;
      const lfFollows = bytes[at + 1] === LF;
      if (!lfFollows) crs += 1;
      if (inQuotes) continue;
      if (lfFollows) return { end: at, next: at + 2, endsInCr: false, hasQuotes, lineEnds: lfs + 1 };
      return { end: at, next: at + 1, endsInCr: at + 1 < bytes.length, hasQuotes, lineEnds: lfs + crs };
    }
  }
  if (!ended) return undefined;
  return { end: bytes.length, next: bytes.length, endsInCr: false, hasQuotes, lineEnds: lfs };
}

/** Whether a row may end in the block. */
const endsRow = (block: Buffer, { crEndsRows }: CsvDialect): boolean =>
  block.includes(LF) || (crEndsRows && block.includes(CR));

/** Bytes of a row so far: a CR outside quotes at its end is part of its line end, whose LF may be still to come. */
function lengthOfOpen(row: Buffer, { quote }: CsvDialect): number {
  if (row[row.length - 1] !== CR) return row.length;
  let isQuoted = false;
  for (const byte of row) if (byte === quote) isQuoted = !isQuoted;
  let length = row.length;
  if (!isQuoted) while (length > 0 && row[length - 1] === CR) length -= 1;
  return length;
}

/** Physical line ends in a cell. */
function lineEndsIn(cell: string, { crEndsRows }: CsvDialect): number {
  return cell.split(crEndsRows ? /\r\n|\n|\r/ : "\n").length - 1;
}

function oneByte(what: string, text: string, not?: number): number {
  if (what === "quote" && text === "") return -1;
  const code = text.charCodeAt(0);
  if (text.length === 1 && code < 0x80 && code !== LF && code !== CR && code !== 0 && code !== not) return code;
  throw new Failure("usage", `The ${what} "${cleanText(text, 20)}" of a CSV file can't be used.`, {
    hint: `It is one ASCII character${not === undefined ? "" : ", and not the quote"}.`,
  });
}

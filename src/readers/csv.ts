import { isAscii } from "node:buffer";
import { CsvError, parse } from "csv-parse/sync";
import { GUARDED_COLUMN, unguardCell } from "../actions/formula-guard.ts";
import { cleanText } from "../actions/text.ts";
import { Failure } from "../failure.ts";
import { REASON_COLUMN } from "../mapping/open-actions.ts";
import type { Row } from "../mapping/row.ts";
import { splitQuoted } from "./csv-cells.ts";
import { type CsvDialect, type QuoteFault, type RowTracker, trackRow } from "./csv-quotes.ts";
import { detectDelimiter } from "./delimiter.ts";
import type { RangeStart } from "./row-parser.ts";
import {
  EMPTY,
  MAX_ROW_BYTES,
  malformed,
  type ReaderFinding,
  type RowParser,
  rawText,
  rowTooLong,
} from "./row-parser.ts";
import { findRowsInCell, type RowsInCell } from "./rows-in-cell.ts";
import { compileSecondHeader, type SecondHeader } from "./second-header.ts";

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

/** A row of a block: where it is, where it starts in the file, whether it has quotes. */
interface Span {
  readonly start: number;
  readonly end: number;
  readonly line: number;
  readonly hasQuotes: boolean;
}

/**
 * Reads CSV strictly. The borders of rows are found here, outside quotes, so that each row has its physical line and its
 * raw text; rows without quotes and those whose quotes all stand where they belong are split here, and csv-parse judges
 * the others.
 *
 * Rows end in LF or CRLF, mixed as they come; in CR too when the header does. Where it does not, a CR in an unquoted cell
 * makes the row malformed: it may be the end of another. Blank lines are passed over, and so is a first line `sep=;`, by
 * which spreadsheets declare the delimiter.
 */
export function csvParser(options: CsvOptions = {}): CsvParser {
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
  let carryHasQuotes = false;
  let inQuotes = false;
  let lineEnds = after?.lineEnds ?? 0;
  let rowLine = lineEnds + 1;
  let blockEndedInCr = false;
  /** A row over the limit, followed to its end without being kept. */
  let long: { readonly head: Buffer; readonly tracker: RowTracker } | undefined;

  function take(block: Buffer): Row[] {
    if (stopped || block.length === 0) return [];
    const bytes = carry.length === 0 ? block : Buffer.concat([carry, block]);
    if (dialect === undefined) return readHeader(bytes, false);
    return readRows(bytes, carry.length, dialect);
  }

  function end(): Row[] {
    if (stopped) return [];
    const rows = dialect === undefined ? readHeader(carry, true) : [];
    if (stopped || dialect === undefined) return rows;
    if (long !== undefined) {
      long.tracker.finish();
      rows.push(longRow(long));
    } else if (carry.length > 0) {
      const span = { start: 0, end: carried(), line: rowLine, hasQuotes: carryHasQuotes };
      if (span.end > 0) rows.push(...toRows(carry, [span], dialect));
    }
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
      lineEnds += 1;
      rowLine = lineEnds + 1;
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
        return acceptHeader(bytes, start, line, text);
      } else if (start === bytes.length) {
        carry = EMPTY;
        return [];
      }
      lineEnds += line.lineEnds;
      rowLine = lineEnds + 1;
      start = line.next;
    }
  }

  function acceptHeader(bytes: Buffer, start: number, line: FirstRow, text: string): Row[] {
    delimiter ??= detectDelimiter(text, options.quote);
    dialect = { delimiter: delimiter.charCodeAt(0), quote, crEndsRows: line.endsInCr };
    const cells = line.hasQuotes ? parseQuoted(bytes.subarray(start, line.end), dialect) : [text.split(delimiter)];
    const only = cells?.[0];
    if (only === undefined) return stopAt(quoteRow(bytes.subarray(start, line.end), rowLine, dialect));
    isGuarded = only.includes(GUARDED_COLUMN);
    header = isGuarded ? only.map(unguardCell) : only;
    secondHeader = compileSecondHeader(header);
    headerLine = rowLine;
    lineEnds += line.lineEnds;
    rowLine = lineEnds + 1;
    carry = EMPTY;
    return readRows(bytes.subarray(line.next), 0, dialect);
  }

  /** Reads the rows that end in `bytes`, of which the first `scanned` have been looked through before. */
  function readRows(bytes: Buffer, scanned: number, using: CsvDialect): Row[] {
    const rows: Row[] = [];
    let from = scanned;
    let start = 0;
    if (long !== undefined) {
      const lineEndsBefore = long.tracker.lineEnds;
      const last = long.tracker.feed(bytes, 0);
      lineEnds += long.tracker.lineEnds - lineEndsBefore;
      if (last === -1 && long.tracker.fault === undefined) return rows;
      rows.push(longRow(long));
      if (stopped) return rows;
      long = undefined;
      rowLine = lineEnds + 1;
      start = last + 1;
      from = start;
    }
    const { crEndsRows } = using;
    const spans: Span[] = [];
    let hasQuotes = carryHasQuotes;
    let quoted = inQuotes;
    const highest = Math.max(quote, CR);
    for (let at = from; at < bytes.length; at += 1) {
      const byte = bytes[at] ?? 0;
      if (byte > highest) continue; // nearly every byte, so nothing else is asked of it
      if (byte === quote) {
        quoted = !quoted;
        hasQuotes = true;
      } else if (byte === LF || (byte === CR && crEndsRows)) {
        const afterCr = at === 0 ? blockEndedInCr : bytes[at - 1] === CR;
        if (crEndsRows && byte === LF && afterCr) {
          if (!quoted) start = at + 1;
          continue;
        }
        lineEnds += 1;
        if (quoted) continue;
        let end = at;
        // Programs that write CRLF for the LF of a CRLF leave several.
        if (!crEndsRows) while (end > start && bytes[end - 1] === CR) end -= 1;
        if (end > start) spans.push({ start, end, line: rowLine, hasQuotes });
        start = at + 1;
        rowLine = lineEnds + 1;
        hasQuotes = false;
      }
    }
    carryHasQuotes = hasQuotes;
    inQuotes = quoted;
    blockEndedInCr = bytes[bytes.length - 1] === CR;
    for (const row of toRows(bytes, spans, using)) rows.push(row);
    if (stopped) return rows;
    // A copy: the block may be reused, and a few bytes must not keep it in memory.
    carry = start === bytes.length ? EMPTY : Buffer.from(bytes.subarray(start));
    if (carried() > MAX_ROW_BYTES) followLongRow(rows, using);
    return rows;
  }

  /** Bytes of the row so far: a CR outside quotes at its end is part of its line end, whose LF may be still to come. */
  function carried(): number {
    let length = carry.length;
    if (!inQuotes) while (length > 0 && carry[length - 1] === CR) length -= 1;
    return length;
  }

  function followLongRow(rows: Row[], using: CsvDialect): void {
    const tracker = trackRow(using);
    long = { head: carry, tracker };
    tracker.feed(carry, 0);
    if (tracker.fault !== undefined) rows.push(longRow(long));
    else long = { head: Buffer.from(rawText(carry)), tracker };
    carry = EMPTY;
    carryHasQuotes = false;
    inQuotes = false;
  }

  function longRow({ head, tracker }: { readonly head: Buffer; readonly tracker: RowTracker }): Row {
    if (tracker.fault === undefined) return rowTooLong(rowLine, head, true);
    stopped = true;
    return quoteFaultRow(head, rowLine, tracker.fault);
  }

  /** Reads the rows of one block; after one whose quotes are wrong, `stopped` is set and there are no more. */
  function toRows(bytes: Buffer, spans: readonly Span[], using: CsvDialect): Row[] {
    const encoding = isAscii(bytes) ? "latin1" : "utf8"; // the same text for ASCII, and faster
    const separator = String.fromCharCode(using.delimiter);
    const rows: Row[] = [];
    const quoteText = String.fromCharCode(using.quote);
    const mayHoldReturns = !using.crEndsRows && bytes.includes(CR);
    for (const { start, end, line, hasQuotes } of spans) {
      if (end - start > MAX_ROW_BYTES) {
        const row = completeLongRow(bytes.subarray(start, end), line, using);
        rows.push(row);
        if (stopped) break;
        continue;
      }
      const text = bytes.toString(encoding, start, end);
      const cells = hasQuotes
        ? (splitQuoted(text, separator, quoteText) ?? onlyRow(parseQuoted(bytes.subarray(start, end), using)))
        : text.split(separator);
      if (cells === undefined) {
        rows.push(...stopAt(quoteRow(bytes.subarray(start, end), line, using)));
        break;
      }
      const returnIn = mayHoldReturns ? cellOfLoneReturn(text, separator, quoteText) : undefined;
      if (returnIn !== undefined) rows.push(loneReturnRow(bytes.subarray(start, end), line, returnIn));
      else if (cells.length !== header?.length) rows.push(cellCountRow(bytes.subarray(start, end), line, cells));
      else {
        const plain = isGuarded ? cells.map(unguardCell) : cells;
        const second = secondHeader(plain);
        const found = hasQuotes
          ? findRowsInCell(cells, header, separator, line, (cell) => lineEndsIn(cell, using))
          : undefined;
        if (second !== undefined) rows.push(secondHeaderRow(bytes.subarray(start, end), line, second));
        else if (found === undefined) rows.push({ kind: "cells", line, cells: plain });
        else rows.push({ kind: "cells", line, cells: plain, findings: [rowsInCell(found)] });
        if (stopped) break;
      }
    }
    return rows;
  }

  function completeLongRow(row: Buffer, line: number, using: CsvDialect): Row {
    const tracker = trackRow(using);
    tracker.feed(row, 0);
    tracker.finish();
    if (tracker.fault === undefined) return rowTooLong(line, row, true);
    stopped = true;
    return quoteFaultRow(row, line, tracker.fault);
  }

  function quoteRow(row: Buffer, line: number, using: CsvDialect): Row {
    const tracker = trackRow(using);
    tracker.feed(row, 0);
    tracker.finish();
    return quoteFaultRow(row, line, tracker.fault ?? { kind: "never-closed", column: 0, lineEnds: 0 });
  }

  function quoteFaultRow(row: Buffer, line: number, fault: QuoteFault): Row {
    const column = columnName(fault.column);
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

  function loneReturnRow(row: Buffer, line: number, column: number): Row {
    return malformed(line, rawText(row), true, {
      rule: "lone-carriage-return",
      message: `${columnName(column)} holds a carriage return outside quotes; the lines of this file end otherwise, so two rows may stand in one.`,
      hint: "Give every line the same end (LF or CRLF), and put a cell that holds a line break in quotes.",
    });
  }

  /** Behind one with the columns in another order, every cell would be taken for what it is not. */
  function secondHeaderRow(row: Buffer, line: number, kind: SecondHeader): Row {
    const isSame = kind === "same columns";
    stopped = !isSame;
    return malformed(line, rawText(row), isSame, {
      rule: "header-repeated",
      message: isSame
        ? "The row is the header again."
        : "The row is a header again, with the columns in another order. Nothing after this row was read.",
      hint: isSame
        ? "Remove it: files that are put together need one header, at the top."
        : "Give the two files by themselves: their columns differ.",
    });
  }

  function cellCountRow(row: Buffer, line: number, cells: readonly string[]): Row {
    const expected = header?.length ?? 0;
    const count = cells.length;
    const has = `The row has ${plural(count, "cell")}, the header has ${expected}`;
    const missing = expected - count === 1 ? "is missing" : `and what follows it are missing`;
    const message =
      count < expected
        ? `${has}: ${columnName(count)} ${missing}.`
        : `${has}: cell ${expected + 1} has no column, the last is ${columnName(expected - 1)}.`;
    const hint =
      count < expected
        ? `Leave empty cells empty, but keep their delimiters (${shownDelimiter(delimiter)}).`
        : `Put a cell that holds the delimiter (${shownDelimiter(delimiter)}) in quotes.`;
    return malformed(
      line,
      rawText(row),
      true,
      { rule: "cell-count", message, hint },
      count < expected ? cells : undefined,
    );
  }

  function rowsInCell({ column, firstLine, lastLine }: RowsInCell): ReaderFinding {
    return {
      rule: "rows-in-cell",
      message: `${columnName(column)} holds what looks like rows of the table: its quote opens in line ${firstLine} and closes in line ${lastLine}.`,
      hint: 'Double a quote that stands for itself (5"" single), or take it out. If the cell is right as it is, say rules: {rows-in-cell: warn} in the config.',
    };
  }

  function columnName(index: number): string {
    const name = header?.[index]?.trim();
    return name === undefined || name === "" ? `Column ${index + 1}` : `Column ${index + 1} ("${cleanText(name, 40)}")`;
  }

  function leave(): RangeStart | undefined {
    if (dialect === undefined || dialect.crEndsRows || stopped || long !== undefined) return undefined;
    return { rest: carry, lineEnds: rowLine - 1, quote };
  }

  return {
    take,
    end,
    leave,
    get lineEnds() {
      return lineEnds;
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

/** The cell with the first CR outside quotes, in a row without its own line end. */
function cellOfLoneReturn(row: string, delimiter: string, quote: string): number | undefined {
  if (!row.includes("\r")) return undefined;
  let isQuoted = false;
  let column = 0;
  for (let at = 0; at < row.length; at += 1) {
    const character = row[at];
    if (character === quote) isQuoted = !isQuoted;
    else if (isQuoted) continue;
    else if (character === delimiter) column += 1;
    else if (character === "\r") return column;
  }
  return undefined;
}

/** Physical line ends in a cell. */
function lineEndsIn(cell: string, { crEndsRows }: CsvDialect): number {
  return cell.split(crEndsRows ? /\r\n|\n|\r/ : "\n").length - 1;
}

/** The cells of whole rows with quotes, or undefined when a quote is wrong. */
function parseQuoted(rows: Buffer, { delimiter, quote }: CsvDialect): readonly (readonly string[])[] | undefined {
  try {
    return parse(rows, {
      delimiter: String.fromCharCode(delimiter),
      quote: String.fromCharCode(quote),
      escape: String.fromCharCode(quote),
      record_delimiter: "\n",
      relax_column_count: true,
    });
  } catch (cause) {
    if (cause instanceof CsvError) return undefined;
    throw cause;
  }
}

function onlyRow(rows: readonly (readonly string[])[] | undefined): readonly string[] | undefined {
  return rows?.length === 1 ? rows[0] : undefined;
}

function oneByte(what: string, text: string, not?: number): number {
  if (what === "quote" && text === "") return -1;
  const code = text.charCodeAt(0);
  if (text.length === 1 && code < 0x80 && code !== LF && code !== CR && code !== 0 && code !== not) return code;
  throw new Failure("usage", `The ${what} "${cleanText(text, 20)}" of a CSV file can't be used.`, {
    hint: `It is one ASCII character${not === undefined ? "" : ", and not the quote"}.`,
  });
}

function plural(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? "" : "s"}`;
}

function shownDelimiter(delimiter: string | undefined): string {
  return delimiter === "\t" ? "TAB" : (delimiter ?? ",");
}

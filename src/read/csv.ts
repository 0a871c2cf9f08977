import { GUARDED_COLUMN, unguardCell } from "../actions/formula-guard.ts";
import { REASON_COLUMN } from "../actions/rejects-columns.ts";
import { cleanText } from "../actions/text.ts";
import { Failure } from "../failure.ts";
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
import type { Row } from "./row.ts";
import { EMPTY, MAX_ROW_BYTES, type RowParser, rawText, rowTooLong } from "./row-parser.ts";
import { findRowsInCell } from "./rows-in-cell.ts";
import { compileSecondHeader } from "./second-header.ts";

export interface CsvOptions {
  /** One ASCII character; detected from the header when absent. */
  readonly delimiter?: string | undefined;
  /** One ASCII character (`"`), or "" when quotes have no meaning. */
  readonly quote?: string | undefined;
  /** The physical line on which the header begins, from 1; what stands above it is passed over. */
  readonly headerLine?: number | undefined;
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

/**
 * Reads CSV strictly, each row with its physical line and its raw text. csv-parse tells where its cells are (csv-rows.ts).
 *
 * Rows end in LF or CRLF, mixed as they come; in CR too when the header does. Where it does not, a CR in an unquoted cell
 * makes the row malformed: it may be the end of another. Blank lines are passed over, and so is a first line `sep=;`, by
 * which spreadsheets declare the delimiter.
 *
 * A row over 1 MiB is not kept in memory, which csv-parse would do: its end is found by `trackRow`.
 */
export function csvParser(options: CsvOptions = {}): CsvParser {
  return new CsvTable(options);
}

class CsvTable implements CsvParser {
  readonly #options: CsvOptions;
  readonly #quote: number;
  readonly #wantedLine: number;
  #delimiter: string | undefined;
  #dialect: CsvDialect | undefined;
  header: readonly string[] | undefined;
  /** The file was written by `tickets` with `--safe-csv`. */
  #isGuarded = false;
  headerLine: number | undefined;
  #secondHeader = compileSecondHeader([]);
  stopped = false;
  /** Bytes of a row that has not ended yet. */
  #carry: Buffer = EMPTY;
  #rowLine = 1;
  #blockEndedInCr = false;
  /** A row over the limit, followed to its end without being kept. */
  #long: { readonly head: Buffer; readonly tracker: RowTracker } | undefined;

  constructor(options: CsvOptions) {
    this.#options = options;
    this.#quote = oneByte("quote", options.quote ?? '"');
    this.#wantedLine = options.headerLine ?? 1;
    this.#delimiter = options.delimiter;
    if (this.#delimiter !== undefined) oneByte("delimiter", this.#delimiter, this.#quote);
  }

  get lineEnds(): number {
    const before = this.#rowLine - 1;
    if (this.#dialect === undefined) return before;
    const open = this.#carry;
    return before + (this.#long?.tracker.lineEnds ?? countLineEnds(open, 0, open.length, this.#dialect.crEndsRows));
  }

  get delimiter(): string | undefined {
    return this.header === undefined ? undefined : this.#delimiter;
  }

  take(block: Buffer): Row[] {
    if (this.stopped || block.length === 0) return [];
    const bytes = this.#carry.length === 0 ? block : Buffer.concat([this.#carry, block]);
    if (this.#dialect === undefined) return this.#readHeader(bytes, false);
    if (this.#long === undefined && !endsRow(block, this.#dialect)) {
      const rows: Row[] = [];
      this.#keep(rows, bytes === block ? Buffer.from(block) : bytes, this.#dialect);
      return rows;
    }
    return this.#readRows(bytes, this.#dialect, false);
  }

  end(): Row[] {
    if (this.stopped) return [];
    const rows = this.#dialect === undefined ? this.#readHeader(this.#carry, true) : [];
    if (this.stopped || this.#dialect === undefined) return rows;
    if (this.#long !== undefined) {
      this.#long.tracker.finish();
      rows.push(this.#longRow(this.#long));
    } else if (this.#carry.length > 0)
      for (const row of this.#readRows(this.#carry, this.#dialect, true)) rows.push(row);
    this.#carry = EMPTY;
    return rows;
  }

  #stopAt(row: Row): Row[] {
    this.stopped = true;
    this.#carry = EMPTY;
    return [row];
  }

  /** Passes over blank lines to the header, learns the dialect from it, and reads on. */
  #readHeader(bytes: Buffer, ended: boolean): Row[] {
    let start = 0;
    while (this.#rowLine < this.#wantedLine) {
      const title = firstRow(bytes, start, -1, ended); // quotes above the header mean nothing
      if (title === undefined) return this.#waitForEnd(bytes.subarray(start));
      const text = bytes.toString("utf8", start, title.end);
      // A rejects file of the source: it has no titles.
      if (this.#rowLine === 1 && text.includes(REASON_COLUMN)) break;
      this.#declaresDelimiter(text);
      this.#rowLine += 1;
      start = title.next;
      if (start === bytes.length && ended) return [];
    }
    for (;;) {
      const line = firstRow(bytes, start, this.#quote, ended);
      if (line === undefined) return this.#waitForEnd(bytes.subarray(start));
      const text = bytes.toString("utf8", start, line.end);
      if (!this.#declaresDelimiter(text)) {
        if (text !== "") return this.#acceptHeader(bytes, start, line, text, ended);
        if (start === bytes.length) return this.#waitForEnd(EMPTY);
      }
      this.#rowLine += line.lineEnds;
      start = line.next;
    }
  }

  /** Keeps the beginning of a line, a copy: the block may be reused. */
  #waitForEnd(open: Buffer): Row[] {
    this.#carry = Buffer.from(open);
    return open.length > MAX_ROW_BYTES ? this.#stopAt(rowTooLong(this.#rowLine, this.#carry, false)) : [];
  }

  /** Whether it is a line such as `sep=;`. */
  #declaresDelimiter(text: string): boolean {
    const declared = SEPARATOR_LINE.exec(text)?.[1];
    if (declared === undefined || declared.charCodeAt(0) >= 0x80) return false;
    this.#delimiter ??= declared;
    return true;
  }

  #acceptHeader(bytes: Buffer, start: number, line: FirstRow, text: string, ended: boolean): Row[] {
    const row = bytes.subarray(start, line.end);
    if (row.length > MAX_ROW_BYTES) return this.#stopAt(rowTooLong(this.#rowLine, row, false));
    this.#delimiter ??= detectDelimiter(text, this.#options.quote);
    this.#dialect = { delimiter: this.#delimiter.charCodeAt(0), quote: this.#quote, crEndsRows: line.endsInCr };
    const cells = readCsvRow(row, this.#dialect);
    if (cells === undefined) return this.#stopAt(this.#quoteRow(row, this.#rowLine, this.#dialect));
    this.#isGuarded = cells.includes(GUARDED_COLUMN);
    this.header = this.#isGuarded ? cells.map(unguardCell) : cells;
    this.#secondHeader = compileSecondHeader(this.header);
    this.headerLine = this.#rowLine;
    this.#rowLine += line.lineEnds;
    this.#carry = EMPTY;
    return this.#readRows(bytes.subarray(line.next), this.#dialect, ended);
  }

  /** Reads the rows that end in `bytes`. */
  #readRows(bytes: Buffer, using: CsvDialect, isEnd: boolean): Row[] {
    const rows: Row[] = [];
    let start = 0;
    if (this.#long !== undefined) {
      const last = this.#long.tracker.feed(bytes, 0);
      if (last === -1 && this.#long.tracker.fault === undefined) return rows;
      rows.push(this.#longRow(this.#long));
      if (this.stopped) return rows;
      this.#rowLine += this.#long.tracker.lineEnds;
      this.#long = undefined;
      start = last + 1;
    }
    const { crEndsRows } = using;
    // The LF of a CRLF whose CR has ended the row before.
    const isAfterCr = start === 0 ? this.#carry.length === 0 && this.#blockEndedInCr : bytes[start - 1] === CR;
    if (crEndsRows && bytes[start] === LF && isAfterCr) start += 1;
    this.#blockEndedInCr = bytes[bytes.length - 1] === CR;

    const read = readCsvRows(bytes, start, this.#rowLine, using, isEnd);
    for (const each of read.rows) {
      const row = this.#judge(bytes, each, using);
      rows.push(row);
      this.stopped = row.kind === "malformed" && !row.bordersKnown;
      if (this.stopped) return rows;
    }
    if (read.broken !== undefined) {
      const { start, end, line } = read.broken;
      rows.push(...this.#stopAt(this.#quoteRow(bytes.subarray(start, end), line, using)));
      return rows;
    }
    start = read.rest;
    this.#rowLine = read.restLine;
    // A copy: the block may be reused, and a few bytes must not keep it in memory.
    this.#keep(rows, start === bytes.length ? EMPTY : Buffer.from(bytes.subarray(start)), using);
    return rows;
  }

  #keep(rows: Row[], open: Buffer, using: CsvDialect): void {
    this.#carry = open;
    if (this.#carry.length > MAX_ROW_BYTES && lengthOfOpen(this.#carry, using) > MAX_ROW_BYTES)
      this.#followLongRow(rows, using);
  }

  #followLongRow(rows: Row[], using: CsvDialect): void {
    const tracker = trackRow(using);
    this.#long = { head: this.#carry, tracker };
    tracker.feed(this.#carry, 0);
    if (tracker.fault !== undefined) rows.push(this.#longRow(this.#long));
    else this.#long = { head: Buffer.from(rawText(this.#carry)), tracker };
    this.#carry = EMPTY;
  }

  #longRow({ head, tracker }: { readonly head: Buffer; readonly tracker: RowTracker }): Row {
    if (tracker.fault === undefined) return rowTooLong(this.#rowLine, head, true);
    this.stopped = true;
    return quoteFaultRow(this.#known(), head, this.#rowLine, tracker.fault);
  }

  #judge(bytes: Buffer, row: CsvRow, using: CsvDialect): Row {
    const { line, cells } = row;
    const length = row.end - row.start;
    if (length > MAX_ROW_BYTES || row.returnIn !== undefined || cells.length !== this.header?.length)
      return this.#malformedRow(bytes.subarray(row.start, row.end), row);
    const plain = this.#isGuarded ? cells.map(unguardCell) : cells;
    const second = this.#secondHeader(plain);
    if (second !== undefined) return secondHeaderRow(bytes.subarray(row.start, row.end), line, second);
    if (!row.hasQuotes) return { kind: "cells", line, cells: plain };
    const separator = String.fromCharCode(using.delimiter);
    const found = findRowsInCell(cells, this.header, separator, line, (cell) => lineEndsIn(cell, using));
    return found === undefined
      ? { kind: "cells", line, cells: plain }
      : { kind: "cells", line, cells: plain, findings: [rowsInCellFinding(this.#known(), found)] };
  }

  #malformedRow(raw: Buffer, { line, cells, returnIn }: CsvRow): Row {
    if (raw.length > MAX_ROW_BYTES) return rowTooLong(line, raw, true);
    if (returnIn !== undefined) return loneReturnRow(this.#known(), raw, line, returnIn);
    return cellCountRow(this.#known(), raw, line, cells);
  }

  #quoteRow(row: Buffer, line: number, using: CsvDialect): Row {
    const tracker = trackRow(using);
    tracker.feed(row, 0);
    tracker.finish();
    return quoteFaultRow(this.#known(), row, line, tracker.fault ?? { kind: "never-closed", column: 0, lineEnds: 0 });
  }

  #known(): KnownTable {
    return { header: this.header, delimiter: this.#delimiter };
  }
}

type FirstRow = NonNullable<ReturnType<typeof firstRow>>;

/** The row at `start`, while it is not known yet how rows end; undefined when its end is still to come. */
function firstRow(bytes: Buffer, start: number, quote: number, ended: boolean) {
  let inQuotes = false;
  let lfs = 0;
  let crs = 0;
  for (let at = start; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === quote) inQuotes = !inQuotes;
    else if (byte === LF) {
      lfs += 1;
      if (!inQuotes) return { end: at, next: at + 1, endsInCr: false, lineEnds: lfs };
    } else if (byte === CR) {
      if (at + 1 === bytes.length && !ended) return undefined;
      const lfFollows = bytes[at + 1] === LF;
      if (!lfFollows) crs += 1;
      if (inQuotes) continue;
      if (lfFollows) return { end: at, next: at + 2, endsInCr: false, lineEnds: lfs + 1 };
      return { end: at, next: at + 1, endsInCr: at + 1 < bytes.length, lineEnds: lfs + crs };
    }
  }
  if (!ended) return undefined;
  return { end: bytes.length, next: bytes.length, endsInCr: false, lineEnds: lfs };
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

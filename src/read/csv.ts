/** Tables: their header, and each record as a row. */

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
import { type CsvDialect, CsvRecords, cellsOfRecord, type OpenCell, type QuoteFault } from "./csv-records.ts";
import { CellsRow, type Row, type TableText, wholeCells } from "./row.ts";
import { EMPTY, MAX_ROW_BYTES, type RowParser, rawText, rowTooLong } from "./row-parser.ts";
import { findRowsInCell } from "./rows-in-cell.ts";
import { HeaderAgain } from "./second-header.ts";

export interface CsvOptions {
  /** One ASCII character; detected from the header when absent. */
  readonly delimiter?: string | undefined;
  /** The physical line on which the header begins, from 1; what stands above it is passed over. */
  readonly headerLine?: number | undefined;
}

const QUOTE = 0x22;
const LF = 10;
const CR = 13;
const SEPARATOR_LINE = /^sep=(.)$/i;

/**
 * Reads CSV strictly, each row with its physical line and its text.
 *
 * Rows end in LF or CRLF, mixed as they come; in CR too when the header does. Where it does not, a CR in an unquoted cell
 * makes the row malformed: it may be the end of another. Blank lines are passed over, and so is a first line `sep=;`, by
 * which spreadsheets declare the delimiter. A row over 1 MiB is not kept in memory.
 */
export class CsvParser implements RowParser {
  readonly #headerLineWanted: number;
  #delimiter: string | undefined;
  /** What the header showed. */
  #table: Table | undefined;
  headerLine: number | undefined;
  /** Which columns become cells; all where it is undefined. */
  wanted: readonly boolean[] | undefined;
  stopped = false;
  /** Bytes of a row that has not ended yet, and the line on which it begins. */
  #carry: Buffer = EMPTY;
  #line = 1;
  /** What was left out of `#carry` of a row over the limit. */
  #long: LongRow | undefined;

  constructor({ delimiter, headerLine = 1 }: CsvOptions = {}) {
    this.#headerLineWanted = headerLine;
    this.#delimiter = delimiter;
    if (delimiter !== undefined) refuseDelimiter(delimiter);
  }

  /** The cells of the first row, as written; undefined until it has been read, and for an input without rows. */
  get header(): readonly string[] | undefined {
    return this.#table?.header;
  }

  get delimiter(): string | undefined {
    return this.#table?.delimiter;
  }

  get lineEnds(): number {
    const open = this.#table === undefined ? 0 : lineEndsIn(this.#carry.toString("latin1"), this.#table.crEndsRows);
    return this.#line - 1 + (this.#long?.lines ?? 0) + open;
  }

  take(block: Buffer): Row[] {
    if (this.stopped || block.length === 0) return [];
    const bytes = this.#carry.length === 0 ? block : Buffer.concat([this.#carry, block]);
    return this.#table === undefined ? this.#readHeader(bytes, false) : this.#readRows(bytes, this.#table, false);
  }

  end(): Row[] {
    if (this.stopped) return [];
    return this.#table === undefined
      ? this.#readHeader(this.#carry, true)
      : this.#readRows(this.#carry, this.#table, true);
  }

  #stopAt(row: Row): Row[] {
    this.stopped = true;
    this.#carry = EMPTY;
    return [row];
  }

  /** Passes over blank lines to the header, learns the dialect from it, and reads on. */
  #readHeader(bytes: Buffer, isEnd: boolean): Row[] {
    let start = 0;
    for (;;) {
      const isTitle = this.#line < this.#headerLineWanted; // quotes above the header mean nothing
      const line = firstRow(bytes, start, !isTitle, isEnd);
      if (line === undefined) return this.#waitForEnd(bytes.subarray(start));
      const text = bytes.toString("utf8", start, line.end);
      const isSeparator = this.#declaresDelimiter(text);
      // A rejects file of the source has no titles.
      const isHeader = !isTitle || (this.#line === 1 && text.includes(REASON_COLUMN));
      if (isHeader && !isSeparator && text !== "") return this.#acceptHeader(bytes, start, line, isEnd);
      if (start === bytes.length) return this.#waitForEnd(EMPTY);
      this.#line += isTitle ? 1 : line.lineEnds;
      start = line.next;
    }
  }

  /** Keeps the beginning of a line, a copy: the block may be reused. */
  #waitForEnd(open: Buffer): Row[] {
    this.#carry = Buffer.from(open);
    return open.length > MAX_ROW_BYTES ? this.#stopAt(rowTooLong(this.#line, this.#carry, false)) : [];
  }

  /** Whether it is a line such as `sep=;`. */
  #declaresDelimiter(text: string): boolean {
    const declared = SEPARATOR_LINE.exec(text)?.[1];
    if (declared === undefined || declared.charCodeAt(0) >= 0x80) return false;
    this.#delimiter ??= declared;
    return true;
  }

  #acceptHeader(bytes: Buffer, start: number, line: FirstRow, isEnd: boolean): Row[] {
    const record = bytes.subarray(start, line.end);
    if (record.length > MAX_ROW_BYTES) return this.#stopAt(rowTooLong(this.#line, record, false));
    const delimiter = this.#delimiter ?? detectDelimiter(record.toString());
    const dialect = { delimiter, crEndsRows: line.endsInCr };
    const cells = cellsOfRecord(record, dialect);
    if (!Array.isArray(cells))
      return this.#stopAt(quoteFaultRow({ header: undefined, delimiter }, record, this.#line, cells));
    this.#table = new Table(cells, dialect);
    this.headerLine = this.#line;
    this.#line += line.lineEnds;
    return this.#readRows(bytes.subarray(line.next), this.#table, isEnd);
  }

  /** Reads the rows that end in `bytes`. */
  #readRows(bytes: Buffer, table: Table, isEnd: boolean): Row[] {
    const rows: Row[] = [];
    const records = new CsvRecords(bytes, this.#line + (this.#long?.lines ?? 0), table, isEnd);
    while (records.next()) {
      const row = this.#long === undefined ? table.rowOf(records, this.wanted) : this.#longRow(table, records.fault);
      rows.push(row);
      this.stopped = row.kind === "malformed" && !row.bordersKnown;
      if (this.stopped) return rows;
      this.#long = undefined;
    }
    if (this.#long === undefined) this.#line = records.atLine;
    // A copy: the block may be reused, and a few bytes must not keep it in memory.
    this.#carry = records.at === bytes.length ? EMPTY : Buffer.from(bytes.subarray(records.at));
    if (this.#long === undefined && lengthOfOpen(this.#carry) <= MAX_ROW_BYTES) return rows;
    if (records.open !== undefined) this.#shorten(table, records.open);
    else rows.push(...this.#stopAt(this.#longRow(table, records.fault)));
    return rows;
  }

  /** Keeps of a long row only what decides where it ends, and whether its quotes are right. */
  #shorten({ delimiter }: Table, open: OpenCell): void {
    const { head = this.#head, lines = 0, column, linesBefore = 0 } = this.#long ?? {};
    this.#long = {
      head,
      column: open.column,
      linesBefore: open.column === column ? linesBefore : lines + open.linesBefore,
      lines: lines + open.lines,
    };
    this.#carry = Buffer.from(delimiter.repeat(open.column) + open.gist);
  }

  get #head(): Buffer {
    return Buffer.from(rawText(this.#carry));
  }

  #longRow(table: Table, fault: QuoteFault | undefined): Row {
    const { head = this.#head, lines = 0, column, linesBefore = 0 } = this.#long ?? {};
    if (fault === undefined) return rowTooLong(this.#line, head, true);
    const isOpenedBefore = fault.kind === "never-closed" && fault.column === column;
    const lineEnds = isOpenedBefore ? linesBefore : lines + fault.lineEnds;
    return quoteFaultRow(table, head, this.#line, { ...fault, lineEnds });
  }
}

interface LongRow {
  /** Its beginning, for reports. */
  readonly head: Buffer;
  /** The cell that was open when it was last shortened, and the line ends before that and in all. */
  readonly column: number;
  readonly linesBefore: number;
  readonly lines: number;
}

/** A table whose header is known. */
class Table implements CsvDialect, TableText, KnownTable {
  readonly header: readonly string[];
  readonly delimiter: string;
  readonly crEndsRows: boolean;
  readonly isGuarded: boolean;
  readonly #headerAgain: HeaderAgain;

  constructor(cells: readonly string[], { delimiter, crEndsRows }: CsvDialect) {
    this.delimiter = delimiter;
    this.crEndsRows = crEndsRows;
    this.isGuarded = cells.includes(GUARDED_COLUMN);
    this.header = this.isGuarded ? cells.map(unguardCell) : cells;
    this.#headerAgain = new HeaderAgain(this.header);
  }

  /** The row that a record is. */
  rowOf(records: CsvRecords, wanted: readonly boolean[] | undefined): Row {
    const { line, count, returnIn } = records;
    if (records.fault !== undefined) return quoteFaultRow(this, records.bytes, line, records.fault);
    if (records.end - records.start > MAX_ROW_BYTES) return rowTooLong(line, records.bytes, true);
    if (returnIn !== -1) return loneReturnRow(this, records.bytes, line, returnIn);
    if (count !== this.header.length) return cellCountRow(this, records.bytes, line, records.cells());
    const { text } = records;
    if (records.beginsAs(this.#headerAgain.beginnings)) {
      const again = this.#headerAgain.kindOf(wholeCells(text, this));
      if (again !== undefined) return secondHeaderRow(records.bytes, line, again);
    }
    const cells = this.isGuarded ? wholeCells(text, this).map((cell) => cell.trim()) : records.trimmed(text, wanted);
    return new CellsRow(line, cells, text, this, records.hasBreak ? this.#findRowsIn(records) : undefined);
  }

  #findRowsIn(records: CsvRecords) {
    const countLineEnds = (cell: string): number => lineEndsIn(cell, this.crEndsRows);
    const found = findRowsInCell(records.cells(), this.header, this.delimiter, records.line, countLineEnds);
    return found === undefined ? undefined : [rowsInCellFinding(this, found)];
  }
}

type FirstRow = NonNullable<ReturnType<typeof firstRow>>;

/** The row at `start`, while it is not known yet how rows end; undefined when its end is still to come. */
function firstRow(bytes: Buffer, start: number, hasQuotes: boolean, isEnd: boolean) {
  let isQuoted = false;
  let lfs = 0;
  let crs = 0;
  for (let at = start; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === QUOTE && hasQuotes) isQuoted = !isQuoted;
    else if (byte === LF) {
      lfs += 1;
      if (!isQuoted) return { end: at, next: at + 1, endsInCr: false, lineEnds: lfs };
    } else if (byte === CR) {
      if (at + 1 === bytes.length && !isEnd) return undefined;
      const lfFollows = bytes[at + 1] === LF;
      if (!lfFollows) crs += 1;
      if (isQuoted) continue;
      if (lfFollows) return { end: at, next: at + 2, endsInCr: false, lineEnds: lfs + 1 };
      return { end: at, next: at + 1, endsInCr: at + 1 < bytes.length, lineEnds: lfs + crs };
    }
  }
  if (!isEnd) return undefined;
  return { end: bytes.length, next: bytes.length, endsInCr: false, lineEnds: lfs };
}

/** Bytes of a row so far: a CR at its end may be part of its line end, whose LF is still to come. */
function lengthOfOpen(row: Buffer): number {
  let { length } = row;
  while (row[length - 1] === CR) length -= 1;
  return length;
}

/** Physical line ends. */
const lineEndsIn = (text: string, crEndsRows: boolean): number =>
  text.split(crEndsRows ? /\r\n|\n|\r/ : "\n").length - 1;

const CANDIDATES = [",", ";", "\t", "|"] as const;

/**
 * The delimiter of a CSV file, told from its header: whichever of `,` `;` TAB `|` stands there most often outside quotes.
 * A tie between the first two or none at all means `,`.
 */
export function detectDelimiter(headerText: string): string {
  const unquoted = headerText.replace(/"[^"]*(?:"|$)/g, "");
  const counts = CANDIDATES.map((candidate) => ({ candidate, count: unquoted.split(candidate).length }));
  const [first, second] = counts.sort((one, other) => other.count - one.count);
  return first !== undefined && first.count > (second?.count ?? 0) ? first.candidate : ",";
}

function refuseDelimiter(text: string): void {
  const code = text.charCodeAt(0);
  if (text.length === 1 && code < 0x80 && ![LF, CR, 0, QUOTE].includes(code)) return;
  throw new Failure("usage", `The delimiter "${cleanText(text, 20)}" of a CSV file can't be used.`, {
    hint: "It is one ASCII character, and not the quote.",
  });
}

/** Tables: their header, and each record as a row. */

import { GUARDED_COLUMN, REASON_COLUMN, unguardCell } from "../actions/rejects-columns.ts";
import { Failure } from "../failure.ts";
import { cleanText } from "../text.ts";
import {
  cellCountRow,
  HeaderAgain,
  type KnownTable,
  loneReturnRow,
  quoteFaultRow,
  rowsInCell,
  secondHeaderRow,
} from "./csv-findings.ts";
import { type CsvDialect, CsvRecords, cellsOfRecord, type DeclaredDialect } from "./csv-records.ts";
import {
  CellsRow,
  EMPTY,
  fitted,
  MAX_ROW_BYTES,
  type Row,
  type RowParser,
  rowTooLong,
  type TableText,
  type UnevenRows,
  wholeCells,
} from "./row.ts";

export interface CsvOptions {
  /** One ASCII character; detected from the header when absent. */
  readonly delimiter?: string | undefined;
  /**
   * The physical line on which the header begins, from 1; what stands above it is passed over. Of a table that has `none`,
   * the columns are called 1, 2 and so on.
   */
  readonly headerLine?: number | "none" | undefined;
  readonly dialect?: DeclaredDialect | undefined;
}

const QUOTE = 0x22;
const LF = 10;
const CR = 13;
/** `sep=;`, also in quotes, or with the delimiters that a spreadsheet adds. */
const SEPARATOR_LINE = /^\s*"?sep=(.)"?([,;\t|]?)\2*\s*$/i;

/**
 * Reads CSV strictly, each row with its physical line and its text.
 *
 * Rows end in LF or CRLF, mixed as they come; in CR too when the header does. Where it does not, a CR in an unquoted cell
 * makes the row malformed: it may be the end of another. Blank lines are passed over, also of blanks, and so is a first line `sep=;`, by
 * which spreadsheets declare the delimiter. A row over 1 MiB ends the reading.
 */
export class CsvParser implements RowParser {
  readonly #headerLineWanted: number;
  readonly #hasHeader: boolean;
  #delimiter: string | undefined;
  readonly #dialect: DeclaredDialect;
  /** What the header showed. */
  #table: Table | undefined;
  headerLine: number | undefined;
  wanted: readonly boolean[] | undefined;
  stopped = false;
  /** Bytes of a row that has not ended yet, and the line on which it begins. */
  #carry: Buffer = EMPTY;
  #line = 1;

  constructor({ delimiter, headerLine = 1, dialect = {} }: CsvOptions = {}) {
    this.#hasHeader = headerLine !== "none";
    this.#headerLineWanted = headerLine === "none" ? 1 : headerLine;
    this.#delimiter = delimiter;
    if (delimiter !== undefined) refuseDelimiter(delimiter);
    this.#dialect = dialect;
  }

  /** The cells of the first row, as written; undefined until it has been read, and for an input without rows. */
  get header(): readonly string[] | undefined {
    return this.#table?.header;
  }

  get delimiter(): string | undefined {
    return this.#table?.delimiter;
  }

  get hasBegun(): boolean {
    return this.#table !== undefined;
  }

  get unevenRows(): readonly UnevenRows[] {
    return [...(this.#table?.uneven.values() ?? [])];
  }

  get lineEnds(): number {
    const open =
      this.#table === undefined ? 0 : lineEndsIn(this.#carry.toString("latin1"), this.#table.dialect.crEndsRows);
    return this.#line - 1 + open;
  }

  take(block: Buffer): Row[] {
    return this.stopped || block.length === 0 ? [] : this.#read(block, false);
  }

  end(): Row[] {
    return this.stopped ? [] : this.#read(EMPTY, true);
  }

  #read(block: Buffer, isEnd: boolean): Row[] {
    const bytes = this.#carry.length === 0 ? block : Buffer.concat([this.#carry, block]);
    return this.#table === undefined ? this.#readHeader(bytes, isEnd) : this.#readRows(bytes, this.#table, isEnd);
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
      const isComment = bytes[start] === this.#dialect.comment?.charCodeAt(0);
      const dialect = isTitle || isComment ? undefined : { ...this.#dialect, delimiter: this.#delimiter };
      const line = firstRow(bytes, start, dialect, isEnd);
      if (line === undefined) return this.#waitForEnd(bytes.subarray(start));
      const text = bytes.toString("utf8", start, line.end);
      const isSeparator = this.#declaresDelimiter(text);
      // A rejects file of the source has no titles.
      const isHeader = !isTitle || (this.#line === 1 && text.includes(REASON_COLUMN));
      if (isHeader && !isSeparator && !isComment && text !== "") return this.#acceptHeader(bytes, start, line, isEnd);
      if (start === bytes.length) return this.#waitForEnd(EMPTY);
      this.#line += isTitle ? 1 : line.lineEnds;
      start = line.next;
    }
  }

  /** Keeps the beginning of a row, a copy: the block may be reused, and a few bytes must not keep it in memory. */
  #waitForEnd(open: Buffer): Row[] {
    this.#carry = open.length === 0 ? EMPTY : Buffer.from(open);
    return lengthOfOpen(open) > MAX_ROW_BYTES ? this.#stopAt(rowTooLong(this.#line, this.#carry, false)) : [];
  }

  #declaresDelimiter(text: string): boolean {
    const [, declared, added] = SEPARATOR_LINE.exec(text) ?? [];
    if (declared === undefined || declared.charCodeAt(0) >= 0x80) return false;
    // What was added delimits the rows, too.
    this.#delimiter ??= added || declared;
    return true;
  }

  #acceptHeader(bytes: Buffer, start: number, line: FirstRow, isEnd: boolean): Row[] {
    const record = bytes.subarray(start, line.end);
    if (record.length > MAX_ROW_BYTES) return this.#stopAt(rowTooLong(this.#line, record, false));
    const delimiter = this.#delimiter ?? detectDelimiter(record.toString());
    const dialect = { ...this.#dialect, delimiter, crEndsRows: line.endsInCr };
    const cells = cellsOfRecord(record, dialect);
    if (!Array.isArray(cells))
      return this.#stopAt(quoteFaultRow({ header: undefined, delimiter }, record, this.#line, cells));
    if (this.#hasHeader || cells.includes(REASON_COLUMN)) {
      this.#table = new Table(cells, dialect);
      this.headerLine = this.#line;
      this.#line += line.lineEnds;
      return this.#readRows(bytes.subarray(line.next), this.#table, isEnd);
    }
    this.#table = new Table(
      Array.from(cells.keys(), (at) => String(at + 1)),
      dialect,
      false,
    );
    return this.#readRows(bytes.subarray(start), this.#table, isEnd);
  }

  /** Reads the rows that end in `bytes`. */
  #readRows(bytes: Buffer, table: Table, isEnd: boolean): Row[] {
    const rows: Row[] = [];
    const records = new CsvRecords(bytes, this.#line, table.dialect, isEnd);
    while (records.next()) {
      if (table.header.length > 1 && isBlankLine(records)) continue;
      const row = table.rowOf(records, this.wanted);
      rows.push(row);
      this.stopped = row.kind === "malformed" && !row.bordersKnown;
      if (this.stopped) return rows;
    }
    this.#line = records.atLine;
    rows.push(...this.#waitForEnd(bytes.subarray(records.at)));
    return rows;
  }
}

const isBlankLine = (records: CsvRecords): boolean =>
  records.fault === undefined && records.count === 1 && records.cells()[0]?.trim() === "";

/** A table whose header is known. */
class Table implements TableText, KnownTable {
  readonly header: readonly string[];
  readonly dialect: CsvDialect;
  readonly delimiter: string;
  readonly isGuarded: boolean;
  readonly uneven = new Map<UnevenRows["kind"], UnevenRows>();
  readonly #headerAgain: HeaderAgain;
  /** Cells that the first row has beyond the header. */
  #padding: number | undefined;

  constructor(cells: readonly string[], dialect: CsvDialect, hasHeader = true) {
    this.dialect = dialect;
    this.delimiter = dialect.delimiter;
    this.isGuarded = cells.includes(GUARDED_COLUMN);
    this.header = this.isGuarded ? cells.map(unguardCell) : cells;
    this.#headerAgain = new HeaderAgain(hasHeader ? this.header : []);
  }

  get columns(): number {
    return this.header.length;
  }

  /** The row that a record is. */
  rowOf(records: CsvRecords, wanted: readonly boolean[] | undefined): Row {
    const { line, count, returnIn } = records;
    if (records.end - records.start > MAX_ROW_BYTES) return rowTooLong(line, records.bytes, false);
    if (records.fault !== undefined) return quoteFaultRow(this, records.bytes, line, records.fault);
    if (returnIn !== -1) return loneReturnRow(this, records.bytes, line, returnIn);
    this.#padding ??= count - this.columns;
    if (count !== this.columns && !this.#differsAtEnd(records))
      return cellCountRow(this, records.bytes, line, records.cells());
    const raw = records.text;
    const text = records.asRfc(raw);
    const first = records.firstFilled(raw);
    if (this.#headerAgain.hasName(this.isGuarded ? unguardCell(first) : first)) {
      const again = this.#headerAgain.kindOf(wholeCells(text, this));
      if (again !== undefined) return secondHeaderRow(records.bytes, line, again);
    }
    const cells = this.isGuarded
      ? wholeCells(text, this).map((cell) => cell.trim())
      : fitted(records.trimmed(raw, wanted), this.columns);
    if (!records.hasBreak) return new CellsRow(line, cells, text, this);
    const swallowed = rowsInCell(this, records.cells(), line, (cell) => lineEndsIn(cell, this.dialect.crEndsRows));
    return new CellsRow(line, cells, text, this, swallowed);
  }

  /** Whether all cells that the row has more than the header are empty, or the one that it has less has no name. */
  #differsAtEnd(records: CsvRecords): boolean {
    const { columns, header } = this;
    const cells = records.cells().map((cell) => cell.trim());
    const isPadded = cells.length > columns && cells.slice(columns).every((cell) => cell === "");
    // Where not all rows are padded alike, 12,50 without quotes before an empty last cell looks the same.
    const isLonger = isPadded && (cells.length - columns === this.#padding || !this.#splitsNumber(cells));
    const isShorter = cells.length === columns - 1 && header[columns - 1]?.trim() === "";
    if (!isLonger && !isShorter) return false;
    const kind = isLonger ? "longer" : "shorter";
    const known = this.uneven.get(kind);
    if (known === undefined) this.uneven.set(kind, { kind, rows: 1, firstLine: records.line });
    else known.rows += 1;
    return true;
  }

  /** Whether two cells look like the halves of an amount with a decimal comma. */
  #splitsNumber(cells: readonly string[]): boolean {
    return this.delimiter === "," && cells.some((cell, at) => /^\d{2}$/.test(cell) && /\d$/.test(cells[at - 1] ?? ""));
  }
}

type FirstRow = NonNullable<ReturnType<typeof firstRow>>;

/**
 * The row at `start`, while it is not known yet how rows end; undefined when its end is still to come.
 *
 * @param dialect undefined where quotes mean nothing.
 */
function firstRow(bytes: Buffer, start: number, dialect: HeaderDialect | undefined, isEnd: boolean) {
  let isQuoted = false;
  let lfs = 0;
  let crs = 0;
  for (let at = start; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      const isInside = at > start && !isEdge(bytes[isQuoted ? at + 1 : at - 1], dialect?.delimiter);
      if (isQuoted && bytes[at + 1] === QUOTE) at += 1;
      else if (dialect !== undefined && (dialect.quotes !== "loose" || !isInside)) isQuoted = !isQuoted;
    } else if (isQuoted && byte === dialect?.escape?.charCodeAt(0)) {
      if (bytes[at + 1] === QUOTE || bytes[at + 1] === byte) at += 1;
    } else if (byte === LF) {
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

type HeaderDialect = DeclaredDialect & { readonly delimiter: string | undefined };

/** Whether a cell may begin behind a byte, or end before it. */
const isEdge = (byte: number | undefined, delimiter: string | undefined): boolean =>
  byte === undefined || byte === LF || byte === CR || byte === delimiter?.charCodeAt(0);

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

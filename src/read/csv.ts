/** Tables: their header, and each record as a row. */

import { fold } from "../actions/nearest.ts";
import { GUARDED_COLUMN, REASON_COLUMN, unguardCell } from "../actions/rejects-columns.ts";
import { Failure } from "../failure.ts";
import { cleanText } from "../text.ts";
import { cellCountRow, faultRow, headerAgainRow, holdsRows, type KnownTable } from "./csv-problems.ts";
import { type CsvDialect, CsvRecords, DELIMITERS, type DeclaredDialect } from "./csv-records.ts";
import {
  CellsRow,
  fitted,
  type Row,
  type RowParser,
  rowTooLong,
  type TableText,
  type UnevenRows,
  wholeCells,
} from "./row.ts";
import { EMPTY, LF, lineEndsIn, MAX_ROW_BYTES } from "./row-bytes.ts";

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
const CR = 13;
/** `sep=;`, also in quotes, or with the delimiters that a spreadsheet adds. */
const SEPARATOR_LINE = /^\s*"?sep=(.)"?([,;\t|]?)\2*\s*$/i;

/**
 * Reads CSV strictly, each row with its physical line and its text.
 *
 * Rows end in LF or CRLF, mixed as they come. A CR in an unquoted cell makes the row malformed: it may be the end of another.
 * Blank lines are passed over, also of blanks, and so is a first line `sep=;`, by which spreadsheets declare the delimiter. A row
 * over 1 MiB ends the reading.
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
    return this.#line - 1 + lineEndsIn(this.#carry);
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

  /** Passes over titles and blank lines to the header, learns the dialect from it, and reads on. */
  #readHeader(bytes: Buffer, isEnd: boolean): Row[] {
    let at = 0;
    while (this.#line < this.#headerLineWanted) {
      const end = bytes.indexOf(LF, at); // quotes above the header mean nothing
      if (end === -1 && !isEnd) return this.#waitForEnd(bytes.subarray(at));
      const title = bytes.toString("utf8", at, end === -1 ? bytes.length : end);
      // A rejects file of the source has no titles.
      if (this.#line === 1 && title.includes(REASON_COLUMN)) break;
      if (end === -1) return this.#waitForEnd(EMPTY);
      this.#declaresDelimiter(title);
      this.#line += 1;
      at = end + 1;
    }
    const records = new CsvRecords(bytes.subarray(at), this.#line, this.#dialectBy(","), isEnd);
    while (records.next()) {
      const text = records.raw.toString();
      if (this.#declaresDelimiter(text)) continue;
      this.#line = records.line;
      const dialect = this.#dialectBy(detectDelimiter(text));
      return this.#acceptHeader(bytes.subarray(at + records.start), dialect, isEnd);
    }
    this.#line = records.atLine;
    return this.#waitForEnd(bytes.subarray(at + records.at));
  }

  #dialectBy(delimiter: string): CsvDialect {
    return { ...this.#dialect, delimiter: this.#delimiter ?? delimiter };
  }

  /** Takes the record at the beginning of `bytes` for the header, and reads on. */
  #acceptHeader(bytes: Buffer, dialect: CsvDialect, isEnd: boolean): Row[] {
    const record = new CsvRecords(bytes, this.#line, dialect, isEnd);
    if (!record.next()) return this.#waitForEnd(bytes);
    const { raw, line, fault } = record;
    const known = { header: undefined, delimiter: dialect.delimiter };
    if (raw.length > MAX_ROW_BYTES) return this.#stopAt(rowTooLong(line, raw, false));
    if (fault !== undefined) return this.#stopAt(faultRow(known, raw, line, { ...fault, bordersKnown: false }));
    const cells = record.cells();
    if (!this.#hasHeader && !cells.includes(REASON_COLUMN)) {
      const names = Array.from(cells.keys(), (at) => String(at + 1));
      this.#table = new Table(names, dialect, false);
      return this.#readRows(bytes, this.#table, isEnd);
    }
    this.#table = new Table(cells, dialect);
    this.headerLine = line;
    this.#line = record.atLine;
    return this.#readRows(bytes.subarray(record.at), this.#table, isEnd);
  }

  /** Keeps the beginning of a row, a copy: the block may be reused, and a few bytes must not keep it in memory. */
  #waitForEnd(open: Buffer): Row[] {
    this.#carry = open.length === 0 ? EMPTY : Buffer.from(open);
    // The last byte may be the CR of its line end.
    return open.length > MAX_ROW_BYTES + 1 ? this.#stopAt(rowTooLong(this.#line, this.#carry, false)) : [];
  }

  #declaresDelimiter(text: string): boolean {
    const [, declared, added] = SEPARATOR_LINE.exec(text) ?? [];
    if (declared === undefined || declared.charCodeAt(0) >= 0x80) return false;
    // What was added delimits the rows, too.
    this.#delimiter ??= added || declared;
    return true;
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
  /** Folded, of the columns that have one. None where no line is the header. */
  readonly #names: ReadonlySet<string>;
  /** Cells that the first row has beyond the header. */
  #padding: number | undefined;

  constructor(cells: readonly string[], dialect: CsvDialect, hasHeader = true) {
    this.dialect = dialect;
    this.delimiter = dialect.delimiter;
    this.isGuarded = cells.includes(GUARDED_COLUMN);
    this.header = this.isGuarded ? cells.map(unguardCell) : cells;
    this.#names = new Set(hasHeader ? this.header.map(fold).filter((name) => name !== "") : []);
  }

  get columns(): number {
    return this.header.length;
  }

  /** The row that a record is. */
  rowOf(records: CsvRecords, wanted: readonly boolean[] | undefined): Row {
    const { line, count, fault } = records;
    if (records.end - records.start > MAX_ROW_BYTES) return rowTooLong(line, records.bytes, false);
    if (fault !== undefined) return faultRow(this, records.bytes, line, fault);
    this.#padding ??= count - this.columns;
    if (count !== this.columns && !this.#differsAtEnd(records))
      return cellCountRow(this, records.bytes, line, records.cells());
    const raw = records.text;
    const text = records.asRfc(raw);
    if (this.#names.has(fold(records.firstCell(raw)))) {
      const order = this.#orderOfNames(wholeCells(text, this));
      if (order !== undefined) return headerAgainRow(records.bytes, line, order);
    }
    const cells = this.isGuarded
      ? wholeCells(text, this).map((cell) => cell.trim())
      : fitted(records.trimmed(raw, wanted), this.columns);
    if (raw.includes("\n") && holdsRows(records.cells(), this.delimiter)) this.#noteUneven("hiding", line);
    return new CellsRow(line, cells, text, this);
  }

  /** Of cells that are the header once more, as files that were put together have it; behind another order, what follows stands under wrong columns. */
  #orderOfNames(cells: readonly string[]): "same" | "other" | undefined {
    const own = this.header.map(fold);
    const names = cells.map(fold);
    if (names.every((name, at) => name === own[at])) return "same";
    return names.toSorted().join() === own.toSorted().join() ? "other" : undefined;
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
    this.#noteUneven(isLonger ? "longer" : "shorter", records.line);
    return true;
  }

  #noteUneven(kind: UnevenRows["kind"], line: number): void {
    const known = this.uneven.get(kind);
    if (known === undefined) this.uneven.set(kind, { kind, rows: 1, firstLine: line });
    else known.rows += 1;
  }

  /** Whether two cells look like the halves of an amount with a decimal comma. */
  #splitsNumber(cells: readonly string[]): boolean {
    return this.delimiter === "," && cells.some((cell, at) => /^\d{2}$/.test(cell) && /\d$/.test(cells[at - 1] ?? ""));
  }
}

/**
 * The delimiter of a CSV file, found in its header: whichever of `,` `;` TAB `|` stands there most often outside quotes.
 * A tie between the first two or none at all means `,`.
 */
export function detectDelimiter(headerText: string): string {
  const unquoted = headerText.replace(/"[^"]*(?:"|$)/g, "");
  const counts = DELIMITERS.map((delimiter) => ({ delimiter, count: unquoted.split(delimiter).length }));
  const [first, second] = counts.sort((one, other) => other.count - one.count);
  return first !== undefined && first.count > (second?.count ?? 0) ? first.delimiter : ",";
}

function refuseDelimiter(text: string): void {
  const code = text.charCodeAt(0);
  if (text.length === 1 && code < 0x80 && ![LF, CR, 0, QUOTE].includes(code)) return;
  throw new Failure("usage", `The delimiter "${cleanText(text, 20)}" of a CSV file can't be used.`, {
    hint: "It is one ASCII character, and not the quote.",
  });
}

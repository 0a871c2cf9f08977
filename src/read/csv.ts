/** Tables: their header, and each record as a row. */

import { fold } from "../actions/nearest.ts";
import { cellCountRow, faultRow, headerAgainRow, holdsRows, type TableForm } from "./csv-problems.ts";
import {
  type CsvDialect,
  type CsvRecord,
  CsvRecords,
  DELIMITERS,
  type DeclaredDialect,
  isRfc,
  toRecord,
} from "./csv-records.ts";
import { LF } from "./encoding.ts";
import { GUARDED_COLUMN, unguardCell } from "./rejects-columns.ts";
import { CellsRow, MAX_ROW_BYTES, type Row, type RowParser, rowTooLong, type UnevenRows } from "./row.ts";

export interface CsvOptions {
  /** One ASCII character, and not the quote; detected from the header when absent. */
  readonly delimiter?: string | undefined;
  /**
   * The physical line on which the header begins, from 1; what stands above it is passed over. Of a table that has `none`,
   * the columns are called 1, 2 and so on.
   */
  readonly headerLine?: number | "none" | undefined;
  readonly dialect?: DeclaredDialect | undefined;
}

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
  readonly #hasHeader: boolean;
  readonly #headerLineWanted: number;
  /** Its delimiter is that which the source or a line `sep=;` declares. */
  #declared: DeclaredDialect & { readonly delimiter?: string | undefined };
  /** Known where the header begins. */
  #dialect: CsvDialect | undefined;
  /** Known behind the header. */
  #table: Table | undefined;
  headerLine: number | undefined;
  #line = 1;

  constructor({ delimiter, headerLine = 1, dialect = {} }: CsvOptions = {}) {
    this.#hasHeader = headerLine !== "none";
    this.#headerLineWanted = headerLine === "none" ? 1 : headerLine;
    this.#declared = { ...dialect, delimiter };
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
    return this.#line - 1;
  }

  read(bytes: Buffer, isEnd: boolean, rows: Row[]): number {
    let at = this.#dialect === undefined ? this.#findHeader(bytes, isEnd) : 0;
    if (this.#dialect !== undefined) at += this.#readRecords(bytes.subarray(at), this.#dialect, isEnd, rows);
    // The last byte may be the CR of its line end.
    if (rows.length === 0 && bytes.length - at > MAX_ROW_BYTES + 1)
      rows.push(rowTooLong(this.#line, bytes.toString("utf8", at)));
    return at;
  }

  /** Passes over titles and blank lines; gives the place of the header, which shows the delimiter, or of what is still to come. */
  #findHeader(bytes: Buffer, isEnd: boolean): number {
    let at = 0;
    while (this.#line < this.#headerLineWanted) {
      const end = bytes.indexOf(LF, at); // quotes above the header mean nothing
      if (end === -1) return isEnd ? bytes.length : at;
      this.#declaresDelimiter(bytes.toString("utf8", at, end));
      this.#line += 1;
      at = end + 1;
    }
    const records = new CsvRecords(bytes.subarray(at), this.#line, this.#dialectBy(DELIMITERS.join("")), isEnd);
    for (let first = records.next(); first !== undefined; first = records.next()) {
      if (first.text.trim() === "" || this.#declaresDelimiter(first.text)) continue;
      this.#line = first.line;
      this.#dialect = this.#dialectBy(detectDelimiter(first.text));
      return at + first.start;
    }
    this.#line = records.atLine;
    return at + records.at;
  }

  #dialectBy(delimiter: string): CsvDialect {
    return { ...this.#declared, delimiter: this.#declared.delimiter ?? delimiter };
  }

  #declaresDelimiter(text: string): boolean {
    const [, declared, added] = SEPARATOR_LINE.exec(text) ?? [];
    if (declared === undefined || declared.charCodeAt(0) >= 0x80) return false;
    // What was added delimits the rows, too.
    this.#declared = this.#dialectBy(added || declared);
    return true;
  }

  #readRecords(bytes: Buffer, dialect: CsvDialect, isEnd: boolean, rows: Row[]): number {
    const records = new CsvRecords(bytes, this.#line, dialect, isEnd);
    for (let record = records.next(); record !== undefined; record = records.next()) {
      const row = this.#table === undefined ? this.#takeHeader(record, dialect) : this.#table.rowOf(record);
      if (row === undefined) continue;
      rows.push(row);
      if (row.kind === "malformed" && !row.bordersKnown) return records.at;
    }
    this.#line = records.atLine;
    return records.at;
  }

  /** Gives the row that the first record is where it is no header, or why it can't be one. */
  #takeHeader(record: CsvRecord, dialect: CsvDialect): Row | undefined {
    const { line, length, cells, text, fault } = record;
    if (length > MAX_ROW_BYTES) return rowTooLong(line, text);
    if (fault !== undefined) return faultRow({ header: [], dialect }, text, line, fault);
    if (!this.#hasHeader) {
      const names = Array.from(cells.keys(), (at) => String(at + 1));
      this.#table = new Table(names, dialect, false);
      return this.#table.rowOf(record);
    }
    this.#table = new Table(cells, dialect);
    this.headerLine = line;
    return undefined;
  }
}

/** A table whose header is known. */
class Table implements TableForm {
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

  /** The row that a record is; undefined of a line of blanks, which would be a cell of a table of one column alone. */
  rowOf(record: CsvRecord): Row | undefined {
    const { line, length, cells, fault } = record;
    const { header, delimiter, dialect } = this;
    const isBlankLine = cells.length === 1 && cells[0]?.trim() === "" && fault === undefined;
    if (isBlankLine && header.length > 1) return undefined;
    const text = fault !== undefined || isRfc(dialect) ? record.text : toRecord(cells, delimiter);
    if (length > MAX_ROW_BYTES) return rowTooLong(line, text);
    if (fault !== undefined) return faultRow(this, text, line, fault);
    this.#padding ??= cells.length - header.length;
    if (cells.length !== header.length && !this.#differsAtEnd(cells, line))
      return cellCountRow(this, text, line, cells);
    const row = new CellsRow(line, cells, text, this);
    const order = this.#names.has(fold(row.cells[0] ?? "")) ? this.#orderOfNames(row.cells) : undefined;
    if (order !== undefined) return headerAgainRow(text, line, order);
    if (text.includes("\n") && holdsRows(cells, delimiter)) this.#noteUneven("hiding", line);
    return row;
  }

  /** Of cells that are the header once more, as in files that were put together. */
  #orderOfNames(cells: readonly string[]): "same" | "other" | undefined {
    const own = this.header.map(fold);
    const names = cells.map(fold);
    if (names.every((name, at) => name === own[at])) return "same";
    return names.toSorted().join() === own.toSorted().join() ? "other" : undefined;
  }

  /** Whether all cells that the row has more than the header are empty, or the one that it has less has no name. */
  #differsAtEnd(written: readonly string[], line: number): boolean {
    const { header } = this;
    const columns = header.length;
    const cells = written.map((cell) => cell.trim());
    const isPadded = cells.length > columns && cells.slice(columns).every((cell) => cell === "");
    // Where not all rows are padded alike, 12,50 without quotes before an empty last cell looks the same.
    const isLonger = isPadded && (cells.length - columns === this.#padding || !this.#splitsNumber(cells));
    const isShorter = cells.length === columns - 1 && header[columns - 1]?.trim() === "";
    if (!isLonger && !isShorter) return false;
    this.#noteUneven(isLonger ? "longer" : "shorter", line);
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

/** Tables as RFC 4180 has them, or as a source declares: where records end, and which cells they have. */

import { isAscii } from "node:buffer";

/** Those that are looked for where none is declared. */
export const DELIMITERS = [",", ";", "\t", "|"] as const;

const CR = 13;

/** What a source declares of how its tables are written. */
export interface DeclaredDialect {
  /** Stands before a quote in a quoted cell, or before itself. Quotes may be doubled all the same, as PHP has both. */
  readonly escape?: string | undefined;
  /** A line that begins with it is none. */
  readonly comment?: string | undefined;
  /** `loose`: a quote that neither begins nor ends a cell stands for itself. */
  readonly quotes?: "loose" | "strict" | undefined;
}

export interface CsvDialect extends DeclaredDialect {
  /** One ASCII character; of a table that shows it by its header alone, all that it may be. */
  readonly delimiter: string;
}

/**
 * How a record can't be read: a quote inside an unquoted cell, text after a closing quote, a quote that never closes; a CR
 * outside quotes that ends no record, as it may be the end of another.
 */
export interface RecordFault {
  readonly kind: "bare" | "text-after" | "never-closed" | "return";
  /** 0-based number of the cell. */
  readonly column: number;
  /** Line ends in the record before the fault; of a quote that never closes, before that quote. */
  readonly lineEnds: number;
}

/** What a record holds: cells, or a fault. */
interface Cells {
  /** As they are written, their quotes resolved. Before a fault, some of them. */
  readonly cells: string[];
  readonly fault: RecordFault | undefined;
}

export interface CsvRecord extends Cells {
  /** Physical line on which it begins. */
  readonly line: number;
  /** Place of its first byte, and number of its bytes without the line end. */
  readonly start: number;
  readonly length: number;
  /** As it is written. */
  readonly text: string;
}

/** Walks the records of a text in UTF-8. Records end in LF or CRLF, mixed as they come. Blank lines are passed over. */
export class CsvRecords {
  readonly #bytes: Buffer;
  /** A character a byte: what separates records and cells is ASCII. No cell is cut out of it, which would keep all of it. */
  readonly #text: string;
  readonly #encoding: "latin1" | "utf8";
  readonly #dialect: CsvDialect;
  readonly #isEnd: boolean;
  /** The first quote behind what was looked at. */
  #quote = -1;
  /** Behind the last record that was found, and the physical line there. */
  at = 0;
  atLine: number;

  /**
   * @param line on which the bytes begin.
   * @param isEnd the text ends with the bytes, so that its last record may lack its line end.
   */
  constructor(bytes: Buffer, line: number, dialect: CsvDialect, isEnd: boolean) {
    this.#bytes = bytes;
    this.#text = bytes.toString("latin1");
    this.#encoding = isAscii(bytes) ? "latin1" : "utf8";
    this.atLine = line;
    this.#dialect = dialect;
    this.#isEnd = isEnd;
  }

  /** The next record; undefined where there is none that ends in the bytes. */
  next(): CsvRecord | undefined {
    const { length } = this.#text;
    while (this.at < length) {
      const isComment = this.#text[this.at] === this.#dialect.comment;
      const end = isComment ? this.#endOfComment() : this.#endOfRecord();
      if (end === length && !this.#isEnd) return undefined;
      const record = isComment ? undefined : this.#recordTo(end);
      if (isComment) this.at = end;
      if (record !== undefined) return record;
    }
    return undefined;
  }

  /** Any CR ends a comment, so that a row behind a lone one is reported. */
  #endOfComment(): number {
    const end = placeOf("\n", this.#text, this.at);
    return this.at + placeOf("\r", this.#text.slice(this.at, end), 0);
  }

  /** The first line end outside quotes; the end of the text where there is none. */
  #endOfRecord(): number {
    const text = this.#text;
    const { at: start } = this;
    const { delimiter } = this.#dialect;
    let end = placeOf("\n", text, start);
    if (this.#quote < start) this.#quote = placeOf('"', text, start);
    while (this.#quote < end) {
      let behind = this.#quote + 1;
      if (this.#quote === start || delimiter.includes(text.charAt(this.#quote - 1))) {
        const closing = closingQuote(text, this.#quote, this.#dialect);
        if (closing === -1) return text.length;
        behind = closing + 1;
        if (closing > end) end = placeOf("\n", text, behind);
      }
      this.#quote = placeOf('"', text, behind);
    }
    return end;
  }

  /** Takes the record that ends at a place; undefined of a blank line. */
  #recordTo(end: number): CsvRecord | undefined {
    const { at: start, atLine: line } = this;
    const dialect = this.#dialect;
    const behind = this.#text.charCodeAt(end - 1) === CR ? end - 1 : end;
    const text = this.#bytes.toString(this.#encoding, start, behind);
    const hasQuotes = text.includes('"');
    const hasLineEnd = end < this.#text.length;
    this.at = hasLineEnd ? end + 1 : end;
    this.atLine += (hasLineEnd ? 1 : 0) + (hasQuotes ? lineEndsOf(text) : 0);
    if (behind <= start) return undefined;
    const found =
      hasQuotes || text.includes("\r")
        ? cellsOf(text, dialect)
        : { cells: text.split(dialect.delimiter), fault: undefined };
    return { line, start, length: behind - start, text, cells: found.cells, fault: found.fault };
  }
}

export const isRfc = (dialect: DeclaredDialect): boolean => dialect.escape === undefined && dialect.quotes !== "loose";

/** Whether a cell ends before a place. */
function endsCell(text: string, at: number, delimiter: string): boolean {
  const next = text[at] ?? "\n";
  return delimiter.includes(next) || next === "\n" || next === "\r";
}

/** @param text of a record, without its line end. */
function cellsOf(text: string, dialect: CsvDialect): Cells {
  const { delimiter } = dialect;
  const cells: string[] = [];
  const fault = (kind: RecordFault["kind"], at: number): Cells => ({
    cells,
    fault: { kind, column: cells.length, lineEnds: lineEndsOf(text.slice(0, at)) },
  });
  for (let at = 0; ; at += 1) {
    if (text[at] === '"') {
      const closing = closingQuote(text, at, dialect);
      if (closing === -1) return fault("never-closed", at);
      if ((text[closing + 1] ?? delimiter) !== delimiter) return fault("text-after", closing + 1);
      cells.push(unescaped(text.slice(at + 1, closing), dialect));
      at = closing + 1;
    } else {
      const end = placeOf(delimiter, text, at);
      const cell = text.slice(at, end);
      const wrong = cell.search(dialect.quotes === "loose" ? /\r/ : /["\r]/);
      if (wrong !== -1) return fault(cell[wrong] === "\r" ? "return" : "bare", at + wrong);
      cells.push(cell);
      at = end;
    }
    if (at === text.length) return { cells, fault: undefined };
  }
}

/** The quote that ends a quoted cell; -1 where none does. */
function closingQuote(text: string, opening: number, dialect: CsvDialect): number {
  for (let at = text.indexOf('"', opening + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    if (isEscaped(text, at, dialect)) continue;
    if (text[at + 1] === '"') at += 1;
    else if (dialect.quotes !== "loose" || endsCell(text, at + 1, dialect.delimiter)) return at;
  }
  return -1;
}

function isEscaped(text: string, at: number, dialect: CsvDialect): boolean {
  let from = at;
  while (from > 0 && text[from - 1] === dialect.escape) from -= 1;
  return (at - from) % 2 === 1;
}

function unescaped(cell: string, dialect: CsvDialect): string {
  if (dialect.escape !== undefined) return cell.replace(/""|\\(["\\])/g, (_found, escaped: string = '"') => escaped);
  return cell.includes('"') ? cell.replaceAll('""', '"') : cell;
}

/** The place of a character, or the text's end. */
function placeOf(character: string, text: string, from: number): number {
  const at = text.indexOf(character, from);
  return at === -1 ? text.length : at;
}

const lineEndsOf = (text: string): number => text.split("\n").length - 1;

/** The cells of one record without its line end; undefined where a quote is wrong. */
export function cellsOfRecord(record: string, delimiter: string): string[] | undefined {
  const { cells, fault } = cellsOf(record, { delimiter });
  return fault === undefined ? cells : undefined;
}

/** The record of RFC 4180 that holds the cells: the one way of writing that whatever reads a row again knows. */
export function toRecord(cells: readonly string[], delimiter: string): string {
  const written = cells.map((cell) =>
    cell.includes(delimiter) || /["\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell,
  );
  return written.join(delimiter) || '""';
}

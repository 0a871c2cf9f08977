/** Tables as RFC 4180 has them, or as a source declares: where records and their cells begin and end is found on the bytes. */

import { LF, lineEndsIn } from "./row-bytes.ts";

/** Those that are looked for where none is declared. */
export const DELIMITERS = [",", ";", "\t", "|"] as const;

const QUOTE = 0x22;
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
  /** One ASCII character. */
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
  /** Whether the next record is known to begin behind this one. */
  readonly bordersKnown: boolean;
}

/**
 * Walks the records of a text in UTF-8. What `next` found stands in the fields, until it is called again.
 *
 * Records end in LF or CRLF, mixed as they come. Blank lines are passed over.
 */
export class CsvRecords {
  readonly #bytes: Buffer;
  readonly #delimiter: number;
  readonly #escape: number;
  readonly #comment: number;
  readonly #isLoose: boolean;
  readonly #isRfc: boolean;
  readonly #isEnd: boolean;
  /** Of each cell, one behind the other: where it begins, where it ends, and what must be done to its bytes. */
  readonly #bounds: number[] = [];
  /** Behind the last record that was found, and the physical line there. */
  at = 0;
  atLine: number;
  /** Where the record stands, without its line end. */
  start = 0;
  end = 0;
  /** Physical line on which it begins. */
  line = 0;
  /** Number of its cells. */
  count = 0;
  /** Behind one with a wrong quote, the record ends as far as quotes can be counted. */
  fault: RecordFault | undefined;
  #isAscii = true;

  /**
   * @param line on which the bytes begin.
   * @param isEnd the text ends with the bytes, so that its last record may lack its line end.
   */
  constructor(bytes: Buffer, line: number, dialect: CsvDialect, isEnd: boolean) {
    this.#bytes = bytes;
    this.atLine = line;
    this.#delimiter = dialect.delimiter.charCodeAt(0);
    this.#escape = dialect.escape?.charCodeAt(0) ?? NO_BYTE;
    this.#comment = dialect.comment?.charCodeAt(0) ?? NO_BYTE;
    this.#isLoose = dialect.quotes === "loose";
    this.#isRfc = this.#escape === NO_BYTE && !this.#isLoose;
    this.#isEnd = isEnd;
  }

  /** Finds the next record; false where there is none that ends in the bytes. */
  next(): boolean {
    const { length } = this.#bytes;
    while (this.at < length) {
      if (this.#bytes[this.at] === this.#comment) {
        const end = this.#endOfLine();
        if (end === length && !this.#isEnd) return false;
        this.at = end;
      } else if (!this.#scan()) return false;
      else if (this.end > this.start) return true;
    }
    return false;
  }

  /** Any CR ends a comment, so that a row behind a lone one is reported. */
  #endOfLine(): number {
    let at = this.at;
    while (at < this.#bytes.length && this.#bytes[at] !== LF && this.#bytes[at] !== CR) at += 1;
    return at;
  }

  /** Each byte of a table passes here once. */
  #scan(): boolean {
    const bytes = this.#bytes;
    const bounds = this.#bounds;
    const delimiter = this.#delimiter;
    const escapeByte = this.#escape;
    const { length } = bytes;
    let at = this.at;
    let lines = 0;
    let place = 0;
    let highOfAll = 0;
    this.start = at;
    this.line = this.atLine;
    this.fault = undefined;
    for (;;) {
      const linesBefore = lines;
      let from = at;
      let to: number;
      let high = 0;
      let marks = 0;
      // Behind the last byte, an LF is read: the end of the text ends a record too.
      let byte = bytes[at] ?? LF;
      if (byte === QUOTE) {
        from = at + 1;
        for (at = from; ; at += 1) {
          if (at >= length) return this.#isEnd && this.#break("never-closed", place, linesBefore);
          byte = bytes[at] ?? LF;
          if (byte > QUOTE && byte !== escapeByte) high |= byte;
          else if (byte === QUOTE) {
            if (bytes[at + 1] === QUOTE) {
              marks |= DOUBLED;
              at += 1;
            } else if (!this.#isLoose || this.#endsCell(at + 1)) break;
          } else if (byte === LF) lines += 1;
          else if (byte === escapeByte && (bytes[at + 1] === QUOTE || bytes[at + 1] === escapeByte)) {
            marks |= ESCAPED;
            at += 1;
          }
        }
        to = at;
        at += 1;
        byte = bytes[at] ?? LF;
        const isEnd = byte === delimiter || byte === LF || (byte === CR && this.#isReturnOfEnd(at));
        if (!isEnd) return this.#break("text-after", place, lines);
      } else {
        for (;;) {
          while (byte !== delimiter && byte !== LF && byte !== CR && byte !== QUOTE) {
            high |= byte;
            at += 1;
            byte = bytes[at] ?? LF;
          }
          to = at;
          if (byte === QUOTE) {
            if (!this.#isLoose) return this.#break("bare", place, lines);
            at += 1;
            byte = bytes[at] ?? LF;
            continue;
          }
          if (byte === CR && !this.#isReturnOfEnd(at)) return this.#break("return", place, lines, at);
          break;
        }
      }
      bounds[place] = from;
      bounds[place + 1] = to;
      bounds[place + 2] = high >= 0x80 ? marks | HIGH : marks;
      place += 3;
      highOfAll |= high;
      if (byte === delimiter) {
        at += 1;
        continue;
      }
      // The end of the text, or a CR whose LF may be still to come.
      if (at + (byte === CR ? 1 : 0) >= length && !this.#isEnd) return false;
      this.end = bytes[to] === QUOTE ? to + 1 : to;
      this.count = place / 3;
      this.#isAscii = highOfAll < 0x80;
      if (byte === CR && bytes[at + 1] === LF) at += 1;
      this.at = Math.min(at + 1, length);
      this.atLine += at < length ? lines + 1 : lines;
      return true;
    }
  }

  /** Whether a cell ends before a place; the bytes may end there. */
  #endsCell(at: number): boolean {
    const byte = this.#bytes[at] ?? LF;
    return byte === this.#delimiter || byte === LF || byte === CR;
  }

  /** Whether the CR at a place belongs to a line end, whose LF may be still to come. */
  #isReturnOfEnd(at: number): boolean {
    return (this.#bytes[at + 1] ?? LF) === LF;
  }

  /**
   * Ends a record with a fault where quotes are even; false where that is still to come.
   *
   * @param from a place outside quotes.
   */
  #break(kind: RecordFault["kind"], place: number, lineEnds: number, from = this.start): boolean {
    const bytes = this.#bytes;
    let isQuoted = false;
    let end = from;
    for (; end < bytes.length; end += 1) {
      const byte = bytes[end];
      if (byte === QUOTE) isQuoted = !isQuoted;
      else if (!isQuoted && byte === LF) break;
    }
    if (end === bytes.length && !this.#isEnd) return false;
    this.fault = { kind, column: place / 3, lineEnds, bordersKnown: kind === "return" && this.#isRfc && !isQuoted };
    this.at = Math.min(end + 1, bytes.length);
    this.atLine += lineEndsIn(bytes.subarray(this.start, this.at));
    this.end = !isQuoted && bytes[end - 1] === CR ? end - 1 : end;
    return true;
  }

  /**
   * The first cell, trimmed.
   *
   * @param text the record's.
   */
  firstCell(text: string): string {
    return this.#trimmedCell(0, this.#isAscii ? text : this.#latin1);
  }

  /** The record as it stands there. */
  get raw(): Buffer {
    return this.#bytes.subarray(this.start, this.end);
  }

  /** The record for whoever shows it, or reads it again. */
  get bytes(): Buffer {
    return this.#isRfc || this.fault !== undefined ? this.raw : Buffer.from(toRecord(this.cells(), this.#delimiter));
  }

  /** The record as RFC 4180 has it, which is the one way of writing that whatever reads a row again knows. */
  asRfc(text: string): string {
    return this.#isRfc ? text : toRecord(this.cells(), this.#delimiter);
  }

  get text(): string {
    return this.#bytes.toString(this.#isAscii ? "latin1" : "utf8", this.start, this.end);
  }

  /** All cells as they are written, their quotes resolved. */
  cells(): string[] {
    return Array.from({ length: this.count }, (_, at) => this.#cell(at * 3, this.#latin1));
  }

  /**
   * The cells trimmed; '' for those that nobody wants.
   *
   * @param text the record's.
   */
  trimmed(text: string, wanted: readonly boolean[] | undefined): string[] {
    // ASCII is cut out of the record's text, which is short: a cell that is kept keeps it too.
    const latin1 = this.#isAscii ? text : this.#latin1;
    const { count } = this;
    const cells: string[] = new Array(count);
    for (let at = 0; at < count; at += 1)
      cells[at] = wanted === undefined || wanted[at] === true ? this.#trimmedCell(at * 3, latin1) : "";
    return cells;
  }

  get #latin1(): string {
    return this.#bytes.toString("latin1", this.start, this.end);
  }

  #trimmedCell(place: number, latin1: string): string {
    const from = this.#bounds[place] ?? 0;
    const to = this.#bounds[place + 1] ?? 0;
    if (from === to) return "";
    const cell = this.#cell(place, latin1);
    const isTrimmed =
      (this.#bounds[place + 2] ?? 0) < HIGH && (this.#bytes[from] ?? 0) > BLANK && (this.#bytes[to - 1] ?? 0) > BLANK;
    return isTrimmed ? cell : cell.trim();
  }

  #cell(place: number, latin1: string): string {
    const from = this.#bounds[place] ?? 0;
    const to = this.#bounds[place + 1] ?? 0;
    const marks = this.#bounds[place + 2] ?? 0;
    const text =
      marks < HIGH ? latin1.slice(from - this.start, to - this.start) : this.#bytes.toString("utf8", from, to);
    if ((marks & ESCAPED) !== 0) return text.replace(/""|\\(["\\])/g, (_found, escaped: string = '"') => escaped);
    return (marks & DOUBLED) !== 0 ? text.replaceAll('""', '"') : text;
  }
}

const BLANK = 0x20;
const NO_BYTE = -1;
/** Marks of a cell: it holds doubled quotes; escaped ones; more than ASCII. */
const DOUBLED = 1;
const ESCAPED = 2;
const HIGH = 4;

/** The cells of one record without its line end; undefined where a quote is wrong. */
export function cellsOfRecord(record: string, delimiter: string): string[] | undefined {
  const records = new CsvRecords(Buffer.from(record), 1, { delimiter }, true);
  records.next();
  return records.fault === undefined ? records.cells() : undefined;
}

/** The record of RFC 4180 that holds the cells. */
function toRecord(cells: readonly string[], code: number): string {
  const delimiter = String.fromCharCode(code);
  const written = cells.map((cell) =>
    cell.includes(delimiter) || /["\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell,
  );
  return written.join(delimiter) || '""';
}

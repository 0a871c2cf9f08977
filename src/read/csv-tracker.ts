/** Follows one record of a table byte by byte without keeping any of it: to tell what is wrong with its quotes, and where a long one ends. */

import type { CsvDialect } from "./csv-records.ts";

/** How a record breaks the rules of quoting: a quote inside an unquoted cell, text after a closing quote, a quote that never closes. */
export interface QuoteFault {
  readonly kind: "bare" | "text-after" | "never-closed";
  /** 0-based number of the cell. */
  readonly column: number;
  /** Line ends in the record before the fault; of a quote that never closes, before that quote. */
  readonly lineEnds: number;
}

const QUOTE = 0x22;
const LF = 10;
const CR = 13;

export class CsvTracker {
  readonly #delimiter: number;
  readonly #crEndsRows: boolean;
  #state: "cell-start" | "unquoted" | "quoted" | "quote-in-quoted" | "return-after-quote" | "ended-by-return" =
    "cell-start";
  #column = 0;
  #openedAfter = 0;
  #previous = 0;
  /** Line ends so far, the record's own included. */
  lineEnds = 0;
  fault: QuoteFault | undefined;

  constructor({ delimiter, crEndsRows }: CsvDialect) {
    this.#delimiter = delimiter.charCodeAt(0);
    this.#crEndsRows = crEndsRows;
  }

  /** Goes on to where the next record begins; undefined when that is still to come, or a fault was found. */
  feed(bytes: Buffer): number | undefined {
    for (let at = 0; at < bytes.length && this.fault === undefined; at += 1) {
      const byte = bytes[at] ?? 0;
      if (this.#state === "ended-by-return") return byte === LF ? at + 1 : at;
      const isLineEnd = byte === LF || (byte === CR && this.#crEndsRows);
      if (isLineEnd && !(byte === LF && this.#previous === CR && this.#crEndsRows)) this.lineEnds += 1;
      this.#previous = byte;
      if (this.#state === "quoted") {
        if (byte === QUOTE) this.#state = "quote-in-quoted";
      } else if (byte === LF) return at + 1;
      else if (isLineEnd) this.#state = "ended-by-return";
      else if (this.#state === "return-after-quote") {
        if (byte !== CR) this.#fail("text-after");
      } else if (byte === QUOTE) {
        if (this.#state === "unquoted") this.#fail("bare");
        if (this.#state === "cell-start") this.#openedAfter = this.lineEnds;
        this.#state = "quoted";
      } else if (byte === this.#delimiter) {
        this.#column += 1;
        this.#state = "cell-start";
      } else if (this.#state === "quote-in-quoted") {
        if (byte === CR) this.#state = "return-after-quote";
        else this.#fail("text-after");
      } else this.#state = "unquoted";
    }
    return undefined;
  }

  /** The text has ended. */
  finish(): void {
    if (this.#state === "quoted") this.#fail("never-closed", this.#openedAfter);
  }

  #fail(kind: QuoteFault["kind"], lineEnds = this.lineEnds): void {
    this.fault ??= { kind, column: this.#column, lineEnds };
  }
}

/** What is wrong with the quotes of a whole record. */
export function quoteFaultOf(record: Buffer, dialect: CsvDialect): QuoteFault {
  const tracker = new CsvTracker(dialect);
  tracker.feed(record);
  tracker.finish();
  return tracker.fault ?? { kind: "never-closed", column: 0, lineEnds: 0 };
}

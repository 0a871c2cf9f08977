/** How a row breaks the rules of quoting: a quote inside an unquoted cell, text after a closing quote, a quote that never closes. */
export interface QuoteFault {
  readonly kind: "bare" | "text-after" | "never-closed";
  /** 0-based number of the cell. */
  readonly column: number;
  /** Line ends in the row before the fault; of a quote that never closes, before that quote. */
  readonly lineEnds: number;
}

export interface CsvDialect {
  /** Bytes; `quote` is -1 where quotes mean nothing. */
  readonly delimiter: number;
  readonly quote: number;
  /** Whether a CR that no LF follows ends a row too (files of old Macs). */
  readonly crEndsRows: boolean;
}

/** Follows one row byte by byte without keeping any of it. */
export type RowTracker = ReturnType<typeof trackRow>;

const CR = 13;
const LF = 10;

/** Tracks a row from its first byte on. It knows the grammar strictly, so a row that it passes has borders to rely on. */
export function trackRow({ delimiter, quote, crEndsRows }: CsvDialect) {
  let state: "cell-start" | "unquoted" | "quoted" | "quote-in-quoted" | "cr-after-quote" = "cell-start";
  let column = 0;
  let lineEnds = 0;
  let openedAfter = 0;
  let previous = 0;
  let fault: QuoteFault | undefined;

  function fail(kind: QuoteFault["kind"], at: number): -1 {
    fault = { kind, column, lineEnds: at };
    return -1;
  }

  /** Goes on to the row's end: the index of the line end's last byte, or -1 when it is still to come or a fault was found. */
  function feed(bytes: Buffer, from: number): number {
    for (let at = from; at < bytes.length; at += 1) {
      const byte = bytes[at] ?? 0;
      const isLineEnd = byte === LF || (byte === CR && crEndsRows);
      if (isLineEnd && !(byte === LF && previous === CR && crEndsRows)) lineEnds += 1;
      previous = byte;
      if (state === "quoted") {
        if (byte === quote) state = "quote-in-quoted";
      } else if (isLineEnd) return at;
      else if (state === "cr-after-quote") return fail("text-after", lineEnds);
      else if (byte === quote) {
        if (state === "unquoted") return fail("bare", lineEnds);
        if (state === "cell-start") openedAfter = lineEnds;
        state = "quoted";
      } else if (byte === delimiter) {
        column += 1;
        state = "cell-start";
      } else if (state === "quote-in-quoted") {
        if (byte !== CR) return fail("text-after", lineEnds);
        state = "cr-after-quote";
      } else state = "unquoted";
    }
    return -1;
  }

  return {
    feed,
    /** What the end of the input means for the row. */
    finish(): void {
      if (fault === undefined && state === "quoted") fail("never-closed", openedAfter);
    },
    get fault(): QuoteFault | undefined {
      return fault;
    },
    /** Line ends so far, the row's own included. */
    get lineEnds(): number {
      return lineEnds;
    },
  };
}

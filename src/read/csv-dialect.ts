/**
 * Tables that are not written as RFC 4180 has it are written so, byte by byte, with the same line ends: whatever reads a row,
 * from its file, the plan or the ledger, knows one way of writing.
 */

import { MAX_ROW_BYTES } from "./row-parser.ts";

const QUOTE = 0x22;
const LF = 10;
const CR = 13;

/** What a source declares of how its tables are written. */
export interface DeclaredDialect {
  /** Stands before a quote in a quoted cell, or before itself. Quotes may be doubled all the same, as PHP has both. */
  readonly escape?: string | undefined;
  /** A line that begins with it is none. */
  readonly comment?: string | undefined;
  /** `loose`: a quote that neither begins nor ends a cell stands for itself. Needs the delimiter. */
  readonly quotes?: "loose" | "strict" | undefined;
}

/** Undefined where nothing is declared. */
export function createRfcWriter(dialect: DeclaredDialect, delimiter: string | undefined): RfcWriter | undefined {
  const isDeclared = dialect.escape !== undefined || dialect.comment !== undefined || dialect.quotes === "loose";
  return isDeclared ? new RfcWriter(dialect, delimiter) : undefined;
}

type State = "line start" | "cell start" | "plain" | "quoted" | "behind quote" | "behind escape" | "comment";

export class RfcWriter {
  readonly #escape: number | undefined;
  readonly #comment: number | undefined;
  readonly #isLoose: boolean;
  readonly #delimiter: number | undefined;
  #state: State = "line start";
  /** Of loose quotes, the plain cell so far: it is written in quotes if it holds one. */
  #plain: number[] = [];
  #out: number[] = [];

  constructor(dialect: DeclaredDialect, delimiter: string | undefined) {
    this.#escape = dialect.escape?.charCodeAt(0);
    this.#comment = dialect.comment?.charCodeAt(0);
    this.#isLoose = dialect.quotes === "loose";
    this.#delimiter = delimiter?.charCodeAt(0);
  }

  take(block: Buffer): Buffer {
    for (const byte of block) this.#take(byte);
    return this.#written();
  }

  /** What the end of the text ends. */
  end(): Buffer {
    if (this.#state === "behind quote") this.#out.push(QUOTE);
    this.#endPlain();
    return this.#written();
  }

  #written(): Buffer {
    const bytes = Buffer.from(this.#out);
    this.#out = [];
    return bytes;
  }

  #take(byte: number): void {
    const state = this.#state;
    if (state === "quoted") this.#takeQuoted(byte);
    else if (state === "behind escape") this.#takeEscaped(byte);
    else if (state === "behind quote") this.#takeBehindQuote(byte);
    else if (state === "comment") this.#takeComment(byte);
    else if (state === "line start" && byte === this.#comment) this.#state = "comment";
    else if (byte === QUOTE && (state !== "plain" || !this.#isLoose)) this.#openQuote();
    else this.#takePlain(byte);
  }

  #openQuote(): void {
    this.#out.push(QUOTE);
    this.#state = "quoted";
  }

  #takeQuoted(byte: number): void {
    if (byte === this.#escape) this.#state = "behind escape";
    else if (byte === QUOTE) this.#state = "behind quote";
    else this.#out.push(byte);
  }

  /** Before anything but a quote and itself, an escape is a character like others. */
  #takeEscaped(byte: number): void {
    if (byte === QUOTE) this.#out.push(QUOTE, QUOTE);
    else if (byte === this.#escape) this.#out.push(byte);
    else this.#out.push(this.#escape ?? byte, byte);
    this.#state = "quoted";
  }

  #takeBehindQuote(byte: number): void {
    if (byte === QUOTE) {
      this.#out.push(QUOTE, QUOTE);
      this.#state = "quoted";
    } else if (this.#isLoose && !this.#endsCell(byte)) {
      this.#out.push(QUOTE, QUOTE);
      this.#state = "quoted";
      this.#takeQuoted(byte);
    } else {
      this.#out.push(QUOTE);
      this.#takePlain(byte);
    }
  }

  #takeComment(byte: number): void {
    if (!endsLine(byte)) return;
    this.#out.push(byte);
    this.#state = "line start";
  }

  #takePlain(byte: number): void {
    if (this.#endsCell(byte)) {
      this.#endPlain();
      this.#out.push(byte);
      this.#state = endsLine(byte) ? "line start" : "cell start";
      return;
    }
    this.#state = "plain";
    if (this.#isLoose) this.#plain.push(byte);
    else this.#out.push(byte);
    if (this.#plain.length > MAX_ROW_BYTES) this.#endPlain(); // it is no row anyway
  }

  #endPlain(): void {
    const plain = this.#plain;
    const doubled = plain.flatMap((byte) => (byte === QUOTE ? [QUOTE, QUOTE] : [byte]));
    const cell = doubled.length === plain.length ? plain : [QUOTE, ...doubled, QUOTE];
    for (const byte of cell) this.#out.push(byte);
    this.#plain = [];
  }

  #endsCell(byte: number): boolean {
    return byte === this.#delimiter || endsLine(byte);
  }
}

const endsLine = (byte: number): boolean => byte === LF || byte === CR;

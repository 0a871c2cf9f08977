/** The cells of a row as places in the memory: no text is made of them. */

import { MAX_ROW_BYTES } from "../../readers/row-parser.ts";
import type { RowMemory } from "../candidates/row-memory.ts";
import { createWideCells } from "./wide-cells.ts";

/** What stands in a cell; the first four are what is beside printed ASCII. */
export const BEYOND_ASCII = 1;
/** Quotes that stand for one quote each. */
export const DOUBLED = 2;
/** A character that JSON writes in another way, or a control character. */
export const ODD = 4;
/** It stands there as JSON writes it. */
export const ESCAPED = 8;
export const STRANGE = BEYOND_ASCII | DOUBLED | ODD | ESCAPED;
export const DIGITS = 16;
export const LETTERS = 32;
export const HYPHENS = 64;
/** Any other mark or blank of ASCII. */
export const MARKS = 128;
/** A question mark, an @ or a control character, none of which words have. */
export const ASKING = 256;

const LF = 10;
const CR = 13;
const FIRST_PRINTED = 0x20;
const DELETE = 0x7f;

/** What each byte is, of the above. */
export const KINDS: Readonly<Uint16Array> = kindsOfBytes();

function kindsOfBytes(): Uint16Array {
  const kinds = new Uint16Array(256).fill(BEYOND_ASCII);
  kinds.fill(MARKS, FIRST_PRINTED, DELETE);
  kinds.fill(ODD | ASKING, 0, FIRST_PRINTED);
  for (const blank of Buffer.from("\t\n\r")) kinds[blank] = ODD;
  for (const odd of Buffer.from('"\\')) kinds[odd] = ODD;
  kinds[DELETE] = ODD | ASKING;
  kinds.fill(DIGITS, 0x30, 0x3a);
  kinds.fill(LETTERS, 0x41, 0x5b);
  kinds.fill(LETTERS, 0x61, 0x7b);
  for (const asking of Buffer.from("?@")) kinds[asking] = MARKS | ASKING;
  kinds[0x2d] = HYPHENS;
  return kinds;
}

/** A byte that means something to the scan. */
const LOOK = 0x8000;

export interface Cells {
  /** Where each cell begins and ends, its quotes left out; valid after `scan` gave true, until it is called again. */
  readonly from: Int32Array;
  readonly to: Int32Array;
  /** What stands in each. */
  readonly flags: Uint16Array;
  /** Behind the row's line end. */
  readonly next: number;
  /** The physical line on which `next` lies. */
  readonly nextLine: number;
  /** Nothing but a line end. */
  readonly isBlank: boolean;
  /**
   * Finds the cells of the row at `at`, which begins on `line`. False where it is not plain: its quotes are not where they
   * belong, it has another number of cells than the header, a CR stands alone, a cell holds what may be rows of the table,
   * or it does not end before `end`.
   */
  scan(at: number, end: number, line: number): boolean;
}

/** @param quote -1 where the file has none. */
export function createCells(memory: RowMemory, columns: number, delimiter: number, quote: number): Cells {
  return createWideCells(memory, columns, delimiter, quote) ?? new ScannedCells(memory, columns, delimiter, quote);
}

class ScannedCells implements Cells {
  readonly from: Int32Array;
  readonly to: Int32Array;
  readonly flags: Uint16Array;
  next = 0;
  nextLine = 0;
  isBlank = false;
  readonly #bytes: Uint8Array;
  readonly #columns: number;
  readonly #delimiter: number;
  readonly #quote: number;
  /** The kinds of bytes in cells without quotes, and within quotes. */
  readonly #open: Uint16Array;
  readonly #quoted: Uint16Array;

  constructor({ bytes }: RowMemory, columns: number, delimiter: number, quote: number) {
    this.#bytes = bytes;
    this.#columns = columns;
    this.#delimiter = delimiter;
    this.#quote = quote;
    this.from = new Int32Array(columns);
    this.to = new Int32Array(columns);
    this.flags = new Uint16Array(columns);
    this.#open = lookingAt([delimiter, quote, LF, CR]);
    this.#quoted = lookingAt([delimiter, quote, LF]);
  }

  scan(start: number, end: number, line: number): boolean {
    const bytes = this.#bytes;
    const kinds = this.#open;
    const columns = this.#columns;
    this.isBlank = false;
    this.nextLine = line;
    let at = start;
    for (let cell = 0; ; cell += 1) {
      if (at >= end || cell === columns) return false;
      const first = bytes[at] as number; // within its length
      if (first === this.#quote) {
        at = this.#scanQuoted(at + 1, end, cell);
        if (at === -1) return false;
      } else {
        let flags = 0;
        const from = at;
        for (; at < end; at += 1) {
          const kind = kinds[bytes[at] as number] as number; // a byte, and within its length
          if (kind >= LOOK) break;
          flags |= kind;
        }
        this.from[cell] = from;
        this.to[cell] = at;
        this.flags[cell] = flags;
      }
      if (at >= end) return false;
      const behind = bytes[at]; // as above
      if (behind === this.#delimiter) {
        at += 1;
        continue;
      }
      if (behind === CR) at += 1;
      if (at >= end || bytes[at] !== LF) return false;
      this.next = at + 1;
      this.nextLine += 1;
      if (cell === 0 && first !== this.#quote && this.from[0] === this.to[0]) {
        this.isBlank = true;
        return true;
      }
      return cell + 1 === columns && at - start <= MAX_ROW_BYTES;
    }
  }

  /** @returns the place behind the closing quote; -1 where the cell is not plain. */
  #scanQuoted(start: number, end: number, cell: number): number {
    const bytes = this.#bytes;
    const kinds = this.#quoted;
    let flags = 0;
    let delimiters = 0;
    let lineEnds = 0;
    for (let at = start; at < end; at += 1) {
      const byte = bytes[at] as number; // within its length
      const kind = kinds[byte] as number; // a byte
      if (kind < LOOK) flags |= kind;
      else if (byte === this.#quote) {
        if (at + 1 < end && bytes[at + 1] === this.#quote) {
          flags |= DOUBLED;
          at += 1;
          continue;
        }
        // With fewer delimiters than a row its lines are none of the table.
        if (lineEnds > 0 && delimiters >= this.#columns - 1) return -1;
        this.from[cell] = start;
        this.to[cell] = at;
        this.flags[cell] = flags;
        this.nextLine += lineEnds;
        return at + 1;
      } else {
        flags |= kind & ~LOOK;
        if (byte === LF) lineEnds += 1;
        else delimiters += 1;
      }
    }
    return -1;
  }
}

function lookingAt(bytes: readonly number[]): Uint16Array {
  const kinds = KINDS.slice();
  for (const byte of bytes) if (byte !== -1) kinds[byte] = (kinds[byte] as number) | LOOK; // a byte
  return kinds;
}

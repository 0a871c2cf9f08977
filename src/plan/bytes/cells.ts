/** The cells of a row as places in its bytes: no text is made of them. */

import { MAX_ROW_BYTES } from "../../readers/row-parser.ts";

/** What stands in a cell beside plain ASCII. */
export const BEYOND_ASCII = 1;
/** Quotes that stand for one quote each. */
export const DOUBLED = 2;
/** A character that JSON writes in another way, or a control character. */
export const ODD = 4;
/** It stands there as JSON writes it. */
export const ESCAPED = 8;

const LF = 10;
const CR = 13;
const DOUBLE_QUOTE = 34;
const BACKSLASH = 92;
const FIRST_PRINTED = 32;
const DELETE = 127;

/** What a byte means to the scan; any other is a part of the cell. */
const DELIMITER_BYTE = 1;
const LF_BYTE = 2;
const CR_BYTE = 3;
const QUOTE_BYTE = 4;
const HIGH_BYTE = 5;
const ODD_BYTE = 6;

export interface Cells {
  /** Where each cell begins and ends, its quotes left out; valid after `scan` gave true, until it is called again. */
  readonly from: Int32Array;
  readonly to: Int32Array;
  /** What stands in each beside plain ASCII. */
  readonly flags: Uint8Array;
  /** Behind the row's line end. */
  readonly next: number;
  /** The physical line on which `next` lies. */
  readonly nextLine: number;
  /** Nothing but a line end. */
  readonly isBlank: boolean;
  /**
   * Finds the cells of the row at `at`, which begins on `line`. False where it is not plain: its quotes are not where they
   * belong, it has another number of cells than the header, a CR stands alone, a cell holds what may be rows of the table,
   * or its end is still to come.
   */
  scan(bytes: Uint8Array, at: number, line: number): boolean;
}

/** @param quote -1 where the file has none. */
export function createCells(columns: number, delimiter: number, quote: number): Cells {
  return new ScannedCells(columns, delimiter, quote);
}

class ScannedCells implements Cells {
  readonly from: Int32Array;
  readonly to: Int32Array;
  readonly flags: Uint8Array;
  next = 0;
  nextLine = 0;
  isBlank = false;
  readonly #columns: number;
  readonly #quote: number;
  readonly #meanings = new Uint8Array(256);

  constructor(columns: number, delimiter: number, quote: number) {
    this.#columns = columns;
    this.#quote = quote;
    this.from = new Int32Array(columns);
    this.to = new Int32Array(columns);
    this.flags = new Uint8Array(columns);
    const meanings = this.#meanings;
    meanings.fill(ODD_BYTE, 0, FIRST_PRINTED);
    meanings.fill(HIGH_BYTE, 0x80);
    for (const odd of [BACKSLASH, DOUBLE_QUOTE, DELETE]) meanings[odd] = ODD_BYTE;
    meanings[LF] = LF_BYTE;
    meanings[CR] = CR_BYTE;
    if (quote !== -1) meanings[quote] = QUOTE_BYTE;
    meanings[delimiter] = DELIMITER_BYTE;
  }

  scan(bytes: Uint8Array, start: number, line: number): boolean {
    const meanings = this.#meanings;
    const columns = this.#columns;
    const end = bytes.length;
    this.isBlank = false;
    this.nextLine = line;
    let at = start;
    for (let cell = 0; ; cell += 1) {
      if (at >= end || cell === columns) return false;
      const first = bytes[at] as number; // within its length
      if (first === this.#quote) {
        at = this.#scanQuoted(bytes, at + 1, cell);
        if (at === -1) return false;
      } else {
        let flags = 0;
        const from = at;
        let meaning = 0;
        for (; at < end; at += 1) {
          meaning = meanings[bytes[at] as number] as number; // a byte, and within its length
          if (meaning === 0) continue;
          if (meaning === HIGH_BYTE) flags |= BEYOND_ASCII;
          else if (meaning === ODD_BYTE) flags |= ODD;
          else break;
        }
        if (meaning === QUOTE_BYTE) return false;
        this.from[cell] = from;
        this.to[cell] = at;
        this.flags[cell] = flags;
      }
      if (at >= end) return false;
      const meaning = meanings[bytes[at] as number]; // as above
      if (meaning === DELIMITER_BYTE) {
        at += 1;
        continue;
      }
      if (meaning === CR_BYTE) at += 1;
      if (bytes[at] !== LF) return false;
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
  #scanQuoted(bytes: Uint8Array, start: number, cell: number): number {
    const meanings = this.#meanings;
    const end = bytes.length;
    let flags = 0;
    let delimiters = 0;
    let lineEnds = 0;
    for (let at = start; at < end; at += 1) {
      const meaning = meanings[bytes[at] as number]; // a byte, and within its length
      if (meaning === 0) continue;
      if (meaning === DELIMITER_BYTE) delimiters += 1;
      else if (meaning === HIGH_BYTE) flags |= BEYOND_ASCII;
      else if (meaning === QUOTE_BYTE) {
        if (bytes[at + 1] === this.#quote) {
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
        flags |= ODD;
        if (meaning === LF_BYTE) lineEnds += 1;
      }
    }
    return -1;
  }
}

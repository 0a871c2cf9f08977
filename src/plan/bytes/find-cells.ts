/** Finds the cells of a row, sixteen bytes at a time or one by one. */

import { MAX_ROW_BYTES } from "../../readers/row-parser.ts";
import type { RowMemory } from "../candidates/row-memory.ts";
import { type Cells, DOUBLED, KINDS } from "./cells.ts";
import { createWideCells } from "./wide-cells.ts";

const LF = 10;
const CR = 13;

/** A byte that means something to the scan. */
const LOOK = 0x8000;

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
    this.#quoted = lookingAt([delimiter, quote, LF, CR]);
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
    let returns = 0;
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
        // With fewer delimiters than a row its lines are none of the table. There a CR alone ends a line, too.
        if (lineEnds + returns > 0 && delimiters >= this.#columns - 1) return -1;
        this.from[cell] = start;
        this.to[cell] = at;
        this.flags[cell] = flags;
        this.nextLine += lineEnds;
        return at + 1;
      } else {
        flags |= kind & ~LOOK;
        if (byte === LF) lineEnds += 1;
        else if (byte === CR) returns += 1;
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

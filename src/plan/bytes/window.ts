/** The part of a range that stands in the memory: all of it, but for ranges that are larger than they usually are. */

import type { RowMemory } from "../candidates/row-memory.ts";

const WINDOW_BYTES = 640 * 1024;
/** Rows of so many bytes are whole in the memory; of longer ones the reference reads. */
const WHOLE_BYTES = 64 * 1024;

export class RangeWindow {
  /** Where it ends in the memory. */
  end: number;
  /** What is added to a place in the range to have that in the memory. */
  shift = 0;
  readonly #bytes: Buffer;
  readonly #from: number;
  #range: Buffer = Buffer.alloc(0);
  /** Behind what of the range stands in the memory. */
  #to = 0;

  constructor(memory: RowMemory) {
    this.#bytes = memory.bytes;
    this.#from = memory.allot(WINDOW_BYTES);
    this.end = this.#from;
  }

  begin(range: Buffer): void {
    this.#range = range;
    this.#load(0);
  }

  /** Where the row at `at` of the range stands, or its beginning. */
  placeOf(at: number): number {
    const isSeen = at + this.shift >= this.#from && at < this.#to;
    const isWhole = this.#to === this.#range.length || this.#to - at >= WHOLE_BYTES;
    if (!isSeen || !isWhole) this.#load(at);
    return at + this.shift;
  }

  #load(at: number): void {
    const length = this.#range.copy(this.#bytes, this.#from, at, at + WINDOW_BYTES);
    this.shift = this.#from - at;
    this.#to = at + length;
    this.end = this.#from + length;
  }
}

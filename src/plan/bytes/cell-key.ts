/** Some cells of the row in hand: as a key in bytes, and as texts. */

import { type Cells, DOUBLED } from "./cells.ts";
import { copyBytes, type LeafOptions } from "./leaves.ts";

/** Longer cells make no key. */
const MOST_BYTES = 1024;
/** Before each cell: its length, and its flags. */
const HEAD_BYTES = 3;

export class CellKey {
  readonly bytes = Buffer.alloc(MOST_BYTES);
  readonly #columns: readonly number[];
  readonly #cells: Cells;
  readonly #quote: string;
  readonly #texts: string[];

  constructor(
    columns: readonly number[],
    { cells, leafOptions }: { readonly cells: Cells; readonly leafOptions: LeafOptions },
  ) {
    this.#columns = columns;
    this.#cells = cells;
    this.#quote = String.fromCharCode(leafOptions.quote);
    this.#texts = new Array(cells.from.length).fill("");
  }

  /** Writes the key to `bytes`: its end, or -1 where it would be too long. */
  write(source: Buffer): number {
    const { from, to, flags } = this.#cells;
    const key = this.bytes;
    let end = 0;
    for (let number = 0; number < this.#columns.length; number += 1) {
      const column = this.#columns[number] as number; // within its length
      const start = from[column] as number; // a column of the header
      const length = (to[column] as number) - start;
      if (end + HEAD_BYTES + length > MOST_BYTES) return -1;
      key[end] = length & 0xff;
      key[end + 1] = length >>> 8;
      key[end + 2] = flags[column] as number;
      end = copyBytes(key, end + HEAD_BYTES, source, start, start + length);
    }
    return end;
  }

  /** The texts of the cells, each at its place, until they are asked for again; those of other columns are empty. */
  texts(source: Buffer): readonly string[] {
    const { from, to, flags } = this.#cells;
    for (const column of this.#columns) {
      const text = source.toString("utf8", from[column], to[column]);
      const isDoubled = ((flags[column] ?? 0) & DOUBLED) !== 0;
      this.#texts[column] = isDoubled ? text.replaceAll(this.#quote + this.#quote, this.#quote) : text;
    }
    return this.#texts;
  }
}

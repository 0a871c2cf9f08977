/** Some cells of the row in hand: as a key in bytes, and as texts. */

import type { RowMemory } from "../candidates/row-memory.ts";
import { type Cells, DOUBLED, STRANGE } from "./cells.ts";
import type { Table } from "./table.ts";

/** Longer cells make no key. */
const MOST_BYTES = 1024;
/** Before each cell: its length, and its flags. */
const HEAD_BYTES = 3;

export class CellKey {
  /** Where it is written. */
  readonly from: number;
  readonly #memory: RowMemory;
  readonly #columns: readonly number[];
  readonly #cells: Cells;
  readonly #quote: string;
  readonly #texts: string[];

  constructor(columns: readonly number[], { memory, cells, leafOptions }: Table) {
    this.#memory = memory;
    this.from = memory.allot(MOST_BYTES);
    this.#columns = columns;
    this.#cells = cells;
    this.#quote = String.fromCharCode(leafOptions.quote);
    this.#texts = new Array(cells.from.length).fill("");
  }

  /** Writes the key: its end, or -1 where it would be too long. */
  write(): number {
    const { from, to, flags } = this.#cells;
    const { bytes } = this.#memory;
    const last = this.from + MOST_BYTES;
    let end = this.from;
    for (let number = 0; number < this.#columns.length; number += 1) {
      const column = this.#columns[number] as number; // within its length
      const start = from[column] as number; // a column of the header
      const length = (to[column] as number) - start;
      if (end + HEAD_BYTES + length > last) return -1;
      bytes[end] = length & 0xff;
      bytes[end + 1] = length >>> 8;
      bytes[end + 2] = (flags[column] as number) & STRANGE;
      end = this.#memory.copy(end + HEAD_BYTES, start, length);
    }
    return end;
  }

  /** The texts of the cells, each at its place, until they are asked for again; those of other columns are empty. */
  texts(): readonly string[] {
    const { from, to, flags } = this.#cells;
    for (const column of this.#columns) {
      const text = this.#memory.text(from[column] as number, to[column] as number); // columns of the header
      const isDoubled = ((flags[column] ?? 0) & DOUBLED) !== 0;
      this.#texts[column] = isDoubled ? text.replaceAll(this.#quote + this.#quote, this.#quote) : text;
    }
    return this.#texts;
  }
}

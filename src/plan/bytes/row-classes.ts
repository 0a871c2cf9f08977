/** Rows whose cells in some columns are the same, so that conditions on these say the same of them. */

import type { RowMemory } from "../candidates/row-memory.ts";
import { ByteMap } from "./byte-map.ts";
import { type Cells, DOUBLED } from "./cells.ts";
import { isTrimmed } from "./leaves.ts";
import type { Table } from "./table.ts";

export interface ClassColumn {
  readonly column: number;
  /** It only matters whether the cell is empty. */
  readonly isPresence: boolean;
}

/** Texts of a column that are told apart, and classes of rows; rows beyond them are of none. */
const MOST_TEXTS = 1024;
const MOST_CLASSES = 8192;

/** What stands for any text. */
const ANY = "x";

/** A step from the cells of some columns to those of one more. */
interface Node<Class> {
  readonly next: (Node<Class> | undefined)[];
  known: Class | undefined;
}

interface KnownColumn extends ClassColumn {
  /** A number for each text, from 1. */
  readonly codes: ByteMap<number>;
  count: number;
}

export class RowClasses<Class> {
  readonly #columns: readonly KnownColumn[];
  readonly #memory: RowMemory;
  readonly #cells: Cells;
  readonly #classOf: (texts: readonly string[]) => Class;
  readonly #root: Node<Class> = { next: [], known: undefined };
  #classes = 0;

  /** @param classOf tells the class by the texts of the columns, each at its place; the others are empty. */
  constructor(
    columns: readonly ClassColumn[],
    { memory, cells }: Pick<Table, "memory" | "cells">,
    classOf: (texts: readonly string[]) => Class,
  ) {
    this.#columns = columns.map((column) => ({
      ...column,
      codes: new ByteMap<number>(memory.bytes, MOST_TEXTS),
      count: 0,
    }));
    this.#memory = memory;
    this.#cells = cells;
    this.#classOf = classOf;
  }

  /** The class of the row in hand; undefined for one of none. */
  find(): Class | undefined {
    let node = this.#root;
    for (let number = 0; number < this.#columns.length; number += 1) {
      const code = this.#codeAt(number);
      if (code === -1) return undefined;
      let next = node.next[code];
      if (next === undefined) {
        next = { next: [], known: undefined };
        node.next[code] = next;
      }
      node = next;
    }
    if (node.known === undefined && this.#classes < MOST_CLASSES) {
      this.#classes += 1;
      node.known = this.#classOf(this.#texts());
    }
    return node.known;
  }

  /** The number of the cell's text, 0 where it is empty; -1 where it is not plain, or one of too many. */
  #codeAt(number: number): number {
    const column = this.#columns[number] as KnownColumn; // within its length
    const { from, to, flags } = this.#cells;
    const start = from[column.column] as number; // a column of the header
    const end = to[column.column] as number;
    if (start === end) return 0;
    const flag = flags[column.column] as number;
    if (column.isPresence) return isTrimmed(this.#memory.bytes, start, end, flag) ? 1 : -1;
    if ((flag & DOUBLED) !== 0) return -1;
    const known = column.codes.get(start, end);
    if (known !== undefined) return known;
    if (column.codes.isFull) return -1;
    column.count += 1;
    column.codes.set(start, end, column.count);
    return column.count;
  }

  #texts(): readonly string[] {
    const { from, to } = this.#cells;
    const texts: string[] = new Array(from.length).fill("");
    for (const { column, isPresence } of this.#columns) {
      const text = this.#memory.text(from[column] as number, to[column] as number); // columns of the header
      texts[column] = isPresence && text !== "" ? ANY : text;
    }
    return texts;
  }
}

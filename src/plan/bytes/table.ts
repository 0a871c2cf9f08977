/** What all values of a table are written with. */

import type { RowMemory } from "../candidates/row-memory.ts";
import type { Cells } from "./cells.ts";
import { type LeafOptions, MOST_TEXT_BYTES } from "./leaves.ts";

export interface Table {
  readonly memory: RowMemory;
  readonly cells: Cells;
  readonly leafOptions: LeafOptions;
  /** An exporter's apostrophe before what a spreadsheet would take for a formula is taken off, by the reference. */
  readonly stripsGuards: boolean;
  /** Where texts are put together that are looked at at once. */
  readonly scratch: number;
  /** Where what the reference gives stands while it is written as JSON. */
  readonly answers: { readonly text: number; readonly json: number };
}

/** The memory of a table, for texts beside its rows. */
export const scratchIn = (memory: RowMemory): Pick<Table, "memory" | "scratch" | "answers"> => ({
  memory,
  scratch: memory.allot(MOST_TEXT_BYTES),
  answers: { text: memory.allot(MOST_TEXT_BYTES), json: memory.allot(2 * MOST_TEXT_BYTES + 2) },
});

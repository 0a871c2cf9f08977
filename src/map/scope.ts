/** The row in hand: what the closures of a row program read, and where they report what they can't read. */

import type { Problem } from "../actions/problem.ts";
import type { Row } from "../read/row.ts";
import type { RulePath } from "./mapping-error.ts";
import { digestHex } from "./row-digest.ts";

/** A trimmed text of the row; empty when there is none. Adds to the scope's problems what can't be read. */
export type Read = (scope: Scope) => string;

/** What a name is read by. Throws `MappingError` for one that stands for nothing, or for more than one thing. */
export type Names = (name: string, path: RulePath) => Read;

/** One object serves all rows of a file. */
export class Scope {
  line = 0;
  /** Number of the row, from 1. */
  row = 0;
  cells: readonly string[] = [];
  value: Readonly<Record<string, unknown>> = {};
  /** Of `each`: the number of the item, from 1, or its seat. */
  n = "1";
  item: unknown;
  /** The item of the outer `each`, where one stands inside another. */
  outer: unknown;
  /** A number for each row and each repetition. What is looked up once for them is kept under it. */
  turn = 0;
  problems: Problem[] = [];
  /** What is likely wrong with the cells that an id is made of. */
  likely: Problem[] = [];
  /** Set by whoever reads a number that may be written otherwise. */
  isLoose = false;
  #text = "";

  begin(row: Row): void {
    this.#text = row.text;
    this.line = row.line;
    this.row += 1;
    this.turn += 1;
    if (this.problems.length > 0) this.problems = [];
    if (this.likely.length > 0) this.likely = [];
  }

  /** Comes to an item of `each`. */
  enter(n: string, item: unknown, outer: unknown): void {
    this.n = n;
    this.item = item;
    this.outer = outer;
    this.turn += 1;
  }

  /** 64 bits of a digest of the row, made only where something is reported of it. */
  get digest(): bigint {
    return BigInt(`0x${digestHex(this.#text).slice(0, 16)}`);
  }
}

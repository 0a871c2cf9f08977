/** The row in hand: what the closures of a row program read, and where they tell what they can't read. */

import type { FieldName } from "../actions/fields.ts";
import type { Finding } from "../actions/problem.ts";
import type { Row } from "../read/row.ts";
import type { RulePath } from "./mapping-error.ts";

/** A trimmed text of the row; empty when there is none. Adds to the scope's findings what can't be read. */
export type Read = (scope: Scope) => string;

export interface Names {
  /** Throws `MappingError` for a name that stands for nothing, or for more than one thing. */
  read(name: string, path: RulePath): Read;
}

/** A cell that is part of an id, but does not look like it. */
export interface IdCell {
  readonly field: FieldName;
  /** As the source calls it. */
  readonly column: string;
  readonly text: string;
  /** It is a number that may be written otherwise; it may be the whole id then. */
  readonly isLoose: boolean;
}

/** One object serves all rows of a file. */
export class Scope {
  line = 0;
  cells: readonly string[] = [];
  value: Readonly<Record<string, unknown>> = {};
  /** 1-based index in `each`. */
  n = 1;
  item: unknown;
  /** The item of the outer `each`, where one stands inside another. */
  outer: unknown;
  /** A number for each row and each repetition. What is looked up once for them is kept under it. */
  turn = 0;
  findings: Finding[] = [];
  idCells: IdCell[] = [];
  /** Set by whoever reads a number that may be written otherwise. */
  isLoose = false;
  readonly #digestOf: (row: Row) => bigint;
  #row: Row | undefined;
  #digest: bigint | undefined;

  /** @param digestOf 64 bits of a digest of what a row holds; made only where something is told of the row. */
  constructor(digestOf: (row: Row) => bigint = () => 0n) {
    this.#digestOf = digestOf;
  }

  begin(row: Row): void {
    this.#row = row;
    this.#digest = undefined;
    this.line = row.line;
    this.turn += 1;
    if (this.findings.length > 0) this.findings = [];
    if (this.idCells.length > 0) this.idCells = [];
  }

  get digest(): bigint {
    if (this.#row === undefined) throw new Error("no row is being read");
    this.#digest ??= this.#digestOf(this.#row);
    return this.#digest;
  }
}

/** Rows of which something is not sent because of another run: the first are kept by their places, so that a person is told them. */

import type { SourceLine } from "../../actions/problem.ts";
import { Bits } from "./bits.ts";

/** By what makes them wait: another run may have sent or still send the action itself, or what it depends on. */
export interface WaitingRows {
  readonly pending: NamedRows;
  readonly waiting: NamedRows;
}

export interface NamedRows {
  readonly rows: number;
  /** At most `MOST_NAMED`. */
  readonly first: readonly SourceLine[];
}

/** As many as problems are kept, so that `--max-problems` shows the same of both. */
const MOST_NAMED = 10_000;

export class WaitingRowsTally implements WaitingRows {
  readonly pending = new RowNames();
  readonly waiting = new RowNames();
}

class RowNames implements NamedRows {
  readonly first: SourceLine[] = [];
  /** A row may give several such actions, and in the order of time they stand apart. Made for the first one. */
  #seen: Bits | undefined;
  #count = 0;

  get rows(): number {
    return this.#count;
  }

  add(row: number, { source, line }: SourceLine): void {
    this.#seen ??= new Bits();
    if (this.#seen.has(row)) return;
    this.#seen.set(row);
    this.#count += 1;
    if (this.first.length < MOST_NAMED) this.first.push({ source, line });
  }
}

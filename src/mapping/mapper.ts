/** The same as `src/map/mapper.ts` with actions as objects, whose drafts are made at the end. */

import type { Action } from "../actions/actions.ts";
import type { Finding } from "../actions/problem.ts";
import type { FileFinding } from "../map/file-finding.ts";
import type { Understanding } from "../map/mapper.ts";
import type { Row } from "../read/row.ts";

/** Notes about a mapped row, whether or not all of it could be read. */
interface Noted {
  /** What is likely wrong with the row's cells but does not show in its actions. */
  readonly likely?: readonly Finding[];
  /** The word by which a part of its ticket's id calls the row a line of totals. */
  readonly totals?: string;
}

export type Mapped =
  | (Noted & {
      readonly kind: "actions";
      /** Never empty. Their data is as written: checking it is the next step's work. */
      readonly actions: readonly Action[];
      /** The event that the row names, also where its actions do not take an eventId. */
      readonly eventId?: string;
      /** The source's own `key` of each action, where it declares one. */
      readonly keys?: readonly string[];
      /** Why the row gives nothing else, where it gives only its event, as the first row of that. */
      readonly eventOnly?: string;
    })
  | { readonly kind: "skipped"; readonly reason: string }
  | (Noted & {
      readonly kind: "invalid";
      readonly findings: readonly Finding[];
      /** What the row would have given, as far as it could be read. It shows what depends on the row. */
      readonly attempted: readonly Action[];
      /**
       * Set where not even the action could be read. `attempted` is then the action on which most depends, and must not be
       * checked.
       */
      readonly isGuess?: true;
    });

export interface Mapper {
  /** For JSON rows: as far as the rows so far show it. */
  readonly understanding: Understanding;
  /** Reads one row. What it gives may depend on earlier rows of the file. */
  map(row: Row): Mapped;
  /**
   * Takes back what `map` gave for a row that a later check refuses, so that a newEvent which is given once comes with the
   * next row of the event.
   */
  retract?(actions: readonly Action[]): void;
  /** Findings that need all rows: after the last one was mapped. */
  findingsOfFile?(): readonly FileFinding[];
}

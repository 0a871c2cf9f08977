/** What a mapping makes of a file: of each row, and of all rows together. */

import type { ActionName } from "../actions/actions.ts";
import type { Draft } from "../actions/draft.ts";
import type { FileProblem, Problem } from "../actions/problem.ts";
import type { Row } from "../read/row.ts";

/** How a file was understood, for its first line of output. */
export interface Understanding {
  /** `file name`, `--action`, `source orders`, `{action, data} items`, `actions by column action`. */
  readonly how: string;
  /** The one action of all rows, where there is one. */
  readonly action?: ActionName;
  /** Number of columns; 0 for JSON rows, whose keys may differ from row to row. */
  readonly columns: number;
  readonly used: readonly string[];
  readonly unused: readonly string[];
  /** Fields that will be public on the blockchain, such as `price` and `ticketId (hashed)`. */
  readonly publicFields: readonly string[];
  /** What a user should know before trusting the reading, each a sentence without a full stop. */
  readonly notes: readonly string[];
}

interface Noted {
  /** What is likely wrong with the row, but does not show in its actions. */
  readonly likely?: readonly Problem[] | undefined;
}

export type Mapped =
  | (Noted & {
      readonly kind: "actions";
      /** Never empty. Their values are as written: checking them is the next step's work. */
      readonly drafts: readonly Draft[];
      /** The event that the row names, also where its actions do not take an eventId. */
      readonly eventId?: string | undefined;
    })
  | (Noted & { readonly kind: "skipped"; readonly reason: string })
  | (Noted & {
      readonly kind: "invalid";
      readonly problems: readonly Problem[];
      /** What the row would have given, as far as it could be read. It shows what depends on the row. */
      readonly attempted: readonly Draft[];
      /**
       * Set where not even the action could be read. `attempted` is then the action on which most depends, and must not be
       * checked.
       */
      readonly isGuess?: true;
    });

export interface Mapper {
  /** Which columns of a table it reads; all where it is undefined. */
  readonly wanted?: readonly boolean[] | undefined;
  /** For JSON rows: as far as the rows so far show it. */
  readonly understanding: Understanding;
  /** Reads one row. What it gives may depend on earlier rows of the file. */
  map(row: Row): Mapped;
  /** Called where a later check refuses the row that was mapped last: its newEvent comes with the next row of the event. */
  retract?(): void;
  /**
   * What the row that was mapped last takes from elsewhere than its cells: from the file's name, and from the rows above.
   * Undefined where that is not known.
   */
  beside(): readonly string[] | undefined;
  /** Problems that need all rows: after the last one was mapped. */
  problemsOfFile?(): readonly FileProblem[];
}

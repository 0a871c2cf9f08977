/** What a mapping makes of a file: of each row, and of all rows together. */

import type { Action, ActionName } from "../actions/actions.ts";
import type { Finding } from "../actions/problem.ts";
import type { FileFinding } from "./file-finding.ts";
import type { Row } from "./row.ts";
import type { ToldEvent } from "./told-events.ts";
import type { SeenValues } from "./value-watch.ts";
import type { FoundKeys } from "./wanted-keys.ts";

/** How a file was understood, for its first line of output. */
export interface Understanding {
  /** `by file name`, `--action`, `by column action`, `source orders`, `{action, data} items`. */
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
      /** The `nthOfName` of each action in the whole row, where `tickets:actions` names only some of its actions. */
      readonly nths?: readonly number[];
      /** With a key, what `tickets:actions` leaves out of the row. */
      readonly leftOut?: readonly { readonly action: Action; readonly key: string }[];
      /** Why the row gives nothing else, where it gives only its event, as the first row of that. */
      readonly eventOnly?: string;
    })
  | { readonly kind: "skipped"; readonly reason: string }
  | (Noted & {
      readonly kind: "invalid";
      readonly findings: readonly Finding[];
      /** What the row would have given, as far as it could be read. It shows what depends on the row. */
      readonly attempted: readonly Action[];
      /** Which of the actions of its name each of `attempted` is (open-actions.ts), where the row gives others too. */
      readonly nths?: readonly number[];
      /**
       * Set where not even the action could be read. `attempted` is then the action on which most depends, and must not be
       * checked.
       */
      readonly isGuess?: true;
    });

/** What some rows sum up to. Plain data. */
export interface SeenAmounts {
  /** Sum over all rows but the last, in 1/10000. */
  readonly sum: number;
  /** How many of them have an amount above zero. */
  readonly priced: number;
  /** Per cell, whether each row but the last fills it; undefined before the second row, or of JSON rows. */
  readonly filled: readonly boolean[] | undefined;
  readonly last: LastRow | undefined;
}

export interface LastRow {
  readonly line: number;
  readonly amount: number;
  /** The amount as it was read. */
  readonly price: string;
  readonly cells: readonly string[] | undefined;
}

/** What a row that was read without this mapper adds to a sum. One object may be all rows in turn. */
export interface PlainAmount {
  readonly line: number;
  readonly amount: number;
  /** How many cells it has; 0 for a row of JSON. */
  readonly cells: number;
  /** For each cell a bit, 32 a number and the lowest first: whether it holds anything but blanks. */
  readonly filled: Int32Array;
  /** The rest of what is asked of a last row, until the next one is read. */
  readonly read: () => Pick<LastRow, "price" | "cells">;
}

/** What the conditions of a source see of a row that was read without its mapper. One object may be all rows in turn. */
export interface PlainSeen {
  readonly line: number;
  /** All of it, where it is asked for at once. */
  readonly row: () => Row;
  /** The cells that conditions look at, at their places; what stands in others is not asked. */
  readonly cells: readonly string[];
  /** The rules of events that an earlier row has given, by their numbers, with the cells that they are made of. */
  readonly once: readonly { readonly rule: number; readonly cells: readonly string[] }[];
  /** By `skip`. */
  readonly isSkipped: boolean;
  /** It gave an action other than its event. */
  readonly gave: boolean;
}

/** What some rows of a file show about it. Plain data, so that workers which read parts of a file can put it together. */
export interface Seen {
  readonly values?: SeenValues;
  readonly amounts?: SeenAmounts;
  /** What the rows say about the events they name, for a newEvent that is given once. */
  readonly told?: readonly ToldEvent[];
  /** Keys of a source that were found in JSON rows. */
  readonly found?: FoundKeys;
  /** Number of rows that are `{action, data}`. */
  readonly items?: number;
  /** How flat JSON rows were understood, for each set of keys that was new. */
  readonly flat?: readonly Understanding[];
  /** The events that the rows name for a newEvent which is given once: whether it was given before them, and after. */
  readonly events?: readonly { readonly eventId: string; readonly before: boolean; readonly after: boolean }[];
}

export interface Mapper {
  /** For JSON rows: as far as the joined rows show it. */
  readonly understanding: Understanding;
  /** Reads one row. What it gives may depend on earlier rows of the file. */
  map(row: Row): Mapped;
  /**
   * Takes back what `map` gave for a row that a later check refuses, so that a newEvent which is given once comes with the
   * next row of the event.
   */
  retract?(actions: readonly Action[]): void;
  /** Notes a row whose actions were read without this mapper; its place is behind those that were mapped. */
  seeAmount?(amount: PlainAmount): void;
  /** Notes an `{action, data}` row that was read without this mapper. */
  seeItem?(): void;
  /** Notes a row of a source that was read without this mapper. */
  seePlain?(seen: PlainSeen): void;
  /** Whether an earlier row has given the event. */
  hasGiven?(eventId: string): boolean;
  /** What the rows since the last call show of the file. */
  takeSeen?(): Seen;
  /** Whether this mapper, which knows all earlier rows, would have given the same as the worker that knew only some. */
  agrees?(seen: Seen): boolean;
  /** Adds to what is known about the file. Called in the order of its rows, whichever mapper read them. */
  join?(seen: Seen): void;
  /** Findings that need all rows: after the last one was joined. */
  findingsOfFile?(): readonly FileFinding[];
}

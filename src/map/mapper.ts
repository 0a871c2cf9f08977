/** What a mapping makes of a file: of each row, and of all rows together. And of `{action, data}` rows: these are actions as they are. */

import { type ActionName, isActionName } from "../actions/actions.ts";
import { type Draft, draftOf } from "../actions/draft.ts";
import { isJsonObject } from "../actions/exact-number.ts";
import type { FileProblem, Problem } from "../actions/problem.ts";
import { validateItem } from "../actions/validate.ts";
import { OWN_COLUMNS, REASON_COLUMN, ROW_COLUMN } from "../read/rejects-columns.ts";
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

// ---- `{action, data}` rows: items of a request body ----

type Value = Readonly<Record<string, unknown>>;

const ITEM_KEYS: ReadonlySet<string> = new Set(["action", "data", ...OWN_COLUMNS]);

/** Whether it is an item and nothing else. Such a row is taken as it is, even among the rows of a source. */
export const isOnlyItem = (value: Value): boolean =>
  Object.hasOwn(value, "data") && isJsonObject(value.data) && Object.keys(value).every((key) => ITEM_KEYS.has(key));

/** An item, whole or damaged, as opposed to a flat row with a column `action`. */
export function isItem(value: Value, keys: readonly string[]): boolean {
  const [hasAction, hasData] = [Object.hasOwn(value, "action"), Object.hasOwn(value, "data")];
  if (hasAction && hasData && isJsonObject(value.data)) return true;
  return (hasAction || hasData) && keys.every((key) => ITEM_KEYS.has(key));
}

export function mapItem(value: Value): Mapped {
  const { action, data } = value;
  const isNamed = typeof action === "string" && isActionName(action);
  if (isNamed && isJsonObject(data) && Object.keys(value).every((key) => ITEM_KEYS.has(key))) {
    // Its fields are checked by the next step, like those of every action.
    const drafts = [draftOf(action, data)];
    return typeof data.eventId === "string"
      ? { kind: "actions", drafts, eventId: data.eventId }
      : { kind: "actions", drafts };
  }
  const { [REASON_COLUMN]: _reason, [ROW_COLUMN]: _row, ...item } = value;
  const attempted = isJsonObject(data) ? guessDraft((field) => idIn(data, field)) : [];
  return { kind: "invalid", problems: validateItem(item), attempted, isGuess: true };
}

function idIn(data: Value, field: string): string {
  const id = Object.hasOwn(data, field) ? data[field] : undefined;
  return typeof id === "string" ? id : "";
}

export const ID_FIELDS = ["eventId", "ticketId", "nftId"] as const;

/**
 * What a row whose action could not be read is taken for, so that what depends on it waits: the action that most depends on,
 * of a ticket its sale, of an event its registration.
 */
export function guessDraft(idOf: (field: (typeof ID_FIELDS)[number]) => string): readonly Draft[] {
  const given = ID_FIELDS.filter((field) => idOf(field) !== "");
  const ids = Object.fromEntries(given.map((field) => [field, idOf(field)]));
  if (given.length === 0) return [];
  return [draftOf(given.some((field) => field !== "eventId") ? "soldTicket" : "newEvent", ids)];
}

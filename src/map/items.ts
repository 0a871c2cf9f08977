/** `{action, data}` rows: items of a request body, taken as they are. */

import { isActionName } from "../actions/actions.ts";
import { type Draft, draftOf } from "../actions/draft.ts";
import { isJsonObject } from "../actions/exact-number.ts";
import { validateItem } from "../actions/validate.ts";
import { OWN_COLUMNS, REASON_COLUMN, ROW_COLUMN } from "../read/rejects-columns.ts";
import type { Mapped } from "./mapper.ts";

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

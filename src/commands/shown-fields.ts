/** The fields that distinguish the actions of one chunk: several scans, resales or updates of one ticket. */

import { type Action, actionSpec } from "../actions/actions.ts";
import { type FieldName, isPersonal } from "../actions/fields.ts";
import { cleanText, masked } from "../text.ts";

/** Shown of every action that has them. Of an update all it carries is shown: it has nothing else. */
const SHOWN: ReadonlySet<string> = new Set(["userId", "to", "price", "orderTime"] satisfies FieldName[]);
const IDS: ReadonlySet<string> = new Set(["eventId", "ticketId", "nftId"] satisfies FieldName[]);

/** The ids of what the action is about. */
export const idsOf = ({ data: { eventId, ticketId, nftId } }: Action): readonly string[] =>
  [eventId, ticketId, nftId].filter((id) => id != null);

/** What names a person is masked unless `verbose`. */
export function shownFields({ action, data }: Action, verbose: boolean): readonly (readonly [string, unknown])[] {
  const { updates } = actionSpec(action);
  return Object.entries(data).flatMap(([name, value]) => {
    // `null` in an update is sent too: it says that the field stays.
    const isShown = updates ? !IDS.has(name) : SHOWN.has(name) && value != null;
    return isShown ? [[name, isPersonal(name) && !verbose ? masked(String(value)) : value] as const] : [];
  });
}

const LONGEST = 60;

/** `userId gu…74, price 20.00, eventName "Gala 26"`: a text is in quotes where it would run into its neighbours. */
export const fieldsText = (fields: readonly (readonly [name: string, value: unknown])[]): string =>
  fields.map(([name, value]) => `${name} ${valueText(value)}`).join(", ");

function valueText(value: unknown): string {
  const text = cleanText(textOf(value), LONGEST);
  return typeof value !== "string" || /^[^\s,"]+$/.test(text) ? text : JSON.stringify(text);
}

/** A value as it is, or as JSON. */
export const textOf = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));

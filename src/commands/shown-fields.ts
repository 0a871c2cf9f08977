/** The fields that distinguish the actions of one chunk: several scans, resales or updates of one ticket. */

import { type Action, actionSpec } from "../actions/actions.ts";
import { type FieldName, isPersonal } from "../actions/fields.ts";
import { stringifyJson } from "../actions/json.ts";
import { cleanText, masked } from "../text.ts";

/** Shown of every action that has them. Of an update all it carries is shown: it has nothing else. */
const SHOWN: ReadonlySet<string> = new Set(["userId", "to", "price", "orderTime"] satisfies FieldName[]);
const IDS: ReadonlySet<string> = new Set(["eventId", "ticketId", "nftId"] satisfies FieldName[]);

interface ShownField {
  readonly name: string;
  readonly value: unknown;
}

/**
 * The fields of each action, in the order in which they were sent. What names a person is masked unless `verbose`; different
 * values with the same mask are numbered.
 */
export function shownFields(actions: readonly Action[], verbose: boolean): readonly (readonly ShownField[])[] {
  const masks = new Masks();
  const fields = actions.map((action) => {
    const about = JSON.stringify([action.action, ...idsOf(action)]);
    return fieldsOf(action).map(([name, value]) => ({
      name,
      value: verbose || !isPersonal(name) ? () => value : masks.add(`${about} ${name}`, String(value)),
    }));
  });
  // Whether a mask needs a number is known only now.
  return fields.map((ofAction) => ofAction.map(({ name, value }) => ({ name, value: value() })));
}

/** The ids of what the action is about. */
export const idsOf = ({ data: { eventId, ticketId, nftId } }: Action): readonly string[] =>
  [eventId, ticketId, nftId].filter((id) => id != null);

function fieldsOf({ action, data }: Action): readonly (readonly [string, unknown])[] {
  const { updates } = actionSpec(action);
  return Object.entries(data).filter(([name, value]) =>
    // `null` in an update is sent too: it says that the field stays.
    updates ? !IDS.has(name) : SHOWN.has(name) && value != null,
  );
}

const LONGEST = 60;

/** A value in a sentence: in quotes where blanks or commas would run into its neighbours. */
export function valueText(value: unknown): string {
  if (typeof value !== "string") return cleanText(stringifyJson(value), LONGEST);
  const text = cleanText(value, LONGEST);
  return /^[^\s,"]+( \(\d+\))?$/.test(text) ? text : JSON.stringify(text);
}

class Masks {
  readonly #seen = new Map<string, Map<string, number>>();

  /** @returns how it is shown, once all are known. */
  add(of: string, raw: string): () => string {
    const mask = masked(raw);
    const key = `${of} ${mask}`;
    const alike = this.#seen.get(key) ?? new Map<string, number>();
    this.#seen.set(key, alike);
    const number = alike.get(raw) ?? alike.size + 1;
    alike.set(raw, number);
    return () => (alike.size === 1 ? mask : `${mask} (${number})`);
  }
}

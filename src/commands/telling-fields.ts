/** What tells the actions of a chunk apart beside their ids: several scans, resales or updates of one ticket. */

import { type Action, actionSpec } from "../actions/actions.ts";
import { type FieldName, isPersonal } from "../actions/fields.ts";
import { stringifyJson } from "../actions/json.ts";
import { cleanText, masked } from "../actions/text.ts";

/** Told of every action that has them. Of an update all it carries is told: it has nothing else. */
const ALWAYS_TELLING: ReadonlySet<string> = new Set(["userId", "to", "price", "orderTime"] satisfies FieldName[]);
const IDS: ReadonlySet<string> = new Set(["eventId", "ticketId", "nftId"] satisfies FieldName[]);

/** A field as a person sees it: its text in a sentence, its value in a document. */
export interface TellingField {
  readonly name: string;
  readonly text: string;
  readonly value: unknown;
}

/**
 * The fields of each action, in the order in which they were sent. What names a person is masked unless `verbose`, and a
 * sentence has no room for long values; different ones that would look the same at actions of one ticket or event are numbered.
 */
export function tellingFields(actions: readonly Action[], verbose: boolean): readonly (readonly TellingField[])[] {
  const masks = new Numbering();
  const cuts = new Numbering();
  const told = actions.map((action) => {
    const about = JSON.stringify([action.action, ...idsOf(action)]);
    return fieldsOf(action).map(([name, value]) => {
      const raw = typeof value === "string" ? value : stringifyJson(value);
      const isMasked = !verbose && isPersonal(name);
      const mask = isMasked ? masks.add(`${about} ${name}`, masked(raw), raw) : undefined;
      const text = mask ?? cuts.add(`${about} ${name}`, short(value, raw), raw);
      return { name, value, text, mask };
    });
  });
  return told.map((fields) =>
    fields.map(({ name, value, text, mask }) => ({ name, value: mask === undefined ? value : mask(), text: text() })),
  );
}

/** The ids of what the action is about. */
export const idsOf = ({ data: { eventId, ticketId, nftId } }: Action): readonly string[] =>
  [eventId, ticketId, nftId].filter((id) => id != null);

function fieldsOf({ action, data }: Action): readonly (readonly [string, unknown])[] {
  const { updates } = actionSpec(action);
  return Object.entries(data).filter(([name, value]) =>
    // `null` in an update is sent too: it says that the field stays.
    updates ? !IDS.has(name) : ALWAYS_TELLING.has(name) && value != null,
  );
}

/** Code points of a value in a sentence; of a longer one its beginning and its end are shown. */
const [LONGEST, HEAD, TAIL] = [60, 30, 29];

function short(value: unknown, raw: string): string {
  const points = Array.from(raw.slice(0, 4 * LONGEST));
  const end = (): string =>
    Array.from(raw.slice(-4 * TAIL))
      .slice(-TAIL)
      .join("");
  const text = cleanText(points.length <= LONGEST ? raw : `${points.slice(0, HEAD).join("")}…${end()}`);
  return typeof value === "string" && !/^[^\s,"]+$/.test(text) ? JSON.stringify(text) : text;
}

/** Numbers what looks the same and is not, in the order in which it comes. */
class Numbering {
  readonly #seen = new Map<string, Map<string, number>>();

  /** @returns how it is shown, once all are known. */
  add(of: string, shown: string, raw: string): () => string {
    const key = `${of} ${shown}`;
    const alike = this.#seen.get(key) ?? new Map<string, number>();
    this.#seen.set(key, alike);
    const number = alike.get(raw) ?? alike.size + 1;
    alike.set(raw, number);
    return () => (alike.size === 1 ? shown : `${shown} (${number})`);
  }
}

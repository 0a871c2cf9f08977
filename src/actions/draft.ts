/** One action of a row while it is read: field by field, as the JSON that is sent. */

import { ACTION_NAMES, type Action, type ActionData, type ActionName, acceptedFields, actionSpec } from "./actions.ts";
import { ExactNumber } from "./exact-number.ts";
import { FIELD_NAMES, type FieldName, fieldSpec, recordOf } from "./fields.ts";
import { parseJson, stringifyJson } from "./json.ts";
import type { Kind } from "./kind.ts";
import { KINDS } from "./kinds.ts";
import { instantIn } from "./times.ts";

const NUMBERS: ReadonlyMap<string, number> = new Map(FIELD_NAMES.map((name, number) => [name, number]));

/** The place of a field in the table, by which drafts hold it. */
export const numberOf = (field: FieldName): number => NUMBERS.get(field) ?? -1; // every field is in the table

/** Fields as the bits of a number. */
export type FieldSet = number;

export const setOf = (fields: readonly FieldName[]): FieldSet =>
  fields.reduce((set, field) => set | (1 << numberOf(field)), 0);

/** The number of a field, or a key of the data that is no field's. */
type Key = number | string;

const nameOf = (key: Key): string => (typeof key === "number" ? String(FIELD_NAMES[key]) : key);

export class Draft {
  readonly action: ActionName;
  /** What the data holds, in the order in which it came. */
  readonly keys: Key[] = [];
  /** By number of field: its value as a text, the digits of a number, attributes as JSON. Absent for null. */
  readonly text: (string | undefined)[] = new Array(FIELD_NAMES.length);
  /** The fields that are given and not null. */
  given: FieldSet = 0;
  /** Whether no rule and no likely mistake applies to any value so far. */
  isOrdinary = true;
  readonly #json: (string | undefined)[] = new Array(FIELD_NAMES.length);
  /** Values that are not ordinary. They may be anything that JSON can say, and are written only when they are sent. */
  #odd: Map<Key, unknown> | undefined;

  constructor(action: ActionName) {
    this.action = action;
  }

  /** Adds an ordinary value. */
  put(number: number, json: string, text: string | undefined): void {
    this.keys.push(number);
    this.#json[number] = json;
    if (text === undefined) return;
    this.text[number] = text;
    this.given |= 1 << number;
  }

  /** Adds any other value, which the exact rules will judge. */
  putOdd(name: string, value: unknown): void {
    const number = NUMBERS.get(name);
    const key = number ?? name;
    this.keys.push(key);
    this.isOrdinary = false;
    this.#odd ??= new Map();
    this.#odd.set(key, value);
    if (number === undefined || value == null) return;
    this.given |= 1 << number;
    if (typeof value !== "object" || value instanceof ExactNumber) this.text[number] = String(value);
  }

  /** The value as it is sent. */
  json(key: Key): string {
    const written = typeof key === "number" ? this.#json[key] : undefined;
    return written ?? stringifyJson(this.#odd?.get(key));
  }

  value(key: Key): unknown {
    return this.#odd?.has(key) === true ? this.#odd.get(key) : parseJson(this.json(key));
  }
}

/** Of a trimmed text of the field that is ordinary, its JSON (see `Kind`). */
export function ordinaryText(field: FieldName): Kind["ordinary"] {
  const { kind, maxLength } = fieldSpec(field);
  const { ordinary } = KINDS[kind];
  // An address that is called back must be public as well.
  if (field === "callbackUrl") return () => undefined;
  if (maxLength === undefined) return ordinary;
  return (text, toInstant) => (text.length <= maxLength ? ordinary(text, toInstant) : undefined);
}

/** The same of a value in an `{action, data}` row. */
function ordinaryValue(field: FieldName): (value: unknown) => string | undefined {
  const spec = fieldSpec(field);
  const ofText = ordinaryText(field);
  const { ordinaryValue: ofValue } = KINDS[spec.kind];
  if (ofValue !== undefined) return ofValue;
  return (value) => {
    if (typeof value !== "string") return undefined;
    return value === "" && spec.default === "" ? '""' : ofText(value, NO_ZONE);
  };
}
const NO_ZONE = instantIn(undefined);

/** By number of field. */
const READERS = FIELD_NAMES.map(ordinaryValue);
/** What each action takes by its table; whatever else it has is never ordinary. */
const TAKEN = recordOf(ACTION_NAMES, (action) => setOf(acceptedFields(action)));

/** The draft of an action whose data is typed already, as in an `{action, data}` row. */
export function draftOf(action: ActionName, data: object): Draft {
  const draft = new Draft(action);
  for (const name of Object.keys(data)) {
    const value: unknown = Reflect.get(data, name);
    if (value !== undefined) putValue(draft, name, value);
  }
  return draft;
}

/** Adds a value that is typed already. */
export function putValue(draft: Draft, name: string, value: unknown): void {
  const number = NUMBERS.get(name);
  if (number === undefined || (TAKEN[draft.action] & (1 << number)) === 0) {
    draft.putOdd(name, value);
    return;
  }
  if (value === null && actionSpec(draft.action).updates) {
    draft.put(number, "null", undefined);
    return;
  }
  const json = READERS[number]?.(value);
  if (json === undefined) draft.putOdd(name, value);
  else draft.put(number, json, typeof value === "string" ? value : json);
}

/** The action as an object, for the exact rules and for messages. */
export function itemOf(draft: Draft): Action {
  const data = Object.fromEntries(draft.keys.map((key) => [nameOf(key), draft.value(key)]));
  return { action: draft.action, data: data as ActionData }; // or whatever else its data holds: it is judged by that
}

/** One action of a row while it is read: field by field, as the JSON that is sent, and what is wrong with it. */

import { ACTION_NAMES, type Action, type ActionData, type ActionName, acceptedFields, actionSpec } from "./actions.ts";
import { ExactNumber } from "./exact-number.ts";
import {
  FIELD_NAMES,
  type FieldName,
  type FieldSet,
  fieldSpec,
  isFieldName,
  numberOf,
  recordOf,
  setOf,
} from "./fields.ts";
import { parseJson, quote } from "./json.ts";
import type { Fault, TextFault } from "./kind.ts";
import { faultIn, KINDS } from "./kinds.ts";
import type { Problem } from "./problem.ts";
import { instantIn } from "./times.ts";
import { zoneOf } from "./zones.ts";

/** The number of a field, or a key of the data that is no field's. */
export type Key = number | string;

/** What each action takes by its table. */
export const TAKEN = recordOf(ACTION_NAMES, (action) => setOf(acceptedFields(action)));

export class Draft {
  readonly action: ActionName;
  /** What tells it apart from others of its ticket, where its source says it. */
  key: string | undefined;
  /** What the data holds, in the order in which it came. */
  readonly keys: Key[] = [];
  /** By number of field: its value as a text, the digits of a number, attributes as JSON. Absent for null. */
  readonly text: (string | undefined)[] = new Array(FIELD_NAMES.length);
  /** The fields that are given and not null. */
  given: FieldSet = 0;
  /** The fields that are null. */
  nulls: FieldSet = 0;
  /** By number of field, the rule that its value breaks; undefined where none does. */
  faults: Map<number, Fault> | undefined;
  readonly #json: (string | undefined)[] = new Array(FIELD_NAMES.length);
  /** Values that break a rule or have a strange key. They may be anything that JSON can say, and are written only when they are sent. */
  #bad: Map<Key, unknown> | undefined;

  constructor(action: ActionName) {
    this.action = action;
  }

  /** Whether all that it holds is a field that the action takes, with a value that breaks no rule. */
  get isSound(): boolean {
    return this.#bad === undefined && this.nulls === 0 && (this.given & ~TAKEN[this.action]) === 0;
  }

  /** Adds a field whose value breaks no rule. */
  put(number: number, json: string, text: string): void {
    this.keys.push(number);
    this.#json[number] = json;
    this.text[number] = text;
    this.given |= 1 << number;
  }

  /** Adds a value of JSON, whatever it is. */
  putValue(name: string, value: unknown): void {
    if (!isFieldName(name)) this.#keep(name, value);
    else if (value === null) this.#putNull(numberOf(name));
    else this.judge(numberOf(name), value);
  }

  #putNull(number: number): void {
    this.keys.push(number);
    this.#json[number] = "null";
    this.nulls |= 1 << number;
  }

  /** Adds a value of a field, right or not, which is not null. */
  judge(number: number, value: unknown): void {
    const fault = faultIn(number, value);
    if (fault === undefined && typeof value === "string") {
      this.put(number, quote(value), value);
      return;
    }
    if (fault === undefined) {
      const json = JSON.stringify(value);
      this.put(number, json, json);
      return;
    }
    this.faults ??= new Map();
    this.faults.set(number, fault);
    this.#keep(number, value);
    this.given |= 1 << number;
    if (typeof value !== "object" || value instanceof ExactNumber) this.text[number] = String(value);
  }

  /** Keeps a value that breaks a rule, or has a key that is no field's. */
  #keep(key: Key, value: unknown): void {
    this.keys.push(key);
    this.#bad ??= new Map();
    this.#bad.set(key, value);
  }

  /** The value as it is sent. */
  json(key: Key): string {
    const written = typeof key === "number" ? this.#json[key] : undefined;
    return written ?? JSON.stringify(this.#bad?.get(key));
  }

  value(key: Key): unknown {
    return this.#bad?.has(key) === true ? this.#bad.get(key) : parseJson(this.json(key));
  }
}

/** The draft of an action whose data is typed already, as in an `{action, data}` row. */
export function draftOf(action: ActionName, data: object): Draft {
  const draft = new Draft(action);
  for (const name of Object.keys(data)) {
    const value: unknown = Reflect.get(data, name);
    if (value !== undefined) draft.putValue(name, value);
  }
  return draft;
}

/** The name of a key of a draft. */
export const nameOf = (key: Key): string => (typeof key === "number" ? String(FIELD_NAMES[key]) : key);

/** The action as an object. */
export function itemOf(draft: Draft): Action {
  const data = Object.fromEntries(draft.keys.map((key) => [nameOf(key), draft.value(key)]));
  return { action: draft.action, data: data as ActionData }; // or whatever else its data holds: it is judged by that
}

// ---- texts ----

export const DEFAULT_CLEAR_WORD = "\\clear";

/** How texts are read: `zone` is that of local times. */
export interface ReadSettings {
  readonly clearWord: string;
  readonly zone?: string | undefined;
}

/** Reads a trimmed text that is not empty into the draft. What says no value is a problem, never a guess. */
export type ReadField = (text: string, draft: Draft, problems: Problem[]) => void;

/** How texts become a field of an action. */
export function compileField(action: ActionName, field: FieldName, { clearWord, zone }: ReadSettings): ReadField {
  const number = numberOf(field);
  const { read = (text: string) => text } = KINDS[fieldSpec(field).kind];
  const toInstant = instantIn(zone === undefined ? undefined : zoneOf(zone));
  const cleared = clearedValue(action, field);
  return (text, draft, problems) => {
    const value = text === clearWord ? cleared : read(text, toInstant);
    if (isFault(value))
      problems.push({ rule: value.rule, field, value: text, message: `${field} ${value.what}.`, hint: value.hint });
    else draft.judge(number, value);
  };
}

/** What a field is cleared to: the table's default, in updates; else why it can't be. */
function clearedValue(action: ActionName, field: FieldName): TextFault | "" | 0 {
  const { updates, optional } = actionSpec(action);
  const { default: cleared } = fieldSpec(field);
  if (updates && optional.includes(field) && cleared !== undefined) return cleared;
  const why = updates ? ": the service has no default for it" : ` by ${action}: only updates clear fields`;
  return { rule: "not-clearable", what: `can't be cleared${why}`, hint: "Leave the cell empty." };
}

/** Whether something is no value, but why there is none. */
const isFault = <Value>(read: Value | TextFault): read is TextFault =>
  typeof read === "object" && read !== null && "rule" in read;

/** One action of a row while it is read: field by field, as the JSON that is sent, and what is wrong with it. */

import { type Action, type ActionData, type ActionName, actionSpec } from "./actions.ts";
import { ExactNumber } from "./exact-number.ts";
import { type FieldName, fieldSpec, isFieldName } from "./fields.ts";
import { parseJson, quote } from "./json.ts";
import { faultIn, KINDS, type TextFault } from "./kinds.ts";
import type { Fault, Problem } from "./problem.ts";
import { instantIn, zoneOf } from "./times.ts";

/** What a draft holds of one field, or under a key that is no field's. */
export interface Given {
  readonly name: string;
  /** As it is sent; undefined where `value` has it. */
  readonly json: string | undefined;
  /** As a text: the digits of a number, attributes as JSON. Undefined for null, and for a wrong value that is a list or an object. */
  readonly text: string | undefined;
  /** Null, a value that breaks a rule or that of a strange key. It may be anything that JSON can say, and is written only when it is sent. */
  readonly value: unknown;
  readonly fault: Fault | undefined;
}

export class Draft {
  readonly action: ActionName;
  /** What tells it apart from others of its ticket, where its source says it. */
  key: string | undefined;
  /** What the data holds, in the order in which it came. */
  readonly given: Given[] = [];

  constructor(action: ActionName) {
    this.action = action;
  }

  /** Adds a field whose value breaks no rule. */
  put(field: FieldName, json: string, text: string): void {
    this.given.push({ name: field, json, text, value: undefined, fault: undefined });
  }

  /** Adds a value of JSON, whatever it is. */
  putValue(name: string, value: unknown): void {
    if (value !== null && isFieldName(name)) this.putField(name, value);
    else this.given.push({ name, json: undefined, text: textOf(value), value, fault: undefined });
  }

  /** Adds a field whose value is not null, right or not. */
  putField(field: FieldName, value: unknown): void {
    const fault = faultIn(field, value);
    const text = textOf(value);
    if (fault !== undefined) this.given.push({ name: field, json: undefined, text, value, fault });
    else if (typeof value === "string") this.put(field, quote(value), value);
    else {
      const json = text ?? JSON.stringify(value);
      this.put(field, json, json);
    }
  }

  /** Few are given, so looking at each takes less than a map would. */
  get(name: string): Given | undefined {
    for (const each of this.given) if (each.name === name) return each;
    return undefined;
  }

  /** Whether a value is given, right or not, that is not null. */
  has(name: string): boolean {
    const given = this.get(name);
    return given !== undefined && given.value !== null;
  }

  text(name: string): string | undefined {
    return this.get(name)?.text;
  }

  /** The value as it is sent. */
  json(name: string): string {
    return jsonIn(this.get(name));
  }
}

/** As it is sent. */
export const jsonIn = (given: Given | undefined): string => given?.json ?? JSON.stringify(given?.value);

export const givenValue = ({ json, value }: Given): unknown => (json === undefined ? value : parseJson(json));

const textOf = (value: unknown): string | undefined =>
  typeof value === "object" && !(value instanceof ExactNumber) ? undefined : String(value);

/** The draft of an action whose data is typed already, as in an `{action, data}` row. */
export function draftOf(action: ActionName, data: object): Draft {
  const draft = new Draft(action);
  for (const name of Object.keys(data)) {
    const value: unknown = Reflect.get(data, name);
    if (value !== undefined) draft.putValue(name, value);
  }
  return draft;
}

/** The action as an object. */
export function itemOf(draft: Draft): Action {
  const data = Object.fromEntries(draft.given.map((given) => [given.name, givenValue(given)]));
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
  const { read = (text: string) => text } = KINDS[fieldSpec(field).kind];
  const toInstant = instantIn(zone === undefined ? undefined : zoneOf(zone));
  const cleared = clearedValue(action, field);
  return (text, draft, problems) => {
    const value = text === clearWord ? cleared : read(text, toInstant);
    if (isFault(value))
      problems.push({ rule: value.rule, field, value: text, message: `${field} ${value.what}.`, hint: value.hint });
    else draft.putField(field, value);
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

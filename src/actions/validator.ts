/** The validator of each field: a text → its JSON, or the rule that it breaks. The schemas judge values by the same table. */

import { type FieldName, type FieldValue, fieldSpec } from "./fields.ts";
import { stringifyJson } from "./json.ts";
import { type Fault, type Flaw, NO_FLAW, type TextFault } from "./kind.ts";
import { KINDS } from "./kinds.ts";
import type { ToInstant } from "./times.ts";

/** A value of which something is wrong, or likely wrong. It is sent all the same if the config relaxes the rule. */
interface Doubted {
  readonly value: FieldValue;
  readonly fault: Fault | undefined;
  readonly flaws: readonly Flaw[];
}

/** Takes a trimmed text that is not empty. Gives its JSON, or what is wrong with it: with its value, or why it has none. */
export type Validator = (text: string, toInstant: ToInstant) => string | Doubted | TextFault;

export function validatorOf(field: FieldName): Validator {
  const { kind, maxLength = Number.POSITIVE_INFINITY } = fieldSpec(field);
  const { read, judge, likely } = KINDS[kind];
  return (text, toInstant) => {
    const value = read === undefined ? text : read(text, toInstant);
    if (isFault(value)) return value;
    const fault = judge(value, maxLength);
    const flaws = likely === undefined ? NO_FLAW : likely(value);
    return fault === undefined && flaws.length === 0 ? jsonOf(value) : { value, fault, flaws };
  };
}

/** Whether something is no value, but why there is none. */
export function isFault<Other>(read: Other | TextFault): read is TextFault {
  return typeof read === "object" && read !== null && "rule" in read;
}

/** What is wrong with a value of JSON, warnings included. Null is not this function's business. */
export function faultIn(field: FieldName, value: unknown): Fault | undefined {
  const { kind, maxLength = Number.POSITIVE_INFINITY, default: cleared } = fieldSpec(field);
  return value === cleared ? undefined : KINDS[kind].judge(value, maxLength);
}

/** What is likely wrong with a value of JSON. */
export const flawsIn = (field: FieldName, value: unknown): readonly Flaw[] =>
  KINDS[fieldSpec(field).kind].likely?.(value) ?? NO_FLAW;

/** ASCII that needs no escapes. */
const PLAIN = /^[ !#-[\]-~]*$/;

/** A text as JSON. */
export const quote = (text: string): string => (PLAIN.test(text) ? `"${text}"` : JSON.stringify(text));

/** A value as it is sent. */
export function jsonOf(value: unknown): string {
  if (typeof value === "string") return quote(value);
  return typeof value === "number" ? String(value) : stringifyJson(value);
}

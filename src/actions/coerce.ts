/** The text of a cell → the value of a field, by the field's kind. What can't be read is a finding, never a guess. */

import { type ActionName, acceptedFields, actionSpec } from "./actions.ts";
import { type Draft, numberOf } from "./draft.ts";
import { isJsonObject, readDecimal, readDigits } from "./exact-number.ts";
import { type FieldKind, type FieldName, type FieldValue, fieldSpec } from "./fields.ts";
import { duplicateKey, parseJson } from "./json.ts";
import { holdsText, ordinaryText } from "./ordinary.ts";
import type { Finding } from "./problem.ts";
import type { ActionRule } from "./rules.ts";
import { BEFORE_1970, instantIn, readIso, SKIPPED_HOUR, type ToInstant } from "./times.ts";
import { zoneOf } from "./zones.ts";

export const DEFAULT_CLEAR_WORD = "\\clear";

/** Rules of texts that no value of JSON breaks. */
type TextRule = "not-clearable" | "time-unreadable" | "time-without-zone" | "time-skipped";

/** Reads a trimmed text that is not empty into the draft; what can't be read is a finding. */
export type ReadField = (text: string, draft: Draft, findings: Finding[]) => void;

/**
 * How texts become a field of an action. What is ordinary costs a few tests of its characters; all else is read by its exact
 * rules, and the draft is judged by them.
 *
 * @param settings `zone` is that of local times.
 */
export function compileField(
  action: ActionName,
  field: FieldName,
  { clearWord, zone }: { readonly clearWord: string; readonly zone?: string | undefined },
): ReadField {
  const number = numberOf(field);
  const isTaken = acceptedFields(action).includes(field); // else a rule was relaxed, and has a finding all the same
  const { kind } = fieldSpec(field);
  const toInstant = instantIn(zone === undefined ? undefined : zoneOf(zone));
  const ordinary = kind === "u64" ? (text: string) => ordinaryTime(text, toInstant) : ordinaryText(field);
  const exact = coercerOf(action, field, clearWord, zone);
  const isText = holdsText(kind);
  return (text, draft, findings) => {
    const json = isTaken && text !== clearWord ? ordinary(text) : undefined;
    if (json !== undefined) {
      draft.put(number, json, isText ? text : json);
      return;
    }
    const value = exact(text, findings);
    if (value === undefined) return;
    // A field that is cleared has its default.
    if (isTaken && text === clearWord) draft.put(number, JSON.stringify(value), String(value));
    else draft.putOdd(field, value);
  };
}

function ordinaryTime(text: string, toInstant: ToInstant): string | undefined {
  const time = readTime(text, toInstant);
  return typeof time === "number" ? String(time) : undefined;
}

/** Reads a trimmed text that is not empty. Returns undefined after adding to `findings` why it can't. */
export type Coerce = (text: string, findings: Finding[]) => FieldValue | undefined;

/** Why a text can't be read; `what` is the end of a sentence that begins with the field. */
interface Unreadable {
  readonly rule: ActionRule | TextRule;
  readonly what: string;
  readonly hint: string;
}
type Reader = (text: string, toInstant: ToInstant) => FieldValue | Unreadable;

const unreadable = (rule: Unreadable["rule"], what: string, hint: string): Unreadable => ({ rule, what, hint });

/** How texts become values of `field` in `action`; `zone` is that of local times. Formats and limits are not checked here (see `validateItem`). */
export function coercerOf(action: ActionName, field: FieldName, clearWord: string, zone?: string): Coerce {
  const toInstant = instantIn(zone === undefined ? undefined : zoneOf(zone));
  const read = READERS[fieldSpec(field).kind];
  if (read === undefined) return (text, findings) => (text === clearWord ? clear(action, field, text, findings) : text);
  return (text, findings) => {
    if (text === clearWord) return clear(action, field, text, findings);
    const value = read(text, toInstant);
    if (typeof value !== "object" || !("what" in value)) return value;
    const { rule, what, hint } = value;
    findings.push({ rule, field, value: text, message: `${field} ${what}.`, hint });
    return undefined;
  };
}

function clear(action: ActionName, field: FieldName, text: string, findings: Finding[]): "" | 0 | undefined {
  const cleared = fieldSpec(field).default;
  const { updates, optional } = actionSpec(action);
  if (updates && optional.includes(field) && cleared !== undefined) return cleared;
  findings.push({
    rule: "not-clearable" satisfies TextRule,
    field,
    value: text,
    message: updates
      ? `${field} can't be cleared: the service has no default for it.`
      : `${field} can't be cleared by ${action}: only updates clear fields.`,
    hint: "Leave the cell empty.",
  });
  return undefined;
}

/** What is not here is text. */
const READERS: Partial<Record<FieldKind, Reader>> = {
  latitude: readDegrees,
  longitude: readDegrees,
  u64: readTime,
  metadata: readMetadata,
};

function readDegrees(text: string): FieldValue | Unreadable {
  const degrees = readDecimal(text);
  if (degrees !== undefined) return degrees;
  const hint = /^[+-]?\d+,\d+$/.test(text)
    ? "Write a decimal point, not a comma."
    : "Give degrees as a decimal number, such as 52.5163; south and west are negative.";
  return unreadable("field-type", "is not a decimal number", hint);
}

function readTime(text: string, toInstant: ToInstant): number | bigint | Unreadable {
  const digits = readDigits(text);
  if (digits !== undefined) return digits;
  const time = readIso(text, toInstant);
  if (time === undefined) {
    if (/^[+-]?[\d.,]+(?:[eE][+-]?\d+)?$/.test(text))
      return unreadable(
        "u64-invalid",
        "is not an unsigned 64-bit whole number",
        "Give Unix seconds as plain digits; a spreadsheet may have changed them.",
      );
    return unreadable(
      "time-unreadable",
      "is neither Unix seconds nor a time such as 2026-05-01T20:00:00+02:00",
      'Declare how the source writes it, such as format: "d.M.yyyy HH:mm" with its zone.',
    );
  }
  if (time === "impossible") return unreadable("time-unreadable", "is a time that does not exist", "Check its parts.");
  if (time === "skipped-hour") return SKIPPED_HOUR;
  if (typeof time === "string")
    return unreadable(
      "time-without-zone",
      "is a local time without a zone",
      "Write the offset, such as 2026-05-01T20:00:00+02:00, or declare the zone of the source in the config, such as zone: Europe/Berlin.",
    );
  return time >= 0 ? time : unreadable("u64-invalid", "is before 1970", BEFORE_1970);
}

const EXAMPLE = 'Write [{"trait_type":"Row","value":"A"}].';

function readMetadata(text: string): FieldValue | Unreadable {
  let parsed: unknown;
  try {
    parsed = parseJson(text);
  } catch {
    return unreadable("metadata-invalid", "is text that is not JSON", EXAMPLE);
  }
  if (!Array.isArray(parsed)) return unreadable("metadata-invalid", "is JSON, but not a list of attributes", EXAMPLE);
  if (!parsed.every(isFlat))
    return unreadable("metadata-invalid", "has an attribute that holds a list or an object", EXAMPLE);
  const twice = duplicateKey(text, parsed);
  if (twice === undefined) return parsed;
  const where = twice === "" ? "" : ` (${twice})`;
  return unreadable("json-duplicate-key", `has a key twice in one attribute${where}`, "Leave one out.");
}

/** Whether an attribute holds plain values only. */
const isFlat = (attribute: unknown): boolean =>
  typeof attribute !== "object" ||
  attribute === null ||
  !Object.values(attribute).some((value) => isJsonObject(value) || Array.isArray(value));

/** The text of a cell → the value of a field, by the field's kind. What can't be read so is a finding, never a guess. */

import type { ActionName } from "../actions/actions.ts";
import { actionSpec } from "../actions/actions.ts";
import { type ExactNumber, exactNumber, isJsonObject } from "../actions/exact-number.ts";
import type { FieldKind, FieldName, FieldValue } from "../actions/fields.ts";
import { fieldSpec } from "../actions/fields.ts";
import { duplicateKey, parseJson } from "../actions/json.ts";
import type { Finding } from "../actions/problem.ts";
import type { ActionRule } from "../actions/rules.ts";
import type { MappingRule } from "./rules.ts";
import { parseIso } from "./time.ts";
import { namedZone, type ToInstant, zoneOf } from "./zone.ts";

export const DEFAULT_CLEAR_WORD = "\\clear";

/** Reads a trimmed text that is not empty. Returns undefined after adding to `findings` why it can't. */
export type Coerce = (text: string, findings: Finding[]) => FieldValue | undefined;

/** How texts become values of `field` in `action`; `zone` is that of local times. Formats and limits are not checked here (see `validateItem`). */
export function coercerOf(action: ActionName, field: FieldName, clearWord: string, zone?: string): Coerce {
  const toInstant = zone === undefined ? undefined : zoneOf(zone);
  const read = READERS[fieldSpec(field).kind](field, toInstant);
  return (text, findings) => (text === clearWord ? clear(action, field, text, findings) : read(text, findings));
}

function clear(action: ActionName, field: FieldName, text: string, findings: Finding[]): "" | 0 | undefined {
  const cleared = fieldSpec(field).default;
  const { updates, optional } = actionSpec(action);
  if (updates && optional.includes(field) && cleared !== undefined) return cleared;
  findings.push({
    rule: "not-clearable" satisfies MappingRule,
    field,
    value: text,
    message: updates
      ? `${field} can't be cleared: the service has no default for it.`
      : `${field} can't be cleared by ${action}: only updates clear fields.`,
    hint: "Leave the cell empty.",
  });
  return undefined;
}

function unreadable(
  findings: Finding[],
  field: FieldName,
  rule: ActionRule | MappingRule,
  value: string,
  message: string,
  hint: string,
): undefined {
  findings.push({ rule, field, value, message: `${field} ${message}.`, hint });
}

const asText = (): Coerce => (text) => text;

const READERS: Record<FieldKind, (field: FieldName, toInstant: ToInstant | undefined) => Coerce> = {
  id: asText,
  text: asText,
  url: asText,
  currency: asText,
  nftId: asText,
  price: asText,
  wallet: asText,
  uuid: asText,
  latitude: (field) => (text, findings) => readDegrees(field, text, findings),
  longitude: (field) => (text, findings) => readDegrees(field, text, findings),
  u64: (field, toInstant) => (text, findings) => readTime(field, text, toInstant, findings),
  metadata: (field) => (text, findings) => readMetadata(field, text, findings),
};

/** Scripts write small numbers as `-5e-05`. */
const DECIMAL = /^[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** The number that a text says, whatever its spelling; undefined when it says none. */
export function readDecimal(text: string): number | bigint | ExactNumber | undefined {
  // JSON has neither a plus nor zeros before the first digit.
  return DECIMAL.test(text) ? exactNumber(text.replace(/^\+/, "").replace(/^(-?)0+(?=\d)/, "$1")) : undefined;
}

function readDegrees(field: FieldName, text: string, findings: Finding[]): FieldValue | undefined {
  const degrees = readDecimal(text);
  if (degrees !== undefined) return degrees;
  const hint = /^[+-]?\d+,\d+$/.test(text)
    ? "Write a decimal point, not a comma."
    : "Give degrees as a decimal number, such as 52.5163; south and west are negative.";
  return unreadable(findings, field, "field-type", text, "is not a decimal number", hint);
}

const DIGITS = /^\d+$/;
/** Digits of 2^64 - 1; a longer number is none of 64 bits. */
const U64_DIGITS = 20;

/** Unix seconds by their digits, exact; undefined when the text is not made of digits or has too many. */
export function readDigits(text: string): number | bigint | undefined {
  if (!DIGITS.test(text)) return undefined;
  if (text.length <= 15) return Number(text);
  const digits = text.replace(/^0+(?=\d)/, "");
  if (digits.length > U64_DIGITS) return undefined;
  const exact = BigInt(digits);
  return exact <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(exact) : exact;
}

function readTime(
  field: FieldName,
  text: string,
  toInstant: ToInstant | undefined,
  findings: Finding[],
): number | bigint | undefined {
  const digits = readDigits(text);
  if (digits !== undefined) return digits;
  const time = parseIso(text);
  if (time === undefined) {
    if (/^[+-]?[\d.,]+(?:[eE][+-]?\d+)?$/.test(text))
      return unreadable(
        findings,
        field,
        "u64-invalid",
        text,
        "is not an unsigned 64-bit whole number",
        "Give Unix seconds as plain digits; a spreadsheet may have changed them.",
      );
    return unreadable(
      findings,
      field,
      "time-unreadable",
      text,
      "is neither Unix seconds nor a time such as 2026-05-01T20:00:00+02:00",
      'Declare how the source writes it, such as format: "d.M.yyyy HH:mm" with its zone.',
    );
  }
  if (time.kind === "impossible")
    return unreadable(findings, field, "time-unreadable", text, "is a time that does not exist", "Check its parts.");
  if (time.kind === "instant") return instantOf(field, time.seconds, text, findings);
  const inZone = time.zone === undefined ? toInstant : namedZone(time.zone);
  if (inZone === undefined)
    return unreadable(
      findings,
      field,
      "time-without-zone",
      text,
      "is a local time without a zone",
      "Write the offset, such as 2026-05-01T20:00:00+02:00, or declare the zone of the source in the config, such as zone: Europe/Berlin.",
    );
  const seconds = inZone(time.local);
  if (seconds !== undefined) return instantOf(field, seconds, text, findings);
  return unreadable(
    findings,
    field,
    "time-skipped",
    text,
    "is in the hour that the clocks skip",
    "Is the zone the one in which the file writes its times?",
  );
}

export const BEFORE_1970 = "Unix seconds can't express it; leave it out.";

/** `seconds`, unless they are before 1970. */
function instantOf(field: FieldName, seconds: number, text: string, findings: Finding[]): number | undefined {
  if (seconds >= 0) return seconds;
  return unreadable(findings, field, "u64-invalid", text, "is before 1970", BEFORE_1970);
}

const EXAMPLE = 'Write [{"trait_type":"Row","value":"A"}].';

function readMetadata(field: FieldName, text: string, findings: Finding[]): FieldValue | undefined {
  let parsed: unknown;
  try {
    parsed = parseJson(text);
  } catch {
    return unreadable(findings, field, "metadata-invalid", text, "is text that is not JSON", EXAMPLE);
  }
  if (!Array.isArray(parsed))
    return unreadable(findings, field, "metadata-invalid", text, "is JSON, but not a list of attributes", EXAMPLE);
  if (!parsed.every(isFlat))
    return unreadable(
      findings,
      field,
      "metadata-invalid",
      text,
      "has an attribute that holds a list or an object",
      EXAMPLE,
    );
  const twice = duplicateKey(text, parsed);
  if (twice !== undefined)
    return unreadable(
      findings,
      field,
      "json-duplicate-key",
      text,
      `has a key twice in one attribute${twice === "" ? "" : ` (${twice})`}`,
      "Leave one out.",
    );
  return parsed;
}

/** Whether an attribute holds plain values only. */
function isFlat(attribute: unknown): boolean {
  return (
    typeof attribute !== "object" ||
    attribute === null ||
    !Object.values(attribute).some((value) => isJsonObject(value) || Array.isArray(value))
  );
}

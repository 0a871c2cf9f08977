/** What is wrong, or probably wrong, with one action by itself. */

import { ACTION_NAMES, type ActionName, actionSpec, isActionName } from "../actions/actions.ts";
import { FIELD_NAMES, type FieldName, fieldSpec } from "../actions/fields.ts";
import { isFormulaError, looksMangled, mangledId, standsForNoText } from "../actions/mangled-ids.ts";
import type { Finding } from "../actions/problem.ts";
import { cleanText } from "../actions/text.ts";
import { validateItem } from "../actions/validate.ts";
import { damageIn, wordWithLostLetter } from "./damage.ts";
import { farTime } from "./far-times.ts";
import { holdsLogin, mistakesOfText, mistakesOfUrl } from "./urls.ts";

/** Shared by all sound actions. */
const NONE: readonly Finding[] = Object.freeze([]);

/**
 * Everything that is wrong with an item of a request body, and what is likely a mistake in it. Their severity is that
 * of their rules. Called once per action: what is sound, or only lacks its time, allocates nothing.
 *
 * @param now - in Unix seconds; without it no time is compared with today.
 */
export function checkAction(item: unknown, now?: number): readonly Finding[] {
  const wrong = validateItem(item);
  if (typeof item !== "object" || item === null) return wrong;
  const { action, data } = item as { readonly action?: unknown; readonly data?: unknown }; // an object, as checked above
  if (typeof action !== "string" || !isActionName(action) || typeof data !== "object" || data === null) return wrong;
  const likely = likelyMistakes(action, data as Readonly<Record<string, unknown>>, now); // an object, as checked above
  if (wrong.length === 0) return likely;
  return likely.length === 0 ? wrong : [...wrong, ...likely];
}

/** Fields that name somebody or something, of which not one character is to be seen wrongly. */
const NAMES = FIELD_NAMES.filter((name) => ["id", "nftId", "wallet"].includes(fieldSpec(name).kind));
const IDS = FIELD_NAMES.filter((name) => ["id", "nftId"].includes(fieldSpec(name).kind));
const TEXTS = FIELD_NAMES.filter((name) => fieldSpec(name).kind === "text");
const URLS = FIELD_NAMES.filter((name) => fieldSpec(name).kind === "url");

/** What each action has of the fields that mistakes are looked for in. */
const LOOKED_AT: ReadonlyMap<
  ActionName,
  {
    readonly names: readonly FieldName[];
    readonly ids: readonly FieldName[];
    readonly texts: readonly FieldName[];
    readonly urls: readonly FieldName[];
    readonly times: readonly FieldName[];
  }
> = new Map(
  ACTION_NAMES.map((action) => {
    const { required, exclusive, anyOf, optional } = actionSpec(action);
    const accepted: readonly FieldName[] = [...required, ...exclusive, ...anyOf, ...optional];
    return [
      action,
      {
        names: accepted.filter((name) => NAMES.includes(name)),
        ids: accepted.filter((name) => IDS.includes(name)),
        texts: accepted.filter((name) => TEXTS.includes(name)),
        urls: accepted.filter((name) => URLS.includes(name)),
        times: accepted.filter((name) => fieldSpec(name).kind === "u64"),
      },
    ];
  }),
);

/** One constant list per action that takes an orderTime: exports without times have this finding on every row. */
const TIME_MISSING: ReadonlyMap<ActionName, readonly Finding[]> = new Map(
  ACTION_NAMES.filter((action) => actionSpec(action).optional.includes("orderTime")).map((action) => [
    action,
    Object.freeze([
      {
        rule: "order-time-missing",
        action,
        field: "orderTime",
        pointer: "/data",
        message: `${action} has no orderTime, so the service takes the time of sending.`,
        hint: "Map the column that holds the time, or leave it so if the export holds none.",
      },
    ]),
  ]),
);

/** What an update is about; without anything else it changes nothing. */
const REFERENCES: ReadonlySet<string> = new Set<FieldName>(["eventId", "ticketId", "nftId"]);

/** One constant list per action that changes something: a column that was renamed leaves such on every row. */
const WITHOUT_CHANGE: ReadonlyMap<ActionName, readonly Finding[]> = new Map(
  ACTION_NAMES.filter((action) => actionSpec(action).updates).map((action) => [
    action,
    Object.freeze([
      {
        rule: "update-without-change",
        action,
        pointer: "/data",
        message: `${action} changes nothing: it has no field but its id.`,
        hint: "See whether a column was renamed, or is empty; leave rows out that change nothing.",
      },
    ]),
  ]),
);

function changesSomething(data: Readonly<Record<string, unknown>>): boolean {
  // Null, as what is left out, changes nothing.
  for (const field in data) if (data[field] != null && !REFERENCES.has(field)) return true;
  return false;
}

function likelyMistakes(
  action: ActionName,
  data: Readonly<Record<string, unknown>>,
  now: number | undefined,
): readonly Finding[] {
  const looked = LOOKED_AT.get(action);
  if (looked === undefined) return NONE;
  let findings = data.orderTime == null ? (TIME_MISSING.get(action) ?? NONE) : NONE;
  const unchanging = WITHOUT_CHANGE.get(action);
  if (unchanging !== undefined && !changesSomething(data)) findings = both(findings, unchanging);
  for (const field of looked.names) {
    const value = data[field];
    if (typeof value === "string" && !PLAIN.test(value) && !looksDamaged(value))
      findings = both(findings, unseen(field, value, UNSEEN));
  }
  for (const field of looked.ids) {
    const value = data[field];
    if (typeof value === "string" && (looksMangled(value) || looksDamaged(value)))
      findings = [...findings, ...mistakesOfId(field, value)];
  }
  for (const field of looked.texts) {
    const value = data[field];
    if (typeof value !== "string") continue;
    if (standsForNoText(value)) findings = [...findings, textOfNone(field, value)];
    else if (textLooksDamaged(value)) findings = [...findings, damaged(field, value)];
    else if (holdsControl(value)) findings = both(findings, unseen(field, value, CONTROL));
    findings = both(findings, mistakesOfText(field, `/data/${field}`, value));
  }
  for (const field of looked.urls) {
    const value = data[field];
    if (typeof value === "string") findings = both(findings, mistakesOfUrl(field, value));
  }
  if (data.metadataAttributes != null) findings = withAttributes(findings, data.metadataAttributes);
  for (const field of looked.times) {
    const value = data[field];
    if (typeof value !== "number" && typeof value !== "bigint") continue;
    const found = value >= LIKELY_FROM && value < LIKELY_BELOW ? NONE : mistakesOfTime(field, value);
    const far = found.length > 0 || now === undefined ? undefined : farTime(field, value, now, dated);
    if (found.length > 0 || far !== undefined) findings = [...findings, ...found, ...(far === undefined ? [] : [far])];
  }
  const start = data.startTime;
  const end = data.endTime;
  // Zero is the default and means that nothing is known.
  if (isTime(start) && isTime(end) && end < start) {
    findings = [
      ...findings,
      {
        rule: "end-before-start",
        field: "endTime",
        pointer: "/data/endTime",
        value: String(end),
        message: `The event ends (${dated(end)}) before it starts (${dated(start)}).`,
        hint: "See whether the two are mixed up, or their zones differ.",
      },
    ];
  }
  return findings;
}

function mistakesOfId(field: FieldName, value: string): readonly Finding[] {
  return [
    ...(looksMangled(value) ? [mangledId(field, value)] : []),
    ...(looksDamaged(value) ? [damaged(field, value)] : []),
  ];
}

const looksDamaged = (text: string): boolean => damageIn(text) !== undefined;
/** Texts are words, in which a question mark between letters has no meaning; in an id it may have one. */
const textLooksDamaged = (text: string): boolean => looksDamaged(text) || wordWithLostLetter(text) !== undefined;

function damaged(field: FieldName, value: string): Finding {
  const what = damageTold(value);
  return {
    rule: "text-looks-damaged",
    field,
    pointer: `/data/${field}`,
    value,
    message: `${field} holds ${what}.`,
    hint: "Export again as UTF-8, and see whether --encoding, or the encoding of the source, is the file's.",
  };
}

/** An empty text would have been left out; this one would be read by everybody. */
function textOfNone(field: FieldName, value: string): Finding {
  const by = isFormulaError(value) ? "spreadsheet" : "script";
  return {
    rule: "text-looks-damaged",
    field,
    pointer: `/data/${field}`,
    value,
    message: `${field} holds ${cleanText(value, 40)}, which a ${by} writes where it has no text.`,
    hint:
      by === "spreadsheet"
        ? "Mend the formula in the spreadsheet, and export again."
        : "See why the export has no value there.",
  };
}

function damageTold(value: string): string {
  const found = damageIn(value);
  if (found === undefined)
    return `${cleanText(wordWithLostLetter(value) ?? "", 40)}, with a question mark for a letter`;
  return found === "\ufffd"
    ? "U+FFFD, which stands where a character was lost"
    : `${found}, as UTF-8 that was read in another encoding`;
}

/** Nearly every text, of which nothing more need be asked. */
const PLAIN = /^[ -~]*$/;

/** What steers or is not seen: in an id, all of it. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u;

/** In words, line breaks and tabs have their use, and so have joiners and marks of direction. */
const CONTROL = /(?![\t\n\r])[\p{Cc}\p{Zl}\p{Zp}\ufeff]/u;

const holdsControl = (text: string): boolean => !PLAIN.test(text) && CONTROL.test(text);

function unseen(field: FieldName, value: string, kinds: RegExp): readonly Finding[] {
  const [found] = kinds.exec(value) ?? [];
  if (found === undefined) return NONE;
  const code = `U+${(found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
  const what = /\p{Cc}/u.test(found) ? "control" : "invisible";
  return [
    {
      rule: "control-character",
      field,
      pointer: `/data/${field}`,
      value,
      message: `${field} holds the ${what} character ${code}.`,
      hint: "Nobody sees it, and with it the text is another one. See where it comes from, and export again without it.",
    },
  ];
}

function withAttributes(findings: readonly Finding[], attributes: unknown): readonly Finding[] {
  const attribute = firstText(attributes, textLooksDamaged);
  const told = attribute === undefined ? findings : [...findings, damaged("metadataAttributes", attribute)];
  const none = typeof attributes === "string" ? textOfNoneIn(attributes) : firstText(attributes, standsForNoText);
  const read = none === undefined ? told : [...told, textOfNone("metadataAttributes", none)];
  const steered = firstText(attributes, holdsControl);
  const seen = steered === undefined ? read : both(read, unseen("metadataAttributes", steered, CONTROL));
  const open = firstText(attributes, holdsLogin);
  return open === undefined ? seen : both(seen, mistakesOfText("metadataAttributes", "/data/metadataAttributes", open));
}

/** The same in attributes as JSON, of which no list is made for it. */
function textOfNoneIn(json: string): string | undefined {
  for (const [, text = ""] of json.matchAll(/:\s*"([^"\\]{2,20})"/g)) if (standsForNoText(text)) return text;
  return undefined;
}

/** The first text in the attributes that is so. No lists of texts are made of them: nearly every action has some. */
function firstText(attributes: unknown, isSo: (text: string) => boolean): string | undefined {
  if (typeof attributes === "string") return isSo(attributes) ? attributes : undefined;
  if (!Array.isArray(attributes)) return undefined;
  for (const attribute of attributes) {
    if (typeof attribute !== "object" || attribute === null) continue;
    const { trait_type: trait, value, display_type: display } = attribute;
    if (typeof trait === "string" && isSo(trait)) return trait;
    if (typeof value === "string" && isSo(value)) return value;
    if (typeof display === "string" && isSo(display)) return display;
  }
  return undefined;
}

function both(some: readonly Finding[], more: readonly Finding[]): readonly Finding[] {
  return more.length === 0 ? some : some.length === 0 ? more : [...some, ...more];
}

const DATE_DIGITS =
  /^(?:19[7-9]\d|20\d\d)(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])(?:(?:[01]\d|2[0-3])[0-5]\d(?:[0-5]\d)?)?$/;
const DATE_FORMATS: Readonly<Record<number, string>> = { 8: "yyyyMMdd", 12: "yyyyMMddHHmm", 14: "yyyyMMddHHmmss" };

/** The seconds of 1973 to 5138. */
const LIKELY_FROM = 1e8;
const LIKELY_BELOW = 1e11;

/** What is likely wrong with a time that is none of these. */
function mistakesOfTime(field: FieldName, value: number | bigint): readonly Finding[] {
  const other = otherTime(value);
  if (other !== undefined) return [noUnixTime(field, value, other)];
  const unit = finerUnit(value);
  return unit === undefined ? NONE : [tooFine(field, value, unit)];
}

/** What a number that is no likely time in seconds, and in no finer unit either, may be instead. */
function otherTime(time: number | bigint): { readonly what: string; readonly hint: string } | undefined {
  if (time < 36_526) return undefined;
  const digits = String(time);
  const format = DATE_FORMATS[digits.length];
  if (format !== undefined && DATE_DIGITS.test(digits))
    return {
      what: "the digits of a date",
      hint: `Declare how the file writes it: format: "${format}", with its zone.`,
    };
  // The days of 2000 to 2099 as spreadsheets count them, and the seconds of these years divided by a thousand.
  if (time < 73_051)
    return {
      what: `the number that a spreadsheet has for ${dated((BigInt(Math.floor(Number(time))) - 25_569n) * 86_400n).slice(0, 10)}`,
      hint: "Show the column as date and time before it is saved as CSV, or export again.",
    };
  if (time >= 946_684 && time < 4_102_445)
    return { what: "a thousandth of Unix seconds", hint: "Is format: unix-ms declared for a column of seconds?" };
  return undefined;
}

function noUnixTime(field: FieldName, value: number | bigint, { what, hint }: { what: string; hint: string }): Finding {
  return {
    rule: "looks-like-no-unix-time",
    field,
    pointer: `/data/${field}`,
    value: String(value),
    message: `${field} looks like ${what}; the service reads Unix seconds, so ${dated(value)}.`,
    hint,
  };
}

/** The instants of 1973 to 5138 (2262 in nanoseconds) in each unit; as seconds they are thousands of years away. */
const FINER_UNITS = [
  { unit: "milliseconds", digits: 3, from: 1e11, below: 1e14 },
  { unit: "microseconds", digits: 6, from: 1e14, below: 1e17 },
  { unit: "nanoseconds", digits: 9, from: 1e17, below: 9.2e18 },
] as const;

function finerUnit(time: number | bigint): (typeof FINER_UNITS)[number] | undefined {
  if (time < 1e11 || (typeof time === "number" && !Number.isInteger(time))) return undefined;
  return FINER_UNITS.find(({ from, below }) => time >= from && time < below);
}

function tooFine(field: FieldName, value: number | bigint, { unit, digits }: (typeof FINER_UNITS)[number]): Finding {
  const seconds = BigInt(value) / 10n ** BigInt(digits);
  return {
    rule: "looks-like-milliseconds",
    field,
    pointer: `/data/${field}`,
    value: String(value),
    message: `${field} looks like ${unit}; the service reads seconds.`,
    hint: `Give ${seconds}, which is ${dated(seconds)}.`,
  };
}

function isTime(value: unknown): value is number | bigint {
  return (typeof value === "number" || typeof value === "bigint") && value > 0;
}

/** A time for a message: as a date where it is one, else as the number it is. */
function dated(seconds: number | bigint): string {
  const date = new Date(Number(seconds) * 1000);
  return Number.isNaN(date.getTime()) ? String(seconds) : `${date.toISOString().slice(0, 19).replace("T", " ")} UTC`;
}

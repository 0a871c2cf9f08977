/** What is wrong, or probably wrong, with one action by itself. */

import { ACTION_NAMES, type ActionName, acceptedFields, actionSpec, isActionName } from "../actions/actions.ts";
import { CONTROL, damageIn, textLooksDamaged, UNSEEN, wordWithLostLetter } from "../actions/damage.ts";
import { type Draft, type FieldSet, itemOf, numberOf, setOf } from "../actions/draft.ts";
import { isJsonObject } from "../actions/exact-number.ts";
import { type FieldKind, type FieldName, type FieldSpec, fieldSpec, isFieldName } from "../actions/fields.ts";
import { isFormulaError, looksMangled, mangledId, standsForNoText } from "../actions/mangled-ids.ts";
import { about, type Finding } from "../actions/problem.ts";
import { recordOf } from "../actions/schemas.ts";
import { cleanText, utcText } from "../actions/text.ts";
import { NONE, validateItem } from "../actions/validate.ts";
import { farTime } from "./far-times.ts";
import { holdsLogin, mistakesOfText, mistakesOfUrl } from "./urls.ts";

/**
 * Everything that is wrong with an item of a request body, and what is likely a mistake in it. Their severity is that
 * of their rules.
 *
 * @param now - in Unix seconds; without it no time is compared with today.
 */
export function checkAction(item: unknown, now?: number): readonly Finding[] {
  const wrong = validateItem(item);
  if (!isJsonObject(item) || !isJsonObject(item.data)) return wrong;
  const { action, data } = item;
  if (typeof action !== "string" || !isActionName(action)) return wrong;
  const likely = likelyMistakes(action, data, now);
  return likely.length === 0 ? wrong : [...wrong, ...likely];
}

/**
 * The same of an action as it was read: what is ordinary and complete costs a few comparisons.
 *
 * @param now in Unix seconds.
 */
export function checkDraft(draft: Draft, now: number): readonly Finding[] {
  const { action, given } = draft;
  if (!draft.isOrdinary || !COMPLETE[action](given) || !areNear(draft, now)) return checkAction(itemOf(draft), now);
  return (given & ORDER_TIME) === 0 ? TIMELESS[action] : NONE;
}

const ORDER_TIME = setOf(["orderTime"]);

/** What an update is about; without anything else it changes nothing. */
const REFERENCES: readonly FieldName[] = ["eventId", "ticketId", "nftId"];
const isReference = (name: string): boolean => REFERENCES.some((reference) => reference === name);

/** Whether an action is complete with the fields that are given, and an update changes something. */
const COMPLETE = recordOf(ACTION_NAMES, (action) => {
  const { required, exclusive, anyOf, updates } = actionSpec(action);
  const [all, one, some] = [setOf(required), setOf(exclusive), setOf(anyOf)];
  const changes = updates ? ~setOf(REFERENCES) : 0;
  return (given: FieldSet): boolean => {
    const chosen = given & one;
    return (
      (given & all) === all &&
      (one === 0 || (chosen !== 0 && (chosen & (chosen - 1)) === 0)) &&
      (some === 0 || (given & some) !== 0) &&
      (changes === 0 || (given & changes) !== 0)
    );
  };
});

/** Of an action without orderTime, as whole exports may be. */
const TIMELESS = recordOf(ACTION_NAMES, (action): readonly Finding[] => {
  if (!actionSpec(action).optional.includes("orderTime")) return NONE;
  return [
    {
      rule: "order-time-missing",
      action,
      field: "orderTime",
      pointer: "/data",
      message: `${action} has no orderTime, so the service takes the time of sending.`,
      hint: "Map the column that holds the time, or leave it out if the export has none.",
    },
  ];
});

/** Whether nothing is wrong with the times of an ordinary draft. */
function areNear({ text }: Draft, now: number): boolean {
  for (const { field, number } of TIMES) {
    const time = text[number];
    if (time !== undefined && mistakesOfTime(field, Number(time), now) !== NONE) return false;
  }
  const [start = 0, end = 0] = [Number(text[START] ?? 0), Number(text[END] ?? 0)];
  return end === 0 || start <= end;
}

const TIMES = (["orderTime", "startTime", "endTime"] as const).map((field) => ({ field, number: numberOf(field) }));
const [START, END] = [numberOf("startTime"), numberOf("endTime")];

type Data = Readonly<Record<string, unknown>>;

function likelyMistakes(action: ActionName, data: Data, now: number | undefined): readonly Finding[] {
  const found = LOOKED_INTO[action].flatMap((field) => {
    const value = data[field];
    return value === undefined ? NONE : (LIKELY[fieldSpec(field).kind]?.(field, value, now) ?? NONE);
  });
  return [...found, ...mistakesOfWhole(action, data)].sort((one, other) => placeOf(one) - placeOf(other));
}

/** Kinds of fields that name somebody or something, so that every character counts. */
const NAMES: readonly FieldKind[] = ["id", "nftId", "wallet"];

/** First what every row of an export may have, then what nobody sees in a name, then field by field. */
function placeOf({ rule, field = "" }: Finding): number {
  const isOfName = isFieldName(field) && NAMES.includes(fieldSpec(field).kind);
  if (rule === "control-character" && isOfName) return 2;
  return rule === "order-time-missing" ? 0 : rule === "update-without-change" ? 1 : 3;
}

type Find<T> = (field: FieldName, value: T, now: number | undefined) => readonly Finding[];

const inText =
  (find: Find<string>): Find<unknown> =>
  (field, value, now) =>
    typeof value === "string" ? find(field, value, now) : NONE;

const inName = inText((field, value) => (looksDamaged(value) ? NONE : unseen(field, value, UNSEEN)));
const inId = inText((field, value) => [...inName(field, value, undefined), ...mistakesOfId(field, value)]);

/** What is looked for in the values of each kind, in this order. */
const LIKELY: Partial<Record<FieldKind, Find<unknown>>> = {
  id: inId,
  nftId: inId,
  wallet: inName,
  text: inText((field, value) => [...mistakesOfWords(field, value), ...mistakesOfText(field, value)]),
  url: inText(mistakesOfUrl),
  metadata: (_, value) => mistakesOfAttributes(value),
  u64: (field, value, now) =>
    typeof value === "number" || typeof value === "bigint" ? mistakesOfTime(field, value, now) : NONE,
};

/** The fields of each action in which mistakes are looked for, by kind, names first. Attributes are always among them. */
const LOOKED_INTO = recordOf(ACTION_NAMES, looksInto);

function looksInto(action: ActionName): readonly FieldName[] {
  const kinds = Object.keys(LIKELY);
  const placeOfKind = ({ kind }: FieldSpec): number => (NAMES.includes(kind) ? 0 : kinds.indexOf(kind));
  const fields = new Set<FieldName>([...acceptedFields(action), "metadataAttributes"]);
  return [...fields].sort((one, other) => placeOfKind(fieldSpec(one)) - placeOfKind(fieldSpec(other)));
}

/** Mistakes that no single field shows. */
function mistakesOfWhole(action: ActionName, data: Data): readonly Finding[] {
  const { updates } = actionSpec(action);
  const findings: Finding[] = [];
  if (data.orderTime == null) findings.push(...TIMELESS[action]);
  // Null, as what is left out, changes nothing.
  if (updates && !Object.keys(data).some((name) => data[name] != null && !isReference(name)))
    findings.push({
      rule: "update-without-change",
      action,
      pointer: "/data",
      message: `${action} changes nothing: it has no field but its id.`,
      hint: "Check whether a column was renamed or is empty; leave out rows that change nothing.",
    });
  const { startTime: start, endTime: end } = data;
  // Zero is the default and means that nothing is known.
  if (isTime(start) && isTime(end) && end < start)
    findings.push({
      rule: "end-before-start",
      ...about("endTime", String(end)),
      message: `The event ends (${dated(end)}) before it starts (${dated(start)}).`,
      hint: "Check whether the two are mixed up or their zones differ.",
    });
  return findings;
}

function mistakesOfWords(field: FieldName, value: string): readonly Finding[] {
  if (standsForNoText(value)) return [textOfNone(field, value)];
  if (textLooksDamaged(value)) return [damaged(field, value)];
  return holdsControl(value) ? unseen(field, value, CONTROL) : NONE;
}

function mistakesOfId(field: FieldName, value: string): readonly Finding[] {
  return [
    ...(looksMangled(value) ? [mangledId(field, value)] : []),
    ...(looksDamaged(value) ? [damaged(field, value)] : []),
  ];
}

const looksDamaged = (text: string): boolean => damageIn(text) !== undefined;

function damaged(field: FieldName, value: string): Finding {
  return {
    rule: "text-looks-damaged",
    ...about(field, value),
    message: `${field} holds ${damageTold(value)}.`,
    hint: "Export again as UTF-8, and check that --encoding, or the encoding of the source, is the file's.",
  };
}

/** An empty text would have been left out; this one would be read by everybody. */
function textOfNone(field: FieldName, value: string): Finding {
  const [by, hint] = isFormulaError(value)
    ? ["spreadsheet", "Fix the formula in the spreadsheet, and export again."]
    : ["script", "Check why the export has no value there."];
  const message = `${field} holds ${cleanText(value, 40)}, which a ${by} writes where it has no text.`;
  return { rule: "text-looks-damaged", ...about(field, value), message, hint };
}

function damageTold(value: string): string {
  const found = damageIn(value);
  if (found === undefined)
    return `${cleanText(wordWithLostLetter(value) ?? "", 40)}, with a question mark for a letter`;
  return found === "\ufffd"
    ? "U+FFFD, which marks a lost character"
    : `${found}, as UTF-8 that was read in another encoding`;
}

const holdsControl = (text: string): boolean => CONTROL.test(text);

function unseen(field: FieldName, value: string, kinds: RegExp): readonly Finding[] {
  const [found] = kinds.exec(value) ?? [];
  if (found === undefined) return NONE;
  const code = `U+${(found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
  const what = /\p{Cc}/u.test(found) ? "control" : "invisible";
  return [
    {
      rule: "control-character",
      ...about(field, value),
      message: `${field} holds the ${what} character ${code}.`,
      hint: "It is invisible, but makes the text a different one. Find where it comes from, and export again without it.",
    },
  ];
}

function mistakesOfAttributes(attributes: unknown): readonly Finding[] {
  const field = "metadataAttributes";
  const worn = firstText(attributes, textLooksDamaged);
  const none = typeof attributes === "string" ? textOfNoneIn(attributes) : firstText(attributes, standsForNoText);
  const steered = firstText(attributes, holdsControl);
  const open = firstText(attributes, holdsLogin);
  return [
    ...(worn === undefined ? [] : [damaged(field, worn)]),
    ...(none === undefined ? [] : [textOfNone(field, none)]),
    ...(steered === undefined ? [] : unseen(field, steered, CONTROL)),
    ...(open === undefined ? [] : mistakesOfText(field, open)),
  ];
}

/** The same for attributes as JSON text, which is not parsed for it. */
function textOfNoneIn(json: string): string | undefined {
  for (const [, text = ""] of json.matchAll(/:\s*"([^"\\]{2,20})"/g)) if (standsForNoText(text)) return text;
  return undefined;
}

/** The first text in the attributes that is so. No list of texts is made, since nearly every action has attributes. */
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

const DATE_DIGITS =
  /^(?:19[7-9]\d|20\d\d)(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])(?:(?:[01]\d|2[0-3])[0-5]\d(?:[0-5]\d)?)?$/;
const DATE_FORMATS: Readonly<Record<number, string>> = { 8: "yyyyMMdd", 12: "yyyyMMddHHmm", 14: "yyyyMMddHHmmss" };

/** The seconds of 1973 to 5138. */
const LIKELY_FROM = 1e8;
const LIKELY_BELOW = 1e11;

/** What is likely wrong with a time; `now` is that of the check. */
function mistakesOfTime(field: FieldName, value: number | bigint, now: number | undefined): readonly Finding[] {
  if (value < LIKELY_FROM || value >= LIKELY_BELOW) {
    const other = otherTime(value);
    if (other !== undefined) {
      const message = `${field} looks like ${other.what}; the service reads Unix seconds, so ${dated(value)}.`;
      return [{ rule: "looks-like-no-unix-time", ...about(field, String(value)), message, hint: other.hint }];
    }
    const finer = finerUnit(value);
    if (finer !== undefined) {
      const seconds = BigInt(value) / 10n ** BigInt(finer.digits);
      const message = `${field} looks like ${finer.unit}; the service reads seconds.`;
      const hint = `Give ${seconds}, which is ${dated(seconds)}.`;
      return [{ rule: "looks-like-milliseconds", ...about(field, String(value)), message, hint }];
    }
  }
  const far = now === undefined ? undefined : farTime(field, value, now, dated);
  return far === undefined ? NONE : [far];
}

/** What a number may be that is not a likely time, neither in seconds nor in a finer unit. */
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
      hint: "Format the column as date and time before saving it as CSV, or export again.",
    };
  if (time >= 946_684 && time < 4_102_445)
    return { what: "a thousandth of Unix seconds", hint: "Is format: unix-ms declared for a column of seconds?" };
  return undefined;
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

function isTime(value: unknown): value is number | bigint {
  return (typeof value === "number" || typeof value === "bigint") && value > 0;
}

/** A time for a message: as a date where it is one, else as the number it is. */
const dated = (seconds: number | bigint): string => utcText(seconds) ?? String(seconds);

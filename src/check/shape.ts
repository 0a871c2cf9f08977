/** What is wrong, or probably wrong, with one action by itself. */

import { ACTION_NAMES, type ActionName, acceptedFields, actionSpec, isActionName } from "../actions/actions.ts";
import { CONTROL, damageIn, misreadIn, textLooksDamaged, UNSEEN, wordWithLostLetter } from "../actions/damage.ts";
import { type Draft, type FieldSet, itemOf, numberOf, setOf } from "../actions/draft.ts";
import { isJsonObject } from "../actions/exact-number.ts";
import { type FieldKind, type FieldName, type FieldSpec, fieldSpec, isFieldName } from "../actions/fields.ts";
import { isFormulaError, looksMangled, mangledId, standsForNoText } from "../actions/mangled-ids.ts";
import { type Markup, markupIn } from "../actions/markup.ts";
import { about, type Finding } from "../actions/problem.ts";
import { recordOf } from "../actions/schemas.ts";
import { cleanText, quoted } from "../actions/text.ts";
import { NONE, validateItem } from "../actions/validate.ts";
import { mistakesOfSpan, mistakesOfTime } from "./times.ts";
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
  url: inText((field, value) => {
    const markup = markupIn(value);
    const holdsEntity = markup?.found.startsWith("&") === true;
    return [...(holdsEntity ? [marked(field, value, markup)] : NONE), ...mistakesOfUrl(field, value)];
  }),
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
  findings.push(...mistakesOfSpan(data.startTime, data.endTime));
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
  const markup = damageIn(value) === undefined ? markupIn(value) : undefined;
  if (markup !== undefined) return marked(field, value, markup);
  return {
    rule: "text-looks-damaged",
    ...about(field, value),
    message: `${field} holds ${describeDamage(value)}.`,
    hint: "Export again as UTF-8, and check that --encoding, or the encoding of the source, is the file's.",
  };
}

/** Markup in what becomes public, with the text that is meant. */
function marked(field: FieldName, value: string, { found, decoded, coding }: Markup): Finding {
  const step = coding === undefined ? "Export it decoded." : `Add decode: ${coding} to its value, or export it so.`;
  return {
    rule: "text-looks-damaged",
    ...about(field, value),
    message: `${field} holds ${cleanText(found, 20)}, which is code and no text.`,
    hint: `It means ${quoted(decoded, 80)}. ${step}`,
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

function describeDamage(value: string): string {
  const found = damageIn(value) ?? misreadIn(value);
  if (found === undefined)
    return `${cleanText(wordWithLostLetter(value) ?? "", 40)}, with a question mark for a letter`;
  return found === "\ufffd"
    ? "U+FFFD, which marks a lost character"
    : `${found}, as ${damageIn(value) === undefined ? "another alphabet" : "UTF-8"} that was read in another encoding`;
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
  // Escapes belong to JSON.
  const worn = firstText(attributes, (text) =>
    textLooksDamaged(typeof attributes === "string" ? text.replace(/\\./g, "") : text),
  );
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

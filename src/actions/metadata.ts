/** `metadataAttributes`: a list of `{trait_type, value, display_type?}`, also as JSON in a text. */

import { ExactNumber, isJsonObject, typeName } from "./exact-number.ts";
import type { MetadataAttribute } from "./fields.ts";
import { duplicateKey, parseJson, stringifyJson } from "./json.ts";
import type { Fault, JsonSchema, Kind } from "./kind.ts";
import { flawInWords } from "./likely.ts";

const KEYWORDS = {
  type: "array",
  items: {
    type: "object",
    properties: {
      trait_type: { type: "string" },
      value: { type: ["string", "number", "boolean"] },
      display_type: { type: "string" },
    },
    required: ["trait_type", "value"],
    additionalProperties: false,
  },
} satisfies JsonSchema;
const KEYS: ReadonlySet<string> = new Set(Object.keys(KEYWORDS.items.properties));

export const METADATA: Kind = {
  ordinary: (text) => (isWritten(text) ? text : AS_JSON.test(text) ? writeAttributes(JSON.parse(text)) : undefined),
  ordinaryValue: (value) => {
    if (typeof value !== "string") return writeAttributes(value);
    return isWritten(value) ? JSON.stringify(value) : undefined;
  },
  read: (text) => {
    const list = parseAttributes(text);
    const isDeep = Array.isArray(list) && !list.every(isFlat);
    return isDeep ? invalid("has an attribute that holds a list or an object") : list;
  },
  judge: (value) => {
    if (typeof value !== "string") return faultOfList(value);
    const list = parseAttributes(value);
    if ("hint" in list) return list;
    // A pointer leads into the JSON that was sent, not into JSON inside one of its texts.
    const { inside: _, ...fault } = faultOfList(list) ?? {};
    return "rule" in fault ? fault : undefined;
  },
  keywords: {
    anyOf: [KEYWORDS, { type: "string", minLength: 2, contentMediaType: "application/json", contentSchema: KEYWORDS }],
  },
  canonical: (json) => {
    if (IN_ORDER.test(json)) return json;
    const value = parseJson(json);
    const list = typeof value === "string" ? parsedOr(value) : value;
    return stringifyJson(Array.isArray(list) ? list.map(inOrderOfKeys) : list);
  },
};

const invalid = (what: string, inside?: string): Fault => ({
  rule: "metadata-invalid",
  ...(inside !== undefined && { inside }),
  what,
  hint: 'Write [{"trait_type":"Row","value":"A"}].',
});

// ---- the hot path ----

/** A list as programs write it, without blanks and escapes, is taken as it stands: its numbers are as JavaScript writes them. */
const WRITTEN = listOf({
  text: String.raw`"[^"\\\x00-\x1f]*"`,
  number: String.raw`(?:-?(?:[1-9]\d{0,8}(?:\.\d{0,5}[1-9])?|0\.\d{0,4}[1-9])|0)`,
  blank: "",
  orders: ["tv", "tvd"],
});
/** Any other spelling of it, and any order of keys, each of them once; of numbers those that `JSON.parse` reads exactly. */
const AS_JSON = listOf({
  text: String.raw`"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"`,
  number: String.raw`-?(?:0|[1-9]\d{0,8})(?:\.\d{1,6})?`,
  blank: String.raw`[ \t\r\n]*`,
  orders: ["tv", "tvd", "vt", "vtd", "tdv", "vdt", "dtv", "dvt"],
});

interface Spelling {
  readonly text: string;
  readonly number: string;
  readonly blank: string;
  /** Of the initials of the keys. */
  readonly orders: readonly string[];
}

function listOf({ text, number, blank, orders }: Spelling): RegExp {
  const member = (name: string, value: string): string => `"${name}"${blank}:${blank}${value}${blank}`;
  const members: Readonly<Record<string, string>> = {
    t: member("trait_type", text),
    v: member("value", `(?:${text}|${number}|true|false)`),
    d: member("display_type", text),
  };
  const bodies = orders.map((order) => Array.from(order, (key) => members[key]).join(`,${blank}`));
  const attribute = `${blank}\\{${blank}(?:${bodies.join("|")})\\}${blank}`;
  return new RegExp(`^${blank}\\[(?:${attribute}(?:,${attribute})*|${blank})\\]${blank}$`);
}

/** What programs write for no text, at the beginning of a text in the list or as the whole of it. */
const MAY_BE_NONE = /"(?:#|Err:|\(null|\[object|(?:null|NULL|nan|NaN|undefined)")/;

/**
 * Whether all texts of a list without escapes are fit to be read: what is looked for in one is looked for in the whole. But
 * percents are looked for only where no address is.
 */
const areAllWords = (json: string): boolean =>
  !MAY_BE_NONE.test(json) && !(json.includes("%") && json.includes("://")) && flawInWords(json) === undefined;

const isWritten = (text: string): boolean => WRITTEN.test(text) && text.isWellFormed() && areAllWords(text);

function writeAttributes(list: unknown): string | undefined {
  if (!Array.isArray(list) || !list.every(isOrdinary)) return undefined;
  const json = JSON.stringify(list);
  return json.includes("\\") || areAllWords(json) ? json : undefined;
}

/** Whether it breaks no rule; one whose JSON has escapes also has no likely mistake. */
function isOrdinary(attribute: unknown): boolean {
  if (attributeFault(attribute) !== undefined) return false;
  return Object.values(Object(attribute)).every(
    (value) =>
      typeof value === "boolean" ||
      Number.isFinite(value) ||
      (typeof value === "string" && (!JSON.stringify(value).includes("\\") || flawInWords(value) === undefined)),
  );
}

// ---- the exact rules ----

/** The list that a text says in JSON, whatever it holds, or why it says none. */
function parseAttributes(text: string): readonly MetadataAttribute[] | Fault {
  let list: unknown;
  try {
    list = parseJson(text);
  } catch {
    return invalid("is text that is not JSON");
  }
  if (!Array.isArray(list)) return invalid(`is JSON text of ${typeName(list)}, not a list of attributes`);
  const twice = duplicateKey(text, list);
  if (twice === undefined) return list;
  return {
    rule: "json-duplicate-key",
    what: `has the key ${stringifyJson(twice)} twice`,
    hint: "Remove one of the two.",
  };
}

/** Whether an attribute holds plain values only. */
const isFlat = (attribute: unknown): boolean =>
  typeof attribute !== "object" ||
  attribute === null ||
  !Object.values(attribute).some((value) => isJsonObject(value) || Array.isArray(value));

function faultOfList(list: unknown): Fault | undefined {
  if (!Array.isArray(list)) return invalid(`is ${typeName(list)}, not a list of attributes`);
  for (const [at, attribute] of list.entries()) {
    const fault = attributeFault(attribute);
    if (fault !== undefined) return invalid(`attribute ${at + 1} ${fault}`, `/${at}`);
  }
  return undefined;
}

function attributeFault(attribute: unknown): string | undefined {
  if (!isJsonObject(attribute)) return `is ${typeName(attribute)}, not an object`;
  const stranger = Object.keys(attribute).find((key) => !KEYS.has(key));
  if (stranger !== undefined)
    return `has an unknown key ${stringifyJson(stranger)}; there are trait_type, value and display_type`;
  const { trait_type, value, display_type } = attribute;
  if (typeof trait_type !== "string") return "has no trait_type that is text";
  if (!["string", "number", "bigint", "boolean"].includes(typeof value) && !(value instanceof ExactNumber))
    return "has no value that is text or a number";
  if (value instanceof ExactNumber && value.isHuge) return "has a value that is too large a number";
  if (![trait_type, value, display_type].every((each) => typeof each !== "string" || each.isWellFormed()))
    return "holds half of a surrogate pair, which is not a character";
  if (display_type !== undefined && typeof display_type !== "string") return "has a display_type that is not text";
  return undefined;
}

// ---- one spelling ----

const TEXT = String.raw`"(?:[^"\\]|\\.)*"`;
/** A list of attributes whose keys are in their order, as nearly all are. */
const IN_ORDER = new RegExp(
  String.raw`^\[(?:\{"trait_type":${TEXT},"value":(?:${TEXT}|[\w.+-]+)(?:,"display_type":${TEXT})?\},?)*\]$`,
);

function inOrderOfKeys(attribute: unknown): unknown {
  if (!isJsonObject(attribute)) return attribute;
  const { trait_type, value, display_type, ...others } = attribute;
  const sorted = Object.entries(others).sort(([a], [b]) => (a < b ? -1 : 1));
  return { trait_type, value, display_type, ...Object.fromEntries(sorted) };
}

function parsedOr(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}

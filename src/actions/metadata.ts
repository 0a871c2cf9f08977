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
/** Types of a value, beside numbers that are kept as their text. */
const PLAIN: ReadonlySet<string> = new Set(["string", "number", "bigint", "boolean"]);

export const METADATA: Kind = {
  ordinary: (text) => asOrdinary(parseAttributes(text)),
  ordinaryValue: (value) => {
    if (typeof value !== "string") return asOrdinary(value);
    return asOrdinary(parseAttributes(value)) === undefined ? undefined : JSON.stringify(value);
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
    const list = typeof value === "string" ? parseAttributes(value) : value;
    return Array.isArray(list) ? stringifyJson(list.map(inOrderOfKeys)) : json;
  },
};

const invalid = (what: string, inside?: string): Fault => ({
  rule: "metadata-invalid",
  ...(inside !== undefined && { inside }),
  what,
  hint: 'Write [{"trait_type":"Row","value":"A"}].',
});

/** The JSON of a list that breaks no rule and whose texts have no likely mistake. */
function asOrdinary(list: unknown): string | undefined {
  if (!Array.isArray(list) || faultOfList(list) !== undefined) return undefined;
  return list.every(isInWords) ? stringifyJson(list) : undefined;
}

const isInWords = (attribute: object): boolean =>
  Object.values(attribute).every((value) => typeof value !== "string" || flawInWords(value) === undefined);

/** The list that a text says in JSON, whatever it holds, or why it says none. */
function parseAttributes(text: string): readonly MetadataAttribute[] | Fault {
  let list: unknown;
  try {
    list = parseJson(text);
  } catch {
    return invalid("is text that is not JSON");
  }
  if (!Array.isArray(list)) return invalid(`is JSON text of ${typeName(list)}, not a list of attributes`);
  // A key that stood twice would be missing from what is written back.
  const twice = stringifyJson(list) === text ? undefined : duplicateKey(text, list);
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

const isHalf = (value: unknown): boolean => typeof value === "string" && !value.isWellFormed();

function attributeFault(attribute: unknown): string | undefined {
  if (!isJsonObject(attribute)) return `is ${typeName(attribute)}, not an object`;
  const stranger = Object.keys(attribute).find((key) => !KEYS.has(key));
  if (stranger !== undefined)
    return `has an unknown key ${stringifyJson(stranger)}; there are trait_type, value and display_type`;
  const { trait_type, value, display_type } = attribute;
  if (typeof trait_type !== "string") return "has no trait_type that is text";
  if (!PLAIN.has(typeof value) && !(value instanceof ExactNumber)) return "has no value that is text or a number";
  if (value instanceof ExactNumber && value.isHuge) return "has a value that is too large a number";
  if (isHalf(trait_type) || isHalf(value) || isHalf(display_type))
    return "holds half of a surrogate pair, which is not a character";
  if (display_type !== undefined && typeof display_type !== "string") return "has a display_type that is not text";
  return undefined;
}

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

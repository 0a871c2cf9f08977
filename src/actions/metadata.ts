/** `metadataAttributes`: a list of `{trait_type, value, display_type?}`, also as JSON in a text. */

import { ExactNumber, isJsonObject, typeName } from "./exact-number.ts";
import type { MetadataAttribute } from "./fields.ts";
import { parseJson, surveyJson } from "./json.ts";
import type { Fault } from "./problem.ts";

const LIST = {
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
};
const KEYS: ReadonlySet<string> = new Set(Object.keys(LIST.items.properties));
/** Types of a value, beside numbers that are kept as their text. */
const PLAIN: ReadonlySet<string> = new Set(["string", "number", "boolean"]);

/** Its row in the table of kinds. */
export const METADATA = {
  read: (text: string): readonly MetadataAttribute[] | Fault => {
    const list = parseList(text);
    if (typeof list === "string") return invalid(list);
    return list.every(isFlat)
      ? (faultOfKeys(text, list) ?? list)
      : invalid("has an attribute that holds a list or an object");
  },
  judge: (value: unknown): Fault | undefined => {
    if (typeof value !== "string") return faultOfList(value);
    const list = parseList(value);
    if (typeof list === "string") return invalid(list);
    // A pointer leads into the JSON that was sent, not into JSON inside one of its texts.
    const { inside: _, ...fault } = faultOfList(list) ?? faultOfKeys(value, list) ?? {};
    return "rule" in fault ? fault : undefined;
  },
  keywords: {
    anyOf: [LIST, { type: "string", minLength: 2, contentMediaType: "application/json", contentSchema: LIST }],
  },
  canonical: (json: string): string => {
    if (IN_ORDER.test(json)) return json;
    const value = parseJson(json);
    const list = typeof value === "string" ? parseList(value) : value;
    return Array.isArray(list) ? JSON.stringify(list.map(inOrderOfKeys)) : json;
  },
};

function invalid(what: string, inside?: string): Fault {
  const hint = 'Write [{"trait_type":"Row","value":"A"}].';
  return { rule: "metadata-invalid", ...(inside !== undefined && { inside }), what, hint };
}

/** The list that a text says in JSON, whatever it holds, or why it says none. */
function parseList(text: string): readonly MetadataAttribute[] | string {
  try {
    const list = parseJson(text);
    return Array.isArray(list) ? list : `is JSON text of ${typeName(list)}, not a list of attributes`;
  } catch {
    return "is text that is not JSON";
  }
}

/** Whether an attribute holds plain values only. */
const isFlat = (attribute: unknown): boolean =>
  !Object.values(Object(attribute)).some((value) => isJsonObject(value) || Array.isArray(value));

/** A key that stood twice would be missing from what is written back. */
function faultOfKeys(text: string, list: readonly MetadataAttribute[]): Fault | undefined {
  const twice = JSON.stringify(list) === text ? undefined : surveyJson(text).duplicate;
  if (twice === undefined) return undefined;
  const what = `has the key ${JSON.stringify(twice)} twice`;
  return { rule: "json-duplicate-key", what, hint: "Remove one of the two." };
}

function faultOfList(list: unknown): Fault | undefined {
  if (!Array.isArray(list)) return invalid(`is ${typeName(list)}, not a list of attributes`);
  for (let at = 0; at < list.length; at += 1) {
    const fault = attributeFault(list[at]);
    if (fault !== undefined) return invalid(`attribute ${at + 1} ${fault}`, `/${at}`);
  }
  return undefined;
}

function attributeFault(attribute: unknown): string | undefined {
  if (!isJsonObject(attribute)) return `is ${typeName(attribute)}, not an object`;
  for (const key of Object.keys(attribute))
    if (!KEYS.has(key))
      return `has an unknown key ${JSON.stringify(key)}; there are trait_type, value and display_type`;
  const { trait_type, value, display_type } = attribute;
  if (typeof trait_type !== "string") return "has no trait_type that is text";
  if (!PLAIN.has(typeof value) && !(value instanceof ExactNumber)) return "has no value that is text or a number";
  if (value instanceof ExactNumber && value.isHuge) return "has a value that is too large a number";
  if (isHalf(trait_type) || isHalf(value) || isHalf(display_type))
    return "holds half of a surrogate pair, which is not a character";
  if (display_type !== undefined && typeof display_type !== "string") return "has a display_type that is not text";
  return undefined;
}

/** All texts of a list of attributes, whether it is one or not. */
export function textsOfAttributes(value: unknown): readonly string[] {
  const list = typeof value === "string" ? parseList(value) : value;
  const texts = Array.isArray(list) ? list.flatMap((attribute) => Object.values<unknown>(Object(attribute))) : [];
  return texts.filter((text) => typeof text === "string");
}

const isHalf = (value: unknown): boolean => typeof value === "string" && !value.isWellFormed();

const TEXT = String.raw`"(?:[^"\\]|\\.)*"`;
/** A list of attributes whose keys are in their order, as nearly all are. */
const IN_ORDER = new RegExp(
  String.raw`^\[(?:\{"trait_type":${TEXT},"value":(?:${TEXT}|[\w.+-]+)(?:,"display_type":${TEXT})?\},?)*\]$`,
);

function inOrderOfKeys(attribute: unknown): unknown {
  if (!isJsonObject(attribute)) return attribute;
  const { trait_type, value, display_type, ...others } = attribute;
  return { trait_type, value, display_type, ...others };
}

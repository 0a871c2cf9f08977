/**
 * What ordinary values look like, by a few cheap tests: a value that passes them breaks no rule, has no likely mistake, and is
 * written as JSON by hand. Whatever does not pass is judged by the exact rules, so that a test may refuse too much.
 */

import { isCurrency, isWithdrawnCurrency } from "./currencies.ts";
import { CONTROL, damageIn, textLooksDamaged, UNSEEN } from "./damage.ts";
import { isJsonObject } from "./exact-number.ts";
import { type FieldKind, type FieldName, type FieldSpec, fieldSpec } from "./fields.ts";
import { isRightAddress } from "./formats.ts";
import { looksMangled, standsForNoText } from "./mangled-ids.ts";
import { markupIn } from "./markup.ts";

/** JSON of what is ordinary, else undefined. */
type Ordinary<T> = (value: T) => string | undefined;

const TEXT_KINDS: readonly FieldKind[] = ["id", "text", "url", "currency", "nftId", "price", "wallet", "uuid"];

/** Whether values of the kind are texts in JSON. */
export const holdsText = (kind: FieldKind): boolean => TEXT_KINDS.includes(kind);

/** Of a trimmed text, as cells hold it; `u64` needs a zone and is read elsewhere. */
export function ordinaryText(field: FieldName): Ordinary<string> {
  const spec = fieldSpec(field);
  // An address that is called back must be public as well.
  return field === "callbackUrl" ? none : TEXTS[spec.kind](spec);
}

/** Of a value in an `{action, data}` row. */
export function ordinaryValue(field: FieldName): Ordinary<unknown> {
  const spec = fieldSpec(field);
  const ofText = ordinaryText(field);
  switch (spec.kind) {
    case "u64":
      return (value) => (Number.isSafeInteger(value) && (value as number) >= 0 ? String(value) : undefined); // a number
    case "latitude":
    case "longitude": {
      const limit = LIMITS[spec.kind];
      return (value) => (typeof value === "number" && Math.abs(value) <= limit ? String(value) : undefined);
    }
    case "metadata":
      return (value) => {
        if (typeof value !== "string") return writeAttributes(value);
        return isWritten(value) ? JSON.stringify(value) : undefined;
      };
    default:
      return (value) => {
        if (typeof value !== "string") return undefined;
        return value === "" && spec.default === "" ? '""' : ofText(value);
      };
  }
}

const none = (): undefined => undefined;

const LIMITS = { latitude: 90, longitude: 180 } as const;

/** ASCII that needs no escapes. */
const PLAIN = /^[ !#-[\]-~]+$/;

const formed = (form: RegExp): Ordinary<string> => {
  return (text) => (form.test(text) ? `"${text}"` : undefined);
};

const TEXTS: Readonly<Record<FieldKind, (spec: FieldSpec) => Ordinary<string>>> = {
  id:
    ({ maxLength = 0 }) =>
    (text) =>
      text.length <= maxLength && !looksMangled(text) ? jsonOfName(text) : undefined,
  text:
    ({ maxLength = 0 }) =>
    (text) =>
      text.length <= maxLength ? ordinaryWords(text) : undefined,
  url:
    ({ maxLength = 0 }) =>
    (text) =>
      text.length <= maxLength && URL_FORM.test(text) && markupIn(text) === undefined ? `"${text}"` : undefined,
  currency: () => (text) => (isCurrency(text) && !isWithdrawnCurrency(text) ? `"${text}"` : undefined),
  latitude: () => degrees(LIMITS.latitude),
  longitude: () => degrees(LIMITS.longitude),
  u64: () => none,
  nftId: () => (text) => (NFT_ID.test(text) && !looksMangled(text) ? `"${text}"` : undefined),
  price: () => formed(/^\d+(?:\.\d+)?$/),
  wallet: () => (text) => (LOWER_ADDRESS.test(text) ? `"${text}"` : knownAddress(text)),
  metadata: () => readAttributes,
  uuid: () => formed(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i),
};

/** Ids, of which every character counts. */
function jsonOfName(text: string): string | undefined {
  if (PLAIN.test(text)) return text.charCodeAt(0) > 0x20 ? `"${text}"` : undefined;
  const isSound = text.trim() !== "" && text.isWellFormed() && !UNSEEN.test(text) && damageIn(text) === undefined;
  return isSound ? JSON.stringify(text) : undefined;
}

/** Texts for people. */
export function ordinaryWords(text: string): string | undefined {
  if (!areWords(text)) return undefined;
  return PLAIN.test(text) ? `"${text}"` : JSON.stringify(text);
}

/** Also of a whole list of attributes as JSON: what it asks, it asks of each text in it. */
const areWords = (text: string): boolean =>
  !standsForNoText(text) &&
  !textLooksDamaged(text) &&
  !(text.includes("@") && text.includes("://")) && // which may be a login
  (PLAIN.test(text) || (text.isWellFormed() && !CONTROL.test(text)));

const URL_CHARACTER = "(?:[!$&-;=?-[\\]_a-z~]|%[0-9a-fA-F]{2})";
/** Names of hosts below a top-level domain of letters, and characters that stand for themselves. */
const URL_FORM = new RegExp(
  String.raw`^https?:\/\/(?:(?!xn--)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}(?::\d{1,4})?` +
    `(?:[/?]${URL_CHARACTER}*)?(?:#[a-z/!]${URL_CHARACTER}*)?$`,
);

const NFT_ID = /^[A-Za-z0-9][A-Za-z0-9._:-]*-\d+-\d+$/;

const DEGREES = /^-?\d{1,3}(?:\.\d{1,12})?$/;

function degrees(limit: number): Ordinary<string> {
  return (text) => {
    const value = Number(text);
    return DEGREES.test(text) && Math.abs(value) <= limit ? String(value) : undefined;
  };
}

const LOWER_ADDRESS = /^0x[0-9a-f]{40}$/;
/** Addresses whose checksum was right, as JSON: buyers come back, and a checksum takes 20 µs. */
const known = new Set<string>();
const MOST_KNOWN = 10_000;

function knownAddress(text: string): string | undefined {
  const json = `"${text}"`; // a text of its own: a cell keeps its whole record
  if (known.has(json)) return json;
  if (!isRightAddress(text)) return undefined;
  if (known.size >= MOST_KNOWN) known.clear();
  known.add(json);
  return json;
}

// ---- metadataAttributes ----

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

/** What scripts and spreadsheets write for none, at the beginning of a text in the list or as the whole of it. */
const MAY_BE_NONE = /"(?:#|Err:|Fehler:|\(null|\[object|(?:[Nn]ull|NULL|[Nn]a[Nn]|undefined)")/;

/** Whether all texts of a list without escapes are fit to be read. */
const areAllWords = (json: string): boolean => !MAY_BE_NONE.test(json) && areWords(json);

const isWritten = (text: string): boolean => WRITTEN.test(text) && areAllWords(text);

function readAttributes(text: string): string | undefined {
  if (isWritten(text)) return text;
  return AS_JSON.test(text) ? writeAttributes(JSON.parse(text)) : undefined;
}

function writeAttributes(list: unknown): string | undefined {
  if (!Array.isArray(list) || !list.every(isAttribute)) return undefined;
  const json = JSON.stringify(list);
  const isSound = json.includes("\\") ? list.every(holdsWords) : areAllWords(json);
  return isSound ? json : undefined;
}

function isAttribute(attribute: unknown): boolean {
  if (!isJsonObject(attribute)) return false;
  for (const key of Object.keys(attribute)) {
    const value = attribute[key];
    const isPlain = key === "value" && (typeof value === "boolean" || Number.isFinite(value));
    if (!isPlain && !(MEMBERS.has(key) && typeof value === "string")) return false;
  }
  return attribute.trait_type !== undefined && attribute.value !== undefined;
}

const MEMBERS: ReadonlySet<string> = new Set(["trait_type", "value", "display_type"]);

const holdsWords = (attribute: object): boolean =>
  Object.values(attribute).every((value) => typeof value !== "string" || areWords(value));

/** What a value of each kind must look like: one entry per kind of field. Formats come from "Field types" of the specification. */

import { keccak_256 } from "@noble/hashes/sha3.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import * as z from "zod";
import { COMMON_CURRENCIES, CURRENCY_CODES, isCurrency, isWithdrawnCurrency } from "./currencies.ts";
import { ExactNumber, isJsonObject } from "./exact-number.ts";
import type { FieldKind, FieldSpec } from "./fields.ts";
import { duplicateKey, parseJson, stringifyJson } from "./json.ts";
import { nearest } from "./nearest.ts";
import type { ActionRule } from "./rules.ts";
import { codePoints } from "./text.ts";

/** What is wrong with a value. */
export interface Fault {
  readonly rule: ActionRule;
  /** JSON pointer inside the value, empty for the value itself. */
  readonly inside?: string;
  readonly message: string;
  readonly hint: string;
}

export const U64_MAX = 18446744073709551615n;

const PRICE = /^\d+(\.\d+)?$/;
const EVM_ADDRESS = /^0x[0-9a-fA-F]{40}$/;
const TRAIT_KEYS = new Set(["trait_type", "value", "display_type"]);

/** What JSON Schema can say of a value beside its type, and where: zod can't derive it from checks. */
export type JsonSchema = { readonly [keyword: string]: unknown };

/** The keywords of each schema here; those that have an `id` are defined once and referred to by it. */
export const KEYWORDS = z.registry<JsonSchema>();

/** A check of zod that reports the fault as the `params` of an issue. */
const refusing =
  <T>(faultIn: (value: T) => Fault | undefined): z.core.CheckFn<T> =>
  ({ value, issues }) => {
    const fault = faultIn(value);
    if (fault !== undefined)
      issues.push({ code: "custom", input: value, message: fault.message, params: { ...fault } });
  };

/** What a field's schema says of a value. `safeParse` says the same, at ten times the cost, since it makes an error of it. */
export function faultBy(schema: z.ZodType, value: unknown): Fault | undefined {
  const judged = schema["~standard"].validate(value);
  if (judged instanceof Promise) throw new TypeError("a check of the schema failed");
  const [issue] = (judged.issues ?? []) as readonly z.core.$ZodIssue[]; // zod's own, as it says of this interface
  if (issue === undefined) return undefined;
  // Nothing but text has a type of zod's own; what else is wrong comes from `refusing`.
  return issue.code === "custom" ? (issue.params as unknown as Fault) : wrongType("text", value);
}

type KindSchema = (spec: FieldSpec) => z.ZodType;

const text =
  (faultIn: (value: string) => Fault | undefined, keywords: JsonSchema = {}): KindSchema =>
  (spec) => {
    const isBlankTaken = spec.default === "";
    return z
      .string()
      .check(
        refusing((value) =>
          isBlankTaken && value === "" ? undefined : (notUnicode(value) ?? tooLong(value, spec) ?? faultIn(value)),
        ),
      )
      .register(KEYWORDS, {
        ...(spec.maxLength !== undefined && { maxLength: spec.maxLength }),
        ...(isBlankTaken && "pattern" in keywords ? { anyOf: [{ const: "" }, keywords] } : keywords),
      });
  };

const anything =
  (faultIn: (value: unknown) => Fault | undefined, keywords: JsonSchema): KindSchema =>
  () =>
    z.unknown().check(refusing(faultIn)).register(KEYWORDS, keywords);

/** A text of one form, which is its pattern in JSON Schema, too. */
const formed = (form: RegExp, fault: Fault, pattern: string): KindSchema =>
  text((value) => (form.test(value) ? undefined : fault), { pattern });

const degrees = (rule: "latitude-range" | "longitude-range", limit: number): KindSchema =>
  anything(
    (value) => {
      const isExact = value instanceof ExactNumber;
      if (!isExact && typeof value !== "number" && typeof value !== "bigint") return wrongType("a number", value);
      if (isExact ? value.isWithin(limit) : value >= -limit && value <= limit) return undefined;
      return { rule, message: `is not between -${limit} and ${limit}`, hint: "Give degrees as a decimal number." };
    },
    { type: "number", minimum: -limit, maximum: limit },
  );

const ATTRIBUTES: JsonSchema = {
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

/** The schema of a value of each kind. Null is not its business. */
export const KINDS: Record<FieldKind, KindSchema> = {
  id: formed(/\S/, { rule: "id-empty", message: "is empty", hint: "Give the reference your own system uses." }, "\\S"),
  text: text(() => undefined),
  url: text(urlFault, { pattern: "^[Hh][Tt][Tt][Pp][Ss]?://[^/\\s]\\S*$" }),
  currency: text(currencyFault, { enum: CURRENCY_CODES }),
  latitude: degrees("latitude-range", 90),
  longitude: degrees("longitude-range", 180),
  u64: anything(u64Fault, { type: "integer", minimum: 0 }),
  nftId: formed(
    /^\S+-\d+-\d+$/,
    {
      rule: "nft-id-invalid",
      message: "is not of the form <CHAIN>-<number>-<number>",
      hint: "Use the nftId that the service made, or name the ticket by ticketId.",
    },
    "^\\S+-[0-9]+-[0-9]+$",
  ),
  price: text(priceFault, { pattern: "^[0-9]+(\\.[0-9]+)?$" }),
  wallet: text(walletFault, { anyOf: [{ pattern: "^0x[0-9a-fA-F]{40}$" }, { pattern: "^(?!0[xX])\\S+$" }] }),
  metadata: anything(metadataFault, {
    anyOf: [
      ATTRIBUTES,
      { type: "string", minLength: 2, contentMediaType: "application/json", contentSchema: ATTRIBUTES },
    ],
  }),
  uuid: formed(
    /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i,
    {
      rule: "uuid-invalid",
      message: "is not a UUID",
      hint: "Give the template's id, such as 6f1c2a52-7a41-4c0e-9d3e-52e0f6a1b0c7.",
    },
    "^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$",
  ),
};

function tooLong(value: string, { maxLength }: FieldSpec): Fault | undefined {
  if (maxLength === undefined || value.length <= maxLength) return undefined;
  const length = codePoints(value);
  if (length <= maxLength) return undefined;
  return {
    rule: "too-long",
    message: `has ${length} characters, ${maxLength} are allowed`,
    hint: "Shorten it in the export or the mapping.",
  };
}

/** Half a surrogate pair is no character: in UTF-8 it would arrive as another text, and two ids as one. */
function notUnicode(value: string): Fault | undefined {
  if (value.isWellFormed()) return undefined;
  return {
    rule: "text-not-unicode",
    message: "holds half of a surrogate pair, which is not a character",
    hint: "Export again: the text was cut or decoded wrongly before it came here.",
  };
}

function wrongType(expected: "text" | "a number" | "a whole number", value: unknown): Fault {
  const hint =
    expected === "text" ? 'Write it in double quotes, as "12.50".' : "Write it in digits, without quotes around them.";
  return { rule: "field-type", message: `is ${typeName(value)}, not ${expected}`, hint };
}

export function typeName(value: unknown): string {
  if (value === null) return "null";
  if (value === undefined) return "missing";
  if (Array.isArray(value)) return "a list";
  if (value instanceof ExactNumber) return "a number";
  switch (typeof value) {
    case "string":
      return "text";
    case "number":
    case "bigint":
      return "a number";
    case "boolean":
      return `${value}`;
    default:
      return "an object";
  }
}

function urlFault(value: string): Fault | undefined {
  if (isHttpUrl(value)) return undefined;
  const hint = /\s/.test(value.trim())
    ? "A blank inside a URL is written %20."
    : "Write it in full, such as https://example.com/a.png.";
  return { rule: "url-invalid", message: "is not an http or https URL", hint };
}

export function isHttpUrl(value: string): boolean {
  // Not `URL.canParse`: once it is compiled, Node 22 calls what has letters such as ü invalid.
  const parsed = URL.parse(value);
  // The parser would drop blanks and control characters silently, so what is registered would not be what was checked.
  return (
    parsed !== null &&
    /^https?:$/.test(parsed.protocol) &&
    !/[\s\p{Cc}]/u.test(value) &&
    /^https?:\/\/[^/]/i.test(value)
  );
}

function currencyFault(value: string): Fault | undefined {
  if (isWithdrawnCurrency(value))
    return {
      rule: "currency-withdrawn",
      message: "is not in the current ISO 4217 list",
      hint: "Check that the prices are in this currency, and that the service takes it.",
    };
  if (isCurrency(value)) return undefined;
  const known = nearest(value, COMMON_CURRENCIES);
  return {
    rule: "currency-unknown",
    message: value.length === 3 ? "is not an ISO 4217 currency code" : "is not a currency code of exactly 3 characters",
    hint: known === undefined ? "Codes look like EUR, USD, JPY." : `Did you mean ${known}?`,
  };
}

function u64Fault(value: unknown): Fault | undefined {
  if (!(value instanceof ExactNumber) && typeof value !== "number" && typeof value !== "bigint")
    return wrongType("a whole number", value);
  if (typeof value === "bigint" && value >= 0n && value <= U64_MAX) return undefined;
  if (Number.isSafeInteger(value) && Number(value) >= 0) return undefined;
  const isFraction = typeof value === "number" ? value % 1 !== 0 : value instanceof ExactNumber && !value.isWhole;
  const hint = isFraction ? "Unix seconds have no fraction." : `Give Unix seconds, 0 to ${U64_MAX}.`;
  return { rule: "u64-invalid", message: "is not an unsigned 64-bit whole number", hint };
}

const MARKS_DECLARED = "How amounts are written must be declared in the mapping:";

/** What to do about texts that are no price, by the first pattern that fits: never which of two readings is meant. */
const PRICE_HINTS: readonly (readonly [RegExp, string])[] = [
  [/^\d+,\d{1,2}$|^\d{4,},\d+$|^\d+,\d{4,}$/, 'A decimal comma must be declared in the mapping: decimal: ",".'],
  [/^\d{1,3}(?:,\d{3})+\.\d+$/, `${MARKS_DECLARED} thousands: ",".`],
  [/^\d{1,3}(?:\.\d{3})+,\d+$/, `${MARKS_DECLARED} decimal: ",", thousands: ".".`],
  [/^\d{1,3}(?:,\d{3})+$/, `${MARKS_DECLARED} thousands: "," or decimal: ",", whichever the file means.`],
  [/^[^\d.-]/, "Give the digits only; the currency is the event's."],
  [/^-/, "A price is not negative; a refund is an invalidatedTicket."],
  [/^/, "Give digits, and a point before the decimals."],
];

function priceFault(value: string): Fault | undefined {
  if (PRICE.test(value)) return undefined;
  const [, hint = ""] = PRICE_HINTS.find(([pattern]) => pattern.test(value)) ?? [];
  return { rule: "price-invalid", message: "is not a decimal number such as 12.50", hint };
}

function walletFault(value: string): Fault | undefined {
  const invalid = (message: string, hint: string): Fault => ({ rule: "wallet-invalid", message, hint });
  if (isRightAddress(value)) return undefined;
  if (EVM_ADDRESS.test(value))
    return invalid("has a wrong checksum (EIP-55), so one of its characters is wrong", COPY_AGAIN);
  if (/^0x/i.test(value))
    return invalid(`starts with ${value.slice(0, 2)} but is not 0x and 40 hexadecimal digits`, COPY_AGAIN);
  if (/^[0-9a-f]{40}$/i.test(value))
    return invalid(
      "is 40 hexadecimal digits without the 0x before them",
      "Write 0x before them, if they are the address.",
    );
  if (NOTHING.test(value)) return invalid("is a script's word for nothing, not a wallet address", LEAVE_OUT);
  if (value === "" || /\s/.test(value)) return invalid("is not a wallet address", LEAVE_OUT);
  return {
    rule: "wallet-unusual",
    message: "is not an address of the 0x form, so it can't be checked here",
    hint: "Compare it with the wallet before you send it.",
  };
}

const COPY_AGAIN = "Copy the address again from the wallet.";
const LEAVE_OUT = "Leave it out when the address is not known.";

/** What programs write where there is no value. */
const NOTHING = /^(?:null|\(null\)|nil|none|undefined|nan|n\/a|\\n|false|0|-+|\[object Object\])$/i;

/** Whether it is 0x and 40 digits, with a right checksum (EIP-55) where their cases differ. */
export function isRightAddress(address: string): boolean {
  if (!EVM_ADDRESS.test(address)) return false;
  const digits = address.slice(2);
  const lower = digits.toLowerCase();
  if (digits === lower || digits === digits.toUpperCase()) return true;
  return digits === toChecksummed(lower);
}

function toChecksummed(lower: string): string {
  const hash = bytesToHex(keccak_256(utf8ToBytes(lower)));
  return Array.from(lower, (digit, at) =>
    Number.parseInt(hash[at] ?? "0", 16) >= 8 ? digit.toUpperCase() : digit,
  ).join("");
}

const METADATA_HINT = 'Write [{"trait_type":"Row","value":"A"}].';

function metadataFault(value: unknown): Fault | undefined {
  let list = value;
  if (typeof value === "string") {
    try {
      list = parseJson(value);
    } catch {
      return { rule: "metadata-invalid", message: "is text that is not JSON", hint: METADATA_HINT };
    }
    const duplicate = duplicateKey(value, list);
    if (duplicate !== undefined)
      return {
        rule: "json-duplicate-key",
        message: `has the key ${stringifyJson(duplicate)} twice`,
        hint: "Remove one of the two.",
      };
  }
  if (!Array.isArray(list))
    return {
      rule: "metadata-invalid",
      message: `is ${typeof value === "string" ? "JSON text of " : ""}${typeName(list)}, not a list of attributes`,
      hint: METADATA_HINT,
    };
  for (const [at, attribute] of list.entries()) {
    const fault = attributeFault(attribute);
    if (fault === undefined) continue;
    // A pointer leads into the JSON that was sent, not into JSON inside one of its texts.
    const inside = typeof value === "string" ? {} : { inside: `/${at}` };
    return { rule: "metadata-invalid", ...inside, message: `attribute ${at + 1} ${fault}`, hint: METADATA_HINT };
  }
  return undefined;
}

function attributeFault(attribute: unknown): string | undefined {
  if (!isJsonObject(attribute)) return `is ${typeName(attribute)}, not an object`;
  const stranger = Object.keys(attribute).find((key) => !TRAIT_KEYS.has(key));
  if (stranger !== undefined)
    return `has an unknown key ${stringifyJson(stranger)}; there are trait_type, value and display_type`;
  const { trait_type, value, display_type } = attribute;
  if (typeof trait_type !== "string") return `has no trait_type that is text`;
  if (!["string", "number", "bigint", "boolean"].includes(typeof value) && !(value instanceof ExactNumber))
    return `has no value that is text or a number`;
  if (value instanceof ExactNumber && value.isHuge) return `has a value that is too large a number`;
  if (![trait_type, value, display_type].every((each) => typeof each !== "string" || each.isWellFormed()))
    return `holds half of a surrogate pair, which is not a character`;
  if (display_type !== undefined && typeof display_type !== "string") return `has a display_type that is not text`;
  return undefined;
}

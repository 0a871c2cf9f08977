/**
 * The twelve kinds of fields ("Field types" in the specification), one entry each: how a text is read, how a value is
 * judged, and what JSON Schema says of it. Texts, JSON, the sandbox and the docs go by this table; a test holds its
 * columns to the same answer.
 */

import { keccak_256 } from "@noble/hashes/sha3.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import type { ActionRule } from "../rules.ts";
import { COMMON_CURRENCIES, CURRENCY_CODES, isCurrency, isWithdrawnCurrency } from "./currencies.ts";
import { ExactNumber, readDecimal, readDigits, typeName, U64_MAX } from "./exact-number.ts";
import { FIELD_NAMES, type FieldKind, type FieldName, type FieldValue, fieldSpec, recordOf } from "./fields.ts";
import { METADATA } from "./metadata.ts";
import { nearest } from "./nearest.ts";
import type { Fault } from "./problem.ts";
import { BEFORE_1970, readIso, TIME_FAULTS, type ToInstant } from "./times.ts";

/** Rules of texts that no value of JSON breaks. */
type TextRule = "not-clearable" | "time-unreadable" | "time-without-zone" | "time-skipped";

/** Why a text says no value of the field. */
export type TextFault = Fault<ActionRule | TextRule>;

export type JsonSchema = { readonly [keyword: string]: unknown };

interface Kind {
  /** What a text says, or why it says nothing. Without it, the text is the value. */
  readonly read?: (text: string, toInstant: ToInstant) => FieldValue | TextFault;
  /** What is wrong with a value of JSON. Null is not its business. */
  readonly judge: (value: unknown, maxLength: number) => Fault | undefined;
  /** What JSON Schema can say of it. */
  readonly keywords: JsonSchema;
  /** Its JSON in one spelling, where it has several. */
  readonly canonical?: (json: string) => string;
}

export const KINDS: Readonly<Record<FieldKind, Kind>> = {
  id: formed(/\S/, () => fault("id-empty", "is empty", "Give the reference your own system uses.")),
  text: text(() => undefined, {}),
  url: text(urlFault, { pattern: "^[Hh][Tt][Tt][Pp][Ss]?://[^/\\s]\\S*$" }),
  currency: text(currencyFault, { enum: CURRENCY_CODES }),
  latitude: degrees("latitude-range", 90),
  longitude: degrees("longitude-range", 180),
  u64: { read: readTime, judge: u64Fault, keywords: { type: "integer", minimum: 0, maximum: U64_MAX } },
  nftId: formed(/^\S+-[0-9]+-[0-9]+$/, () =>
    fault(
      "nft-id-invalid",
      "is not of the form <CHAIN>-<number>-<number>",
      "Use the nftId that the service made, or name the ticket by ticketId.",
    ),
  ),
  price: { ...formed(/^[0-9]+(\.[0-9]+)?$/, priceFault), canonical: samePrice },
  wallet: {
    ...text(walletFault, { anyOf: [{ pattern: "^0x[0-9a-fA-F]{40}$" }, { pattern: "^(?!0[xX])\\S+$" }] }),
    // The case of an address is a checksum, not a part of it.
    canonical: (json) => (/^"0x/i.test(json) ? json.toLowerCase() : json),
  },
  metadata: METADATA,
  uuid: formed(/^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$/, () =>
    fault("uuid-invalid", "is not a UUID", "Give the template's id, such as 6f1c2a52-7a41-4c0e-9d3e-52e0f6a1b0c7."),
  ),
};

const JUDGES = recordOf(FIELD_NAMES, (name) => {
  const { kind, maxLength = Number.POSITIVE_INFINITY, default: cleared } = fieldSpec(name);
  return { judge: KINDS[kind].judge, maxLength, cleared };
});

/** What is wrong with a value of JSON, warnings included. Null is not this function's business. */
export function faultIn(name: FieldName, value: unknown): Fault | undefined {
  const { judge, maxLength, cleared } = JUDGES[name];
  return value === cleared ? undefined : judge(value, maxLength);
}

// ---- texts ----

/** A kind whose values are texts. */
function text(faultIn: (text: string) => Fault | undefined, keywords: JsonSchema): Kind {
  return {
    judge: (value, maxLength) => {
      if (typeof value !== "string") return wrongType("text", value);
      // Half a surrogate pair is no character: in UTF-8 it would arrive as another text, and two ids as one.
      if (!value.isWellFormed()) return HALF_CHARACTER;
      if (value.length > maxLength && codePoints(value) > maxLength) return tooLong(value, maxLength);
      return faultIn(value);
    },
    keywords: { type: "string", ...keywords },
  };
}

/** A text of one form, which is its pattern in JSON Schema, too. */
function formed(form: RegExp, faultIn: (text: string) => Fault): Kind {
  return text((value) => (form.test(value) ? undefined : faultIn(value)), { pattern: form.source });
}

function fault(rule: ActionRule, what: string, hint: string): Fault {
  return { rule, what, hint };
}

/** Unicode code points are how the service's limits are counted. */
const codePoints = (text: string): number => Array.from(text).length;

const tooLong = (value: string, maxLength: number): Fault =>
  fault(
    "too-long",
    `has ${codePoints(value)} characters, ${maxLength} are allowed`,
    "Shorten it in the export or the mapping.",
  );

const HALF_CHARACTER = fault(
  "text-not-unicode",
  "holds half of a surrogate pair, which is not a character",
  "Export again: the text was cut or decoded wrongly before it came here.",
);

function wrongType(expected: "text" | "a number" | "a whole number", value: unknown): Fault {
  const hint =
    expected === "text" ? 'Write it in double quotes, as "12.50".' : "Write it in digits, without quotes around them.";
  return fault("field-type", `is ${typeName(value)}, not ${expected}`, hint);
}

const URL_CHARACTER = "(?:[!$&-:=?-[\\]_a-z~]|%[0-9a-fA-F]{2})";
/** Names of hosts below a top-level domain of letters, and characters that stand for themselves. */
const USUAL_URL = new RegExp(
  String.raw`^https?:\/\/(?:(?!xn--)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}(?::\d{1,4})?` +
    `(?:[/?]${URL_CHARACTER}*)?(?:#[a-z/!]${URL_CHARACTER}*)?$`,
);
/** Whether a URL is written as nearly all are: it can be parsed, and nothing is wrong with it. */
export const isUsualUrl = (url: string): boolean => USUAL_URL.test(url);

function urlFault(value: string): Fault | undefined {
  if (isUsualUrl(value)) return undefined;
  // Not `URL.canParse`: once it is compiled, Node 22 calls what has letters such as ü invalid.
  const protocol = URL.parse(value)?.protocol;
  // The parser would drop blanks and control characters silently, so what is registered would not be what was checked.
  const isWritten = /^https?:\/\/[^/]/i.test(value) && !/[\s\p{Cc}]/u.test(value);
  if ((protocol === "http:" || protocol === "https:") && isWritten) return undefined;
  const hint = /\s/.test(value.trim())
    ? "A blank inside a URL is written %20."
    : "Write it in full, such as https://example.com/a.png.";
  return fault("url-invalid", "is not an http or https URL", hint);
}

function currencyFault(value: string): Fault | undefined {
  if (isWithdrawnCurrency(value))
    return fault(
      "currency-withdrawn",
      "is not in the current ISO 4217 list",
      "Check that the prices are in this currency, and that the service takes it.",
    );
  if (isCurrency(value)) return undefined;
  const known = nearest(value, COMMON_CURRENCIES);
  return fault(
    "currency-unknown",
    value.length === 3 ? "is not an ISO 4217 currency code" : "is not a currency code of exactly 3 characters",
    known === undefined ? "Codes look like EUR, USD, JPY." : `Did you mean ${known}?`,
  );
}

const MARKS_DECLARED = "How amounts are written must be declared in the mapping:";

/** What to do about texts that are no price, by the first pattern that fits: never which of two readings is meant. */
const PRICE_HINTS: readonly (readonly [RegExp, string])[] = [
  [/^\d+,\d{1,2}$|^\d{4,},\d+$|^\d+,\d{4,}$/, 'A decimal comma must be declared in the mapping: decimal: ",".'],
  [/^\d{1,3}(?:,\d{3})+\.\d+$/, `${MARKS_DECLARED} thousands: ",".`],
  [/^\d{1,3}(?:\.\d{3})+,\d+$/, `${MARKS_DECLARED} decimal: ",", thousands: ".".`],
  [/^\d{1,3}(?:,\d{3})+$/, `${MARKS_DECLARED} thousands: "," or decimal: ",", whichever the file means.`],
  [/^[^\d.-]/, "Give the digits only; the currency is the event's."],
  [/^-/, "A price is not negative; a refund is an invalidatedTicket, by when: {Total: {below: 0}} in the mapping."],
  [/^/, "Give digits, and a point before the decimals."],
];

function priceFault(value: string): Fault {
  const [, hint = ""] = PRICE_HINTS.find(([pattern]) => pattern.test(value)) ?? [];
  return fault("price-invalid", "is not a decimal number such as 12.50", hint);
}

const DECIMAL = /^"0*(\d+?)(?:\.(\d*?)0*)?"$/;

/** `18` of `18.00` and `018`. */
function samePrice(json: string): string {
  const [, whole, fraction = ""] = DECIMAL.exec(json) ?? [];
  if (whole === undefined) return json;
  return fraction === "" ? whole : `${whole}.${fraction}`;
}

// ---- wallets ----

const EVM_ADDRESS = /^0x[0-9a-fA-F]{40}$/;
const COPY_AGAIN = "Copy the address again from the wallet.";
const LEAVE_OUT = "Leave it out when the address is not known.";
/** What programs write where there is no value. */
const NOTHING = /^(?:null|\(null\)|nil|none|undefined|nan|n\/a|\\n|false|0|-+|\[object Object\])$/i;

/** What is certainly wrong with an address that is not a right one, and what to do; otherwise it can't be checked here. */
const WALLET_FAULTS: readonly (readonly [form: RegExp, what: string, hint: string])[] = [
  [EVM_ADDRESS, "has a wrong checksum (EIP-55), so one of its characters is wrong", COPY_AGAIN],
  [/^0x/i, "starts with 0x but is not 0x and 40 hexadecimal digits", COPY_AGAIN],
  [
    /^[0-9a-f]{40}$/i,
    "is 40 hexadecimal digits without the 0x before them",
    "Write 0x before them, if they are the address.",
  ],
  [NOTHING, "is a script's word for nothing, not a wallet address", LEAVE_OUT],
  [/^$|\s/, "is not a wallet address", LEAVE_OUT],
];

function walletFault(value: string): Fault | undefined {
  if (isRightAddress(value)) return undefined;
  const [, what, hint] = WALLET_FAULTS.find(([form]) => form.test(value)) ?? [];
  if (what !== undefined && hint !== undefined) return fault("wallet-invalid", what, hint);
  return fault(
    "wallet-unusual",
    "is not an address of the 0x form, so it can't be checked here",
    "Compare it with the wallet before you send it.",
  );
}

/** Addresses whose checksum was right: buyers come back, and a checksum takes 20 µs. */
const known = new Set<string>();
const MOST_KNOWN = 10_000;

/** Whether it is 0x and 40 digits, with a right checksum (EIP-55) where their cases differ. */
function isRightAddress(address: string): boolean {
  if (!EVM_ADDRESS.test(address)) return false;
  const digits = address.slice(2);
  const lower = digits.toLowerCase();
  if (digits === lower || digits === digits.toUpperCase() || known.has(digits)) return true;
  const hash = bytesToHex(keccak_256(utf8ToBytes(lower)));
  const isRight = Array.from(digits).every((digit, at) => {
    const isUpper = Number.parseInt(hash[at] ?? "0", 16) >= 8;
    return digit === (isUpper ? digit.toUpperCase() : digit.toLowerCase());
  });
  if (known.size >= MOST_KNOWN) known.clear();
  // A text of its own: a cell keeps its whole record.
  if (isRight) known.add(Buffer.from(digits).toString());
  return isRight;
}

// ---- numbers ----

function degrees(rule: "latitude-range" | "longitude-range", limit: number): Kind {
  return {
    read: (text) =>
      readDecimal(text) ??
      fault(
        "field-type",
        "is not a decimal number",
        /^[+-]?\d+,\d+$/.test(text)
          ? "Write a decimal point, not a comma."
          : "Give degrees as a decimal number, such as 52.5163; south and west are negative.",
      ),
    judge: (value) => {
      const isExact = value instanceof ExactNumber;
      if (!isExact && typeof value !== "number") return wrongType("a number", value);
      if (isExact ? value.isWithin(limit) : value >= -limit && value <= limit) return undefined;
      return fault(rule, `is not between -${limit} and ${limit}`, "Give degrees as a decimal number.");
    },
    keywords: { type: "number", minimum: -limit, maximum: limit },
  };
}

const NO_U64 = "is not an unsigned 64-bit whole number";

function u64Fault(value: unknown): Fault | undefined {
  const isExact = value instanceof ExactNumber;
  if (!isExact && typeof value !== "number") return wrongType("a whole number", value);
  if (isExact ? value.isU64 : Number.isSafeInteger(value) && value >= 0) return undefined;
  const isFraction = isExact ? !value.isWhole : value % 1 !== 0;
  return fault(
    "u64-invalid",
    NO_U64,
    isFraction ? "Unix seconds have no fraction." : `Give Unix seconds, 0 to ${U64_MAX}.`,
  );
}

function readTime(text: string, toInstant: ToInstant): number | ExactNumber | TextFault {
  const digits = readDigits(text);
  if (digits !== undefined) return digits;
  const time = readIso(text, toInstant);
  if (typeof time === "number") return time >= 0 ? time : BEFORE_1970;
  if (time !== undefined) return TIME_FAULTS[time];
  if (/^[+-]?[\d.,]+(?:[eE][+-]?\d+)?$/.test(text))
    return fault("u64-invalid", NO_U64, "Give Unix seconds as plain digits; a spreadsheet may have changed them.");
  return {
    rule: "time-unreadable",
    what: "is neither Unix seconds nor a time such as 2026-05-01T20:00:00+02:00",
    hint: 'Declare how the source writes it, such as format: "d.M.yyyy HH:mm" with its zone.',
  };
}

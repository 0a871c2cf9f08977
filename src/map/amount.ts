/** Amounts as text, by their digits; no number is ever made of them. */

import { MappingError, type RulePath } from "./mapping-error.ts";
import { literalPattern } from "./pattern.ts";

export const DECIMAL_MARKS = [".", ","] as const;
export const GROUP_MARKS = [".", ",", " ", "'"] as const;

/** What stands between groups, as a pattern. */
const GROUP_PATTERNS = { ".": "\\.", ",": "[,\\u066c]", " ": "[ \\u00a0\\u202f]", "'": "['’]" } as const;

export interface AmountOptions {
  readonly decimal: (typeof DECIMAL_MARKS)[number] | undefined;
  /** Between groups of three digits, or of two before the last three, as in India. The Arabic mark is a comma. */
  readonly thousands: (typeof GROUP_MARKS)[number] | undefined;
  readonly signs: readonly string[];
  readonly path: RulePath;
}

/**
 * The amount with a decimal point and without grouping marks, a minus before a negative one; undefined when it is not written
 * as declared. Nobody groups an amount that begins with zero, so the mark in `0,250` is a decimal one.
 */
export function compileAmount({
  decimal,
  thousands,
  signs,
  path,
}: AmountOptions): (text: string) => string | undefined {
  const point = decimal ?? (thousands === "." ? "," : ".");
  if (point === thousands) throw new MappingError([...path, "thousands"], "is also the decimal mark");
  if (decimal === undefined && thousands === ".")
    throw new MappingError([...path, "thousands"], "is . while decimal is not declared", 'Add decimal: ",".');
  const group = thousands === undefined ? undefined : GROUP_PATTERNS[thousands];
  const whole =
    group === undefined ? "\\d+" : `[1-9]\\d{0,2}(?:${group}\\d{3})+|[1-9]\\d?(?:${group}\\d\\d)+${group}\\d{3}|\\d+`;
  // Of kr and kr. the longer one must match first, or its point would stay.
  const longestFirst = [...signs].sort((one, other) => other.length - one.length);
  // `12,-` has no decimals.
  const pattern = new RegExp(`^(${whole})(?:${literalPattern(point)}(?:(\\d+)|[-\u2013\u2014]))?$`);
  const isPlain = new RegExp(`^\\d+(?:${literalPattern(point)}\\d+)?$`);
  return (written) => {
    if (isPlain.test(written)) return point === "." ? written : written.replace(point, ".");
    let rest = latinDigits(written).replace(/\u066b/g, point);
    let minus = "";
    if (rest.startsWith("(") && rest.endsWith(")")) {
      minus = "-";
      rest = rest.slice(1, -1).trim();
    }
    rest = withoutSign(rest, longestFirst);
    if (rest.startsWith("-") || rest.startsWith("\u2212")) {
      minus = "-";
      rest = withoutSign(rest.slice(1).trim(), longestFirst);
    }
    if (minus === "" && /\d[-\u2212]$/.test(rest)) {
      minus = "-";
      rest = rest.slice(0, -1);
    }
    const found = pattern.exec(rest);
    if (found === null) return undefined;
    const digits = (found[1] ?? "").replace(/\D/g, "");
    return minus + (found[2] === undefined ? digits : `${digits}.${found[2]}`);
  };
}

function withoutSign(text: string, signs: readonly string[]): string {
  for (const sign of signs) {
    if (text.startsWith(sign)) return text.slice(sign.length).trim();
    if (text.endsWith(sign)) return text.slice(0, -sign.length).trim();
  }
  return text;
}

/** What happens to a remainder: a problem, rounding half up, or one unit more for each of the first parts. */
export const REMAINDERS = ["error", "round", "first"] as const;
export type Remainder = (typeof REMAINDERS)[number];

/** Far above any price; longer texts are refused before they cost time. */
const MOST_DIGITS = 60;

export type Quotient =
  | { readonly kind: "amount"; readonly text: string }
  | { readonly kind: "not-an-amount" | "not-a-divisor" | "does-not-divide" };

/**
 * `amount` in `divisor` equal parts of `places` decimals (default: as many as the amount has), exactly.
 * `part` is the 1-based part that is asked for.
 */
export function divideAmount(
  amount: string,
  divisor: string,
  places: number | undefined,
  remainder: Remainder,
  part: number,
): Quotient {
  const [, whole, fraction = ""] = /^(\d+)(?:\.(\d+))?$/.exec(amount) ?? [];
  if (whole === undefined || amount.length > MOST_DIGITS) return { kind: "not-an-amount" };
  if (!/^\d{1,9}$/.test(divisor) || Number(divisor) === 0) return { kind: "not-a-divisor" };
  const decimals = places ?? fraction.length;
  // amount = units / 10^fraction; a part = quotient / 10^decimals
  const numerator = BigInt(whole + fraction) * 10n ** BigInt(decimals);
  const scale = 10n ** BigInt(fraction.length);
  const denominator = scale * BigInt(divisor);
  let quotient = numerator / denominator;
  const rest = numerator % denominator;
  if (rest !== 0n) {
    if (remainder === "error") return { kind: "does-not-divide" };
    if (remainder === "round") {
      if (rest * 2n >= denominator) quotient += 1n;
    } else {
      if (rest % scale !== 0n) return { kind: "does-not-divide" };
      if (BigInt(part) <= rest / scale) quotient += 1n;
    }
  }
  const digits = quotient.toString().padStart(decimals + 1, "0");
  const border = digits.length - decimals;
  return { kind: "amount", text: decimals === 0 ? digits : `${digits.slice(0, border)}.${digits.slice(border)}` };
}

// ---- digits of any script, read as 0 to 9 ----

/** `٢٠٢٦`, `२०२६` and `２０２６` are 2026. */
export function latinDigits(text: string): string {
  return /[^ -~]/.test(text) ? text.replace(/(?![0-9])\p{Nd}/gu, latinDigit) : text;
}

/** The digits of a script stand in a row, from its zero on. */
function latinDigit(digit: string): string {
  const plain = digit.normalize("NFKC");
  if (/^[0-9]$/.test(plain)) return plain;
  const code = digit.codePointAt(0) ?? 0;
  let zero = code;
  while (code - zero < 9 && /\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero -= 1;
  return String(code - zero);
}

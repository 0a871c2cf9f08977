/** Numbers of JSON by their text, where a number of JavaScript would say something else. */

/**
 * A number whose value would change on the way through a number of JavaScript, such as `18446744073709551615`,
 * `90.0000000000000000000001` and `1e400`. It keeps its text, and `JSON.stringify` writes that text again.
 */
export class ExactNumber {
  /** As JSON writes a number. */
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  toString(): string {
    return this.text;
  }

  toJSON(): unknown {
    return rawJson(this.text);
  }

  /** Whether it is too large for the numbers that most readers of JSON have. */
  get isHuge(): boolean {
    return !Number.isFinite(Number(this.text));
  }

  get isWhole(): boolean {
    return decimalOf(this.text).exponent >= 0;
  }

  /** Whether it is a whole number of 64 bits without a sign. */
  get isU64(): boolean {
    return U64_DIGITS.test(this.text) && BigInt(this.text) <= BigInt(U64_MAX.text);
  }

  /** Whether it lies from `-limit` to `limit`, which is a whole number. */
  isWithin(limit: number): boolean {
    const near = Math.abs(Number(this.text));
    if (near !== limit) return near < limit;
    const { digits, exponent } = decimalOf(this.text);
    return BigInt(digits) <= BigInt(limit) * 10n ** BigInt(-exponent); // a whole one so near would be no ExactNumber
  }
}

export const U64_MAX = new ExactNumber("18446744073709551615");

/** `JSON.rawJSON` of Node >= 22, which TypeScript's library does not declare yet. */
export const rawJson = (JSON as unknown as { readonly rawJSON: (text: string) => unknown }).rawJSON;

/** Whether a parsed value is an object of JSON, and neither a list, null nor a number that keeps its text. */
export function isJsonObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof ExactNumber);
}

/** What a parsed value is, for a sentence. */
export function typeName(value: unknown): string {
  if (value === undefined) return "missing";
  if (value === null || typeof value === "boolean") return String(value);
  if (Array.isArray(value)) return "a list";
  if (typeof value === "string") return "text";
  return isJsonObject(value) ? "an object" : "a number";
}

const U64_DIGITS = /^\d{1,20}$/;
const DIGITS = /^-?\d+$/;

/**
 * What a number of JSON says: a number where that is written out as the same value, else its text; whole numbers of up to 20
 * digits by these alone.
 *
 * @param text a number as JSON writes it.
 */
export function exactNumber(text: string): number | ExactNumber {
  const value = Number(text);
  if (Number.isSafeInteger(value) && DIGITS.test(text)) return value;
  const said = decimalOf(text);
  if (said.exponent >= 0 && said.digits.length + said.exponent <= 20)
    return Number.isSafeInteger(value) ? value : new ExactNumber(said.sign + said.digits + "0".repeat(said.exponent));
  const read = decimalOf(String(value));
  return read.digits === said.digits && read.exponent === said.exponent ? value : new ExactNumber(text);
}

/** `digits * 10^exponent`, without zeros at either end of the digits; none at all for zero. */
interface Decimal {
  readonly sign: string;
  readonly digits: string;
  readonly exponent: number;
}

function decimalOf(text: string): Decimal {
  const [, sign = "", whole = "", fraction = "", power = "0"] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  const all = whole + fraction;
  let start = 0;
  while (all[start] === "0") start += 1;
  let end = all.length;
  while (end > start && all[end - 1] === "0") end -= 1;
  const digits = all.slice(start, end);
  const exponent = digits === "" ? 0 : Number(power) - fraction.length + (all.length - end);
  return { sign, digits, exponent };
}

/** Scripts write small numbers as `-5e-05`. */
const DECIMAL = /^[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** The number that a text says, whatever its spelling; undefined when it says none. */
export function readDecimal(text: string): number | ExactNumber | undefined {
  // JSON has neither a plus nor zeros before the first digit.
  return DECIMAL.test(text) ? exactNumber(text.replace(/^\+/, "").replace(/^(-?)0+(?=\d)/, "$1")) : undefined;
}

const ONLY_DIGITS = /^\d+$/;

/** The same for texts of digits alone, as many as a number of 64 bits has. */
export function readDigits(text: string): number | ExactNumber | undefined {
  if (text.length <= 15) return ONLY_DIGITS.test(text) ? Number(text) : undefined;
  const [, digits] = /^0*(\d{1,20})$/.exec(text) ?? [];
  return digits === undefined ? undefined : exactNumber(digits);
}

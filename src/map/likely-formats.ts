/** The usual ways of writing amounts and times: what messages propose, and what tickets init looks for. */

import { isCurrency } from "../actions/currencies.ts";
import { compileAmount } from "./amount.ts";
import { compileTime } from "./time-format.ts";

export const MARKS: readonly (
  | readonly [".", undefined | "," | "'" | " "]
  | readonly [",", undefined | "." | "'" | " "]
)[] = [
  [".", undefined],
  [".", ","],
  [",", undefined],
  [",", "."],
  [".", "'"],
  [",", " "],
];

const CURRENCY_SIGN = /^(?:[A-Z]{0,3}\p{Sc}|kr\.?|Kč|zł|Ft|lei|Fr\.?|R|RM|Rs\.?|円|元|원|[Ee]uro)$/u;

/** No amount is longer, and the search for signs takes time quadratic in the length. */
const MOST_AMOUNT_TEXT = 100;

/** `$` of `$60.00`, `EUR` of `12,50 EUR`; nothing of `OPN70012`, which is no amount. */
export function signsOf(text: string): readonly string[] {
  if (text.length > MOST_AMOUNT_TEXT) return [];
  const [, before = "", after = ""] =
    /^\(?[-\u2212]?\s*([^\d\s()-]*)\s*[-\u2212]?\d.*?\d?\s*([^\d\s()]*)\)?$/.exec(text) ?? [];
  return [before, after].filter((sign) => CURRENCY_SIGN.test(sign) || isCurrency(sign));
}

export const DATES = [
  "yyyy-MM-dd",
  "d.M.yyyy",
  "d.M.yy",
  "d/M/yyyy",
  "M/d/yyyy",
  "d/M/yy",
  "M/d/yy",
  "d-M-yyyy",
  "M-d-yyyy",
  "yyyy/M/d",
  "d MMM yyyy",
  "d MMMM yyyy",
  "MMM d, yyyy",
  "MMMM d, yyyy",
  "EEE d MMM yyyy",
  "EEE MMM d, yyyy",
  "EEE, d MMM yyyy",
  "EEEE, MMMM d, yyyy",
];

const CLOCKS = ["", " H:mm", " H:mm:ss", " h:mm a", " h:mm:ss a", ", H:mm", ", h:mm a", " H:mm Z", " H:mm:ss Z"];

export const FORMATS: readonly string[] = ["iso", ...DATES.flatMap((date) => CLOCKS.map((clock) => date + clock))];

const compiled = new Map<string, (text: string) => number | bigint | undefined>();

export function readerOf(format: string): (text: string) => number | bigint | undefined {
  let reader = compiled.get(format);
  if (reader === undefined) {
    const read = compileTime({ formats: [format], path: [], zone: "UTC" });
    reader = (text) => {
      const time = read(text);
      return typeof time === "string" ? undefined : time;
    };
    compiled.set(format, reader);
  }
  return reader;
}

/** The common formats that read the text, at most three. */
export function formatsThatRead(text: string): readonly string[] {
  const found = FORMATS.filter((format) => readerOf(format)(text) !== undefined);
  return found.includes("iso") ? ["iso"] : found.slice(0, 3);
}

/** What the text may be as an amount, read in each usual way. */
export const amountsIn = (text: string): readonly number[] =>
  MARKS.flatMap(([decimal, thousands]) => {
    const amount = compileAmount({ decimal, thousands, signs: signsOf(text), path: [] })(text);
    return amount === undefined ? [] : [Number(amount)];
  });

/** The ways of writing amounts that fit the text, as the config declares them; several where more than one fits. */
export function amountsThatRead(text: string): readonly string[] {
  const signs = signsOf(text);
  const sign = signs.length === 0 ? [] : [`sign: [${signs.map((each) => JSON.stringify(each)).join(", ")}]`];
  const known = new Set<string>();
  return MARKS.flatMap(([decimal, thousands]) => {
    const amount = compileAmount({ decimal, thousands, signs, path: [] })(text);
    if (amount === undefined || known.has(amount)) return [];
    known.add(amount);
    const marks = [
      ...(decimal === "," ? ['decimal: ","'] : []),
      ...(thousands === undefined ? [] : [`thousands: ${JSON.stringify(thousands)}`]),
      ...sign,
    ];
    return marks.length === 0 ? [] : [`${marks.join(", ")} reads it as ${amount}`];
  });
}

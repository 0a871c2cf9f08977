/** The usual ways of writing amounts and times: what messages propose, and what tickets init looks for. */

import { isCurrency } from "../actions/currencies.ts";
import type { ExactNumber } from "../actions/exact-number.ts";
import { compileAmount, latinDigits } from "./amount.ts";

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

/** How exports write dates: spreadsheets, databases, JavaScript, WordPress, mail, logs. */
const DATES: readonly string[] = [
  ...["yyyy-MM-dd", "yyyy/M/d", "yyyy.M.d", "d.M.yyyy", "d.M.yy", "d/M/yyyy", "d/M/yy", "M/d/yyyy", "M/d/yy"],
  ...["d-M-yyyy", "M-d-yyyy", "d MMM yyyy", "d MMMM yyyy", "d. MMM yyyy", "d. MMMM yyyy", "d 'de' MMMM 'de' yyyy"],
  ...[
    "d-MMM-yyyy",
    "d-MMM-yy",
    "d/MMM/yyyy",
    "d/MMM/yy",
    "MMM d, yyyy",
    "MMMM d, yyyy",
    "EEE d MMM yyyy",
    "EEE, d MMM yyyy",
  ],
  ...["EEE MMM d yyyy", "EEE MMM d, yyyy", "EEEE, MMMM d, yyyy", "EEEE, d. MMMM yyyy", "EEEE d MMMM yyyy"],
  "yyyy'年'M'月'd'日'",
];

/** What stands behind a date. */
const CLOCKS: readonly string[] = [
  ...["", " H:mm", " H:mm:ss", " H:mm:ss.SSS", " h:mm a", " h:mm:ss a"],
  ...[", H:mm", ", H:mm:ss", ", h:mm a", ", h:mm:ss a"],
  ...[" - H:mm", " - h:mm a", " H:mm Z", " H:mm:ss Z", ":H:mm:ss Z", " H.mm", " H.mm.ss", " H'h'mm", " 'à' H'h'mm"],
  ...[" 'à' H:mm", " 'at' h:mm a", " 'at' h:mm:ss a", " @ h:mm a", " 'um' H:mm", " H:mm 'Uhr'", ", H:mm 'Uhr'"],
  ...[" 'om' H:mm", " 'às' H:mm"],
];

/** The formats that a text shows by itself. */
export const FORMATS: readonly string[] = [
  "iso",
  ...DATES.flatMap((date) => CLOCKS.map((clock) => date + clock)),
  ...["yyyyMMdd'T'HHmmssZ", "yyyyMMdd'T'HHmmss", "EEE MMM d H:mm:ss yyyy", "EEE MMM d H:mm:ss Z yyyy"],
];

/** Of numbers, which may be anything unless their column is known to hold times. */
export const NUMBER_FORMATS: readonly string[] = [
  ...["unix", "unix-ms", "spreadsheet", "yyyyMMdd", "yyyyMMddHHmm", "yyyyMMddHHmmss"],
];

export const isDateFormat = (format: string): boolean => DATES.includes(format);

type ReadAlone = (text: string) => number | ExactNumber | undefined;

const compiled = new Map<string, ReadAlone>();

/** Reads by one format, in UTC where the text names no zone. */
export function readerOf(format: string): ReadAlone {
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

/** A way to read texts as times. */
export interface LikelyTime {
  readonly format: string;
  readonly read: ReadAlone;
  /** How many of the texts it reads. */
  readonly fits: number;
}

/** A first text that is damaged must not hide how the others are written. */
const PROBES = 5;

/** The formats that read most of the texts: several where these can be understood in several ways, such as day and month in either order. */
export function likelyTimes(texts: readonly string[], formats = FORMATS): readonly LikelyTime[] {
  const probes = texts.slice(0, PROBES);
  const counted = formats
    .map((format) => ({ format, read: readerOf(format) }))
    .filter(({ read }) => probes.some((text) => read(text) !== undefined))
    .map(({ format, read }) => ({ format, read, fits: texts.filter((text) => read(text) !== undefined).length }));
  const most = Math.max(0, ...counted.map(({ fits }) => fits));
  const best = counted.filter(({ fits }) => fits === most);
  const iso = best.find(({ format }) => format === "iso");
  if (iso !== undefined) return [iso];
  const understood = new Set<string>();
  return best.filter(({ read }) => {
    const times = texts.map(read).join();
    return !understood.has(times) && understood.add(times);
  });
}

const YEAR = 31_556_952;

/** The formats that read the text of a time. A number counts only where it is a time between 2000 and 2040. */
export function formatsThatRead(text: string): readonly string[] {
  const numbers = likelyTimes([text], NUMBER_FORMATS).filter(({ read }) => {
    const years = Number(read(text)) / YEAR;
    return years >= 30 && years < 70;
  });
  return [...likelyTimes([text]), ...numbers].map(({ format }) => format);
}

/** What the text may be as an amount, read in each usual way. */
export const amountsIn = (text: string): readonly number[] => readingsOf(text).map(({ amount }) => Number(amount));

function readingsOf(text: string) {
  const signs = signsOf(text);
  return MARKS.flatMap(([decimal, thousands]) => {
    const amount = compileAmount({ decimal, thousands, signs, path: [] })(text);
    return amount === undefined ? [] : [{ amount, decimal, thousands }];
  });
}

/** The ways of writing amounts that fit the text, as the config declares them; several where more than one fits. */
export function amountsThatRead(text: string): readonly string[] {
  const sign = signsOf(text).map((each) => JSON.stringify(each));
  const readings = readingsOf(text);
  return readings.flatMap(({ amount, decimal, thousands }, at) => {
    const marks = [
      ...(decimal === "," ? ['decimal: ","'] : latinDigits(text) === text ? [] : ['decimal: "."']),
      ...(thousands === undefined ? [] : [`thousands: ${JSON.stringify(thousands)}`]),
      ...(sign.length === 0 ? [] : [`sign: [${sign.join(", ")}]`]),
    ];
    const isFirst = readings.findIndex((each) => each.amount === amount) === at;
    return isFirst && marks.length > 0 ? [`${marks.join(", ")} reads it as ${amount}`] : [];
  });
}

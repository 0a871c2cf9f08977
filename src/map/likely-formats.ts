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

/** A format, and how it writes 2026-11-27 19:15:03 (a Friday). */
export type FormatSample = readonly [format: string, sample: string];

/** How exports write dates: spreadsheets, databases, JavaScript, WordPress, mail, logs. */
const DATES: readonly FormatSample[] = [
  ["yyyy-MM-dd", "2026-11-27"],
  ["yyyy/M/d", "2026/11/27"],
  ["yyyy.M.d", "2026.11.27"],
  ["d.M.yyyy", "27.11.2026"],
  ["d.M.yy", "27.11.26"],
  ["d/M/yyyy", "27/11/2026"],
  ["d/M/yy", "27/11/26"],
  ["M/d/yyyy", "11/27/2026"],
  ["M/d/yy", "11/27/26"],
  ["d-M-yyyy", "27-11-2026"],
  ["M-d-yyyy", "11-27-2026"],
  ["d MMM yyyy", "27 Nov 2026"],
  ["d MMMM yyyy", "27 November 2026"],
  ["d. MMM yyyy", "27. Nov. 2026"],
  ["d. MMMM yyyy", "27. November 2026"],
  ["d 'de' MMMM 'de' yyyy", "27 de noviembre de 2026"],
  ["d-MMM-yyyy", "27-Nov-2026"],
  ["d-MMM-yy", "27-Nov-26"],
  ["d/MMM/yyyy", "27/Nov/2026"],
  ["MMM d, yyyy", "Nov 27, 2026"],
  ["MMMM d, yyyy", "November 27, 2026"],
  ["EEE d MMM yyyy", "Fri 27 Nov 2026"],
  ["EEE, d MMM yyyy", "Fri, 27 Nov 2026"],
  ["EEE MMM d yyyy", "Fri Nov 27 2026"],
  ["EEE MMM d, yyyy", "Fri Nov 27, 2026"],
  ["EEEE, MMMM d, yyyy", "Friday, November 27, 2026"],
  ["EEEE, d. MMMM yyyy", "Freitag, 27. November 2026"],
  ["EEEE d MMMM yyyy", "vendredi 27 novembre 2026"],
  ["yyyy'年'M'月'd'日'", "2026年11月27日"],
];

/** What stands behind a date. */
const CLOCKS: readonly FormatSample[] = [
  ["", ""],
  [" H:mm", " 19:15"],
  [" H:mm:ss", " 19:15:03"],
  [" H:mm:ss.SSS", " 19:15:03.120"],
  [" h:mm a", " 7:15 PM"],
  [" h:mm:ss a", " 7:15:03 p. m."],
  [", H:mm", ", 19:15"],
  [", H:mm:ss", ", 19:15:03"],
  [", h:mm a", ", 7:15pm"],
  [", h:mm:ss a", ", 7:15:03\u202fPM"],
  [" - H:mm", " - 19:15"],
  [" - h:mm a", " - 7:15 pm"],
  [" H:mm Z", " 19:15 UTC"],
  [" H:mm:ss Z", " 19:15:03 GMT"],
  [":H:mm:ss Z", ":19:15:03 +0000"],
  [" H.mm", " 19.15"],
  [" H.mm.ss", " 19.15.03"],
  [" H'h'mm", " 19h15"],
  [" 'à' H'h'mm", " à 19h15"],
  [" 'à' H:mm", " à 19:15"],
  [" 'at' h:mm a", " at 7:15 PM"],
  [" 'at' h:mm:ss a", " at 7:15:03 PM"],
  [" @ h:mm a", " @ 7:15 pm"],
  [" 'um' H:mm", " um 19:15"],
  [" H:mm 'Uhr'", " 19:15 Uhr"],
  [", H:mm 'Uhr'", ", 19:15 Uhr"],
  [" 'om' H:mm", " om 19:15"],
  [" 'às' H:mm", " às 19:15"],
];

/** The formats that a text shows by itself. */
export const FORMATS: readonly FormatSample[] = [
  ["iso", "2026-11-27 19:15:03 UTC"],
  ...DATES.flatMap(([date, day]) => CLOCKS.map(([clock, time]): FormatSample => [date + clock, day + time])),
  ["yyyyMMdd'T'HHmmssZ", "20261127T191503Z"],
  ["yyyyMMdd'T'HHmmss", "20261127T191503"],
  ["EEE MMM d H:mm:ss yyyy", "Fri Nov 27 19:15:03 2026"],
  ["EEE MMM d H:mm:ss Z yyyy", "Fri Nov 27 19:15:03 UTC 2026"],
];

/** Numbers, which may be anything unless their column is known to hold times. */
export const NUMBER_FORMATS: readonly FormatSample[] = [
  ["unix", "1795806903"],
  ["unix-ms", "1795806903120"],
  ["spreadsheet", "46353.80212"],
  ["yyyyMMdd", "20261127"],
  ["yyyyMMddHHmm", "202611271915"],
  ["yyyyMMddHHmmss", "20261127191503"],
];

const NAMES_OF_DATES: ReadonlySet<string> = new Set(DATES.map(([date]) => date));
export const isDateFormat = (format: string): boolean => NAMES_OF_DATES.has(format);

type ReadAlone = (text: string) => number | bigint | undefined;

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
    .map(([format]) => ({ format, read: readerOf(format) }))
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

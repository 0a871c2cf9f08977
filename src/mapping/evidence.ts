/** What the cells of a column show of how they are written: amounts, times, few or many values. Evidence, not decisions. */

import { compileAmount } from "./amount.ts";
import { parseIso } from "./time.ts";
import { compileTime } from "./time-format.ts";

/** The cells of one column in the rows that were looked at. */
export interface ColumnProfile {
  readonly name: string;
  /** Place in the header, from 0. */
  readonly index: number;
  /** Rows that were looked at. */
  readonly rows: number;
  readonly filled: number;
  /** Texts that are not empty, trimmed, with how often they occur. Complete: the rows are a bounded sample. */
  readonly values: ReadonlyMap<string, number>;
}

export function profileColumn(name: string, index: number, cells: readonly string[]): ColumnProfile {
  const values = new Map<string, number>();
  let filled = 0;
  for (const cell of cells) {
    const text = cell.trim();
    if (text === "") continue;
    filled += 1;
    values.set(text, (values.get(text) ?? 0) + 1);
  }
  return { name, index, rows: cells.length, filled, values };
}

/** Whether every row has a text here that no other row has. */
export function isUnique({ values, filled, rows }: ColumnProfile): boolean {
  return filled === rows && values.size === rows;
}

/** One way to read the amounts of a column. */
export interface AmountReading {
  readonly decimal: "." | ",";
  readonly thousands: string | undefined;
  /** Texts that can be read so. */
  readonly fits: number;
  /** How it reads the example of the evidence. */
  readonly example: string | undefined;
}

export interface AmountEvidence {
  readonly signs: readonly string[];
  /** Ways that read most texts, the best first; several of them when the marks leave it open. */
  readonly readings: readonly AmountReading[];
  /** A text that the readings take differently, else the longest. */
  readonly example: string;
  /** Digits, and at most two or more than three behind a point: nothing to decide. */
  readonly isPlain: boolean;
}

const MARKS: readonly (readonly [".", undefined | "," | "'" | " "] | readonly [",", undefined | "." | "'" | " "])[] = [
  [".", undefined],
  [".", ","],
  [",", undefined],
  [",", "."],
  [".", "'"],
  [",", " "],
];

/** Undefined where less than nine in ten texts are amounts in any way. */
export function amountsOf({ values, filled }: ColumnProfile): AmountEvidence | undefined {
  const texts = [...values.keys()];
  if (texts.length === 0) return undefined;
  const signs = [...new Set(texts.flatMap((text) => signsOf(text)))].slice(0, 5);
  const counted = MARKS.map(([decimal, thousands]) => {
    const read = compileAmount({ decimal, thousands, signs, path: [] });
    return { decimal, thousands, read, fits: texts.filter((text) => read(text) !== undefined).length };
  });
  const most = Math.max(...counted.map(({ fits }) => fits));
  const read = counted.find(({ fits }) => fits === most)?.read;
  if (most === 0 || cellsThat(values, (text) => read?.(text) !== undefined) < filled * 0.9) return undefined;
  const best = counted.filter(({ fits }) => fits === most);
  const longest = texts.reduce((one, other) => (other.length > one.length ? other : one));
  const example = texts.find((text) => new Set(best.map(({ read }) => read(text))).size > 1) ?? longest;
  return {
    signs,
    example,
    readings: withoutRepeats(
      best.map(({ read, ...rest }) => ({ ...rest, example: read(example) })),
      texts,
      best,
    ),
    isPlain: signs.length === 0 && texts.every((text) => /^\d+(?:\.(?:\d{1,2}|\d{4,}))?$/.test(text)),
  };
}

/** Whether every text of the column is an amount when read so. */
export function readsAll(
  { values }: ColumnProfile,
  options: { readonly decimal: string; readonly thousands: string | undefined; readonly signs: readonly string[] },
): boolean {
  const read = compileAmount({ ...options, path: [] });
  return [...values.keys()].every((text) => read(text) !== undefined);
}

/** Of readings that agree on every text only the one that declares least is told. */
function withoutRepeats(
  readings: readonly AmountReading[],
  texts: readonly string[],
  compiled: readonly { readonly read: (text: string) => string | undefined }[],
): readonly AmountReading[] {
  const known = new Set<string>();
  return readings.filter((_reading, at) => {
    const all = JSON.stringify(texts.map((text) => compiled[at]?.read(text)));
    return !known.has(all) && known.add(all);
  });
}

/** How many cells hold a text that is so. */
function cellsThat(values: ReadonlyMap<string, number>, test: (text: string) => boolean): number {
  let cells = 0;
  for (const [text, times] of values) if (test(text)) cells += times;
  return cells;
}

const CURRENCY_SIGN = /^(?:[A-Z]{0,3}\p{Sc}|[A-Z]{3}|kr\.?|Kč|zł|Ft|lei|Fr\.?)$/u;

/** No amount is longer, and looking for its signs takes the square of its length. */
const MOST_AMOUNT_TEXT = 100;

/** `$` of `$60.00`, `EUR` of `12,50 EUR`. */
function signsOf(text: string): readonly string[] {
  if (text.length > MOST_AMOUNT_TEXT) return [];
  const [, before = "", after = ""] =
    /^\(?[-\u2212]?\s*([^\d\s()-]*)\s*[-\u2212]?\d.*?\d?\s*([^\d\s()]*)\)?$/.exec(text) ?? [];
  return [before, after].filter((sign) => CURRENCY_SIGN.test(sign));
}

/** One way to read the times of a column. */
interface TimeReading {
  readonly format: string;
  /** Whether what it reads is in no zone yet. */
  readonly isLocal: boolean;
  /** Whether it says a date only. */
  readonly isDate: boolean;
  readonly fits: number;
  /** The example, as an ISO time of the clock that it names. */
  readonly example: string;
}

export interface TimeEvidence {
  readonly readings: readonly TimeReading[];
  /** A text that the readings take differently, else the first. */
  readonly example: string;
}

const DATES = [
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
const FORMATS: readonly string[] = ["iso", ...DATES.flatMap((date) => CLOCKS.map((clock) => date + clock))];

const compiled = new Map<string, (text: string) => number | bigint | undefined>();

function readerOf(format: string): (text: string) => number | bigint | undefined {
  let reader = compiled.get(format);
  if (reader === undefined) {
    const read = compileTime({
      formats: [format],
      formatPath: [],
      zone: "UTC",
      zonePath: [],
      rollover: undefined,
      rolloverPath: [],
    });
    reader = (text) => {
      const time = read(text);
      return time?.kind === "seconds" ? time.seconds : undefined;
    };
    compiled.set(format, reader);
  }
  return reader;
}

/** Undefined where the texts are no times in any one way. Whole numbers are none: they may be anything. */
export function timesOf({ values, filled }: ColumnProfile): TimeEvidence | undefined {
  const texts = [...values.keys()];
  const [first] = texts;
  if (first === undefined) return undefined;
  // A first text that is damaged must not hide how the others are written.
  const probes = texts.slice(0, 5);
  const readings = FORMATS.filter((format) => probes.some((text) => readerOf(format)(text) !== undefined)).map(
    (format) => {
      const read = readerOf(format);
      return { format, read, fits: texts.filter((text) => read(text) !== undefined).length };
    },
  );
  const most = Math.max(0, ...readings.map(({ fits }) => fits));
  const reader = readings.find(({ fits }) => fits === most)?.read;
  if (most === 0 || cellsThat(values, (text) => reader?.(text) !== undefined) < filled * 0.9) return undefined;
  const best = readings.filter(({ fits }) => fits === most);
  const isIso = best.some(({ format }) => format === "iso");
  const told = isIso ? best.filter(({ format }) => format === "iso") : best;
  const example = texts.find((text) => new Set(told.map(({ read }) => String(read(text)))).size > 1) ?? first;
  return {
    example,
    readings: told.map(({ format, read, fits }) => ({
      format,
      fits,
      isLocal: format === "iso" ? texts.some(isLocalIso) : !format.endsWith(" Z"),
      isDate: DATES.includes(format),
      example: isoOf(read(example)),
    })),
  };
}

/** The common formats that read the text, at most three. */
export function formatsThatRead(text: string): readonly string[] {
  const found = FORMATS.filter((format) => readerOf(format)(text) !== undefined);
  return found.includes("iso") ? ["iso"] : found.slice(0, 3);
}

/** The ways of writing amounts that read the text, as the config declares them; several where it can't be known. */
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

/** Whether every text of the column is a time in this format. */
export function timesFit({ values }: ColumnProfile, format: string): boolean {
  const read = readerOf(format);
  return [...values.keys()].every((text) => read(text) !== undefined);
}

function isLocalIso(text: string): boolean {
  const parsed = parseIso(text);
  return parsed?.kind === "local" && parsed.zone === undefined;
}

function isoOf(seconds: number | bigint | undefined): string {
  return seconds === undefined ? "" : new Date(Number(seconds) * 1000).toISOString().slice(0, 16).replace("T", " ");
}

/** All texts, or all but a few of many, which are then told by their rows. */
function areNearlyAll(texts: readonly string[], pattern: RegExp): boolean {
  const fits = texts.filter((text) => pattern.test(text)).length;
  return fits >= texts.length * (texts.length < 40 ? 1 : 0.95);
}

/** `unix` or `unix-ms` where all texts have the digits of such a time of this century. */
export function unixOf({ values }: ColumnProfile): "unix" | "unix-ms" | undefined {
  const texts = [...values.keys()];
  if (texts.length === 0) return undefined;
  if (areNearlyAll(texts, /^[1-4]\d{9}$/)) return "unix";
  return areNearlyAll(texts, /^[1-4]\d{12}$/) ? "unix-ms" : undefined;
}

/** `H:mm` or `H:mm:ss` where all texts are times of day. */
export function clockOf({ values }: ColumnProfile): string | undefined {
  const texts = [...values.keys()];
  if (texts.length === 0) return undefined;
  if (areNearlyAll(texts, /^\d{1,2}:\d{2}$/)) return "H:mm";
  if (areNearlyAll(texts, /^\d{1,2}:\d{2}:\d{2}$/)) return "H:mm:ss";
  return areNearlyAll(texts, /^\d{1,2}:\d{2} [AaPp][Mm]$/) ? "h:mm a" : undefined;
}

/** Whether texts begin with what an exporter puts before a formula's first character. */
export function hasGuards({ values }: ColumnProfile): boolean {
  return [...values.keys()].some((text) => /^'[=+\-@|%]/.test(text));
}

/** What the cells of one column show, looked at once. Evidence, not decisions. */

import type { ExactNumber } from "../actions/exact-number.ts";
import { NO_TIME } from "../actions/mangled.ts";
import { formOf } from "../actions/marks.ts";
import { readIso } from "../actions/times.ts";
import { compileAmount, latinDigits } from "../map/amount.ts";
import { isDateFormat, likelyTimes, MARKS, readerOf, signsOf } from "../map/likely-formats.ts";
import { namesZone } from "../map/time-format.ts";
import { isIdName, says } from "./header-words.ts";
import { namesTime, timeKindOf } from "./time-words.ts";

/** One way to read the times of a column. */
interface TimeReading {
  readonly format: string;
  /** How many texts can be read this way. */
  readonly fits: number;
  /** The example, as an ISO time of the clock that it names. */
  readonly example: string;
  /** Whether what it reads still needs a zone. */
  readonly isLocal: boolean;
}

/** `clock`: times of day; `unix`: seconds or milliseconds; `serial`: days of a spreadsheet. */
interface Times {
  readonly kind: "date" | "time" | "clock" | "unix" | "serial";
  /** Several where day and month could be either. */
  readonly readings: readonly [TimeReading, ...TimeReading[]];
  /** A text that the readings take differently, else the first. */
  readonly example: string;
}

/** One way to read the amounts of a column. */
interface AmountReading {
  readonly decimal: "." | ",";
  readonly thousands: string | undefined;
  readonly fits: number;
  /** What it makes of the evidence's example. */
  readonly example: string | undefined;
  readonly read: (text: string) => string | undefined;
}

interface Amounts {
  readonly signs: readonly string[];
  /** Ways that read most texts, the best first; several of them when the marks leave it open. */
  readonly readings: readonly [AmountReading, ...AmountReading[]];
  /** A text that the readings take differently, else the longest. */
  readonly example: string;
  /** Texts without a digit, such as Free. */
  readonly words: readonly string[];
}

/** The cells of one column in the rows that were looked at. */
interface Cells {
  readonly name: string;
  /** Place in the header, from 0. */
  readonly index: number;
  /** Rows that were looked at. */
  readonly rows: number;
  readonly filled: number;
  /** Texts that are not empty, trimmed, with how often they occur. Complete: the rows are a bounded sample. */
  readonly values: ReadonlyMap<string, number>;
}

/** All that one column shows. */
export interface Column extends Readonly<ReturnType<typeof columnOf>> {}

/** @param texts - its cells, without blanks around them. */
export function columnOf(name: string, index: number, texts: readonly string[]) {
  const values = new Map<string, number>();
  for (const text of texts) if (text !== "") values.set(text, (values.get(text) ?? 0) + 1);
  const rows = texts.length;
  const filled = texts.filter((text) => text !== "").length;
  const cells: Cells = { name, index, rows, filled, values };
  const all = [...values.keys()];
  const distinct = new Set(all.map(idForm)).size;
  const latin = withLatinDigits(cells);
  const noTime = all.filter((text) => NO_TIME.test(text));
  const times = timesOf(withoutValues(latin, noTime));
  const amounts = times === undefined ? amountsOf(latin) : undefined;
  const isMoney =
    amounts !== undefined &&
    (amounts.signs.length > 0 || areMost(latin, (text) => /[.,]\d\d$/.test(text) || amounts.words.includes(text)));
  const isNumber = areMost(latin, (text) => COUNT.test(text));
  const lists = all.filter((text) => LIST.test(text) && !/^-?\d+,\d+(?:E[+-]?\d+)?$/i.test(text));
  const holdsLists = lists.length > 0 && lists.length * 20 >= values.size;
  const saysSeveral = areMost(cells, isSeveral);
  const isText = times === undefined && !isMoney;
  const areWords = all.every((text) => text.length <= LONGEST_STATUS);
  return {
    ...cells,
    /** How many ids its texts are: those that differ only in how they are written are one. */
    distinct,
    /** Whether every row has an id here that no other row has. */
    isUnique: distinct === rows,
    /** Undefined where they are no times. */
    times,
    /** Texts among the times by which there is none: `0000-00-00 00:00:00`. */
    noTime: times === undefined ? [] : noTime,
    /** What they are the times of, by the name. */
    timeKind: timeKindOf(name),
    /** Whether they are times, or may be although no format reads them. */
    mayBeTime: times !== undefined || (!isMoney && !isNumber && looksLikeTime(latin)),
    /** Undefined where they are no amounts. */
    amounts,
    /** Amounts that could be nothing else: with a sign, or two decimals. */
    isMoney,
    /** Small whole numbers, also as a spreadsheet writes them (`2.0`), or with a minus where something was given back. */
    isNumber,
    /** Likewise, of which one is no 1. */
    isCount: isNumber && all.some((text) => COUNT.test(text) && Number(text) !== 1),
    /** Whether cells hold several values each, with marks between them. */
    holdsLists,
    /** `2 x Adult`, `Adult ×2`. */
    saysSeveral,
    /** An id is short, and is not a time, an amount, an address or an answer to a question. */
    mayBeId: isText && !holdsLists && !holdsEmails(cells) && !saysSeveral && looksLikeId(cells),
    /** A status has few values, none of them times or amounts; in a short file their number says nothing. */
    hasFewValues: isText && areWords && values.size > 0 && values.size <= 30 && (rows < 20 || values.size <= rows / 2),
  };
}

function withLatinDigits(cells: Cells): Cells {
  const values = new Map<string, number>();
  for (const [text, times] of cells.values) {
    const latin = latinDigits(text);
    values.set(latin, (values.get(latin) ?? 0) + times);
  }
  return { ...cells, values };
}

/** As if they were empty. */
function withoutValues(cells: Cells, texts: readonly string[]): Cells {
  const values = new Map([...cells.values].filter(([text]) => !texts.includes(text)));
  return { ...cells, values, filled: cells.filled - cellsThat(cells, (text) => texts.includes(text)) };
}

/** Ids are compared in one form: `007` is `7`. A longer text is none. */
const idForm = (text: string): string =>
  text.length > LONGEST_ID || text.split(" ").length > MOST_WORDS_OF_ID ? text : formOf(`t:${text}`);

const MOST_WORDS_OF_ID = 3;
const LONGEST_ID = 80;
/** A longer text is a remark. */
const LONGEST_STATUS = 50;

const COUNT = /^-?\d{1,3}(?:\.0)?$/;
const LIST = /^\[.*\]$|[^\s,;|]\s*[,;|]\s*[^\s,;|]/;

function cellsThat({ values }: Cells, test: (text: string) => boolean): number {
  let cells = 0;
  for (const [text, times] of values) if (test(text)) cells += times;
  return cells;
}

/** Whether all cells pass the test, or all but a few of many; the few become problems of their rows. */
export function areMost(cells: Cells, test: (text: string) => boolean): boolean {
  const { filled } = cells;
  return filled > 0 && cellsThat(cells, test) >= (filled < 40 ? filled : filled * 0.95);
}

/** Whether texts begin with what an exporter puts before a formula's first character. */
export const hasGuards = ({ values }: Column): boolean => [...values.keys()].some((text) => /^'[=+\-@|%]/.test(text));

export const textIn = (cells: readonly string[], { index }: Column): string => cells[index] ?? "";

/** Numbers and times of day, which may be anything: of those with `true`, only where the column is named like a time. */
const BARE_TIMES: readonly (readonly [Times["kind"], format: string, RegExp, needsName?: true])[] = [
  // From 2014 to 2034.
  ["unix", "unix", /^(?:1[4-9]\d|20[0-3])\d{7}$/],
  ["unix", "unix-ms", /^(?:1[4-9]\d|20[0-3])\d{10}$/],
  ["unix", "unix-ms", /^\/Date\(\d{13}(?:[+-]\d{4})?\)\/$/],
  // From 2000 to 2039.
  ["serial", "spreadsheet", /^(?:3[7-9]|4\d|50)\d{3}(?:[.,]\d+)?$/, true],
  ["date", "yyyyMMdd", /^20[0-3]\d[01]\d[0-3]\d$/, true],
  ["time", "yyyyMMddHHmm", /^20[0-3]\d[01]\d[0-3]\d[0-2]\d[0-5]\d$/, true],
  ["time", "yyyyMMddHHmmss", /^20[0-3]\d[01]\d[0-3]\d[0-2]\d[0-5]\d[0-5]\d$/, true],
  ["clock", "H:mm", /^\d{1,2}:\d{2}$/],
  ["clock", "H:mm:ss", /^\d{1,2}:\d{2}:\d{2}$/],
  ["clock", "h:mm a", /^\d{1,2}:\d{2}\s?[ap]\.?\s?m\.?$/i],
  ["clock", "h:mm:ss a", /^\d{1,2}:\d{2}:\d{2}\s?[ap]\.?\s?m\.?$/i],
  ["clock", "H'h'mm", /^\d{1,2}h\d{2}$/],
  ["clock", "H.mm", /^[0-2]?\d\.[0-5]\d$/, true],
];

/** Undefined where no single format reads nine in ten cells. */
function timesOf(column: Cells): Times | undefined {
  const texts = [...column.values.keys()];
  const [first] = texts;
  if (first === undefined) return undefined;
  const isNamed = says(column.name, "time") && timeKindOf(column.name) !== undefined;
  const bare = BARE_TIMES.find(
    ([, , pattern, needsName]) => (isNamed || !needsName) && areMost(column, (text) => pattern.test(text)),
  );
  if (bare !== undefined) {
    const [kind, format] = bare;
    const example = kind === "clock" ? first : isoOf(readerOf(format)(first));
    return { kind, example: first, readings: [{ format, fits: texts.length, example, isLocal: kind !== "unix" }] };
  }
  const shown = likelyTimes(texts);
  if (shown.length === 0 || cellsThat(column, (text) => shown[0]?.read(text) !== undefined) < column.filled * 0.9)
    return undefined;
  const example = texts.find((text) => new Set(shown.map(({ read }) => String(read(text)))).size > 1) ?? first;
  const [reading, ...others] = shown.map(({ format, read, fits }) => ({
    format,
    fits,
    example: isoOf(read(example)),
    isLocal: format === "iso" ? texts.some(isLocalIso) : !namesZone(format),
  }));
  if (reading === undefined) return undefined;
  const areDates = shown.every(({ format }) => isDateFormat(format));
  return { kind: areDates ? "date" : "time", example, readings: [reading, ...others] };
}

const isLocalIso = (text: string): boolean =>
  readIso(text, (_local, zone) => (zone === undefined ? "no-zone" : "unknown-zone")) === "no-zone";

const isoOf = (seconds: number | ExactNumber | undefined): string =>
  seconds === undefined ? "" : new Date(Number(seconds) * 1000).toISOString().slice(0, 16).replace("T", " ");

/** `27.11. um 19:15`, `27/XI/2026`, `Nov. 27th 2026`. */
const LIKE_A_TIME =
  /\b\d{1,2}[:h]\d{2}\b|\b\d{1,2}[./-] ?(?:\d{1,2}|[IVX]+)(?:[./-](?:\d{2}|\d{4}))?(?![\d./-])|\p{L}{3,}\.? \d{1,2}\D{0,4} \d{4}\b/u;

/** Whether texts that no format reads may be times, by the name of the column or by what they look like. */
const looksLikeTime = (cells: Cells): boolean =>
  !isIdName(cells.name) &&
  areMost(cells, (text) => text.length >= 4 && /\d/.test(text)) &&
  (namesTime(cells.name) || areMost(cells, (text) => text.length <= 60 && LIKE_A_TIME.test(text)));

/** Undefined where fewer than nine in ten of the texts with digits are amounts in any reading, or most have no digit where the name says no price. */
function amountsOf(column: Cells): Amounts | undefined {
  const all = [...column.values.keys()];
  const texts = all.filter((text) => /\d/.test(text));
  const words = all.filter((text) => !/\d/.test(text));
  const withDigits = cellsThat(column, (text) => /\d/.test(text));
  const isPrice = says(column.name, "price", "inAll");
  if ((withDigits * 2 < column.filled && !isPrice) || words.length > MOST_WORDS) return undefined;
  const signs = [...new Set(texts.flatMap((text) => signsOf(text)))].slice(0, 5);
  const counted = MARKS.map(([decimal, thousands]) => {
    const read = compileAmount({ decimal, thousands, signs, path: [] });
    return { decimal, thousands, read, fits: texts.filter((text) => read(text) !== undefined).length };
  });
  const most = Math.max(...counted.map(({ fits }) => fits));
  const best = counted.filter(({ fits }) => fits === most);
  if (most === 0 || cellsThat(column, (text) => best[0]?.read(text) !== undefined) < withDigits * 0.9) return undefined;
  const longest = texts.reduce((one, other) => (other.length > one.length ? other : one));
  const example = texts.find((text) => new Set(best.map(({ read }) => read(text))).size > 1) ?? longest;
  // Of readings that agree on every text, the one that declares least is kept.
  const ways = Map.groupBy(best, ({ read }) => JSON.stringify(texts.map(read))).values();
  const [reading, ...others] = [...ways].flatMap(([way]) =>
    way === undefined ? [] : [{ ...way, example: way.read(example) }],
  );
  if (reading === undefined) return undefined;
  return { signs, example, readings: [reading, ...others], words };
}

/** Of so many words beside amounts the user can say what each means. */
export const MOST_WORDS = 8;

const isSeveral = (text: string): boolean =>
  text.length <= LONGEST_ID && /^\d{1,3} ?[x×] ?\p{L}| [x×] ?\d{1,3}$/u.test(text) && /\p{L}{3}/u.test(text);

const looksLikeId = (cells: Cells): boolean =>
  !says(cells.name, "price", "inAll", "surcharge", "cents", "minorUnits") &&
  !cells.name.includes("?") &&
  areMost(cells, (text) => text.length <= LONGEST_ID && !/[\n\r?]/.test(text) && !/^[$€£]|\d[.,]\d\d$/.test(text));

export const holdsEmails = ({ values }: Cells): boolean => [...values.keys()].every((text) => /^\S+@\S+$/.test(text));

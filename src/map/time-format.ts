/** Times by declared patterns. Strict: a pattern either fits the whole text or not, and day and month are never swapped. */

import { readDigits } from "../actions/exact-number.ts";
import {
  clockSeconds,
  IMPOSSIBLE,
  instantIn,
  offsetSeconds,
  readIso,
  type TimeFault,
  type ToInstant,
} from "../actions/times.ts";
import { zoneOf } from "../actions/zones.ts";
import { MappingError, type RulePath } from "./mapping-error.ts";

/** Unix seconds, or why there are none; undefined when the text has another form. */
type ReadTime = number | bigint | TimeFault | undefined;
type Parse = (text: string, toInstant: ToInstant) => ReadTime;

const DAY = 86400;

const MONTHS = "January February March April May June July August September October November December".split(" ");
/** From the first day of Unix time on. */
const WEEKDAYS = "Thursday Friday Saturday Sunday Monday Tuesday Wednesday".split(" ");
const short = (names: readonly string[]) => names.map((name) => name.slice(0, 3));

/** What the parts of a text say. */
interface Clock {
  year: number;
  month: number;
  day: number;
  hour: number;
  minute: number;
  second: number;
  /** Index among `WEEKDAYS`. */
  weekday: number;
  isAfternoon: boolean;
  /** As it is written. */
  offset: string;
}

/** What a token reads: a number of `least` to `most` digits, or words; what it says; and how it shows the probe. */
type Token = {
  readonly part: keyof Clock | "fraction";
  readonly probe: string;
} & ({ readonly least: number; readonly most: number } | { readonly words: string });

const number = (part: Token["part"], least: number, most: number, probe: string): Token => ({
  part,
  least,
  most,
  probe,
});
const words = (part: Token["part"], pattern: string, probe: string): Token => ({ part, words: pattern, probe });

/** Tokens of a pattern, as in Unicode date patterns. */
const TOKENS: Readonly<Record<string, Token>> = {
  yyyy: number("year", 4, 4, "2011"),
  yy: number("year", 2, 2, "11"),
  MMMM: words("month", MONTHS.join("|"), "March"),
  MMM: words("month", `Sept|${short(MONTHS).join("|")}`, "Mar"),
  MM: number("month", 2, 2, "03"),
  M: number("month", 1, 2, "3"),
  dd: number("day", 2, 2, "04"),
  d: number("day", 1, 2, "4"),
  EEEE: words("weekday", WEEKDAYS.join("|"), "Friday"),
  EEE: words("weekday", short(WEEKDAYS).join("|"), "Fri"),
  HH: number("hour", 2, 2, "05"),
  H: number("hour", 1, 2, "5"),
  hh: number("hour", 2, 2, "05"),
  h: number("hour", 1, 2, "5"),
  mm: number("minute", 2, 2, "06"),
  m: number("minute", 1, 2, "6"),
  ss: number("second", 2, 2, "07"),
  s: number("second", 1, 2, "7"),
  SSS: number("fraction", 1, 9, "000"),
  a: words("isAfternoon", "[AaPp]\\.?[Mm]\\.?", "AM"),
  Z: words("offset", "[Zz]|[+-]\\d{1,2}(?::?\\d{2})?", "+0"),
  ZZ: words("offset", "[Zz]|[+-]\\d{2}:\\d{2}", "+00:00"),
  ZZZ: words("offset", "[Zz]|[+-]\\d{4}", "+0000"),
};
/** A quoted text, a run of one letter, blanks, anything else. */
const PIECES = /'((?:[^']|'')*)'|([A-Za-z])\2*|\s+|[^\sA-Za-z']+/g;

const KEYWORDS: Readonly<Record<string, Parse>> = {
  iso: readIso,
  unix: readDigits,
  "unix-ms": (text) => {
    const milliseconds = readDigits(text);
    if (milliseconds === undefined) return undefined;
    return typeof milliseconds === "number" ? Math.floor(milliseconds / 1000) : milliseconds / 1000n;
  },
};

interface Format {
  readonly name: string;
  readonly parse: Parse;
  /** Whether what it reads still needs a zone. */
  readonly isLocal: boolean;
  /** How it shows the probe; undefined of a keyword. */
  readonly probe: string | undefined;
}

export interface TimeOptions {
  readonly formats: readonly string[];
  /** Where `format` and `rollover` stand. */
  readonly path: RulePath;
  readonly zone?: string | undefined;
  readonly zonePath?: RulePath;
  /** `HH:mm`: earlier times belong to the day after. */
  readonly rollover?: string | undefined;
}

/** Throws `MappingError` for patterns that can't be read, that lack a zone, or that read the same text differently. */
export function compileTime(options: TimeOptions): (text: string) => ReadTime {
  const { path, zonePath = path } = options;
  const formatPath = [...path, "format"];
  const formats = options.formats.map((name, at) =>
    compileFormat(name, options.formats.length === 1 ? formatPath : [...formatPath, at]),
  );
  refuseContradictions(formats, formatPath);
  const zone = options.zone === undefined ? undefined : zoneOf(options.zone);
  if (options.zone !== undefined && zone === undefined)
    throw new MappingError(zonePath, `${options.zone} is not a time zone such as Europe/Berlin or UTC`);
  const lacking = zone === undefined ? formats.find(({ isLocal }) => isLocal) : undefined;
  if (lacking !== undefined)
    throw new MappingError(
      formatPath,
      `times written ${lacking.name} have no zone`,
      "Declare it for the source or the field, such as zone: Europe/Berlin.",
    );
  const toInstant = withRollover(options, instantIn(zone));
  return (text) => {
    let nearly: ReadTime;
    for (const { parse } of formats) {
      const time = parse(text, toInstant);
      if (typeof time === "number" || typeof time === "bigint") return time;
      nearly ??= time;
    }
    return nearly;
  };
}

function withRollover({ rollover, path }: TimeOptions, toInstant: ToInstant): ToInstant {
  if (rollover === undefined) return toInstant;
  const [, hour, minute] = /^(\d{1,2}):(\d{2})$/.exec(rollover) ?? [];
  if (hour === undefined || Number(hour) > 23 || Number(minute) > 59)
    throw new MappingError([...path, "rollover"], `${rollover} is not a time of day such as 06:00`);
  const border = 3600 * Number(hour) + 60 * Number(minute);
  return (local, named) => toInstant(local - DAY * Math.floor(local / DAY) < border ? local + DAY : local, named);
}

/** Reads a part of the text from `at` on, and gives where it ends; -1 where it is not there. */
type Step = (text: string, at: number, clock: Clock) => number;

function compileFormat(name: string, path: RulePath): Format {
  const keyword = Object.hasOwn(KEYWORDS, name) ? KEYWORDS[name] : undefined;
  if (keyword !== undefined) return { name, parse: keyword, isLocal: false, probe: undefined };
  if (name.split("'").length % 2 === 0) throw new MappingError(path, `${name} has a quote that does not end`);
  const pieces: (Token | string)[] = [];
  for (const piece of name.matchAll(PIECES)) {
    const literal = piece[1] === "" ? "'" : piece[1]?.replaceAll("''", "'");
    // Blanks in quotes are blanks as well, and several are as good as one.
    if (/^\s+$/.test(literal ?? piece[0])) {
      if (pieces.at(-1) !== " ") pieces.push(" ");
    } else if (literal !== undefined || piece[2] === undefined) pieces.push(literal ?? piece[0]);
    else pieces.push(tokenOf(piece[0], name, path));
  }
  const tokens = pieces.filter((piece) => typeof piece !== "string");
  checkParts(name, tokens, path);
  const steps = pieces.map((piece, at) => {
    if (piece === " ") return skipBlanks;
    if (typeof piece === "string") return literalStep(piece);
    return "words" in piece ? wordsStep(piece) : numberStep(piece, digitsAtOnce(pieces.slice(at + 1)));
  });
  const has = (part: Token["part"]) => tokens.some((token) => token.part === part);
  return {
    name,
    parse: parseBy(steps, has("isAfternoon"), has("weekday")),
    isLocal: !has("offset"),
    probe: pieces.map((piece) => (typeof piece === "string" ? piece : piece.probe)).join(""),
  };
}

function tokenOf(written: string, name: string, path: RulePath): Token {
  const token = /^S+$/.test(written) ? TOKENS.SSS : Object.hasOwn(TOKENS, written) ? TOKENS[written] : undefined;
  if (token !== undefined) return token;
  throw new MappingError(
    path,
    `${name} is not a time format: ${written} has no meaning in it`,
    `Use ${Object.keys(TOKENS).join(" ")}, text in 'quotes', or one of ${Object.keys(KEYWORDS).join(", ")}.`,
  );
}

function checkParts(name: string, tokens: readonly Token[], path: RulePath): void {
  const parts = tokens.map(({ part }) => part);
  const refuse = (problem: string) => new MappingError(path, `the time format ${name} ${problem}`);
  if (!parts.includes("day")) throw refuse("has no day (d); join the date to it in from");
  if (!parts.includes("month")) throw refuse("has no month (M)");
  if (!parts.includes("year")) throw refuse("has no year (y)");
  if (tokens.some((token) => token === TOKENS.h || token === TOKENS.hh) !== parts.includes("isAfternoon"))
    throw refuse("needs both h and a, or H");
  if (new Set(parts).size !== parts.length) throw refuse("says something twice");
}

const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39;

const skipBlanks: Step = (text, at) => {
  let end = at;
  while (end < text.length && (text.charCodeAt(end) === 0x20 || /\s/.test(text.charAt(end)))) end += 1;
  return end > at ? end : -1;
};

function literalStep(literal: string): Step {
  const lower = literal.toLowerCase();
  return (text, at) => {
    const end = at + literal.length;
    return text.startsWith(literal, at) || text.slice(at, end).toLowerCase() === lower ? end : -1;
  };
}

function wordsStep(token: Extract<Token, { words: string }>): Step {
  const pattern = new RegExp(token.words, "iy");
  const { part } = token;
  return (text, at, clock) => {
    pattern.lastIndex = at;
    const [word] = pattern.exec(text) ?? [];
    if (word === undefined) return -1;
    if (part === "month") clock.month = indexByName(MONTHS, word) + 1;
    else if (part === "weekday") clock.weekday = indexByName(WEEKDAYS, word);
    else if (part === "isAfternoon") clock.isAfternoon = /^p/i.test(word);
    else clock.offset = word;
    return at + word.length;
  };
}

/** How many digits tokens need that follow without anything between, as in `yyyyMMdd`. */
function digitsAtOnce(pieces: readonly (Token | string)[]): number {
  let digits = 0;
  for (const piece of pieces) {
    if (typeof piece === "string" || "words" in piece) break;
    digits += piece.least;
  }
  return digits;
}

function numberStep({ part, least, most }: Extract<Token, { least: number }>, after: number): Step {
  return (text, at, clock) => {
    let end = at;
    while (end < at + most + after && isDigit(text.charCodeAt(end))) end += 1;
    end = Math.min(at + most, end - after);
    if (end < at + least) return -1;
    let value = 0;
    for (let digit = at; digit < end; digit += 1) value = 10 * value + text.charCodeAt(digit) - 0x30;
    if (part === "year") clock.year = most === 2 ? 2000 + value : value;
    else if (part === "month") clock.month = value;
    else if (part === "day") clock.day = value;
    else if (part === "hour") clock.hour = value;
    else if (part === "minute") clock.minute = value;
    else if (part === "second") clock.second = value;
    return end;
  };
}

function indexByName(names: readonly string[], written: string): number {
  const head = written.slice(0, 3).toLowerCase();
  return names.findIndex((name) => name.slice(0, 3).toLowerCase() === head);
}

/** No time is longer. */
const MOST_TIME_TEXT = 200;

function parseBy(steps: readonly Step[], isOfHalfDays: boolean, hasWeekday: boolean): Parse {
  const clock: Clock = {
    ...{ year: 0, month: 0, day: 0, hour: 0, minute: 0, second: 0 },
    ...{ weekday: 0, isAfternoon: false, offset: "" },
  };
  return (text, toInstant) => {
    if (text.length > MOST_TIME_TEXT) return undefined;
    let at = 0;
    for (const step of steps) {
      at = step(text, at, clock);
      if (at === -1) return undefined;
    }
    if (at !== text.length) return undefined;
    let { hour } = clock;
    if (isOfHalfDays) {
      if (hour < 1 || hour > 12) return "impossible";
      hour = (hour % 12) + (clock.isAfternoon ? 12 : 0);
    }
    const local = clockSeconds(clock.year, clock.month, clock.day, hour, clock.minute, clock.second);
    if (local === IMPOSSIBLE) return "impossible";
    // A weekday that is not the date's tells that day and month, or the year, are read wrongly.
    const weekday = Math.floor(local / DAY) % 7;
    if (hasWeekday && (weekday + 7) % 7 !== clock.weekday) return "impossible";
    return clock.offset === "" ? toInstant(local, undefined) : atOffset(local, clock.offset);
  };
}

function atOffset(local: number, written: string): number | TimeFault {
  const [, sign = "+", hours, minutes] = /^([+-])(\d{1,2}):?(\d{2})?$/.exec(written) ?? [];
  const offset = offsetSeconds(sign, hours, minutes);
  return offset === undefined ? "impossible" : local - offset;
}

/** 2011-03-04 05:06:07, whose day could be a month: two patterns that read it differently would leave the order of the list to decide. */
const PROBE_DAY = clockSeconds(2011, 3, 4, 0, 0, 0);

function refuseContradictions(formats: readonly Format[], path: RulePath): void {
  for (const { name, probe } of formats) {
    for (const other of formats) {
      const seconds = probe === undefined ? undefined : other.parse(probe, (local) => local);
      if (typeof seconds !== "number" || Math.floor(seconds / DAY) * DAY === PROBE_DAY) continue;
      throw new MappingError(
        path,
        `${name} and ${other.name} read ${probe} differently`,
        "Which of day and month comes first is declared, never guessed: keep one of them.",
      );
    }
  }
}

/** Times by declared patterns. Strict: a pattern either fits the whole text or not, and day and month are never swapped. */

import { type ExactNumber, readDigits } from "../actions/exact-number.ts";
import { recordOf } from "../actions/fields.ts";
import {
  clockSeconds,
  IMPOSSIBLE,
  instantIn,
  offsetSeconds,
  readIso,
  type TimeFault,
  type ToInstant,
  zoneOf,
} from "../actions/times.ts";
import { latinDigits } from "./amount.ts";
import { calendarNumber } from "./calendar-names.ts";
import { MappingError, type RulePath } from "./mapping-error.ts";
import { literalPattern } from "./pattern.ts";

/** Unix seconds, or why there are none; undefined when the text has another form. */
type ReadTime = number | ExactNumber | TimeFault | undefined;
type Parse = (text: string, toInstant: ToInstant) => ReadTime;

const HOUR = 3600;
const DAY = 86400;

/** What a token of a pattern reads. */
interface Token {
  readonly part: "year" | "month" | "day" | "weekday" | "hour" | "minute" | "second" | "fraction" | "half" | "offset";
  /** A regular expression without groups, ignoring case. */
  readonly reads: string;
  /** How it shows the probe. */
  readonly probe: string;
  /** Of names; undefined of numbers. */
  readonly form: "full" | "short" | undefined;
}

const token = (part: Token["part"], reads: string, probe: string, form?: Token["form"]): Token => {
  return { part, reads, probe, form };
};

/** Of the names of months and weekdays. */
const LETTER = "[a-z\\u00c0-\\u017f\\u0300-\\u036f]";
const ZERO_OFFSET = "z|UTC|GMT";

/** As in Unicode date patterns. */
const TOKENS: Readonly<Record<string, Token>> = {
  yyyy: token("year", "\\d{4}", "2011"),
  yy: token("year", "\\d\\d", "11"),
  MMMM: token("month", `${LETTER}{3,10}`, "March", "full"),
  MMM: token("month", `${LETTER}{3,4}\\.?`, "Mar", "short"),
  MM: token("month", "\\d\\d", "03"),
  M: token("month", "\\d\\d?", "3"),
  dd: token("day", "\\d\\d", "04"),
  d: token("day", "\\d\\d?", "4"),
  EEEE: token("weekday", `${LETTER}{5,10}(?:-feira)?`, "Friday", "full"),
  EEE: token("weekday", `${LETTER}{2,4}\\.?`, "Fri", "short"),
  HH: token("hour", "\\d\\d", "05"),
  H: token("hour", "\\d\\d?", "5"),
  hh: token("hour", "\\d\\d", "05"),
  h: token("hour", "\\d\\d?", "5"),
  mm: token("minute", "\\d\\d", "06"),
  m: token("minute", "\\d\\d?", "6"),
  ss: token("second", "\\d\\d", "07"),
  s: token("second", "\\d\\d?", "7"),
  SSS: token("fraction", "\\d{1,9}", "000"),
  a: token("half", "[ap]\\.?\\s?m\\.?", "AM"),
  Z: token("offset", `(?:(?:UTC|GMT)?[+-]\\d{1,2}(?::?\\d{2})?|${ZERO_OFFSET})(?:\\s*\\([^()]*\\))?`, "+0"),
};
const PARTS = Object.values(TOKENS).map(({ part }) => part);
/** A quoted text, a run of one letter, blanks, anything else. */
const PIECES = /'((?:[^']|'')*)'|([A-Za-z])\2*|\s+|[^\sA-Za-z']+/g;

/** In `'Z'` or `'UTC'` a zone is meant, whatever the source's is. */
const UTC_TEXT = token("offset", ZERO_OFFSET, "Z");

/** 1970-01-01 in the days of a spreadsheet. */
const SPREADSHEET_EPOCH = 25_569;

const KEYWORDS: Readonly<Record<string, Parse>> = {
  iso: readIso,
  unix: readDigits,
  /** Also as .NET writes it in JSON: `/Date(1795803303069)/`. */
  "unix-ms": (text) => {
    const milliseconds = readDigits(/^\/Date\((\d+)(?:[+-]\d{4})?\)\/$/.exec(text)?.[1] ?? text);
    return typeof milliseconds === "number" ? Math.floor(milliseconds / 1000) : undefined;
  },
  /** Days since 1899-12-30, of a clock without a zone, to the nearest second. */
  spreadsheet: (text, toInstant) =>
    /^\d{5}(?:[.,]\d{1,12})?$/.test(text)
      ? toInstant(Math.round((Number(text.replace(",", ".")) - SPREADSHEET_EPOCH) * DAY), undefined)
      : undefined,
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
  /** A known one, of times that name none. */
  readonly zone?: string | undefined;
  /** `H:mm`: earlier times belong to the day after. */
  readonly rollover?: string | undefined;
}

/** Throws `MappingError` for patterns that can't be read, that lack a zone, or that read the same text differently. */
export function compileTime(options: TimeOptions): (text: string) => ReadTime {
  const formatPath = [...options.path, "format"];
  const formats = options.formats.map((name, at) =>
    compileFormat(name, options.formats.length === 1 ? formatPath : [...formatPath, at]),
  );
  refuseContradictions(formats, formatPath);
  const zone = options.zone === undefined ? undefined : zoneOf(options.zone);
  const lacking = zone === undefined ? formats.find(({ isLocal }) => isLocal) : undefined;
  if (lacking !== undefined)
    throw new MappingError(
      formatPath,
      `times written ${lacking.name} have no zone`,
      "Declare it for the source or the field, such as zone: Europe/Berlin.",
    );
  const toInstant = withRollover(options, instantIn(zone));
  return (written) => {
    const text = latinDigits(written);
    let nearly: ReadTime;
    for (const { parse } of formats) {
      const time = parse(text, toInstant);
      if (typeof time === "number" || typeof time === "object") return time;
      nearly ??= time;
    }
    return nearly;
  };
}

/** Whether all that the format reads names its zone. */
export const namesZone = (format: string): boolean => !compileFormat(format, []).isLocal;

function withRollover({ rollover }: TimeOptions, toInstant: ToInstant): ToInstant {
  if (rollover === undefined) return toInstant;
  const [hour, minute] = rollover.split(":");
  const border = HOUR * Number(hour) + 60 * Number(minute);
  return (local, named) => toInstant(local - DAY * Math.floor(local / DAY) < border ? local + DAY : local, named);
}

function compileFormat(name: string, path: RulePath): Format {
  const keyword = Object.hasOwn(KEYWORDS, name) ? KEYWORDS[name] : undefined;
  if (keyword !== undefined) return { name, parse: keyword, isLocal: name === "spreadsheet", probe: undefined };
  if (name.split("'").length % 2 === 0) throw new MappingError(path, `${name} has a quote that does not end`);
  const pieces: (Token | string)[] = [];
  for (const piece of name.matchAll(PIECES)) {
    const literal = piece[1] === "" ? "'" : piece[1]?.replaceAll("''", "'");
    // Blanks in quotes are blanks as well, and several are as good as one.
    if (/^\s+$/.test(literal ?? piece[0])) {
      if (pieces.at(-1) !== " ") pieces.push(" ");
    } else if (literal !== undefined && /^(?:Z|UTC|GMT)$/.test(literal)) pieces.push(UTC_TEXT);
    else if (literal !== undefined || piece[2] === undefined) pieces.push(literal ?? piece[0]);
    else pieces.push(tokenOf(piece[0], name, path));
  }
  const tokens = pieces.filter((piece) => typeof piece !== "string");
  checkParts(name, tokens, path);
  const patterns = pieces.map((piece, at) => {
    if (piece === " ") return mayLackBlankBefore(pieces[at + 1]) ? "\\s*" : "\\s+";
    return typeof piece === "string" ? literalPattern(piece) : `(${piece.reads})`;
  });
  return {
    name,
    parse: parseBy(new RegExp(`^${patterns.join("")}$`, "i"), tokens),
    isLocal: tokens.every(({ part }) => part !== "offset"),
    probe: pieces.map((piece) => (typeof piece === "string" ? piece : piece.probe)).join(""),
  };
}

/** `7:15pm` and `7:15 pm` are written by the same systems. */
const mayLackBlankBefore = (piece: Token | string | undefined): boolean =>
  typeof piece === "object" && (piece.part === "half" || piece.part === "offset");

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
  if (tokens.some((token) => token === TOKENS.h || token === TOKENS.hh) !== parts.includes("half"))
    throw refuse("needs both h and a, or H");
  if (new Set(parts).size !== parts.length) throw refuse("says something twice");
}

/** No time is longer. */
const MOST_TIME_TEXT = 200;

function parseBy(pattern: RegExp, tokens: readonly Token[]): Parse {
  // A token's text is the group at its place. That of a part without a token is behind the last, where there is none.
  const places = recordOf(PARTS, (part) => {
    const at = tokens.findIndex((each) => each.part === part);
    return at === -1 ? tokens.length + 1 : at + 1;
  });
  const formOf = (part: Token["part"]) => tokens[places[part] - 1]?.form;
  const [monthForm, weekdayForm] = [formOf("month"), formOf("weekday")];
  return (text, toInstant) => {
    const found = text.length > MOST_TIME_TEXT ? null : pattern.exec(text);
    if (found === null) return undefined;
    const year = found[places.year] ?? "";
    const month = found[places.month] ?? "";
    const monthNumber = monthForm === undefined ? Number(month) - 1 : calendarNumber("month", monthForm, month);
    const weekday = weekdayForm && calendarNumber("weekday", weekdayForm, found[places.weekday] ?? "");
    if (monthNumber === undefined || (weekdayForm !== undefined && weekday === undefined)) return undefined;
    const written = found[places.hour];
    let hour = Number(written ?? 0);
    const half = found[places.half];
    if (half !== undefined) {
      if (hour < 1 || hour > 12) return "impossible";
      hour = (hour % 12) + (/^p/i.test(half) ? 12 : 0);
    }
    const local = clockSeconds(
      year.length === 2 ? 2000 + Number(year) : Number(year),
      monthNumber + 1,
      Number(found[places.day]),
      hour,
      Number(found[places.minute] ?? 0),
      Number(found[places.second] ?? 0),
    );
    if (local === IMPOSSIBLE) return "impossible";
    // A weekday that is not the date's tells that day and month, or the year, are read wrongly.
    const isOf = Math.floor(local / DAY) % 7;
    if (weekday !== undefined && (isOf + 7) % 7 !== weekday) return "impossible";
    const offset = found[places.offset];
    if (offset !== undefined) return atOffset(local, offset);
    const time = toInstant(local, undefined);
    // A day whose midnight is skipped begins with its first instant.
    return time === "skipped-hour" && written === undefined ? toInstant(local + HOUR, undefined) : time;
  };
}

function atOffset(local: number, written: string): number | TimeFault {
  const [, sign = "+", hours, minutes] = /([+-])(\d{1,2}):?(\d{2})?/.exec(written) ?? [];
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

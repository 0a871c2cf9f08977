/** Times by declared patterns. Strict: a pattern either fits the whole text or not, and day and month are never swapped. */

import { DateTime } from "luxon";
import { readDigits } from "./coerce.ts";
import { literalPattern } from "./literal-pattern.ts";
import { MappingError, type RulePath } from "./mapping-error.ts";
import { exists, type IsoTime, type LocalTime, offsetSeconds, parseIso, secondsAsUtc } from "./time.ts";
import { namedZone, zoneOf } from "./zone.ts";

/** What a text is as a time. */
export type ReadTime =
  | { readonly kind: "seconds"; readonly seconds: number | bigint }
  | { readonly kind: "no-zone" | "impossible" | "skipped-hour" | "unknown-zone" };

/** Undefined when the text has another form. */
type Parse = (text: string) => Parsed | undefined;
type Parsed = IsoTime | { readonly kind: "instant"; readonly seconds: number | bigint };

const MONTHS = "January February March April May June July August September October November December".split(" ");
const WEEKDAYS = "Sunday Monday Tuesday Wednesday Thursday Friday Saturday".split(" ");
const short = (names: readonly string[]) => names.map((name) => name.slice(0, 3));

type Part = keyof LocalTime | "twoDigitYear" | "monthName" | "weekday" | "halfDay" | "offset" | "fraction" | "hour12";

/** Tokens of a pattern, as in Unicode date patterns; what each matches and what it says. */
const TOKENS: Readonly<Record<string, readonly [pattern: string, part: Part]>> = {
  yyyy: ["\\d{4}", "year"],
  yy: ["\\d{2}", "twoDigitYear"],
  MMMM: [MONTHS.join("|"), "monthName"],
  MMM: [`${short(MONTHS).join("|")}|Sept`, "monthName"],
  MM: ["\\d{2}", "month"],
  M: ["\\d{1,2}", "month"],
  dd: ["\\d{2}", "day"],
  d: ["\\d{1,2}", "day"],
  EEEE: [WEEKDAYS.join("|"), "weekday"],
  EEE: [short(WEEKDAYS).join("|"), "weekday"],
  HH: ["\\d{2}", "hour"],
  H: ["\\d{1,2}", "hour"],
  hh: ["\\d{2}", "hour12"],
  h: ["\\d{1,2}", "hour12"],
  mm: ["\\d{2}", "minute"],
  m: ["\\d{1,2}", "minute"],
  ss: ["\\d{2}", "second"],
  s: ["\\d{1,2}", "second"],
  SSS: ["\\d{1,9}", "fraction"],
  a: ["[AaPp]\\.?[Mm]\\.?", "halfDay"],
  Z: ["[Zz]|[+-]\\d{1,2}(?::?\\d{2})?", "offset"],
  ZZ: ["[Zz]|[+-]\\d{2}:\\d{2}", "offset"],
  ZZZ: ["[Zz]|[+-]\\d{4}", "offset"],
};
/** A quoted text, a run of one letter, blanks, anything else. */
const PIECES = /'((?:[^']|'')*)'|([A-Za-z])\2*|\s+|[^\sA-Za-z']+/g;

const KEYWORDS: Readonly<Record<string, Parse>> = {
  iso: parseIso,
  unix: (text) => toInstant(readDigits(text)),
  "unix-ms": (text) => {
    const milliseconds = readDigits(text);
    return toInstant(milliseconds === undefined ? undefined : BigInt(milliseconds) / 1000n);
  },
};

function toInstant(seconds: number | bigint | undefined): Parsed | undefined {
  if (seconds === undefined) return undefined;
  const isExact = seconds <= BigInt(Number.MAX_SAFE_INTEGER);
  return { kind: "instant", seconds: isExact ? Number(seconds) : seconds };
}

interface Format {
  readonly name: string;
  readonly parse: Parse;
  /** Whether what it reads still needs a zone. */
  readonly isLocal: boolean;
}

export interface TimeOptions {
  /** Default: Unix seconds or ISO. */
  readonly formats: readonly string[];
  readonly formatPath: RulePath;
  readonly zone: string | undefined;
  readonly zonePath: RulePath;
  /** `HH:mm`: earlier times belong to the day after. */
  readonly rollover: string | undefined;
  readonly rolloverPath: RulePath;
}

/** Throws `MappingError` for patterns that can't be read, that lack a zone, or that read the same text differently. */
export function compileTime(options: TimeOptions): (text: string) => ReadTime | undefined {
  const formats = options.formats.map((name, at) =>
    compileFormat(name, options.formats.length === 1 ? options.formatPath : [...options.formatPath, at]),
  );
  refuseContradictions(formats, options.formatPath);
  const inZone = options.zone === undefined ? undefined : zoneOf(options.zone);
  if (options.zone !== undefined && inZone === undefined)
    throw new MappingError(options.zonePath, `${options.zone} is not a time zone such as Europe/Berlin or UTC`);
  const lacking = inZone === undefined ? formats.find(({ isLocal }) => isLocal) : undefined;
  if (lacking !== undefined)
    throw new MappingError(
      options.formatPath,
      `times written ${lacking.name} have no zone`,
      "Declare it for the source or the field, such as zone: Europe/Berlin.",
    );
  const rollover = compileRollover(options);

  const toSeconds = ({ local, zone }: Extract<Parsed, { kind: "local" }>): ReadTime => {
    const toInstant = zone === undefined ? inZone : namedZone(zone);
    if (toInstant === undefined) return { kind: zone === undefined ? "no-zone" : "unknown-zone" };
    const seconds = toInstant(rollover(local));
    return seconds === undefined ? { kind: "skipped-hour" } : { kind: "seconds", seconds };
  };

  return (text) => {
    let nearly: ReadTime | undefined;
    for (const { parse } of formats) {
      const parsed = parse(text);
      if (parsed === undefined) continue;
      if (parsed.kind === "instant") return { kind: "seconds", seconds: parsed.seconds };
      const read = parsed.kind === "local" ? toSeconds(parsed) : parsed;
      if (read.kind === "seconds") return read;
      nearly ??= read;
    }
    return nearly;
  };
}

function compileRollover({ rollover, rolloverPath }: TimeOptions): (local: LocalTime) => LocalTime {
  if (rollover === undefined) return (local) => local;
  const [, hour, minute] = /^(\d{1,2}):(\d{2})$/.exec(rollover) ?? [];
  if (hour === undefined || Number(hour) > 23 || Number(minute) > 59)
    throw new MappingError(rolloverPath, `${rollover} is not a time of day such as 06:00`);
  const border = Number(hour) * 60 + Number(minute);
  return (local) => {
    if (local.hour * 60 + local.minute >= border) return local;
    const next = new Date((secondsAsUtc(local) + 86400) * 1000);
    return { ...local, year: next.getUTCFullYear(), month: next.getUTCMonth() + 1, day: next.getUTCDate() };
  };
}

const BLANKS = "\\s+";

function compileFormat(name: string, path: RulePath): Format {
  const keyword = Object.hasOwn(KEYWORDS, name) ? KEYWORDS[name] : undefined;
  if (keyword !== undefined) return { name, parse: keyword, isLocal: false };
  if (name.split("'").length % 2 === 0) throw new MappingError(path, `${name} has a quote that does not end`);
  const parts: Part[] = [];
  let source = "";
  for (const piece of name.matchAll(PIECES)) {
    const literal = piece[1] === "" ? "'" : piece[1]?.replaceAll("''", "'");
    // Blanks in quotes are blanks as well: several ways to share them out would take long.
    if (/^\s+$/.test(literal ?? piece[0])) source += source.endsWith(BLANKS) ? "" : BLANKS;
    else if (literal !== undefined) source += literalPattern(literal);
    else if (piece[2] === undefined) source += literalPattern(piece[0]);
    else {
      const token = /^S+$/.test(piece[0]) ? TOKENS.SSS : Object.hasOwn(TOKENS, piece[0]) ? TOKENS[piece[0]] : undefined;
      if (token === undefined)
        throw new MappingError(
          path,
          `${name} is not a time format: ${piece[0]} has no meaning in it`,
          `Use ${Object.keys(TOKENS).join(" ")}, text in 'quotes', or one of ${Object.keys(KEYWORDS).join(", ")}.`,
        );
      source += `(${token[0]})`;
      parts.push(token[1]);
    }
  }
  checkParts(name, parts, path);
  const pattern = new RegExp(`^${source}$`, "i");
  return { name, parse: (text) => parseParts(pattern, parts, text), isLocal: !parts.includes("offset") };
}

function checkParts(name: string, parts: readonly Part[], path: RulePath): void {
  const has = (...any: Part[]) => any.some((part) => parts.includes(part));
  const refuse = (problem: string) => new MappingError(path, `the time format ${name} ${problem}`);
  if (!has("day")) throw refuse("has no day (d); join the date to it in from");
  if (!has("month", "monthName")) throw refuse("has no month (M)");
  if (!has("year", "twoDigitYear")) throw refuse("has no year (y)");
  if (has("hour12") !== has("halfDay")) throw refuse("needs both h and a, or H");
  if (new Set(parts).size !== parts.length) throw refuse("says something twice");
}

/** No time is longer. */
const MOST_TIME_TEXT = 200;

function parseParts(pattern: RegExp, parts: readonly Part[], text: string): Parsed | undefined {
  const found = text.length > MOST_TIME_TEXT ? null : pattern.exec(text);
  if (found === null) return undefined;
  const local = { year: 0, month: 0, day: 0, hour: 0, minute: 0, second: 0 };
  let offset: string | undefined;
  let weekday: string | undefined;
  let isAfternoon: boolean | undefined;
  for (const [at, part] of parts.entries()) {
    const written = found[at + 1] ?? "";
    switch (part) {
      case "fraction":
        break;
      case "twoDigitYear":
        local.year = 2000 + Number(written);
        break;
      case "monthName":
        local.month = indexByName(MONTHS, written) + 1;
        break;
      case "weekday":
        weekday = written;
        break;
      case "halfDay":
        isAfternoon = /^p/i.test(written);
        break;
      case "offset":
        offset = written;
        break;
      case "hour12":
        local.hour = Number(written);
        break;
      default:
        local[part] = Number(written);
    }
  }
  if (isAfternoon !== undefined) {
    if (local.hour < 1 || local.hour > 12) return { kind: "impossible" };
    local.hour = (local.hour % 12) + (isAfternoon ? 12 : 0);
  }
  if (!exists(local)) return { kind: "impossible" };
  const asUtc = secondsAsUtc(local);
  // A weekday that is not the date's tells that day and month, or the year, are read wrongly.
  if (weekday !== undefined && new Date(asUtc * 1000).getUTCDay() !== indexByName(WEEKDAYS, weekday))
    return { kind: "impossible" };
  if (offset === undefined) return { kind: "local", local };
  if (/^z$/i.test(offset)) return { kind: "instant", seconds: asUtc };
  const [, sign = "+", hours, minutes] = /^([+-])(\d{1,2}):?(\d{2})?$/.exec(offset) ?? [];
  const seconds = offsetSeconds(sign, hours, minutes);
  return seconds === undefined ? { kind: "impossible" } : { kind: "instant", seconds: asUtc - seconds };
}

function indexByName(names: readonly string[], written: string): number {
  const head = written.slice(0, 3).toLowerCase();
  return names.findIndex((name) => name.slice(0, 3).toLowerCase() === head);
}

/** A time whose day could be a month: two patterns that read it differently would leave the order of the list to decide. */
const PROBE = [2011, 3, 4, 5, 6, 7] as const;

function refuseContradictions(formats: readonly Format[], path: RulePath): void {
  // Made where formats are declared: it has the languages of ICU loaded, which every start of the program would wait for.
  const probe = DateTime.utc(...PROBE, { locale: "en-US" });
  const probes = formats.map(({ name }) => (Object.hasOwn(KEYWORDS, name) ? undefined : probe.toFormat(name)));
  for (const [at, text] of probes.entries()) {
    for (const other of formats) {
      const parsed = text === undefined ? undefined : other.parse(text);
      if (parsed === undefined || parsed.kind === "impossible") continue;
      const seconds = parsed.kind === "local" ? secondsAsUtc(parsed.local) : Number(parsed.seconds);
      const day = new Date(seconds * 1000);
      if (day.getUTCFullYear() === 2011 && day.getUTCMonth() === 2 && day.getUTCDate() === 4) continue;
      throw new MappingError(
        path,
        `${formats[at]?.name} and ${other.name} read ${text} differently`,
        "Which of day and month comes first is declared, never guessed: keep one of them.",
      );
    }
  }
}

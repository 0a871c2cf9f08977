/** Rules for times: which column holds the time of an action, and in which format. */

import type { ActionName } from "../actions/actions.ts";
import type { FieldName } from "../actions/fields.ts";
import { fold } from "../actions/nearest.ts";
import { datesIn } from "../map/file-name.ts";
import { cleanText, quoted } from "../text.ts";
import { areMost, type Column, textIn } from "./column.ts";
import type { Evidence } from "./evidence.ts";
import { called } from "./find-columns.ts";
import { isIdName, wordsOf } from "./header-words.ts";
import type { Roles } from "./roles.ts";
import { namesTime, type TimeKind } from "./time-words.ts";
import { alsoText, ask, type Comment, type Entry, inner, type Line, namesText, oneOf } from "./yaml.ts";

export const TIME_FIELDS = ["orderTime", "startTime", "endTime"] as const satisfies readonly FieldName[];

type TimeField = (typeof TIME_FIELDS)[number];

export const isTimeField = (field: string): field is TimeField => TIME_FIELDS.some((time) => time === field);

const HAPPENINGS: Readonly<Partial<Record<ActionName, readonly [TimeKind, string]>>> = {
  soldTicket: ["sale", "the sale"],
  resoldTicket: ["resale", "the resale"],
  scannedTicket: ["entry", "the scan"],
  checkedInTicket: ["entry", "the check-in"],
  claimedTicket: ["claim", "the claim"],
  invalidatedTicket: ["loss", "the cancellation"],
};

const happening = (action: ActionName): string => HAPPENINGS[action]?.[1] ?? "the action";

/** Columns that may hold a time: the first of them does, unless there is a doubt; then the user chooses. */
export interface MayHoldTime {
  readonly columns: readonly Column[];
  readonly doubt?: string | undefined;
}

/** From this many rows on it is strange that all have the same time, whatever the column is called. */
const MANY_ROWS = 10;

export function orderTimeOf(action: ActionName, roles: Roles): MayHoldTime {
  const { all, rows } = roles;
  const of = (kind: TimeKind | undefined): readonly Column[] =>
    surestFirst(all.filter((column) => column.mayBeTime && column.timeKind === kind));
  const sameIn = (columns: readonly Column[], leastRows: number): MayHoldTime => {
    const same = rows.length < leastRows ? undefined : sameEverywhere(columns[0], roles);
    return { columns, doubt: same && `it is the same in ${same}` };
  };
  const isSale = action === "soldTicket";
  const field = all.filter(({ name }) => fold(name) === "ordertime");
  const own = of(HAPPENINGS[action]?.[0]).filter((column) => !field.includes(column));
  if (field.length > 0 && (isSale || own.length === 0)) return { columns: field };
  if (!isSale && own.length + field.length > 1)
    return { columns: [...own, ...field], doubt: "more than one column has such a name" };
  if (own.length > 0) return sameIn(own, MANY_ROWS);
  const any = of("any");
  if (any.length > 0) return sameIn(any, 2);
  const sales = action === "resoldTicket" ? of("sale") : [];
  if (sales.length > 0) return { columns: sales, doubt: "it may be that of the first sale" };
  // Numbers and times of day may be anything in a column that is named like an id.
  const unnamed = of(undefined).filter(
    ({ name, times }) => times?.kind === "date" || times?.kind === "time" || !isIdName(name),
  );
  return { columns: unnamed.slice(0, 4), doubt: "no column has such a name" };
}

/** Those that are read before those that are not, and by the order of the words; without times of day beside dates. */
function surestFirst(columns: readonly Column[]): readonly Column[] {
  const dates = columns.filter(({ times }) => times?.kind !== "clock");
  const some = dates.length === 0 ? columns : dates;
  const byName = [...new Set([...called("orderTime", some), ...some])];
  return byName.sort((one, other) => Number(one.times === undefined) - Number(other.times === undefined));
}

/** Why a time may be that of the event: all rows, or all of each event, have the same one. */
function sameEverywhere(column: Column | undefined, { all, rows, find }: Roles): string | undefined {
  if (column === undefined) return undefined;
  // A date beside a time of day says nothing on its own.
  const clocks = column.times?.kind === "clock" ? [] : all.filter(({ times }) => times?.kind === "clock");
  const timeIn = (cells: readonly string[]): string =>
    JSON.stringify([column, ...clocks].map((each) => textIn(cells, each)));
  const filled = rows.filter((cells) => textIn(cells, column) !== "");
  if (filled.length < 2) return undefined;
  if (new Set(filled.map(timeIn)).size === 1) return "all rows";
  const isOfEvent = [...find("eventId"), ...find("eventName")].some((event) => {
    if (event === column || event.values.size < 2 || event.values.size * 2 > filled.length) return false;
    const ofEvents = Map.groupBy(filled, (cells) => textIn(cells, event)).values();
    return [...ofEvents].every((of) => new Set(of.map(timeIn)).size === 1);
  });
  return isOfEvent ? "all rows of an event" : undefined;
}

export function orderTimeLines(time: MayHoldTime, action: ActionName, roles: Roles): readonly Line[] {
  if (time.columns.length === 0) return [noOrderTime(action, roles)];
  return timeLines("orderTime", time, `the time of ${happening(action)}`, roles);
}

/** The rule by the first of the columns; or asks which of them it is. */
export function timeLines(
  key: TimeField,
  { columns, doubt }: MayHoldTime,
  what: string,
  evidence: Evidence,
): readonly Line[] {
  const [rule, ...others] = columns.map((column) => timeRule(column, evidence, key));
  if (rule === undefined) return [];
  if (doubt === undefined) return [{ ...rule, note: rule.note && `${rule.note}${alsoText(columns.slice(1))}` }];
  const question = `one of the next lines, without its #, where it is ${what}; else remove this line`;
  return oneOf(key, question, doubt, [rule, ...others]);
}

/** That no column may hold it. */
function noOrderTime(action: ActionName, { all }: Roles): Comment {
  const others = all.filter(({ times, timeKind = "any" }) => times !== undefined && timeKind !== "any");
  const why =
    others.length === 0
      ? "no column looks like a time"
      : `no column is named like the time of ${happening(action)} (${namesText(others)}: of something else)`;
  return { comment: `#orderTime: "{…}"   # ${why}; without one the service takes the time of sending` };
}

/** The rule for a time, with the reason for it. A column named like its field whose times are read as they are needs none. */
export function timeRule(time: Column, evidence: Evidence, key: TimeField = "orderTime"): Entry {
  const { times, name, values } = time;
  if (fold(name) === fold(key) && (times?.readings[0].format === "iso" || areMost(time, isReadAsNamed)))
    return { key, value: inner(time) };
  if (times === undefined) {
    const texts = [...values.keys()];
    const example = quoted(texts.find((text) => !isReadAsNamed(text)) ?? texts[0] ?? "");
    return {
      key,
      value: { from: inner(time), format: ask(`the format of ${example}, which is none of the usual ones`) },
      note: `${cleanText(name, 40)} ${namesTime(name) ? "is named" : "looks"} like this time; remove the line if it is none`,
    };
  }
  const { kind, readings, example } = times;
  const [{ format, example: read, fits }] = readings;
  if (kind === "unix")
    return { key, value: { from: inner(time), format }, note: "guess by name; all are whole numbers of that size" };
  if (kind === "clock") return { key, ...clockRule(time, format, evidence.fileName) };
  const clock = clockBeside(time, evidence);
  const from = clock === undefined ? inner(time) : `${inner(time)} ${inner(clock)}`;
  const behind = clock === undefined ? "" : ` ${clock.times?.readings[0].format}`;
  const formats = readings.map((way) => `${way.format}${behind}`);
  if (readings.length > 1)
    return {
      key,
      value: { from, format: ask(formats.join(" or ")) },
      note: `${quoted(example)} is ${readings.map((way) => way.example.slice(0, 10)).join(" or ")}: which one, is never guessed`,
    };
  return {
    key,
    value: { from, format: formats[0] },
    note: `guess: the only way that fits, ${quoted(example)} is ${read}; fits ${fits} of ${values.size} texts`,
  };
}

/** ISO times and Unix seconds need no rule. */
const isReadAsNamed = (text: string): boolean => /^\d{1,10}$|^\d{4}-\d\d-\d\d[T ]/.test(text);

/** Times of day need a date, which is asked. One in the config is that of one file alone. */
function clockRule(time: Column, format: string, fileName: string): Omit<Entry, "key"> {
  const hasFileDate = datesIn(fileName).length === 1;
  const date = hasFileDate
    ? "{file.date}, if the file's name says the date of these times; else the date"
    : "the date, such as 2026-05-09";
  return {
    value: { from: `${ask(date)} ${inner(time)}`, format: `yyyy-MM-dd ${format}`, rollover: "06:00" },
    note: `${quoted(time.name)} holds times of day only`,
    ofThisFile: hasFileDate ? undefined : "the date",
  };
}

/** The time of day that stands in a column of its own beside a date. */
function clockBeside(date: Column, { all }: Evidence): Column | undefined {
  if (date.times?.kind !== "date") return undefined;
  const clocks = all.filter(({ times }) => times?.kind === "clock");
  return clocks.find(({ index }) => index === date.index + 1) ?? (clocks.length === 1 ? clocks[0] : undefined);
}

/** Asks for the zone of the times that are used, where they are local. */
export function zoneLines(used: readonly Column[]): readonly Entry[] {
  const locals = used.filter(({ times }) => times === undefined || times.readings.some(({ isLocal }) => isLocal));
  const [local] = locals;
  if (local === undefined || local.filled === 0) return [];
  const name = cleanText(local.name, 40);
  if (locals.every((column) => wordsOf(column.name).some((word) => word === "utc" || word === "gmt")))
    return [{ key: "zone", value: "UTC", note: `guess: as ${name} says` }];
  return [
    { key: "zone", value: ask(`the time zone of ${name} and other times that name none, such as Europe/Berlin`) },
  ];
}

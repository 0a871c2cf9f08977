/** Rules for times: which column holds the time of an action, and in which format. */

import type { ActionName } from "../actions/actions.ts";
import { fold } from "../actions/nearest.ts";
import { cleanText, quoted } from "../actions/text.ts";
import { placeholder } from "../map/source.ts";
import { type Columns, called, eventColumns, looksLikeTime, smellsOfTime } from "./columns.ts";
import { type Entry, flow, type Line } from "./config-text.ts";
import { areMost, type Column, textIn } from "./evidence.ts";
import { isIdName, namesTime, type TimeKind, timeKindOf, WORDS, wordsOf } from "./header-words.ts";
import { alsoText, ask, choice, inner, namesText, template } from "./notes.ts";

const HAPPENINGS: Readonly<Partial<Record<ActionName, readonly [TimeKind, string]>>> = {
  soldTicket: ["sale", "the sale"],
  resoldTicket: ["resale", "the resale"],
  scannedTicket: ["entry", "the scan"],
  checkedInTicket: ["entry", "the check-in"],
  claimedTicket: ["claim", "the claim"],
  invalidatedTicket: ["loss", "the cancellation"],
};

/** Columns that may hold the time of an action: the first of them does, unless there is a doubt; then the user chooses. */
export interface OrderTime {
  readonly columns: readonly Column[];
  readonly doubt?: string | undefined;
  /** Times of something else. */
  readonly others: readonly Column[];
}

/** From this many rows on it is strange that all have the same time, whatever the column is called. */
const MANY_ROWS = 10;

export function orderTimeOf(action: ActionName, columns: Columns): OrderTime {
  const { all, rows } = columns;
  const times = all
    .filter((column) => column.times !== undefined || looksLikeTime(column))
    .map((column) => ({ column, kind: timeKindOf(column.name) }));
  const of = (kind: TimeKind | undefined): readonly Column[] =>
    surestFirst(withoutClocks(times.filter((time) => time.kind === kind).map(({ column }) => column)));
  const others = times
    .filter(({ column, kind }) => column.times !== undefined && kind !== undefined && kind !== "any")
    .map(({ column }) => column);
  const found = (time: readonly Column[], doubt?: string): OrderTime => ({ columns: time, doubt, others });
  const isSale = action === "soldTicket";
  const field = all.find(({ name }) => fold(name) === "ordertime");
  const own = of(HAPPENINGS[action]?.[0]).filter((column) => column !== field);
  if (field !== undefined && (isSale || own.length === 0)) return found([field]);
  if (!isSale && own.length + (field === undefined ? 0 : 1) > 1)
    return found(field === undefined ? own : [...own, field], "more than one column has such a name");
  const [first] = own;
  if (first !== undefined) {
    const same = rows.length < MANY_ROWS ? undefined : sameEverywhere(first, columns);
    return found(own, same === undefined || (isSale && same !== ALL_ROWS) ? undefined : `it is the same in ${same}`);
  }
  const any = of("any");
  const [general] = any;
  if (general !== undefined) {
    const same = rows.length < 2 ? undefined : sameEverywhere(general, columns);
    return found(any, same === undefined ? undefined : `it is the same in ${same}`);
  }
  const sales = action === "resoldTicket" ? of("sale") : [];
  if (sales.length > 0) return found(sales, "it may be that of the first sale");
  const unnamed = all.filter(({ name }) => timeKindOf(name) === undefined);
  const unknown = surestFirst(unnamed.filter((column) => isTimeByCells(column) || smellsOfTime(column))).slice(0, 4);
  return found(unknown, unknown.length === 0 ? undefined : "no column has such a name");
}

/** In a column that is not named like a time, times of day may be anything, and so may numbers named like an id. */
const isTimeByCells = ({ name, times }: Column): boolean =>
  times !== undefined && times.kind !== "clock" && !(times.kind === "unix" && isIdName(name));

/** Without times of day beside dates: each belongs to one of the dates. */
function withoutClocks(columns: readonly Column[]): readonly Column[] {
  const dates = columns.filter(({ times }) => times?.kind !== "clock");
  return dates.length === 0 ? columns : dates;
}

/** Those that are read before those that are not, and by the order of the words. */
function surestFirst(columns: readonly Column[]): readonly Column[] {
  const named = called(WORDS.orderTime, columns);
  const place = (column: Column): number => (named.includes(column) ? named.indexOf(column) : named.length);
  return [...columns].sort(
    (one, other) => Number(one.times === undefined) - Number(other.times === undefined) || place(one) - place(other),
  );
}

const ALL_ROWS = "all rows";

/** Why a time may be that of the event: all rows, or all of each event, have the same one. */
function sameEverywhere(column: Column, columns: Columns): string | undefined {
  // A date beside a time of day says nothing on its own.
  const clocks = column.times?.kind === "clock" ? [] : columns.all.filter(({ times }) => times?.kind === "clock");
  const timeIn = (cells: readonly string[]): string =>
    JSON.stringify([column, ...clocks].map((each) => textIn(cells, each)));
  const filled = columns.rows.filter((cells) => textIn(cells, column) !== "");
  if (filled.length < 2) return undefined;
  if (new Set(filled.map(timeIn)).size === 1) return ALL_ROWS;
  const isOfEvent = [...eventColumns(columns)].some((event) => {
    if (event === column || event.values.size < 2 || event.values.size * 2 > filled.length) return false;
    const ofEvents = Map.groupBy(filled, (cells) => textIn(cells, event)).values();
    return [...ofEvents].every((of) => new Set(of.map(timeIn)).size === 1);
  });
  return isOfEvent ? "all rows of an event" : undefined;
}

export function orderTimeLines(
  { columns: [first, ...more], doubt, others }: OrderTime,
  action: ActionName,
  { all }: Columns,
): readonly Line[] {
  const [, what] = HAPPENINGS[action] ?? ["any", "the action"];
  if (first === undefined) {
    const why =
      others.length === 0
        ? "no column looks like a time"
        : `no column is named like the time of ${what} (${namesText(others)}: of something else)`;
    return [{ comment: `#orderTime: "{…}"   # ${why}; without one the service takes the time of sending` }];
  }
  if (doubt === undefined) {
    const rule = timeRule(first, all);
    return [{ ...rule, note: rule.note && `${rule.note}${alsoText(more)}` }];
  }
  return oneOf("orderTime", [first, ...more], `the time of ${what}`, doubt, all);
}

/** A question, and below it each column that may answer it. */
const oneOf = (
  key: TimeField,
  columns: readonly Column[],
  what: string,
  doubt: string,
  all: readonly Column[],
): readonly Line[] => [
  {
    key,
    value: ask(`one of the next lines, without its #, where it is ${what}; else remove this line`),
    note: doubt,
  },
  ...columns.map((column) => choice(timeRule(column, all, key))),
];

/** What may be the start in a list of events where no column is named like one. */
export const mayBeStarts = (all: readonly Column[], others: readonly Column[]): readonly Column[] =>
  all.filter(
    (column) =>
      !others.includes(column) &&
      !isIdName(column.name) &&
      column.times?.kind !== "clock" &&
      (column.times !== undefined || looksLikeTime(column)),
  );

export const startAsked = (columns: readonly Column[], all: readonly Column[]): readonly Line[] =>
  columns.length === 0 ? [] : oneOf("startTime", columns, "the event's start", "no column has such a name", all);

type TimeField = "orderTime" | "startTime" | "endTime";

export const isTimeField = (field: string): field is TimeField => ["orderTime", "startTime", "endTime"].includes(field);

/** The rule for a time, with the reason for it. A column named like its field whose times are read as they are needs none. */
export function timeRule(time: Column, columns: readonly Column[], key: TimeField = "orderTime"): Entry {
  const { times, name } = time;
  if (fold(name) === fold(key) && isReadAsNamed(time)) return { key, value: template(time) };
  if (times === undefined) {
    const texts = [...time.values.keys()];
    const example = texts.find((text) => !READ_AS_NAMED.test(text)) ?? texts[0] ?? "";
    return {
      key,
      value: flow({
        from: template(time),
        format: ask(`the format of ${quoted(example)}, which is none of the usual ones`),
      }),
      note: `${cleanText(name, 40)} ${namesTime(name) ? "is named" : "looks"} like this time; remove the line if it is none`,
    };
  }
  const { kind, readings, example } = times;
  const [only, ...others] = readings;
  if (kind === "unix")
    return {
      key,
      value: flow({ from: template(time), format: only.format }),
      note: "guess by name; all are whole numbers of that size",
    };
  if (kind === "clock")
    return {
      key,
      value: flow({
        from: { inQuotes: `${placeholder(time.hasFileDate ? FILE_DATE : THE_DATE)} ${inner(time)}` },
        format: { inQuotes: `yyyy-MM-dd ${only.format}` },
        rollover: { inQuotes: "06:00" },
      }),
      note: `${quoted(name)} holds times of day only`,
    };
  const clock = clockBeside(time, columns);
  const from = clock === undefined ? template(time) : { inQuotes: `${inner(time)} ${inner(clock)}` };
  const formats = readings.map(({ format }) =>
    clock === undefined ? format : `${format} ${clock.times?.readings[0].format}`,
  );
  if (others.length > 0)
    return {
      key,
      value: flow({ from, format: ask(formats.join(" or ")) }),
      note: `${quoted(example)} is ${readings.map((way) => way.example.slice(0, 10)).join(" or ")}: which one, is never guessed`,
    };
  return {
    key,
    value: flow({
      from,
      format: { inQuotes: formats[0] ?? "" },
    }),
    note: `guess: the only way that fits, ${quoted(example)} is ${only.example}; fits ${only.fits} of ${time.values.size} texts`,
  };
}

/** What is asked beside times of day. A date in the config is that of one file alone. */
export const THE_DATE = "the date, such as 2026-05-09";
const FILE_DATE = "{file.date}, if the file's name says the date of these times; else the date";

/** Whether all are ISO times or Unix seconds, which need no rule. */
const isReadAsNamed = (column: Column): boolean =>
  column.times?.readings[0].format === "iso" || areMost(column, (text) => READ_AS_NAMED.test(text));
const READ_AS_NAMED = /^\d{1,10}$|^\d{4}-\d\d-\d\d[T ]/;

/** The time of day that stands in a column of its own beside a date. */
function clockBeside(date: Column, columns: readonly Column[]): Column | undefined {
  if (date.times?.kind !== "date") return undefined;
  const clocks = columns.filter(({ times }) => times?.kind === "clock");
  return clocks.find(({ index }) => index === date.index + 1) ?? (clocks.length === 1 ? clocks[0] : undefined);
}

const ZONE_NAME = /^(?:time)?zones?$|^tz$|^(?:utc|gmt)?offset$|^zeitzone$|^fuseau$|^fuso$|^huso$|^tijdzone$/;
const ZONE = /^(?:[A-Z][A-Za-z]+\/[A-Za-z_/+-]+|(?:UTC|GMT)?[+-]\d{1,2}(?::?\d{2})?|UTC|GMT|Z|[A-Z]{1,4}T)$/;

/**
 * Asks for the zone of local times.
 *
 * @param times - those that are used.
 * @param all - in which a zone may stand.
 */
export function zoneLines(times: readonly Column[], all: readonly Column[]): readonly Entry[] {
  const local = times.find(
    ({ values, times }) => values.size > 0 && (times === undefined || times.readings.some((way) => way.isLocal)),
  );
  if (local === undefined) return [];
  const zones = all.find(
    (column) => wordsOf(column.name).some((word) => ZONE_NAME.test(word)) && areMost(column, (text) => ZONE.test(text)),
  );
  const shown =
    zones === undefined
      ? ""
      : `. ${cleanText(zones.name, 40)} names ${cleanText([...zones.values.keys()].slice(0, 5).join(", "), 120)}: where rows differ, each zone needs an action of its own, with when and with zone in its times`;
  const name = cleanText(local.name, 40);
  return [
    {
      key: "zone",
      value: ask(`the time zone of ${name} and other times that name none, such as Europe/Berlin${shown}`),
    },
  ];
}

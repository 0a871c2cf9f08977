/** Which column of an export holds the time of an action, as far as its name and its cells say so. */

import type { ActionName } from "../actions/actions.ts";
import { fold } from "../actions/nearest.ts";
import type { ColumnProfile } from "./column-profile.ts";
import { type TimeKind, timeKindOf, WORDS, wordsOf } from "./header-words.ts";
import { clockOf, isTime, timesOf } from "./time-evidence.ts";

/**
 * - `column`: its name says it, and nothing speaks against it.
 * - `perhaps`: columns that may hold it, for the user to choose from, and why that is not sure.
 * - `none`: no column; the times that are of something else.
 */
export type OrderTime =
  | { readonly kind: "column"; readonly column: ColumnProfile; readonly also: readonly ColumnProfile[] }
  | { readonly kind: "perhaps"; readonly columns: readonly ColumnProfile[]; readonly why: string }
  | { readonly kind: "none"; readonly others: readonly ColumnProfile[] };

const KINDS: Readonly<Partial<Record<ActionName, TimeKind>>> = {
  soldTicket: "sale",
  resoldTicket: "resale",
  scannedTicket: "entry",
  checkedInTicket: "entry",
  claimedTicket: "claim",
  invalidatedTicket: "loss",
};

/** From this many rows on it is strange that all have the same time, whatever the column is called. */
const MANY_ROWS = 10;

export interface OrderTimeOptions {
  readonly columns: readonly ColumnProfile[];
  readonly rows: readonly (readonly string[])[];
  /** Columns that tell one event from another. */
  readonly events: readonly ColumnProfile[];
  /** Columns named like an id, whose numbers are no times. */
  readonly ids: readonly ColumnProfile[];
}

export function orderTimeOf(action: ActionName, { columns, rows, events, ids }: OrderTimeOptions): OrderTime {
  const times = columns.filter(isTime).map((column) => ({ column, kind: timeKindOf(column.name) }));
  const of = (kind: TimeKind | undefined) =>
    withoutClocks(times.filter((time) => time.kind === kind).map(({ column }) => column));
  const isSale = action === "soldTicket";
  const fields = isSale ? [] : columns.filter(({ name }) => fold(name) === "ordertime");
  const own = [...surestFirst(of(KINDS[action])), ...fields].filter((column) => column.filled > 0);
  const others = times.filter(({ kind }) => kind !== undefined && kind !== "any").map(({ column }) => column);
  const [first, ...more] = own;
  if (first !== undefined && more.length > 0 && !isSale)
    return { kind: "perhaps", columns: own, why: "more than one column has such a name" };
  const sameIn = (column: ColumnProfile) => sameEverywhere(column, columns, rows, events);
  if (first !== undefined) {
    const same = rows.length < MANY_ROWS ? undefined : sameIn(first);
    return same === undefined || (same !== ALL_ROWS && isSale)
      ? { kind: "column", column: first, also: more }
      : { kind: "perhaps", columns: own, why: `it is the same in ${same}` };
  }
  const any = surestFirst(of("any"));
  const [general] = any;
  if (general !== undefined) {
    const same = rows.length < 2 ? undefined : sameIn(general);
    return same === undefined
      ? { kind: "column", column: general, also: any.slice(1) }
      : { kind: "perhaps", columns: any, why: `it is the same in ${same}` };
  }
  const sales = action === "resoldTicket" ? surestFirst(of("sale")) : [];
  if (sales.length > 0) return { kind: "perhaps", columns: sales, why: "it may be that of the first sale" };
  // Times of day in a column not named like a time may be anything, and so may numbers, except Unix times of these years.
  const unknown = of(undefined).filter(
    (column) => timesOf(column) !== undefined || (isUnixOfTheseYears(column) && !ids.includes(column)),
  );
  return unknown.length > 0
    ? { kind: "perhaps", columns: unknown.slice(0, 4), why: "no column has such a name" }
    : { kind: "none", others };
}

/** Whether every row has a number, and as Unix seconds or milliseconds all are in the years from 2015 to 2034. */
function isUnixOfTheseYears({ values, filled, rows }: ColumnProfile): boolean {
  const texts = [...values.keys()];
  const are = (perSecond: number): boolean =>
    texts.every((text) => {
      const seconds = Number(text) / perSecond;
      return /^\d+$/.test(text) && seconds >= FROM_2015 && seconds < BEFORE_2035;
    });
  return filled > 0 && filled === rows && (are(1) || are(1000));
}

const FROM_2015 = 1_420_070_400;
const BEFORE_2035 = 2_051_222_400;

/** Without times of day beside dates: each belongs to one of the dates. */
function withoutClocks(columns: readonly ColumnProfile[]): readonly ColumnProfile[] {
  const dates = columns.filter((column) => clockOf(column) === undefined);
  return dates.length === 0 ? columns : dates;
}

const ORDER = WORDS.orderTime.split(" ");

function surestFirst(columns: readonly ColumnProfile[]): readonly ColumnProfile[] {
  const place = ({ name }: ColumnProfile): number => {
    const at = ORDER.indexOf(wordsOf(name).join(""));
    return at === -1 ? ORDER.length : at;
  };
  return [...columns].sort((one, other) => place(one) - place(other));
}

const ALL_ROWS = "all rows";

/** Why a time may be that of the event: all rows, or all of each event, have the same one. Undefined where they differ. */
function sameEverywhere(
  column: ColumnProfile,
  columns: readonly ColumnProfile[],
  rows: readonly (readonly string[])[],
  events: readonly ColumnProfile[],
): string | undefined {
  // A date beside a time of day says nothing on its own.
  const clocks = clockOf(column) === undefined ? columns.filter((other) => clockOf(other) !== undefined) : [];
  const textOf = (cells: readonly string[]): string =>
    JSON.stringify([column, ...clocks].map(({ index }) => (cells[index] ?? "").trim()));
  const filled = rows.filter((cells) => (cells[column.index] ?? "").trim() !== "");
  if (filled.length < 2) return undefined;
  if (new Set(filled.map(textOf)).size === 1) return ALL_ROWS;
  const isOfEvent = events.some(({ index, values }) => {
    if (index === column.index || values.size < 2 || values.size * 2 > filled.length) return false;
    const timeOf = new Map<string, string>();
    return filled.every((cells) => {
      const event = (cells[index] ?? "").trim();
      const known = timeOf.get(event);
      if (known === undefined) timeOf.set(event, textOf(cells));
      return known === undefined || known === textOf(cells);
    });
  });
  return isOfEvent ? "all rows of an event" : undefined;
}

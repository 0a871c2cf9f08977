/** The columns of an unknown layout, by what they most likely are: their names, then their cells. */

import type { ActionName } from "../actions/actions.ts";
import { amountsOf, isMoney, isQuantity } from "./amount-evidence.ts";
import { areMost, type ColumnProfile, isUnique, isUniqueButForGaps } from "./column-profile.ts";
import {
  minorUnitsIn,
  runsOf,
  tellsLoss,
  tellsSurcharge,
  tellsTicketList,
  tellsTicketPrice,
  tellsTickets,
  WORDS,
  wordsOf,
} from "./header-words.ts";
import { holdsLists, isIdName, isIdOfOther, isOrderName, mayBeId } from "./id-columns.ts";
import { type OrderTime, orderTimeOf } from "./order-time.ts";
import type { Evidence } from "./sample.ts";
import { isTime } from "./time-evidence.ts";

type Wanted = keyof typeof WORDS;

/** Columns whose names fit, best first. */
export function called(words: string, columns: readonly ColumnProfile[]): readonly ColumnProfile[] {
  const list = words.split(" ");
  const score = ({ name }: ColumnProfile): number => {
    const exact = list.indexOf(wordsOf(name).join(""));
    if (exact !== -1) return 200 - exact;
    const runs = runsOf(name);
    const part = list.findIndex((word) => word.length >= 4 && runs.has(word));
    return part === -1 ? 0 : 100 - part;
  };
  return columns
    .map((column) => ({ column, score: score(column) }))
    .filter(({ score: points }) => points > 0)
    .sort((one, other) => other.score - one.score)
    .map(({ column }) => column);
}

/** A number of tickets, beside the id of the order that they belong to. */
export interface Order {
  readonly id: ColumnProfile;
  readonly quantity: ColumnProfile;
}

/** The columns of an unknown layout, by what they most likely are. */
export interface Columns {
  readonly all: readonly ColumnProfile[];
  /** Those that are empty in all rows. */
  readonly empty: readonly ColumnProfile[];
  readonly rows: readonly (readonly string[])[];
  readonly ticket: ColumnProfile | undefined;
  readonly price: ColumnProfile | undefined;
  /** All that may be the price. */
  readonly prices: readonly ColumnProfile[];
  readonly currency: ColumnProfile | undefined;
  readonly order: Order | undefined;
  /** What has several tickets in a row, where no column is named like the id of one: a cell with ids, or a list of JSON. */
  readonly ticketLists: string | undefined;
  called(wanted: Wanted): readonly ColumnProfile[];
  timeOf(action: ActionName): OrderTime;
}

export function columnsOf({ columns, rows, lists = [] }: Evidence): Columns {
  const counts = new Map<string, number>();
  for (const { name } of columns) counts.set(name, (counts.get(name) ?? 0) + 1);
  // A header that occurs twice is ambiguous, and one with braces can't be written in a template.
  const usable = columns.filter(({ name }) => /^[^{}]+$/.test(name) && counts.get(name) === 1);
  const all = usable.filter(({ filled }) => filled > 0);
  const find = (wanted: Wanted) => called(WORDS[wanted], all);
  const quantity = find("quantity").find(isQuantity);
  const id = all.find((column) => isUnique(column) && isOrderName(column) && mayBeId(column) && !isIdOfOther(column));
  const amounts = all.filter((column) => !isTime(column) && isMoney(column) && !tellsLoss(column.name));
  const order = quantity === undefined || id === undefined ? undefined : { id, quantity };
  const prices = pricesIn(all);
  const isId = (column: ColumnProfile) => isUnique(column) && mayBeId(column);
  const ticket =
    find("ticketId").find(isId) ??
    find("ticketId").find((column) => isUniqueButForGaps(column) && mayBeId(column) && !isIdOfOther(column));
  return {
    all,
    empty: usable.filter(({ filled }) => filled === 0),
    rows,
    order,
    ticket: ticket ?? all.find((column) => isId(column) && isIdName(column) && !isIdOfOther(column)),
    ticketLists:
      ticket === undefined
        ? (all.find((column) => tellsTickets(column.name) && !isTime(column) && holdsLists(column))?.name ??
          lists.find(tellsTicketList))
        : undefined,
    prices,
    price:
      prices[0] ??
      (amounts.length === 1 ? amounts[0] : undefined) ??
      all.find((column) => minorUnitsIn(column.name) !== undefined && amountsOf(column) !== undefined),
    currency: find("currency").find(areCurrencies),
    called: find,
    timeOf: (action) => orderTimeOf(action, { columns: all, rows, events: eventColumns(all), ids: idColumns(all) }),
  };
}

export const areCurrencies = (column: ColumnProfile): boolean => areMost(column, (text) => /^[A-Za-z]{3}$/.test(text));

/** Columns of amounts that are named like a price, the price of one ticket first. */
export const pricesIn = (columns: readonly ColumnProfile[]): readonly ColumnProfile[] =>
  called(WORDS.price, columns)
    .filter((column) => amountsOf(column) !== undefined && !isTime(column))
    .filter((column) => isMoney(column) || called(WORDS.quantity, [column]).length === 0)
    .filter(({ name }) => !tellsLoss(name) && !tellsSurcharge(name))
    .sort((one, other) => Number(tellsTicketPrice(other.name)) - Number(tellsTicketPrice(one.name)));

/** Columns that tell one event from another, by id or by name. */
export const eventColumns = (columns: readonly ColumnProfile[]): readonly ColumnProfile[] =>
  [...new Set([...called(WORDS.eventId, columns), ...called(WORDS.eventName, columns)])].filter(
    (column) => !isTime(column),
  );

/** The title of an event, where the rows are events: in such a list it is often called no more than `Name`. */
export const titleIn = (columns: readonly ColumnProfile[]): ColumnProfile | undefined =>
  [...called(WORDS.eventName, columns), ...columns.filter(({ name }) => BARE_NAME.test(wordsOf(name).join("")))].find(
    (column) => column.filled > 0 && !isTime(column),
  );

const BARE_NAME = /^(?:name|bezeichnung|nom|nome|naam)$/;

/** Columns that are named like an id of anything. */
export const idColumns = (columns: readonly ColumnProfile[]): readonly ColumnProfile[] => [
  ...(["ticketId", "eventId", "userId"] as const).flatMap((id) => called(WORDS[id], columns)),
  ...columns.filter(isIdName),
];

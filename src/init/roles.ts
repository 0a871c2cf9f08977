/** What each column of an export most likely is: by the words of its header, then by the shape of its cells. */

import { fold } from "../actions/nearest.ts";
import { areMost, type Column, type Evidence, textIn } from "./evidence.ts";
import {
  isIdName,
  isIdOfOther,
  isMadeOf,
  isOrderName,
  joinedWords,
  namesLoss,
  namesTicketList,
  namesTickets,
  runsOf,
  says,
  WORDS,
} from "./header-words.ts";

type Wanted = keyof typeof WORDS;

const mayBePrice = (column: Column): boolean =>
  column.amounts !== undefined &&
  (column.isMoney || called("quantity", [column]).length === 0) &&
  !namesLoss(column.name) &&
  !says(column.name, "surcharge");

/** What a column of each field looks like; of those that are not here, its name says enough. */
const SHAPES: Readonly<Partial<Record<Wanted, (column: Column) => boolean>>> = {
  ticketId: ({ mayBeId }) => mayBeId,
  eventId: ({ mayBeId }) => mayBeId,
  price: mayBePrice,
  quantity: ({ isNumber }) => isNumber,
  currency: (column) => areMost(column, (text) => /^[A-Za-z]{3}$/.test(text)),
  eventName: ({ times }) => times === undefined,
  startTime: ({ mayBeTime }) => mayBeTime,
  endTime: ({ mayBeTime }) => mayBeTime,
};

/** Columns whose names fit, the surest first: the whole name before a part of it, and by the order of the words. */
export function called(wanted: Wanted, columns: readonly Column[]): readonly Column[] {
  const list = WORDS[wanted].split(" ");
  const placeOf = ({ name }: Column): number => {
    const exact = list.indexOf(joinedWords(name));
    if (exact !== -1) return exact;
    const runs = runsOf(name);
    if (isMadeOf(wanted, joinedWords(name))) return 0;
    const part = list.findIndex((word) => word.length >= 4 && runs.has(word));
    if (part !== -1) return list.length + part;
    return [...runs].some((run) => isMadeOf(wanted, run)) ? list.length : Number.POSITIVE_INFINITY;
  };
  return columns
    .map((column) => ({ column, place: placeOf(column) }))
    .filter(({ place }) => place < Number.POSITIVE_INFINITY)
    .sort((one, other) => one.place - other.place)
    .map(({ column }) => column);
}

/** An export, with what its columns most likely are. */
export interface Roles extends Evidence {
  /** The id of a ticket, different in every row of a sale. */
  readonly ticket: Column | undefined;
  /** Without a ticket: what is named like its id, though more rows than those of refunds have the same. */
  readonly repeated: Column | undefined;
  /** What has several tickets in a row, where no column is named like the id of one: a cell with ids, or a list of JSON. */
  readonly ticketLists: string | undefined;
  /** Lists of JSON beside `items`. */
  readonly otherLists: readonly string[];
  /** All that may be the price, that of one ticket first. */
  readonly prices: readonly Column[];
  readonly currency: Column | undefined;
  /** Columns named like the number of tickets in a row, and holding one. */
  readonly quantities: readonly Column[];
  /** All that may count the tickets of a row, by their names or their cells. */
  readonly counts: readonly Column[];
  /** The only column named like a number of tickets, where it says 1 in every row beside a ticket's id. */
  readonly one: Column | undefined;
  /** The id of a row that is an order of several tickets. */
  readonly order: Column | undefined;
  /** By which amount rows give something back. */
  readonly refund: Refund | undefined;
  /** Columns that look and are called like it, the surest first. */
  find(wanted: Wanted): readonly Column[];
}

interface Refund {
  readonly column: Column;
  isBack(cells: readonly string[]): boolean;
  /** Not where the amount is 0, which may be either. */
  isPaid(cells: readonly string[]): boolean;
}

export function rolesOf(evidence: Evidence): Roles {
  const { all, rows, items, lists = [], shared } = evidence;
  // A column named exactly like its field is that field's, whatever it holds.
  const find = (wanted: Wanted): readonly Column[] =>
    called(
      wanted,
      all.filter((column) => (SHAPES[wanted]?.(column) ?? true) || fold(column.name) === fold(wanted)),
    );
  const prices = pricesIn(all);
  const numbers = find("quantity").filter((column) => items === undefined || isOfItem(column));
  const isOneEach = numbers.length === 1 && numbers.every(({ isCount }) => !isCount);
  const mayBeTicket = (column: Column): boolean =>
    (!numbers.includes(column) || isField(column)) && !isIdOfOther(column.name);
  const named = find("ticketId").filter((column) => mayBeTicket(column) && !says(column.name, "original"));
  const refund = refundIn(rows, prices[0]);
  // The refund of a ticket has its id again.
  const sold = rows.filter((cells) => refund?.isPaid(cells) === true);
  const isUniqueAmongSales = (column: Column): boolean =>
    sold.length > 0 && new Set(sold.map((cells) => textIn(cells, column))).size === sold.length;
  const different =
    all.find(({ name }) => items !== undefined && name === "item") ??
    named.find(isField) ??
    named.find((column) => column.isUnique || isUniqueAmongSales(column)) ??
    named.find(({ distinct, filled, rows: most }) => distinct === filled && filled * 20 >= most * 19);
  // What is merely different in all rows, such as the number of a receipt, is not sent as the id of a ticket beside it.
  const isSure = ({ name }: Column): boolean => name === "item" || namesTickets(name) || shared.has(name);
  const repeated =
    different !== undefined && isSure(different)
      ? undefined
      : named.find((column) => isSure(column) && column.distinct * 2 > column.filled);
  const ticket = repeated ?? different;
  const ids = all.filter((column) => column.isUnique && column.mayBeId && mayBeTicket(column));
  const order = ids.find(({ name }) => isOrderName(name) || (isIdName(name) && !namesTickets(name)));
  const otherLists = lists.filter((list) => list !== items && list !== "metadataAttributes");
  const holder = all.find((column) => namesTickets(column.name) && column.times === undefined && column.holdsLists);
  const one = isOneEach && ticket !== undefined && ticket !== order ? numbers[0] : undefined;
  const quantities = one === undefined ? numbers : [];
  const roles: Roles = {
    ...evidence,
    ticket: repeated === undefined ? (ticket ?? ids.find(({ name }) => isIdName(name))) : undefined,
    repeated,
    ticketLists: ticket === undefined ? (holder?.name ?? otherLists.find(namesTicketList)) : undefined,
    otherLists,
    prices,
    currency: find("currency")[0],
    quantities,
    counts: [],
    one,
    order: quantities.length === 0 ? undefined : order,
    refund,
    find,
  };
  return { ...roles, counts: countsIn(roles) };
}

const isField = ({ name }: Column): boolean => fold(name) === "ticketid";

/** By their names or their texts; else the one that divides the price, or several of a kind of ticket each. Of JSON, those of an item. */
function countsIn(roles: Roles): readonly Column[] {
  const { all, quantities, items, one } = roles;
  if (one !== undefined) return [];
  const said = all.filter((column) => quantities.includes(column) || column.saysSeveral);
  const divider = said.length > 0 ? undefined : dividesPrice(roles);
  const counts = said.length > 0 ? said : divider === undefined ? countsOfKinds(roles) : [divider];
  return counts.filter((column) => items === undefined || isOfItem(column));
}

const isOfItem = ({ name }: Column): boolean => name.startsWith("item.");

/** The number of tickets that a cell says; 0 where it says none. */
export const countIn = (cells: readonly string[], column: Column): number =>
  Number(/\d+/.exec(textIn(cells, column))?.[0] ?? 0);

/** Two or more columns of small numbers, with a 0 in some row, of which every row has one: `Standing` 2, `Balcony` 0. */
function countsOfKinds({ all, rows, ticket }: Roles): readonly Column[] {
  const counts = all.filter(
    (column) => column.isNumber && column !== ticket && column.values.has("0") && !isIdName(column.name),
  );
  const totals = rows.map((cells) => counts.reduce((sum, column) => sum + countIn(cells, column), 0));
  return counts.length > 1 && Math.min(...totals) > 0 && Math.max(...totals) > 1 ? counts : [];
}

/** A row gives something back where its amount is negative. */
function refundIn(rows: Evidence["rows"], price: Column | undefined): Refund | undefined {
  if (price === undefined) return undefined;
  const isBack = (cells: readonly string[]): boolean => isNegative(textIn(cells, price));
  const isPaid = (cells: readonly string[]): boolean => !isBack(cells) && /[1-9]/.test(textIn(cells, price));
  return rows.some(isBack) ? { column: price, isBack, isPaid } : undefined;
}

/** The two words of a column, where all rows that give something back have one, and all that were paid the other. */
export function refundWords(column: Column, { refund, rows }: Roles) {
  if (refund === undefined || column.values.size !== 2 || column.filled < column.rows) return undefined;
  const wordsIn = (isOne: Refund["isBack"]) => new Set(rows.filter(isOne).map((cells) => textIn(cells, column)));
  const [back, ...others] = wordsIn(refund.isBack);
  const [sold, ...more] = wordsIn(refund.isPaid);
  if (back === undefined || sold === undefined || back === sold || others.length + more.length > 0) return undefined;
  return { column, sold, back };
}

const isNegative = (text: string): boolean => /^\(?[^\d]{0,4}[-\u2212][^\d]{0,4}\d/.test(text);

/** A column of small whole numbers that divides different amounts to the same price: 60.00 by 3, 40.00 by 2. */
function dividesPrice({ all, rows, prices: [price] }: Roles): Column | undefined {
  const read = price?.amounts?.readings[0].read;
  if (price === undefined || read === undefined) return undefined;
  return all.find((column) => {
    if (!column.isCount || column === price || isIdName(column.name)) return false;
    const pairs = rows.map((cells) => [Number(read(textIn(cells, price))), Number(textIn(cells, column))] as const);
    const filled = pairs.filter(([amount, count]) => amount > 0 && count > 0);
    const units = new Set(filled.map(([amount, count]) => (amount / count).toFixed(4)));
    return (
      new Set(filled.map(([, count]) => count)).size > 1 &&
      filled.length >= 3 &&
      units.size * 2 <= new Set(filled.map(([amount]) => amount)).size
    );
  });
}

/** Columns named like a price, the price of one ticket first; else the only amounts, or those whose name says cents. */
function pricesIn(all: readonly Column[]): readonly Column[] {
  const named = called("price", all.filter(mayBePrice));
  const ofItems = named.filter(({ name }) => name.startsWith("item."));
  const money = all.filter(({ name, isMoney }) => isMoney && !namesLoss(name) && !says(name, "surcharge"));
  const told = money.filter(({ name }) => says(name, "perTicket", "total"));
  const prices = [ofItems, named, told].find(({ length }) => length > 0);
  if (prices !== undefined)
    return [...prices].sort(
      (one, other) => Number(says(other.name, "perTicket")) - Number(says(one.name, "perTicket")),
    );
  if (money.length === 1) return money;
  return all.filter(({ name, amounts }) => says(name, "cents", "minorUnits") && amounts !== undefined).slice(0, 1);
}

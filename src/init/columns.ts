/** What each column most likely is: by the words of its header, then by the shape of its cells. */

import { fold } from "../actions/nearest.ts";
import { fieldsOf, readColumns } from "../map/columns.ts";
import {
  areMost,
  type Column,
  type Evidence,
  hasFewValues,
  isUniqueButForGaps,
  mayBeId,
  saysSeveral,
  textIn,
} from "./evidence.ts";
import {
  isIdName,
  isIdOfOther,
  isOrderName,
  joinedWords,
  minorUnitsIn,
  namesLoss,
  namesSurcharge,
  namesTicketList,
  namesTicketPrice,
  namesTickets,
  namesTime,
  runsOf,
  says,
  WORDS,
} from "./header-words.ts";

/** What a column of each field looks like. */
const SHAPES = {
  ticketId: mayBeId,
  eventId: mayBeId,
  userId: () => true,
  price: (column) =>
    column.amounts !== undefined &&
    (column.isMoney || called(WORDS.quantity, [column]).length === 0) &&
    !namesLoss(column.name) &&
    !namesSurcharge(column.name),
  orderTime: ({ times }) => times !== undefined,
  status: hasFewValues,
  quantity: ({ isNumber }) => isNumber,
  currency: (column) => areMost(column, (text) => /^[A-Za-z]{3}$/.test(text)),
  eventName: ({ times }) => times === undefined,
  startTime: (column) => column.times !== undefined || looksLikeTime(column),
  endTime: (column) => column.times !== undefined || looksLikeTime(column),
} satisfies Record<keyof typeof WORDS, (column: Column) => boolean>;

type Wanted = keyof typeof SHAPES;

/** `27.11. um 19:15`, `27/XI/2026`, `Nov. 27th 2026`. */
const LIKE_A_TIME =
  /\b\d{1,2}[:h]\d{2}\b|\b\d{1,2}[./-] ?(?:\d{1,2}|[IVX]+)(?:[./-](?:\d{2}|\d{4}))?(?![\d./-])|\p{L}{3,}\.? \d{1,2}\D{0,4} \d{4}\b/u;

/** Whether cells that no format reads may be times, whatever their column is called. */
export const smellsOfTime = (column: Column): boolean =>
  mayBeTimes(column) && areMost(column, (text) => text.length <= 60 && LIKE_A_TIME.test(text));

/** Likewise, by the cells or the name of the column. */
export const looksLikeTime = (column: Column): boolean =>
  mayBeTimes(column) && (namesTime(column.name) || smellsOfTime(column));

const mayBeTimes = (column: Column): boolean =>
  !column.isMoney &&
  !column.isNumber &&
  !isIdName(column.name) &&
  areMost(column, (text) => text.length >= 4 && /\d/.test(text));

/** Columns whose names fit, the surest first. */
export function called<C extends Pick<Column, "name">>(words: string, columns: readonly C[]): readonly C[] {
  const list = words.split(" ");
  const score = ({ name }: C): number => {
    const exact = list.indexOf(joinedWords(name));
    if (exact !== -1) return 1000 - exact;
    const runs = runsOf(name);
    const part = list.findIndex((word) => word.length >= 4 && runs.has(word));
    return part === -1 ? 0 : 500 - part;
  };
  return columns
    .map((column) => ({ column, score: score(column) }))
    .filter(({ score: points }) => points > 0)
    .sort((one, other) => other.score - one.score)
    .map(({ column }) => column);
}

/** The columns of an export, by what they most likely are. */
export interface Columns {
  /** Those that can be named in a rule and hold something. */
  readonly all: readonly Column[];
  /** Likewise, but empty in all rows. */
  readonly empty: readonly Column[];
  readonly rows: readonly (readonly string[])[];
  /** The id of a ticket, different in every row of a sale. */
  readonly ticket: Column | undefined;
  /** What has several tickets in a row, where no column is named like the id of one: a cell with ids, or a list of JSON. */
  readonly ticketLists: string | undefined;
  /** The list of JSON whose items are the rows here. */
  readonly items: string | undefined;
  /** Other lists of JSON. */
  readonly lists: readonly string[];
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
  /** The price, where it is negative in some rows: they give something back. */
  readonly refunds: Column | undefined;
  find(wanted: Wanted): readonly Column[];
}

export function columnsOf({ columns, rows, lists = [], items }: Evidence): Columns {
  const counts = Map.groupBy(columns, ({ name }) => name);
  // A header that occurs twice is ambiguous, and one with braces can't be written in a template.
  const usable = columns.filter(({ name }) => /^[^{}]+$/.test(name) && counts.get(name)?.length === 1);
  const all = usable.filter(({ filled }) => filled > 0);
  // A column named exactly like its field is that field's, whatever it holds.
  const find = (wanted: Wanted) =>
    called(
      WORDS[wanted],
      all.filter((column) => SHAPES[wanted](column) || fold(column.name) === fold(wanted)),
    );
  const prices = pricesIn(all);
  const refunds = prices.slice(0, 1).find(({ values }) => [...values.keys()].some(isNegative));
  const numbers = find("quantity");
  const isOneEach = numbers.length === 1 && numbers.every(({ isCount }) => !isCount);
  const mayBeTicket = (column: Column): boolean =>
    (!numbers.includes(column) || fold(column.name) === "ticketid") && !isIdOfOther(column.name);
  const named = find("ticketId").filter(mayBeTicket);
  const ticket =
    all.find(({ name }) => items !== undefined && name === "item") ??
    named.find((column) => fold(column.name) === "ticketid") ??
    named.find((column) => column.isUnique || isUniqueAmongSales(column, refunds, rows)) ??
    named.find(isUniqueButForGaps);
  const ids = all.filter((column) => column.isUnique && mayBeId(column) && mayBeTicket(column));
  const other = ids.find(({ name }) => isIdName(name));
  const order = ids.find(({ name }) => isOrderName(name) || (isIdName(name) && !namesTickets(name)));
  const otherLists = lists.filter((list) => list !== items && list !== "metadataAttributes");
  const holder = all.find((column) => namesTickets(column.name) && column.times === undefined && column.holdsLists);
  const one = isOneEach && ticket !== undefined && ticket !== order ? numbers[0] : undefined;
  const quantities = one === undefined ? numbers : [];
  const columnsFound: Columns = {
    all,
    empty: usable.filter(({ filled }) => filled === 0),
    rows,
    ticket: ticket ?? other,
    ticketLists: ticket === undefined ? (holder?.name ?? otherLists.find(namesTicketList)) : undefined,
    items,
    lists: otherLists,
    prices,
    currency: find("currency")[0],
    quantities,
    counts: [],
    one,
    order: quantities.length === 0 ? undefined : order,
    refunds,
    find,
  };
  return { ...columnsFound, counts: countsIn(columnsFound) };
}

/** By their names or their texts; else the one that divides the price, or several of a kind of ticket each. Of JSON, those of an item. */
function countsIn(columns: Columns): readonly Column[] {
  const { all, quantities, items, one } = columns;
  if (one !== undefined) return [];
  const said = [...quantities, ...all.filter((column) => !quantities.includes(column) && areMost(column, saysSeveral))];
  const divider = said.length > 0 ? undefined : dividesPrice(columns);
  const counts = said.length > 0 ? said : divider === undefined ? countsOfKinds(columns) : [divider];
  const inOrder = [...counts].sort((one, other) => one.index - other.index);
  return items === undefined ? inOrder : inOrder.filter(({ name }) => name.startsWith("item."));
}

/** The number of tickets that a cell says; 0 where it says none. */
export const countIn = (cells: readonly string[], column: Column): number =>
  Number(/\d+/.exec(textIn(cells, column))?.[0] ?? 0);

/** Two or more columns of small numbers, with a 0 in some row, of which every row has one: `Standing` 2, `Balcony` 0. */
function countsOfKinds({ all, rows, ticket }: Columns): readonly Column[] {
  const counts = all.filter(
    (column) => column.isNumber && column !== ticket && column.values.has("0") && !isIdName(column.name),
  );
  const totals = rows.map((cells) => counts.reduce((sum, column) => sum + countIn(cells, column), 0));
  return counts.length > 1 && Math.min(...totals) > 0 && Math.max(...totals) > 1 ? counts : [];
}

/** Whether a column says no more than the sign of the amount: one text in rows of refunds, another in all others. */
export function followsRefunds({ values, index }: Column, { refunds, rows }: Columns): boolean {
  if (refunds === undefined || values.size !== 2) return false;
  const pairs = new Set(rows.map((cells) => `${isNegative(textIn(cells, refunds))} ${cells[index]}`));
  return pairs.size === 2;
}

/** The refund of a ticket has its id again. */
function isUniqueAmongSales(column: Column, refunds: Column | undefined, rows: Columns["rows"]): boolean {
  if (refunds === undefined) return false;
  const sold = rows.filter((cells) => !isNegative(textIn(cells, refunds)));
  return sold.length > 0 && new Set(sold.map((cells) => textIn(cells, column))).size === sold.length;
}

const isNegative = (text: string): boolean => /^\(?[^\d]{0,4}[-\u2212][^\d]{0,4}\d/.test(text);

/** A column of small whole numbers that divides different amounts to the same price: 60.00 by 3, 40.00 by 2. */
function dividesPrice({ all, rows, prices: [price] }: Columns): Column | undefined {
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
  const named = called(WORDS.price, all.filter(SHAPES.price));
  const ofItems = named.filter(({ name }) => name.startsWith("item."));
  const prices = ofItems.length > 0 ? ofItems : named;
  if (prices.length > 0)
    return [...prices].sort((one, other) => Number(namesTicketPrice(other.name)) - Number(namesTicketPrice(one.name)));
  const amounts = all.filter((column) => column.isMoney && !namesLoss(column.name));
  if (amounts.length === 1) return amounts;
  return all.filter(({ name, amounts }) => minorUnitsIn(name) !== undefined && amounts !== undefined).slice(0, 1);
}

/** A column that is named like a price and holds none. */
export const unreadPrice = ({ all }: Columns): Column | undefined =>
  called(WORDS.price, all).find(
    ({ name, amounts, times }) =>
      amounts === undefined && times === undefined && !namesLoss(name) && !namesSurcharge(name) && says(name, "price"),
  );

/** Columns by which events differ: their ids or their names. */
export const eventColumns = ({ find }: Columns): ReadonlySet<Column> =>
  new Set([...find("eventId"), ...find("eventName")]);

/** The title of an event, where the rows are events: in such a list it is often called no more than `Name`. */
export const titleIn = ({ all, find }: Columns, id: Column | undefined): Column | undefined =>
  [...find("eventName"), ...all.filter(({ name }) => BARE_NAME.test(joinedWords(name)))].find(
    (column) => column !== id && column.times === undefined,
  );

const BARE_NAME = /^(?:name|bezeichnung|nom|nome|naam)$/;

/** Columns named like fields of the action, by the fields. */
export function fieldColumns(
  { columns, header }: Evidence,
  action: Parameters<typeof fieldsOf>[0],
): ReadonlyMap<string, Column> {
  const takes = fieldsOf(action, new Set());
  return new Map(
    [...readColumns(header).fields].flatMap(([field, index]) => {
      const column = columns[index];
      return column === undefined || !takes.has(field) || /[{}]/.test(column.name) ? [] : [[field, column] as const];
    }),
  );
}

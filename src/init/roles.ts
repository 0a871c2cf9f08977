/** How the rows are tickets: which column is the id of one, and which say how many of them a row is. */

import { fold } from "../actions/nearest.ts";
import { type Column, textIn } from "./column.ts";
import type { Evidence } from "./evidence.ts";
import { type Found, findIn } from "./find-columns.ts";
import {
  isIdName,
  isIdOfOther,
  isOrderName,
  namesTicketList,
  namesTickets,
  numberedTicket,
  says,
} from "./header-words.ts";

/** An export, with what its columns say of tickets. */
export interface Roles extends Found {
  /** The id of a ticket, different in every row of a sale. */
  readonly ticket: Column | undefined;
  /** Without a ticket: what is named like its id, though more rows than those of refunds have the same. */
  readonly repeated: Column | undefined;
  /** What has several tickets in a row, where no column is named like the id of one: a cell with ids, or a list of JSON. */
  readonly ticketLists: string | undefined;
  /** Columns for the first ticket of a row, the second, and so on; of one kind. */
  readonly numbered: readonly Column[];
  /** Lists of JSON beside `items`. */
  readonly otherLists: readonly string[];
  /** Columns named like the number of tickets in a row, and holding one. */
  readonly quantities: readonly Column[];
  /** All that may count the tickets of a row, by their names or their cells. */
  readonly counts: readonly Column[];
  /** The only column named like a number of tickets, where it says 1 in every row beside a ticket's id. */
  readonly one: Column | undefined;
  /** The id of a row that is an order of several tickets, from which their ids are made. */
  readonly order: Column | undefined;
  /** The number of tickets of such an order, where nothing else may count or name them. */
  readonly counted: Column | undefined;
}

export function rolesOf(evidence: Evidence): Roles {
  const found = findIn(evidence);
  const { all, items, lists = [], find } = found;
  const numbers = find("quantity").filter((column) => items === undefined || isOfItem(column));
  const mayBeTicket = (column: Column): boolean =>
    (!numbers.includes(column) || isField(column)) && !isIdOfOther(column.name);
  const { different, repeated } = ticketsIn(found, find("ticketId").filter(mayBeTicket));
  const named = repeated ?? different;
  const ids = all.filter((column) => column.isUnique && column.mayBeId && mayBeTicket(column));
  const order = ids.find(({ name }) => isOrderName(name) || (isIdName(name) && !namesTickets(name)));
  const [number, ...more] = numbers;
  const isOneEach = number?.isCount === false && more.length === 0 && named !== undefined && named !== order;
  const quantities = isOneEach ? [] : numbers;
  const mayBeOrder = items === undefined && !(named !== undefined && isField(named)) && quantities.length > 0;
  const otherLists = lists.filter((list) => list !== items && list !== "metadataAttributes");
  const holder = all.find(
    ({ name, times, holdsLists }) =>
      times === undefined && holdsLists && (namesTickets(name) || (/(?:s|en)$/i.test(name) && namesTicketList(name))),
  );
  const ticketLists = named === undefined ? (holder?.name ?? otherLists.find(namesTicketList)) : undefined;
  const ticket = repeated === undefined ? (different ?? ids.find(({ name }) => isIdName(name))) : undefined;
  const counts = isOneEach ? [] : countsIn(found, quantities, ticket);
  const isCounted = mayBeOrder && order !== undefined && ticketLists === undefined && counts.length === 1;
  return {
    ...found,
    ticket,
    repeated,
    ticketLists,
    numbered: numberedTickets(all),
    otherLists,
    quantities,
    counts,
    one: isOneEach ? number : undefined,
    order: mayBeOrder ? order : undefined,
    counted: isCounted ? counts[0] : undefined,
  };
}

/** `Ticket 1 Code`, `Ticket 2 Code`: those with ids before those with names. */
function numberedTickets(all: readonly Column[]): readonly Column[] {
  const texts = all.filter(({ name, isNumber }) => !isNumber && numberedTicket(name) !== undefined);
  const series = [...Map.groupBy(texts, ({ name }) => numberedTicket(name)).values()].filter(
    ({ length }) => length > 1,
  );
  return series.find((columns) => columns.some(({ name }) => isIdName(name) || namesTickets(name))) ?? series[0] ?? [];
}

const isField = ({ name }: Column): boolean => fold(name) === "ticketid";

/** The id of a ticket: what is different in every row, unless something with a surer name comes again. @param named - what is named like it. */
function ticketsIn({ all, rows, items, shared, refund }: Found, named: readonly Column[]) {
  const own = named.filter(({ name }) => !says(name, "original"));
  // The refund of a ticket has its id again.
  const sold = rows.filter((cells) => refund?.isPaid(cells) === true);
  const isUniqueAmongSales = (column: Column): boolean =>
    sold.length > 0 && new Set(sold.map((cells) => textIn(cells, column))).size === sold.length;
  const different =
    all.find(({ name }) => items !== undefined && name === "item") ??
    own.find(isField) ??
    own.find((column) => column.isUnique || isUniqueAmongSales(column)) ??
    own.find(({ distinct, filled, rows: most }) => distinct === filled && filled * 20 >= most * 19);
  // What is merely different in all rows, such as the number of a receipt, is not sent as the id of a ticket beside it.
  const isSure = ({ name }: Column): boolean => name === "item" || namesTickets(name) || shared.has(name);
  if (different !== undefined && isSure(different)) return { different, repeated: undefined };
  return { different, repeated: own.find((column) => isSure(column) && column.distinct * 2 > column.filled) };
}

/**
 * By their names or their texts; else, where rows are known by nothing but their order, whatever is a small number and may
 * not be money. Of JSON, those of an item.
 */
function countsIn(
  { all, prices, items, rows }: Found,
  quantities: readonly Column[],
  ticket: Column | undefined,
): readonly Column[] {
  const said = all.filter((column) => quantities.includes(column) || column.saysSeveral);
  const isOrder = rows.length > 1 && ticket !== undefined && isOrderName(ticket.name);
  const mayCount = ({ name, isCount }: Column): boolean => isCount && !isIdName(name) && !says(name, ...MONEY);
  const counts =
    said.length > 0 || !isOrder ? said : all.filter((column) => mayCount(column) && !prices.includes(column));
  return counts.filter((column) => items === undefined || isOfItem(column));
}

const MONEY = ["price", "inAll", "surcharge", "cents", "minorUnits"] as const;

const isOfItem = ({ name }: Column): boolean => name.startsWith("item.");

/** The number of tickets that a cell says; 0 where it says none. */
export const countIn = (cells: readonly string[], column: Column): number =>
  Number(/\d+/.exec(textIn(cells, column))?.[0] ?? 0);

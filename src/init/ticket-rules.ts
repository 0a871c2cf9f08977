/** Rules for tickets: how many of them a row is, and their ids. */

import { fold } from "../actions/nearest.ts";
import { cleanText, quoted } from "../text.ts";
import type { Column } from "./evidence.ts";
import { isIdName, isIdOfOther, joinedWords, namesTickets, wordsOf } from "./header-words.ts";
import type { Roles } from "./roles.ts";
import { alsoText, ask, differText, type Entry, flow, inner, inQuotes, template, text } from "./yaml.ts";

const rule = (value: string, note?: string): readonly Entry[] => [{ key: "ticketId", value, note }];

const NO_TICKET = "the id of the ticket: no column has such a name";

/** The number of tickets of an order, where a row is one and names no ticket, and nothing else may count them. */
export function orderCounted({ quantities, counts, order, ticket, ticketLists, items }: Roles): Column | undefined {
  const isTicket = ticketLists !== undefined || (ticket !== undefined && fold(ticket.name) === "ticketid");
  if (counts.length > 1 || order === undefined || items !== undefined || isTicket) return undefined;
  return counts[0] === quantities[0] ? counts[0] : undefined;
}

/** Whether a row is an order of several tickets, whose ids are made of the order's. */
const isOrder = ({ order, items, quantities, ticket }: Roles): boolean =>
  order !== undefined && items === undefined && quantities.length > 0 && fold(ticket?.name ?? "") !== "ticketid";

const uniquesIn = ({ all, counts }: Roles): readonly Column[] =>
  all.filter((column) => column.isUnique && column.mayBeId && !counts.includes(column));

/** The id of what is sold, which is different in every row. */
export function soldTickets(roles: Roles): readonly Column[] {
  const { ticket, ticketLists } = roles;
  if (ticket === undefined || ticketLists !== undefined || isOrder(roles)) return [];
  return [ticket, ...uniquesIn(roles).filter((column) => column !== ticket && isIdName(column.name))];
}

/** Where no column is the id of what is sold. */
export function unnamedTicket(roles: Roles): readonly Entry[] {
  const { ticketLists, order, allRows, repeated } = roles;
  if (ticketLists !== undefined)
    return rule(
      ask(`the id of the ticket: ${cleanText(ticketLists, 40)} may have several in a row`),
      "each: gives an action for each of them, with its id in {item.…}: docs/mapping.md, One row, several tickets",
    );
  if (order !== undefined && isOrder(roles)) {
    const note = `guess: ${quoted(order.name)} is different in ${allRows}, {n} counts its tickets`;
    return rule(inQuotes(`${inner(order)}-{n}`), note);
  }
  const [first, ...more] = uniquesIn(roles);
  const note = first && `or ${template(first)}, if that is one: different in ${allRows}${alsoText(more)}`;
  const asked =
    repeated &&
    `the id of the ticket: ${inner(repeated)}, if what comes again is a refund or a scan (${differText(repeated)})`;
  return rule(ask(asked ?? NO_TICKET), note);
}

/** The ticket of something that may happen repeatedly, so its id need not be different in every row. */
export function knownTickets({ all, find }: Roles): readonly Column[] {
  const columns = find("ticketId");
  return [
    // A column named only "id" may hold the id of the scan, or of the refund.
    ...columns.filter(({ name }) => namesTickets(name) || /^(?:publicid|code|codice|codigo)$/.test(joinedWords(name))),
    ...columns.filter(({ name }) => isIdName(name) && !isIdOfOther(name) && wordsOf(name).length > 1),
    ...all.filter((column) => fold(column.name) === "nftid" && column.mayBeId),
  ];
}

export function unknownTicket({ all }: Roles): readonly Entry[] {
  const [first, ...others] = all.filter((column) => (column.isUnique || isIdName(column.name)) && column.mayBeId);
  const note = first && `or ${template(first)}, if that is one: ${differText(first)}${alsoText(others)}`;
  return rule(ask(NO_TICKET), note);
}

/** How many tickets a row is: taken for one each, rows of several would lose the others, and may have the price of all. */
export function eachLines(roles: Roles, isSale: boolean): readonly Entry[] {
  const { items, inner: list } = roles;
  if (items !== undefined) {
    const asked = `${items}; if ${list} in them are the tickets, also each: {path: item.${list}} on each action: docs/mapping.md, A list in a JSON row`;
    const path = list === undefined ? text(items) : ask(asked);
    return [{ key: "each", value: flow({ path }), note: `guess: each item of ${items} is a ticket` }];
  }
  if (!isSale) return [];
  const count = orderCounted(roles);
  if (count === undefined) return eachAsked(roles);
  const back = [...count.values.keys()].find((number) => number.startsWith("-"));
  const asked = `${back} is no count: remove this line, and write each: {count: '${inner(count)}'} and when: {${count.name}: {above: 0}} in soldTicket`;
  const note = "guess: each row is an order of so many tickets";
  return [{ key: "each", value: flow({ count: back === undefined ? template(count) : ask(asked) }), note }];
}

function eachAsked({ counts, quantities }: Roles): readonly Entry[] {
  if (counts.length === 0) return [];
  const isByPrice = counts.length === 1 && counts[0]?.isNumber === true && quantities.length === 0;
  const names = `${counts.map(inner).join(" and ")}${isByPrice ? ", by which the price is the same in more rows" : ""}`;
  const how =
    counts.length > 1
      ? "give each its own action, with its count and price, and {n} in its ticketId"
      : "then ticketId needs {n}, and a price of all of them divide";
  const asked = `${names}, if a row is so many tickets; ${how}: docs/mapping.md, A quantity. Else remove this line`;
  return [{ key: "each", value: flow({ count: ask(asked) }) }];
}

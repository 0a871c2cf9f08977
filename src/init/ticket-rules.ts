/** Rules for tickets: how many of them a row is, and their ids. */

import { fold } from "../actions/nearest.ts";
import { cleanText, quoted } from "../text.ts";
import { isIdName, isIdOfOther, joinedWords, namesTickets, wordsOf } from "./header-words.ts";
import type { Roles } from "./roles.ts";
import { alsoText, ask, differText, type Entry, inner, perhaps, rowsText } from "./yaml.ts";

const rule = (value: string, note?: string): readonly Entry[] => [{ key: "ticketId", value, note }];

const NO_TICKET = "the id of the ticket: no column has such a name";

/** The id of what is sold, which is different in every row. */
export function soldTicket(roles: Roles): readonly Entry[] {
  const { ticket, ticketLists, numbered, order, allRows, repeated } = roles;
  const [, second] = numbered;
  if (second !== undefined)
    return rule(
      ask(`the id of the ticket: a row has several, in ${numbered.map(inner).join(", ")}`),
      `give each its own soldTicket, with its ticketId and price, and when: {${cleanText(second.name, 40)}: {empty: false}}`,
    );
  if (ticketLists !== undefined)
    return rule(
      ask(`the id of the ticket: ${cleanText(ticketLists, 40)} may have several in a row`),
      "each: gives an action for each of them, with its id in {item.…}: docs/mapping.md, One row, several tickets",
    );
  if (order !== undefined) {
    const note = `guess: ${quoted(order.name)} is different in ${allRows}, {n} counts its tickets`;
    return rule(`${inner(order)}-{n}`, note);
  }
  const uniques = roles.all.filter((column) => column.isUnique && column.mayBeId && !roles.counts.includes(column));
  if (ticket !== undefined) {
    const others = uniques.filter((column) => column !== ticket && isIdName(column.name));
    const where = ticket.isUnique ? allRows : `${ticket.distinct} of ${rowsText(ticket.rows)}`;
    return rule(inner(ticket), `guess: different in ${where}${alsoText(others)}`);
  }
  const asked =
    repeated &&
    `the id of the ticket: ${inner(repeated)} repeats (${repeated.distinct} values in ${rowsText(repeated.rows)}): use it if the repeats are refunds or scans`;
  return rule(ask(asked ?? NO_TICKET), perhaps(uniques));
}

/** The ticket of something that may happen repeatedly, so its id need not be different in every row. */
export function knownTicket({ all, find }: Roles): readonly Entry[] {
  const columns = find("ticketId");
  const [id] = [
    // A column named only "id" may hold the id of the scan, or of the refund.
    ...columns.filter(({ name }) => namesTickets(name) || /^(?:publicid|code|codice|codigo)$/.test(joinedWords(name))),
    ...columns.filter(({ name }) => isIdName(name) && !isIdOfOther(name) && wordsOf(name).length > 1),
    ...all.filter((column) => fold(column.name) === "nftid" && column.mayBeId),
  ];
  if (id === undefined)
    return rule(
      ask(NO_TICKET),
      perhaps(all.filter((column) => (column.isUnique || isIdName(column.name)) && column.mayBeId)),
    );
  const key = fold(id.name) === "nftid" ? "nftId" : "ticketId";
  return [{ key, value: inner(id), note: `guess by name: ${differText(id)}` }];
}

/** How many tickets a row is: taken for one each, rows of several would lose the others, and may have the price of all. */
export function eachLines(roles: Roles, isSale: boolean): readonly Entry[] {
  const { items, inner: list, counted } = roles;
  if (items !== undefined) {
    const asked = `${items}; if ${list} in them are the tickets, also each: {path: item.${list}} on each action, where what is around them is {outer.…}: docs/mapping.md, A list in a JSON row`;
    const path = list === undefined ? items : ask(asked);
    return [{ key: "each", value: { path }, note: `guess: each item of ${items} is a ticket` }];
  }
  if (!isSale) return [];
  if (counted === undefined) return eachAsked(roles);
  const back = [...counted.values.keys()].find((number) => number.startsWith("-"));
  const asked = `${back} is no count: remove this line, and write each: {count: '${inner(counted)}'} and when: {${counted.name}: {above: 0}} in soldTicket`;
  const note = "guess: each row is an order of so many tickets";
  return [{ key: "each", value: { count: back === undefined ? inner(counted) : ask(asked) }, note }];
}

function eachAsked({ counts }: Roles): readonly Entry[] {
  if (counts.length === 0) return [];
  const names = counts.map(inner).join(" and ");
  const how =
    counts.length > 1
      ? "give each its own action, with its count and price, and {n} in its ticketId"
      : "then ticketId needs {n}, and a price of all of them divide";
  const asked = `${names}, if a row is so many tickets; ${how}: docs/mapping.md, A quantity. Else remove this line`;
  return [{ key: "each", value: { count: ask(asked) } }];
}

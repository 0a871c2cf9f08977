/** Rules for the ids of events, tickets and users, as far as their columns show them. */

import { fold } from "../actions/nearest.ts";
import { cleanText, quoted } from "../actions/text.ts";
import type { Columns } from "./columns.ts";
import type { Entry } from "./config-text.ts";
import { type Column, holdsEmails, idForm, mayBeId, textIn } from "./evidence.ts";
import {
  isEventIdName,
  isIdName,
  isIdOfOther,
  joinedWords,
  namesBefore,
  namesTickets,
  wordsOf,
} from "./header-words.ts";
import { alsoText, ask, inner, rowsText, template, templateText } from "./notes.ts";

const NO_TICKET = "the id of the ticket: no column has such a name";

const differText = ({ distinct, rows }: Column): string => `${distinct} different in ${rowsText(rows)}`;

export function eventRule({ find, ticket }: Columns): Entry {
  const key = "eventId";
  const [event, ...others] = find("eventId").filter((column) => column !== ticket);
  if (event === undefined) return { key, value: ask("the id of the event: no column has such a name") };
  const shown = `${differText(event)}${alsoText(others)}`;
  return isEventIdName(event.name)
    ? { key, value: template(event), note: `guess by name: ${shown}` }
    : { key, value: ask("the id of the event"), note: `or ${templateText(event)}, if that is one: ${shown}` };
}

/** The id of an event in a list of events. */
export function eventIdRule({ all, find }: Columns): { readonly column: Column | undefined; readonly rule: Entry } {
  const column =
    find("eventId").find((each) => each.isUnique || isEventIdName(each.name)) ??
    all.find((each) => each.isUnique && isIdName(each.name));
  const key = "eventId";
  if (column === undefined)
    return { column, rule: { key, value: ask("the id of the event: no column has such a name") } };
  return { column, rule: { key, value: template(column), note: "guess by name" } };
}

/** The id of what is sold, which is different in every row. */
export function soldTicketRule({ all, rows, ticket, order, quantities, counts, ticketLists, items }: Columns): Entry {
  const key = "ticketId";
  if (ticketLists !== undefined)
    return {
      key,
      value: ask(`the id of the ticket: ${cleanText(ticketLists, 40)} may have several in a row`),
      note: "each: gives an action for each of them, with its id in {item.…}: docs/mapping.md, One row, several tickets",
    };
  const total = all[0]?.allRows ?? "";
  if (order !== undefined && items === undefined && quantities.length > 0 && !isField(ticket))
    return {
      key,
      value: { inQuotes: `${inner(order)}-{n}` },
      note: `guess: ${quoted(order.name)} is different in ${total}, {n} counts its tickets`,
    };
  const uniques = all.filter((column) => column.isUnique && mayBeId(column) && !counts.includes(column));
  if (ticket !== undefined) {
    const where = ticket.isUnique ? total : `${ticket.distinct} of ${rowsText(rows.length)}`;
    const others = uniques.filter((column) => column !== ticket && isIdName(column.name));
    return { key, value: template(ticket), note: `guess: different in ${where}${alsoText(others)}` };
  }
  const pair = uniqueTogether(all, rows);
  if (pair !== undefined)
    return {
      key,
      value: { inQuotes: pair.map(inner).join("-") },
      note: `guess: only together are they different in ${total}`,
    };
  const [first, ...more] = uniques;
  if (first === undefined) return { key, value: ask(NO_TICKET) };
  return {
    key,
    value: ask(NO_TICKET),
    note: `or ${templateText(first)}, if that is one: different in ${total}${alsoText(more)}`,
  };
}

const isField = (ticket: Column | undefined): boolean => ticket !== undefined && fold(ticket.name) === "ticketid";

/** Two columns named like ids that differ in every row only together. */
function uniqueTogether(columns: readonly Column[], rows: Columns["rows"]): readonly [Column, Column] | undefined {
  const ids = columns
    .filter((column) => isIdName(column.name) && mayBeId(column) && column.filled === column.rows)
    .slice(0, 12);
  for (const [at, one] of ids.entries())
    for (const other of ids.slice(at + 1)) {
      if (one.distinct * other.distinct < rows.length) continue;
      const seen = new Set(rows.map((cells) => JSON.stringify([one, other].map((id) => idForm(textIn(cells, id))))));
      if (seen.size === rows.length) return [one, other];
    }
  return undefined;
}

/** The ticket of something that may happen repeatedly, so its id need not be different in every row. */
export function knownTicketRule({ all, find }: Columns): Entry {
  const columns = find("ticketId");
  const ticket =
    // A column named only "id" may hold the id of the scan, or of the refund.
    columns.find(({ name }) => namesTickets(name) || /^(?:publicid|code|codice|codigo)$/.test(joinedWords(name))) ??
    columns.find(({ name }) => isIdName(name) && !isIdOfOther(name) && wordsOf(name).length > 1) ??
    all.find((column) => fold(column.name) === "nftid" && mayBeId(column));
  if (ticket !== undefined)
    return {
      key: fold(ticket.name) === "nftid" ? "nftId" : "ticketId",
      value: template(ticket),
      note: `guess by name: ${differText(ticket)}`,
    };
  const [first, ...others] = all.filter((column) => (column.isUnique || isIdName(column.name)) && mayBeId(column));
  return {
    key: "ticketId",
    value: ask(NO_TICKET),
    note: first && `or ${templateText(first)}, if that is one: ${differText(first)}${alsoText(others)}`,
  };
}

/** @param isResale - of two users, who gives the ticket away is none. */
export function userRule(
  { all, ticket, find }: Columns,
  isResale = false,
  what = "the column that tells one buyer from another, in braces; the id of the sale where the export names no buyer",
): Entry {
  const found = [...find("userId"), ...all.filter(holdsEmails)];
  const [user, ...others] = new Set(
    found.filter((column) => column !== ticket && !(isResale && namesBefore(column.name))),
  );
  if (user === undefined) return { key: "userId", value: ask(what) };
  const note = `guess: filled in ${user.filled} of ${rowsText(user.rows)}${alsoText(others)}`;
  return { key: "userId", value: template(user), note };
}

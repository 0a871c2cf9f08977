/** Rules for the ids of events, tickets and users, as far as their columns can be told. */

import { fold } from "../actions/nearest.ts";
import { type ColumnProfile, isUnique } from "./column-profile.ts";
import { WORDS, wordsOf } from "./header-words.ts";
import { areUniqueTogether, EVENT_ID_NAME, isIdName, isIdOfOther, mayBeId } from "./id-columns.ts";
import type { Evidence } from "./sample.ts";
import type { Columns } from "./unknown-columns.ts";
import { ask, inner, namesText, quoted, rowsText, template } from "./words.ts";

export function eventLine([event, ...others]: readonly ColumnProfile[]): readonly string[] {
  if (event === undefined) return [`  eventId: ${ask("the id of the event: no column is called so")}`];
  const told = `${event.values.size} different in ${rowsText(event.rows)}${others.length === 0 ? "" : `; also ${namesText(others)}`}`;
  if (!EVENT_ID_NAME.test(wordsOf(event.name).join("")))
    return [`  eventId: ${ask("the id of the event")}   # or ${template(event)}, if that is one: ${told}`];
  return [`  eventId: ${template(event)}   # guess by name: ${told}`];
}

export function ticketLine({ rows }: Evidence, { all, ticket, order }: Columns): readonly string[] {
  const total = rowsText(rows.length);
  if (order !== undefined)
    return [
      `  ticketId: ${JSON.stringify(`${inner(order.id)}-{n}`)}   # guess: ${quoted(order.id.name)} is different in all ${total}, {n} counts its tickets`,
    ];
  if (ticket !== undefined) {
    const others = all.filter((column) => column !== ticket && isUnique(column) && isIdName(column) && mayBeId(column));
    return [
      `  ticketId: ${template(ticket)}   # guess: different in all ${total}${others.length === 0 ? "" : `, as also ${namesText(others)}`}`,
    ];
  }
  const ids = all.filter((column) => isIdName(column) && mayBeId(column)).slice(0, 12);
  for (const [at, one] of ids.entries()) {
    for (const other of ids.slice(at + 1)) {
      if (!areUniqueTogether(one, other, rows)) continue;
      return [
        `  ticketId: ${JSON.stringify(`${inner(one)}-${inner(other)}`)}   # guess: only together are they different in all ${total}`,
      ];
    }
  }
  const unique = all.filter((column) => isUnique(column) && mayBeId(column));
  const [first] = unique;
  if (first !== undefined)
    return [
      `  ticketId: ${ask("the id of the ticket: no column is called so")}   # or ${template(first)}, if that is one: different in all ${total}${unique.length === 1 ? "" : `; so are ${namesText(unique.slice(1))}`}`,
    ];
  return [
    `  ticketId: ${ask("no column that may be an id, and no two that are called so, are different in every row")}`,
  ];
}

/** The ticket of something that may happen to it again and again, so it need not be different in every row. */
export function knownTicket({ all, called: find }: Columns): ColumnProfile | undefined {
  const exact = WORDS.ticketId.split(" ");
  // An id and nothing more may be that of the scan, or of the refund.
  const isTicket = ({ name }: ColumnProfile): boolean => {
    const joined = wordsOf(name).join("");
    return exact.includes(joined) && !/^(?:id|uuid|guid)$/.test(joined);
  };
  const columns = find("ticketId").filter(mayBeId);
  return (
    columns.find(isTicket) ??
    columns.find((column) => isIdName(column) && !isIdOfOther(column) && wordsOf(column.name).length > 1) ??
    all.find((column) => fold(column.name) === "nftid" && mayBeId(column))
  );
}

export function knownTicketLine(columns: Columns): string {
  const ticket = knownTicket(columns);
  if (ticket !== undefined)
    return `${fold(ticket.name) === "nftid" ? "nftId" : "ticketId"}: ${template(ticket)}   # guess by name: ${ticket.values.size} different in ${rowsText(ticket.rows)}`;
  const [first, ...others] = columns.all.filter((column) => (isUnique(column) || isIdName(column)) && mayBeId(column));
  return `ticketId: ${ask("the id of the ticket: no column is called so")}${first === undefined ? "" : `   # or ${template(first)}, if that is one: ${first.values.size} different in ${rowsText(first.rows)}${others.length === 0 ? "" : `; also ${namesText(others)}`}`}`;
}

export function userLine(
  candidates: readonly ColumnProfile[],
  what = "the column that tells one buyer from another, in braces",
): readonly string[] {
  const [user, ...others] = new Set(candidates);
  if (user === undefined) return [`userId: ${ask(what)}`];
  const rest = others.length === 0 ? "" : `; also ${namesText(others)}`;
  return [`userId: ${template(user)}   # guess: filled in ${user.filled} of ${rowsText(user.rows)}${rest}`];
}

/** Rules for the ids of events, tickets and users, as far as their columns can be told. */

import { fold } from "../actions/nearest.ts";
import { cleanText, quoted } from "../actions/text.ts";
import { type ColumnProfile, isUnique } from "./column-profile.ts";
import type { Entry } from "./config-text.ts";
import { WORDS, wordsOf } from "./header-words.ts";
import { areUniqueTogether, EVENT_ID_NAME, isIdName, isIdOfOther, mayBeId } from "./id-columns.ts";
import type { Evidence } from "./sample.ts";
import type { Columns } from "./unknown-columns.ts";
import { allRowsText, alsoText, ask, inner, namesText, rowsText, template, templateText } from "./words.ts";

export function eventRule([event, ...others]: readonly ColumnProfile[]): Entry {
  const key = "eventId";
  if (event === undefined) return { key, value: ask("the id of the event: no column has such a name") };
  const told = `${event.values.size} different in ${rowsText(event.rows)}${alsoText(others)}`;
  if (!EVENT_ID_NAME.test(wordsOf(event.name).join("")))
    return { key, value: ask("the id of the event"), note: `or ${templateText(event)}, if that is one: ${told}` };
  return { key, value: template(event), note: `guess by name: ${told}` };
}

export function ticketRule({ rows }: Evidence, { all, ticket, order, ticketLists }: Columns): Entry {
  const key = "ticketId";
  if (ticketLists !== undefined)
    return {
      key,
      value: ask(`the id of the ticket: ${cleanText(ticketLists, 40)} may have several in a row`),
      note: "each: gives an action for each of them, with its id in {item.…}: docs/mapping.md, One row, several tickets",
    };
  const total = allRowsText(rows.length);
  if (order !== undefined)
    return {
      key,
      value: { inQuotes: `${inner(order.id)}-{n}` },
      note: `guess: ${quoted(order.id.name)} is different in ${total}, {n} counts its tickets`,
    };
  if (ticket !== undefined) {
    const others = all.filter((column) => column !== ticket && isUnique(column) && isIdName(column) && mayBeId(column));
    return {
      key,
      value: template(ticket),
      note: `guess: different in ${isUnique(ticket) ? total : `the ${ticket.filled} of ${rowsText(rows.length)} where it is filled`}${others.length === 0 ? "" : `; so are ${namesText(others)}`}`,
    };
  }
  const pair = uniqueTogether(all, rows);
  if (pair !== undefined)
    return {
      key,
      value: { inQuotes: pair.map(inner).join("-") },
      note: `guess: only together are they different in ${total}`,
    };
  const [first, ...more] = all.filter((column) => isUnique(column) && mayBeId(column));
  if (first === undefined)
    return {
      key,
      value: ask("no column that may be an id differs in every row, and no two named like ids do together"),
    };
  return {
    key,
    value: ask(NO_TICKET),
    note: `or ${templateText(first)}, if that is one: different in ${total}${more.length === 0 ? "" : `; so are ${namesText(more)}`}`,
  };
}

const NO_TICKET = "the id of the ticket: no column has such a name";

/** Two columns named like ids that differ in every row only together. */
function uniqueTogether(
  columns: readonly ColumnProfile[],
  rows: readonly (readonly string[])[],
): readonly [ColumnProfile, ColumnProfile] | undefined {
  const ids = columns.filter((column) => isIdName(column) && mayBeId(column)).slice(0, 12);
  for (const [at, one] of ids.entries())
    for (const other of ids.slice(at + 1)) if (areUniqueTogether(one, other, rows)) return [one, other];
  return undefined;
}

/** The ticket column for something that may happen repeatedly, so it need not be different in every row. */
export function knownTicket({ all, called: find }: Columns): ColumnProfile | undefined {
  const exact = WORDS.ticketId.split(" ");
  // A column named only "id" may hold the id of the scan, or of the refund.
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

export function knownTicketRule(columns: Columns): Entry {
  const ticket = knownTicket(columns);
  const differ = ({ values, rows }: ColumnProfile): string => `${values.size} different in ${rowsText(rows)}`;
  if (ticket !== undefined)
    return {
      key: fold(ticket.name) === "nftid" ? "nftId" : "ticketId",
      value: template(ticket),
      note: `guess by name: ${differ(ticket)}`,
    };
  const [first, ...others] = columns.all.filter((column) => (isUnique(column) || isIdName(column)) && mayBeId(column));
  return {
    key: "ticketId",
    value: ask(NO_TICKET),
    note:
      first === undefined
        ? undefined
        : `or ${templateText(first)}, if that is one: ${differ(first)}${alsoText(others)}`,
  };
}

export function userRule(
  candidates: readonly ColumnProfile[],
  what = "the column that tells one buyer from another, in braces",
): Entry {
  const [user, ...others] = new Set(candidates);
  if (user === undefined) return { key: "userId", value: ask(what) };
  const note = `guess: filled in ${user.filled} of ${rowsText(user.rows)}${alsoText(others)}`;
  return { key: "userId", value: template(user), note };
}

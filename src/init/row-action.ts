/** Which action the rows of an export most likely are. */

import { ACTION_NAMES, ACTIONS, type ActionName, isActionName } from "../actions/actions.ts";
import { actionOfFileName, fieldsOf, missingFields, readColumns } from "../map/named-columns.ts";
import type { Column } from "./evidence.ts";
import { actionInFileName, mayNameSale, namesSale, says } from "./header-words.ts";
import type { Roles } from "./roles.ts";

/** What the rows are taken for. */
export interface Taken {
  readonly action: ActionName;
  readonly why: string;
  /** What the user must answer first, where nothing says which action it is, or only a word of the file's name. */
  readonly doubt?: string;
  /** Whether columns named like fields give all that the action needs. */
  readonly isNamed?: boolean;
}

export const isOfEvents = (action: ActionName): boolean => ACTIONS[action].about === "event";

const NONE_RELAXED: ReadonlySet<string> = new Set();
export const fieldsTaken = (action: ActionName): ReadonlySet<string> => fieldsOf(action, NONE_RELAXED);

/** Columns named like fields of the action, by the fields. */
export function fieldColumns({ columns, header }: Roles, action: ActionName): ReadonlyMap<string, Column> {
  const takes = fieldsTaken(action);
  return new Map(
    [...readColumns(header).fields].flatMap(([field, index]) => {
      const column = columns[index];
      return column === undefined || !takes.has(field) || /[{}]/.test(column.name) ? [] : [[field, column] as const];
    }),
  );
}

/** The actions that the rows name in a column called action; none where one of the names is unknown. */
export function ownActions({ header, columns, otherLists, items }: Roles): readonly ActionName[] {
  const { action, fields, conflict } = readColumns(header);
  const column = action === undefined ? undefined : columns[action];
  if (column === undefined || conflict !== undefined || fields.size === 0) return [];
  if (otherLists.length > 0 || items !== undefined) return [];
  const named = [...column.values.keys()];
  return column.filled === column.rows && named.every(isActionName) ? named : [];
}

/** The file's name decides, as without a config; then the columns named like fields; then what the columns speak of. */
export function takenFor(roles: Roles): Taken {
  const { header, fileName, otherLists, items } = roles;
  const { fields, action, conflict } = readColumns(header);
  const used = (name: ActionName): number => [...fields.keys()].filter((field) => fieldsTaken(name).has(field)).length;
  const canBeNamed = conflict === undefined && action === undefined && otherLists.length === 0 && items === undefined;
  const isNamed = (name: ActionName): boolean =>
    canBeNamed && missingFields(name, (field) => fields.has(field)).length === 0 && used(name) >= 2;
  const said = actionOfFileName(fileName);
  if (said !== undefined) return { action: said, why: "as the file's name says", isNamed: isNamed(said) };
  const hinted = actionInFileName(fileName);
  if (hinted !== undefined) {
    const doubt = `a word of the file's name means ${hinted}`;
    return { action: hinted, why: "guess: by a word of the file's name", doubt };
  }
  const about = fields.has("ticketId") || fields.has("nftId") ? "ticket" : "event";
  const named = ACTION_NAMES.filter((name) => isNamed(name) && ACTIONS[name].about === about);
  return (
    namedLike(
      named.sort((one, other) => used(other) - used(one)),
      roles,
    ) ?? spokenOf(roles)
  );
}

/** @param fitting - actions whose fields are there, the one with most of them first. */
function namedLike([best, ...others]: readonly ActionName[], roles: Roles): Taken | undefined {
  if (best === undefined) return undefined;
  const named = fieldColumns(roles, best);
  const isEvent = isOfEvents(best);
  // Sales name their event too; taken for a list of events, they would be lost.
  const beside = roles.columns.filter((column) => ![...named.values()].includes(column));
  if (isEvent && beside.some(({ name }) => mayNameSale(name))) return undefined;
  const meant = others.length === 0 ? "" : `; ${others.slice(0, 3).join(", ")} could be meant too`;
  const why = `guess: most of its fields are there${meant}`;
  if (isEvent || best === "soldTicket" || best === "updateTicket" || (best === "claimedTicket" && named.has("to")))
    return { action: best, why, isNamed: true };
  // With an event or a price it may be a sale whose other columns have other names, or must be filled in.
  if (readColumns(roles.header).fields.has("eventId") || roles.prices.length > 0) return undefined;
  // A table of tickets and users or times may hold anything that happens to a ticket; of that, scans have the most that
  // may decide what a row gives.
  const among = new Set([best, ...others, "scannedTicket", "checkedInTicket", "invalidatedTicket"]);
  return { action: "scannedTicket", why, isNamed: true, doubt: `what the rows are: ${[...among].join(", ")}` };
}

/** By what the names of the columns speak of: events, scans, sales. */
function spokenOf({ fileName, columns, items, prices, all, order, currency, find }: Roles): Taken {
  const isUnpriced = prices.length === 0;
  const hasUser = find("userId").length > 0;
  const mayBeEvents =
    items === undefined &&
    find("eventName").length > 0 &&
    (currency !== undefined || (!hasUser && find("startTime").length > 0));
  const maySell = columns.some(({ name }) => mayNameSale(name));
  if (mayBeEvents && isUnpriced && order === undefined && !maySell)
    return { action: "newEvent", why: "guess: the file holds events" };
  // Sales may name a device too, but also the buyer.
  const isLog =
    order === undefined &&
    !hasUser &&
    all.some(({ name }) => says(name, "log")) &&
    !all.some(({ timeKind }) => timeKind === "sale");
  const namesGate =
    /scan|entr|gate|access|check/i.test(fileName) ||
    all.some(({ name, timeKind }) => timeKind === "entry" || /gate|scan|entry/i.test(name));
  if (isUnpriced && (namesGate || isLog))
    return {
      action: "scannedTicket",
      why: "guess: the file holds scans; checkedInTicket, which ends a ticket's life, could be meant too",
    };
  if (!mayBeEvents || columns.some(({ name }) => namesSale(name)))
    return { action: "soldTicket", why: "guess: the rows look like sales" };
  return {
    action: "soldTicket",
    why: "guess: some of its columns may be of sales",
    doubt: "the rows may be sales, or events",
  };
}

/** Which action the rows of an export most likely are. */

import { ACTION_NAMES, ACTIONS, type ActionName, isActionName } from "../actions/actions.ts";
import { actionOfFileName, fieldsOf, missingFields, readColumns } from "../map/columns.ts";
import { type Columns, fieldColumns } from "./columns.ts";
import type { Evidence } from "./evidence.ts";
import { actionInFileName, mayNameSale, namesSale, says, timeKindOf } from "./header-words.ts";

/** What the rows are taken for. */
export interface Taken {
  readonly action: ActionName;
  readonly why: string;
  /** What the user must answer first, where nothing says which action it is, or only a word of the file's name. */
  readonly doubt?: string;
  /** Whether columns named like fields give all that the action needs. */
  readonly isNamed?: boolean;
}

/** The file's name decides, as without a config; then the columns named like fields; then what the columns speak of. */
export function takenFor(evidence: Evidence, columns: Columns): Taken {
  const { fields, action, conflict } = readColumns(evidence.header);
  const used = (name: ActionName): number => [...fieldsOf(name, new Set())].filter((field) => fields.has(field)).length;
  const canBeNamed =
    conflict === undefined && action === undefined && !evidence.lists?.some((list) => list !== "metadataAttributes");
  const has = (name: ActionName): boolean =>
    canBeNamed && missingFields(name, (field) => fields.has(field)).length === 0 && used(name) >= 2;
  const said = actionOfFileName(evidence.fileName);
  if (said !== undefined) return { action: said, why: "as the file's name says", isNamed: has(said) };
  const hinted = actionInFileName(evidence.fileName);
  if (hinted !== undefined)
    return {
      action: hinted,
      why: "guess: by a word of the file's name",
      doubt: `a word of the file's name means ${hinted}`,
    };
  const isOfTickets = fields.has("ticketId") || fields.has("nftId");
  const [best, ...others] = ACTION_NAMES.filter(
    (name) => has(name) && (ACTIONS[name].about === "ticket") === isOfTickets,
  ).sort((one, other) => used(other) - used(one));
  return (best === undefined ? undefined : namedLike(best, others, evidence, columns)) ?? spokenOf(evidence, columns);
}

function namedLike(
  best: ActionName,
  others: readonly ActionName[],
  evidence: Evidence,
  { prices }: Columns,
): Taken | undefined {
  const named = fieldColumns(evidence, best);
  const isEvent = ACTIONS[best].about === "event";
  // Sales name their event too; taken for a list of events, they would be lost.
  const beside = evidence.columns.filter((column) => ![...named.values()].includes(column));
  if (isEvent && beside.some(({ name }) => mayNameSale(name))) return undefined;
  const why = `guess: most of its fields are there${others.length === 0 ? "" : `; ${others.slice(0, 3).join(", ")} could be meant too`}`;
  if (isEvent || best === "soldTicket" || best === "updateTicket" || (best === "claimedTicket" && named.has("to")))
    return { action: best, why, isNamed: true };
  // With an event or a price it may be a sale whose other columns have other names, or must be filled in.
  if (readColumns(evidence.header).fields.has("eventId") || prices.length > 0) return undefined;
  // A table of tickets and users or times may hold anything that happens to a ticket.
  const more = (["scannedTicket", "checkedInTicket", "invalidatedTicket"] as const).filter(
    (name) => name !== best && !others.includes(name),
  );
  // Of these, scans have the most that may decide what a row gives.
  return {
    action: "scannedTicket",
    why,
    isNamed: true,
    doubt: `what the rows are: ${[best, ...others, ...more].join(", ")}`,
  };
}

/** By what the names of the columns speak of: events, scans, sales. */
function spokenOf({ fileName, columns, items }: Evidence, { prices, all, order, currency, find }: Columns): Taken {
  const isUnpriced = prices.length === 0;
  const mayBeEvents =
    items === undefined &&
    find("eventName").length > 0 &&
    (currency !== undefined || (find("userId").length === 0 && find("startTime").length > 0));
  const ofSales = columns.filter(({ name }) => mayNameSale(name));
  if (mayBeEvents && isUnpriced && order === undefined && ofSales.length === 0)
    return { action: "newEvent", why: "guess: the file holds events" };
  // Sales may name a device too, but also the buyer.
  const isLog =
    all.some(({ name }) => says(name, "log")) &&
    order === undefined &&
    find("userId").length === 0 &&
    !all.some(({ name }) => timeKindOf(name) === "sale");
  const namesGate =
    /scan|entr|gate|access|check/i.test(fileName) || all.some(({ name }) => /gate|scan|entry/i.test(name));
  if (isUnpriced && (namesGate || isLog))
    return {
      action: "scannedTicket",
      why: "guess: the file holds scans; checkedInTicket, which ends a ticket's life, could be meant too",
    };
  return !mayBeEvents || ofSales.some(({ name }) => namesSale(name))
    ? { action: "soldTicket", why: "guess: the rows look like sales" }
    : {
        action: "soldTicket",
        why: "guess: some of its columns may be of sales",
        doubt: "the rows may be sales, or events",
      };
}

/** The actions that the rows name in a column called action; none where one of the names is unknown. */
export function ownActions({ header, columns, lists }: Evidence): readonly ActionName[] {
  const { action, fields, conflict } = readColumns(header);
  const column = action === undefined ? undefined : columns[action];
  if (column === undefined || conflict !== undefined || fields.size === 0) return [];
  if (lists?.some((list) => list !== "metadataAttributes")) return [];
  const named = [...column.values.keys()];
  return column.filled === column.rows && named.every(isActionName) ? named : [];
}

/** Which action the rows of an export most likely are. */

import { ACTION_NAMES, ACTIONS, type ActionName, isActionName } from "../actions/actions.ts";
import { fold } from "../actions/nearest.ts";
import { actionOfFileName, fieldsOf, missingFields } from "../map/named-columns.ts";
import type { Column } from "./column.ts";
import { isOrderName, joinedWords, namesTicket, runsOf, says, WORDS, wordsOf } from "./header-words.ts";
import type { Roles } from "./roles.ts";
import { actionInFileName, timeKindOf } from "./time-words.ts";

/** What the rows are taken for. */
export interface Taken {
  readonly action: ActionName;
  readonly why: string;
  /** What the user must answer first, where nothing says which action it is, or only a word of the file's name. */
  readonly doubt?: string;
}

export const isOfEvents = (action: ActionName): boolean => ACTIONS[action].about === "event";

const NONE_RELAXED: ReadonlySet<string> = new Set();
export const fieldsTaken = (action: ActionName): ReadonlySet<string> => fieldsOf(action, NONE_RELAXED);

/** Columns named like fields of the action, by the fields. */
export function fieldColumns({ columns, fieldNames }: Roles, action: ActionName): ReadonlyMap<string, Column> {
  const takes = fieldsTaken(action);
  return new Map(
    [...fieldNames.fields].flatMap(([field, index]) => {
      const column = columns[index];
      return column === undefined || !takes.has(field) || /[{}]/.test(column.name) ? [] : [[field, column] as const];
    }),
  );
}

/** Whether columns named like fields can be read without rules, which lists need. */
const needsNoRules = ({ fieldNames, otherLists, items }: Roles): boolean =>
  fieldNames.conflict === undefined && otherLists.length === 0 && items === undefined;

/** Columns named like fields where they give all that the action needs, so that it needs no rules; else none. */
export function namedColumns(roles: Roles, action: ActionName): ReadonlyMap<string, Column> {
  const { fields, action: own } = roles.fieldNames;
  const columns = fieldColumns(roles, action);
  const isAll = columns.size >= 2 && missingFields(action, (field) => fields.has(field)).length === 0;
  return own === undefined && isAll && needsNoRules(roles) ? columns : new Map();
}

/** The actions that the rows name in a column called action; none where one of the names is unknown. */
export function ownActions(roles: Roles): readonly ActionName[] {
  const { action = -1, fields } = roles.fieldNames;
  const column = roles.columns[action];
  if (column === undefined || fields.size === 0 || !needsNoRules(roles)) return [];
  const given = [...column.values.keys()];
  return column.filled === column.rows && given.every(isActionName) ? given : [];
}

/** The file's name decides, as without a config; then what the columns speak of. */
export function takenFor(roles: Roles): Taken {
  const said = actionOfFileName(roles.fileName);
  if (said !== undefined) return { action: said, why: "as the file's name says" };
  const hinted = actionInFileName(roles.fileName);
  if (hinted === undefined) return spokenOf(roles);
  const doubt = `a word of the file's name means ${hinted}`;
  return { action: hinted, why: "guess: by a word of the file's name", doubt };
}

/** By what the names of the columns speak of: events, scans, sales. */
function spokenOf(roles: Roles): Taken {
  const { fileName, columns, items, prices, all, order, currency, find } = roles;
  const isPriced = prices.length > 0;
  const hasUser = find("userId").length > 0;
  const mayBeEvents =
    items === undefined &&
    find("eventName").length > 0 &&
    (currency !== undefined || (!hasUser && find("startTime").length > 0));
  const areEvents = namedColumns(roles, "newEvent").size > 0 || (mayBeEvents && !isPriced && order === undefined);
  // Sales name their event too; taken for a list of events, they would be lost.
  if (areEvents && !columns.some(({ name }) => mayNameSale(name)))
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
  if (!isPriced && (namesGate || isLog))
    return {
      action: "scannedTicket",
      why: "guess: the file holds scans; checkedInTicket, which ends a ticket's life, could be meant too",
    };
  if (mayBeEvents && !columns.some(({ name }) => namesSale(name)))
    return {
      action: "soldTicket",
      why: "guess: some of its columns may be of sales",
      doubt: "the rows may be sales, or events",
    };
  const speaksOfSales = ({ name }: Column): boolean => says(name, "price") || (namesSale(name) && !isOfTicket(name));
  const isSale = isPriced || items !== undefined || find("eventId").length > 0 || columns.some(speaksOfSales);
  if (isSale || !columns.some(({ name }) => isOfTicket(name)))
    return { action: "soldTicket", why: "guess: the rows look like sales" };
  // Of all that happens to a ticket, scans have the most that may decide what a row gives.
  const among = ACTION_NAMES.filter((name) => !isOfEvents(name));
  const why = "guess: it may be anything that happens to tickets";
  return { action: "scannedTicket", why, doubt: `what the rows are, of ${among.join(", ")}` };
}

/** Whether it is named like what every action of a ticket has. */
const isOfTicket = (name: string): boolean => namesTicket(name) || fold(name) === "ordertime";

/** What an event may have too: its cheapest price, the organiser's address, its kinds of tickets. */
const PERSON_OR_SEAT =
  /^(?:e?mail|emailaddress|courriel|correo|userid|(?:first|last|full)name|surname|vorname|nachname|prenom|cognome|apellidos?|tickettype|ticketname|seat|seatrow|seatnumber|seatno|sitzplatz|platznummer)$/;
/** `Products sold` counts them. */
const SOLD_ALONE = /^(?:sold|ordered|purchased|bought|booked|verkauft|gekauft|bestellt)$/;
const PRICE_NAMES: ReadonlySet<string> = new Set(WORDS.price.split(" "));

/** Whether a column of this name is of a sale: an order's number or date, its buyer, a ticket. */
const namesSale = (name: string): boolean =>
  isOrderName(name) ||
  namesTicket(name) ||
  says(name, "buyer") ||
  (timeKindOf(name) === "sale" && !SOLD_ALONE.test(wordsOf(name).at(-1) ?? ""));

/** Whether a column of this name may be of a sale. */
const mayNameSale = (name: string): boolean =>
  namesSale(name) ||
  PRICE_NAMES.has(joinedWords(name)) ||
  says(name, "price") ||
  [...runsOf(name)].some((run) => PERSON_OR_SEAT.test(run));

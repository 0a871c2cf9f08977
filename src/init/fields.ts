/** How each field is guessed: the rule by the surest of the columns that may hold it, or what is asked without one. */

import type { ActionName } from "../actions/actions.ts";
import { fold } from "../actions/nearest.ts";
import { type Column, holdsEmails, textIn } from "./column.ts";
import { called } from "./find-columns.ts";
import { isEventIdName, isIdName, joinedWords, says } from "./header-words.ts";
import { priceLines } from "./price-rules.ts";
import type { Roles } from "./roles.ts";
import { fieldsTaken, isOfEvents } from "./row-action.ts";
import { knownTicket, soldTicket } from "./ticket-rules.ts";
import { isTimeField, type MayHoldTime, orderTimeLines, timeLines, timeRule } from "./time-rules.ts";
import { alsoText, ask, differText, inner, type Line, perhaps, rowsText } from "./yaml.ts";

/** What the rules of an action are made from. */
export interface View {
  readonly roles: Roles;
  readonly action: ActionName;
  /** Columns named like fields, by the fields, where they give all that the action needs. */
  readonly named: ReadonlyMap<string, Column>;
  readonly time: MayHoldTime;
}

const isSale = ({ action }: Pick<View, "action">): boolean => action === "soldTicket";

/** By field; the lists below say for which action, and in which order they are written. */
const RULES = {
  eventId: eventIdLines,
  ticketId: (view) => (isSale(view) ? soldTicket(view.roles) : knownTicket(view.roles)),
  userId: userIdLines,
  price({ roles, action }) {
    const prices = roles.prices.filter(({ name }) => action !== "resoldTicket" || !says(name, "before"));
    return priceLines(roles, prices, action === "soldTicket" ? roles.counted : undefined);
  },
  orderTime: ({ time, action, roles }) => orderTimeLines(time, action, roles),
  eventName: eventNameLines,
  currency(view) {
    const key = "currency";
    const { currency } = view.roles;
    if (currency !== undefined && !isSale(view)) return [{ key, value: inner(currency), note: "guess by name" }];
    const asked = `the currency of the events, such as ${currency === undefined ? "EUR" : inner(currency)}`;
    const also = isSale(view) ? "; or remove newEvent, if the events are registered elsewhere" : "";
    return [{ key, value: ask(`${asked}${also}`) }];
  },
  startTime: (view) => timeLines("startTime", startOf(view), "the event's start", view.roles),
  endTime: (view) => timeLines("endTime", endOf(view), "the event's end", view.roles),
  /** Of an update they are what changes. */
  metadataAttributes: () => {
    const asked = "a map from names to columns, as in docs/mapping.md; or write imageUrl or mediaUrl instead";
    return [{ key: "metadataAttributes", value: ask(`what changes: ${asked}`) }];
  },
} satisfies Record<string, (view: View) => readonly Line[]>;

type Ruled = keyof typeof RULES;

const linesFor = (view: View, fields: readonly Ruled[]): readonly Line[] => fields.flatMap((key) => RULES[key](view));

function eventIdLines({ action, roles }: View): readonly Line[] {
  const key = "eventId";
  const named = roles.find(key).filter((column) => column !== roles.ticket);
  const [id, ...others] = isOfEvents(action) ? idsOfEvents(roles) : named;
  if (id === undefined) {
    // Of what is around a list of tickets it may be called no more than id.
    const ids = roles.all.filter((column) => isIdName(column.name) && column.mayBeId && !column.isUnique);
    const value = ask("the id of the event: no column has such a name");
    return [{ key, value, note: perhaps(ids), ofThisFile: isOfEvents(action) ? undefined : key }];
  }
  if (isOfEvents(action) || isEventIdName(id.name))
    return [{ key, value: inner(id), note: `guess by name: ${differText(id)}${alsoText(others)}` }];
  const start = startWithin(id, roles);
  const doubt = start === undefined ? "" : `: ${start.name} differs within one ${id.name}, is each an event?`;
  return [{ key, value: ask(`the id of the event${doubt}`), note: perhaps([id, ...others]) }];
}

function userIdLines({ roles, action }: View): readonly Line[] {
  const key = "userId";
  const found = new Set([...roles.find(key), ...roles.all.filter(holdsEmails)]);
  // Of two users, who gives the ticket away is none.
  const [user, ...others] = [...found].filter(
    (column) => column !== roles.ticket && !(action === "resoldTicket" && says(column.name, "before")),
  );
  if (user !== undefined) {
    const note = `guess: filled in ${user.filled} of ${rowsText(user.rows)}${alsoText(others)}`;
    return [{ key, value: inner(user), note }];
  }
  const asked =
    action === "claimedTicket"
      ? "the column that tells one user from another, in braces; or write to: and the column of the wallet, which becomes public"
      : "the column that tells one buyer from another, in braces; the id of the sale where the export names no buyer";
  return [{ key, value: ask(asked) }];
}

function eventNameLines(view: View): readonly Line[] {
  const key = "eventName";
  const { all, find } = view.roles;
  if (isSale(view)) {
    const name = find(key).find((column) => !isEventIdName(column.name));
    if (name !== undefined) return [{ key, value: inner(name), note: "guess by name; public" }];
    return find("eventId").length > 0 ? [] : [{ key, value: ask("what the event is called; this is public") }];
  }
  // In a list of events it is often called no more than Name.
  const bare = all.filter(({ name }) => BARE_NAME.test(joinedWords(name)));
  const [id] = idsOfEvents(view.roles);
  const name = [...find(key), ...bare].find((column) => column !== id && column.times === undefined);
  return name === undefined ? [] : [{ key, value: inner(name), note: "guess by name" }];
}

const OF_ITS_EVENT = ["eventName", "currency", "startTime", "endTime"] as const;
const IN_ORDER = [
  ...(["eventId", "ticketId", "userId", "price", "metadataAttributes", "orderTime"] as const),
  ...OF_ITS_EVENT,
];

/** What registers the event of a sale. */
export const eventRules = (view: View): readonly Line[] => linesFor(view, OF_ITS_EVENT);

/** Rules of the source for all its actions, and those of the action. */
export function rulesOf(view: View): { readonly source: readonly Line[]; readonly fields: readonly Line[] } {
  const { roles, action, named } = view;
  const takes = fieldsTaken(action);
  const wanted = IN_ORDER.filter((field) => {
    if (field === "userId") return takes.has(field) && needsUser(view);
    if (field === "metadataAttributes") return action === "updateTicket" && named.size === 0;
    return takes.has(field);
  });
  const isOfSource = (field: Ruled): boolean => isSale(view) && (field === "eventId" || field === "ticketId");
  const source = linesFor(view, wanted.filter(isOfSource));
  const guessed = linesFor(
    view,
    wanted.filter((field) => !isOfSource(field)),
  );
  const ruled = new Set([...source, ...guessed].map((line) => ("key" in line ? line.key : "")));
  const others = [...named].flatMap(([field, column]): readonly Line[] => {
    if (ruled.has(field)) return [];
    return [isTimeField(field) ? timeRule(column, roles, field) : { key: field, value: inner(column) }];
  });
  return { source: source.map(withoutGuess), fields: [...guessed, ...others].map(withoutGuess) };
}

/** Where all columns are named like fields, a user that none is named like is asked for of sales alone. */
function needsUser({ action, named }: View): boolean {
  if (named.has("userId") || named.size === 0) return true;
  return action === "soldTicket" || action === "resoldTicket";
}

/** Whether a rule says no more than the name of its column; comments say nothing. */
export const isAsNamed = (line: Line): boolean =>
  "comment" in line ||
  (typeof line.value === "string" && fold(/^\{(.*)\}$/.exec(line.value)?.[1] ?? "") === fold(line.key));

/** That a column named like its field is that field's is no guess. */
const withoutGuess = (line: Line): Line => ("key" in line && isAsNamed(line) ? { ...line, note: undefined } : line);

const BARE_NAME = /^(?:name|bezeichnung|nom|nome|naam)$/;

function idsOfEvents({ all, find }: Roles): readonly Column[] {
  const named = find("eventId").find(({ isUnique, name }) => isUnique || isEventIdName(name));
  const id = named ?? all.find(({ isUnique, name }) => isUnique && isIdName(name));
  return id === undefined ? [] : [id];
}

/** A time of performances, of which an event of that name has several. */
function startWithin(id: Column, { all, rows }: Roles): Column | undefined {
  const starts = [...called("startTime", all), ...called("eventId", all)].filter(({ times }) => times !== undefined);
  return starts.find((start) => {
    const pairs = rows.map((cells) => [textIn(cells, id), textIn(cells, start)]).filter(([event]) => event !== "");
    return new Set(pairs.map((pair) => JSON.stringify(pair))).size > id.values.size;
  });
}

/** Of sales, a column that may be the event's id is no time. */
function namedTime({ action, roles: { find } }: View, key: "startTime" | "endTime"): readonly Column[] {
  const [first] = find(key);
  return first === undefined || (isSale({ action }) && find("eventId").includes(first)) ? [] : [first];
}

const endOf = (view: View): MayHoldTime => ({ columns: namedTime(view, "endTime") });

/** In a list of events any time may be the start, where no column is named like one. */
function startOf(view: View): MayHoldTime {
  const named = namedTime(view, "startTime");
  if (named.length > 0 || !isOfEvents(view.action) || view.named.has("startTime")) return { columns: named };
  const others = [...endOf(view).columns, ...view.named.values()];
  const columns = view.roles.all.filter(
    (column) =>
      column.mayBeTime && column.times?.kind !== "clock" && !isIdName(column.name) && !others.includes(column),
  );
  return { columns, doubt: "no column has such a name" };
}

export const eventTimes = (view: View): readonly Column[] => [...startOf(view).columns, ...endOf(view).columns];

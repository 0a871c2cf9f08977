/** How each field is guessed: which columns may hold it, the rule by the surest of them, and what is asked without one. */

import type { ActionName } from "../actions/actions.ts";
import { fold } from "../actions/nearest.ts";
import { type Column, holdsEmails, textIn } from "./evidence.ts";
import { isEventIdName, isIdName, joinedWords, says } from "./header-words.ts";
import { priceLines, unreadPrice } from "./price-rules.ts";
import { called, type Roles } from "./roles.ts";
import { fieldsTaken, isOfEvents } from "./row-action.ts";
import { knownTickets, orderCounted, soldTickets, unknownTicket, unnamedTicket } from "./ticket-rules.ts";
import { isTimeField, noOrderTime, type OrderTime, orderTimeLines, timeRule, whichOf } from "./time-rules.ts";
import { alsoText, ask, differText, inner, type Line, rowsText, template } from "./yaml.ts";

/** What the rules of an action are made from. */
export interface View {
  readonly roles: Roles;
  readonly action: ActionName;
  /** Columns named like fields, by the fields, where they give all that the action needs. */
  readonly named: ReadonlyMap<string, Column>;
  readonly time: OrderTime;
}

interface Guess {
  /** Columns that may hold it, the surest first. */
  candidates(view: View): readonly Column[];
  /** The note beside the column, or all that is written. */
  written(view: View, first: Column, others: readonly Column[]): string | readonly Line[];
  /** What is asked without a column, or all that is written then. */
  missing?(view: View): string | readonly Line[];
}

const isSale = ({ action }: View): boolean => action === "soldTicket";

/** By field; the lists below say for which action, and in which order they are written. */
const GUESSES = {
  eventId: {
    candidates: ({ action, roles }) =>
      isOfEvents(action) ? idsOfEvents(roles) : roles.find("eventId").filter((id) => id !== roles.ticket),
    written({ action, roles }, id, others) {
      if (isOfEvents(action)) return "guess by name";
      const shown = `${differText(id)}${alsoText(others)}`;
      if (isEventIdName(id.name)) return `guess by name: ${shown}`;
      const note = `or ${template(id)}, if that is one: ${shown}`;
      const start = startWithin(id, roles);
      const doubt = start && `: ${start.name} differs within one ${id.name}, is each an event?`;
      return [{ key: "eventId", value: ask(`the id of the event${doubt ?? ""}`), note }];
    },
    missing({ action, roles }) {
      const value = ask("the id of the event: no column has such a name");
      // Of what is around a list of tickets it may be called no more than id.
      const [id, ...others] = roles.all.filter((column) => isIdName(column.name) && column.mayBeId && !column.isUnique);
      const note = id && `or ${template(id)}, if that is one: ${differText(id)}${alsoText(others)}`;
      return [{ key: "eventId", value, note, ofThisFile: isOfEvents(action) ? undefined : "eventId" }];
    },
  },
  ticketId: {
    candidates: (view) => (isSale(view) ? soldTickets(view.roles) : knownTickets(view.roles)),
    written(view, id, others) {
      const key = fold(id.name) === "nftid" ? "nftId" : "ticketId";
      if (!isSale(view)) return [{ key, value: template(id), note: `guess by name: ${differText(id)}` }];
      const where = id.isUnique ? view.roles.allRows : `${id.distinct} of ${rowsText(id.rows)}`;
      return `guess: different in ${where}${alsoText(others)}`;
    },
    missing: (view) => (isSale(view) ? unnamedTicket(view.roles) : unknownTicket(view.roles)),
  },
  userId: {
    candidates({ roles, action }) {
      const found = new Set([...roles.find("userId"), ...roles.all.filter(holdsEmails)]);
      // Of two users, who gives the ticket away is none.
      const isNone = (user: Column): boolean =>
        user === roles.ticket || (action === "resoldTicket" && says(user.name, "before"));
      return [...found].filter((user) => !isNone(user));
    },
    written: (_view, user, others) => `guess: filled in ${user.filled} of ${rowsText(user.rows)}${alsoText(others)}`,
    missing: ({ action }) =>
      action === "claimedTicket"
        ? "the column that tells one user from another, in braces; or write to: and the column of the wallet, which becomes public"
        : "the column that tells one buyer from another, in braces; the id of the sale where the export names no buyer",
  },
  price: {
    candidates: ({ roles, action }) =>
      roles.prices.filter(({ name }) => action !== "resoldTicket" || !says(name, "before")),
    written: (view, price, others) =>
      priceLines(view.roles, [price, ...others], isSale(view) ? orderCounted(view.roles) : undefined),
    missing: ({ roles }) => [unreadPrice(roles)],
  },
  orderTime: {
    candidates: ({ time }) => time.columns,
    written: ({ time, action, roles }) => orderTimeLines(time, action, roles),
    missing: ({ action, roles }) => [noOrderTime(action, roles)],
  },
  eventName: {
    candidates(view) {
      const { all, find } = view.roles;
      if (isSale(view)) return find("eventName").filter(({ name }) => !isEventIdName(name));
      // In a list of events it is often called no more than Name.
      const bare = all.filter(({ name }) => BARE_NAME.test(joinedWords(name)));
      const [id] = idsOfEvents(view.roles);
      return [...find("eventName"), ...bare].filter((column) => column !== id && column.times === undefined);
    },
    written: (view) => `guess by name${isSale(view) ? "; public" : ""}`,
    missing: (view) =>
      isSale(view) && view.roles.find("eventId").length === 0 ? "what the event is called; this is public" : [],
  },
  currency: {
    candidates: (view) => (view.roles.currency === undefined || isSale(view) ? [] : [view.roles.currency]),
    written: () => "guess by name",
    missing(view) {
      const { currency } = view.roles;
      const what = `the currency of the events, such as ${currency === undefined ? "EUR" : inner(currency)}`;
      return isSale(view)
        ? `${what}; or remove newEvent, if the events are registered elsewhere`
        : `${what}: no column has such a name`;
    },
  },
  startTime: {
    candidates: (view) => timesOfEvents(view, "startTime"),
    written: ({ roles }, start) => [timeRule(start, roles, "startTime")],
    missing(view) {
      const columns = mayBeStarts(view);
      const doubt = "no column has such a name";
      return columns.length === 0 ? [] : whichOf("startTime", columns, "the event's start", doubt, view.roles);
    },
  },
  endTime: {
    candidates: (view) => timesOfEvents(view, "endTime"),
    written: ({ roles }, end) => [timeRule(end, roles, "endTime")],
  },
  /** Of an update they are what changes. */
  metadataAttributes: {
    candidates: () => [],
    written: () => [],
    missing: () =>
      "what changes: a map from names to columns, as in docs/mapping.md; or write imageUrl or mediaUrl instead",
  },
} satisfies Record<string, Guess>;

type Guessed = keyof typeof GUESSES;

const linesFor = (view: View, fields: readonly Guessed[]): readonly Line[] =>
  fields.flatMap((key) => {
    const { candidates, written, missing }: Guess = GUESSES[key];
    const [first, ...others] = candidates(view);
    const said = first === undefined ? (missing?.(view) ?? []) : written(view, first, others);
    if (typeof said !== "string") return said;
    return [first === undefined ? { key, value: ask(said) } : { key, value: template(first), note: said }];
  });

const OF_SALES = ["eventId", "ticketId"] as const;
const OF_A_SALE = ["userId", "price", "orderTime"] as const;
const OF_ITS_EVENT = ["eventName", "currency", "startTime", "endTime"] as const;
const OF_A_TICKET = ["ticketId", "userId", "price", "metadataAttributes", "orderTime"] as const;

/** What registers the event of a sale. */
export const eventRules = (view: View): readonly Line[] => linesFor(view, OF_ITS_EVENT);

/** Rules of the source for all its actions, and those of the action. */
export function rulesOf(view: View): { readonly source: readonly Line[]; readonly fields: readonly Line[] } {
  const { roles, action, named } = view;
  const takes = fieldsTaken(action);
  const wanted = isSale(view) ? OF_A_SALE : isOfEvents(action) ? (["eventId", ...OF_ITS_EVENT] as const) : OF_A_TICKET;
  const source = isSale(view) ? linesFor(view, OF_SALES) : [];
  const guessed = linesFor(
    view,
    wanted.filter((field) => {
      if (field === "userId") return takes.has(field) && needsUser(view);
      if (field === "metadataAttributes") return action === "updateTicket" && named.size === 0;
      return field === "ticketId" || takes.has(field);
    }),
  );
  const ruled = new Set([...source, ...guessed].map((line) => ("key" in line ? line.key : "")));
  const others = [...named].flatMap(([field, column]): readonly Line[] => {
    if (ruled.has(field)) return [];
    return [isTimeField(field) ? timeRule(column, roles, field) : { key: field, value: template(column) }];
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
  (typeof line.value === "string" && fold(/^"\{(.*)\}"$/.exec(line.value)?.[1] ?? "") === fold(line.key));

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
const timesOfEvents = (view: View, key: "startTime" | "endTime"): readonly Column[] => {
  const { find } = view.roles;
  return find(key).filter((column, at) => at === 0 && !(isSale(view) && find("eventId").includes(column)));
};

/** What may be the start in a list of events where no column is named like one. */
function mayBeStarts(view: View): readonly Column[] {
  if (!isOfEvents(view.action) || view.named.has("startTime")) return [];
  const others = [...timesOfEvents(view, "endTime"), ...view.named.values()];
  return view.roles.all.filter(
    (column) =>
      column.mayBeTime && column.times?.kind !== "clock" && !isIdName(column.name) && !others.includes(column),
  );
}

/** Columns with times of an event. */
export const eventTimes = (view: View): readonly Column[] => [
  ...timesOfEvents(view, "startTime"),
  ...timesOfEvents(view, "endTime"),
  ...(timesOfEvents(view, "startTime").length === 0 ? mayBeStarts(view) : []),
];

/** How each field is guessed: which columns may hold it, the rule by the surest of them, and what is asked without one. */

import { type ActionName, actionsThat } from "../actions/actions.ts";
import { fold } from "../actions/nearest.ts";
import { type Column, holdsEmails } from "./evidence.ts";
import { isEventIdName, isIdName, joinedWords, namesBefore, TRAITS } from "./header-words.ts";
import { priceLines } from "./price-rules.ts";
import { calledBy, type Roles } from "./roles.ts";
import { fieldsTaken, isOfEvents } from "./row-action.ts";
import { knownTickets, orderCounted, soldTickets, unknownTicket, unnamedTicket } from "./ticket-rules.ts";
import { isTimeField, type OrderTime, oneOf, orderTimeLines, timeRule } from "./time-rules.ts";
import { alsoText, ask, choice, differText, type Entry, flow, inner, type Line, rowsText, template } from "./yaml.ts";

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
  /** What is written by them. */
  written(view: View, first: Column, others: readonly Column[]): readonly Line[];
  /** What is written without one. */
  missing?(view: View): readonly Line[];
}

const entry = (key: string, value: string, note?: string): readonly Entry[] => [{ key, value, note }];

const isSale = ({ action }: View): boolean => action === "soldTicket";

/** The lists below say for which action, and in which order it is written. */
const GUESSES = {
  eventId: {
    candidates: (view) =>
      isOfEvents(view.action)
        ? idsOfEvents(view.roles)
        : view.roles.find("eventId").filter((id) => id !== view.roles.ticket),
    written(view, id, others) {
      if (isOfEvents(view.action)) return entry("eventId", template(id), "guess by name");
      const shown = `${differText(id)}${alsoText(others)}`;
      if (isEventIdName(id.name)) return entry("eventId", template(id), `guess by name: ${shown}`);
      return entry("eventId", ask("the id of the event"), `or ${template(id)}, if that is one: ${shown}`);
    },
    missing: (view) => {
      const value = ask("the id of the event: no column has such a name");
      return [{ key: "eventId", value, ofThisFile: isOfEvents(view.action) ? undefined : "eventId" }];
    },
  },
  ticketId: {
    candidates: (view) => (isSale(view) ? soldTickets(view.roles) : knownTickets(view.roles)),
    written(view, id, others) {
      const key = fold(id.name) === "nftid" ? "nftId" : "ticketId";
      if (!isSale(view)) return entry(key, template(id), `guess by name: ${differText(id)}`);
      const { allRows, rows } = view.roles;
      const where = id.isUnique ? allRows : `${id.distinct} of ${rowsText(rows.length)}`;
      return entry("ticketId", template(id), `guess: different in ${where}${alsoText(others)}`);
    },
    missing: (view) => (isSale(view) ? unnamedTicket(view.roles) : unknownTicket(view.roles)),
  },
  userId: {
    candidates: ({ roles, action }) => {
      const found = new Set([...roles.find("userId"), ...roles.all.filter(holdsEmails)]);
      found.delete(roles.ticket as Column);
      // Of two users, who gives the ticket away is none.
      return [...found].filter(({ name }) => action !== "resoldTicket" || !namesBefore(name));
    },
    written: (_view, user, others) =>
      entry("userId", template(user), `guess: filled in ${user.filled} of ${rowsText(user.rows)}${alsoText(others)}`),
    missing: ({ action }) =>
      entry(
        "userId",
        ask(
          action === "claimedTicket"
            ? "the column that tells one user from another, in braces; or write to: and the column of the wallet, which becomes public"
            : "the column that tells one buyer from another, in braces; the id of the sale where the export names no buyer",
        ),
      ),
  },
  price: {
    candidates: ({ roles, action }) =>
      roles.prices.filter(({ name }) => action !== "resoldTicket" || !namesBefore(name)),
    written: (view, price, others) =>
      priceLines(view.roles, [price, ...others], isSale(view) ? orderCounted(view.roles) : undefined),
    missing: ({ roles }) => priceLines(roles, [], undefined),
  },
  orderTime: {
    candidates: ({ time }) => time.columns,
    written: ({ time, action, roles }) => orderTimeLines(time, action, roles),
    missing: ({ time, action, roles }) => orderTimeLines(time, action, roles),
  },
  eventName: {
    candidates: (view) => {
      const { all, find } = view.roles;
      if (isSale(view)) return find("eventName").filter(({ name }) => !isEventIdName(name));
      // In a list of events it is often called no more than Name.
      const bare = all.filter(({ name }) => BARE_NAME.test(joinedWords(name)));
      const [id] = idsOfEvents(view.roles);
      return [...find("eventName"), ...bare].filter((column) => column !== id && column.times === undefined);
    },
    written: (view, name) => entry("eventName", template(name), `guess by name${isSale(view) ? "; public" : ""}`),
    missing: (view) =>
      isSale(view) && view.roles.find("eventId").length === 0
        ? entry("eventName", ask("what the event is called; this is public"))
        : [],
  },
  currency: {
    candidates: ({ roles: { currency } }) => (currency === undefined ? [] : [currency]),
    written: (view, currency) =>
      isSale(view)
        ? entry("currency", ask(`the currency of the events, such as ${inner(currency)}; ${OR_ELSEWHERE}`))
        : entry("currency", template(currency), "guess by name"),
    missing: (view) => {
      const what = "the currency of the events, such as EUR";
      return entry("currency", ask(isSale(view) ? `${what}; ${OR_ELSEWHERE}` : `${what}: no column has such a name`));
    },
  },
  startTime: {
    candidates: (view) => timesOfEvents(view, "startTime"),
    written: ({ roles }, start) => [timeRule(start, roles, "startTime")],
    missing: (view) => {
      const columns = mayBeStarts(view);
      const doubt = "no column has such a name";
      return columns.length === 0 ? [] : oneOf("startTime", columns, "the event's start", doubt, view.roles);
    },
  },
  endTime: {
    candidates: (view) => timesOfEvents(view, "endTime"),
    written: ({ roles }, end) => [timeRule(end, roles, "endTime")],
  },
  /** Columns that may become attributes are a comment; of an update they are what changes. */
  metadataAttributes: {
    candidates: ({ roles }) => Object.values(traitsIn(roles)),
    written: (view) => [
      choice({
        key: "metadataAttributes",
        value: flow(Object.fromEntries(Object.entries(traitsIn(view.roles)).map(([key, of]) => [key, template(of)]))),
        note: "optional, and public on the blockchain",
      }),
      ...whatChanges(view),
    ],
    missing: (view) => whatChanges(view),
  },
} satisfies Record<string, Guess>;

type Guessed = keyof typeof GUESSES;

const linesFor = (view: View, fields: readonly Guessed[]): readonly Line[] =>
  fields.flatMap((field) => {
    const { candidates, written, missing }: Guess = GUESSES[field];
    const [first, ...others] = candidates(view);
    return first === undefined ? (missing?.(view) ?? []) : written(view, first, others);
  });

const OF_SALES = ["eventId", "ticketId"] as const;
const OF_A_SALE = ["userId", "price", "orderTime", "metadataAttributes"] as const;
const OF_ITS_EVENT = ["eventName", "currency", "startTime", "endTime"] as const;
const OF_A_TICKET = ["ticketId", "userId", "price", "metadataAttributes", "orderTime"] as const;

/** What registers the event of a sale. */
export const eventRules = (view: View): readonly Line[] => linesFor(view, OF_ITS_EVENT);

/** Rules of the source for all its actions, and those of the action. */
export interface Rules {
  readonly source: readonly Line[];
  readonly fields: readonly Line[];
}

export function rulesOf(view: View): Rules {
  const { roles, action, named } = view;
  const takes = fieldsTaken(action);
  const wanted = isSale(view) ? OF_A_SALE : isOfEvents(action) ? (["eventId", ...OF_ITS_EVENT] as const) : OF_A_TICKET;
  const source = isSale(view) ? linesFor(view, OF_SALES) : [];
  const guessed = linesFor(
    view,
    wanted.filter((field) => {
      if (field === "userId") return takes.has(field) && needsUser(view);
      if (field === "metadataAttributes") return isSale(view) || (action === "updateTicket" && named.size === 0);
      return field === "ticketId" || takes.has(field);
    }),
  );
  const ruled = new Set([...source, ...guessed].map((line) => ("key" in line ? line.key : "")));
  const others = [...named].flatMap(([field, column]): readonly Line[] => {
    if (ruled.has(field)) return [];
    return isTimeField(field) ? [timeRule(column, roles, field)] : entry(field, template(column));
  });
  return { source: source.map(withoutGuess), fields: [...guessed, ...others].map(withoutGuess) };
}

/** Where all columns are named like fields, a user that none is named like is asked for of sales alone. */
function needsUser({ action, named }: View): boolean {
  if (named.has("userId") || named.size === 0) return true;
  return [...actionsThat("sell-ticket"), ...actionsThat("resell-ticket")].some((name) => name === action);
}

/** Whether a rule says no more than the name of its column; comments say nothing. */
export const isAsNamed = (line: Line): boolean =>
  "comment" in line ||
  (typeof line.value === "string" && fold(/^"\{(.*)\}"$/.exec(line.value)?.[1] ?? "") === fold(line.key));

/** That a column named like its field is that field's is no guess. */
const withoutGuess = (line: Line): Line => ("key" in line && isAsNamed(line) ? { ...line, note: undefined } : line);

const OR_ELSEWHERE = "or remove newEvent, if the events are registered elsewhere";
const BARE_NAME = /^(?:name|bezeichnung|nom|nome|naam)$/;

function idsOfEvents({ all, find }: Roles): readonly Column[] {
  const named = find("eventId").find(({ isUnique, name }) => isUnique || isEventIdName(name));
  const id = named ?? all.find(({ isUnique, name }) => isUnique && isIdName(name));
  return id === undefined ? [] : [id];
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

function traitsIn({ all }: Roles): Readonly<Record<string, Column>> {
  const found = Object.entries(TRAITS).map(([trait, words]) => [trait, calledBy(words, all)[0]] as const);
  return Object.fromEntries(found.flatMap(([trait, column]) => (column === undefined ? [] : [[trait, column]])));
}

const whatChanges = ({ action }: View): readonly Entry[] =>
  action === "updateTicket"
    ? entry(
        "metadataAttributes",
        ask("what changes: a map from names to columns, as in docs/mapping.md; or write imageUrl or mediaUrl instead"),
      )
    : [];

/** How each field is guessed: which columns may hold it, the rule by the surest of them, and what is asked without one. */

import { ACTIONS, type ActionName } from "../actions/actions.ts";
import { fold } from "../actions/nearest.ts";
import { cleanText, quoted } from "../actions/text.ts";
import { type Column, holdsEmails, idForm, textIn } from "./evidence.ts";
import {
  isEventIdName,
  isIdName,
  isIdOfOther,
  joinedWords,
  namesBefore,
  namesTickets,
  TRAITS,
  wordsOf,
} from "./header-words.ts";
import { priceLines } from "./price-rules.ts";
import { calledBy, type Roles } from "./roles.ts";
import { type OrderTime, oneOf, orderTimeLines, timeRule } from "./time-rules.ts";
import { alsoText, ask, choice, type Entry, flow, inner, inQuotes, type Line, rowsText, template } from "./yaml.ts";

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
const isOfEvents = ({ action }: View): boolean => ACTIONS[action].about === "event";

/** What is guessed; the lists below say for which action, and in which order it is written. */
const GUESSES = {
  eventId: {
    candidates: (view) =>
      isOfEvents(view) ? idsOfEvents(view.roles) : view.roles.find("eventId").filter((id) => id !== view.roles.ticket),
    written(view, id, others) {
      if (isOfEvents(view)) return entry("eventId", template(id), "guess by name");
      const shown = `${differText(id)}${alsoText(others)}`;
      if (isEventIdName(id.name)) return entry("eventId", template(id), `guess by name: ${shown}`);
      return entry("eventId", ask("the id of the event"), `or ${template(id)}, if that is one: ${shown}`);
    },
    missing: (view) => {
      const value = ask("the id of the event: no column has such a name");
      return [{ key: "eventId", value, ofThisFile: isOfEvents(view) ? undefined : "eventId" }];
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

export const OF_SALES: readonly Guessed[] = ["eventId", "ticketId"];
export const OF_A_SALE: readonly Guessed[] = ["userId", "price", "orderTime", "metadataAttributes"];
export const OF_ITS_EVENT: readonly Guessed[] = ["eventName", "currency", "startTime", "endTime"];
export const OF_A_TICKET: readonly Guessed[] = ["ticketId", "userId", "price", "metadataAttributes", "orderTime"];
export const OF_AN_EVENT: readonly Guessed[] = ["eventId", ...OF_ITS_EVENT];

/** The lines of these fields. */
export const linesFor = (view: View, fields: readonly Guessed[]): readonly Line[] =>
  fields.flatMap((field) => {
    const { candidates, written, missing }: Guess = GUESSES[field];
    const [first, ...others] = candidates(view);
    return first === undefined ? (missing?.(view) ?? []) : written(view, first, others);
  });

const OR_ELSEWHERE = "or remove newEvent, if the events are registered elsewhere";
const BARE_NAME = /^(?:name|bezeichnung|nom|nome|naam)$/;

const differText = ({ distinct, rows }: Column): string => `${distinct} different in ${rowsText(rows)}`;

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
  if (!isOfEvents(view) || view.named.has("startTime")) return [];
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

const NO_TICKET = "the id of the ticket: no column has such a name";

/** The number of tickets of an order, where a row is one and names no ticket, and nothing else may count them. */
export function orderCounted({ quantities, counts, order, ticket, items }: Roles): Column | undefined {
  const isTicket = ticket !== undefined && fold(ticket.name) === "ticketid";
  if (counts.length > 1 || order === undefined || items !== undefined || isTicket) return undefined;
  return counts[0] === quantities[0] ? counts[0] : undefined;
}

/** Whether a row is an order of several tickets, whose ids are made of the order's. */
const isOrder = ({ order, items, quantities, ticket }: Roles): boolean =>
  order !== undefined && items === undefined && quantities.length > 0 && fold(ticket?.name ?? "") !== "ticketid";

const uniquesIn = ({ all, counts }: Roles): readonly Column[] =>
  all.filter((column) => column.isUnique && column.mayBeId && !counts.includes(column));

/** The id of what is sold, which is different in every row. */
function soldTickets(roles: Roles): readonly Column[] {
  const { ticket, ticketLists } = roles;
  if (ticket === undefined || ticketLists !== undefined || isOrder(roles)) return [];
  return [ticket, ...uniquesIn(roles).filter((column) => column !== ticket && isIdName(column.name))];
}

/** Where no column is the id of what is sold. */
function unnamedTicket(roles: Roles): readonly Entry[] {
  const { ticketLists, order, allRows } = roles;
  const key = "ticketId";
  if (ticketLists !== undefined)
    return entry(
      key,
      ask(`the id of the ticket: ${cleanText(ticketLists, 40)} may have several in a row`),
      "each: gives an action for each of them, with its id in {item.…}: docs/mapping.md, One row, several tickets",
    );
  if (order !== undefined && isOrder(roles)) {
    const note = `guess: ${quoted(order.name)} is different in ${allRows}, {n} counts its tickets`;
    return entry(key, inQuotes(`${inner(order)}-{n}`), note);
  }
  const pair = uniqueTogether(roles);
  if (pair.length > 0)
    return entry(key, inQuotes(pair.map(inner).join("-")), `guess: only together are they different in ${allRows}`);
  const [first, ...more] = uniquesIn(roles);
  const note = first && `or ${template(first)}, if that is one: different in ${allRows}${alsoText(more)}`;
  return entry(key, ask(NO_TICKET), note);
}

/** Two columns named like ids that differ in every row only together. */
function uniqueTogether({ all, rows }: Roles): readonly Column[] {
  const ids = all.filter((column) => isIdName(column.name) && column.mayBeId && column.filled === column.rows);
  for (const [at, one] of ids.slice(0, 12).entries())
    for (const other of ids.slice(at + 1, 12)) {
      if (one.distinct * other.distinct < rows.length) continue;
      const seen = new Set(rows.map((cells) => JSON.stringify([one, other].map((id) => idForm(textIn(cells, id))))));
      if (seen.size === rows.length) return [one, other];
    }
  return [];
}

/** The ticket of something that may happen repeatedly, so its id need not be different in every row. */
function knownTickets({ all, find }: Roles): readonly Column[] {
  const columns = find("ticketId");
  return [
    // A column named only "id" may hold the id of the scan, or of the refund.
    ...columns.filter(({ name }) => namesTickets(name) || /^(?:publicid|code|codice|codigo)$/.test(joinedWords(name))),
    ...columns.filter(({ name }) => isIdName(name) && !isIdOfOther(name) && wordsOf(name).length > 1),
    ...all.filter((column) => fold(column.name) === "nftid" && column.mayBeId),
  ];
}

function unknownTicket({ all }: Roles): readonly Entry[] {
  const [first, ...others] = all.filter((column) => (column.isUnique || isIdName(column.name)) && column.mayBeId);
  const note = first && `or ${template(first)}, if that is one: ${differText(first)}${alsoText(others)}`;
  return entry("ticketId", ask(NO_TICKET), note);
}

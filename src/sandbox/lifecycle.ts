/**
 * What becomes of one action: the rules of the service, on the state.
 *
 * What the specification does not show is this sandbox's own choice; docs/reference.md#the-sandbox lists every such choice.
 */

import { randomUUID } from "node:crypto";
import { type Action, type ActionData, type ActionName, acceptedFields } from "../actions/actions.ts";
import { fieldSpec, isFieldName } from "../actions/fields.ts";
import { parseJson } from "../actions/json.ts";
import { validateItem } from "../actions/validate.ts";
import { ACTION_RULES, type ActionRule } from "../rules.ts";
import { isId } from "./item.ts";
import type { EventRow, State, StoredFields, TicketRow } from "./state.ts";

/** Why an item was refused. `invalid` is a broken field or resale rule; the others are about what is registered. */
type RefusalCode =
  | "invalid"
  | "event_exists"
  | "event_not_found"
  | "ticket_exists"
  | "ticket_not_found"
  | "ticket_invalidated"
  | "ticket_checked_in"
  | "ticket_claimed"
  | "unknown";

export interface Refusal {
  readonly code: RefusalCode;
  /** Id of the broken rule (docs/reference.md#rules), when there is one. */
  readonly rule?: string;
  readonly field?: string;
  readonly message: string;
}

/** Rules without which an item can't be understood; no `accept` relaxes them. */
const STRUCTURAL: ReadonlySet<string> = new Set<ActionRule>([
  "item-shape",
  "action-unknown",
  "field-required",
  "field-type",
  "ticket-reference-missing",
  "ticket-reference-both",
  "metadata-invalid",
  "json-duplicate-key",
]);

/** Ids of the rules that `accept` can relax: those of one action by itself, and two across actions. */
export const RELAXABLE_RULES: readonly string[] = [
  ...Object.keys(ACTION_RULES).filter((rule) => !STRUCTURAL.has(rule)),
  "resold-to-holder",
  "after-final",
];

/** What the actions of one request read and change. */
export interface Register {
  readonly state: State;
  readonly events: ReturnType<typeof eventsOf>;
  readonly relaxed: ReadonlySet<string>;
  readonly unixTime: number;
}

/** Performs an action, or says why not. Gives the event that it was about. */
export function perform(register: Register, item: unknown): Refusal | EventRow {
  for (const { rule, field, message } of validateItem(item)) {
    if (ACTION_RULES[rule].severity !== "error") continue;
    // Without an id, or with one that can't be kept as it was sent, nothing could be found again.
    const isOfId = isId(field) && (rule === "field-null" || rule === "text-not-unicode");
    if (register.relaxed.has(rule) && !isOfId) continue;
    return refusal("invalid", message, rule, field);
  }
  // validateItem has found no structural fault, and those can't be relaxed.
  const action = item as Action;
  return EFFECTS[action.action](register, action);
}

const EFFECTS: Readonly<Record<ActionName, (register: Register, action: Action) => Refusal | EventRow>> = {
  newEvent: registerEvent,
  updateEvent: changeEvent,
  soldTicket: sellTicket,
  updateTicket: changingTicket((ticket, data) => ({ ...ticket, fields: merged(ticket.fields, data, IN_COLUMNS) })),
  resoldTicket: changingTicket(resell),
  scannedTicket: changingTicket((ticket) => ({ ...ticket, scans: ticket.scans + 1 })),
  checkedInTicket: changingTicket((ticket) => ({ ...ticket, state: "checked-in" })),
  claimedTicket: changingTicket(claim, "after check-in too"),
  invalidatedTicket: changingTicket((ticket) => ({ ...ticket, state: "invalidated" })),
};

function registerEvent({ state, events }: Register, { data }: Action): Refusal | EventRow {
  const eventId = data.eventId ?? "";
  if (events.find(eventId) !== undefined) return REFUSED.eventExists;
  return events.keep(state.addEvent(eventId, merged({}, data)));
}

function changeEvent({ state, events }: Register, { data }: Action): Refusal | EventRow {
  const event = events.find(data.eventId ?? "");
  if (event === undefined) return REFUSED.noEvent;
  const changed = { ...event, fields: merged(event.fields, data) };
  state.saveEvent(changed);
  return events.keep(changed);
}

function sellTicket({ state, events, unixTime }: Register, { data }: Action): Refusal | EventRow {
  const event = events.find(data.eventId ?? "");
  if (event === undefined) return REFUSED.noEvent;
  const added = state.addTicket(event, {
    ticketId: data.ticketId ?? "",
    holder: data.userId ?? null,
    wallet: data.to ?? newWallet(),
    fields: { orderTime: unixTime, ...merged({}, data, IN_COLUMNS) },
  });
  return added ? events.keep({ ...event, tickets: event.tickets + 1 }) : REFUSED.ticketExists;
}

type Change = (ticket: TicketRow, data: ActionData, register: Register) => Refusal | TicketRow;

/** An action on a ticket that is registered and whose life has not ended; check-in ends it for all but claims. */
function changingTicket(change: Change, when?: "after check-in too") {
  return (register: Register, { action, data }: Action): Refusal | EventRow => {
    const { state, events, relaxed } = register;
    const isByNft = data.ticketId == null;
    const ticket = isByNft ? state.ticketOfNft(data.nftId ?? "") : state.ticket(data.ticketId);
    const event = ticket && events.find(ticket.event);
    if (ticket === undefined || event === undefined)
      return refusal("ticket_not_found", "No such ticket is registered.", undefined, isByNft ? "nftId" : "ticketId");
    if (!relaxed.has("after-final")) {
      if (ticket.state === "invalidated") return REFUSED.invalidated;
      if (ticket.state === "checked-in" && when === undefined) return REFUSED.checkedIn;
    }
    const changed = change(ticket, data, register);
    if ("code" in changed) return changed;
    // Fields that the action's table does not have: a relaxed rule let them in.
    const own: readonly string[] = acceptedFields(action);
    const more: ActionData = Object.fromEntries(Object.entries(data).filter(([name]) => !own.includes(name)));
    state.saveTicket({
      ...changed,
      fields: merged(changed.fields, more, IN_COLUMNS),
      holder: more.userId ?? changed.holder,
      wallet: more.to ?? changed.wallet,
    });
    return event;
  };
}

function resell(ticket: TicketRow, data: ActionData, { relaxed, unixTime }: Register): Refusal | TicketRow {
  if (data.userId === ticket.holder && !relaxed.has("resold-to-holder")) return REFUSED.holder;
  const fields = { ...ticket.fields, orderTime: unixTime, ...merged({}, data, IN_COLUMNS) };
  return { ...ticket, holder: data.userId ?? null, wallet: data.to ?? newWallet(), fields };
}

/** The holder stays: a resale is compared with the user of the last sale or resale. */
function claim(ticket: TicketRow, data: ActionData): Refusal | TicketRow {
  return ticket.claimed ? REFUSED.claimed : { ...ticket, claimed: true, wallet: data.to ?? newWallet() };
}

function refusal(code: RefusalCode, message: string, rule?: string, field?: string): Refusal {
  return { code, ...(rule !== undefined && { rule }), ...(field !== undefined && { field }), message };
}

export const WITHHELD = refusal("unknown", "A fault made the sandbox refuse this item.");
const REFUSED = {
  eventExists: refusal("event_exists", "The event is registered already.", "event-registered-twice", "eventId"),
  noEvent: refusal("event_not_found", "No event with this eventId is registered.", "event-not-registered", "eventId"),
  ticketExists: refusal("ticket_exists", "The ticket is registered already.", "ticket-sold-twice", "ticketId"),
  invalidated: refusal("ticket_invalidated", "The ticket was invalidated.", "after-final"),
  checkedIn: refusal("ticket_checked_in", "The ticket was checked in.", "after-final"),
  claimed: refusal("ticket_claimed", "The ticket was claimed already."),
  holder: refusal("invalid", "userId is the user who holds the ticket already.", "resold-to-holder", "userId"),
} as const;

/** A ticket's holder and wallet stand beside its fields, since they change with what an action does. */
const IN_COLUMNS: ReadonlySet<string> = new Set(["userId", "to"]);

/**
 * The stored fields after an action: null and absent leave a field as it is, the table's default clears it, and so does
 * a blank text where the default is generated. What only a relaxed rule accepts is stored too, be it a field or not.
 */
function merged(fields: StoredFields, data: ActionData, inColumns: ReadonlySet<string> = new Set()): StoredFields {
  const next = new Map(Object.entries(fields));
  for (const [name, value] of Object.entries(data)) {
    if (value == null || isId(name) || inColumns.has(name)) continue;
    if (isFieldName(name) && (value === "" || value === fieldSpec(name).default)) next.delete(name);
    else next.set(name, name === "metadataAttributes" && typeof value === "string" ? parseJson(value) : value);
  }
  return Object.fromEntries(next);
}

/** The events that a request is about, each read once. */
export function eventsOf(state: State) {
  const known = new Map<string | number, EventRow>();
  function keep(event: EventRow): EventRow {
    known.set(event.eventId, event).set(event.number, event);
    return event;
  }
  return {
    keep,
    /** By eventId, or by number. */
    find(name: string | number): EventRow | undefined {
      const event = known.get(name) ?? (typeof name === "string" ? state.event(name) : state.eventNumbered(name));
      return event && keep(event);
    },
  };
}

/** Made up: 20 bytes, of UUIDs, since asking the system for random bytes would take a quarter of the time of a request. */
function newWallet(): string {
  return `0x${`${randomUUID()}${randomUUID()}`.replaceAll("-", "").slice(0, 40)}`;
}

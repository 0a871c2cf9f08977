/**
 * What becomes of one action: the rules of the service, on the state.
 *
 * What the specification does not show is this sandbox's own choice; docs/sandbox.md lists every such choice.
 */

import { randomUUID } from "node:crypto";
import {
  type ActionData,
  type ActionName,
  type ActionSpec,
  acceptedFields,
  actionSpec,
  type TicketEffect,
} from "../actions/actions.ts";
import { FIELD_NAMES, fieldSpec, isFieldName } from "../actions/fields.ts";
import { parseJson } from "../actions/json.ts";
import { ACTION_RULES, type ActionRule } from "../actions/rules.ts";
import { validateItem } from "../actions/validate.ts";
import type { EventRow, State, StoredFields, TicketRow } from "./state.ts";

/** Why an item was refused. `invalid` is a broken field or resale rule; the others are about what is registered. */
const FAILURE_CODES = [
  "invalid",
  "event_exists",
  "event_not_found",
  "ticket_exists",
  "ticket_not_found",
  "ticket_invalidated",
  "ticket_checked_in",
  "ticket_claimed",
  "unknown",
] as const;
export type RefusalCode = (typeof FAILURE_CODES)[number];

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

export interface Refusal {
  readonly code: RefusalCode;
  readonly rule?: string;
  readonly field?: string;
  readonly message: string;
}

export const WITHHELD: Refusal = { code: "unknown", message: "The sandbox was told to refuse this item." };

/** What an action reads and changes while a request is processed. */
export interface Register {
  readonly state: State;
  readonly events: ReturnType<typeof eventsOf>;
  readonly relaxed: ReadonlySet<string>;
  readonly unixTime: number;
}

/** The event that an accepted action was about. */
interface Done {
  readonly event: EventRow;
}

export function perform(register: Register, item: unknown): Refusal | Done {
  for (const { rule, field, message } of validateItem(item)) {
    if (ACTION_RULES[rule].severity !== "error") continue;
    // Without an id, or with one that can't be kept as it was sent, nothing could be found again.
    const isOfId = isId(field) && (rule === "field-null" || rule === "text-not-unicode");
    if (register.relaxed.has(rule) && !isOfId) continue;
    return { code: "invalid", rule, ...(field !== undefined && { field }), message };
  }
  // validateItem has found no structural fault, and those can't be relaxed.
  const { action, data } = item as { readonly action: ActionName; readonly data: ActionData };
  const { effect } = actionSpec(action);
  switch (effect) {
    case "register-event":
      return registerEvent(register, data);
    case "change-event":
      return changeEvent(register, data);
    case "sell-ticket":
      return sellTicket(register, data);
    default:
      return changeTicket(register, { action, effect }, data);
  }
}

function registerEvent({ state, events }: Register, data: ActionData): Refusal | Done {
  const eventId = data.eventId ?? "";
  if (events.find(eventId) !== undefined)
    return {
      code: "event_exists",
      rule: "event-registered-twice",
      field: "eventId",
      message: "The event is registered already.",
    };
  const event = state.addEvent(eventId, merged({}, "event", data));
  events.keep(event);
  return { event };
}

function changeEvent({ events }: Register, data: ActionData): Refusal | Done {
  const known = events.find(data.eventId ?? "");
  if (known === undefined) return EVENT_NOT_FOUND;
  const event = { ...known, fields: merged(known.fields, "event", data) };
  events.change(event);
  return { event };
}

function sellTicket({ state, events, unixTime }: Register, data: ActionData): Refusal | Done {
  const known = events.find(data.eventId ?? "");
  if (known === undefined) return EVENT_NOT_FOUND;
  const event = { ...known, tickets: known.tickets + 1 };
  const added = state.addTicket({
    ticketId: data.ticketId ?? "",
    event: event.number,
    token: event.tickets,
    holder: data.userId ?? null,
    wallet: data.to ?? newWallet(),
    fields: { orderTime: unixTime, ...merged({}, "ticket", data) },
  });
  if (!added)
    return {
      code: "ticket_exists",
      rule: "ticket-sold-twice",
      field: "ticketId",
      message: "The ticket is registered already.",
    };
  events.change(event);
  return { event };
}

const EVENT_NOT_FOUND: Refusal = {
  code: "event_not_found",
  rule: "event-not-registered",
  field: "eventId",
  message: "No event with this eventId is registered.",
};

type TicketChange = Exclude<TicketEffect, "sell-ticket">;

function changeTicket(
  register: Register,
  { action, effect }: { readonly action: ActionName; readonly effect: TicketChange },
  data: ActionData,
): Refusal | Done {
  const { change, afterCheckIn } = CHANGES[effect];
  const { state, events, relaxed } = register;
  const ticket = data.ticketId == null ? ticketOfNft(state, data.nftId ?? "") : state.ticket(data.ticketId);
  const event = ticket && events.numbered(ticket.event);
  if (ticket === undefined || event === undefined)
    return {
      code: "ticket_not_found",
      field: data.ticketId == null ? "nftId" : "ticketId",
      message: "No such ticket is registered.",
    };
  if (!relaxed.has("after-final")) {
    if (ticket.state === "invalidated")
      return { ...AFTER_FINAL, code: "ticket_invalidated", message: "The ticket was invalidated." };
    if (ticket.state === "checked-in" && !afterCheckIn)
      return { ...AFTER_FINAL, code: "ticket_checked_in", message: "The ticket was checked in." };
  }
  const changed: Refusal | TicketRow = change(register, ticket, data);
  if ("code" in changed) return changed;
  const more = letIn(action, data);
  state.saveTicket({
    ...changed,
    fields: merged(changed.fields, "ticket", more),
    ...(more.userId != null && { holder: more.userId }),
    ...(more.to != null && { wallet: more.to }),
  });
  return { event };
}

const AFTER_FINAL = { rule: "after-final" } as const;

interface Change {
  /** Whether a ticket that was checked in may have it done. */
  readonly afterCheckIn: boolean;
  readonly change: (register: Register, ticket: TicketRow, data: ActionData) => Refusal | TicketRow;
}

/** What each effect makes of a live ticket. */
const CHANGES: Readonly<Record<TicketChange, Change>> = {
  "change-ticket": {
    afterCheckIn: false,
    change: (_register, ticket, data) => ({ ...ticket, fields: merged(ticket.fields, "ticket", data) }),
  },
  "resell-ticket": {
    afterCheckIn: false,
    change({ relaxed, unixTime }, ticket, data) {
      if (data.userId === ticket.holder && !relaxed.has("resold-to-holder"))
        return {
          code: "invalid",
          rule: "resold-to-holder",
          field: "userId",
          message: "userId is the user who holds the ticket already.",
        };
      const fields = { ...ticket.fields, orderTime: unixTime, ...merged({}, "ticket", data) };
      return { ...ticket, holder: data.userId ?? null, wallet: data.to ?? newWallet(), fields };
    },
  },
  "scan-ticket": { afterCheckIn: false, change: (_register, ticket) => ({ ...ticket, scans: ticket.scans + 1 }) },
  "check-in-ticket": { afterCheckIn: false, change: (_register, ticket) => ({ ...ticket, state: "checked-in" }) },
  "claim-ticket": {
    afterCheckIn: true,
    change(_register, ticket, data) {
      if (ticket.claimed) return { code: "ticket_claimed", message: "The ticket was claimed already." };
      // The holder stays: a resale is compared with the user of the last sale or resale.
      return { ...ticket, claimed: true, wallet: data.to ?? newWallet() };
    },
  },
  "invalidate-ticket": { afterCheckIn: false, change: (_register, ticket) => ({ ...ticket, state: "invalidated" }) },
};

/**
 * The stored fields after an action: null and absent leave a field as it is, the table's default clears it, and so does
 * a blank text where the default is generated. What only a relaxed rule lets in is stored too, be it a field or not.
 */
function merged(fields: StoredFields, about: ActionSpec["about"], data: ActionData): StoredFields {
  let next: StoredFields = { ...fields };
  for (const [name, value] of Object.entries(data)) {
    if (value == null || isId(name) || (about === "ticket" && HAS_COLUMN.has(name))) continue;
    // A key called __proto__ is one like any other, which only a computed one is here.
    if (isFieldName(name) && (value === "" || value === fieldSpec(name).default)) {
      const { [name]: _, ...others } = next;
      next = others;
    } else
      next = { ...next, [name]: name === "metadataAttributes" && typeof value === "string" ? parseJson(value) : value };
  }
  return next;
}

/** The fields of an action that its table does not have: a relaxed rule let them in. */
function letIn(action: ActionName, data: ActionData): ActionData {
  const own: readonly string[] = acceptedFields(action);
  return Object.fromEntries(Object.entries(data).filter(([name]) => !own.includes(name)));
}

/** A ticket's holder and wallet, which change with what an action does. */
const HAS_COLUMN: ReadonlySet<string> = new Set(["userId", "to"]);

/** Fields kept as they were sent; ids name what an action is about. */
export const STORED: ReadonlySet<string> = new Set<string>(
  FIELD_NAMES.filter((name) => !isId(name) && !HAS_COLUMN.has(name)),
);

function isId(field: string | undefined): boolean {
  return field === "eventId" || field === "ticketId" || field === "nftId";
}

/** The events a request touches, each read once and written once. */
export function eventsOf(state: State) {
  const byId = new Map<string, EventRow | undefined>();
  const idOf = new Map<number, string>();
  const changed = new Set<string>();
  function keep(event: EventRow): EventRow {
    byId.set(event.eventId, event);
    idOf.set(event.number, event.eventId);
    return event;
  }
  return {
    keep,
    find(eventId: string): EventRow | undefined {
      if (byId.has(eventId)) return byId.get(eventId);
      const event = state.event(eventId);
      if (event === undefined) byId.set(eventId, undefined);
      else keep(event);
      return event;
    },
    numbered(number: number): EventRow | undefined {
      const eventId = idOf.get(number);
      if (eventId !== undefined) return byId.get(eventId);
      const event = state.eventNumbered(number);
      return event && keep(event);
    },
    change(event: EventRow): void {
      keep(event);
      changed.add(event.eventId);
    },
    save(): void {
      for (const eventId of changed) {
        const event = byId.get(eventId);
        if (event !== undefined) state.saveEvent(event);
      }
    },
  };
}

const NFT_ID = /^SANDBOX-(\d{1,15})-(\d{1,15})$/;

export function nftIdOf(ticket: TicketRow): string {
  return `SANDBOX-${ticket.event}-${ticket.token}`;
}

export function ticketOfNft(state: State, nftId: string): TicketRow | undefined {
  const [, event, token] = NFT_ID.exec(nftId) ?? [];
  const ticket = event && token && state.ticketByToken(Number(event), Number(token));
  // Leading zeros make another id.
  return ticket && nftIdOf(ticket) === nftId ? ticket : undefined;
}

/** Made up: 20 bytes, of UUIDs, since asking the system for random bytes would take a quarter of the time of a request. */
function newWallet(): string {
  return `0x${`${randomUUID()}${randomUUID()}`.replaceAll("-", "").slice(0, 40)}`;
}

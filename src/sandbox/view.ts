/** What the service would show of an event, a ticket and a promise: defaults, generated texts, what goes on-chain. */

import { hash } from "node:crypto";
import { type ActionData, type ActionName, acceptedFields, actionSpec, echoesEvent } from "../actions/actions.ts";
import { FIELD_NAMES, FIELDS, type FieldName, fieldSpec, type MetadataAttribute } from "../actions/fields.ts";
import { parseJson } from "../actions/json.ts";
import { nftIdOf, STORED } from "./lifecycle.ts";
import type { EventRow, ProcessedAction, State, StoredFields, TicketRow, TicketState } from "./state.ts";

/** An event as the service would show it: every field that has a value or a default. */
export interface EventView {
  readonly eventId: string;
  readonly number: number;
  readonly tickets: number;
  readonly fields: Readonly<Record<string, unknown>>;
  /** What is written to the blockchain. */
  readonly onChain: Readonly<Record<string, unknown>>;
}

/** A ticket as the service would show it, with defaults, generated texts and its event's default image and media. */
export interface TicketView {
  readonly eventId: string;
  readonly ticketId: string;
  readonly nftId: string;
  readonly state: TicketState;
  readonly claimed: boolean;
  readonly scans: number;
  readonly fields: Readonly<Record<string, unknown>>;
  /** What is written to the blockchain; its ticketId is the SHA-256 hash. */
  readonly onChain: Readonly<Record<string, unknown>>;
}

/** What the service says of a promise. */
export const PROMISE_STATUSES = [
  "waiting_broadcast",
  "waiting_funds",
  "pending",
  "confirmed",
  "error",
  "wont_broadcast",
  "no_broadcast_required",
] as const;
export type PromiseStatus = (typeof PROMISE_STATUSES)[number];

/** A promise is `waiting_broadcast` before it is this old, in milliseconds; then `pending`. */
const PENDING_AFTER_MS = 1_000;
/** From this age on, in milliseconds, a promise is `confirmed`. */
const CONFIRMED_AFTER_MS = 5_000;

/** The ids that a result echoes: those the action named its event and ticket by. */
export interface EchoedIds {
  readonly eventId?: string;
  readonly ticketId?: string;
  readonly nftId?: string;
}

export interface ActionStatus extends EchoedIds {
  readonly actionPromise: string;
  readonly action: string;
  readonly status: PromiseStatus;
}

export function idIn(data: unknown, name: "eventId" | "ticketId" | "nftId"): string | undefined {
  if (typeof data !== "object" || data === null || !Object.hasOwn(data, name)) return undefined;
  const id = (data as Record<string, unknown>)[name]; // an object, as checked above
  return typeof id === "string" ? id : undefined;
}

export function echoedIds(action: string | null, data: unknown): EchoedIds {
  const names = ["eventId", "ticketId", "nftId"] as const;
  return Object.fromEntries(
    names.flatMap((name) => {
      const id = idIn(data, name);
      return id === undefined || (name === "eventId" && action !== null && !echoesEvent(action)) ? [] : [[name, id]];
    }),
  );
}

/** The named fields, with defaults, and whatever else was stored. */
function withDefaults(names: readonly FieldName[], fields: StoredFields): Record<string, unknown> {
  const known = names.map((name) => [name, fields[name] ?? fieldSpec(name).default] as const);
  const others = Object.entries(fields).filter(([name]) => !names.some((each) => each === name));
  return Object.fromEntries([...known, ...others].filter(([, value]) => value !== undefined));
}

function onChain(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const written: Record<string, unknown> = {};
  for (const name of FIELD_NAMES) {
    const value = fields[name];
    if (value === undefined || FIELDS[name].onChain === false) continue;
    written[name] = FIELDS[name].onChain === "as SHA-256 hash" ? hash("sha256", String(value), "hex") : value;
  }
  return written;
}

const EVENT_FIELDS: readonly FieldName[] = [...acceptedFields("newEvent"), "metadataTemplateId"];
const TICKET_FIELDS: readonly FieldName[] = [...acceptedFields("soldTicket"), "metadataTemplateId"];

export function viewEvent(event: EventRow | undefined): EventView | undefined {
  if (event === undefined) return undefined;
  const { eventId, number, tickets } = event;
  const fields = withDefaults(EVENT_FIELDS, { ...event.fields, eventId });
  return { eventId, number, tickets, fields, onChain: onChain(fields) };
}

export function viewTicket(
  { state, integratorName }: { readonly state: State; readonly integratorName: string },
  ticket: TicketRow | undefined,
): TicketView | undefined {
  const event = ticket && state.eventNumbered(ticket.event);
  if (ticket === undefined || event === undefined) return undefined;
  const { eventId } = event;
  const { ticketId, state: life, claimed, scans, holder, wallet, token } = ticket;
  const own = ticket.fields;
  const about = withDefaults(EVENT_FIELDS, event.fields);
  const fields = withDefaults(TICKET_FIELDS, {
    ...own,
    eventId,
    ticketId,
    ...(holder !== null && { userId: holder }),
    to: wallet,
    imageUrl: own.imageUrl ?? about.defaultNftImageUrl,
    mediaUrl: own.mediaUrl ?? about.defaultNftMediaUrl,
    name: own.name ?? generatedName(String(about.eventName), token),
    description: own.description ?? generatedDescription(token, about, integratorName),
    ...attributesOf(state, event, own),
  });
  return { eventId, ticketId, nftId: nftIdOf(ticket), state: life, claimed, scans, fields, onChain: onChain(fields) };
}

/** `{eventname}-{tokenid}`; an event name that would make it too long is cut. */
function generatedName(eventName: string, token: number): string {
  const end = `-${token}`;
  return (
    Array.from(eventName)
      .slice(0, FIELDS.name.maxLength - end.length)
      .join("") + end
  );
}

function generatedDescription(
  token: number,
  { eventName, shopUrl }: Record<string, unknown>,
  integrator: string,
): string {
  const event = eventName === "" ? "" : ` for ${eventName}`;
  const shop = shopUrl === "" ? "" : `, sold at ${shopUrl}`;
  return `Ticket ${token}${event}${shop}. Issued by ${integrator}. Powered by the ticket service's sandbox.`;
}

/** The ticket's own attributes, and those of its template whose trait_type it has not. */
function attributesOf(state: State, event: EventRow, own: StoredFields): { metadataAttributes?: readonly unknown[] } {
  const templateId = own.metadataTemplateId ?? event.fields.metadataTemplateId;
  const template = typeof templateId === "string" ? state.template(templateId) : [];
  const given = (own.metadataAttributes ?? []) as readonly MetadataAttribute[]; // stored after validation
  const overridden = new Set(given.map((attribute) => attribute.trait_type));
  const attributes = [...template.filter((attribute) => !overridden.has(attribute.trait_type)), ...given];
  return attributes.length === 0 ? {} : { metadataAttributes: attributes };
}

export function statusOf(state: State, actionPromise: string, now: number): ActionStatus | undefined {
  const action = state.actionOf(actionPromise);
  if (action === undefined) return undefined;
  const name = action.action ?? "";
  return {
    actionPromise,
    action: name,
    ...echoedIds(name, parseJson(action.data)),
    status: (state.statusOf(actionPromise) as PromiseStatus | undefined) ?? statusByAge(action, now), // as setStatus wrote it
  };
}

function statusByAge({ action, data, at }: ProcessedAction, now: number): PromiseStatus {
  // An accepted action is one of the table, with data that is an object.
  const { updates } = actionSpec(action as ActionName);
  const sent = Object.entries(parseJson(data) as ActionData).filter(([, value]) => value != null);
  const broadcast = sent.some(([name]) => STORED.has(name) && FIELDS[name as FieldName].onChain !== false); // a member of STORED
  if (updates && !broadcast) return "no_broadcast_required";
  if (now - at < PENDING_AFTER_MS) return "waiting_broadcast";
  return now - at < CONFIRMED_AFTER_MS ? "pending" : "confirmed";
}

/** What the sandbox shows of what it holds: events, tickets and promises as the service would, and its record a page at a time. */

import { hash } from "node:crypto";
import { type ActionData, type ActionName, acceptedFields, actionSpec } from "../actions/actions.ts";
import {
  FIELD_NAMES,
  FIELDS,
  type FieldName,
  fieldSpec,
  isFieldName,
  isPublic,
  type MetadataAttribute,
} from "../actions/fields.ts";
import { parseJson } from "../actions/json.ts";
import { echoed, isId, readItem } from "./item.ts";
import type { EventRow, ProcessedAction, RequestRow, State, StoredFields, TicketRow } from "./state.ts";

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

/** How many actions, requests or ids are given at a time. */
const PAGE = 50;
/** So much of an action's data is shown. */
const MOST_DATA_CHARACTERS = 20_000;
const SUGGESTED = 8;

/** A ticket by either of its ids. */
type TicketName = { readonly ticketId: string } | { readonly nftId: string };

export function openView(state: State, now: () => number) {
  const find = (name: TicketName) => ("ticketId" in name ? state.ticket(name.ticketId) : state.ticketOfNft(name.nftId));

  function statusOf(action: ProcessedAction, actionPromise: string): PromiseStatus {
    return (state.statusOf(actionPromise) as PromiseStatus | undefined) ?? statusByAge(action, now()); // as setStatus wrote it
  }

  /** A line of the record as it is listed. What was sent is cut where it is very long. */
  const withData = (action: ProcessedAction) => ({
    ...action,
    promiseStatus: action.actionPromise === null ? null : statusOf(action, action.actionPromise),
    data: action.data.slice(0, MOST_DATA_CHARACTERS),
    isCut: action.data.length > MOST_DATA_CHARACTERS,
  });

  const event = (eventId: string) => shownEvent(state.event(eventId));
  const ticket = (name: TicketName) => shownTicket(state, find(name));

  return {
    event,
    ticket,
    /** What has become of an accepted action. It depends on the action's age unless it was set. */
    status(actionPromise: string) {
      const accepted = state.actionOf(actionPromise);
      if (accepted === undefined) return undefined;
      const action = accepted.action ?? "";
      const { ids } = readItem({ data: parseJson(accepted.data) });
      return { actionPromise, action, ...echoed(action, ids), status: statusOf(accepted, actionPromise) };
    },
    /** What there is, and how many actions were accepted and refused. */
    counts: state.totals,

    // Page by page, the newest first; `before` is a line of the record, or the number of a request.

    requests(before: number) {
      const items: readonly RequestRow[] = state.requestsBefore(before, PAGE + 1);
      return { items: items.slice(0, PAGE), hasMore: items.length > PAGE };
    },
    /** A request, and its items in their order, from a place on. */
    request(number: number, from: number) {
      const request = state.request(number);
      if (request === undefined) return undefined;
      const { firstSeq, accepted, refused } = request;
      const left = firstSeq === null ? 0 : accepted + refused - from;
      // The lines of a request follow each other.
      const lines = left <= 0 ? [] : state.actionsAfter((firstSeq ?? 0) + from - 1, Math.min(PAGE, left));
      return { request, items: lines.map(withData), hasMore: left > PAGE };
    },
    /** Refused actions and why, all or those of one reason. */
    refused: (reason: string | undefined, before: number) => ({
      reasons: state.refusalReasons(),
      ...pageOf(state.refusedActions(reason, before, PAGE + 1)),
    }),
    /** A ticket with what was sent about it. One that is not registered has no view, only refused attempts. */
    ticketHistory(name: TicketName, before: number) {
      const { ticketId, nftId } = { ticketId: "", nftId: "", ...find(name), ...name };
      const view = ticket(name);
      const history = pageOf(state.actionsOfTicket(ticketId, nftId, before, PAGE + 1));
      return view === undefined && history.items.length === 0 ? undefined : { view, ...history };
    },
    eventHistory(eventId: string, before: number) {
      const view = event(eventId);
      const history = pageOf(state.actionsOfEvent(eventId, before, PAGE + 1));
      return view === undefined && history.items.length === 0 ? undefined : { view, ...history };
    },
    /** What an id is here, and which ids begin with it; those of refused actions count too. */
    search(id: string) {
      const action = state.actionOf(id);
      const tickets = state.idsFrom("ticket", id, SUGGESTED);
      const events = state.idsFrom("event", id, SUGGESTED);
      return {
        ticketId: state.ticketOfNft(id)?.ticketId ?? tickets.find((each) => each === id) ?? null,
        eventId: events.find((each) => each === id) ?? null,
        promise: action === undefined ? null : withData(action),
        ...{ tickets, events },
      };
    },
  };

  function pageOf(actions: readonly ProcessedAction[]) {
    return { items: actions.slice(0, PAGE).map(withData), hasMore: actions.length > PAGE };
  }
}

const EVENT_FIELDS: readonly FieldName[] = [...acceptedFields("newEvent"), "metadataTemplateId"];
const TICKET_FIELDS: readonly FieldName[] = [...acceptedFields("soldTicket"), "metadataTemplateId"];

/** An event as the service would show it. */
function shownEvent(event: EventRow | undefined) {
  if (event === undefined) return undefined;
  const { number, eventId, tickets } = event;
  return { eventId, number, tickets, ...shown(EVENT_FIELDS, { ...event.fields, eventId }) };
}

/** A ticket as the service would show it, with generated texts and its event's default image and media. */
function shownTicket(state: State, ticket: TicketRow | undefined) {
  const event = ticket && state.eventNumbered(ticket.event);
  if (ticket === undefined || event === undefined) return undefined;
  const { ticketId, nftId, token, state: life, claimed, scans, holder, wallet, fields: own } = ticket;
  const { eventId } = event;
  const about = shown(EVENT_FIELDS, event.fields).fields;
  const fields = {
    ...own,
    eventId,
    ticketId,
    ...(holder !== null && { userId: holder }),
    to: wallet,
    imageUrl: own.imageUrl ?? about.defaultNftImageUrl,
    mediaUrl: own.mediaUrl ?? about.defaultNftMediaUrl,
    name: own.name ?? generatedName(String(about.eventName), token),
    description: own.description ?? generatedDescription(token, about),
    ...attributesOf(state, event, own),
  };
  return { eventId, ticketId, nftId, state: life, claimed, scans, ...shown(TICKET_FIELDS, fields) };
}

/** The named fields with their defaults, whatever else was stored, and what of it is written to the blockchain. */
function shown(names: readonly FieldName[], stored: StoredFields) {
  const all = new Set<string>([...names, ...Object.keys(stored)]);
  const values = [...all].map((name) => [
    name,
    stored[name] ?? (isFieldName(name) ? fieldSpec(name).default : undefined),
  ]);
  const fields: Readonly<Record<string, unknown>> = Object.fromEntries(
    values.filter(([, value]) => value !== undefined),
  );
  const written = FIELD_NAMES.filter((name) => fields[name] !== undefined && isPublic(name));
  const isHashed = (name: FieldName): boolean => fieldSpec(name).onChain === "as SHA-256 hash";
  const onChain = Object.fromEntries(
    written.map((name) => [name, isHashed(name) ? hash("sha256", String(fields[name]), "hex") : fields[name]]),
  );
  return { fields, onChain };
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

function generatedDescription(token: number, { eventName, shopUrl }: Record<string, unknown>): string {
  const event = eventName === "" ? "" : ` for ${eventName}`;
  const shop = shopUrl === "" ? "" : `, sold at ${shopUrl}`;
  const origin = "Issued by the sandbox's integrator. Powered by the ticket service's sandbox.";
  return `Ticket ${token}${event}${shop}. ${origin}`;
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

function statusByAge({ action, data, at }: ProcessedAction, now: number): PromiseStatus {
  // An accepted action is one of the table, with data that is an object.
  const { updates } = actionSpec(action as ActionName);
  const sent = Object.entries(parseJson(data) as ActionData).filter(([, value]) => value != null);
  const broadcast = sent.some(([name]) => isFieldName(name) && !isId(name) && isPublic(name));
  if (updates && !broadcast) return "no_broadcast_required";
  if (now - at < PENDING_AFTER_MS) return "waiting_broadcast";
  return now - at < CONFIRMED_AFTER_MS ? "pending" : "confirmed";
}

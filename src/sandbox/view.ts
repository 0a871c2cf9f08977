/** What the sandbox shows of what it holds: events, tickets and promises as the service would, and its record a page at a time. */

import { hash } from "node:crypto";
import { type ActionData, type ActionName, acceptedFields, actionSpec } from "../actions/actions.ts";
import {
  FIELD_NAMES,
  FIELDS,
  type FieldName,
  fieldSpec,
  isFieldName,
  type MetadataAttribute,
} from "../actions/fields.ts";
import { parseJson } from "../actions/json.ts";
import { echoed, isId, readItem } from "./item.ts";
import type { EventRow, ProcessedAction, State, StoredFields, TicketRow } from "./state.ts";

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

export function openView(state: State, integratorName: string, now: () => number) {
  const find = (name: TicketName) => ("ticketId" in name ? state.ticket(name.ticketId) : state.ticketOfNft(name.nftId));

  function statusOf(action: ProcessedAction, actionPromise: string): PromiseStatus {
    return (state.statusOf(actionPromise) as PromiseStatus | undefined) ?? statusByAge(action, now()); // as setStatus wrote it
  }

  /** A line of the record as it is listed. */
  function line(action: ProcessedAction) {
    const { data: _, ...listed } = action;
    const { actionPromise } = action;
    return { ...listed, promiseStatus: actionPromise === null ? null : statusOf(action, actionPromise) };
  }
  /** The same with what was sent, cut where it is very long. */
  const withData = (action: ProcessedAction) => ({
    ...line(action),
    data: action.data.slice(0, MOST_DATA_CHARACTERS),
    isCut: action.data.length > MOST_DATA_CHARACTERS,
  });

  const event = (eventId: string) => shownEvent(state.event(eventId));
  const ticket = (name: TicketName) => shownTicket(state, find(name), integratorName);

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
    counts: countingIn(state),

    // Page by page, the newest first; `before` is a line of the record.

    actions(before: number) {
      const actions = state.actionsBefore(before, PAGE + 1);
      return { actions: actions.slice(0, PAGE).map(line), hasMore: actions.length > PAGE };
    },
    /** Requests of which something was processed, each with the line of its first item. */
    requests(before: number) {
      const requests: { request: number; seq: number; at: number; items: number; lastAction: string | null }[] = [];
      for (let seq = before; ; ) {
        // The lines of a request follow each other, so its last one tells where it begins.
        const [last] = state.actionsBefore(seq, 1);
        if (last === undefined || requests.length === PAGE) return { requests, hasMore: last !== undefined };
        const { request, item, at, action } = last;
        seq = last.seq - item;
        requests.push({ request, seq, at, items: item + 1, lastAction: action });
      }
    },
    /** Items of the request whose first line is `first`, in their order, from a place on. */
    request(first: number, from: number) {
      const [start] = state.actionsAfter(first - 1, 1);
      if (start === undefined || start.item !== 0) return { items: [], hasMore: false };
      const lines = state.actionsAfter(first + from - 1, PAGE + 1);
      const items = lines.filter(({ request }) => request === start.request);
      return { items: items.slice(0, PAGE).map(withData), hasMore: items.length > PAGE };
    },
    ticketHistory(name: TicketName, before: number) {
      const known = find(name);
      const view = ticket(name);
      return known && view && { view, ...historyOf(state.actionsOfTicket(known, before, PAGE + 1)) };
    },
    eventHistory(eventId: string, before: number) {
      const view = event(eventId);
      return view && { view, ...historyOf(state.actionsOfEvent(eventId, before, PAGE + 1)) };
    },
    /** What an id is here, and what begins with it. */
    search(id: string) {
      const action = state.actionOf(id);
      return {
        ticketId: (state.ticket(id) ?? state.ticketOfNft(id))?.ticketId ?? null,
        eventId: state.event(id)?.eventId ?? null,
        promise: action === undefined ? null : withData(action),
        tickets: state.idsFrom("ticket", id, SUGGESTED),
        events: state.idsFrom("event", id, SUGGESTED),
      };
    },
  };

  function historyOf(actions: readonly ProcessedAction[]) {
    return { actions: actions.slice(0, PAGE).map(withData), hasMore: actions.length > PAGE };
  }
}

type Tally = {
  readonly accepted: number;
  readonly refused: number;
};
const NO_TALLY: Tally = { accepted: 0, refused: 0 };

/** What there is, and how the actions ended per name as sent; what was no text counts under "". */
function countingIn(state: State) {
  const byAction = new Map<string, Tally>();
  /** The last line of the record that is counted: only what comes after it is read again. */
  let counted = 0;
  return () => {
    for (const { action, status, count, last } of state.countsAfter(counted)) {
      const kind = status === "success" ? "accepted" : "refused";
      const tally = byAction.get(action ?? "") ?? NO_TALLY;
      byAction.set(action ?? "", { ...tally, [kind]: tally[kind] + count });
      counted = Math.max(counted, last);
    }
    const sum = (kind: keyof Tally) => [...byAction.values()].reduce((total, tally) => total + tally[kind], 0);
    const [accepted, refused] = [sum("accepted"), sum("refused")];
    return { ...state.totals(), accepted, refused, byAction: Object.fromEntries(byAction) };
  };
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
function shownTicket(state: State, ticket: TicketRow | undefined, integratorName: string) {
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
    description: own.description ?? generatedDescription(token, about, integratorName),
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
  const written = FIELD_NAMES.filter((name) => fields[name] !== undefined && FIELDS[name].onChain !== false);
  const isHashed = (name: FieldName): boolean => FIELDS[name].onChain === "as SHA-256 hash";
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

function statusByAge({ action, data, at }: ProcessedAction, now: number): PromiseStatus {
  // An accepted action is one of the table, with data that is an object.
  const { updates } = actionSpec(action as ActionName);
  const sent = Object.entries(parseJson(data) as ActionData).filter(([, value]) => value != null);
  const broadcast = sent.some(([name]) => isFieldName(name) && !isId(name) && FIELDS[name].onChain !== false);
  if (updates && !broadcast) return "no_broadcast_required";
  if (now - at < PENDING_AFTER_MS) return "waiting_broadcast";
  return now - at < CONFIRMED_AFTER_MS ? "pending" : "confirmed";
}

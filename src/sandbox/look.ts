/** What a person looks at: totals, what was processed last, histories, requests, and what an id may mean. Bounded, page by page. */

import { nftIdOf, ticketOfNft } from "./lifecycle.ts";
import type { ProcessedAction, State } from "./state.ts";
import { type EventView, type PromiseStatus, statusOf, type TicketView, viewEvent, viewTicket } from "./view.ts";

/** How many actions, requests or ids are given at a time. */
const LOOK_PAGE = 50;
/** So much of an action's data is shown. */
const MOST_DATA_CHARACTERS = 20_000;
const SUGGESTED = 8;

/** One line of the record, as the page lists it. */
export interface LookedAt extends Omit<ProcessedAction, "data"> {
  /** What the service says of its promise; null where it has none. */
  readonly promiseStatus: PromiseStatus | null;
}

/** The same with what was sent: JSON text, cut where it is very long. */
export interface LookedInto extends LookedAt {
  readonly data: string;
  readonly isCut: boolean;
}

export interface Totals {
  readonly requests: number;
  readonly events: number;
  readonly tickets: number;
  readonly accepted: number;
  readonly refused: number;
  /** The last line of the record; it grows with everything that is processed. */
  readonly seq: number;
}

export interface LookedRequest {
  readonly request: number;
  /** The first of its lines. */
  readonly seq: number;
  readonly at: number;
  readonly items: number;
  /** Of its last item, as sent. */
  readonly lastAction: string | null;
}

export interface History<View> {
  readonly view: View;
  /** The newest first. */
  readonly actions: readonly LookedInto[];
  readonly hasMore: boolean;
}

export function openLook(view: { readonly state: State; readonly integratorName: string }, now: () => number) {
  const { state } = view;
  /** Counted once, and then only what came after. */
  let counted = { accepted: 0, refused: 0, seq: 0 };

  const toLine = ({ data: _, ...line }: ProcessedAction): LookedAt => ({
    ...line,
    promiseStatus: line.actionPromise === null ? null : (statusOf(state, line.actionPromise, now())?.status ?? null),
  });
  const withData = (action: ProcessedAction): LookedInto => ({
    ...toLine(action),
    data: action.data.slice(0, MOST_DATA_CHARACTERS),
    isCut: action.data.length > MOST_DATA_CHARACTERS,
  });
  const toPage = (actions: readonly ProcessedAction[]) => ({
    actions: actions.slice(0, LOOK_PAGE).map(withData),
    hasMore: actions.length > LOOK_PAGE,
  });

  return {
    totals(): Totals {
      for (const { status, count, last } of state.countAfter(counted.seq)) {
        const kind = status === "success" ? "accepted" : "refused";
        counted = { ...counted, [kind]: counted[kind] + count, seq: Math.max(counted.seq, last) };
      }
      return { ...state.totals(), ...counted };
    },
    /** The newest first. */
    actions(before: number): { readonly actions: readonly LookedAt[]; readonly hasMore: boolean } {
      const actions = state.actionsBefore(before, LOOK_PAGE + 1);
      return { actions: actions.slice(0, LOOK_PAGE).map(toLine), hasMore: actions.length > LOOK_PAGE };
    },
    /** Requests of which something was processed, the newest first: those that begin before a line. */
    requests(before: number): { readonly requests: readonly LookedRequest[]; readonly hasMore: boolean } {
      const requests: LookedRequest[] = [];
      let next = before;
      for (;;) {
        // The lines of a request follow each other, so its last one tells where it begins.
        const [last] = state.actionsBefore(next, 1);
        if (last === undefined || requests.length === LOOK_PAGE) return { requests, hasMore: last !== undefined };
        const { request, seq, item, at, action } = last;
        next = seq - item;
        requests.push({ request, seq: next, at, items: item + 1, lastAction: action });
      }
    },
    /** Items of the request whose first line is `first`, in their order, from a place on. */
    request(first: number, from: number): { readonly items: readonly LookedInto[]; readonly hasMore: boolean } {
      const [start] = state.actionsAfter(first - 1, 1);
      if (start === undefined || start.item !== 0) return { items: [], hasMore: false };
      const items = state
        .actionsAfter(first + from - 1, LOOK_PAGE + 1)
        .filter(({ request }) => request === start.request);
      return { items: items.slice(0, LOOK_PAGE).map(withData), hasMore: items.length > LOOK_PAGE };
    },
    ticket(
      by: { readonly ticketId: string } | { readonly nftId: string },
      before: number,
    ): History<TicketView> | undefined {
      const ticket = "ticketId" in by ? state.ticket(by.ticketId) : ticketOfNft(state, by.nftId);
      const shown = viewTicket(view, ticket);
      if (ticket === undefined || shown === undefined) return undefined;
      const actions = state.actionsAbout(ticket.ticketId, nftIdOf(ticket), before, LOOK_PAGE + 1);
      return { view: shown, ...toPage(actions) };
    },
    event(eventId: string, before: number): History<EventView> | undefined {
      const shown = viewEvent(state.event(eventId));
      return shown && { view: shown, ...toPage(state.actionsOfEvent(eventId, before, LOOK_PAGE + 1)) };
    },
    /** What an id is here, and what begins with it. */
    search(id: string): SearchResult {
      const ticket = state.ticket(id) ?? ticketOfNft(state, id);
      const action = state.actionOf(id);
      return {
        ticketId: ticket?.ticketId ?? null,
        eventId: state.event(id)?.eventId ?? null,
        promise: action === undefined ? null : withData(action),
        tickets: state.ticketsLike(id, SUGGESTED),
        events: state.eventsLike(id, SUGGESTED),
      };
    },
  };
}

export interface SearchResult {
  readonly ticketId: string | null;
  readonly eventId: string | null;
  readonly promise: LookedInto | null;
  readonly tickets: readonly string[];
  readonly events: readonly string[];
}

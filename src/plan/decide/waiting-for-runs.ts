import { actionSpec, registersEvent } from "../../actions/actions.ts";
import { ticketKey } from "../../ledger/known-state.ts";
import type { Pending } from "../../ledger/pending.ts";
import type { Candidate } from "../candidates/candidates.ts";

/** What depends on actions that another run may still send, and waits with them. */
export interface Waiting {
  /** Whether the candidate depends on something that is pending, or that waits itself. */
  has(candidate: Candidate): boolean;
  /** A candidate that waits: what depends on it waits too. */
  add(candidate: Candidate): void;
}

export function createWaiting({ held: { tickets, newEvents, updatedEvents } }: Pending): Waiting {
  if (tickets.size + newEvents.size + updatedEvents.size === 0) return { has: () => false, add: () => undefined };
  const waitingTickets = new Set<string>();
  const waitingEvents = new Set<string>();
  return {
    has(candidate) {
      const { action, data } = candidate;
      const { eventId } = data;
      if (eventId != null && !registersEvent(action) && (newEvents.has(eventId) || waitingEvents.has(eventId)))
        return true;
      // The deeds of a history keep their order.
      if (actionSpec(action).about === "event")
        return actionSpec(action).effect === "change-event" && updatedEvents.has(String(eventId));
      const ticket = ticketKey(data);
      return tickets.has(ticket) || waitingTickets.has(ticket);
    },
    add({ action, data }) {
      if (actionSpec(action).about === "ticket") waitingTickets.add(ticketKey(data));
      else if (registersEvent(action)) waitingEvents.add(String(data.eventId));
    },
  };
}

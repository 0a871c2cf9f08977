/** `--report-vanished`: tickets whose sale was accepted earlier, and which a later full export does not hold any more. */

import { setImmediate } from "node:timers/promises";
import { actionSpec, type Effect } from "../../actions/actions.ts";
import { acceptedSale } from "../../ledger/deeds.ts";
import { type SoldTicket, soldTickets } from "../../ledger/known-state.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import type { OrderKey } from "../candidates/order-key.ts";
import { createScratch } from "../candidates/scratch.ts";

export interface VanishedTicket extends SoldTicket {
  /** Where its sale came from; absent where a source's own key identifies its sales. */
  readonly source?: string;
  readonly line?: number;
  /** When the service accepted its sale, UTC in ISO 8601. */
  readonly at?: string;
}

export interface Vanished {
  readonly count: number;
  readonly first: readonly VanishedTicket[];
}

/** How many vanished tickets are named; all are counted. */
const NAMED = 1000;

/** Whether a ticket of such an action has not vanished: the input sells it, or is done with it. */
const ACCOUNTS_FOR_TICKET: Readonly<Record<Effect, boolean>> = {
  "register-event": false,
  "change-event": false,
  "sell-ticket": true,
  "change-ticket": false,
  "resell-ticket": false,
  "scan-ticket": false,
  "check-in-ticket": false,
  "claim-ticket": false,
  "invalidate-ticket": true,
};

/** The sales of an input, noted in memory that does not grow with it. */
export interface SalesSeen extends Disposable {
  /** Notes an action of the input, also one that is not sent because its row is invalid. */
  note(action: OrderKey): void;
  /**
   * The tickets of the input's events that the ledger knows as sold and the input does not. Tickets that were invalidated,
   * or are by this input, are done with and not among them.
   */
  vanished(ledger: Ledger | undefined, signal: AbortSignal): Promise<Vanished>;
}

/** How many tickets are looked up before the request to stop is heard. */
const AT_ONCE = 1000;

/** @param directory where they are kept. */
export function createSalesSeen(directory: string): SalesSeen {
  const seen = createScratch(
    directory,
    "sales",
    `CREATE TABLE sales (ticket_id TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
     CREATE TABLE vanished (ticket_id TEXT PRIMARY KEY) STRICT, WITHOUT ROWID`,
  );
  const events = new Set<string>();
  const isSeen = (ticketId: string): boolean => seen.has("SELECT 1 FROM sales WHERE ticket_id = ?", ticketId);
  return {
    note({ action, data: { eventId, ticketId } }) {
      if (typeof eventId === "string") events.add(eventId);
      if (action === undefined || !ACCOUNTS_FOR_TICKET[actionSpec(action).effect]) return;
      if (typeof ticketId === "string") seen.run("INSERT OR IGNORE INTO sales VALUES (?)", ticketId);
    },
    async vanished(ledger, signal) {
      const isWanted = (eventId: string, ticketId: string): boolean => events.has(eventId) && !isSeen(ticketId);
      let first: SoldTicket[] = [];
      let count = 0;
      let asked = 0;
      for (const ticket of ledger === undefined ? [] : soldTickets(ledger, isWanted)) {
        asked += 1;
        if (asked % AT_ONCE === 0) await setImmediate(undefined, { signal });
        if (ticket === undefined || seen.has("SELECT 1 FROM vanished WHERE ticket_id = ?", ticket.ticketId)) continue;
        seen.run("INSERT INTO vanished VALUES (?)", ticket.ticketId);
        count += 1;
        first.push(ticket);
        if (first.length >= 2 * NAMED) first = firstOf(first);
      }
      const named = firstOf(first).map((ticket) => ({
        ...ticket,
        ...(ledger && acceptedSale(ledger, ticket.ticketId)),
      }));
      return { count, first: named };
    },
    [Symbol.dispose]: () => seen[Symbol.dispose](),
  };
}

/** The first that are named, in the order of their ids' bytes. */
const firstOf = (tickets: readonly SoldTicket[]): SoldTicket[] =>
  tickets.toSorted((a, b) => Buffer.compare(Buffer.from(a.ticketId), Buffer.from(b.ticketId))).slice(0, NAMED);

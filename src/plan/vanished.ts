/** `--report-vanished`: tickets whose sale was accepted earlier, and which a later full export does not hold any more. */

import { join } from "node:path";
import { actionSpec, type Effect } from "../actions/actions.ts";
import { acceptedSale, type SoldTicket, soldTickets } from "../ledger/known-state.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { OrderKey } from "./facts.ts";
import { oneByOne } from "./one-by-one.ts";
import { createSorter, type SorterLimits } from "./sorter.ts";

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
export interface SalesSeen extends AsyncDisposable {
  /** Notes an action of the input, also one that is not sent because its row is invalid. */
  note(action: OrderKey): Promise<void> | undefined;
  /**
   * The tickets of the input's events that the ledger knows as sold and the input does not. Tickets that were invalidated,
   * or are by this input, are done with and not among them.
   */
  vanished(ledger: Ledger | undefined, signal: AbortSignal): Promise<Vanished>;
}

/** @param directory where what is sorted on disk lies. */
export function createSalesSeen(directory: string, limits?: SorterLimits): SalesSeen {
  const seen = createSorter(join(directory, "sales.seen"), limits);
  const events = new Set<string>();
  return {
    note({ action, data: { eventId, ticketId } }) {
      if (typeof eventId === "string") events.add(eventId);
      if (action === undefined || !ACCOUNTS_FOR_TICKET[actionSpec(action).effect]) return undefined;
      if (typeof ticketId !== "string") return undefined;
      return seen.add(Buffer.byteLength(ticketId), (buffer, at) => buffer.write(ticketId, at));
    },
    async vanished(ledger, signal) {
      const first: VanishedTicket[] = [];
      let count = 0;
      await using sorted = oneByOne(seen.sorted());
      let next = await sorted.next();
      // Both come in the order of the bytes of their ticketId.
      for (const ticket of ledger === undefined ? [] : soldTickets(ledger)) {
        signal.throwIfAborted();
        const id = Buffer.from(ticket.ticketId);
        while (next !== undefined && Buffer.compare(next, id) < 0) next = sorted.inHand() ?? (await sorted.next());
        if (next?.equals(id) || !events.has(ticket.eventId)) continue;
        count += 1;
        if (first.length < NAMED) first.push({ ...ticket, ...(ledger && acceptedSale(ledger, ticket.ticketId)) });
      }
      return { count, first };
    },
    [Symbol.asyncDispose]: () => seen[Symbol.asyncDispose](),
  };
}

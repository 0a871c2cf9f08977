/** Of which ids something was accepted, or is pending. */

import { ACTION_NAMES, type ActionName, actionSpec, actionsThat } from "../actions/actions.ts";
import { digestOf, identityText } from "../actions/identity.ts";
import type { KnownSpelling, SpelledField } from "../checks/known-spelling.ts";
import { acceptedDeeds } from "./deeds.ts";
import { keyedDeeds } from "./keyed-deeds.ts";
import type { Ledger } from "./ledger.ts";
import type { Pending } from "./pending.ts";

export interface KnownIds {
  readonly isKnown: (action: ActionName, field: SpelledField, id: string) => boolean;
  /** What is told of a known id. */
  readonly toldOf: (action: ActionName, field: SpelledField, id: string) => KnownSpelling;
  /** Ids of which something is pending, with the run that holds it where that is known. */
  readonly pending: Readonly<Record<SpelledField, ReadonlyMap<string, string | undefined>>>;
}

export function knownIds(ledger: Ledger, waiting: Pending): KnownIds {
  const pending = pendingIds(waiting);
  const isAccepted = (action: ActionName, field: SpelledField, id: string): boolean => {
    // Of most tickets nothing but the sale is known.
    const kinds = field === "ticketId" ? [action, ...actionsThat("sell-ticket")] : [action];
    return kinds.some((kind) => {
      const identity = digestOf(identityText({ action: kind, data: { [field]: id } }));
      return ledger.get(KNOWN[field === "eventId" ? "event" : "ticket"], identity, identity, id) !== undefined;
    });
  };
  return {
    isKnown: (action, field, id) => pending[field].has(id) || isAccepted(action, field, id),
    toldOf: (action, field, id) =>
      isAccepted(action, field, id)
        ? { id, isPending: false, run: runOf(ledger, field, id) }
        : { id, isPending: true, run: pending[field].get(id) },
    pending,
  };
}

const DEED = `SELECT 1 AS one FROM deeds WHERE identity = ? AND taken = 1 UNION ALL
  SELECT 1 FROM keyed_deeds WHERE identity = ? AND taken = 1`;
const KNOWN = {
  event: `${DEED} UNION ALL SELECT 1 FROM events WHERE event_id = ? LIMIT 1`,
  ticket: `${DEED} UNION ALL SELECT 1 FROM tickets WHERE ticket = 'ticket:' || ? LIMIT 1`,
};

function pendingIds({ newEvents, updatedEvents, tickets }: Pending): KnownIds["pending"] {
  const updated = [...updatedEvents].map((id) => [id, undefined] as const);
  const named = [...tickets].filter(([ticket]) => ticket.startsWith(TICKET));
  return {
    eventId: new Map<string, string | undefined>([...updated, ...newEvents]),
    ticketId: new Map(named.map(([ticket, run]) => [ticket.slice(TICKET.length), run])),
  };
}

/** As `ticketKey` names tickets. */
const TICKET = "ticket:";

/** The first run in which something of the ticket or event was accepted. */
function runOf(ledger: Ledger, field: SpelledField, id: string): string | undefined {
  const about = field === "eventId" ? "event" : "ticket";
  const runs = ACTION_NAMES.filter((name) => actionSpec(name).about === about).flatMap((action) => {
    const identity = digestOf(identityText({ action, data: { [field]: id } }));
    const keyed = keyedDeeds(ledger, identity).filter(({ isTaken }) => isTaken);
    return [...acceptedDeeds(ledger, identity), ...keyed].map(({ runNo }) => runNo);
  });
  if (runs.length === 0) return undefined;
  const row = ledger.get("SELECT run FROM runs WHERE run_no = ?", Math.min(...runs));
  return row === undefined ? undefined : String(row.run);
}

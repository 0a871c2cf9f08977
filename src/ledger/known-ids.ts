/** Of which ids something was accepted, or is pending; and the same by their normal form. */

import { ACTION_NAMES, type ActionName, actionSpec, actionsThat } from "../actions/actions.ts";
import { digestOf, identityText } from "../actions/identity.ts";
import { type IdField, type KnownIds, normalId } from "../checks/ids.ts";
import { acceptedDeeds } from "./deeds.ts";
import { keyedDeeds } from "./keyed-deeds.ts";
import type { Ledger } from "./ledger.ts";
import type { Pending } from "./pending.ts";

/** Accepted ids with this normal form that are written otherwise. */
export const idsByNormal = (ledger: Ledger, field: IdField, normal: string): readonly string[] =>
  ledger
    .all("SELECT id FROM ids_by_normal WHERE field = ? AND normal = ? ORDER BY id", field, normal)
    .map(({ id }) => String(id));

export function knownIds(ledger: Ledger, waiting: Pending): KnownIds {
  const pending = pendingIds(waiting);
  const isAccepted = (action: ActionName, field: IdField, id: string): boolean => {
    // Of most tickets nothing but the sale is known.
    const kinds = field === "ticketId" ? [action, ...actionsThat("sell-ticket")] : [action];
    return kinds.some((kind) => {
      const identity = digestOf(identityText({ action: kind, data: { [field]: id } }));
      return ledger.get(KNOWN[field === "eventId" ? "event" : "ticket"], identity, identity, id) !== undefined;
    });
  };
  const isKnownId = (action: ActionName, field: IdField, id: string): boolean =>
    pending[field].has(id) || isAccepted(action, field, id);
  const pendingByNormal = (field: IdField) =>
    Map.groupBy(
      [...pending[field].keys()].filter((id) => normalId(id) !== id),
      normalId,
    );
  const others: Partial<Record<IdField, ReadonlyMap<string, readonly string[]>>> = {};
  let areNoted: boolean | undefined;
  return {
    isKnownId,
    nearId: (action, field, id, normal) => {
      areNoted ??= ledger.get("SELECT 1 AS one FROM ids_by_normal LIMIT 1") !== undefined;
      others[field] ??= pendingByNormal(field);
      const near = [
        ...[normal, ...(others[field].get(normal) ?? [])],
        ...(areNoted ? idsByNormal(ledger, field, normal) : []),
      ];
      const other = near.find((each) => each !== id && isKnownId(action, field, each));
      if (other === undefined || isKnownId(action, field, id)) return undefined;
      return isAccepted(action, field, other)
        ? { id: other, isPending: false, run: runOf(ledger, field, other) }
        : { id: other, isPending: true, run: pending[field].get(other) };
    },
  };
}

const DEED = `SELECT 1 AS one FROM deeds WHERE identity = ? AND taken = 1 UNION ALL
  SELECT 1 FROM keyed_deeds WHERE identity = ? AND taken = 1`;
const KNOWN = {
  event: `${DEED} UNION ALL SELECT 1 FROM events WHERE event_id = ? LIMIT 1`,
  ticket: `${DEED} UNION ALL SELECT 1 FROM tickets WHERE ticket = 'ticket:' || ? LIMIT 1`,
};

/** With the run that holds it where that is known. */
function pendingIds({
  newEvents,
  updatedEvents,
  tickets,
}: Pending): Readonly<Record<IdField, ReadonlyMap<string, string | undefined>>> {
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
function runOf(ledger: Ledger, field: IdField, id: string): string | undefined {
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

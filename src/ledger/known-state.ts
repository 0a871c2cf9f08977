/** What the ledger knows of deeds, events and tickets. */

import { actionsThat } from "../actions/actions.ts";
import { digestOf, identityText } from "../actions/identity.ts";
import type { KnownState, KnownTicket } from "../checks/cross-action.ts";
import { acceptedDeeds, hasDeeds } from "./deeds.ts";
import { knownIds } from "./known-ids.ts";
import type { Ledger } from "./ledger.ts";
import { TAKEN } from "./outcomes.ts";
import type { Pending } from "./pending.ts";
import type { AskedAt } from "./row-places.ts";
import { fieldsOf } from "./sent-action.ts";
import { sqlList } from "./sql-list.ts";

/** Key in the ledger's meta table: some of its runs were imported, and know their deeds by ids only. */
export const IMPORTED = "imported";

/**
 * The events and tickets that the environment has accepted, for the checks across actions.
 *
 * @param pending its ids are known too.
 */
export function ledgerKnownState(ledger: Ledger, pending: Pending): KnownState {
  let isAnyDeed: boolean | undefined;
  const hasTickets = (): boolean => {
    isAnyDeed ??= hasDeeds(ledger);
    return isAnyDeed;
  };
  return {
    event: (eventId) => {
      const row = ledger.get("SELECT currency FROM events WHERE event_id = ?", eventId);
      return row === undefined ? undefined : { ...(row.currency !== null && { currency: String(row.currency) }) };
    },
    isOnlyChanged: (eventId) =>
      ledger.get("SELECT 1 AS one FROM events WHERE event_id = ?", eventId) !== undefined &&
      actionsThat("register-event").every(
        (action) => acceptedDeeds(ledger, digestOf(identityText({ action, data: { eventId } }))).length === 0,
      ),
    ticket: (ref) => {
      // The sales of a first night ask this for each ticket.
      if (!hasTickets()) return undefined;
      return knownTicket(ledger, ref);
    },
    hasTickets,
    hasHoldersByNftId: () =>
      ledger.get("SELECT 1 AS one FROM tickets WHERE ticket < ? AND holder IS NOT NULL LIMIT 1", TICKET_PREFIX) !==
      undefined,
    ...knownIds(ledger, pending),
  };
}

const TICKET_PREFIX = "ticket:";

/** Names a ticket by whichever id an action gives it. */
export function ticketKey(ref: { readonly ticketId?: unknown; readonly nftId?: unknown }): string {
  return ref.ticketId == null ? `nft:${ref.nftId}` : `${TICKET_PREFIX}${ref.ticketId}`;
}

/** A ticket that an accepted action named. Where nothing but its sale was accepted, only the deed of that tells of it. */
function knownTicket(
  ledger: Ledger,
  ref: { readonly ticketId: string } | { readonly nftId: string },
): KnownTicket | undefined {
  return listedTicket(ledger, ref) ?? ("ticketId" in ref ? latestSale(ledger, ref.ticketId) : undefined);
}

/** One of which something else than its sale was accepted. */
function listedTicket(
  ledger: Ledger,
  ref: { readonly ticketId: string } | { readonly nftId: string },
): KnownTicket | undefined {
  const row = ledger.get("SELECT event_id, holder, state FROM tickets WHERE ticket = ?", ticketKey(ref));
  if (row === undefined) return undefined;
  return {
    state: String(row.state) as KnownTicket["state"], // the table's CHECK holds it to these
    ...(row.event_id !== null && { eventId: String(row.event_id) }),
    ...(row.holder !== null && { holder: String(row.holder) }),
  };
}

/**
 * What the latest accepted sale of a ticket says.
 *
 * @param before not what was sold in the same run behind this action.
 */
export function latestSale(ledger: Ledger, ticketId: string, before?: AskedAt): KnownTicket | undefined {
  const asked = [before?.runNo ?? -1, before?.seq ?? -1] as const;
  for (const action of SELLING) {
    const identity = digestOf(identityText({ action, data: { ticketId } }));
    const sale = ledger.get(LATEST_SALE, identity, ...asked, identity, ...asked);
    if (sale === undefined) continue;
    return {
      state: "sold",
      ...(sale.event_id !== null && { eventId: String(sale.event_id) }),
      ...(sale.holder !== null && { holder: String(sale.holder) }),
    };
  }
  return undefined;
}

const SELLING = actionsThat("sell-ticket");

const salesIn = (table: string): string => `SELECT run_no, seq, event_id, holder FROM ${table}
  WHERE identity = ? AND taken = 1 AND NOT (run_no = ? AND seq > ?)`;
const LATEST_SALE = `${salesIn("deeds")} UNION ALL ${salesIn("keyed_deeds")} ORDER BY run_no DESC, seq DESC LIMIT 1`;

/** A ticket that was sold and not invalidated. */
export interface SoldTicket {
  readonly eventId: string;
  readonly ticketId: string;
  readonly state: "sold" | "checked-in";
}

/**
 * Those of such tickets that are wanted, in no order. What the table of tickets does not hold is read from the sales themselves,
 * so that a ticket sold again (`--again`) comes twice.
 */
export function* soldTickets(
  ledger: Ledger,
  isWanted: (eventId: string, ticketId: string) => boolean,
): Generator<SoldTicket | undefined> {
  const listed = ledger.iterate(
    `SELECT substr(ticket, ${TICKET_PREFIX.length + 1}) AS ticket_id, event_id, state FROM tickets
     WHERE ticket >= '${TICKET_PREFIX}' AND ticket < 'ticket;' AND event_id IS NOT NULL AND state <> 'invalidated'`,
  );
  for (const { ticket_id, event_id, state } of listed) {
    const [eventId, ticketId] = [String(event_id), String(ticket_id)];
    const isIn = String(state) === "checked-in";
    yield isWanted(eventId, ticketId) ? { eventId, ticketId, state: isIn ? "checked-in" : "sold" } : undefined;
  }
  for (const { data } of ledger.iterate(SALES)) {
    const { eventId, ticketId } = fieldsOf(String(data));
    const isAsked = eventId !== undefined && ticketId !== undefined && isWanted(eventId, ticketId);
    yield isAsked && !isListed(ledger, ticketId) ? { eventId, ticketId, state: "sold" } : undefined;
  }
}

const SALES = `SELECT data FROM actions WHERE action IN ${sqlList(SELLING)} AND outcome IN ${TAKEN} ORDER BY run_no, seq`;

const isListed = (ledger: Ledger, ticketId: string): boolean =>
  ledger.get("SELECT 1 AS one FROM tickets WHERE ticket = ?", ticketKey({ ticketId })) !== undefined;

/** Accepted or pending ids that begin with a zero. Spreadsheets drop the zero, and without it the ids would look new. */

import { ACTION_NAMES, type ActionName, actionSpec } from "../actions/actions.ts";
import { digestOf, identityText } from "../actions/identity.ts";
import { isNumber, otherSpellings } from "../actions/zero-ids.ts";
import type { KnownSpelling } from "../checks/lost-zeros.ts";
import { keyedDeeds } from "./keyed-deeds.ts";
import type { Ledger } from "./ledger.ts";
import { TAKEN } from "./outcomes.ts";
import type { Pending } from "./pending.ts";

const DIGITS_ONLY = (id: string): string => `${id} NOT GLOB '*[^0-9]*'`;

/** The lengths of ticketIds that are all digits and begin with a zero. Events are few: theirs are looked up when needed. */
export const ZERO_LENGTHS = "CREATE TABLE zero_lengths (length INTEGER PRIMARY KEY) STRICT;\n";

/** Fills the table of a ledger that had none. */
export const FILL_ZERO_LENGTHS = `INSERT OR IGNORE INTO zero_lengths (length) SELECT DISTINCT length(ticket) - 7 FROM tickets
  WHERE ticket >= 'ticket:0' AND ticket < 'ticket:1' AND ${DIGITS_ONLY("substr(ticket, 8)")};\n`;

/**
 * Part of a transaction: notes the lengths of what the service has taken of a run.
 *
 * @param unmerged which chunks, in SQL.
 */
export function mergeZeroLengths(ledger: Ledger, runNo: number, unmerged: string): void {
  // Searching for the text first is faster than reading the id out of every action.
  ledger.run(
    `INSERT OR IGNORE INTO zero_lengths (length) SELECT DISTINCT length(ticket_id) FROM actions
     WHERE run_no = ? AND instr(data, '"ticketId":"0') > 0 AND outcome IN ${TAKEN} AND ${DIGITS_ONLY("ticket_id")}
     AND chunk IN (SELECT chunk FROM chunks WHERE run_no = ? AND ${unmerged})`,
    runNo,
    runNo,
  );
}

const EVENT_LENGTHS = `SELECT DISTINCT length(event_id) AS length FROM events
  WHERE event_id >= '0' AND event_id < '1' AND ${DIGITS_ONLY("event_id")}`;

const known = (table: string): string => `SELECT 1 AS one FROM ${table} UNION ALL
  SELECT 1 FROM identities WHERE identity = ? AND taken = 1 UNION ALL
  SELECT 1 FROM keyed_deeds WHERE identity = ? AND taken = 1 LIMIT 1`;
const KNOWN = { event: known("events WHERE event_id = ?"), ticket: known("tickets WHERE ticket = 'ticket:' || ?") };

type Field = "eventId" | "ticketId";

/** For an unknown id: the known one that is the same number with other leading zeros. */
export function spellingsOf(
  ledger: Ledger,
  pending: Pending,
): (action: ActionName, field: Field, id: string) => KnownSpelling | undefined {
  const waiting = pendingIds(pending);
  const readLengths = (sql: string, field: Field): ReadonlySet<number> =>
    new Set([
      ...ledger.all(sql).map(({ length }) => Number(length)),
      ...[...waiting[field].keys()].filter((id) => id.startsWith("0") && isNumber(id)).map((id) => id.length),
    ]);
  let lengths: Record<Field, ReadonlySet<number>> | undefined;
  const isAccepted = (action: ActionName, field: Field, id: string): boolean => {
    const identity = digestOf(identityText({ action, data: { [field]: id } }));
    return ledger.get(KNOWN[field === "eventId" ? "event" : "ticket"], id, identity, identity) !== undefined;
  };
  return (action, field, id) => {
    lengths ??= {
      eventId: readLengths(EVENT_LENGTHS, "eventId"),
      ticketId: readLengths("SELECT length FROM zero_lengths", "ticketId"),
    };
    const isKnown = (spelling: string): boolean => waiting[field].has(spelling) || isAccepted(action, field, spelling);
    const other = otherSpellings(id, lengths[field]).find(isKnown);
    if (other === undefined || isKnown(id)) return undefined;
    return isAccepted(action, field, other)
      ? { id: other, isPending: false, run: runOf(ledger, field, other) }
      : { id: other, isPending: true, run: waiting[field].get(other) };
  };
}

/** Ids of which something is pending, with the run that holds it where that is known. */
function pendingIds({
  newEvents,
  updatedEvents,
  tickets,
}: Pending): Record<Field, ReadonlyMap<string, string | undefined>> {
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
function runOf(ledger: Ledger, field: Field, id: string): string | undefined {
  const about = field === "eventId" ? "event" : "ticket";
  const runs = ACTION_NAMES.filter((name) => actionSpec(name).about === about).flatMap((action) => {
    const identity = digestOf(identityText({ action, data: { [field]: id } }));
    const plain = ledger.all("SELECT run_no FROM identities WHERE identity = ? AND taken = 1", identity);
    const keyed = keyedDeeds(ledger, identity).filter(({ isTaken }) => isTaken);
    return [...plain.map(({ run_no }) => Number(run_no)), ...keyed.map(({ runNo }) => runNo)];
  });
  if (runs.length === 0) return undefined;
  const row = ledger.get("SELECT run FROM runs WHERE run_no = ?", Math.min(...runs));
  return row === undefined ? undefined : String(row.run);
}

/** Accepted or pending ids that begin with a zero. Spreadsheets drop the zero, and without it the ids would look new. */

import { isNumber, otherSpellings } from "../actions/zero-ids.ts";
import type { OtherSpelling, SpelledField } from "../checks/known-spelling.ts";
import type { KnownIds } from "./known-ids.ts";
import type { Ledger } from "./ledger.ts";
import { TAKEN } from "./outcomes.ts";

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

/** The lengths of accepted ids that begin with a zero. */
export const idLengths = (ledger: Ledger): ReadonlySet<number> =>
  new Set(ledger.all(`${EVENT_LENGTHS} UNION SELECT length FROM zero_lengths`).map(({ length }) => Number(length)));

/** For an unknown id: the known one that is the same number with other leading zeros. */
export function spellingsOf(ledger: Ledger, { isKnown, toldOf, pending }: KnownIds): OtherSpelling {
  const readLengths = (sql: string, field: SpelledField): ReadonlySet<number> =>
    new Set([
      ...ledger.all(sql).map(({ length }) => Number(length)),
      ...[...pending[field].keys()].filter((id) => id.startsWith("0") && isNumber(id)).map((id) => id.length),
    ]);
  let lengths: Record<SpelledField, ReadonlySet<number>> | undefined;
  return (action, field, id) => {
    lengths ??= {
      eventId: readLengths(EVENT_LENGTHS, "eventId"),
      ticketId: readLengths("SELECT length FROM zero_lengths", "ticketId"),
    };
    const other = otherSpellings(id, lengths[field]).find((spelling) => isKnown(action, field, spelling));
    return other === undefined || isKnown(action, field, id) ? undefined : toldOf(action, field, other);
  };
}

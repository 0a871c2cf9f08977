/** Accepted or pending ids that begin with a zero. Spreadsheets drop the zero, and without it the ids would look new. */

import { isNumber, otherSpellings } from "../actions/zero-ids.ts";
import type { OtherSpelling, SpelledField } from "../checks/known-spelling.ts";
import type { KnownIds } from "./known-ids.ts";
import type { Ledger } from "./ledger.ts";

const DIGITS_ONLY = (id: string): string => `ltrim(${id}, '0123456789') = ''`;

/** Part of a transaction: notes the length of an accepted ticketId that is all digits and begins with a zero. */
export function noteZeroLength(ledger: Ledger, length: number): void {
  ledger.run("INSERT OR IGNORE INTO zero_lengths (length) VALUES (?)", length);
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

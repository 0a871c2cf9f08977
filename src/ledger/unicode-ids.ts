/** Accepted or pending ids whose characters Unicode writes in more than one form. */

import { mayHaveForms, UnicodeForms } from "../actions/unicode-forms.ts";
import type { OtherSpelling, SpelledField } from "../checks/known-spelling.ts";
import type { KnownIds } from "./known-ids.ts";
import type { Ledger } from "./ledger.ts";

/** Part of a transaction: notes an accepted ticketId, if it may be written in another form. */
export function noteUnicodeId(ledger: Ledger, ticketId: string): void {
  if (mayHaveForms(ticketId)) ledger.run("INSERT OR IGNORE INTO unicode_ids (ticket_id) VALUES (?)", ticketId);
}

/** Counting bytes is faster than looking for a character. */
const NOT_ASCII = (id: string): string => `length(${id}) < octet_length(${id})`;

const IDS: Readonly<Record<SpelledField, string>> = {
  eventId: `SELECT event_id AS id FROM events WHERE ${NOT_ASCII("event_id")}`,
  ticketId: "SELECT ticket_id AS id FROM unicode_ids",
};

/** For an unknown id that is not ASCII: the known one that is the same text in another form. */
export function formsOf(ledger: Ledger, { isKnown, toldOf, pending }: KnownIds): OtherSpelling {
  const known: Partial<Record<SpelledField, UnicodeForms>> = {};
  // One look at all ids, and only where there is something to compare with them.
  const read = (field: SpelledField): UnicodeForms => {
    const forms = new UnicodeForms();
    for (const { id } of ledger.iterate(IDS[field])) forms.take(String(id));
    for (const id of pending[field].keys()) if (mayHaveForms(id)) forms.take(id);
    return forms;
  };
  return (action, field, id) => {
    known[field] ??= read(field);
    const other = known[field].othersOf(id).find((form) => isKnown(action, field, form));
    return other === undefined || isKnown(action, field, id) ? undefined : toldOf(action, field, other);
  };
}

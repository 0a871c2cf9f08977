/** The numbers by which deeds name their events. */

import type { Ledger } from "./ledger.ts";

interface SeenId {
  readonly id: Buffer;
  readonly eventNo: number;
}

/** Numbers of events, given where there is none, within one transaction. */
export class EventNumbers {
  readonly #ledger: Ledger;
  readonly #byId = new Map<string, number>();
  /** Those asked for by bytes, of which no text is made a second time. */
  readonly #byBytes = new Map<number, SeenId[]>();

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
  }

  of(eventId: string): number {
    const known = this.#byId.get(eventId);
    if (known !== undefined) return known;
    this.#ledger.run("INSERT OR IGNORE INTO event_numbers (event_id) VALUES (?)", eventId);
    const number = Number(this.#ledger.get("SELECT event_no FROM event_numbers WHERE event_id = ?", eventId)?.event_no);
    this.#byId.set(eventId, number);
    return number;
  }

  /** Of an id that stands in bytes, as ASCII. */
  at(bytes: Buffer, from: number, end: number): number {
    let hash = 0;
    for (let at = from; at < end; at += 1) hash = Math.imul(hash ^ (bytes[at] ?? 0), 0x01000193);
    const seen = this.#byBytes.get(hash);
    if (seen !== undefined)
      for (const { id, eventNo } of seen) if (id.length === end - from && isSame(bytes, from, id)) return eventNo;
    const eventId = bytes.toString("latin1", from, end);
    const eventNo = this.of(eventId);
    const ids = seen ?? [];
    ids.push({ id: Buffer.from(eventId), eventNo });
    this.#byBytes.set(hash, ids);
    return eventNo;
  }
}

/** `isAt`, of one kind of memory alone: called for every deed, it takes a third of the time. */
function isSame(bytes: Buffer, from: number, id: Buffer): boolean {
  for (let at = 0; at < id.length; at += 1) if (bytes[from + at] !== id[at]) return false;
  return true;
}

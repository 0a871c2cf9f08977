/** Sales as the planner writes them, read from their bytes: most actions are such, and no text is made of the rest of their line. */

import { isAt } from "../disk/buffers.ts";

/** A sale whose ids are plain text. */
export interface PlainSale {
  readonly eventId: string;
  readonly ticketId: string;
  readonly userId: string;
}

const [BEFORE_EVENT, BEFORE_TICKET, BEFORE_USER] = [
  '{"action":"soldTicket","data":{"eventId":"',
  '","ticketId":"',
  '","userId":"',
].map((text) => Buffer.from(text)) as [Buffer, Buffer, Buffer]; // one of each

/** @returns undefined for anything but a sale whose ids are of ASCII without an escape, which the reference has to read. */
export function plainSale(lines: Buffer, from: number): PlainSale | undefined {
  if (!isAt(lines, from, BEFORE_EVENT)) return undefined;
  const eventAt = from + BEFORE_EVENT.length;
  const eventEnd = plainEnd(lines, eventAt);
  if (!isAt(lines, eventEnd, BEFORE_TICKET)) return undefined;
  const ticketAt = eventEnd + BEFORE_TICKET.length;
  const ticketEnd = plainEnd(lines, ticketAt);
  if (!isAt(lines, ticketEnd, BEFORE_USER)) return undefined;
  const userAt = ticketEnd + BEFORE_USER.length;
  const userEnd = plainEnd(lines, userAt);
  if (lines[userEnd] !== QUOTE) return undefined;
  // Texts of their own: a part of a longer one would keep that in memory.
  return {
    eventId: lines.toString("latin1", eventAt, eventEnd),
    ticketId: lines.toString("latin1", ticketAt, ticketEnd),
    userId: lines.toString("latin1", userAt, userEnd),
  };
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Where the first byte stands that is not plain. */
function plainEnd(lines: Uint8Array, from: number): number {
  for (let at = from; ; at += 1) {
    const byte = lines[at];
    if (byte === undefined || byte < 0x20 || byte > 0x7e || byte === QUOTE || byte === BACKSLASH) return at;
  }
}

/** Sales as the planner writes them, read from their bytes: most actions are such, and no text is made of their line. */

import { isAt } from "../disk/buffers.ts";

/** Where the ids of a sale stand that are plain text. */
export interface PlainSale {
  readonly event: Place;
  readonly ticket: Place;
  readonly user: Place;
}

interface Place {
  readonly from: number;
  readonly end: number;
}

const [BEFORE_EVENT, BEFORE_TICKET, BEFORE_USER] = [
  '{"action":"soldTicket","data":{"eventId":"',
  '","ticketId":"',
  '","userId":"',
].map((text) => Buffer.from(text)) as [Buffer, Buffer, Buffer]; // one of each

/** @returns undefined for anything but a sale whose ids are of ASCII without an escape, which the reference has to read. */
export function plainSale(lines: Buffer, from: number): PlainSale | undefined {
  if (!isAt(lines, from, BEFORE_EVENT)) return undefined;
  const event = plainAt(lines, from + BEFORE_EVENT.length);
  if (!isAt(lines, event.end, BEFORE_TICKET)) return undefined;
  const ticket = plainAt(lines, event.end + BEFORE_TICKET.length);
  if (!isAt(lines, ticket.end, BEFORE_USER)) return undefined;
  const user = plainAt(lines, ticket.end + BEFORE_USER.length);
  return lines[user.end] === QUOTE ? { event, ticket, user } : undefined;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** From a place to the first byte that is not plain. */
function plainAt(lines: Uint8Array, from: number): Place {
  for (let end = from; ; end += 1) {
    const byte = lines[end];
    if (byte === undefined || byte < 0x20 || byte > 0x7e || byte === QUOTE || byte === BACKSLASH) return { from, end };
  }
}

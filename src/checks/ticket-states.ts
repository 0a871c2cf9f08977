/**
 * What the checks remember of every ticket of an input, in 32 bytes a ticket and 5 to 10 of index, however long its id.
 *
 * A ticket is known by 96 bits of its reference, a holder by 64 bits of the userId; neither text is kept, so a meeting
 * of two texts could reject a sound row. How likely is that? Among 10 million tickets two share 96 bits with a chance of
 * (10^7)² / 2^97, less than 10^-15; a resale compares one pair of holders, 2^-64 each, less than 10^-12 for 10 million
 * resales. A disk returns a wrong byte far more often, so a hit counts as confirmed. (A table of 64 bits would be no
 * such thing: there the chance is 10^-6 per input.) The hash is not made to resist people who want a meeting, and need
 * not be: who can write ids into the input can as well write an invalid row.
 */

import { Failure } from "../failure.ts";

export const TICKET_KINDS = ["ticketId", "nftId"] as const;
export type TicketKind = (typeof TICKET_KINDS)[number];

/** `new`: never asked for before. `unsold`: no sale of it is known. */
export const TICKET_STATUSES = ["new", "unsold", "sold", "checked-in", "invalidated"] as const;
type TicketStatus = (typeof TICKET_STATUSES)[number];

/** A row of the input. */
export interface Place {
  readonly source: string;
  readonly line: number;
}

/** Tickets are numbers here, as `locate` gives them. */
export interface TicketStates {
  /** The ticket of a reference; taken up with status `new` when it was not there. */
  locate(kind: TicketKind, id: string): number;
  /** The same, where it is there. */
  find(kind: TicketKind, id: string): number | undefined;
  readonly size: number;
  /** Bytes that the tables hold. */
  readonly bytes: number;
  status(ticket: number): TicketStatus;
  setStatus(ticket: number, status: TicketStatus): void;
  /** Whether a row about it is held back; its place is then that row's. */
  isHeld(ticket: number): boolean;
  hold(ticket: number): void;
  /** Whether its sale is one of this input. */
  isSoldHere(ticket: number): boolean;
  setSoldHere(ticket: number): void;
  /** Undefined when the holder is not known. */
  isHeldBy(ticket: number, userId: string): boolean | undefined;
  setHolder(ticket: number, userId: string): void;
  /** The number of its event as the caller counts events, from 0; undefined when not known. */
  event(ticket: number): number | undefined;
  setEvent(ticket: number, event: number): void;
  /** Where its state comes from; undefined when that was not in this input. */
  place(ticket: number): Place | undefined;
  setPlace(ticket: number, place: Place): void;
}

/** The words of a record: three of the reference's hash, two of the holder's, event + 1, line, flags with the source. */
const WORDS = 8;
const HOLDER = 3;
const EVENT = 5;
const LINE = 6;
const FLAGS = 7;

const STATUS_MASK = 0b111;
const HELD = 0b1000;
const SOLD_HERE = 0b10000;
const SOURCE_SHIFT = 5;

/** Records stand in pages, so that growing never copies them and at most one page is not yet used. */
const PAGE_BITS = 15;
const PAGE_MASK = (1 << PAGE_BITS) - 1;

/** A slot of the index: five bits of the hash, which spare most looks at a record, then the ticket + 1; 0 is free. */
const TICKET_BITS = 27;
const TICKET_MASK = (1 << TICKET_BITS) - 1;
const FIRST_SLOTS = 1 << 10;
const MAX_LOAD = 0.8;

const SEED = { ticketId: 0x51ed270b, nftId: 0x2545f491, holder: 0x9e3779b9 } as const;

export function createTicketStates(): TicketStates {
  const pages: Uint32Array[] = [];
  const sources: string[] = [];
  const sourceNumbers = new Map<string, number>();
  const hash = new Uint32Array(4);
  let slots = new Uint32Array(FIRST_SLOTS);
  let size = 0;

  const page = (ticket: number): Uint32Array => {
    const found = pages[ticket >>> PAGE_BITS];
    if (found === undefined) throw new Error(`there is no ticket ${ticket}`);
    return found;
  };
  const read = (ticket: number, word: number): number => page(ticket)[(ticket & PAGE_MASK) * WORDS + word] ?? 0;
  const write = (ticket: number, word: number, value: number): void => {
    page(ticket)[(ticket & PAGE_MASK) * WORDS + word] = value;
  };
  const isIt = (ticket: number): boolean => {
    const records = page(ticket);
    const at = (ticket & PAGE_MASK) * WORDS;
    return records[at] === hash[0] && records[at + 1] === hash[1] && records[at + 2] === hash[2];
  };

  const grow = (): void => {
    slots = new Uint32Array(slots.length * 2);
    const mask = slots.length - 1;
    for (let ticket = 0; ticket < size; ticket += 1) {
      let at = read(ticket, 0) & mask;
      while (slots[at] !== 0) at = (at + 1) & mask;
      slots[at] = slotOf(ticket, read(ticket, 1));
    }
  };

  const add = (): number => {
    const ticket = size;
    if (ticket + 1 > TICKET_MASK) {
      throw new Failure("usage", `The input is about more than ${TICKET_MASK} tickets.`, { hint: "Split it." });
    }
    if ((ticket & PAGE_MASK) === 0) pages.push(new Uint32Array(WORDS << PAGE_BITS));
    for (let word = 0; word < HOLDER; word += 1) write(ticket, word, hash[word] ?? 0);
    size += 1;
    return ticket;
  };

  /** The ticket of a reference, whose hash is then in hand; or, as a negative number, its free slot and one more. */
  const seek = (kind: TicketKind, id: string): number => {
    hash128(id, SEED[kind], hash);
    const [first = 0, second = 0] = hash;
    const mask = slots.length - 1;
    let at = first & mask;
    for (let slot = slots[at] ?? 0; slot !== 0; slot = slots[at] ?? 0) {
      const ticket = (slot & TICKET_MASK) - 1;
      if (slot === slotOf(ticket, second) && isIt(ticket)) return ticket;
      at = (at + 1) & mask;
    }
    return -at - 1;
  };

  return {
    locate(kind, id) {
      const found = seek(kind, id);
      if (found >= 0) return found;
      const ticket = add();
      slots[-found - 1] = slotOf(ticket, hash[1] ?? 0);
      if (size > slots.length * MAX_LOAD) grow();
      return ticket;
    },
    find(kind, id) {
      const found = seek(kind, id);
      return found < 0 ? undefined : found;
    },
    get size() {
      return size;
    },
    get bytes() {
      return pages.length * (WORDS << PAGE_BITS) * Uint32Array.BYTES_PER_ELEMENT + slots.byteLength;
    },
    status: (ticket) => TICKET_STATUSES[read(ticket, FLAGS) & STATUS_MASK] ?? "new",
    setStatus(ticket, status) {
      write(ticket, FLAGS, (read(ticket, FLAGS) & ~STATUS_MASK) | TICKET_STATUSES.indexOf(status));
    },
    isHeld: (ticket) => (read(ticket, FLAGS) & HELD) !== 0,
    hold(ticket) {
      write(ticket, FLAGS, read(ticket, FLAGS) | HELD);
    },
    isSoldHere: (ticket) => (read(ticket, FLAGS) & SOLD_HERE) !== 0,
    setSoldHere(ticket) {
      write(ticket, FLAGS, read(ticket, FLAGS) | SOLD_HERE);
    },
    isHeldBy(ticket, userId) {
      const first = read(ticket, HOLDER);
      const second = read(ticket, HOLDER + 1);
      if (first === 0 && second === 0) return undefined;
      hash128(userId, SEED.holder, hash);
      return first === hash[0] && second === hash[1];
    },
    setHolder(ticket, userId) {
      hash128(userId, SEED.holder, hash);
      write(ticket, HOLDER, hash[0] ?? 0);
      write(ticket, HOLDER + 1, hash[1] ?? 0);
    },
    event(ticket) {
      const event = read(ticket, EVENT);
      return event === 0 ? undefined : event - 1;
    },
    setEvent(ticket, event) {
      write(ticket, EVENT, event + 1);
    },
    place(ticket) {
      const line = read(ticket, LINE);
      const source = sources[read(ticket, FLAGS) >>> SOURCE_SHIFT];
      return line === 0 || source === undefined ? undefined : { source, line };
    },
    setPlace(ticket, { source, line }) {
      let number = sourceNumbers.get(source);
      if (number === undefined) {
        number = sources.push(source) - 1;
        sourceNumbers.set(source, number);
      }
      const marks = (1 << SOURCE_SHIFT) - 1;
      write(ticket, FLAGS, (read(ticket, FLAGS) & marks) | (number << SOURCE_SHIFT));
      write(ticket, LINE, line);
    },
  };
}

function slotOf(ticket: number, hashWord: number): number {
  return (((hashWord >>> TICKET_BITS) << TICKET_BITS) | (ticket + 1)) >>> 0;
}

/**
 * 128 well mixed bits of a text into `out`: the rounds of MurmurHash3 (x86, 128 bits) over UTF-16 units, eight at a
 * time, the last block filled up with zeros (the length, mixed in at the end, tells them from real ones).
 */
export function hash128(text: string, seed: number, out: Uint32Array): void {
  let h1 = seed;
  let h2 = seed;
  let h3 = seed;
  let h4 = seed;
  for (let at = 0; at < text.length; at += 8) {
    h1 ^= Math.imul(rotate(Math.imul(pair(text, at), 0x239b961b), 15), 0xab0e9789);
    h1 = (Math.imul((rotate(h1, 19) + h2) | 0, 5) + 0x561ccd1b) | 0;
    h2 ^= Math.imul(rotate(Math.imul(pair(text, at + 2), 0xab0e9789), 16), 0x38b34ae5);
    h2 = (Math.imul((rotate(h2, 17) + h3) | 0, 5) + 0x0bcaa747) | 0;
    h3 ^= Math.imul(rotate(Math.imul(pair(text, at + 4), 0x38b34ae5), 17), 0xa1e38b93);
    h3 = (Math.imul((rotate(h3, 15) + h4) | 0, 5) + 0x96cd1c35) | 0;
    h4 ^= Math.imul(rotate(Math.imul(pair(text, at + 6), 0xa1e38b93), 18), 0x239b961b);
    h4 = (Math.imul((rotate(h4, 13) + h1) | 0, 5) + 0x32ac3b17) | 0;
  }
  h1 ^= text.length;
  h2 ^= text.length;
  h3 ^= text.length;
  h4 ^= text.length;
  h1 = (h1 + h2 + h3 + h4) | 0;
  h2 = (h2 + h1) | 0;
  h3 = (h3 + h1) | 0;
  h4 = (h4 + h1) | 0;
  h1 = finish(h1);
  h2 = finish(h2);
  h3 = finish(h3);
  h4 = finish(h4);
  h1 = (h1 + h2 + h3 + h4) | 0;
  out[0] = h1;
  out[1] = h2 + h1;
  out[2] = h3 + h1;
  out[3] = h4 + h1;
}

/** Two UTF-16 units from `at`, zeros behind the end. */
function pair(text: string, at: number): number {
  if (at + 1 < text.length) return text.charCodeAt(at) | (text.charCodeAt(at + 1) << 16);
  return at < text.length ? text.charCodeAt(at) : 0;
}

function rotate(word: number, by: number): number {
  return (word << by) | (word >>> (32 - by));
}

function finish(word: number): number {
  let mixed = Math.imul(word ^ (word >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}

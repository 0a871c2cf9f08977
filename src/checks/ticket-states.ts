/**
 * What the checks remember of every ticket of an input, in 32 bytes a ticket and 5 to 10 of index, however long its id.
 *
 * A ticket is known by 96 bits of its reference, a holder by 64 bits of the userId. Neither text is kept, so a collision
 * could reject a sound row. Among 10 million tickets, two share 96 bits with a chance of (10^7)² / 2^97, less than 10^-15.
 * A resale compares one pair of holders, 2^-64 each, less than 10^-12 for 10 million resales. A disk returns a wrong byte
 * far more often, so a match counts as confirmed. (64 bits for tickets would not do: 10^-6 per input.) The hash does not
 * resist people who want a collision, and need not: whoever can write ids into the input can also write an invalid row.
 * Each table has a seed of its own, so that what collided once does not collide in the next run.
 */

import { randomBytes } from "node:crypto";
import { hash128 } from "../actions/hash128.ts";
import type { SourceLine } from "../actions/problem.ts";
import { Failure } from "../failure.ts";

export const TICKET_KINDS = ["ticketId", "nftId"] as const;
export type TicketKind = (typeof TICKET_KINDS)[number];

/** `new`: never asked for before. `unsold`: no sale of it is known. */
export const TICKET_STATUSES = ["new", "unsold", "sold", "checked-in", "invalidated"] as const;
type TicketStatus = (typeof TICKET_STATUSES)[number];

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

const SEEDS = { ticketId: 0x51ed270b, nftId: 0x2545f491, holder: 0x9e3779b9 } as const;

/** Tickets are numbers here, as `locate` gives them. Disposed of, it knows none. */
export class TicketStates implements Disposable {
  readonly #pages: Uint32Array<ArrayBuffer>[] = [];
  readonly #sources: string[] = [];
  readonly #sourceNumbers = new Map<string, number>();
  /** Mostly the next one is the same. */
  #lastSource: { readonly source: string | undefined; readonly number: number } = { source: undefined, number: -1 };
  readonly #hash = new Uint32Array(4);
  readonly #seed = randomBytes(4).readInt32LE();
  #slots = new Uint32Array(FIRST_SLOTS);
  #size = 0;

  /** The ticket of a reference; taken up with status `new` when it was not there. */
  locate(kind: TicketKind, id: string): number {
    const found = this.#seek(kind, id);
    return found >= 0 ? found : this.#addAt(-found - 1);
  }

  /** The same, where it is there. */
  find(kind: TicketKind, id: string): number | undefined {
    const found = this.#seek(kind, id);
    return found < 0 ? undefined : found;
  }

  get size(): number {
    return this.#size;
  }

  /** Bytes that the tables hold. */
  get bytes(): number {
    return this.#pages.length * (WORDS << PAGE_BITS) * Uint32Array.BYTES_PER_ELEMENT + this.#slots.byteLength;
  }

  status(ticket: number): TicketStatus {
    return TICKET_STATUSES[this.#read(ticket, FLAGS) & STATUS_MASK] ?? "new";
  }

  setStatus(ticket: number, status: TicketStatus): void {
    this.#write(ticket, FLAGS, (this.#read(ticket, FLAGS) & ~STATUS_MASK) | TICKET_STATUSES.indexOf(status));
  }

  /** Whether a row about it is held back; its place is then that row's. */
  isHeld(ticket: number): boolean {
    return (this.#read(ticket, FLAGS) & HELD) !== 0;
  }

  hold(ticket: number): void {
    this.#write(ticket, FLAGS, this.#read(ticket, FLAGS) | HELD);
  }

  /** Whether its sale is one of this input. */
  isSoldHere(ticket: number): boolean {
    return (this.#read(ticket, FLAGS) & SOLD_HERE) !== 0;
  }

  setSoldHere(ticket: number): void {
    this.#write(ticket, FLAGS, this.#read(ticket, FLAGS) | SOLD_HERE);
  }

  /** Undefined when the holder is not known. */
  isHeldBy(ticket: number, userId: string): boolean | undefined {
    const first = this.#read(ticket, HOLDER);
    const second = this.#read(ticket, HOLDER + 1);
    if (first === 0 && second === 0) return undefined;
    hash128(userId, SEEDS.holder ^ this.#seed, this.#hash);
    return first === this.#hash[0] && second === this.#hash[1];
  }

  setHolder(ticket: number, userId: string): void {
    hash128(userId, SEEDS.holder ^ this.#seed, this.#hash);
    this.#writeHolder(ticket);
  }

  #writeHolder(ticket: number): void {
    this.#write(ticket, HOLDER, this.#hash[0] ?? 0);
    this.#write(ticket, HOLDER + 1, this.#hash[1] ?? 0);
  }

  /** The number of its event as the caller counts events, from 0; undefined when not known. */
  event(ticket: number): number | undefined {
    const event = this.#read(ticket, EVENT);
    return event === 0 ? undefined : event - 1;
  }

  setEvent(ticket: number, event: number): void {
    this.#write(ticket, EVENT, event + 1);
  }

  /** Where its state comes from; undefined when that was not in this input. */
  place(ticket: number): SourceLine | undefined {
    const line = this.#read(ticket, LINE);
    const source = this.#sources[this.#read(ticket, FLAGS) >>> SOURCE_SHIFT];
    return line === 0 || source === undefined ? undefined : { source, line };
  }

  setPlace(ticket: number, { source, line }: SourceLine): void {
    const number = this.#numberOf(source);
    const marks = (1 << SOURCE_SHIFT) - 1;
    this.#write(ticket, FLAGS, (this.#read(ticket, FLAGS) & marks) | (number << SOURCE_SHIFT));
    this.#write(ticket, LINE, line);
  }

  #numberOf(source: string): number {
    const last = this.#lastSource;
    if (last.source === source) return last.number;
    const number = this.#sourceNumbers.get(source) ?? this.#sources.push(source) - 1;
    this.#sourceNumbers.set(source, number);
    this.#lastSource = { source, number };
    return number;
  }

  #page(ticket: number): Uint32Array {
    const found = this.#pages[ticket >>> PAGE_BITS];
    if (found === undefined) throw new Error(`there is no ticket ${ticket}`);
    return found;
  }

  #read(ticket: number, word: number): number {
    return this.#page(ticket)[(ticket & PAGE_MASK) * WORDS + word] ?? 0;
  }

  #write(ticket: number, word: number, value: number): void {
    this.#page(ticket)[(ticket & PAGE_MASK) * WORDS + word] = value;
  }

  #isIt(ticket: number): boolean {
    const records = this.#page(ticket);
    const at = (ticket & PAGE_MASK) * WORDS;
    return records[at] === this.#hash[0] && records[at + 1] === this.#hash[1] && records[at + 2] === this.#hash[2];
  }

  #grow(): void {
    this.#slots = new Uint32Array(this.#slots.length * 2);
    const mask = this.#slots.length - 1;
    for (let ticket = 0; ticket < this.#size; ticket += 1) {
      let at = this.#read(ticket, 0) & mask;
      while (this.#slots[at] !== 0) at = (at + 1) & mask;
      this.#slots[at] = slotOf(ticket, this.#read(ticket, 1));
    }
  }

  /** A new ticket, whose hash is in hand, in a free slot. */
  #addAt(slot: number): number {
    const ticket = this.#add();
    this.#slots[slot] = slotOf(ticket, this.#hash[1] ?? 0);
    if (this.#size > this.#slots.length * MAX_LOAD) this.#grow();
    return ticket;
  }

  #add(): number {
    const ticket = this.#size;
    if (ticket + 1 > TICKET_MASK) {
      throw new Failure("usage", `The input has more than ${TICKET_MASK} tickets.`, { hint: "Split it." });
    }
    if ((ticket & PAGE_MASK) === 0) this.#pages.push(new Uint32Array(WORDS << PAGE_BITS));
    for (let word = 0; word < HOLDER; word += 1) this.#write(ticket, word, this.#hash[word] ?? 0);
    this.#size += 1;
    return ticket;
  }

  /** The ticket of a reference, whose this.#hash is then in hand; or, as a negative number, its free slot and one more. */
  #seek(kind: TicketKind, id: string): number {
    hash128(id, SEEDS[kind] ^ this.#seed, this.#hash);
    return this.#seekHash();
  }

  /** V8 would keep their memory until it collects garbage, which may be when a whole run is sent. */
  [Symbol.dispose](): void {
    for (const { buffer } of [...this.#pages.splice(0), this.#slots]) buffer.transfer(0);
    this.#slots = new Uint32Array(FIRST_SLOTS);
    this.#size = 0;
  }

  #seekHash(): number {
    const first = this.#hash[0] ?? 0;
    const second = this.#hash[1] ?? 0;
    const mask = this.#slots.length - 1;
    let at = first & mask;
    for (let slot = this.#slots[at] ?? 0; slot !== 0; slot = this.#slots[at] ?? 0) {
      const ticket = (slot & TICKET_MASK) - 1;
      if (slot === slotOf(ticket, second) && this.#isIt(ticket)) return ticket;
      at = (at + 1) & mask;
    }
    return -at - 1;
  }
}

function slotOf(ticket: number, hashWord: number): number {
  return (((hashWord >>> TICKET_BITS) << TICKET_BITS) | (ticket + 1)) >>> 0;
}

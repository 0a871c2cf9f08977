/**
 * The fast path of the checks across actions: a sale of which they have nothing to say, told from its bytes. Of any other it says
 * nothing, and the checks are asked themselves (cross-action.ts).
 */

import type { ActionName } from "../../actions/actions.ts";
import { areDigits } from "../../actions/zero-ids.ts";
import type { EventState, EventStates } from "../event-states.ts";
import type { LostZeros } from "../lost-zeros.ts";
import { areFewDecimals } from "../price-decimals.ts";
import type { IsOnlyCounted } from "../row-findings.ts";
import type { SwappedIds } from "../swapped-ids.ts";
import type { SaleBytes, TicketStates } from "../ticket-states.ts";

/** A sale without anything that is not ASCII. */
export interface PlainSale extends SaleBytes {
  readonly action: ActionName;
  readonly bytes: Buffer;
  readonly eventFrom: number;
  readonly eventTo: number;
  readonly priceFrom: number;
  readonly priceTo: number;
}

/** Nothing is to be said of it; or only that its event is not registered, for which it is held back. */
export type PlainVerdict = "sound" | "event-not-registered";

/** What it asks of the environment (`KnownState`). */
interface KnownTickets {
  hasTickets(): boolean;
  ticket(ref: { readonly ticketId: string }): object | undefined;
  unsoldTicket(ref: { readonly ticketId: string }): object | undefined;
}

const NOT_REGISTERED = "event-not-registered";

interface KnownEvent {
  readonly id: Uint8Array;
  readonly event: EventState;
}

export class PlainSales {
  readonly #knownState: KnownTickets;
  readonly #events: EventStates;
  readonly #tickets: TicketStates;
  readonly #zeros: LostZeros;
  readonly #swapped: SwappedIds;
  readonly #isRefused: (event: EventState) => boolean;
  /** Events by a hash of their ids. */
  readonly #byHash = new Map<number, KnownEvent[]>();

  constructor(
    knownState: KnownTickets,
    events: EventStates,
    tickets: TicketStates,
    zeros: LostZeros,
    swapped: SwappedIds,
    isRefused: (event: EventState) => boolean,
  ) {
    this.#knownState = knownState;
    this.#events = events;
    this.#tickets = tickets;
    this.#zeros = zeros;
    this.#swapped = swapped;
    this.#isRefused = isRefused;
  }

  /**
   * Lets a sale take effect, or holds it back. Undefined where there may be more to say; then nothing has happened.
   *
   * @param isOnlyCounted also of its event that is not registered.
   * @param isUnsold whether it is known that no sale of its identity was accepted.
   */
  take(sale: PlainSale, isOnlyCounted: IsOnlyCounted, isUnsold: boolean): PlainVerdict | undefined {
    const { bytes, eventFrom, eventTo, ticketFrom, ticketTo, userFrom, userTo, priceFrom, priceTo } = sale;
    if (eventFrom === -1 || ticketFrom === -1) return undefined;
    const event = this.#eventOf(bytes, eventFrom, eventTo);
    if (event === undefined) return undefined;
    const isSound = mayBeSold(event);
    if (!isSound && !(this.#isRefused(event) && isOnlyCounted(NOT_REGISTERED, "error", false))) return undefined;
    if (priceFrom !== -1 && !areFewDecimals(decimalsOf(bytes, priceFrom, priceTo), event.digits)) return undefined;
    const isNumber = isWholeNumber(bytes, ticketFrom, ticketTo);
    if (isNumber || this.#knownState.hasTickets()) {
      const ticketId = bytes.toString("latin1", ticketFrom, ticketTo);
      if (isNumber && this.#zeros.mayHaveOther(sale.action, ticketId)) return undefined;
      const known = isUnsold ? this.#knownState.unsoldTicket({ ticketId }) : this.#knownState.ticket({ ticketId });
      if (known !== undefined) return undefined;
      if (userFrom !== -1 && this.#swapped.isLooking()) {
        const userId = bytes.toString("latin1", userFrom, userTo);
        if (this.#swapped.areSwapped(ticketId, userId)) return undefined;
      }
    }
    if (!this.#tickets.addSale(sale, event.number, !isSound)) return undefined;
    return isSound ? "sound" : NOT_REGISTERED;
  }

  /** An event that the input has named. */
  #eventOf(bytes: Buffer, from: number, to: number): EventState | undefined {
    let hash = 0;
    for (let at = from; at < to; at += 1) hash = (Math.imul(hash, 31) + (bytes[at] as number)) | 0; // within its length
    const alike = this.#byHash.get(hash);
    for (let number = 0; alike !== undefined && number < alike.length; number += 1) {
      const known = alike[number] as KnownEvent; // within its length
      if (isSame(bytes, from, to, known.id)) return known.event;
    }
    const eventId = bytes.toString("latin1", from, to);
    const event = this.#events.find(eventId);
    if (event === undefined || this.#zeros.isHeld(eventId)) return undefined;
    const known = { id: Uint8Array.prototype.slice.call(bytes, from, to), event };
    if (alike === undefined) this.#byHash.set(hash, [known]);
    else alike.push(known);
    return event;
  }
}

/** Whether a sale for the event needs no word: it is registered, or it was said that it is not known here. */
const mayBeSold = ({ heldAt, isRegistered, isTold }: EventState): boolean =>
  heldAt === undefined && (isRegistered || isTold);

const POINT = 0x2e;
const COMMA = 0x2c;
const ZERO = 0x30;

/** As `decimals` of price-decimals.ts. */
function decimalsOf(bytes: Uint8Array, from: number, to: number): number {
  let point = from;
  while (point < to && bytes[point] !== POINT) point += 1;
  if (point === to) return 0;
  if (to - point - 1 === 3) return 3;
  let end = to;
  while (bytes[end - 1] === ZERO) end -= 1;
  return end - point - 1;
}

/** Of digits, or with decimals that are zeros. */
function isWholeNumber(bytes: Uint8Array, from: number, to: number): boolean {
  let end = to;
  while (end > from && bytes[end - 1] === ZERO) end -= 1;
  const mark = bytes[end - 1];
  const hasDecimals = end < to && end - 1 > from && (mark === POINT || mark === COMMA);
  return areDigits(bytes, from, hasDecimals ? end - 1 : to);
}

function isSame(bytes: Uint8Array, from: number, to: number, other: Uint8Array): boolean {
  if (to - from !== other.length) return false;
  for (let at = 0; at < other.length; at += 1) if (bytes[from + at] !== other[at]) return false;
  return true;
}

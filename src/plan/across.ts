/** What can only be seen across actions: of one ticket or event, in the order of the plan, and beside what was accepted. */

import { type ActionName, withArticle } from "../actions/actions.ts";
import { currencyDigits, MOST_CURRENCY_DIGITS } from "../actions/currencies.ts";
import { about, type Problem } from "../actions/problem.ts";
import type { KnownAction } from "../ledger/ledger.ts";
import { placeText } from "../read/file-names.ts";
import { count } from "../text.ts";
import type { EventState, Events } from "./events.ts";
import type { RowsRead } from "./rows-read.ts";
import { hold, type Item } from "./verdicts.ts";
import { closedEvent, fieldOf, idText, REENTRY } from "./words.ts";

export interface AcrossOptions {
  readonly read: RowsRead;
  readonly events: Events;
  /** Nothing is registered but what the ledger knows. */
  readonly complete: boolean;
  /** What is sent again on purpose would meet its own traces. */
  readonly isResend: boolean;
}

/** How an action ends the life of its ticket. */
const ENDS: Readonly<Record<ActionName, "checked in" | "invalidated" | undefined>> = {
  newEvent: undefined,
  updateEvent: undefined,
  soldTicket: undefined,
  updateTicket: undefined,
  resoldTicket: undefined,
  scannedTicket: undefined,
  checkedInTicket: "checked in",
  claimedTicket: undefined,
  invalidatedTicket: "invalidated",
};

/** Each with the row of this input that says it. */
interface Ticket {
  soldAt: number | undefined;
  /** userId of who bought it last. */
  holder: string | undefined;
  heldSince: number | undefined;
  ended: (typeof ENDS)[ActionName];
  endedAt: number | undefined;
  event: string | undefined;
}

export class Across {
  readonly #options: AcrossOptions;
  /** An error was found of the present subject: what comes behind it is not checked. */
  #isBad = false;

  constructor(options: AcrossOptions) {
    this.#options = options;
  }

  /** Checks what is new of one event, in order; what an error is found of becomes `bad`. */
  checkEvent(event: EventState, items: readonly Item[]): void {
    this.#isBad = false;
    const first = items.find(({ kind, verdict }) => kind === "newEvent" && verdict === "new");
    if (first !== undefined) event.registered = placed(first);
    for (const item of items) {
      const registers = item.kind === "newEvent";
      if (registers && item.verdict === "bad" && !event.isKnown) event.bad ??= placed(item);
      if (registers && this.#isRegisteredTwice(event, item)) continue;
      if (item.verdict !== "new" || this.#isBad) continue;
      if (!registers) this.#needEvent(event, item);
      event.isMoved = true;
      event.currency = item.owner ?? event.currency;
    }
    this.#options.events.keep(event);
  }

  #isRegisteredTwice({ registered }: EventState, item: Item): boolean {
    const { place, verdict } = item;
    if (registered === undefined || place <= registered.place) return false;
    if (verdict === "new" || verdict === "bad" || item.isCorrected) return false;
    // A source gives the event with whichever row comes first, in each of its files.
    if (verdict === "sent" && this.#options.read.isOfSource(item.row)) return false;
    this.#report(item, "event-registered-twice", {
      message: `Event ${idOf(item)} is already registered at ${this.#placeOf(registered.row)}.`,
      hint: "To change an event, use updateEvent.",
    });
    return true;
  }

  /** Checks what is new of one ticket, in order. */
  checkTicket(items: readonly Item[], known: readonly KnownAction[]): void {
    this.#isBad = false;
    const ticket = this.#ticketOf(known);
    for (const item of items) {
      if (item.verdict === "bad" || item.isCorrected) continue;
      const isSale = item.kind === "soldTicket";
      if (isSale && ticket.soldAt !== undefined) this.#soldTwice(item, ticket.soldAt);
      else if (item.verdict === "new" && !this.#isBad) {
        if (isSale) this.#sell(ticket, item);
        else this.#follow(ticket, item);
      } else if (isSale) ticket.soldAt = item.row;
    }
  }

  #ticketOf(known: readonly KnownAction[]): Ticket {
    const ticket: Ticket = {
      soldAt: undefined,
      holder: undefined,
      heldSince: undefined,
      ended: undefined,
      endedAt: undefined,
      event: undefined,
    };
    for (const { kind, event, owner } of known) {
      ticket.event = event ?? ticket.event;
      if (this.#options.isResend) continue;
      end(ticket, kind, undefined);
      ticket.holder = owner ?? ticket.holder;
    }
    return ticket;
  }

  #soldTwice(item: Item, soldAt: number): void {
    this.#report(item, "ticket-sold-twice", {
      message: `Ticket ${idOf(item)} is already sold at ${this.#placeOf(soldAt)}.`,
      hint: "A later sale of it is a resoldTicket. If the export has the row twice, remove one of them. If the id is that of an order, make one id per ticket in the mapping.",
    });
  }

  #sell(ticket: Ticket, item: Item): void {
    const event = item.event === undefined ? undefined : this.#options.events.of(item.event);
    if (event !== undefined && !this.#needEvent(event, item)) return;
    this.#checkPrice(item, event);
    ticket.soldAt = item.row;
    ticket.event = item.event ?? ticket.event;
    ticket.holder = item.owner ?? ticket.holder;
    ticket.heldSince = item.row;
  }

  #follow(ticket: Ticket, item: Item): void {
    const { ended, endedAt } = ticket;
    if (ended === "invalidated" || (ended === "checked in" && item.kind !== "claimedTicket")) {
      const where = endedAt === undefined ? "before this input" : `at ${this.#placeOf(endedAt)}`;
      const isReentry = ended === "checked in" && item.kind === "scannedTicket";
      this.#report(item, "after-final", {
        message: `Ticket ${idOf(item)} was ${ended} ${where}; the service may not accept ${withArticle(item.kind)} after that.`,
        hint: `Check the order; --order time sorts by orderTime.${isReentry ? ` ${REENTRY}` : ""}`,
      });
    }
    if (item.kind === "resoldTicket") this.#resell(ticket, item);
    end(ticket, item.kind, item.row);
  }

  #resell(ticket: Ticket, item: Item): void {
    const { holder, heldSince, event } = ticket;
    this.#checkPrice(item, event === undefined ? undefined : this.#options.events.find(event));
    if (item.owner === undefined) return;
    if (holder === item.owner && this.#isHolderSure(ticket, item)) {
      const since = heldSince === undefined ? "" : `, since ${this.#placeOf(heldSince)}`;
      this.#report(item, "resold-to-holder", {
        ...about("userId", holder),
        message: `Ticket ${idOf(item)} is resold to the user who already holds it${since}.`,
        hint: "userId is the new buyer's.",
      });
    }
    ticket.holder = item.owner;
    ticket.heldSince = item.row;
  }

  /** Whether nobody can have bought the ticket under its other id since its holder was noted. */
  #isHolderSure({ heldSince }: Ticket, { subject }: Item): boolean {
    const { resoldBy } = this.#options.read;
    return fieldOf(subject) === "nftId" ? heldSince !== undefined && !resoldBy.has("t") : !resoldBy.has("n");
  }

  /** Whether the event lets the action through; else it is held, or an error says why not. */
  #needEvent(event: EventState, item: Item): boolean {
    const { isKnown, registered, bad, pending } = event;
    const { place, row } = item;
    if (isKnown) return true;
    if (bad !== undefined && (registered === undefined || bad.place < registered.place))
      return hold(item, "bad", bad.row);
    if (registered !== undefined && registered.place < place) return true;
    if (pending !== undefined) return hold(item, "pending", pending);
    // Said once of the event, when all was judged: of the first row that names it.
    if (event.missedAt === undefined || row < event.missedAt.row) {
      event.missedAt = { place, row };
      this.#options.events.keep(event);
    }
    const isSure = registered !== undefined || this.#options.complete;
    if (isSure && this.#options.read.spoil(item, closedEvent(event, false))) this.#spoil(item);
    return item.verdict === "new";
  }

  #checkPrice(item: Item, event: EventState | undefined): void {
    const { decimals, seq } = item;
    const currency = event?.currency;
    if (decimals === undefined || areFewDecimals(decimals, currency)) return;
    const { rule, ...problem } = manyDecimals(String(this.#options.read.dataOf(seq).price), decimals, currency);
    this.#report(item, rule, problem);
  }

  #placeOf(row: number): string {
    return placeText(this.#options.read.lineOf(row));
  }

  /** Says it of the action's ticket or event, unless the problem names another field. */
  #report(item: Item, rule: string, problem: Omit<Problem, "rule">): void {
    const ofSubject = about(fieldOf(item.subject), item.subject.slice(2));
    if (this.#options.read.add(item, { rule, ...ofSubject, ...problem })) this.#spoil(item);
  }

  #spoil(item: Item): void {
    item.verdict = "bad";
    this.#isBad = true;
  }
}

const placed = ({ place, row }: Item) => ({ place, row });

const idOf = ({ subject }: Item): string => idText(subject.slice(2));

/** Nothing comes behind an invalidation. @param row undefined of what was accepted before. */
function end(ticket: Ticket, kind: ActionName, row: number | undefined): void {
  const ended = ENDS[kind];
  if (ended === undefined || ticket.ended === "invalidated" || ticket.ended === ended) return;
  ticket.ended = ended;
  ticket.endedAt = row;
}

// ---- prices with more decimals than their currency has, or with a point that may part thousands ----

/** What is said of a price with too many decimals for its event's currency. @param written how many it has. */
function manyDecimals(price: string, written: number, currency: string | undefined): Problem {
  const digits = currency === undefined ? undefined : currencyDigits(currency);
  const has =
    digits !== undefined
      ? `${currency} has ${digits === 0 ? "none" : digits}`
      : currency === undefined
        ? "and the currency of its event is not known here"
        : `and how many ${currency} has is not known`;
  const hint = LIKE_THOUSANDS.test(price)
    ? `If these are thousands (${price.replace(".", "")}), write it so, or declare in the source how the file writes them: decimal: ",", thousands: ".".`
    : "Check that the event's currency is right and that the price is not a computed one.";
  const message = `price has ${count(written, "decimal")}, ${has}.`;
  return { rule: "currency-decimals", ...about("price", price), message, hint };
}

/** Whether prices in a currency, known or not, may have so many decimals. */
function areFewDecimals(written: number, currency: string | undefined): boolean {
  const digits = currency === undefined ? undefined : currencyDigits(currency);
  // All but a few currencies have fewer than three, and a group of thousands has three.
  return digits === undefined ? written !== 3 && written <= MOST_CURRENCY_DIGITS : written <= digits;
}

/** `1.250`: the point may be one between thousands. */
const LIKE_THOUSANDS = /^[1-9]\d{0,2}\.\d{3}$/;

/** What can only be seen across actions: of one ticket or event, in the order of the plan, and beside what was accepted. */

import { actionSpec, type Effect, withArticle } from "../actions/actions.ts";
import { about, type Finding, placeText } from "../actions/problem.ts";
import { areFewDecimals, manyDecimals } from "../check/price-decimals.ts";
import type { KnownAction } from "../ledger/ledger.ts";
import { currencyAt, type EventState, type Events } from "./events.ts";
import type { RowsRead } from "./rows-read.ts";
import { hold, type Item } from "./verdicts.ts";
import { closedEvent, fieldOf, idText } from "./words.ts";

/** An action of the input with what the checks need beside its identity. */
export interface Checked extends Item {
  readonly subject: string;
  /** The event that it names itself, for a sale; else the one that its row names. */
  readonly event: string | undefined;
  readonly owner: string | undefined;
  /** Of its price, as they are written. */
  readonly decimals: number | undefined;
  readonly place: number;
  /** What rejects say of one that is not sent. */
  reason: string | undefined;
}

export interface AcrossOptions {
  readonly read: RowsRead;
  readonly events: Events;
  /** Nothing is registered but what the ledger knows. */
  readonly complete: boolean;
  /** What is sent again on purpose would meet its own traces. */
  readonly isResend: boolean;
}

type LaterEffect = Exclude<Effect, "sell-ticket" | "register-event" | "change-event">;

/** What is expected of a ticket that was checked in. */
const AFTER_CHECK_IN: Readonly<Record<LaterEffect, boolean>> = {
  "change-ticket": false,
  "resell-ticket": false,
  "scan-ticket": false,
  "check-in-ticket": false,
  "claim-ticket": true,
  "invalidate-ticket": false,
};

interface Ticket {
  state: "unsold" | "sold" | "checked-in" | "invalidated";
  /** userId of who bought it last. */
  holder: string | undefined;
  event: string | undefined;
  /** The row of this input that its state comes from. */
  since: number | undefined;
  isSoldHere: boolean;
  /** Something of it was accepted, and no sale. */
  readonly isOnlyNamed: boolean;
}

export class Across {
  readonly #options: AcrossOptions;
  /** The first row of the present subject that an error makes bad. */
  #isBad = false;

  constructor(options: AcrossOptions) {
    this.#options = options;
  }

  /** Checks what is new of one event, in order; what an error is found of becomes `bad`. */
  checkEvent(event: EventState, items: readonly Checked[], known: readonly KnownAction[]): void {
    this.#isBad = false;
    for (const item of items) {
      if (item.verdict === "bad" && item.kind === "newEvent" && !event.isKnown) event.bad ??= item;
      if (item.kind === "newEvent" && this.#isRegisteredTwice(event, item)) continue;
      if (item.verdict !== "new" || this.#isBad) continue;
      if (item.kind === "newEvent") {
        if (known.length > 0 && !known.some(({ kind }) => kind === "newEvent"))
          this.#report(item, "event-registered-late", {
            message: `This newEvent comes after an updateEvent of ${idOf(item)}, which was accepted before this input.`,
            hint: "Sent now, it may undo that one: look at what the service has of the event. Next time, stream newEvent first.",
          });
        event.registered ??= item;
      } else if (event.registered === undefined) this.#needEvent(event, item);
      event.isMoved = true;
      if (item.owner !== undefined) event.currencies.push([item.place, item.owner]);
    }
  }

  #isRegisteredTwice({ registered }: EventState, item: Checked): boolean {
    if (registered === undefined || item.verdict === "new" || item.verdict === "bad" || item.isCorrected) return false;
    // A source gives the event with whichever row comes first, in each of its files.
    if (item.verdict === "sent" && this.#isOfSource(item)) return false;
    this.#report(item, "event-registered-twice", {
      message: `Event ${idOf(item)} is already registered at ${this.#placeOf(registered.row)}.`,
      hint: "To change an event, use updateEvent.",
    });
    return true;
  }

  /** Checks what is new of one ticket, in order. */
  checkTicket(items: readonly Checked[], known: readonly KnownAction[]): void {
    this.#isBad = false;
    const ticket = this.#ticketOf(known);
    for (const item of items) {
      if (item.verdict === "bad" || item.isCorrected) continue;
      const { effect } = actionSpec(item.kind);
      if (effect === "sell-ticket" && ticket.isSoldHere) this.#soldTwice(ticket, item);
      else if (item.verdict === "new" && !this.#isBad) {
        if (effect === "sell-ticket") this.#sell(ticket, item);
        else this.#follow(ticket, item, effect as LaterEffect); // a ticket's, and no sale
      } else if (effect === "sell-ticket") {
        ticket.isSoldHere = true;
        ticket.since ??= item.row;
      }
    }
  }

  #ticketOf(known: readonly KnownAction[]): Ticket {
    const ticket: Ticket = {
      state: "unsold",
      holder: undefined,
      event: undefined,
      since: undefined,
      isSoldHere: false,
      isOnlyNamed: known.length > 0 && !known.some(({ kind }) => kind === "soldTicket"),
    };
    for (const { kind, event, owner } of known) {
      const { effect } = actionSpec(kind);
      ticket.event = event ?? ticket.event;
      if (ticket.state === "unsold" || effect === "invalidate-ticket") ticket.state = stateAfter(effect) ?? "sold";
      else if (effect === "check-in-ticket" && ticket.state === "sold") ticket.state = "checked-in";
      if (owner !== undefined) ticket.holder = owner;
    }
    if (this.#options.isResend && known.length > 0) {
      ticket.state = "sold";
      ticket.holder = undefined;
    }
    return ticket;
  }

  #soldTwice({ since }: Ticket, item: Checked): void {
    this.#report(item, "ticket-sold-twice", {
      message: `Ticket ${idOf(item)} is already sold${since === undefined ? "" : ` at ${this.#placeOf(since)}`}.`,
      hint: "A later sale of it is a resoldTicket. If the export has the row twice, remove one of them. If the id is that of an order, make one id per ticket in the mapping.",
    });
  }

  #sell(ticket: Ticket, item: Checked): void {
    const { since } = ticket;
    const event = item.event === undefined ? undefined : this.#options.events.of(item.event);
    if (event !== undefined && !this.#needEvent(event, item)) return;
    if (since !== undefined || ticket.isOnlyNamed) {
      const where = since === undefined ? "which was accepted before this input" : `at ${this.#placeOf(since)}`;
      this.#report(item, "ticket-not-sold", {
        message: `This sale comes after another action on ticket ${idOf(item)}, ${where}.`,
        hint:
          since === undefined
            ? "Sent now, it may undo that one: look at what the service has of the ticket. Next time, stream sales first."
            : "Put sales first, or use --order time.",
      });
    }
    this.#checkPrice(item, event);
    if (ticket.state === "unsold") ticket.state = "sold";
    ticket.isSoldHere = true;
    ticket.since = item.row;
    ticket.event = item.event ?? ticket.event;
    ticket.holder = item.owner ?? ticket.holder;
  }

  #follow(ticket: Ticket, item: Checked, effect: LaterEffect): void {
    const { since, state } = ticket;
    if (state === "unsold" && since === undefined) {
      ticket.since = item.row;
      // What an nftId names can't be known: the service makes it after the sale.
      if (this.#options.complete && fieldOf(item.subject) === "ticketId")
        this.#report(item, "ticket-not-sold", {
          message: `Ticket ${idOf(item)} is sold neither in this environment nor earlier in this input.`,
          hint: "Put its soldTicket before it, or check the id.",
        });
    }
    if (state === "invalidated" || (state === "checked-in" && !AFTER_CHECK_IN[effect]))
      this.#report(item, "after-final", {
        message: `Ticket ${idOf(item)} was ${state === "invalidated" ? "invalidated" : "checked in"} ${since === undefined ? "before this input" : `at ${this.#placeOf(since)}`}; the service may not accept ${withArticle(item.kind)} after that.`,
        hint: "Check the order; --order time sorts by orderTime.",
      });
    if (effect === "resell-ticket") this.#resell(ticket, item);
    const after = stateAfter(effect);
    if (after === undefined || state === "invalidated" || state === after) return;
    ticket.state = after;
    ticket.since = item.row;
  }

  #resell(ticket: Ticket, item: Checked): void {
    const { holder, since, state } = ticket;
    this.#checkPrice(item, ticket.event === undefined ? undefined : this.#options.events.find(ticket.event));
    if (item.owner === undefined) return;
    if (holder === item.owner) {
      const isSure = this.#isHolderSure(ticket, item);
      const message = `Ticket ${idOf(item)} is resold to the user who already holds it${since === undefined ? "" : `, since ${this.#placeOf(since)}`}${isSure ? "" : ", unless it was resold under its other id"}.`;
      const finding = { ...about("userId", holder), message, hint: "userId is the new buyer's." };
      this.#report(item, "resold-to-holder", finding, isSure ? "error" : "warn");
    }
    ticket.holder = item.owner;
    if (state === "unsold" || state === "sold") ticket.since = item.row;
  }

  /** Whether nobody can have bought the ticket under its other id since its holder was noted. */
  #isHolderSure({ since }: Ticket, { subject }: Checked): boolean {
    const { resoldBy } = this.#options.read;
    return fieldOf(subject) === "nftId" ? since !== undefined && !resoldBy.has("t") : !resoldBy.has("n");
  }

  /** Whether the event lets the action through; else it is held, or an error says why not. */
  #needEvent(event: EventState, item: Checked): boolean {
    if (isOpen(event, item.place)) return true;
    const { registered, bad, pending } = event;
    if (bad !== undefined && (registered === undefined || bad.place < registered.place))
      return hold(item, "bad", bad.row);
    if (pending !== undefined) return hold(item, "pending", pending);
    // Said once of the event, when all was judged: of the first row that names it.
    const isClosed = registered !== undefined || this.#options.complete;
    const key = isClosed ? "closedAt" : "unknownAt";
    const first = event[key];
    if (first === undefined || item.row < first.row) {
      event[key] = { place: item.place, row: item.row };
      this.#options.events.keep(event);
    }
    if (isClosed && this.#options.read.spoil(item, closedEvent(event, false))) this.#spoil(item);
    return item.verdict === "new";
  }

  #checkPrice(item: Checked, event: EventState | undefined): void {
    const { decimals, place, seq } = item;
    const pricing = currencyAt(event, place);
    if (decimals === undefined || areFewDecimals(decimals, pricing.digits)) return;
    const { rule, ...finding } = manyDecimals(String(this.#options.read.dataOf(seq).price), decimals, pricing);
    this.#report(item, rule, finding);
  }

  #isOfSource({ input }: Checked): boolean {
    return this.#options.read.inputs[input]?.isSource === true;
  }

  #placeOf(row: number): string {
    return placeText(this.#options.read.lineOf(row));
  }

  /** Says it of the action's ticket or event, unless the finding names another field. */
  #report(item: Checked, rule: string, finding: Omit<Finding, "rule">, gravest: "warn" | "error" = "error"): void {
    const ofSubject = about(fieldOf(item.subject), item.subject.slice(2));
    if (this.#options.read.add(item, { rule, ...ofSubject, ...finding }, gravest)) this.#spoil(item);
  }

  #spoil(item: Checked): void {
    item.verdict = "bad";
    this.#isBad = true;
  }
}

const idOf = ({ subject }: Checked): string => idText(subject.slice(2));

/** Whether an event is registered for what stands at a place. */
function isOpen({ isKnown, registered, bad }: EventState, place: number): boolean {
  if (isKnown || registered === undefined) return isKnown;
  return registered.place < place && (bad === undefined || registered.place < bad.place);
}

function stateAfter(effect: Effect): "checked-in" | "invalidated" | undefined {
  if (effect === "check-in-ticket") return "checked-in";
  return effect === "invalidate-ticket" ? "invalidated" : undefined;
}

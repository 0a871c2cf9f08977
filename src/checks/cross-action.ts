/** What can only be seen across actions: in the order of the input, and against what the environment has accepted. */

import {
  type Action,
  type ActionData,
  actionSpec,
  registersEvent,
  type TicketEffect,
  withArticle,
} from "../actions/actions.ts";
import { about, type Severity, type SourceLine } from "../actions/problem.ts";
import { type EventState, EventStates } from "./event-states.ts";
import { type KnownIds, NearIds } from "./ids.ts";
import { priceDecimals } from "./price-decimals.ts";
import {
  type CrossActionFinding,
  type IsOnlyCounted,
  placeText,
  quoted,
  RowFindings,
  soldTwice,
} from "./row-findings.ts";
import { type TicketKind, TicketStates } from "./ticket-states.ts";

/** What an environment is known to hold. Lookups are synchronous; a ledger or nothing stands behind them. */
export interface KnownState extends KnownIds {
  /** Undefined when the event is not known to be registered. */
  event(eventId: string): { readonly currency?: string } | undefined;
  /** Whether something of the event was accepted, and no newEvent. */
  isOnlyChanged(eventId: string): boolean;
  /** Undefined when no accepted action named the ticket. */
  ticket(ref: { readonly ticketId: string } | { readonly nftId: string }): KnownTicket | undefined;
  /** Whether it knows any ticket at all. */
  hasTickets(): boolean;
  /** Whether it knows buyers of tickets by nftId alone, any of which may be a ticket that it knows by ticketId too. */
  hasHoldersByNftId(): boolean;
}

export interface KnownTicket {
  readonly eventId?: string;
  /** userId of who bought it last. */
  readonly holder?: string;
  readonly state: "sold" | "checked-in" | "invalidated";
  /** The ticketId of a ticket that was asked for by nftId, where the environment told it. Without it the two are two tickets. */
  readonly ticketId?: string;
}

export const NOTHING_KNOWN: KnownState = {
  event: () => undefined,
  isOnlyChanged: () => false,
  ticket: () => undefined,
  hasTickets: () => false,
  hasHoldersByNftId: () => false,
  isKnownId: () => false,
  nearId: () => undefined,
};

export interface CrossActionOptions {
  readonly knownState: KnownState;
  /** Whether the environment has nothing but what is known, so that an unknown event is an error. */
  readonly complete: boolean;
  /** Whether an environment was asked at all; without one the messages say so. */
  readonly hasEnvironment: boolean;
  /** Every eventId that a newEvent of this input registers, wherever it stands. */
  readonly laterEvents: Pick<ReadonlySet<string>, "has">;
  readonly severityOf: (rule: string) => Severity;
}

type LaterEffect = Exclude<TicketEffect, "sell-ticket">;

/** What is expected of a ticket that was checked in. */
const AFTER_CHECK_IN: Readonly<Record<LaterEffect, boolean>> = {
  "change-ticket": false,
  "resell-ticket": false,
  "scan-ticket": false,
  "check-in-ticket": false,
  "claim-ticket": true,
  "invalidate-ticket": false,
};

/** A ticket as an action names it. */
interface NamedTicket {
  readonly field: TicketKind;
  readonly id: string;
  readonly ticket: number;
  /** Where its state came from, before the action. */
  readonly place: SourceLine | undefined;
  /** Whether it was checked in or invalidated. */
  readonly isFinal: boolean;
}

const NONE: readonly CrossActionFinding[] = Object.freeze([]);
const NEVER: IsOnlyCounted = () => false;

/** Disposed of once no more is asked. */
export class CrossActionChecks implements Disposable {
  readonly #options: CrossActionOptions;
  readonly #tickets = new TicketStates();
  readonly #events: EventStates;
  /** What the row in hand has found; rows come one after the other. */
  readonly #row: RowFindings;
  readonly #nearIds: NearIds;
  /** Kinds of id by which tickets were resold here that may be known by the other kind, too. */
  readonly #resoldBy = new Set<TicketKind>();
  #holdersByNftId: boolean | undefined;

  constructor(options: CrossActionOptions) {
    const { knownState, severityOf } = options;
    this.#options = options;
    this.#events = new EventStates((eventId) => knownState.event(eventId));
    this.#row = new RowFindings(severityOf);
    this.#nearIds = new NearIds(this.#events, this.#tickets, this.#row, knownState);
  }

  [Symbol.dispose](): void {
    this.#tickets[Symbol.dispose]();
  }

  /**
   * Checks the actions of one row, in order; one list of findings per action. All of them must be new and sound.
   *
   * When one finding is an error the whole row is held back, and with it every later action on its tickets, and on the
   * event that it would have registered: these get `depends-on-invalid`, naming the first row. Otherwise the actions take effect.
   *
   * @param isOnlyCounted of which findings the texts may be left out.
   */
  row(
    actions: readonly Action[],
    at: SourceLine,
    isOnlyCounted: IsOnlyCounted = NEVER,
  ): readonly (readonly CrossActionFinding[])[] {
    this.#begin(isOnlyCounted);
    let lists: (readonly CrossActionFinding[])[] | undefined;
    for (const [index, action] of actions.entries()) {
      this.#check(action, at);
      const found = this.#row.take();
      if (found === undefined) continue;
      lists ??= Array.from<readonly CrossActionFinding[]>({ length: actions.length }).fill(NONE);
      lists[index] = found;
    }
    if (this.#row.isInvalid) {
      this.#events.undo();
      this.holdBack(actions, this.#row.cause ?? at);
    }
    return lists ?? emptyLists(actions.length);
  }

  /** A row that was invalid before it came here; its actions may be partial. What depends on it is held back. */
  holdBack(actions: readonly unknown[], at: SourceLine): void {
    for (const action of actions) {
      const references = idsToHoldBack(action);
      const { eventId, ticketId, nftId } = references;
      this.#nearIds.note(references, at);
      // An event that is registered all the same does not depend on this row.
      if (eventId !== undefined) {
        const event = this.#events.of(eventId);
        if (!event.isRegistered) event.heldAt ??= at;
      }
      for (const [kind, id] of [["ticketId", ticketId] as const, ["nftId", nftId] as const]) {
        if (id === undefined) continue;
        // Unless memory says otherwise, an nftId is a ticket of its own.
        const ticket = kind === "nftId" ? this.#recall(kind, id) : this.#tickets.locate(kind, id);
        if (this.#tickets.isHeld(ticket)) continue;
        this.#tickets.hold(ticket);
        this.#tickets.setPlace(ticket, at);
      }
    }
  }

  /** Actions of the input that are left out although memory lacks them, such as those another run still sends: they take effect, unchecked. */
  assume(actions: readonly Action[], at: SourceLine): void {
    this.#begin(NEVER);
    for (const action of actions) this.#check(action, at);
  }

  #begin(isOnlyCounted: IsOnlyCounted): void {
    this.#row.begin(isOnlyCounted);
    this.#events.keep();
  }

  #check(action: Action, at: SourceLine): void {
    this.#nearIds.check(action, at);
    const { effect } = actionSpec(action.action);
    switch (effect) {
      case "register-event":
        this.#registerEvent(action.data, at);
        break;
      case "change-event":
        this.#changeEvent(action.data);
        break;
      case "sell-ticket":
        this.#sellTicket(action.data, at);
        break;
      default:
        this.#followTicket(action, effect, at);
    }
  }

  #registerEvent({ eventId, currency }: ActionData, at: SourceLine): void {
    if (eventId == null) return;
    const event = this.#events.of(eventId);
    if (event.heldAt !== undefined) {
      this.#row.dependsOn(event.heldAt, "eventId", eventId);
      return;
    }
    const { registeredAt } = event;
    if (registeredAt !== undefined) {
      this.#row.report("event-registered-twice", () => ({
        ...about("eventId", eventId),
        message: `Event ${quoted(eventId)} is already registered at ${placeText(registeredAt)}.`,
        hint: "To change an event, use updateEvent.",
      }));
      return;
    }
    if (this.#options.knownState.isOnlyChanged(eventId)) {
      this.#row.report("event-registered-late", () => ({
        ...about("eventId", eventId),
        message: `This newEvent comes after an updateEvent of ${quoted(eventId)}, which was accepted before this input.`,
        hint: "Sent now, it may undo that one: look at what the service has of the event. Next time, stream newEvent first.",
      }));
    }
    this.#events.register(event, at);
    if (currency != null) this.#events.setCurrency(event, currency);
  }

  #changeEvent({ eventId, currency }: ActionData): void {
    if (eventId == null) return;
    const event = this.#events.of(eventId);
    this.#needEvent(event);
    if (currency != null) this.#events.setCurrency(event, currency);
  }

  #sellTicket({ eventId, ticketId, userId, price }: ActionData, at: SourceLine): void {
    if (ticketId == null) return;
    const ticket = this.#tickets.locate("ticketId", ticketId);
    const event = eventId == null ? undefined : this.#events.of(eventId);
    if (this.#tickets.isHeld(ticket)) {
      this.#row.dependsOn(this.#tickets.place(ticket), "ticketId", ticketId);
      return;
    }
    if (event !== undefined) this.#needEvent(event);
    const before = this.#tickets.place(ticket);
    if (this.#tickets.isSoldHere(ticket)) {
      this.#row.report("ticket-sold-twice", () => soldTwice(ticketId, before));
    } else if (before !== undefined) {
      this.#row.report("ticket-not-sold", () => ({
        ...about("ticketId", ticketId),
        message: `This sale comes after another action on ticket ${quoted(ticketId)}, at ${placeText(before)}.`,
        hint: "Put sales first, or use --order time.",
      }));
    } else if (this.#wasNamedBefore(ticketId)) {
      this.#row.report("ticket-not-sold", () => ({
        ...about("ticketId", ticketId),
        message: `This sale comes after another action on ticket ${quoted(ticketId)}, which was accepted before this input.`,
        hint: "Sent now, it may undo that one: look at what the service has of the ticket. Next time, stream sales first.",
      }));
    }
    this.#checkPrice(price, event);
    const status = this.#tickets.status(ticket);
    if (status === "new" || status === "unsold") this.#tickets.setStatus(ticket, "sold");
    this.#tickets.setSoldHere(ticket);
    this.#tickets.setPlace(ticket, at);
    if (event !== undefined) this.#tickets.setEvent(ticket, event.number);
    if (userId != null) this.#tickets.setHolder(ticket, userId);
  }

  /** Whether something of a ticket was accepted, and no sale: that would say its event. */
  #wasNamedBefore(ticketId: string): boolean {
    const known = this.#options.knownState.ticket({ ticketId });
    return known !== undefined && known.eventId === undefined;
  }

  #followTicket(action: Action, effect: LaterEffect, at: SourceLine): void {
    const { data } = action;
    const field: TicketKind = data.ticketId == null ? "nftId" : "ticketId";
    const id = data[field];
    if (id == null) return;
    const ticket = this.#recall(field, id);
    const place = this.#tickets.place(ticket);
    if (this.#tickets.isHeld(ticket)) {
      this.#row.dependsOn(place, field, id);
      return;
    }
    const status = this.#tickets.status(ticket);
    if (status === "unsold" && place === undefined) {
      this.#tickets.setPlace(ticket, at);
      // What an nftId names can't be known: the service makes it after the sale.
      if (this.#options.complete && field === "ticketId") {
        this.#row.report("ticket-not-sold", () => ({
          ...about(field, id),
          message: `Ticket ${quoted(id)} is sold neither in this environment nor earlier in this input.`,
          hint: "Put its soldTicket before it, or check the id.",
        }));
      }
    }
    if (status === "invalidated" || (status === "checked-in" && !AFTER_CHECK_IN[effect])) {
      const since = place === undefined ? "before this input" : `at ${placeText(place)}`;
      const did = status === "invalidated" ? "invalidated" : "checked in";
      this.#row.report("after-final", () => ({
        ...about(field, id),
        message: `Ticket ${quoted(id)} was ${did} ${since}; the service may not accept ${withArticle(action.action)} after that.`,
        hint: "Check the order; --order time sorts by orderTime.",
      }));
    }
    switch (effect) {
      case "resell-ticket":
        this.#resellTicket(data, { field, id, ticket, place, isFinal: status !== "unsold" && status !== "sold" }, at);
        return;
      case "check-in-ticket":
        if (status === "invalidated" || status === "checked-in") return;
        this.#tickets.setStatus(ticket, "checked-in");
        this.#tickets.setPlace(ticket, at);
        return;
      case "invalidate-ticket":
        if (status === "invalidated") return;
        this.#tickets.setStatus(ticket, "invalidated");
        this.#tickets.setPlace(ticket, at);
        return;
      case "change-ticket":
      case "scan-ticket":
      case "claim-ticket":
        return;
      default:
        effect satisfies never;
    }
  }

  #resellTicket(
    { price, userId }: ActionData,
    { field, id, ticket, place, isFinal }: NamedTicket,
    at: SourceLine,
  ): void {
    const event = this.#tickets.event(ticket);
    this.#checkPrice(price, event === undefined ? undefined : this.#events.numbered(event));
    if (userId == null) return;
    const kind = field === "nftId" && this.#tickets.locate(field, id) !== ticket ? "ticketId" : field;
    if (this.#tickets.isHeldBy(ticket, userId) === true) {
      const isSure = this.#isHolderSure(kind, ticket);
      const since = place === undefined ? "" : `, since ${placeText(place)}`;
      const finding = () => ({
        ...about("userId", userId),
        message: `Ticket ${quoted(id)} is resold to the user who already holds it${since}${isSure ? "" : ", unless it was resold under its other id"}.`,
        hint: "userId is the new buyer's.",
      });
      this.#row.report("resold-to-holder", finding, isSure ? "error" : "warn");
    }
    this.#resoldBy.add(kind);
    this.#tickets.setHolder(ticket, userId);
    if (!isFinal) this.#tickets.setPlace(ticket, at);
  }

  /** Whether nobody can have bought the ticket under its other id since its holder was noted. */
  #isHolderSure(kind: TicketKind, ticket: number): boolean {
    if (kind === "nftId") return this.#tickets.place(ticket) !== undefined && !this.#resoldBy.has("ticketId");
    this.#holdersByNftId ??= this.#options.knownState.hasHoldersByNftId();
    return !this.#resoldBy.has("nftId") && !this.#holdersByNftId;
  }

  /** The ticket of a reference, as memory knows it when this input has not named it yet. */
  #recall(kind: TicketKind, id: string): number {
    const ticket = this.#tickets.locate(kind, id);
    if (this.#tickets.status(ticket) !== "new" || this.#tickets.isHeld(ticket)) return ticket;
    const known = this.#options.knownState.ticket(kind === "ticketId" ? { ticketId: id } : { nftId: id });
    if (kind === "nftId" && known?.ticketId !== undefined) return this.#recall("ticketId", known.ticketId);
    this.#tickets.setStatus(ticket, known === undefined ? "unsold" : known.state);
    if (known?.holder !== undefined) this.#tickets.setHolder(ticket, known.holder);
    if (known?.eventId !== undefined) this.#tickets.setEvent(ticket, this.#events.of(known.eventId).number);
    return ticket;
  }

  /** Whether the event lets the action through, and says why not. */
  #needEvent(event: EventState): void {
    if (event.isRegistered && event.heldAt === undefined) return;
    const { hasEnvironment, laterEvents } = this.#options;
    const because = (says: string, hint: string) => () => ({
      ...about("eventId", event.id),
      message: `Event ${quoted(event.id)} ${says}`,
      hint,
    });
    if (event.heldAt !== undefined) {
      this.#row.dependsOn(event.heldAt, "eventId", event.id);
    } else if (this.#isRefused(event)) {
      const says = "is registered neither in this environment nor earlier in this input.";
      this.#row.report("event-not-registered", because(says, "Put its newEvent before its tickets."));
    } else if (laterEvents.has(event.id)) {
      const hint = "Put its newEvent before its tickets, or use --order time.";
      this.#row.report("event-not-registered", because("is registered only later in this input.", hint));
    } else if (!event.isTold) {
      event.isTold = true;
      const says = "is not known here; it may have been registered elsewhere.";
      const hint = hasEnvironment
        ? "Set complete: true in the environment if all of its events were registered from here."
        : "Add --env NAME to check against what it has accepted.";
      this.#row.report("event-not-registered", because(says, hint), "warn");
    }
  }

  /** Whether it is registered nowhere, and would be known if it were. */
  #isRefused({ id, isRegistered, heldAt }: EventState): boolean {
    const { complete, laterEvents } = this.#options;
    return complete && !isRegistered && heldAt === undefined && !laterEvents.has(id);
  }

  #checkPrice(price: string | null | undefined, event: EventState | undefined): void {
    const finding = price == null ? undefined : priceDecimals(price, event);
    if (finding !== undefined) this.#row.report("currency-decimals", () => finding);
  }
}

/** Lists without findings, one shared object per length. */
function emptyLists(length: number): readonly (readonly CrossActionFinding[])[] {
  const made = EMPTY_LISTS[length];
  if (made !== undefined) return made;
  const lists = Object.freeze(Array.from<readonly CrossActionFinding[]>({ length }).fill(NONE));
  if (length < 16) EMPTY_LISTS[length] = lists;
  return lists;
}
const EMPTY_LISTS: (readonly (readonly CrossActionFinding[])[])[] = [];

/** What later actions may depend on in an unchecked action: its ticket, and the event that it registers. */
function idsToHoldBack(action: unknown): { eventId?: string; ticketId?: string; nftId?: string } {
  if (typeof action !== "object" || action === null || !("data" in action)) return {};
  const { data } = action;
  if (typeof data !== "object" || data === null) return {};
  const { eventId, ticketId, nftId } = data as Readonly<Record<string, unknown>>; // an object, as checked above
  const registers = "action" in action && registersEvent(action.action);
  return {
    ...(registers && typeof eventId === "string" && { eventId }),
    ...(typeof ticketId === "string" && { ticketId }),
    ...(typeof nftId === "string" && { nftId }),
  };
}

/** What can only be seen across actions: in the order of the input, and against what the environment has accepted. */

import {
  type Action,
  type ActionData,
  type ActionName,
  actionSpec,
  registersEvent,
  type TicketEffect,
  withArticle,
} from "../actions/actions.ts";
import { currencyDigits, MOST_CURRENCY_DIGITS } from "../actions/currencies.ts";
import type { Finding, Severity } from "../actions/problem.ts";
import { cleanText } from "../actions/text.ts";
import { isNumber, otherSpellings } from "../actions/zero-ids.ts";
import type { CrossActionRule } from "./rules.ts";
import { createTicketStates, type Place, type TicketKind } from "./ticket-states.ts";

/** What an environment is known to hold. Lookups are synchronous; a ledger or nothing stands behind them. */
export interface KnownState {
  /** Undefined when the event is not known to be registered. */
  event(eventId: string): { readonly currency?: string } | undefined;
  /** Undefined when no accepted action named the ticket. */
  ticket(ref: { readonly ticketId: string } | { readonly nftId: string }): KnownTicket | undefined;
  /** Whether it knows buyers of tickets by nftId alone, any of which may be a ticket that it knows by ticketId too. */
  hasHoldersByNftId(): boolean;
  /** Of an id of which nothing was accepted or is pending: the same number with other zeros in front, of which something is. */
  otherSpelling(action: ActionName, field: "eventId" | "ticketId", id: string): KnownSpelling | undefined;
}

export interface KnownSpelling {
  readonly id: string;
  /** Whether another run may still bring it to the service, and nothing of it was accepted. */
  readonly isPending: boolean;
  /** In which it was first accepted, or is pending; undefined where that is not known. */
  readonly run: string | undefined;
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
  ticket: () => undefined,
  hasHoldersByNftId: () => false,
  otherSpelling: () => undefined,
};

/** A finding with its severity, which may differ from case to case of one rule; findings that are off are not given. */
interface CrossActionFinding extends Finding {
  readonly rule: CrossActionRule;
  readonly severity: Exclude<Severity, "off">;
}

export interface CrossActionChecks {
  /**
   * Checks the actions of one row, in order; one list of findings per action. All of them must be new and sound.
   *
   * When one finding is an error the whole row is held back, and with it every later action on its tickets, and on the
   * event that it would have registered: these get `depends-on-invalid`, naming the first row. Otherwise the actions take effect.
   */
  row(actions: readonly Action[], at: Place): readonly (readonly CrossActionFinding[])[];
  /** A row that was invalid before it came here; its actions may be partial. What depends on it is held back. */
  holdBack(actions: readonly unknown[], at: Place): void;
  /** Actions of the input that are left out although memory lacks them, such as those another run still sends: they take effect, unchecked. */
  assume(actions: readonly Action[], at: Place): void;
}

export interface CrossActionOptions {
  readonly knownState: KnownState;
  /** Whether the environment has nothing but what is known, so that an unknown event is an error. */
  readonly complete: boolean;
  /** Whether an environment was asked at all; without one the messages say so. */
  readonly hasKnownState: boolean;
  /** Every eventId that a newEvent of this input registers, wherever it stands. */
  readonly laterEvents: ReadonlySet<string>;
  readonly severityOf: (rule: string) => Severity;
}

interface EventState {
  readonly id: string;
  readonly number: number;
  /** Decimals of its prices, where the currency is known and how many it has. */
  digits: number | undefined;
  currency: string | undefined;
  isRegistered: boolean;
  /** Where this input registers it. */
  registeredAt: Place | undefined;
  /** The row that would have registered it and is not sent. */
  heldAt: Place | undefined;
  /** Whether it was said already that it is not known. */
  isTold: boolean;
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

/** The other spelling of an id, in this input. */
interface SpelledHere {
  readonly id: string;
  readonly at: Place;
}

const NONE: readonly CrossActionFinding[] = Object.freeze([]);

export function createCrossActionChecks({
  knownState,
  complete,
  hasKnownState,
  laterEvents,
  severityOf,
}: CrossActionOptions): CrossActionChecks {
  const tickets = createTicketStates();
  const events: EventState[] = [];
  const eventsById = new Map<string, EventState>();

  /** Lengths of the ids of this input that begin with a zero. */
  const zeroLengths = { eventId: new Set<number>(), ticketId: new Set<number>() };

  // Kinds of id by which tickets were resold here that may be known by the other kind, too.
  const resoldBy = new Set<TicketKind>();
  let holdersByNftId: boolean | undefined;

  /** Whether nobody can have bought the ticket under its other id since its holder was noted. */
  const isHolderSure = (kind: TicketKind, ticket: number): boolean => {
    if (kind === "nftId") return tickets.place(ticket) !== undefined && !resoldBy.has("ticketId");
    holdersByNftId ??= knownState.hasHoldersByNftId();
    return !resoldBy.has("nftId") && !holdersByNftId;
  };

  // What the row in hand has found and done; rows come one after the other.
  let found: CrossActionFinding[] | undefined;
  let isInvalid = false;
  let firstCause: Place | undefined;
  let undoEvents: (() => void)[] | undefined;

  const report = (rule: CrossActionRule, finding: Omit<Finding, "rule">, gravest: Severity = "error"): void => {
    const configured = severityOf(rule);
    const severity = configured === "error" ? gravest : configured;
    if (severity === "off") return;
    if (severity === "error") isInvalid = true;
    found ??= [];
    found.push({ rule, severity, ...finding });
  };

  const eventOf = (id: string): EventState => {
    const seen = eventsById.get(id);
    if (seen !== undefined) return seen;
    const known = knownState.event(id);
    const event: EventState = {
      id,
      number: events.length,
      currency: known?.currency,
      digits: known?.currency === undefined ? undefined : currencyDigits(known.currency),
      isRegistered: known !== undefined,
      registeredAt: undefined,
      heldAt: undefined,
      isTold: false,
    };
    events.push(event);
    eventsById.set(id, event);
    return event;
  };

  const changeEvent = (event: EventState, change: Partial<EventState>): void => {
    const before = { ...event };
    undoEvents ??= [];
    undoEvents.push(() => Object.assign(event, before));
    Object.assign(event, change);
  };

  const setCurrency = (event: EventState, currency: string): void => {
    changeEvent(event, { currency, digits: currencyDigits(currency) });
  };

  /** The ticket of a reference, as memory knows it when this input has not named it yet. */
  const recall = (kind: TicketKind, id: string): number => {
    const ticket = tickets.locate(kind, id);
    if (tickets.status(ticket) !== "new" || tickets.isHeld(ticket)) return ticket;
    const known = knownState.ticket(kind === "ticketId" ? { ticketId: id } : { nftId: id });
    if (kind === "nftId" && known?.ticketId !== undefined) return recall("ticketId", known.ticketId);
    tickets.setStatus(ticket, known === undefined ? "unsold" : known.state);
    if (known?.holder !== undefined) tickets.setHolder(ticket, known.holder);
    if (known?.eventId !== undefined) tickets.setEvent(ticket, eventOf(known.eventId).number);
    return ticket;
  };

  const dependsOn = (cause: Place | undefined, field: string, value: string): void => {
    firstCause ??= cause;
    const message = `It depends on ${cause === undefined ? "an earlier row" : placeText(cause)}, which is invalid and not sent.`;
    const hint = "Mend that row.";
    report("depends-on-invalid", { field, pointer: `/data/${field}`, value, message, hint, ...(cause && { cause }) });
  };

  /** Whether the event lets the action through, and says why not. */
  const needEvent = (event: EventState): void => {
    if (event.isRegistered && event.heldAt === undefined) return;
    const about = { field: "eventId", pointer: "/data/eventId", value: event.id };
    const name = `Event ${quoted(event.id)}`;
    if (event.heldAt !== undefined) {
      dependsOn(event.heldAt, "eventId", event.id);
    } else if (laterEvents.has(event.id)) {
      const hint = "Put its newEvent before its tickets, or use --order time.";
      report("event-not-registered", { ...about, message: `${name} is registered only later in this input.`, hint });
    } else if (complete) {
      const message = `${name} is registered neither in this environment nor earlier in this input.`;
      report("event-not-registered", { ...about, message, hint: "Put its newEvent before its tickets." });
    } else if (!event.isTold) {
      event.isTold = true;
      const message = `${name} is not known here; it may have been registered elsewhere.`;
      const hint = hasKnownState
        ? "Say complete: true in the environment if nothing ever was."
        : "Name an environment with --env, so that what it was sent is known.";
      report("event-not-registered", { ...about, message, hint }, "warn");
    }
  };

  const checkPrice = (price: string | null | undefined, event: EventState | undefined): void => {
    if (price == null) return;
    const written = decimals(price);
    const digits = event?.digits;
    // Any currency but a few has fewer, and a group of thousands has three.
    if (digits === undefined ? written !== 3 && written <= MOST_CURRENCY_DIGITS : written <= digits) return;
    const has =
      digits !== undefined
        ? `${event?.currency} has ${digits === 0 ? "none" : digits}`
        : event?.currency === undefined
          ? "and the currency of its event is not known here"
          : `and how many ${event.currency} has is not known`;
    const hint = LIKE_THOUSANDS.test(price)
      ? `If these are thousands (${price.replace(".", "")}), write it so, or declare in the source how the file writes them: decimal: ",", thousands: ".".`
      : "See whether the event's currency is right, and the price is not a computed one.";
    const message = `price has ${written} decimals, ${has}.`;
    report("currency-decimals", { field: "price", pointer: "/data/price", value: price, message, hint });
  };

  const registerEvent = ({ eventId, currency }: ActionData, at: Place): void => {
    if (eventId == null) return;
    const event = eventOf(eventId);
    if (event.heldAt !== undefined) {
      dependsOn(event.heldAt, "eventId", eventId);
      return;
    }
    if (event.registeredAt !== undefined) {
      report("event-registered-twice", {
        field: "eventId",
        pointer: "/data/eventId",
        value: eventId,
        message: `Event ${quoted(eventId)} is registered already at ${placeText(event.registeredAt)}.`,
        hint: "Change an event by updateEvent.",
      });
      return;
    }
    changeEvent(event, { isRegistered: true, registeredAt: at });
    if (currency != null) setCurrency(event, currency);
  };

  const changeKnownEvent = ({ eventId, currency }: ActionData): void => {
    if (eventId == null) return;
    const event = eventOf(eventId);
    needEvent(event);
    if (currency != null) setCurrency(event, currency);
  };

  const sellTicket = ({ eventId, ticketId, userId, price }: ActionData, at: Place): void => {
    if (ticketId == null) return;
    const ticket = tickets.locate("ticketId", ticketId);
    const event = eventId == null ? undefined : eventOf(eventId);
    if (tickets.isHeld(ticket)) {
      dependsOn(tickets.place(ticket), "ticketId", ticketId);
      return;
    }
    if (event !== undefined) needEvent(event);
    const before = tickets.place(ticket);
    const about = { field: "ticketId", pointer: "/data/ticketId", value: ticketId };
    if (tickets.isSoldHere(ticket)) {
      report("ticket-sold-twice", {
        ...about,
        message: `Ticket ${quoted(ticketId)} is sold already${before === undefined ? "" : ` at ${placeText(before)}`}.`,
        hint: "A later sale of it is a resoldTicket. If the id is that of an order, make one id per ticket in the mapping.",
      });
    } else if (before !== undefined) {
      report("ticket-not-sold", {
        ...about,
        message: `This sale stands after another action on ticket ${quoted(ticketId)}, at ${placeText(before)}.`,
        hint: "Put sales first, or use --order time.",
      });
    }
    checkPrice(price, event);
    const status = tickets.status(ticket);
    if (status === "new" || status === "unsold") tickets.setStatus(ticket, "sold");
    tickets.setSoldHere(ticket);
    tickets.setPlace(ticket, at);
    if (event !== undefined) tickets.setEvent(ticket, event.number);
    if (userId != null) tickets.setHolder(ticket, userId);
  };

  const followTicket = ({ action, data }: Action, effect: LaterEffect, at: Place): void => {
    const field: TicketKind = data.ticketId == null ? "nftId" : "ticketId";
    const id = data[field];
    if (id == null) return;
    const ticket = recall(field, id);
    const place = tickets.place(ticket);
    if (tickets.isHeld(ticket)) {
      dependsOn(place, field, id);
      return;
    }
    const about = { field, pointer: `/data/${field}`, value: id };
    const name = (): string => `Ticket ${quoted(id)}`;
    const status = tickets.status(ticket);
    if (status === "unsold" && place === undefined) {
      tickets.setPlace(ticket, at);
      // What an nftId names can't be known: the service makes it after the sale.
      if (complete && field === "ticketId") {
        const message = `${name()} is sold neither in this environment nor earlier in this input.`;
        report("ticket-not-sold", {
          ...about,
          message,
          hint: "Put its soldTicket before, or see whether the id is right.",
        });
      }
    }
    if (status === "invalidated" || (status === "checked-in" && !AFTER_CHECK_IN[effect])) {
      const since = place === undefined ? "before this input" : `at ${placeText(place)}`;
      const did = status === "invalidated" ? "invalidated" : "checked in";
      report("after-final", {
        ...about,
        message: `${name()} was ${did} ${since}; the service may not take ${withArticle(action)} after that.`,
        hint: "See whether the order is right; --order time sorts by orderTime.",
      });
    }
    switch (effect) {
      case "resell-ticket": {
        const eventNumber = tickets.event(ticket);
        checkPrice(data.price, eventNumber === undefined ? undefined : events[eventNumber]);
        if (data.userId == null) return;
        const kind = field === "nftId" && tickets.locate(field, id) !== ticket ? "ticketId" : field;
        if (tickets.isHeldBy(ticket, data.userId) === true) {
          const isSure = isHolderSure(kind, ticket);
          const since = place === undefined ? "" : `, since ${placeText(place)}`;
          report(
            "resold-to-holder",
            {
              field: "userId",
              pointer: "/data/userId",
              value: data.userId,
              message: `${name()} is resold to the user who holds it already${since}${isSure ? "" : ", unless it was resold under its other id"}.`,
              hint: "userId is the new buyer's.",
            },
            isSure ? "error" : "warn",
          );
        }
        resoldBy.add(kind);
        tickets.setHolder(ticket, data.userId);
        if (status === "unsold" || status === "sold") tickets.setPlace(ticket, at);
        return;
      }
      case "check-in-ticket":
        if (status === "invalidated" || status === "checked-in") return;
        tickets.setStatus(ticket, "checked-in");
        tickets.setPlace(ticket, at);
        return;
      case "invalidate-ticket":
        if (status === "invalidated") return;
        tickets.setStatus(ticket, "invalidated");
        tickets.setPlace(ticket, at);
        return;
      case "change-ticket":
      case "scan-ticket":
      case "claim-ticket":
        return;
      default:
        effect satisfies never;
    }
  };

  /** Of an id that this input has not named yet: whether it is known, or stands further up, with other zeros in front. */
  const checkZeros = ({ action, data }: Action): void => {
    const { ticketId, eventId } = data;
    if (eventId != null && isNumber(eventId) && !eventsById.has(eventId)) {
      const here = spelledHere("eventId", eventId, (id) => eventsById.get(id)?.registeredAt);
      reportZeros("eventId", eventId, knownState.otherSpelling(action, "eventId", eventId) ?? here);
    }
    if (ticketId != null && isNumber(ticketId) && tickets.find("ticketId", ticketId) === undefined) {
      const here = spelledHere("ticketId", ticketId, (id) => {
        const ticket = tickets.find("ticketId", id);
        return ticket === undefined ? undefined : tickets.place(ticket);
      });
      reportZeros("ticketId", ticketId, knownState.otherSpelling(action, "ticketId", ticketId) ?? here);
    }
  };

  const spelledHere = (
    field: "eventId" | "ticketId",
    id: string,
    placeOf: (id: string) => Place | undefined,
  ): SpelledHere | undefined => {
    const spellings = otherSpellings(id, zeroLengths[field]);
    if (id.startsWith("0")) zeroLengths[field].add(id.length);
    for (const other of spellings) {
      const at = placeOf(other);
      if (at !== undefined) return { id: other, at };
    }
    return undefined;
  };

  const reportZeros = (
    field: "eventId" | "ticketId",
    value: string,
    other: KnownSpelling | SpelledHere | undefined,
  ): void => {
    if (other === undefined) return;
    const isHere = "at" in other;
    const where = isHere
      ? `stands at ${placeText(other.at)}`
      : `${other.isPending ? "is pending" : "was accepted"}${other.run === undefined ? "" : ` in the run ${other.run}`}`;
    const about = field === "eventId" ? "event" : "ticket";
    const finding = {
      field,
      pointer: `/data/${field}`,
      value,
      message: `${quoted(value)} is the same number as ${quoted(other.id)}, which ${where}, with other zeros in front: a spreadsheet takes them off.`,
      hint: `Export again with the ids as text, and don't open and save the file in a spreadsheet. If it is another ${about}, stream its row alone with --again.`,
    };
    report("id-zeros-lost", finding, isHere ? "warn" : "error");
  };

  const check = (action: Action, at: Place): void => {
    checkZeros(action);
    const { effect } = actionSpec(action.action);
    switch (effect) {
      case "register-event":
        registerEvent(action.data, at);
        break;
      case "change-event":
        changeKnownEvent(action.data);
        break;
      case "sell-ticket":
        sellTicket(action.data, at);
        break;
      default:
        followTicket(action, effect, at);
    }
  };

  const holdBack = (actions: readonly unknown[], at: Place): void => {
    for (const action of actions) {
      const { eventId, ticketId, nftId } = referencesOf(action);
      // An event that is registered all the same does not depend on this row.
      if (eventId !== undefined) {
        const event = eventOf(eventId);
        if (!event.isRegistered) event.heldAt ??= at;
      }
      for (const [kind, id] of [["ticketId", ticketId] as const, ["nftId", nftId] as const]) {
        if (id === undefined) continue;
        // Without memory's word on it an nftId is a ticket of its own.
        const ticket = kind === "nftId" ? recall(kind, id) : tickets.locate(kind, id);
        if (tickets.isHeld(ticket)) continue;
        tickets.hold(ticket);
        tickets.setPlace(ticket, at);
      }
    }
  };

  const begin = (): void => {
    isInvalid = false;
    firstCause = undefined;
    undoEvents = undefined;
  };

  return {
    row(actions, at) {
      begin();
      let lists: (readonly CrossActionFinding[])[] | undefined;
      for (const [index, action] of actions.entries()) {
        found = undefined;
        check(action, at);
        if (found === undefined && lists === undefined) continue;
        lists ??= Array.from<readonly CrossActionFinding[]>({ length: actions.length }).fill(NONE);
        lists[index] = found ?? NONE;
      }
      if (isInvalid) {
        for (const undo of undoEvents?.reverse() ?? []) undo();
        holdBack(actions, firstCause ?? at);
      }
      return lists ?? emptyLists(actions.length);
    },
    holdBack,
    assume(actions, at) {
      begin();
      for (const action of actions) check(action, at);
    },
  };
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

/** What later actions may depend on in an action of which nothing is certain: its ticket, and the event that it registers. */
function referencesOf(action: unknown): { eventId?: string; ticketId?: string; nftId?: string } {
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

/** `1.250`: the point may be one between thousands. */
const LIKE_THOUSANDS = /^[1-9]\d{0,2}\.\d{3}$/;

/** Decimals that a price really uses: 12.50 has one. Three are three, whatever the last is: they may be a group of thousands. */
function decimals(price: string): number {
  const point = price.indexOf(".");
  if (point === -1) return 0;
  if (price.length - point - 1 === 3) return 3;
  let end = price.length;
  while (price.charCodeAt(end - 1) === 0x30) end -= 1;
  return end - point - 1;
}

function quoted(id: string): string {
  return `"${cleanText(id, 60)}"`;
}

function placeText({ source, line }: Place): string {
  return `${cleanText(source)}:${line}`;
}

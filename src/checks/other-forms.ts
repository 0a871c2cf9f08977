/** Ids that are another one in another Unicode form: a person reads the same, and the service has two. */

import type { Action, ActionName } from "../actions/actions.ts";
import { about, type Severity, type SourceLine } from "../actions/problem.ts";
import { cleanText } from "../actions/text.ts";
import { formOf, mayHaveForms, UnicodeForms, withFormShown } from "../actions/unicode-forms.ts";
import type { EventStates } from "./event-states.ts";
import { HeldEvents } from "./held-events.ts";
import {
  type KnownSpelling,
  type OtherSpelling,
  remedyOfOther,
  type SpelledField,
  type SpelledHere,
  whereText,
} from "./known-spelling.ts";
import { quoted, type RowFindings } from "./row-findings.ts";
import type { TicketStates } from "./ticket-states.ts";

/** What an environment is known to hold of ids. */
export interface KnownForms {
  readonly otherForm: OtherSpelling;
  /** Whether something of the id was accepted or is pending. */
  readonly isKnownId: (action: ActionName, field: SpelledField, id: string) => boolean;
}

export class OtherForms {
  readonly #tickets: TicketStates;
  readonly #row: RowFindings;
  readonly #known: KnownForms;
  /** Forms of the ids of this input. */
  readonly #forms = { eventId: new UnicodeForms(), ticketId: new UnicodeForms() };
  /** Where this input first names an event. */
  readonly #eventsAt = new Map<string, SourceLine>();
  readonly #heldEvents: HeldEvents;

  constructor(events: EventStates, tickets: TicketStates, row: RowFindings, known: KnownForms) {
    this.#tickets = tickets;
    this.#row = row;
    this.#known = known;
    this.#heldEvents = new HeldEvents(events, row);
  }

  /** Of an id that this input has not named yet: whether it is known, or stands further up, in another form. */
  check({ action, data: { ticketId, eventId } }: Action, at: SourceLine): void {
    if (eventId != null && mayHaveForms(eventId)) this.#checkEvent(action, eventId, at);
    if (ticketId != null && mayHaveForms(ticketId) && this.#tickets.find("ticketId", ticketId) === undefined)
      this.#report("ticketId", ticketId, this.#otherOf(action, "ticketId", ticketId));
  }

  /** Ids of a row that is not sent; it stands further up for those that follow. */
  note({ eventId, ticketId }: { readonly eventId?: string; readonly ticketId?: string }, at: SourceLine): void {
    if (ticketId !== undefined && mayHaveForms(ticketId)) this.#forms.ticketId.take(ticketId);
    if (eventId === undefined || !mayHaveForms(eventId) || this.#eventsAt.has(eventId)) return;
    this.#forms.eventId.take(eventId);
    this.#eventsAt.set(eventId, at);
  }

  #checkEvent(action: ActionName, eventId: string, at: SourceLine): void {
    this.#heldEvents.check(eventId, at);
    if (this.#eventsAt.has(eventId)) return;
    if (this.#report("eventId", eventId, this.#otherOf(action, "eventId", eventId)) === "error")
      this.#heldEvents.hold(eventId, at);
    this.#eventsAt.set(eventId, at);
  }

  #otherOf(action: ActionName, field: SpelledField, id: string): KnownSpelling | SpelledHere | undefined {
    const here = this.#spelledHere(field, id);
    const known = this.#known.otherForm(action, field, id);
    if (known !== undefined || here === undefined) return known;
    return this.#known.isKnownId(action, field, id) ? undefined : here;
  }

  #spelledHere(field: SpelledField, id: string): SpelledHere | undefined {
    const forms = this.#forms[field];
    const others = forms.othersOf(id);
    forms.take(id);
    for (const other of others) {
      const at = field === "eventId" ? this.#eventsAt.get(other) : this.#placeOf(other);
      if (at !== undefined) return { id: other, at };
    }
    return undefined;
  }

  #placeOf(ticketId: string): SourceLine | undefined {
    const ticket = this.#tickets.find("ticketId", ticketId);
    return ticket === undefined ? undefined : this.#tickets.place(ticket);
  }

  #report(field: SpelledField, value: string, other: KnownSpelling | SpelledHere | undefined): Severity | undefined {
    if (other === undefined) return undefined;
    const form = formOf(other.id);
    return this.#row.report("id-in-two-forms", () => ({
      ...about(field, value),
      message: `${shown(value, other.id)} is ${shown(other.id, value)}, which ${whereText(other)}, in another Unicode form: both read ${quoted(value)}.`,
      hint: `Have the export write it as it is there${form === undefined ? "" : `, in the form ${form}`}. ${remedyOfOther(field)}`,
    }));
  }
}

/** Six characters for one, and never less of the id than an id may have: what is cut off may be what differs. */
const LONGEST = 6 * 255;

const shown = (id: string, other: string): string => `"${cleanText(withFormShown(id, other), LONGEST)}"`;

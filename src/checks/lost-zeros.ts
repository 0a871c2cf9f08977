/** Ids that are the same number as another with other zeros in front, or with decimals: a spreadsheet or a program may have made it of them. */

import type { Action, ActionName } from "../actions/actions.ts";
import { about, type Severity, type SourceLine } from "../actions/problem.ts";
import { isNumber, isWholeNumber, otherSpellings } from "../actions/zero-ids.ts";
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

export class LostZeros {
  readonly #events: EventStates;
  readonly #tickets: TicketStates;
  readonly #row: RowFindings;
  readonly #knownSpelling: OtherSpelling;
  /** Lengths of the ids of this input that begin with a zero. */
  readonly #lengths = { eventId: new Set<number>(), ticketId: new Set<number>() };
  readonly #heldEvents: HeldEvents;

  constructor(events: EventStates, tickets: TicketStates, row: RowFindings, knownSpelling: OtherSpelling) {
    this.#events = events;
    this.#tickets = tickets;
    this.#row = row;
    this.#knownSpelling = knownSpelling;
    this.#heldEvents = new HeldEvents(events, row);
  }

  /** Of an id that this input has not named yet: whether it is known, or stands further up, with other zeros in front or without decimals. */
  check({ action, data: { ticketId, eventId } }: Action, at: SourceLine): void {
    if (eventId != null && isWholeNumber(eventId)) this.#checkEvent(action, eventId, at);
    if (ticketId != null && isWholeNumber(ticketId) && this.#tickets.find("ticketId", ticketId) === undefined) {
      const here = this.#spelledHere("ticketId", ticketId, (id) => {
        const ticket = this.#tickets.find("ticketId", id);
        return ticket === undefined ? undefined : this.#tickets.place(ticket);
      });
      this.#report("ticketId", ticketId, this.#knownSpelling(action, "ticketId", ticketId) ?? here);
    }
  }

  /** Whether something may be said, or is to be noted, of a ticketId that is a whole number and that this input has not named yet. */
  mayHaveOther(action: ActionName, ticketId: string): boolean {
    if (ticketId.startsWith("0") || !isNumber(ticketId) || this.#lengths.ticketId.size > 0) return true;
    return this.#knownSpelling(action, "ticketId", ticketId) !== undefined;
  }

  /** Whether nothing that names the event is sent. */
  isHeld(eventId: string): boolean {
    return this.#heldEvents.has(eventId);
  }

  #checkEvent(action: ActionName, eventId: string, at: SourceLine): void {
    if (this.#heldEvents.check(eventId, at) || this.#events.find(eventId) !== undefined) return;
    const here = this.#spelledHere("eventId", eventId, (id) => this.#events.find(id)?.registeredAt);
    if (this.#report("eventId", eventId, this.#knownSpelling(action, "eventId", eventId) ?? here) === "error")
      this.#heldEvents.hold(eventId, at);
  }

  #spelledHere(
    field: SpelledField,
    id: string,
    placeOf: (id: string) => SourceLine | undefined,
  ): SpelledHere | undefined {
    const lengths = this.#lengths[field];
    const spellings = otherSpellings(id, lengths);
    if (id.startsWith("0") && isNumber(id)) lengths.add(id.length);
    for (const other of spellings) {
      const at = placeOf(other);
      if (at !== undefined) return { id: other, at };
    }
    return undefined;
  }

  #report(field: SpelledField, value: string, other: KnownSpelling | SpelledHere | undefined): Severity | undefined {
    if (other === undefined) return undefined;
    const finding = () => ({
      ...about(field, value),
      message: `${quoted(value)} is the same number as ${quoted(other.id)}, which ${whereText(other)}, ${isNumber(value) ? "with other leading zeros: spreadsheets remove them" : "with decimals: programs that read ids as numbers add them"}.`,
      hint: `Export again with the ids as text, and don't open and save the file in a spreadsheet. ${remedyOfOther(field)}`,
    });
    return this.#row.report("id-zeros-lost", finding, "at" in other ? "warn" : "error");
  }
}

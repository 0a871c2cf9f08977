/** Ids that are probably one, written in two ways. They are compared in one normal form. */

import type { Action, ActionName } from "../actions/actions.ts";
import { about, type SourceLine } from "../actions/problem.ts";
import { cleanText } from "../actions/text.ts";
import type { EventStates } from "./event-states.ts";
import { placeText, type RowFindings } from "./row-findings.ts";
import type { TicketStates } from "./ticket-states.ts";

export type IdField = "eventId" | "ticketId";

/** Of a character, one form (NFKC), and none that can't be seen; one kind of blank and of hyphen; of a number, no zeros in front and no decimals behind. */
export function normalId(id: string): string {
  const text = PLAIN.test(id)
    ? id
    : id
        .normalize("NFKC")
        .replaceAll(/\p{Default_Ignorable_Code_Point}/gu, "")
        .replaceAll(/[\p{Pd}\u2212]/gu, "-")
        .replaceAll(/\s+/g, " ")
        .trim();
  return NUMBER.exec(text)?.[1] ?? text;
}

const PLAIN = /^[!-~]*$/;
const NUMBER = /^0*(\d+)([.,]0+)?$/;

/** An id of which something was accepted or is pending. */
interface KnownId {
  readonly id: string;
  /** Whether another run may still bring it to the service, and nothing of it was accepted. */
  readonly isPending: boolean;
  /** In which it was first accepted, or is pending; undefined where that is not known. */
  readonly run: string | undefined;
}

/** An id of this input. */
interface IdHere {
  readonly id: string;
  readonly at: SourceLine;
}

interface NumberForm {
  readonly digits: number;
  readonly decimals: string;
}

/** What an environment knows of ids. */
export interface KnownIds {
  readonly isKnownId: (action: ActionName, field: IdField, id: string) => boolean;
  /** Another id with this normal form of which something was accepted or is pending. */
  readonly nearId: (action: ActionName, field: IdField, id: string, normal: string) => KnownId | undefined;
}

/** Finds ids that differ only in their form from a known one, or from one further up. What names such an event is held. */
export class NearIds {
  readonly #events: EventStates;
  readonly #tickets: TicketStates;
  readonly #row: RowFindings;
  readonly #known: KnownIds;
  /** Ids of this input that are not in their normal form, by it; but for numbers, which may be many. */
  readonly #others = { eventId: new Map<string, string[]>(), ticketId: new Map<string, string[]>() };
  /** How such numbers are written: how many digits, and the decimals behind them. */
  readonly #numbers = { eventId: new Map<string, NumberForm>(), ticketId: new Map<string, NumberForm>() };
  /** Where this input first names an event. */
  readonly #eventsAt = new Map<string, SourceLine>();
  /** Events that are another one, perhaps, and the row that said so. */
  readonly #heldEvents = new Map<string, SourceLine>();

  constructor(events: EventStates, tickets: TicketStates, row: RowFindings, known: KnownIds) {
    this.#events = events;
    this.#tickets = tickets;
    this.#row = row;
    this.#known = known;
  }

  check({ action, data: { ticketId, eventId } }: Action, at: SourceLine): void {
    if (eventId != null) this.#checkEvent(action, eventId, at);
    if (ticketId != null && this.#tickets.find("ticketId", ticketId) === undefined)
      this.#compare(action, "ticketId", ticketId);
  }

  /** Ids of a row that is not sent; it stands further up for those that follow. */
  note({ eventId, ticketId }: { readonly eventId?: string; readonly ticketId?: string }, at: SourceLine): void {
    if (ticketId !== undefined) this.#take("ticketId", ticketId, normalId(ticketId));
    if (eventId === undefined || this.#eventsAt.has(eventId)) return;
    this.#take("eventId", eventId, normalId(eventId));
    this.#eventsAt.set(eventId, at);
  }

  #checkEvent(action: ActionName, eventId: string, at: SourceLine): void {
    const heldAt = this.#heldEvents.get(eventId);
    // Where that row would have registered the event, the event says so itself.
    if (heldAt !== undefined && heldAt !== at && this.#events.find(eventId)?.heldAt === undefined)
      this.#row.dependsOn(heldAt, "eventId", eventId);
    if (this.#eventsAt.has(eventId)) return;
    if (this.#compare(action, "eventId", eventId)) this.#heldEvents.set(eventId, at);
    this.#eventsAt.set(eventId, at);
  }

  /** Whether the id is refused. */
  #compare(action: ActionName, field: IdField, id: string): boolean {
    const normal = normalId(id);
    const here = this.#nearHere(field, id, normal);
    this.#take(field, id, normal);
    const known = this.#known.nearId(action, field, id, normal);
    const other = known ?? (here && this.#known.isKnownId(action, field, id) ? undefined : here);
    if (other === undefined) return false;
    const severity = this.#row.report("id-near-another", () => ({
      ...about(field, id),
      message: `${shown(id)} differs from ${shown(other.id)}, which ${whereText(other)}, only in how it is written: ${differenceOf(id, other.id)}.`,
      hint: `Have the export write it as it is there, and don't open and save the file in a spreadsheet. If it is another ${field === "eventId" ? "event, stream the row of its newEvent" : "ticket, stream its row"} alone with --again.`,
    }));
    return severity === "error";
  }

  #take(field: IdField, id: string, normal: string): void {
    if (normal === id) return;
    const [, , decimals = ""] = NUMBER.exec(id) ?? [];
    if (NUMBER.test(id)) {
      const digits = id.length - decimals.length;
      this.#numbers[field].set(`${digits}${decimals}`, { digits, decimals });
      return;
    }
    const ids = this.#others[field].get(normal) ?? [];
    if (!ids.includes(id)) this.#others[field].set(normal, [...ids, id]);
  }

  #nearHere(field: IdField, id: string, normal: string): IdHere | undefined {
    const numbers = NUMBER.test(normal) ? [...this.#numbers[field].values()] : [];
    const others = numbers.map(({ digits, decimals }) => `${normal.padStart(digits, "0")}${decimals}`);
    for (const other of [normal, ...others, ...(this.#others[field].get(normal) ?? [])]) {
      const at = other === id ? undefined : this.#placeOf(field, other);
      if (at !== undefined) return { id: other, at };
    }
    return undefined;
  }

  #placeOf(field: IdField, id: string): SourceLine | undefined {
    if (field === "eventId") return this.#eventsAt.get(id);
    const ticket = this.#tickets.find("ticketId", id);
    return ticket === undefined ? undefined : this.#tickets.place(ticket);
  }
}

/** Six characters for one, and never less of the id than an id may have: what is cut off may be what differs. */
const LONGEST = 6 * 255;

/** With escapes for what people can't tell apart. */
const shown = (id: string): string =>
  `"${cleanText(
    id.replaceAll(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`),
    LONGEST,
  )}"`;

function whereText(other: KnownId | IdHere): string {
  if ("at" in other) return `stands at ${placeText(other.at)}`;
  const state = other.isPending ? "is pending" : "was accepted";
  return other.run === undefined ? state : `${state} in the run ${other.run}`;
}

const differenceOf = (id: string, other: string): string =>
  PLAIN.test(id) && PLAIN.test(other)
    ? "zeros in front or decimals of a number"
    : "blanks, hyphens or the Unicode form of characters";

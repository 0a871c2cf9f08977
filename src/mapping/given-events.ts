/** Which events the rows of a source have registered: a newEvent is given once per event. */

import { type Action, registersEvent } from "../actions/actions.ts";
import type { Seen } from "./mapper.ts";

type NamedEvents = NonNullable<Seen["events"]>;

export class GivenEvents {
  readonly #given = new Set<string>();
  /** Events that the rows since the last look name, and whether they were given before. */
  readonly #named = new Map<string, boolean>();

  /** Notes that a row names the event; whether an earlier one has given it. */
  name(eventId: string): boolean {
    const isGiven = this.#given.has(eventId);
    if (!this.#named.has(eventId)) this.#named.set(eventId, isGiven);
    return isGiven;
  }

  /** Whether an earlier row has given the event. */
  has(eventId: string): boolean {
    return this.#given.has(eventId);
  }

  give(actions: readonly Action[]): void {
    for (const { action, data } of actions) if (registersEvent(action)) this.#given.add(String(data.eventId));
  }

  retract(actions: readonly Action[]): void {
    for (const { action, data } of actions) if (registersEvent(action)) this.#given.delete(String(data.eventId));
  }

  take(): NamedEvents {
    const named = [...this.#named].map(([eventId, before]) => ({ eventId, before, after: this.#given.has(eventId) }));
    this.#named.clear();
    return named;
  }

  agrees(named: NamedEvents): boolean {
    return named.every(({ eventId, before }) => this.#given.has(eventId) === before);
  }

  join(named: NamedEvents): void {
    for (const { eventId, after } of named) if (after) this.#given.add(eventId);
  }
}

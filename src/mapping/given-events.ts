/** Which events the rows of a source have registered: a newEvent is given once per event. */

import { type Action, registersEvent } from "../actions/actions.ts";

export class GivenEvents {
  readonly #given = new Set<string>();

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
}

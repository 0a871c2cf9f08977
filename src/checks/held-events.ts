/** Events that are another one, perhaps: whatever names them is not sent until a person has said which one they are. */

import type { SourceLine } from "../actions/problem.ts";
import type { EventStates } from "./event-states.ts";
import type { RowFindings } from "./row-findings.ts";

export class HeldEvents {
  readonly #events: EventStates;
  readonly #row: RowFindings;
  /** The row that said so, by eventId. */
  readonly #at = new Map<string, SourceLine>();

  constructor(events: EventStates, row: RowFindings) {
    this.#events = events;
    this.#row = row;
  }

  hold(eventId: string, at: SourceLine): void {
    this.#at.set(eventId, at);
  }

  has(eventId: string): boolean {
    return this.#at.has(eventId);
  }

  /** Whether the event is held; the present row then depends on the one that said so. */
  check(eventId: string, at: SourceLine): boolean {
    const heldAt = this.#at.get(eventId);
    if (heldAt === undefined) return false;
    // Where that row would have registered the event, the event says so itself.
    const isTold = heldAt === at || this.#events.find(eventId)?.heldAt !== undefined;
    if (!isTold) this.#row.dependsOn(heldAt, "eventId", eventId);
    return true;
  }
}

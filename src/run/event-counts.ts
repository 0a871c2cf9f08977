/** Actions by the event that they name. */

import type { Ledger, Run } from "../ledger/ledger.ts";

/** How many actions name which event. */
export interface EventCounts {
  /** Those with the most, the largest first. */
  readonly first: readonly { readonly eventId: string; readonly actions: number }[];
  readonly others: { readonly events: number; readonly actions: number };
  /** They name a ticket or an nftId only. */
  readonly unnamed: number;
}

const MOST_EVENTS = 12;

/** @param counts by event; under undefined, of what names none. */
function eventCounts(counts: ReadonlyMap<string | undefined, number>): EventCounts {
  const named = [...counts]
    .flatMap(([eventId, actions]) => (eventId === undefined ? [] : [{ eventId, actions }]))
    .toSorted((one, other) => other.actions - one.actions || (one.eventId < other.eventId ? -1 : 1));
  const others = named.slice(MOST_EVENTS);
  return {
    first: named.slice(0, MOST_EVENTS),
    others: { events: others.length, actions: others.reduce((sum, { actions }) => sum + actions, 0) },
    unnamed: counts.get(undefined) ?? 0,
  };
}

/** Of all actions of a run. */
export async function countByEvent(ledger: Ledger, run: Run): Promise<EventCounts> {
  const counts = new Map<string | undefined, number>();
  for (const { chunk } of await ledger.chunks(run.number))
    for (const { origin, outcome } of (await ledger.outcomes(run.number, chunk)).items) {
      if (outcome === "moved") continue;
      const event = origin.subject.startsWith("e:") ? origin.subject.slice(2) : origin.event;
      counts.set(event, (counts.get(event) ?? 0) + 1);
    }
  return eventCounts(counts);
}

/** Actions by the event that they name. */

import { eventOf } from "../ledger/outcomes.ts";
import { readActionLine } from "../ledger/sent-action.ts";
import type { Manifest } from "../plan/files/manifest.ts";
import { openPlan } from "../plan/files/plan.ts";

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
export function eventCounts(counts: ReadonlyMap<string | undefined, number>): EventCounts {
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

/** Of all actions of a plan. */
export async function countPlanned(directory: string, manifest: Manifest): Promise<EventCounts> {
  const counts = new Map<string | undefined, number>();
  await using plan = await openPlan(directory, JSON.stringify(manifest));
  for (const chunk of manifest.chunks)
    for (const line of await plan.lines(chunk)) {
      const eventId = eventOf(readActionLine(line.toString("utf8")).data);
      counts.set(eventId, (counts.get(eventId) ?? 0) + 1);
    }
  return eventCounts(counts);
}

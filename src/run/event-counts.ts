/** Actions by the event that they name. */

import { open } from "node:fs/promises";
import { readActionLine } from "../ledger/block.ts";
import { eventOf } from "../ledger/outcomes.ts";

/** Actions that have an outcome, by the event that they name. */
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

/** @param path of a plan's actions. */
export async function countPlanned(path: string): Promise<EventCounts> {
  const counts = new Map<string | undefined, number>();
  await using file = await open(path);
  for await (const line of file.readLines()) {
    const eventId = eventOf(readActionLine(line).data);
    counts.set(eventId, (counts.get(eventId) ?? 0) + 1);
  }
  return eventCounts(counts);
}

/**
 * Tickets are spread over lanes by ticket, so that a single large event uses all of them. An event's own actions keep their place
 * among those of its tickets by stages: a stage begins when the one before is answered. Within a lane and a stage, all goes
 * in the order of the plan.
 */

import type { Events } from "./events.ts";
import type { Store } from "./store.ts";

type Stored = readonly [seq: number, subject: string, event: string | null, place: number];

/** A ticket's event is the one that its sale names, which may stand behind others of it. */
const NEW = `SELECT seq, subject, max(event) OVER (PARTITION BY subject) AS event, place FROM action WHERE verdict = 'new'
  ORDER BY subject, place`;

/** Notes the lane and the stage of each action in `laned`. @returns the number of lanes that are used; where all must be in one, nothing is noted. */
export function spreadOverLanes(store: Store, events: Events, wanted: number, signal: AbortSignal): number {
  // A ticket that is named by its nftId here and by its ticketId there would be in two lanes.
  const kinds = store.all("SELECT DISTINCT substr(subject, 1, 1) FROM action WHERE verdict = 'new' AND subject > 'n'");
  if (kinds.length > 1) return 1;
  store.run("CREATE TABLE laned (seq INTEGER PRIMARY KEY, lane INTEGER NOT NULL, stage INTEGER NOT NULL)");
  const put = store.prepare("INSERT INTO laned VALUES (?, ?, ?)");
  /** By hash: lanes are numbered as they are first used. */
  const lanes = new Map<number, number>();
  let ticket: { readonly subject: string; readonly lane: number; readonly own: readonly number[] } | undefined;
  for (const batch of store.tuples<Stored>(NEW)) {
    signal.throwIfAborted();
    for (const [seq, subject, event, place] of batch) {
      if (ticket?.subject !== subject) {
        const hash = hashOf(subject) % wanted;
        const lane = lanes.get(hash) ?? lanes.size;
        lanes.set(hash, lane);
        const id = subject.startsWith("e:") ? subject.slice(2) : (event ?? undefined);
        ticket = { subject, lane, own: id === undefined ? [] : (events.find(id)?.own ?? []) };
      }
      const before = countBefore(ticket.own, place);
      // An event's own action comes behind all of its tickets' that stand before it.
      put.run(seq, ticket.lane, subject.startsWith("e:") ? 2 * before + 1 : 2 * before);
    }
  }
  return Math.max(1, lanes.size);
}

/** How many of the places, which rise, come before this one. */
function countBefore(places: readonly number[], place: number): number {
  let [from, to] = [0, places.length];
  while (from < to) {
    const middle = (from + to) >>> 1;
    if ((places[middle] ?? 0) < place) from = middle + 1;
    else to = middle;
  }
  return from;
}

/** FNV-1a */
function hashOf(subject: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < subject.length; at += 1) hash = Math.imul(hash ^ subject.charCodeAt(at), 0x01000193);
  return (hash ^ (hash >>> 15)) >>> 0;
}

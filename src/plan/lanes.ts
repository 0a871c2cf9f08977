/**
 * Tickets are spread over lanes by ticket, so that a single large event uses all of them. An event's own actions keep their place
 * among those of its tickets by stages: a stage begins when the one before is answered. Within a lane and a stage, all goes
 * in the order of the plan.
 */

import type { Store } from "./store.ts";

/**
 * A ticket's event is the one that its sale names, which may stand behind others of it. Each action of an event begins a stage of
 * its own, behind all of its tickets' that stand before it.
 */
const SPREAD = `
INSERT INTO laned
SELECT seq, laneOf(subject),
  2 * coalesce(sum(isOwn) OVER (PARTITION BY event ORDER BY place ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) + isOwn
FROM (
  SELECT seq, place, subject, subject < 'f' AS isOwn,
    CASE WHEN subject < 'f' THEN substr(subject, 3) ELSE coalesce(max(event) OVER (PARTITION BY subject), subject) END AS event
  FROM action WHERE verdict = 'new'
)`;

/** Notes the lane and the stage of each action in `laned`. @returns the number of lanes that are used; where all must be in one, nothing is noted. */
export function spreadOverLanes(store: Store, wanted: number): number {
  // A ticket that is named by its nftId here and by its ticketId there would be in two lanes.
  const kinds = store.all("SELECT DISTINCT substr(subject, 1, 1) FROM action WHERE verdict = 'new' AND subject > 'n'");
  if (kinds.length > 1) return 1;
  store.run("CREATE TABLE laned (seq INTEGER PRIMARY KEY, lane INTEGER NOT NULL, stage INTEGER NOT NULL)");
  /** By hash: lanes are numbered as they are first used. */
  const lanes = new Map<number, number>();
  store.define("laneOf", (subject) => {
    const hash = hashOf(subject) % wanted;
    const lane = lanes.get(hash) ?? lanes.size;
    lanes.set(hash, lane);
    return lane;
  });
  store.run(SPREAD);
  return Math.max(1, lanes.size);
}

/** FNV-1a */
function hashOf(subject: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < subject.length; at += 1) hash = Math.imul(hash ^ subject.charCodeAt(at), 0x01000193);
  return (hash ^ (hash >>> 15)) >>> 0;
}

/** What waits: for a bad row, or for another run. It spreads over rows, tickets and events until nothing changes. */

import type { SourceLine } from "../actions/problem.ts";
import type { RowsRead } from "./rows-read.ts";
import type { Store } from "./store.ts";
import { dependsOnBad } from "./words.ts";

/** A row that others wait for. */
export interface HeldFor extends SourceLine {
  rows: number;
  /** The first of the rows that wait. */
  readonly first: SourceLine[];
}

export interface Held {
  /** In the order in which their first row was held. */
  readonly heldFor: readonly HeldFor[];
  /** Actions that are in an unfinished run, or wait for it, by its id. */
  readonly heldBy: ReadonlyMap<string, number>;
  readonly rows: number;
}

/**
 * A row is sent whole or not at all. Behind an action that is not sent, nothing of its ticket or event is; before a bad one
 * nothing that is new, since what the bad one was is not known; no copy of it was sent; and nothing of an event that is not
 * registered for it.
 */
const NEXT = `
INSERT OR IGNORE INTO next (seq, why, cause)
WITH b AS (SELECT action.* FROM wave JOIN action USING (seq))
SELECT a.seq, b.why, b.cause FROM b CROSS JOIN action a ON a.row = b.row WHERE a.verdict = 'new'
UNION ALL
SELECT a.seq, b.why, b.cause FROM b CROSS JOIN action a ON a.subject = b.subject
WHERE a.verdict = 'new' AND ((b.verdict = 'bad' AND b.mark IS NULL) OR a.place > b.place)
UNION ALL
SELECT a.seq, b.why, b.cause FROM b CROSS JOIN action a ON a.subject = b.subject
WHERE b.verdict = 'bad' AND a.why = 'copy' AND a.kind = b.kind AND a.mark = b.mark
UNION ALL
SELECT a.seq, b.why, b.cause FROM b CROSS JOIN action a ON a.event = substr(b.subject, 3) JOIN event e ON e.id = a.event
WHERE b.kind = 'newEvent' AND a.verdict = 'new' AND a.kind = 'soldTicket' AND NOT (e.state ->> 'isKnown')
ORDER BY 1`;

/** @returns the rows and actions that wait. */
export function spreadHeld(store: Store, read: RowsRead): Held {
  store.run("CREATE INDEX by_row ON action (row)");
  store.run("CREATE INDEX by_subject ON action (subject)");
  store.run("CREATE INDEX by_event ON action (event) WHERE event IS NOT NULL");
  store.run("CREATE TABLE wave (seq INTEGER PRIMARY KEY)");
  store.run("CREATE TABLE next (seq INTEGER PRIMARY KEY, why TEXT, cause TEXT)");
  // A row is invalid whole.
  store.run(`UPDATE action SET verdict = 'bad', why = 'bad', cause = row
    WHERE verdict = 'bad' OR row IN (SELECT row FROM row WHERE state = 'invalid')`);
  store.run("INSERT INTO wave SELECT seq FROM action WHERE verdict IN ('bad', 'held')");
  while (store.run(NEXT) > 0) {
    store.run(
      "UPDATE action SET verdict = 'held', why = next.why, cause = next.cause FROM next WHERE next.seq = action.seq",
    );
    store.run("DELETE FROM wave");
    store.run("INSERT INTO wave SELECT seq FROM next");
    store.run("DELETE FROM next");
  }
  const rows = store.run(`INSERT INTO row (row, state) SELECT DISTINCT row, verdict FROM action WHERE verdict = 'held'
    ON CONFLICT (row) DO UPDATE SET state = excluded.state WHERE state IS NULL`);
  return { heldFor: reportHeld(store, read), heldBy: runsOf(store), rows };
}

/** As many causes, and rows of a cause, are shown with their place. */
const MOST_CAUSES = 1000;
const FIRST = 3;

/** One problem a row that waits for a bad one. @returns the bad ones. */
function reportHeld(store: Store, read: RowsRead): readonly HeldFor[] {
  const severity = read.problems.severityOf("depends-on-invalid") === "off" ? "off" : "error";
  const causes = new Map<number, HeldFor>();
  type Found = { row: number; subject: string; cause: number; place: number };
  const sql = `SELECT row, subject, CAST(cause AS INTEGER) AS cause, min(place) AS place FROM action
    WHERE verdict = 'held' AND why = 'bad' GROUP BY row ORDER BY row`;
  for (const batch of store.batches<Found>(sql))
    for (const { subject, cause, ...of } of batch) {
      const where = read.lineOf(cause);
      const bad = causes.get(cause) ?? { ...where, rows: 0, first: [] };
      if (causes.size < MOST_CAUSES) causes.set(cause, bad);
      bad.rows += 1;
      if (bad.first.length < FIRST) bad.first.push(read.lineOf(of.row));
      read.note(of, dependsOnBad(subject, where), severity);
    }
  return [...causes.values()];
}

function runsOf(store: Store): ReadonlyMap<string, number> {
  const sql = "SELECT cause, count(*) AS actions FROM action WHERE verdict = 'held' AND why = 'pending' GROUP BY cause";
  return new Map(store.all<{ cause: string; actions: number }>(sql).map(({ cause, actions }) => [cause, actions]));
}

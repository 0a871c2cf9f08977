/**
 * `--order time` (docs/nightly.md#the-same-export-again): each action gets a key, its time and the rank of its kind in one number.
 * Of equal keys, what is read first comes first.
 *
 * - An action that has an orderTime has that time.
 * - A sale whose ticket has an earlier action takes that action's time, so that it stands before what depends on it.
 * - A newEvent takes the earliest time of its event's sales.
 * - Any other action without an orderTime takes the latest key of those of its ticket (an updateEvent: of its event) that the
 *   input gives before it; where there is none, it stands behind the sale (the newEvent).
 * - What is left takes the last orderTime that the input gives before it.
 */

import { ACTION_NAMES, type ActionName, actionSpec } from "../actions/actions.ts";
import type { Store } from "./store.ts";

/** Keys with odd ranks are free for what stands right behind. */
const rankOf = (name: ActionName): number => 2 * actionSpec(name).rank;
const RANK = `CASE kind ${ACTION_NAMES.map((name) => `WHEN '${name}' THEN ${rankOf(name)}`).join(" ")} END`;
const STEP = 32;
const OWN_KEY = `clock * ${STEP} + ${RANK}`;

/** `role`: the first of its ticket or event leads; what has a time stands there; what has none follows. */
interface Group {
  /** Gives seq, id, place, role, and its own key. */
  readonly members: string;
  readonly leader: ActionName;
  /** The leader's key, by its own and by the earliest of those that stand. */
  readonly leads: string;
}

const TICKETS: Group = {
  members: `SELECT seq, subject AS id, place, ${OWN_KEY} AS key,
    CASE WHEN kind = 'soldTicket' THEN 'leads' WHEN time IS NULL THEN 'follows' ELSE 'stands' END AS role
    FROM action WHERE subject >= 'n'`,
  leader: "soldTicket",
  leads: "min(key, coalesce(earliest, key))",
};

/** With the sales of their tickets, whose keys are known. */
const EVENTS: Group = {
  members: `SELECT seq, substr(subject, 3) AS id, place, ${OWN_KEY} AS key,
    CASE kind WHEN 'newEvent' THEN 'leads' ELSE 'follows' END AS role FROM action WHERE subject < 'f'
    UNION ALL
    SELECT seq, event, place, key, 'stands' FROM action JOIN keyed USING (seq)
    WHERE kind = 'soldTicket' AND event IN (SELECT substr(subject, 3) FROM action WHERE subject < 'f')`,
  leader: "newEvent",
  leads: "coalesce(earliest, key)",
};

const keysOf = ({ members, leader, leads }: Group): string => `
INSERT OR IGNORE INTO keyed
WITH member AS (${members}),
seen AS (
  SELECT *, min(key - key % ${STEP} + ${rankOf(leader)}) FILTER (WHERE role = 'stands') OVER own AS earliest,
    count(*) FILTER (WHERE role = 'leads') OVER own AS leaders,
    count(*) FILTER (WHERE role <> 'follows') OVER (own ORDER BY place) AS before
  FROM member WINDOW own AS (PARTITION BY id)
),
placed AS (
  SELECT seq, id, place, role, CASE role WHEN 'leads' THEN ${leads} WHEN 'stands' THEN key
    ELSE iif(leaders = 0 AND before = 0, key, NULL) END AS key
  FROM seen
),
led AS (SELECT *, min(key) FILTER (WHERE role = 'leads') OVER (PARTITION BY id) AS leader FROM placed)
SELECT seq, iif(role = 'follows', coalesce(max(key) OVER (PARTITION BY id ORDER BY place), leader + 1), key) FROM led`;

export function orderByTime(store: Store): void {
  store.run("CREATE TABLE keyed (seq INTEGER PRIMARY KEY, key INTEGER)");
  store.run(keysOf(TICKETS));
  store.run(keysOf(EVENTS));
  takePlaces(store, `action JOIN keyed USING (seq) ORDER BY key, place`);
  store.run("DROP TABLE keyed");
}

/** Rows of rejects stand where they were first read, in whichever order the files have them; what has no position comes last. */
export function orderByPosition(store: Store): void {
  takePlaces(store, "action ORDER BY run IS NULL, run >= 0, abs(run), at, seq");
}

function takePlaces(store: Store, ordered: string): void {
  store.run("CREATE TABLE sorted (place INTEGER PRIMARY KEY, seq INTEGER NOT NULL)");
  store.run(`INSERT INTO sorted (seq) SELECT seq FROM ${ordered}`);
  store.run("UPDATE action SET place = sorted.place FROM sorted WHERE sorted.seq = action.seq");
  store.run("DROP TABLE sorted");
}

/**
 * `--order time` (docs/nightly.md#the-same-export-again): actions are sorted by their time and by the place of their kind in the
 * table of actions; of equal ones, what is read first comes first.
 *
 * - An action that has an orderTime has that time.
 * - A sale whose ticket has an earlier action takes that action's time, so that it stands before what depends on it.
 * - A newEvent takes the earliest time of its event's sales.
 * - Any other action without an orderTime stands directly behind the latest of those of its ticket (an updateEvent: of its
 *   event) that the input gives before it; where there is none, behind the sale (the newEvent).
 * - What is left takes the last orderTime that the input gives before it.
 */

import { ACTION_NAMES, type ActionName } from "../actions/actions.ts";
import type { Store } from "./store.ts";

const RANK = `CASE kind ${ACTION_NAMES.map((name, rank) => `WHEN '${name}' THEN ${rank}`).join(" ")} END`;
const RANKS = 16;
const OWN_KEY = `clock * ${RANKS} + ${RANK}`;

/** The actions of each ticket, or of each event: one leads, what has a time stands there, what has none follows. */
interface Group {
  /** Gives seq, id, place, role, and the key that an action has by itself. */
  readonly actions: string;
  readonly leader: ActionName;
  /** The leader's key, by its own and by the earliest of those that stand. */
  readonly leads: string;
}

const TICKETS: Group = {
  actions: `SELECT seq, subject AS id, place, ${OWN_KEY} AS key,
    CASE WHEN kind = 'soldTicket' THEN 'leads' WHEN time IS NULL THEN 'follows' ELSE 'stands' END AS role
    FROM action WHERE subject >= 'n'`,
  leader: "soldTicket",
  leads: "min(key, coalesce(earliest, key))",
};

/** With the sales of their tickets, whose keys are known. */
const EVENTS: Group = {
  actions: `SELECT seq, subject AS id, place, ${OWN_KEY} AS key,
    CASE kind WHEN 'newEvent' THEN 'leads' ELSE 'follows' END AS role FROM action WHERE subject < 'f'
    UNION ALL
    SELECT seq, 'e:' || event, action.place, key, 'stands' FROM action JOIN member USING (seq)
    WHERE kind = 'soldTicket' AND 'e:' || event IN (SELECT subject FROM action WHERE subject < 'f')`,
  leader: "newEvent",
  leads: "coalesce(earliest, key)",
};

const addMembers = ({ actions, leader, leads }: Group): string => `
INSERT INTO member
WITH one AS (${actions}),
seen AS (
  SELECT *, min(key - key % ${RANKS} + ${ACTION_NAMES.indexOf(leader)}) FILTER (WHERE role = 'stands') OVER own AS earliest,
    count(*) FILTER (WHERE role = 'leads') OVER own AS leaders, row_number() OVER (own ORDER BY place) AS nth
  FROM one WINDOW own AS (PARTITION BY id)
)
SELECT seq, id, place, role, CASE
  WHEN role = 'leads' THEN ${leads}
  WHEN role = 'stands' OR (leaders = 0 AND nth = 1) THEN key END
FROM seen`;

const BY_TIME = `
WITH keyed AS (SELECT *, iif(key IS NULL, NULL, dense_rank() OVER (ORDER BY key, place)) AS spot FROM member),
spotted AS (
  SELECT seq, place, key IS NULL AS follows, role = 'stands' AND id < 'f' AS isAgain,
    coalesce(spot, max(spot) OVER (own ORDER BY place), min(spot) FILTER (WHERE role = 'leads') OVER own) AS spot
  FROM keyed WINDOW own AS (PARTITION BY id)
)
SELECT seq FROM spotted WHERE NOT isAgain ORDER BY spot, follows, place`;

export function orderByTime(store: Store): void {
  store.run("CREATE TABLE member (seq INTEGER, id TEXT, place INTEGER, role TEXT, key INTEGER)");
  store.run(addMembers(TICKETS));
  store.run("CREATE INDEX member_by_seq ON member (seq)");
  store.run(addMembers(EVENTS));
  takePlaces(store, BY_TIME);
  store.run("DROP TABLE member");
}

/** Rows of rejects stand where they were first read, in whichever order the files have them; what has no position comes last. */
export function orderByPosition(store: Store): void {
  takePlaces(
    store,
    "SELECT seq FROM action WHERE subject IS NOT NULL ORDER BY run IS NULL, run >= 0, abs(run), at, seq",
  );
}

/** @param ordered gives each action's seq. */
function takePlaces(store: Store, ordered: string): void {
  store.run("CREATE TABLE sorted (place INTEGER PRIMARY KEY, seq INTEGER NOT NULL)");
  store.run(`INSERT INTO sorted (seq) ${ordered}`);
  store.run("UPDATE action SET place = sorted.place FROM sorted WHERE sorted.seq = action.seq");
  store.run("DROP TABLE sorted");
}

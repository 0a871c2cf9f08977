/**
 * `--order time` (docs/nightly.md#the-same-export-again): each action gets a place: a time, the rank of its kind, and where it stands in the input.
 *
 * - An action that has an orderTime has that time.
 * - A sale whose ticket has an earlier action takes that action's time, so that it stands before what depends on it.
 * - A newEvent takes the earliest time of its event's sales.
 * - Any other action without an orderTime stands directly behind the latest of those of its ticket (an updateEvent: of its
 *   event) that the input gives before it; where there is none, behind the sale (the newEvent).
 * - What is left takes the last orderTime that the input gives before it.
 */

import { ACTION_NAMES, type ActionName, actionSpec } from "../actions/actions.ts";
import type { Store } from "./store.ts";

interface Place {
  readonly time: number;
  readonly rank: number;
  /** Of the action whose place it is, as it stood before. */
  readonly anchor: number;
}

/** An action at its own place. */
interface Placed extends Place {
  readonly seq: number;
  readonly kind: ActionName;
  readonly isTimed: boolean;
}

const RANK = `CASE kind ${ACTION_NAMES.map((name) => `WHEN '${name}' THEN ${actionSpec(name).rank}`).join(" ")} END`;

export function orderByTime(store: Store, signal: AbortSignal): void {
  store.run(`CREATE TABLE moved (
    seq INTEGER PRIMARY KEY, time INTEGER NOT NULL, rank INTEGER NOT NULL, anchor INTEGER NOT NULL, follows INTEGER NOT NULL)`);
  const move = store.prepare("INSERT OR REPLACE INTO moved VALUES (?, ?, ?, ?, ?)");
  const put = (seq: number, { time, rank, anchor }: Place, follows: boolean): void => {
    move.run(seq, time, rank, anchor, follows ? 1 : 0);
  };
  placeTickets(store, put, signal);
  placeEvents(store, put, signal);
  store.run("CREATE TABLE sorted (place INTEGER PRIMARY KEY, seq INTEGER NOT NULL)");
  store.run(`INSERT INTO sorted (seq) SELECT action.seq FROM action LEFT JOIN moved USING (seq)
    ORDER BY coalesce(moved.time, clock), coalesce(moved.rank, ${RANK}), coalesce(moved.anchor, action.place),
    coalesce(follows, 0), action.place`);
  takePlaces(store);
  for (const table of ["moved", "earliest"]) store.run(`DROP TABLE ${table}`);
}

/** Rows of rejects stand where they were first read, in whichever order the files have them; what has no position comes last. */
export function orderByPosition(store: Store): void {
  store.run("CREATE TABLE sorted (place INTEGER PRIMARY KEY, seq INTEGER NOT NULL)");
  store.run(`INSERT INTO sorted (seq) SELECT seq FROM action ORDER BY run IS NULL, run >= 0, abs(run), at, seq`);
  takePlaces(store);
}

function takePlaces(store: Store): void {
  store.run("UPDATE action SET place = sorted.place FROM sorted WHERE sorted.seq = action.seq");
  store.run("DROP TABLE sorted");
}

type Put = (seq: number, place: Place, follows: boolean) => void;
type OfTicket = readonly [
  ...[subject: string, seq: number, place: number, kind: ActionName],
  ...[time: number | null, clock: number],
];

function placeTickets(store: Store, put: Put, signal: AbortSignal): void {
  const sql = "SELECT subject, seq, place, kind, time, clock FROM action WHERE subject >= 'n' ORDER BY subject, place";
  let actions: Placed[] = [];
  let ofTicket: string | undefined;
  for (const batch of store.tuples<OfTicket>(sql)) {
    signal.throwIfAborted();
    for (const [subject, seq, place, kind, time, clock] of batch) {
      if (subject !== ofTicket) {
        placeTicket(actions, put);
        actions = [];
        ofTicket = subject;
      }
      actions.push({ seq, time: clock, rank: actionSpec(kind).rank, anchor: place, kind, isTimed: time !== null });
    }
  }
  placeTicket(actions, put);
}

/** Places the actions of one ticket, given in the order of the input. */
function placeTicket(actions: readonly Placed[], put: Put): void {
  const { least, sale } = dependencies(actions);
  let latest: Place | undefined;
  for (const action of actions) {
    const isSale = action.kind === "soldTicket";
    const followed = isSale || action.isTimed ? undefined : (latest ?? sale);
    const place = followed ?? (isSale ? notAfter(action, least) : action);
    if (latest === undefined || isAfter(place, latest)) latest = place;
    if (place !== action) put(action.seq, place, followed !== undefined);
  }
}

/** The earliest time of what depends on the ticket's sale, and the place of its first sale; the one may move the other. */
function dependencies(actions: readonly Placed[]): {
  readonly least: number | undefined;
  readonly sale: Place | undefined;
} {
  let least: number | undefined;
  let sale: Place | undefined;
  for (const action of actions) {
    if (action.kind === "soldTicket") {
      if (sale === undefined || isAfter(sale, action)) sale = action;
    } else if (action.isTimed && (least === undefined || action.time < least)) least = action.time;
  }
  return { least, sale: sale && notAfter(sale, least) };
}

/** Own actions of events, and the sales between them, which they stand behind. */
const OF_EVENTS = `
SELECT id, seq, kind, coalesce(moved.time, clock), coalesce(moved.rank, ${RANK}), coalesce(anchor, place), earliest, first, firstAt
FROM (
  SELECT substr(subject, 3) AS id, action.* FROM action WHERE subject < 'f'
  UNION ALL
  SELECT event AS id, action.* FROM action WHERE kind = 'soldTicket' AND event IN (SELECT substr(subject, 3) FROM action WHERE subject < 'f')
)
LEFT JOIN moved USING (seq) LEFT JOIN earliest USING (id)
LEFT JOIN (SELECT substr(subject, 3) AS id, min(place) AS first, clock AS firstAt FROM action WHERE kind = 'newEvent' GROUP BY 1)
USING (id)
ORDER BY id, place`;
type OfEvent = readonly [
  ...[id: string, seq: number, kind: ActionName, time: number, rank: number, anchor: number],
  ...[earliest: number | null, first: number | null, firstAt: number | null],
];

function placeEvents(store: Store, put: Put, signal: AbortSignal): void {
  store.run(`CREATE TABLE earliest AS SELECT event AS id, min(coalesce(moved.time, clock)) AS earliest
    FROM action LEFT JOIN moved USING (seq) WHERE kind = 'soldTicket' AND event IS NOT NULL GROUP BY event`);
  let latest: Place | undefined;
  let ofEvent: string | undefined;
  for (const batch of store.tuples<OfEvent>(OF_EVENTS)) {
    signal.throwIfAborted();
    for (const [id, seq, kind, time, rank, anchor, earliest, first, firstAt] of batch) {
      if (id !== ofEvent) latest = undefined;
      ofEvent = id;
      const own: Place = { time, rank, anchor };
      const newEvent =
        first === null
          ? undefined
          : { time: earliest ?? firstAt ?? 0, rank: actionSpec("newEvent").rank, anchor: first };
      const followed = kind === "updateEvent" ? (latest ?? newEvent) : undefined;
      const place = followed ?? (kind === "newEvent" && earliest !== null ? { ...own, time: earliest } : own);
      if (latest === undefined || isAfter(place, latest)) latest = place;
      if (place !== own) put(seq, place, followed !== undefined);
    }
  }
}

function isAfter(one: Place, other: Place): boolean {
  if (one.time !== other.time) return one.time > other.time;
  return one.rank === other.rank ? one.anchor > other.anchor : one.rank > other.rank;
}

/** The place, at `time` where that is earlier. */
const notAfter = (place: Place, time: number | undefined): Place =>
  time === undefined || place.time <= time ? place : { ...place, time };

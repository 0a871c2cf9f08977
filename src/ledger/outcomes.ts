/** What became of single actions. */

import type { SQLInputValue } from "node:sqlite";
import type { Ledger, SqlRow } from "./ledger.ts";
import { sqlList } from "./sql-list.ts";
import { type Outcome, SETTLED_STATES, TAKEN_OUTCOMES } from "./states.ts";

/** Outcomes that mean the service has the action, for SQL. */
export const TAKEN = sqlList(TAKEN_OUTCOMES);

/** Status of an action that was closed unsent because a later one of its history was taken. */
export const SUPERSEDED = "superseded";

/** Status of an action that was closed unsent because another run had sent it meanwhile. */
export const SENT_ELSEWHERE = "sent-elsewhere";

/** What has a place among the deeds of its history: the service answered it, or it was closed unsent when its turn had come. For SQL. */
export const TRIED = `status <> '${SENT_ELSEWHERE}'`;

export interface OutcomeRow {
  /** Place in the plan, from 1. */
  readonly seq: number;
  readonly chunk: number;
  readonly source: string;
  readonly line: number;
  readonly action: string;
  /** The action's data as it was sent, JSON text. */
  readonly data: string;
  readonly eventId?: string | undefined;
  readonly ticketId?: string | undefined;
  readonly nftId?: string | undefined;
  readonly outcome: Outcome;
  /** The service's status of the item; for what a person settled, `settled-by-hand`. */
  readonly status: string;
  readonly actionPromise?: string | undefined;
  /** The service's whole item as JSON text, for everything but an accepted action. */
  readonly response?: string | undefined;
  /** When the answer came, UTC in ISO 8601. */
  readonly at: string;
}

/** An outcome with the digests by which the same deed is recognised. */
export interface NewOutcome extends Omit<OutcomeRow, "data"> {
  /** JSON text, or its bytes. */
  readonly data: string | Uint8Array;
  readonly identity: Uint8Array;
  readonly content: Uint8Array;
}

const COLUMNS_IN =
  "run_no, seq, chunk, source, line, action, data, outcome, status, action_promise, response, at, identity, content";
const INSERT_ONE = `INSERT INTO actions (${COLUMNS_IN}) VALUES (?, ?, ?, ?, ?, ?, CAST(? AS TEXT), ?, ?, ?, ?, ?, ?, ?)`;

/** Rows per statement. Each value and each call costs as much as SQLite's own work, so what rows share is given once. */
const ROWS = 50;
const INSERT_ALIKE = `INSERT INTO actions (${COLUMNS_IN})
SELECT run_no, column1, chunk, source, column2, action, CAST(column3 AS TEXT), outcome, status, column4, NULL, at, column5, column6
FROM (SELECT ? AS run_no, ? AS chunk, ? AS source, ? AS action, ? AS outcome, ? AS status, ? AS at),
(VALUES ${Array<string>(ROWS).fill("(?, ?, ?, ?, ?, ?)").join(", ")})`;

/** Part of a transaction. */
export function insertOutcomes(ledger: Ledger, runNo: number, rows: readonly NewOutcome[]): void {
  for (let from = 0; from < rows.length; ) {
    const alike = countAlike(rows, from);
    if (alike === ROWS) insertAlike(ledger, runNo, rows, from);
    else for (const row of rows.slice(from, from + alike)) insertOne(ledger, runNo, row);
    from += alike;
  }
  tally(ledger, runNo, rows);
}

/** How many of the next rows, at most `ROWS`, differ only in what `INSERT_ALIKE` takes for each. */
function countAlike(rows: readonly NewOutcome[], from: number): number {
  const first = rows[from];
  let end = from;
  for (; end < rows.length && end < from + ROWS; end += 1) {
    const row = rows[end];
    const isAlike =
      row !== undefined &&
      first !== undefined &&
      row.response === undefined &&
      row.chunk === first.chunk &&
      row.source === first.source &&
      row.action === first.action &&
      row.outcome === first.outcome &&
      row.status === first.status &&
      row.at === first.at;
    if (!isAlike) break;
  }
  return Math.max(1, end - from);
}

function insertAlike(ledger: Ledger, runNo: number, rows: readonly NewOutcome[], from: number): void {
  const values: SQLInputValue[] = [];
  for (let at = from; at < from + ROWS; at += 1) {
    const row = rows[at];
    if (row === undefined) throw new Error("fewer rows are alike than were counted");
    if (at === from) values.push(runNo, row.chunk, row.source, row.action, row.outcome, row.status, row.at);
    values.push(row.seq, row.line, row.data, row.actionPromise ?? null, row.identity, row.content);
  }
  ledger.run(INSERT_ALIKE, ...values);
}

function insertOne(ledger: Ledger, runNo: number, row: NewOutcome): void {
  const { seq, chunk, source, line, action, data, outcome, status, at, identity, content } = row;
  const [promise, response] = [row.actionPromise ?? null, row.response ?? null];
  const values = [seq, chunk, source, line, action, data, outcome, status, promise, response, at, identity, content];
  ledger.run(INSERT_ONE, runNo, ...values);
}

function tally(ledger: Ledger, runNo: number, rows: readonly NewOutcome[]): void {
  const counts = new Map<string, { readonly row: NewOutcome; actions: number }>();
  for (let from = 0; from < rows.length; ) {
    const alike = countAlike(rows, from);
    const row = rows[from];
    if (row === undefined) break;
    const key = `${row.chunk} ${row.action} ${row.outcome}`;
    const count = counts.get(key);
    if (count === undefined) counts.set(key, { row, actions: alike });
    else count.actions += alike;
    from += alike;
  }
  const sql = `INSERT INTO tallies (run_no, chunk, action, outcome, actions) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET actions = actions + excluded.actions`;
  for (const { row, actions } of counts.values()) ledger.run(sql, runNo, row.chunk, row.action, row.outcome, actions);
}

/** What `toOutcome` reads. */
export const OUTCOME_COLUMNS =
  "seq, chunk, source, line, action, data, event_id, ticket_id, nft_id, outcome, status, action_promise, response, at";

export const toOutcome = (row: SqlRow): OutcomeRow => {
  const text = (column: string): string | undefined => (row[column] === null ? undefined : String(row[column]));
  return {
    seq: Number(row.seq),
    chunk: Number(row.chunk),
    source: String(row.source),
    line: Number(row.line),
    action: String(row.action),
    data: String(row.data),
    eventId: text("event_id"),
    ticketId: text("ticket_id"),
    nftId: text("nft_id"),
    outcome: String(row.outcome) as Outcome, // the table's CHECK holds it to these
    status: text("status") ?? "",
    actionPromise: text("action_promise"),
    response: text("response"),
    at: String(row.at),
  };
};

/** The outcomes of one chunk in the order of the plan. */
export function outcomesOfChunk(ledger: Ledger, runNo: number, chunk: number): readonly OutcomeRow[] {
  // By the chunk's range in the plan, which the primary key finds; an index by chunk would cost every insert.
  const sql = `SELECT ${OUTCOME_COLUMNS} FROM actions
    WHERE run_no = ? AND chunk = ?
    AND seq >= (SELECT first FROM chunks WHERE run_no = ? AND chunk = ?)
    AND seq < (SELECT first + count FROM chunks WHERE run_no = ? AND chunk = ?)
    ORDER BY seq`;
  return ledger.all(sql, runNo, chunk, runNo, chunk, runNo, chunk).map(toOutcome);
}

/** What leaves the row open: the service rejected it, or it was not sent, by any run. */
const OPEN: readonly Outcome[] = ["rejected", "not sent"];

/** The outcomes of a chunk that leave their rows open. */
export function openOutcomesOfChunk(ledger: Ledger, runNo: number, chunk: number): readonly OutcomeRow[] {
  const sql = `SELECT 1 AS one FROM tallies
    WHERE run_no = ? AND chunk = ? AND outcome IN (SELECT value FROM json_each(?)) LIMIT 1`;
  if (ledger.get(sql, runNo, chunk, JSON.stringify(OPEN)) === undefined) return [];
  const outcomes = outcomesOfChunk(ledger, runNo, chunk);
  return outcomes.filter(({ outcome, status }) => OPEN.includes(outcome) && status !== SENT_ELSEWHERE);
}

/** Whether the run leaves rows open. */
export function leavesOpen(ledger: Ledger, runNo: number): boolean {
  return chunksWith(ledger, runNo, OPEN).some((chunk) => openOutcomesOfChunk(ledger, runNo, chunk).length > 0);
}

/** Chunks that have outcomes but are not noted as written to the promises, in order. */
export function unprojectedChunks(ledger: Ledger, runNo: number): readonly number[] {
  const sql = `SELECT chunk FROM chunks
    WHERE run_no = ? AND projected = 0 AND state IN ${sqlList(SETTLED_STATES)} ORDER BY first, chunk`;
  return ledger.all(sql, runNo).map(({ chunk }) => Number(chunk));
}

/** The outcomes of a run in the order of the plan, a page at a time. */
export function* outcomesOfRun(ledger: Ledger, runNo: number): Generator<readonly OutcomeRow[]> {
  const sql = `SELECT ${OUTCOME_COLUMNS} FROM actions WHERE run_no = ? AND seq > ? ORDER BY seq LIMIT 5000`;
  let page = ledger.all(sql, runNo, 0).map(toOutcome);
  for (let last = page.at(-1); last !== undefined; last = page.at(-1)) {
    yield page;
    page = ledger.all(sql, runNo, last.seq).map(toOutcome);
  }
}

/** The first outcomes of a run of the given kinds. */
export function firstOutcomes(
  ledger: Ledger,
  runNo: number,
  outcomes: readonly Outcome[],
  limit: number,
): readonly OutcomeRow[] {
  const found: OutcomeRow[] = [];
  for (const chunk of chunksWith(ledger, runNo, outcomes)) {
    if (found.length >= limit) break;
    found.push(...outcomesOfChunk(ledger, runNo, chunk).filter(({ outcome }) => outcomes.includes(outcome)));
  }
  return found.slice(0, limit);
}

/** The chunks that have actions of the given outcomes, in the order of the plan. */
function chunksWith(ledger: Ledger, runNo: number, outcomes: readonly Outcome[]): readonly number[] {
  const sql = `SELECT chunk FROM chunks WHERE run_no = ? AND chunk IN
    (SELECT chunk FROM tallies WHERE run_no = ? AND outcome IN (SELECT value FROM json_each(?))) ORDER BY first, chunk`;
  return ledger.all(sql, runNo, runNo, JSON.stringify(outcomes)).map(({ chunk }) => Number(chunk));
}

/** What became of an action, where that is known. */
export function outcomeAt(ledger: Ledger, runNo: number, seq: number): OutcomeRow | undefined {
  const row = ledger.get(`SELECT ${OUTCOME_COLUMNS} FROM actions WHERE run_no = ? AND seq = ?`, runNo, seq);
  return row && toOutcome(row);
}

/** Whether it is known what became of an action. */
export const hasOutcome = (ledger: Ledger, runNo: number, seq: number): boolean =>
  ledger.get("SELECT 1 AS one FROM actions WHERE run_no = ? AND seq = ?", runNo, seq) !== undefined;

/** The actions of a run that have outcomes, from a number to before another. */
export const decidedWithin = (ledger: Ledger, runNo: number, first: number, end: number): ReadonlySet<number> =>
  numbersIn(ledger.all("SELECT seq FROM actions WHERE run_no = ? AND seq >= ? AND seq < ?", runNo, first, end));

/** The same of those that the service has: at most so many. */
export const takenWithin = (
  ledger: Ledger,
  runNo: number,
  { first, end, most }: Readonly<Record<"first" | "end" | "most", number>>,
): ReadonlySet<number> =>
  numbersIn(
    ledger.all(
      `SELECT seq FROM actions WHERE run_no = ? AND seq >= ? AND seq < ? AND outcome IN ${TAKEN} LIMIT ?`,
      ...[runNo, first, end, most],
    ),
  );

const numbersIn = (rows: readonly SqlRow[]): ReadonlySet<number> => new Set(rows.map(({ seq }) => Number(seq)));

/** Number of the run's last action that was taken; 0 for none. */
export function lastTaken(ledger: Ledger, runNo: number): number {
  const sql = `SELECT seq FROM actions WHERE run_no = ? AND outcome IN ${TAKEN} ORDER BY seq DESC LIMIT 1`;
  return Number(ledger.get(sql, runNo)?.seq ?? 0);
}

/** A deed that the service has. */
export interface TakenDeed {
  readonly run: string;
  /** Unique to the deed. */
  readonly place: string;
  readonly content: Buffer;
}

/** Deeds of an identity that other runs have sent since a time, in their order. */
export function takenSince(ledger: Ledger, identity: Buffer, runNo: number, since: string): readonly TakenDeed[] {
  const sql = `SELECT run, seq, identities.content AS content
    FROM identities JOIN actions USING (run_no, seq) JOIN runs USING (run_no)
    WHERE identities.identity = ? AND taken = 1 AND run_no <> ? AND at > ? ORDER BY run_no, seq`;
  return ledger.all(sql, identity, runNo, since).map(({ run, seq, content }) => ({
    run: String(run),
    place: `${run} ${seq}`,
    content: Buffer.from(content as Uint8Array), // a BLOB NOT NULL column
  }));
}

/** The promises that a run was given, those of items in doubt too. */
export function* promisesGiven(ledger: Ledger, runNo: number): Generator<string> {
  const rows = ledger.iterate(
    `SELECT action_promise FROM actions WHERE run_no = ? AND action_promise IS NOT NULL
     UNION ALL SELECT response ->> 'actionPromise' FROM doubted_items WHERE run_no = ? AND json_type(response, '$.actionPromise') = 'text'`,
    runNo,
    runNo,
  );
  for (const { action_promise } of rows) yield String(action_promise);
}

/** How many outcomes of a run are of each action. */
export function countByAction(ledger: Ledger, runNo: number): Readonly<Record<string, number>> {
  const counts = ledger.all("SELECT action, sum(actions) AS n FROM tallies WHERE run_no = ? GROUP BY action", runNo);
  return Object.fromEntries(counts.map(({ action, n }) => [String(action), Number(n)]));
}

/** The actions of a chunk that have rows of their own: where each came from, and its data as it was sent. */
export function placesOfChunk(
  ledger: Ledger,
  runNo: number,
  chunk: number,
): readonly Pick<OutcomeRow, "source" | "line" | "action" | "data">[] {
  const sql = "SELECT source, line, action, data FROM actions WHERE run_no = ? AND chunk = ? ORDER BY seq";
  return ledger.all(sql, runNo, chunk).map(({ source, line, action, data }) => ({
    source: String(source),
    line: Number(line),
    action: String(action),
    data: String(data),
  }));
}

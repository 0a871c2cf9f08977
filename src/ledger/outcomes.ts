/** What became of single actions. */

import { isJsonObject } from "../actions/exact-number.ts";
import { parseJson } from "../actions/json.ts";
import type { Ledger, SqlRow } from "./ledger.ts";
import type { OutcomeFacts } from "./new-outcomes.ts";
import { fieldsOf, type SentAction } from "./sent-action.ts";
import { sqlList } from "./sql-list.ts";
import { DECIDED_STATES, type Outcome, PERHAPS_TAKEN_STATES, SETTLED_STATES, TAKEN_OUTCOMES } from "./states.ts";

/** Outcomes that mean the service has the action, for SQL. */
export const TAKEN = sqlList(TAKEN_OUTCOMES);

export const isTaken = (outcome: Outcome): boolean => TAKEN_OUTCOMES.some((taken) => taken === outcome);

/** Chunks whose outcomes are final and not yet among the deeds, for SQL. */
export const UNMERGED = `merged = 0 AND state IN ${sqlList(DECIDED_STATES)}`;

/** Status of an action that was closed unsent because a later one of its history was taken. */
export const SUPERSEDED = "superseded";

export interface OutcomeRow extends OutcomeFacts {
  /** The action's data as it was sent, JSON text. */
  readonly data: string;
  readonly eventId?: string | undefined;
  readonly ticketId?: string | undefined;
  readonly nftId?: string | undefined;
  readonly userId?: string | undefined;
}

const COLUMNS = "seq, chunk, source, line, action, data, outcome, status, action_promise, response, at";

function toOutcome(row: SqlRow): OutcomeRow {
  const { eventId, ticketId, nftId, userId } = fieldsOf(String(row.data));
  return {
    seq: Number(row.seq),
    chunk: Number(row.chunk),
    source: String(row.source),
    line: Number(row.line),
    action: String(row.action),
    outcome: String(row.outcome) as Outcome, // the table's CHECK holds it to these
    status: String(row.status),
    actionPromise: row.action_promise === null ? undefined : String(row.action_promise),
    response: row.response === null ? undefined : String(row.response),
    at: String(row.at),
    data: String(row.data),
    ...{ eventId, ticketId, nftId, userId },
  };
}

const toSent = ({ action, data }: SqlRow): SentAction => ({
  action: String(action) as SentAction["action"], // written by the planner, or read from a promises file that was checked
  data: String(data),
});

/** An action that is not among the deeds yet. */
export interface UnmergedAction {
  readonly seq: number;
  readonly source: string;
  readonly outcome: Outcome;
  readonly status: string;
  readonly sent: SentAction;
  readonly identity: Buffer;
  readonly content: Buffer;
}

/** Chunks of a run that are to be merged. */
export const chunksToMerge = (ledger: Ledger, runNo: number): readonly SqlRow[] =>
  ledger.all(`SELECT chunk, first, first + count AS "end" FROM chunks WHERE run_no = ? AND ${UNMERGED}`, runNo);

/** What they have, in the order of the plan, a page at a time. */
export function* unmergedActions(
  ledger: Ledger,
  runNo: number,
  chunks = chunksToMerge(ledger, runNo),
): Generator<readonly UnmergedAction[]> {
  const numbers = new Set(chunks.map(({ chunk }) => Number(chunk)));
  const first = chunks.reduce((least, chunk) => Math.min(least, Number(chunk.first)), Number.MAX_SAFE_INTEGER);
  const end = chunks.reduce((most, chunk) => Math.max(most, Number(chunk.end)), 0);
  for (let after = first - 1; after < end; ) {
    const page = ledger.all(UNMERGED_PAGE, runNo, after, end);
    yield page.filter(({ chunk }) => numbers.has(Number(chunk))).map(toUnmerged);
    if (page.length < MERGED_AT_ONCE) return;
    after = Number(page.at(-1)?.seq);
  }
}

const MERGED_AT_ONCE = 5000;
const UNMERGED_PAGE = `SELECT seq, chunk, source, action, data, outcome, status, identity, content FROM actions
  WHERE run_no = ? AND seq > ? AND seq < ? ORDER BY seq LIMIT ${MERGED_AT_ONCE}`;

const toUnmerged = (row: SqlRow): UnmergedAction => ({
  seq: Number(row.seq),
  source: String(row.source),
  outcome: String(row.outcome) as Outcome, // the table's CHECK holds it to these
  status: String(row.status),
  sent: toSent(row),
  identity: Buffer.from(row.identity as Uint8Array), // BLOB NOT NULL columns
  content: Buffer.from(row.content as Uint8Array),
});

/** A part of a chunk may be a chunk of its own now. */
const OUTCOMES_OF_CHUNK = `SELECT ${COLUMNS} FROM chunks JOIN actions USING (run_no, chunk)
  WHERE run_no = ? AND chunk = ? AND seq >= first AND seq < first + count ORDER BY seq`;

/** The outcomes of one chunk in the order of the plan. */
export const outcomesOfChunk = (ledger: Ledger, runNo: number, chunk: number): readonly OutcomeRow[] =>
  ledger.all(OUTCOMES_OF_CHUNK, runNo, chunk).map(toOutcome);

/** What leaves the row open: the service rejected it, or it was not sent, by any run. */
const OPEN: readonly Outcome[] = ["rejected", "not sent"];

/** The outcomes of a chunk that leave their rows open. */
export function openOutcomesOfChunk(ledger: Ledger, runNo: number, chunk: number): readonly OutcomeRow[] {
  const sql = `SELECT 1 AS one FROM tallies
    WHERE run_no = ? AND chunk = ? AND outcome IN (SELECT value FROM json_each(?)) LIMIT 1`;
  if (ledger.get(sql, runNo, chunk, JSON.stringify(OPEN)) === undefined) return [];
  const outcomes = outcomesOfChunk(ledger, runNo, chunk);
  return outcomes.filter(({ outcome }) => OPEN.includes(outcome));
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

/** How many lines a chunk has among the promises. */
export const linesOfChunk = (ledger: Ledger, runNo: number, chunk: number): number =>
  Number(ledger.get(LINES, runNo, chunk)?.n);

const LINES = `SELECT coalesce(sum(actions), 0) AS n FROM tallies WHERE run_no = ? AND chunk = ? AND outcome <> 'not sent'`;

/** The outcomes of a run in the order of the plan, a page at a time. */
export function* outcomesOfRun(ledger: Ledger, runNo: number): Generator<readonly OutcomeRow[]> {
  for (let after = 0; ; ) {
    const page = ledger.all(PAGE_OF_RUN, runNo, after);
    if (page.length > 0) yield page.map(toOutcome);
    if (page.length < PAGE) return;
    after = Number(page.at(-1)?.seq);
  }
}

const PAGE = 500;
const PAGE_OF_RUN = `SELECT ${COLUMNS} FROM actions WHERE run_no = ? AND seq > ? ORDER BY seq LIMIT ${PAGE}`;

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
  const row = ledger.get(OUTCOME_AT, runNo, seq);
  return row && toOutcome(row);
}

const OUTCOME_AT = `SELECT ${COLUMNS} FROM actions WHERE run_no = ? AND seq = ?`;

/** An action that has an outcome, as it was sent. */
export function sentAt(ledger: Ledger, runNo: number, seq: number): SentAction | undefined {
  const row = ledger.get("SELECT action, data FROM actions WHERE run_no = ? AND seq = ?", runNo, seq);
  return row && toSent(row);
}

/** Rows that name actions by `run_no` and `seq`, each with its action; without those that have no outcome. */
export const withActions = <T extends SqlRow>(ledger: Ledger, rows: readonly T[]): readonly (T & SentAction)[] =>
  rows.flatMap((row) => {
    const sent = sentAt(ledger, Number(row.run_no), Number(row.seq));
    return sent === undefined ? [] : [{ ...row, ...sent }];
  });

/** Whether it is known what became of an action. */
export const hasOutcome = (ledger: Ledger, runNo: number, seq: number): boolean =>
  ledger.get("SELECT 1 AS one FROM actions WHERE run_no = ? AND seq = ?", runNo, seq) !== undefined;

/** SQL: a column of an action; NULL where it has no outcome. */
const ofAction = (column: string, runNo: string, seq: string): string =>
  `(SELECT held.${column} FROM actions AS held WHERE held.run_no = ${runNo} AND held.seq = ${seq})`;

/**
 * SQL: what became of an action; NULL where it has no outcome.
 *
 * @param runNo with `seq` its place: columns with the names of their tables, since this looks into a table that has such too.
 */
export const outcomeOf = (runNo: string, seq: string): string => ofAction("outcome", runNo, seq);

/** Whether something of a run, from an action to before another, was sent: it was answered, or may have been taken. */
export const wasSentWithin = (ledger: Ledger, runNo: number, first: number, end: number): boolean =>
  [PERHAPS_TAKEN, ANSWERED].some((sql) => ledger.get(sql, runNo, first, end) !== undefined);

const PERHAPS_TAKEN = `SELECT 1 AS one FROM chunks
  WHERE run_no = ? AND first >= ? AND first < ? AND state IN ${sqlList(PERHAPS_TAKEN_STATES)} LIMIT 1`;
const ANSWERED =
  "SELECT 1 AS one FROM actions WHERE run_no = ? AND seq >= ? AND seq < ? AND outcome <> 'not sent' LIMIT 1";

/** The actions of a run within these that the service has: at most so many. */
export function takenWithin(
  ledger: Ledger,
  runNo: number,
  { first, end, most }: Readonly<Record<"first" | "end" | "most", number>>,
): ReadonlySet<number> {
  return new Set(ledger.all(TAKEN_WITHIN, runNo, first, end, most).map(({ seq }) => Number(seq)));
}

const TAKEN_WITHIN = `SELECT seq FROM actions
  WHERE run_no = ? AND seq >= ? AND seq < ? AND outcome IN ${TAKEN} ORDER BY seq LIMIT ?`;

/** Number of the run's last action that was taken; 0 for none. */
export const lastTaken = (ledger: Ledger, runNo: number): number => Number(ledger.get(LAST_TAKEN, runNo)?.seq ?? 0);

const LAST_TAKEN = `SELECT seq FROM actions WHERE run_no = ? AND outcome IN ${TAKEN} ORDER BY seq DESC LIMIT 1`;

/** The promises that a run was given, those of items in doubt too. */
export function* promisesGiven(ledger: Ledger, runNo: number): Generator<string> {
  const sql = "SELECT action_promise FROM actions WHERE run_no = ? AND action_promise IS NOT NULL";
  for (const { action_promise } of ledger.iterate(sql, runNo)) yield String(action_promise);
  for (const { response } of ledger.iterate("SELECT response FROM doubted_items WHERE run_no = ?", runNo)) {
    const promise = promiseIn(String(response));
    if (promise !== undefined) yield promise;
  }
}

/** The promise in an item of the service, as JSON. No database reads it: what nests deep, or holds half a character, is no JSON to some. */
export function promiseIn(item: string): string | undefined {
  const value = parseJson(item);
  return isJsonObject(value) && typeof value.actionPromise === "string" ? value.actionPromise : undefined;
}

/** How many outcomes of a run are of each action. */
export function countByAction(ledger: Ledger, runNo: number): Readonly<Record<string, number>> {
  const counts = ledger.all("SELECT action, sum(actions) AS n FROM tallies WHERE run_no = ? GROUP BY action", runNo);
  return Object.fromEntries(counts.map(({ action, n }) => [String(action), Number(n)]));
}

/** How many actions of a run had which outcome, by kind of action. */
export const outcomesByAction = (
  ledger: Ledger,
  runNo: number,
): readonly { readonly action: string; readonly outcome: Outcome; readonly actions: number }[] =>
  ledger
    .all(
      "SELECT action, outcome, sum(actions) AS n FROM tallies WHERE run_no = ? GROUP BY action, outcome ORDER BY action",
      runNo,
    )
    .map(({ action, outcome, n }) => ({
      action: String(action),
      outcome: String(outcome) as Outcome, // the table's CHECK holds it to these
      actions: Number(n),
    }));

/** What the service said of each action that it rejected, in the order of the plan, one at a time. */
export function* rejectionsOf(
  ledger: Ledger,
  runNo: number,
): Generator<Pick<OutcomeRow, "seq" | "status" | "response">> {
  const sql = "SELECT seq, status, response FROM actions WHERE run_no = ? AND outcome = 'rejected' ORDER BY seq";
  for (const { seq, status, response } of ledger.iterate(sql, runNo))
    yield { seq: Number(seq), status: String(status), response: response === null ? undefined : String(response) };
}

/** As a planner writes it: in a text, no quote stands bare, so that only a key can look like this. */
const PLAIN_EVENT = /[{,]"eventId":"([^"\\]*)"/;

/** @param data JSON text of an action's data, as the planner writes it. */
export const eventOf = (data: string): string | undefined => PLAIN_EVENT.exec(data)?.[1] ?? fieldsOf(data).eventId;

/** How many actions of a run that have an outcome name which event. */
export function countByEvent(ledger: Ledger, runNo: number): ReadonlyMap<string | undefined, number> {
  const counts = new Map<string | undefined, number>();
  for (const { data } of ledger.iterate("SELECT data FROM actions WHERE run_no = ?", runNo)) {
    const eventId = eventOf(String(data));
    counts.set(eventId, (counts.get(eventId) ?? 0) + 1);
  }
  return counts;
}

/** What became of single actions. */

import { isJsonObject } from "../actions/exact-number.ts";
import { parseJson } from "../actions/json.ts";
import { BLOCK_ACTIONS, decodePromises, digestsAt, fieldsOf, packedPromises, type SentAction } from "./block.ts";
import {
  type Block,
  blockOf,
  blocksWithin,
  decidedAt,
  isTaken,
  type OutcomeFacts,
  outcomeOf,
  TAKEN,
  unmergedBlocks,
} from "./blocks.ts";
import type { Ledger, SqlRow } from "./ledger.ts";
import { sqlList } from "./sql-list.ts";
import { type Outcome, PERHAPS_TAKEN_STATES, SETTLED_STATES } from "./states.ts";

/** Status of an action that was closed unsent because a later one of its history was taken. */
export const SUPERSEDED = "superseded";

/** Status of an action that was closed unsent because another run had sent it meanwhile. */
export const SENT_ELSEWHERE = "sent-elsewhere";

export interface OutcomeRow extends OutcomeFacts {
  /** The action's data as it was sent, JSON text. */
  readonly data: string;
  readonly eventId?: string | undefined;
  readonly ticketId?: string | undefined;
  readonly nftId?: string | undefined;
  readonly userId?: string | undefined;
}

const EXCEPTION_COLUMNS = "seq, outcome, status, response";

/** By the number of the action. */
type Exceptions = ReadonlyMap<number, Pick<OutcomeRow, "outcome" | "status" | "response">>;

/** Those of a block. */
export function exceptionsOf(ledger: Ledger, { runNo, first, count }: Block): Exceptions {
  const sql = `SELECT ${EXCEPTION_COLUMNS} FROM exceptions WHERE run_no = ? AND seq >= ? AND seq < ?`;
  return new Map(ledger.all(sql, runNo, first, first + count).map((row) => [Number(row.seq), toException(row)]));
}

const toException = ({ outcome, status, response }: SqlRow) => ({
  outcome: String(outcome) as Outcome, // the table's CHECK holds it to these
  status: String(status),
  response: response === null ? undefined : String(response),
});

const USUAL = {
  accepted: { outcome: "accepted", status: "success", response: undefined },
  "settled by hand": { outcome: "settled by hand", status: "settled-by-hand", response: undefined },
} as const;

function toOutcome(block: Block, seq: number, exceptions: Exceptions): OutcomeRow {
  const at = seq - block.first;
  const { action, data } = block.sentAt(at);
  const { eventId, ticketId, nftId, userId } = fieldsOf(data);
  const { outcome, status, response } = exceptions.get(seq) ?? USUAL[block.outcome];
  const actionPromise = block.promiseAt(at);
  const facts = { seq, chunk: block.chunk, ...block.originAt(at), action, outcome, status, actionPromise, response };
  return { ...facts, at: block.at, data, eventId, ticketId, nftId, userId };
}

/** An action that the service has taken and that is not among the deeds yet. */
interface TakenAction {
  readonly seq: number;
  readonly sent: SentAction;
  readonly identity: Buffer;
  readonly content: Buffer;
}

/** Those of a run, in order. */
export function* takenUnmerged(ledger: Ledger, runNo: number): Generator<TakenAction> {
  for (const { block, deeds } of unmergedBlocks(ledger, runNo)) {
    if (block === undefined) continue;
    const exceptions = exceptionsOf(ledger, block);
    for (let at = 0; at < block.count; at += 1) {
      const seq = block.first + at;
      if (!isTaken(exceptions.get(seq)?.outcome ?? block.outcome)) continue;
      const { identity, content } = digestsAt(deeds, at);
      yield { seq, sent: block.sentAt(at), identity: Buffer.from(identity), content: Buffer.from(content) };
    }
  }
}

function outcomesOfBlock(ledger: Ledger, block: Block): readonly OutcomeRow[] {
  const exceptions = exceptionsOf(ledger, block);
  return Array.from({ length: block.count }, (_, at) => toOutcome(block, block.first + at, exceptions));
}

/** The outcomes of one chunk in the order of the plan. */
export function outcomesOfChunk(ledger: Ledger, runNo: number, chunk: number): readonly OutcomeRow[] {
  const borders = ledger.get(
    "SELECT first, first + count AS end FROM chunks WHERE run_no = ? AND chunk = ?",
    runNo,
    chunk,
  );
  if (borders === undefined) return [];
  const blocks = [...blocksWithin(ledger, runNo, Number(borders.first), Number(borders.end))];
  // A part of it may be a chunk of its own now.
  return blocks.filter((block) => block.chunk === chunk).flatMap((block) => outcomesOfBlock(ledger, block));
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

/** How many lines a chunk has among the promises. */
export const linesOfChunk = (ledger: Ledger, runNo: number, chunk: number): number =>
  Number(ledger.get(LINES, runNo, chunk)?.n);

const LINES = `SELECT coalesce(sum(actions), 0) AS n FROM tallies WHERE run_no = ? AND chunk = ? AND outcome <> 'not sent'`;

/** The outcomes of a run in the order of the plan, a page at a time. */
export function* outcomesOfRun(ledger: Ledger, runNo: number): Generator<readonly OutcomeRow[]> {
  for (const block of blocksWithin(ledger, runNo)) yield outcomesOfBlock(ledger, block);
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
  const block = blockOf(ledger, runNo, seq);
  if (block === undefined) return undefined;
  const other = ledger.get(`SELECT ${EXCEPTION_COLUMNS} FROM exceptions WHERE run_no = ? AND seq = ?`, runNo, seq);
  return toOutcome(block, seq, new Map(other === undefined ? [] : [[seq, toException(other)]]));
}

/** An action that has an outcome, as it was sent. */
export const sentAt = (ledger: Ledger, runNo: number, seq: number): SentAction | undefined => {
  const block = blockOf(ledger, runNo, seq);
  return block?.sentAt(seq - block.first);
};

/** Rows that name actions by `run_no` and `seq`, each with its action; without those that have no outcome. */
export const withActions = <T extends SqlRow>(ledger: Ledger, rows: readonly T[]): readonly (T & SentAction)[] =>
  rows.flatMap((row) => {
    const sent = sentAt(ledger, Number(row.run_no), Number(row.seq));
    return sent === undefined ? [] : [{ ...row, ...sent }];
  });

/** Whether it is known what became of an action. */
export const hasOutcome = (ledger: Ledger, runNo: number, seq: number): boolean =>
  ledger.get(HAS_OUTCOME, runNo, seq) !== undefined;

const HAS_OUTCOME = `SELECT 1 AS one FROM (SELECT CAST(? AS INTEGER) AS run_no, CAST(? AS INTEGER) AS seq) AS asked
  WHERE ${outcomeOf("asked.run_no", "asked.seq")} IS NOT NULL`;

/** The actions of a run that have outcomes, from a number to before another. */
export function decidedWithin(ledger: Ledger, runNo: number, first: number, end: number): ReadonlySet<number> {
  const sql = "SELECT first, first + count AS end FROM blocks WHERE run_no = ? AND first > ? AND first < ?";
  const decided = new Set<number>();
  for (const span of ledger.all(sql, runNo, first - BLOCK_ACTIONS, end))
    for (let seq = Math.max(first, Number(span.first)); seq < Math.min(end, Number(span.end)); seq += 1)
      decided.add(seq);
  return decided;
}

/** Whether something of a run, from an action to before another, was sent: it was answered, or may have been taken. */
export function wasSentWithin(ledger: Ledger, runNo: number, first: number, end: number): boolean {
  if (ledger.get(PERHAPS_TAKEN, runNo, first, end) !== undefined) return true;
  return decidedWithin(ledger, runNo, first, end).size > Number(ledger.get(NOT_SENT, runNo, first, end)?.n);
}

const PERHAPS_TAKEN = `SELECT 1 AS one FROM chunks
  WHERE run_no = ? AND first >= ? AND first < ? AND state IN ${sqlList(PERHAPS_TAKEN_STATES)} LIMIT 1`;
const NOT_SENT =
  "SELECT count(*) AS n FROM exceptions WHERE run_no = ? AND seq >= ? AND seq < ? AND outcome = 'not sent'";

/** The actions of a run within these that the service has: at most so many. */
export function takenWithin(
  ledger: Ledger,
  runNo: number,
  { first, end, most }: Readonly<Record<"first" | "end" | "most", number>>,
): ReadonlySet<number> {
  const decided = [...decidedWithin(ledger, runNo, first, end)].sort((one, other) => one - other);
  const left = notTaken(ledger, runNo, first, end);
  return new Set(decided.filter((seq) => !left.has(seq)).slice(0, most));
}

function notTaken(ledger: Ledger, runNo: number, first: number, end: number): ReadonlySet<number> {
  const sql = `SELECT seq FROM exceptions WHERE run_no = ? AND seq >= ? AND seq < ? AND outcome NOT IN ${TAKEN}`;
  return new Set(ledger.all(sql, runNo, first, end).map(({ seq }) => Number(seq)));
}

/** Number of the run's last action that was taken; 0 for none. */
export function lastTaken(ledger: Ledger, runNo: number): number {
  for (const row of ledger.all("SELECT first, count FROM blocks WHERE run_no = ? ORDER BY first DESC", runNo)) {
    const [first, end] = [Number(row.first), Number(row.first) + Number(row.count)];
    const left = notTaken(ledger, runNo, first, end);
    for (let seq = end - 1; seq >= first; seq -= 1) if (!left.has(seq)) return seq;
  }
  return 0;
}

/** A deed that the service has. */
export interface TakenDeed {
  readonly run: string;
  /** Unique to the deed. */
  readonly place: string;
  readonly content: Buffer;
  /** By the clocks. */
  readonly isSince: boolean;
}

/**
 * Deeds of an identity that other runs have sent, in their order: those behind a run in the ledger, or all of a run that was
 * lost (`hasRunSince`).
 *
 * @param since when the run was planned.
 */
export function takenBeside(
  ledger: Ledger,
  identity: Buffer,
  runNo: number,
  { wasLost, since }: { readonly wasLost: boolean; readonly since: string },
): readonly TakenDeed[] {
  const others = wasLost ? "<>" : ">";
  const sql = `SELECT run_no, run, seq, content, ${decidedAt("deeds.run_no", "deeds.seq")} > ? AS is_since
    FROM deeds JOIN runs USING (run_no) WHERE identity = ? AND taken = 1 AND run_no ${others} ? ORDER BY run_no, seq`;
  return ledger.all(sql, since, identity, runNo).map((row) => ({
    run: String(row.run),
    place: `${row.run} ${row.seq}`,
    content: Buffer.from(row.content as Uint8Array), // a BLOB NOT NULL column
    isSince: Number(row.is_since) === 1,
  }));
}

/** The promises that a run was given, those of items in doubt too: as texts, or those of a block as 16 bytes each, zeros for none. */
export function* promisesGiven(ledger: Ledger, runNo: number): Generator<string | Uint8Array> {
  // A few blocks at a time, and of them nothing else: what was sent is most of a ledger.
  const sql = "SELECT first, count, promises FROM blocks WHERE run_no = ? AND first > ? ORDER BY first LIMIT 64";
  for (let last: number | undefined = 0; last !== undefined; ) {
    const blocks = ledger.all(sql, runNo, last);
    for (const { count, promises } of blocks) {
      const packed = packedPromises(promises, Number(count));
      if (packed !== undefined) yield packed;
      else for (const promise of decodePromises(promises, Number(count))) if (promise !== undefined) yield promise;
    }
    last = blocks.length === 0 ? undefined : Number(blocks.at(-1)?.first);
  }
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
  const sql = `SELECT ${EXCEPTION_COLUMNS} FROM exceptions WHERE run_no = ? AND outcome = 'rejected' ORDER BY seq`;
  for (const row of ledger.iterate(sql, runNo)) yield { seq: Number(row.seq), ...toException(row) };
}

/** As a planner writes it: in a text, no quote stands bare, so that only a key can look like this. */
const PLAIN_EVENT = /[{,]"eventId":"([^"\\]*)"/;

/** @param data JSON text of an action's data, as the planner writes it. */
export const eventOf = (data: string): string | undefined => PLAIN_EVENT.exec(data)?.[1] ?? fieldsOf(data).eventId;

/** How many actions of a run that have an outcome name which event. */
export function countByEvent(ledger: Ledger, runNo: number): ReadonlyMap<string | undefined, number> {
  const counts = new Map<string | undefined, number>();
  for (const block of blocksWithin(ledger, runNo))
    for (let at = 0; at < block.count; at += 1) {
      const { data } = block.sentAt(at);
      const eventId = eventOf(data);
      counts.set(eventId, (counts.get(eventId) ?? 0) + 1);
    }
  return counts;
}

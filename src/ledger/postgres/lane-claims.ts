/**
 * Who sends what, where several machines share a ledger. A lane belongs to one worker at a time: to the one that claimed it
 * last, whose fence is the highest. Whatever its sender begins, it begins in a transaction that finds its fence still there.
 * Times are those of the database's clock.
 */

import { MAX_ACTIONS_PER_REQUEST } from "../../actions/actions.ts";
import { EXIT_CODES } from "../../failure.ts";
import { endAttempt } from "../attempts.ts";
import { changeChunk } from "../chunks.ts";
import type { Ledger } from "../ledger.ts";
import type { ChunkRecord } from "../runs.ts";
import { sqlList } from "../sql-list.ts";
import { OPEN_STATES, QUESTION_STATES } from "../states.ts";
import type { PostgresLedger } from "./open-postgres.ts";

export interface Claim {
  readonly runNo: number;
  readonly lane: number;
  readonly worker: number;
  /** Counts the claims of the lane, from 1. */
  readonly fence: number;
}

const lockName = (runNo: number, lane: number): string => `lane ${runNo} ${lane}`;

/**
 * Claims a lane, unless another worker's session holds it. A session that was silent for so long is ended: all that its process
 * may have been sending is over by then.
 */
export function claimLane(
  ledger: PostgresLedger,
  { runNo, lane, worker }: Omit<Claim, "fence">,
  silentMs: number,
): Claim | undefined {
  const name = lockName(runNo, lane);
  if (!ledger.tryFenced(name)) {
    // The lock is free once the server has ended the session; the next look finds it.
    ledger.endSilentHolder(name, silentMs);
    return undefined;
  }
  const sql = `INSERT INTO lane_claims (run_no, lane, fence, worker, claimed_at) VALUES (?, ?, 1, ?, clock_timestamp())
    ON CONFLICT (run_no, lane) DO UPDATE SET fence = lane_claims.fence + 1, worker = excluded.worker, claimed_at = excluded.claimed_at
    RETURNING fence`;
  const fence = ledger.transaction(() => Number(ledger.get(sql, runNo, lane, worker)?.fence));
  return { runNo, lane, worker, fence };
}

/** Gives a lane back. If another one has claimed it since, it stays that one's. */
export function releaseLane(ledger: PostgresLedger, { runNo, lane, fence }: Claim): void {
  ledger.run("UPDATE lane_claims SET worker = NULL WHERE run_no = ? AND lane = ? AND fence = ?", runNo, lane, fence);
  ledger.unlock(lockName(runNo, lane));
}

/** Locks the claimed lanes again where that failed when a session was begun anew: the server still held the lost one's. */
export function keepLocks(ledger: PostgresLedger, claims: Iterable<Claim>): void {
  for (const { runNo, lane } of claims) ledger.tryFenced(lockName(runNo, lane));
}

/** Part of a transaction: nobody has claimed the lane since, and nobody does before the transaction ends. */
export function isHeld(ledger: Ledger, { runNo, lane, fence }: Claim): boolean {
  const sql = "SELECT 1 AS one FROM lane_claims WHERE run_no = ? AND lane = ? AND fence = ? FOR SHARE";
  return ledger.get(sql, runNo, lane, fence) !== undefined;
}

/** A lane in which something is left to send, or is being sent. */
export interface OpenLane {
  readonly lane: number;
  /** Milliseconds after which the request that may be on its way is over; 0 where there is none. */
  readonly overInMs: number;
}

/** The longest lanes first, so that no long one is left in the end. */
export function openLanes(ledger: Ledger, runNo: number): readonly OpenLane[] {
  const sql = `SELECT lane, coalesce(max(extract(epoch FROM limit_at - clock_timestamp())) * 1000, 0) AS over_in
    FROM chunks LEFT JOIN attempts ON attempts.run_no = chunks.run_no AND attempts.chunk = chunks.chunk
      AND attempts.ended_at IS NULL AND chunks.state = 'sending'
    WHERE chunks.run_no = ? AND state IN ${sqlList(OPEN_STATES)} GROUP BY lane ORDER BY count(*) DESC, lane`;
  return ledger
    .all(sql, runNo)
    .map(({ lane, over_in }) => ({ lane: Number(lane), overInMs: Math.max(0, Math.ceil(Number(over_in))) }));
}

/**
 * What a worker that vanished was sending in this lane is in doubt from now on. Its request is over: its limit has passed.
 *
 * @returns false where that is not so yet, or the lane is another one's by now.
 */
export function doubtVanished(ledger: Ledger, claim: Claim): boolean {
  return ledger.transaction(() => {
    if (!isHeld(ledger, claim)) return false;
    const { runNo, lane } = claim;
    const left = openLanes(ledger, runNo).find((each) => each.lane === lane);
    if (left !== undefined && left.overInMs > 0) return false;
    const detail = "its sender vanished, and its time is over";
    const end = { event: "doubt", class: "in doubt", httpStatus: undefined, detail } as const;
    for (const { chunk } of ledger.all(BEING_SENT, runNo, lane))
      endAttempt(ledger, { runNo, chunk: Number(chunk) }, { ...end, at: new Date().toISOString() });
    return true;
  });
}

/** Locked: an answer that is just being stored comes first, and its chunk is none of these. */
const BEING_SENT =
  "SELECT chunk FROM chunks WHERE run_no = ? AND lane = ? AND state = 'sending' ORDER BY first FOR UPDATE";

/**
 * Whether more of the run may be sent. It waits whole for a person: one who has to decide about a chunk or look at rejections,
 * or who stopped or is closing it. And it waits for the runs before it: what is planned behind them counts on that.
 */
export function maySend(ledger: Ledger, runNo: number): boolean {
  const sql = `SELECT 1 AS one FROM runs
    WHERE run_no = ? AND state = 'open' AND stopped_by_person = 0 AND coalesce(exit_code, 0) <> ${EXIT_CODES.refused}
    AND NOT EXISTS (SELECT 1 FROM runs AS earlier WHERE earlier.run_no < runs.run_no AND earlier.state = 'open')
    AND NOT EXISTS (SELECT 1 FROM chunks WHERE chunks.run_no = runs.run_no AND state IN ${sqlList(QUESTION_STATES)})
    AND NOT EXISTS (SELECT 1 FROM settlements WHERE settlements.run_no = runs.run_no AND chunk IS NULL AND decision = 'abandon')`;
  return ledger.get(sql, runNo) !== undefined;
}

/** Part of a transaction: notes who begins the attempt, and by when its request is over. */
export function limitAttempt(
  ledger: Ledger,
  { runNo, chunk }: ChunkRecord,
  attempt: number,
  { worker, fence }: Claim,
  limitMs: number,
): void {
  const sql = `UPDATE attempts SET worker = ?, fence = ?, limit_at = clock_timestamp() + ? * interval '1 millisecond'
    WHERE run_no = ? AND chunk = ? AND attempt = ?`;
  ledger.run(sql, worker, fence, limitMs, runNo, chunk, attempt);
}

/** Part of a transaction: the attempt goes on, and nobody else says what became of it before the transaction ends. */
export function isUnderWay(ledger: Ledger, { runNo, chunk }: ChunkRecord, attempt: number, { fence }: Claim): boolean {
  const sql = `SELECT 1 AS one FROM chunks JOIN attempts ON attempts.run_no = chunks.run_no AND attempts.chunk = chunks.chunk
    WHERE chunks.run_no = ? AND chunks.chunk = ? AND state = 'sending' AND attempt = ? AND fence = ? AND ended_at IS NULL
    FOR UPDATE OF chunks`;
  return ledger.get(sql, runNo, chunk, attempt, fence) !== undefined;
}

/** What is known of an answer that came after its attempt had been given up. */
export interface LateAnswer {
  /** As it came; empty where there was none. */
  readonly answer: Uint8Array;
  /** What it says, in words. */
  readonly said: string;
  /** It gives reason to think that the service has actions of the chunk. */
  readonly mayBeTaken: boolean;
}

/**
 * Part of a transaction: keeps a late answer as it came, since it decides nothing any more. Whoever decides about the chunk's
 * actions is told of it. Those that are planned again, by somebody's word or in a database that came back without the attempt,
 * are in doubt once more if the service may have them.
 */
export function keepLateAnswer(
  ledger: Ledger,
  { runNo, lane }: Claim,
  { chunk, first, count }: ChunkRecord,
  attempt: number,
  { answer, said, mayBeTaken }: LateAnswer,
): void {
  const keep = "INSERT OR IGNORE INTO doubted_answers (run_no, chunk, attempt, answer) VALUES (?, ?, ?, ?)";
  if (answer.length > 0) ledger.run(keep, runNo, chunk, attempt, answer);
  // Whoever has claimed the lane since begins nothing of it until this is known.
  ledger.get("SELECT 1 AS one FROM lane_claims WHERE run_no = ? AND lane = ? FOR NO KEY UPDATE", runNo, lane);
  // By place: the chunk may have become several.
  const sql = `SELECT chunk, state, detail FROM chunks WHERE run_no = ? AND first < ? AND first + count > ?
    AND (state = 'planned' OR state = 'in doubt') ORDER BY first FOR UPDATE`;
  for (const { chunk: part, state, detail } of ledger.all(sql, runNo, first + count, first)) {
    const key = { runNo, chunk: Number(part) };
    if (state === "in doubt") changeChunk(ledger, "hearLate", key, { detail: `${detail ?? ""}; ${said}` });
    else if (mayBeTaken) changeChunk(ledger, "doubtLate", key, { detail: said });
  }
}

/**
 * Part of a transaction: milliseconds before which nobody sends; 0 where so many actions may leave now.
 *
 * @param rate actions a second, for all workers together. What leaves now puts off the next by its share.
 * @param longestMs for which somebody may have put it off (`putOff`). What is longer, and asked for by no rate, comes of a clock that
 * was set back, as when another server takes the place of the first.
 */
export function takeTurn(ledger: Ledger, actions: number, rate: number | undefined, longestMs: number): number {
  const mostMs = Math.max(longestMs, rate === undefined ? 0 : (MAX_ACTIONS_PER_REQUEST / rate) * 1000);
  const look = `SELECT coalesce(extract(epoch FROM nullif(not_before, '-infinity') - clock_timestamp()) * 1000, 0) AS ms FROM paces`;
  const waitMs = Math.ceil(Number(ledger.get(rate === undefined ? look : `${look} FOR UPDATE`)?.ms));
  if (waitMs > mostMs) {
    const sooner = "UPDATE paces SET not_before = least(not_before, clock_timestamp() + ? * interval '1 millisecond')";
    ledger.run(sooner, mostMs);
  }
  if (waitMs > 0) return Math.min(waitMs, mostMs);
  if (rate !== undefined) putOff(ledger, (actions / rate) * 1000);
  return 0;
}

/** Nobody sends before so many milliseconds have gone. */
export function putOff(ledger: Ledger, ms: number): void {
  const sql = "UPDATE paces SET not_before = greatest(not_before, clock_timestamp() + ? * interval '1 millisecond')";
  ledger.run(sql, ms);
}

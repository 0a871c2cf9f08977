/** The processes that send for a ledger which several machines share. */

import type { Ledger } from "../ledger.ts";
import { sqlList } from "../sql-list.ts";
import { OPEN_STATES } from "../states.ts";

/** How long a worker that has ended is remembered. */
const REMEMBERED = "30 days";

/** @returns the worker's number. */
export function enterWorker(
  ledger: Ledger,
  { host, pid, command }: { readonly host: string; readonly pid: number; readonly command: string },
): number {
  const sql = "INSERT INTO workers (host, pid, command) VALUES (?, ?, ?) RETURNING worker";
  return ledger.transaction(() => {
    ledger.run(`DELETE FROM workers WHERE seen_at < clock_timestamp() - interval '${REMEMBERED}'`);
    return Number(ledger.get(sql, host, pid, command)?.worker);
  });
}

export function noteSeen(ledger: Ledger, worker: number): void {
  ledger.run("UPDATE workers SET seen_at = clock_timestamp() WHERE worker = ?", worker);
}

/**
 * Has the server end this session once it has asked nothing for so long, within a transaction too: its process is frozen then,
 * and nobody else may be allowed to end it. 0: never, but for a transaction, which keeps others from its rows.
 */
export function endWhenSilent(ledger: Ledger, ms: number): void {
  const sql = `SELECT set_config('idle_in_transaction_session_timeout', ?, false), CASE
    WHEN current_setting('server_version_num')::bigint >= 140000 THEN set_config('idle_session_timeout', ?, false) END`;
  ledger.all(sql, ms === 0 ? SILENT_IN_TRANSACTION : String(ms), String(ms));
}

/** As each session begins (connection-worker.ts). */
const SILENT_IN_TRANSACTION = "60s";

export function noteLeft(ledger: Ledger, worker: number): void {
  ledger.run("UPDATE workers SET seen_at = clock_timestamp(), ended_at = clock_timestamp() WHERE worker = ?", worker);
}

/** A lane in which something is left to send, and who has claimed it. */
export interface LaneStanding {
  readonly run: string;
  readonly lane: number;
  /** Its actions that are planned or being sent. */
  readonly actions: number;
  readonly beingSent: number;
  /** Undefined while nobody has it. */
  readonly worker: number | undefined;
}

export interface WorkerStanding {
  readonly worker: number;
  readonly host: string;
  readonly process: number;
  readonly command: string;
  /** UTC in ISO 8601. */
  readonly since: string;
  /** How long ago it showed that it is there, milliseconds. */
  readonly seenAgoMs: number;
}

/** Who sends what right now, on all machines. */
export interface Team {
  readonly workers: readonly WorkerStanding[];
  /** Of open runs, the oldest first. */
  readonly lanes: readonly LaneStanding[];
  /** Actions that were answered within the last minute, by the clocks of those who sent them. */
  readonly lastMinute: number;
}

/** A worker shows itself every 2 s; one that has not for so long, in milliseconds, was killed, or is frozen. */
const THERE_MS = 30_000;

export const isThere = ({ seenAgoMs }: WorkerStanding): boolean => seenAgoMs <= THERE_MS;

/** How long a worker is shown that ended without saying so. */
const SHOWN = "10 minutes";

export function readTeam(ledger: Ledger): Team {
  const workers = ledger.all(`SELECT worker, host, pid, command, ${iso("started_at")} AS since,
      greatest(0, extract(epoch FROM clock_timestamp() - seen_at)) * 1000 AS silent
    FROM workers WHERE ended_at IS NULL AND seen_at > clock_timestamp() - interval '${SHOWN}' ORDER BY worker`);
  const lanes = ledger.all(`SELECT run, chunks.lane, sum(count) AS actions,
      sum(CASE WHEN chunks.state = 'sending' THEN count ELSE 0 END) AS flying, max(worker) AS holder
    FROM runs JOIN chunks USING (run_no) LEFT JOIN lane_claims ON lane_claims.run_no = runs.run_no AND lane_claims.lane = chunks.lane
    WHERE runs.state = 'open' AND chunks.state IN ${sqlList(OPEN_STATES)}
    GROUP BY runs.run_no, run, chunks.lane ORDER BY runs.run_no, chunks.lane`);
  const aMinuteAgo = iso("clock_timestamp() - interval '1 minute'");
  const answered = ledger.get(`SELECT coalesce(sum(count), 0) AS actions FROM chunks JOIN runs USING (run_no)
    WHERE (ended_at IS NULL OR ended_at > ${aMinuteAgo}) AND chunks.state = 'settled' AND answered_at > ${aMinuteAgo}`);
  return {
    workers: workers.map(({ worker, host, pid, command, since, silent }) => ({
      ...{ worker: Number(worker), host: String(host), process: Number(pid), command: String(command) },
      ...{ since: String(since), seenAgoMs: Math.round(Number(silent)) },
    })),
    lanes: lanes.map(({ run, lane, actions, flying, holder }) => ({
      ...{ run: String(run), lane: Number(lane), actions: Number(actions), beingSent: Number(flying) },
      worker: holder === null ? undefined : Number(holder),
    })),
    lastMinute: Number(answered?.actions),
  };
}

const iso = (time: string): string => `to_char((${time}) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

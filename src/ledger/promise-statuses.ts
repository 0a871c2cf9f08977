/** What the service said about promises when it was asked (`tickets status --remote`). */

import { decodePromises } from "./block.ts";
import type { Ledger } from "./ledger.ts";
import { sqlList } from "./sql-list.ts";

/** How a promise can end: no later answer says otherwise. */
export const FINAL_STATUSES = ["confirmed", "no_broadcast_required", "error", "wont_broadcast"] as const;

/** Those that mean that the action did not reach the blockchain, though it should have. */
export const FAILED_STATUSES: readonly string[] = [
  "error",
  "wont_broadcast",
] satisfies readonly (typeof FINAL_STATUSES)[number][];

/** Those of a promise that is still on its way. */
export const OPEN_STATUSES = ["waiting_broadcast", "waiting_funds", "pending"] as const;

/** What is noted of a promise that the service does not know. */
export const NOT_FOUND = "not found";

const FINAL = sqlList(FINAL_STATUSES);
const FAILED = sqlList(FAILED_STATUSES);

export const isFinal = (status: string): boolean => FINAL_STATUSES.some((each) => each === status);

/** An action whose promise is not final yet, as far as the ledger knows. */
export interface OpenPromise {
  readonly runNo: number;
  readonly seq: number;
  readonly actionPromise: string;
  /** What the service said last; undefined where it was not asked yet. */
  readonly status: string | undefined;
}

/** Blocks that are read at a time. */
const PAGE = 16;

/**
 * The promises of a run that are not final, in the order of its plan. Reads page by page, so that answers can be noted in
 * between.
 */
export function* openPromisesOf(ledger: Ledger, runNo: number): Generator<OpenPromise> {
  if (countPromises(ledger, runNo) === countFinal(ledger, runNo)) return;
  for (let from = 0; ; ) {
    const blocks = ledger.all(
      "SELECT first, count, promises FROM blocks WHERE run_no = ? AND first > ? AND promises IS NOT NULL ORDER BY first LIMIT ?",
      ...[runNo, from, PAGE],
    );
    for (const { first, count, promises } of blocks) {
      from = Number(first);
      const known = statusesWithin(ledger, runNo, from, from + Number(count));
      for (const [at, actionPromise] of decodePromises(promises, Number(count)).entries()) {
        const status = known.get(from + at);
        if (actionPromise === undefined || (status !== undefined && isFinal(status))) continue;
        yield { runNo, seq: from + at, actionPromise, status };
      }
    }
    if (blocks.length < PAGE) return;
  }
}

function statusesWithin(ledger: Ledger, runNo: number, from: number, end: number): ReadonlyMap<number, string> {
  const sql = "SELECT seq, status FROM promise_statuses WHERE run_no = ? AND seq >= ? AND seq < ?";
  return new Map(ledger.all(sql, runNo, from, end).map(({ seq, status }) => [Number(seq), String(status)]));
}

/** How many actions of a run the service has promised. */
export function countPromises(ledger: Ledger, runNo: number): number {
  const sql = "SELECT coalesce(sum(actions), 0) AS n FROM tallies WHERE run_no = ? AND outcome = 'accepted'";
  return Number(ledger.get(sql, runNo)?.n);
}

function countFinal(ledger: Ledger, runNo: number): number {
  const sql = `SELECT count(*) AS n FROM promise_statuses WHERE run_no = ? AND status IN ${FINAL}`;
  return Number(ledger.get(sql, runNo)?.n);
}

export interface NewStatus {
  readonly runNo: number;
  readonly seq: number;
  readonly status: string;
}

/** After it returns they are on disk. */
export function noteStatuses(ledger: Ledger, statuses: readonly NewStatus[], since: string): void {
  if (statuses.length === 0) return;
  const sql = `INSERT INTO promise_statuses (run_no, seq, status, since) VALUES (?, ?, ?, ?)
    ON CONFLICT (run_no, seq) DO UPDATE SET status = excluded.status, since = excluded.since`;
  ledger.transaction(() => {
    for (const { runNo, seq, status } of statuses) ledger.run(sql, runNo, seq, status, since);
  });
}

/** How many promises of a run have which status. */
export function countStatuses(ledger: Ledger, runNo: number): ReadonlyMap<string, number> {
  const sql = "SELECT status, count(*) AS n FROM promise_statuses WHERE run_no = ? GROUP BY status";
  return new Map(ledger.all(sql, runNo).map(({ status, n }) => [String(status), Number(n)]));
}

/** The first promises of a run that did not reach the blockchain. */
export function failedPromises(ledger: Ledger, runNo: number, limit: number): readonly NewStatus[] {
  const sql = `SELECT seq, status FROM promise_statuses WHERE run_no = ? AND status IN ${FAILED} ORDER BY seq LIMIT ?`;
  return ledger.all(sql, runNo, limit).map(({ seq, status }) => ({ runNo, seq: Number(seq), status: String(status) }));
}

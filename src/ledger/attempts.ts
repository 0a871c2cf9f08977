/** Each try to send a chunk: its intent, its answer, and what the service said about actions that stay in doubt. */

import { type ChunkEventName, type ChunkKey, changeChunk } from "./chunks.ts";
import { type Ledger, upsert } from "./ledger.ts";
import type { ChunkRecord } from "./runs.ts";

/** Part of a transaction: the chunk is about to be sent. Returns the attempt's number, from 1. */
export function markSending(ledger: Ledger, { runNo, chunk }: ChunkRecord, at: string): number {
  changeChunk(ledger, "intend", { runNo, chunk });
  const next = "SELECT coalesce(max(attempt), 0) + 1 AS attempt FROM attempts WHERE run_no = ? AND chunk = ?";
  const attempt = Number(ledger.get(next, runNo, chunk)?.attempt);
  const sql = "INSERT INTO attempts (run_no, chunk, attempt, started_at) VALUES (?, ?, ?, ?)";
  ledger.run(sql, runNo, chunk, attempt, at);
  return attempt;
}

/** How an attempt ended whose answer, if any, gave no outcomes. */
export interface AttemptEnd {
  /** What happens to the chunk. */
  readonly event: Extract<ChunkEventName, "giveBack" | "refuse" | "doubt" | "rejectTooLarge">;
  /** What the answer meant, or that none came. */
  readonly class: string;
  readonly httpStatus: number | undefined;
  readonly detail: string | undefined;
  /** UTC in ISO 8601. */
  readonly at: string;
}

/** Part of a transaction: ends the attempt under way, and changes its chunk. */
export function endAttempt(ledger: Ledger, chunk: ChunkKey, end: AttemptEnd): void {
  noteEnd(ledger, chunk, end);
  changeChunk(ledger, end.event, chunk, { http_status: end.httpStatus, detail: end.detail });
}

/** Of the attempt under way. */
function noteEnd(ledger: Ledger, { runNo, chunk }: ChunkKey, end: Omit<AttemptEnd, "event">): void {
  const sql = `UPDATE attempts SET ended_at = ?, class = ?, http_status = ?, detail = ?
    WHERE run_no = ? AND chunk = ? AND ended_at IS NULL`;
  ledger.run(sql, end.at, end.class, end.httpStatus ?? null, end.detail ?? null, runNo, chunk);
}

/** Part of a transaction: the answer says what became of the chunk's actions. */
export function endAnswered(
  ledger: Ledger,
  chunk: ChunkRecord,
  { status, at }: { readonly status: number; readonly at: string },
): void {
  noteEnd(ledger, chunk, { class: "settled", httpStatus: status, detail: undefined, at });
  changeChunk(ledger, "answer", chunk, { http_status: status, answered_at: at });
}

/** Part of a transaction: keeps the last attempt's answer as it came, since it may hold promises that are given only once. */
export function keepDoubtedAnswer(ledger: Ledger, { runNo, chunk }: ChunkRecord, answer: Uint8Array): void {
  const sql = `INSERT INTO doubted_answers (run_no, chunk, attempt, answer)
    SELECT run_no, chunk, max(attempt), CAST(? AS BLOB) FROM attempts WHERE run_no = ? AND chunk = ? GROUP BY run_no, chunk`;
  ledger.run(sql, answer, runNo, chunk);
}

/** Part of a transaction: keeps what the service said about actions that stay in doubt. */
export function keepDoubtedItems(
  ledger: Ledger,
  runNo: number,
  items: readonly { readonly seq: number; readonly response: string }[],
): void {
  for (const { seq, response } of items) ledger.run(NOTE_DOUBTED, runNo, seq, response);
}

const NOTE_DOUBTED = upsert("doubted_items", ["run_no", "seq"], ["response"]);

/** What the service said about the actions of a chunk in doubt, by their place in the plan. */
export function doubtedItems(
  ledger: Ledger,
  { runNo, first, count }: Pick<ChunkRecord, "runNo" | "first" | "count">,
): ReadonlyMap<number, string> {
  const sql = "SELECT seq, response FROM doubted_items WHERE run_no = ? AND seq >= ? AND seq < ?";
  const items = ledger.all(sql, runNo, first, first + count);
  return new Map(items.map(({ seq, response }) => [Number(seq), String(response)]));
}

/** Part of a transaction: the actions will be sent again, so what was said about them no longer counts. */
export function forgetDoubtedItems(
  ledger: Ledger,
  { runNo, first, count }: Pick<ChunkRecord, "runNo" | "first" | "count">,
): void {
  ledger.run("DELETE FROM doubted_items WHERE run_no = ? AND seq >= ? AND seq < ?", runNo, first, first + count);
}

/** A try to send a chunk, as it is known afterwards. Times are milliseconds since 1970. */
export interface Attempt {
  readonly chunk: number;
  /** Its number among those of the chunk, from 1. */
  readonly attempt: number;
  /** How many actions the chunk holds. */
  readonly actions: number;
  readonly from: number;
  /** Undefined where no end is known: it is under way, or its process died. */
  readonly to: number | undefined;
  /** What the answer meant, or that none came. */
  readonly class: string | undefined;
  readonly httpStatus: number | undefined;
}

/** The attempts of a run in the order in which they began, one at a time: a run may have a million. */
export function* attemptsOf(ledger: Ledger, runNo: number): Generator<Attempt> {
  const sql = `SELECT attempts.chunk, attempt, count, started_at, ended_at, class, attempts.http_status
    FROM attempts JOIN chunks USING (run_no, chunk) WHERE run_no = ? ORDER BY started_at, attempts.chunk, attempt`;
  for (const row of ledger.iterate(sql, runNo)) {
    yield {
      chunk: Number(row.chunk),
      attempt: Number(row.attempt),
      actions: Number(row.count),
      from: Date.parse(String(row.started_at)),
      to: row.ended_at === null ? undefined : Date.parse(String(row.ended_at)),
      class: row.class === null ? undefined : String(row.class),
      httpStatus: row.http_status === null ? undefined : Number(row.http_status),
    };
  }
}

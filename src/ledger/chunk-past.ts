/** What happened to one chunk before its actions had outcomes: when it was sent, and what people decided about it. */

import type { Ledger } from "./ledger.ts";
import { type NotedSettlement, settlementsOf } from "./settlements.ts";

export interface ChunkPast {
  /** When its last request began, UTC in ISO 8601. Undefined for one that was never sent from here. */
  readonly sentAt: string | undefined;
  readonly attempts: number;
  /** What people decided about it, oldest first. */
  readonly settlements: readonly NotedSettlement[];
}

export function pastOfChunk(ledger: Ledger, runNo: number, chunk: number): ChunkPast {
  const line = lineOf(ledger, runNo, chunk);
  const tries = line.map(({ chunk: each }) => attemptsOf(ledger, runNo, each)).find(({ attempts }) => attempts > 0);
  // What was decided about a chunk holds for its halves. A part that was cut off had been left undecided.
  const decided = new Set(line.filter(({ state }, at) => at === 0 || state === "split").map((each) => each.chunk));
  const settlements = settlementsOf(ledger, runNo).filter(
    (each) => each.chunk !== undefined && decided.has(each.chunk),
  );
  return { sentAt: tries?.sentAt, attempts: tries?.attempts ?? 0, settlements };
}

/** The chunk, and those that it is a part of, upwards. */
function lineOf(
  ledger: Ledger,
  runNo: number,
  chunk: number,
): readonly { readonly chunk: number; readonly state: string }[] {
  const line: { chunk: number; state: string }[] = [];
  for (let next: number | undefined = chunk; next !== undefined; ) {
    const row = ledger.get("SELECT state, parent FROM chunks WHERE run_no = ? AND chunk = ?", runNo, next);
    if (row === undefined) break;
    line.push({ chunk: next, state: String(row.state) });
    next = row.parent === null ? undefined : Number(row.parent);
  }
  return line;
}

function attemptsOf(ledger: Ledger, runNo: number, chunk: number): Pick<ChunkPast, "sentAt" | "attempts"> {
  const sql = "SELECT max(started_at) AS sent_at, count(*) AS attempts FROM attempts WHERE run_no = ? AND chunk = ?";
  const row = ledger.get(sql, runNo, chunk);
  return { sentAt: row?.sent_at == null ? undefined : String(row.sent_at), attempts: Number(row?.attempts) };
}

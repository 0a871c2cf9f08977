/** What people decided about chunks, or about whole runs. */

import type { Ledger } from "./ledger.ts";

export interface NotedSettlement {
  /** Undefined: the whole run. */
  readonly chunk: number | undefined;
  readonly decision: string;
  readonly who: string;
  readonly at: string;
  readonly reason: string | undefined;
}

/** Part of a transaction. */
export function noteSettlement(
  ledger: Ledger,
  runNo: number,
  { chunk, decision, who, at, reason }: NotedSettlement,
): void {
  ledger.run(
    "INSERT INTO settlements (run_no, chunk, decision, who, at, reason) VALUES (?, ?, ?, ?, ?, ?)",
    runNo,
    chunk ?? null,
    decision,
    who,
    at,
    reason ?? null,
  );
}

/** Number of the last one; 0 for none. */
export const lastSettlement = (ledger: Ledger): number =>
  Number(ledger.get("SELECT coalesce(max(id), 0) AS id FROM settlements")?.id);

/** All of a run, oldest first. */
export const settlementsOf = (ledger: Ledger, runNo: number): readonly NotedSettlement[] =>
  ledger
    .all("SELECT chunk, decision, who, at, reason FROM settlements WHERE run_no = ? ORDER BY id", runNo)
    .map(({ chunk, decision, who, at, reason }) => ({
      chunk: chunk === null ? undefined : Number(chunk),
      decision: String(decision),
      who: String(who),
      at: String(at),
      reason: reason === null ? undefined : String(reason),
    }));

/** What a person decided last about the chunk, whatever became of it since. */
export const settlementOfChunk = (ledger: Ledger, runNo: number, chunk: number): NotedSettlement | undefined =>
  settlementsOf(ledger, runNo).findLast((each) => each.chunk === chunk);

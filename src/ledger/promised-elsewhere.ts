/**
 * Actions that are in doubt because the ledger was lost, and of which another run has a promise. The two may be one deed, so
 * a person decides about them separately.
 */

import { type Ledger, readMeta, writeMeta } from "./ledger.ts";
import type { Span } from "./run-list.ts";
import type { ChunkRecord, RunRecord } from "./runs.ts";

/** Part of a transaction: notes these actions of the run, in place of those noted before. */
export function notePromisedElsewhere(ledger: Ledger, { run }: Pick<RunRecord, "run">, seqs: readonly number[]): void {
  const spans: [first: number, count: number][] = [];
  for (const seq of seqs.toSorted((one, other) => one - other)) {
    const last = spans.at(-1);
    if (last !== undefined && last[0] + last[1] === seq) last[1] += 1;
    else spans.push([seq, 1]);
  }
  if (spans.length > 0 || readMeta(ledger, keyOf(run)) !== undefined)
    writeMeta(ledger, keyOf(run), JSON.stringify(spans));
}

/** Whether the chunk has such an action. */
export function isPromisedElsewhere(
  ledger: Ledger,
  { run }: Pick<RunRecord, "run">,
  chunk: Pick<ChunkRecord, "first" | "count">,
): boolean {
  const spans = JSON.parse(readMeta(ledger, keyOf(run)) ?? "[]") as readonly Span[]; // written above
  return spans.some(([first, count]) => first < chunk.first + chunk.count && chunk.first < first + count);
}

const keyOf = (run: string): string => `promised elsewhere: ${run}`;

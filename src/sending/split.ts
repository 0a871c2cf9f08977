/** A chunk that the service calls too large becomes smaller ones. */

import { endAttempt } from "../ledger/attempts.ts";
import { changeChunk } from "../ledger/chunks.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { insertOutcomes } from "../ledger/outcomes.ts";
import { addChunks, type ChunkRecord, shortestSplit } from "../ledger/runs.ts";
import { toOutcomes } from "./outcomes.ts";
import { chunkFacts, projectUnwritten, type RecordContext, runFacts } from "./record-answer.ts";

/**
 * The size in bytes from which a chunk of this run is known to be too large: that of the shortest one that was split. In
 * bytes, not actions: a single huge action must not make every other request small too.
 */
export function tooLargeFrom(ledger: Ledger, runNo: number): number {
  return shortestSplit(ledger, runNo) ?? Number.POSITIVE_INFINITY;
}

/** Replaces a chunk by its two halves, in order, in one transaction. */
export async function splitChunk({ ledger, plan }: RecordContext, chunk: ChunkRecord): Promise<void> {
  const half = Math.ceil(chunk.count / 2);
  const lines = await plan.lines(chunk);
  const parts: { first: number; count: number; offset: number; length: number }[] = [];
  let offset = chunk.offset;
  for (let from = 0; from < lines.length; from += half) {
    const part = lines.slice(from, from + half);
    const length = part.reduce((sum, line) => sum + line.length + 1, 0);
    parts.push({ first: chunk.first + from, count: part.length, offset, length });
    offset += length;
  }
  ledger.transaction(() => {
    changeChunk(ledger, "split", chunk);
    addChunks(ledger, chunk, parts, "planned");
  });
}

/** Rejects a single action that is too large on its own: it can't be made smaller. */
export async function rejectTooLarge(context: RecordContext, chunk: ChunkRecord, at: string): Promise<void> {
  const { ledger, plan, runNo } = context;
  const facts = await chunkFacts(plan, chunk);
  const item = {
    outcome: "rejected",
    status: "too-large",
    response: JSON.stringify({ status: "too-large", message: "HTTP 413 for this action alone" }),
  } as const;
  ledger.transaction(() => {
    endAttempt(ledger, chunk, {
      event: "rejectTooLarge",
      class: "too large",
      httpStatus: 413,
      detail: "too large on its own",
      at,
    });
    insertOutcomes(
      ledger,
      runNo,
      toOutcomes(runFacts(context), facts, () => item, at),
    );
  });
  await projectUnwritten(context);
}

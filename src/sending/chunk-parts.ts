/** A chunk whose actions do not all share one fate becomes several. */

import { type ChunkEventName, changeChunk } from "../ledger/chunks.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { insertOutcomes } from "../ledger/outcomes.ts";
import { addChunks, type ChunkRecord, nextChunkNumber } from "../ledger/runs.ts";
import type { ChunkState } from "../ledger/states.ts";
import type { Plan } from "../plan/files/plan.ts";
import { toOutcomes } from "./outcomes.ts";
import { chunkFacts, runFacts } from "./record-answer.ts";

/**
 * The chunk as stretches of actions in one state each. The first keeps the chunk's number, the others have the next free
 * ones.
 *
 * @param lines of the chunk's actions.
 * @param stateOf what an action's chunk is to be in, by the action's number in the plan.
 * @param whyOf an action's detail, in place of the chunk's; neighbours with the same one stay together.
 */
export function cutChunk(
  ledger: Ledger,
  chunk: ChunkRecord,
  lines: readonly Buffer[],
  stateOf: (seq: number) => ChunkState,
  whyOf: (seq: number) => string | undefined = () => undefined,
): readonly ChunkRecord[] {
  const parts: { -readonly [K in keyof ChunkRecord]: ChunkRecord[K] }[] = [];
  const next = nextChunkNumber(ledger, chunk.runNo);
  let { offset } = chunk;
  for (const [at, line] of lines.entries()) {
    const [first, length] = [chunk.first + at, line.length + 1];
    const state = stateOf(first);
    const detail = whyOf(first) ?? (state === chunk.state ? chunk.detail : undefined);
    const last = parts.at(-1);
    if (last?.state === state && last.detail === detail) {
      last.count += 1;
      last.length += length;
    } else {
      const number = parts.length === 0 ? chunk.chunk : next + parts.length - 1;
      parts.push({ ...chunk, chunk: number, first, count: 1, offset, length, state, detail });
    }
    offset += length;
  }
  return parts;
}

/** By the state of the part that keeps the chunk's number. */
const FOUND_EVENTS: Partial<Record<ChunkState, ChunkEventName & `found${string}`>> = {
  planned: "foundUnsent",
  "in doubt": "foundDoubt",
  refused: "foundRefused",
  settled: "foundSettled",
  abandoned: "foundClosed",
};

/** Part of a transaction: the parts of `cutChunk` take the chunk's place. No other chunk may have been added meanwhile. */
export function replaceChunk(ledger: Ledger, chunk: ChunkRecord, parts: readonly ChunkRecord[]): void {
  for (const { chunk: number, count, length, state, detail, ...part } of parts) {
    if (number !== chunk.chunk) {
      addChunks(ledger, chunk, [{ ...part, count, length, ...(detail !== undefined && { detail }) }], state);
      continue;
    }
    const event = FOUND_EVENTS[state];
    if (event === undefined) throw new Error(`the first part of chunk ${number} can't be found ${state}`);
    changeChunk(ledger, event, chunk, { count, length, detail });
  }
}

/**
 * Closes actions of planned chunks, so that the run does not send them. Each chunk is one transaction; doing it again changes
 * nothing.
 *
 * @param statusOf why, by the action's number in the plan.
 */
export async function closeUnsent(
  ledger: Ledger,
  plan: Plan,
  chunks: readonly ChunkRecord[],
  statusOf: ReadonlyMap<number, string>,
): Promise<void> {
  if (statusOf.size === 0) return;
  const at = new Date().toISOString();
  for (const chunk of chunks) {
    const parts = cutChunk(ledger, chunk, await plan.lines(chunk), (seq) =>
      statusOf.has(seq) ? "abandoned" : "planned",
    );
    const closed = parts.filter(({ state }) => state === "abandoned");
    if (closed.length === 0) continue;
    const rows = await Promise.all(
      closed.map(async (part) =>
        toOutcomes(
          runFacts({ plan, runNo: chunk.runNo }),
          await chunkFacts(plan, part),
          (number) => ({ outcome: "not sent", status: statusOf.get(part.first + number) ?? "" }),
          at,
        ),
      ),
    );
    ledger.transaction(() => {
      replaceChunk(ledger, chunk, parts);
      for (const ofPart of rows) insertOutcomes(ledger, chunk.runNo, ofPart);
    });
  }
}

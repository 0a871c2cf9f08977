/** A chunk becomes several: not all of its actions share one fate, or the service calls it too large. */

import { endAttempt } from "../ledger/attempts.ts";
import { type ChunkEventName, changeChunk } from "../ledger/chunks.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { insertOutcomes, type NewOutcome } from "../ledger/new-outcomes.ts";
import { addChunks, type ChunkRecord, isUnchanged, nextChunkNumber, shortestSplit } from "../ledger/runs.ts";
import type { ChunkState } from "../ledger/states.ts";
import type { ChunkBorders, Plan } from "../plan/files/plan.ts";
import { type Fate, type ItemFacts, stretchesOf } from "./chunk-outcomes.ts";
import { outcomesOf, projectStored, type RecordContext } from "./record-answer.ts";

/**
 * The chunk as stretches of actions in one state each. The first keeps the chunk's number, the others have the next free
 * ones.
 *
 * @param lines of the chunk's actions.
 * @param stateOf what an action's chunk is to be in, by the action's number in the plan.
 */
function cutChunk(
  ledger: Ledger,
  chunk: ChunkRecord,
  lines: readonly Buffer[],
  stateOf: (seq: number) => ChunkState,
): readonly ChunkRecord[] {
  const fateOf = (seq: number): Fate => {
    const state = stateOf(seq);
    return { state, detail: state === chunk.state ? chunk.detail : undefined };
  };
  const stretches = stretchesOf(chunk, lengthsOf(lines), fateOf);
  const next = nextChunkNumber(ledger, chunk.runNo);
  return stretches.map(({ detail, ...stretch }, at) => {
    return { ...chunk, ...stretch, detail, chunk: at === 0 ? chunk.chunk : next + at - 1 };
  });
}

/** Of lines in the plan, each with its newline. */
const lengthsOf = (lines: readonly Buffer[]): readonly number[] => lines.map(({ length }) => length + 1);

/** By the state of the part that keeps the chunk's number. */
const FOUND_EVENTS: Partial<Record<ChunkState, ChunkEventName & `found${string}`>> = {
  planned: "foundUnsent",
  abandoned: "foundClosed",
};

/** Part of a transaction: the parts of `cutChunk` take the chunk's place. No other chunk may have been added meanwhile. */
function replaceChunk(ledger: Ledger, chunk: ChunkRecord, parts: readonly ChunkRecord[]): void {
  for (const { chunk: number, count, length, state, detail, ...part } of parts) {
    if (number !== chunk.chunk) {
      addChunks(ledger, chunk, [{ ...part, count, length, detail }], state);
      continue;
    }
    const event = FOUND_EVENTS[state];
    if (event === undefined) throw new Error(`the first part of chunk ${number} can't be found ${state}`);
    changeChunk(ledger, event, chunk, { count, length });
  }
}

/**
 * One transaction: the parts of `cutChunk` take the chunk's place, and the actions of those that are closed have outcomes.
 *
 * @param itemOf what is said of such an action, by its number in the plan.
 * @returns false where another process has changed the chunk since it was read, and nothing was changed.
 */
async function divideChunk(
  ledger: Ledger,
  plan: Plan,
  chunk: ChunkRecord,
  parts: readonly ChunkRecord[],
  itemOf: (seq: number) => ItemFacts,
  at: string,
): Promise<boolean> {
  const closed = parts.filter(({ state }) => state === "abandoned");
  const rows = await Promise.all(closed.map((part) => outcomesOf(plan, part, itemOf, at)));
  const [, second] = parts;
  return ledger.transaction(() => {
    if (!isUnchanged(ledger, chunk)) return false;
    // Another machine may have given the numbers away meanwhile.
    const given = second === undefined ? 0 : nextChunkNumber(ledger, chunk.runNo) - second.chunk;
    const numbered = (row: NewOutcome): NewOutcome =>
      row.chunk === chunk.chunk ? row : { ...row, chunk: row.chunk + given };
    replaceChunk(ledger, chunk, parts);
    for (const ofPart of rows) insertOutcomes(ledger, chunk.runNo, ofPart.map(numbered));
    return true;
  });
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
  const stateOf = (seq: number): ChunkState => (statusOf.has(seq) ? "abandoned" : "planned");
  const itemOf = (seq: number): ItemFacts => ({ outcome: "not sent", status: statusOf.get(seq) ?? "" });
  for (const chunk of chunks) {
    const parts = cutChunk(ledger, chunk, await plan.lines(chunk), stateOf);
    // Who has changed it meanwhile holds its lane now, and has closed what must be.
    if (parts.some(({ state }) => state === "abandoned")) await divideChunk(ledger, plan, chunk, parts, itemOf, at);
  }
}

/**
 * The size in bytes from which a chunk of this run is known to be too large: that of the shortest one that was split. In
 * bytes, not actions: a single huge action must not make every other request small too.
 */
export function tooLargeFrom(ledger: Ledger, runNo: number): number {
  return shortestSplit(ledger, runNo) ?? Number.POSITIVE_INFINITY;
}

/**
 * Replaces a chunk by its two halves, in order, in one transaction.
 *
 * @param isHeld part of the transaction: the lane is still the caller's.
 * @returns false where it is not, and nothing was changed.
 */
export async function splitChunk(
  { ledger, plan }: RecordContext,
  chunk: ChunkRecord,
  isHeld: () => boolean = () => true,
): Promise<boolean> {
  const halves = await cutAfter(plan, chunk, Math.ceil(chunk.count / 2));
  return ledger.transaction(() => {
    if (!isHeld()) return false;
    changeChunk(ledger, "split", chunk);
    addChunks(ledger, chunk, halves, "planned");
    return true;
  });
}

/** The chunk's first actions, and the rest of it. */
export async function cutAfter(
  plan: Plan,
  { first, offset, ...chunk }: ChunkBorders,
  count: number,
): Promise<readonly [ChunkBorders, ChunkBorders]> {
  const lines = await plan.lines({ first, offset, ...chunk });
  const length = lengthsOf(lines.slice(0, count)).reduce((sum, each) => sum + each, 0);
  const rest = { count: chunk.count - count, offset: offset + length, length: chunk.length - length };
  return [
    { first, count, offset, length },
    { first: first + count, ...rest },
  ];
}

/**
 * Rejects a single action that is too large on its own: it can't be made smaller.
 *
 * @param isUnderWay part of the transaction: nobody has given the attempt up.
 * @returns false where someone has, and nothing was changed.
 */
export async function rejectTooLarge(
  context: RecordContext,
  chunk: ChunkRecord,
  at: string,
  isUnderWay: () => boolean = () => true,
): Promise<boolean> {
  const { ledger, plan, runNo } = context;
  const item = {
    outcome: "rejected",
    status: "too-large",
    response: JSON.stringify({ status: "too-large", message: "HTTP 413 for this action alone" }),
  } as const;
  const rows = await outcomesOf(plan, chunk, () => item, at);
  const isNoted = ledger.transaction(() => {
    if (!isUnderWay()) return false;
    endAttempt(ledger, chunk, {
      event: "rejectTooLarge",
      class: "too large",
      httpStatus: 413,
      detail: "too large on its own",
      at,
    });
    insertOutcomes(ledger, runNo, rows);
    return true;
  });
  // Not those of other chunks: their lanes write them when it is their turn.
  if (isNoted) await projectStored(context, chunk.chunk);
  return isNoted;
}

/** A person says what became of chunks, or closes a run. Each step is one transaction; doing it again changes nothing. */

import { crashPoint } from "../disk/crash-points.ts";
import { doubtedItems, forgetDoubtedItems } from "../ledger/attempts.ts";
import { changeChunk } from "../ledger/chunks.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { insertOutcomes } from "../ledger/new-outcomes.ts";
import { SUPERSEDED } from "../ledger/outcomes.ts";
import { addChunks, type ChunkRecord, chunksOf, endRun, type RunRecord } from "../ledger/runs.ts";
import { noteSettlement } from "../ledger/settlements.ts";
import type { Plan } from "../plan/files/plan.ts";
import { cutAfter } from "./chunk-parts.ts";
import { outcomesOf } from "./record-answer.ts";
import { findSuperseded } from "./superseded.ts";

export type Decision = "sent" | "not-sent" | "abandon";

export interface Settlement {
  readonly decision: Decision;
  readonly who: string;
  readonly reason: string | undefined;
  /** UTC in ISO 8601. */
  readonly at: string;
}

/** A chunk cut in two: the part that a decision is about, and the rest, which waits. */
interface Cut {
  readonly head: ChunkRecord;
  /** Part of a transaction: cuts it in the ledger. */
  readonly apply: () => void;
}

/** The chunk's first actions keep its number; the rest becomes a chunk of its own, in the same state. */
async function cutOff(ledger: Ledger, plan: Plan, chunk: ChunkRecord, count: number): Promise<Cut> {
  if (!(count > 0)) throw new Error(`a decision about ${count} actions of chunk ${chunk.chunk}`);
  if (count >= chunk.count) return { head: chunk, apply: () => undefined };
  const [head, rest] = await cutAfter(plan, chunk, count);
  const apply = (): void => {
    changeChunk(ledger, "cut", chunk, head);
    addChunks(ledger, chunk, [{ ...rest, detail: chunk.detail }], chunk.state);
  };
  return { head: { ...chunk, ...head }, apply };
}

/**
 * A person says that the service has the chunk's actions: they count as sent, without a promise.
 *
 * @param first only so many of its actions, from its beginning.
 */
export async function settleSent(
  ledger: Ledger,
  plan: Plan,
  chunk: ChunkRecord,
  settlement: Settlement,
  first: number,
): Promise<void> {
  const cut = await cutOff(ledger, plan, chunk, first);
  await settleWhole(ledger, plan, cut, settlement, () => SENT, "settleSent");
}

/**
 * A person says that the service does not have the chunk's actions: they are sent again, or never if the run is closed or
 * closing.
 *
 * @param first only so many of its actions, from its beginning.
 */
export async function settleNotSent(
  ledger: Ledger,
  plan: Plan,
  run: RunRecord,
  chunk: ChunkRecord,
  settlement: Settlement,
  first: number,
): Promise<void> {
  const cut = await cutOff(ledger, plan, chunk, first);
  if (run.state !== "open" || run.isClosing) {
    // Its row goes into the rejects, and must not be sent from there after what came later.
    const superseded = await findSuperseded(ledger, plan, [cut.head]);
    const itemOf = (seq: number): ByHand => (superseded.has(seq) ? LEFT_BEHIND : NOT_SENT);
    await settleWhole(ledger, plan, cut, settlement, itemOf, "close");
    return;
  }
  ledger.transaction(() => {
    cut.apply();
    changeChunk(ledger, "settleNotSent", chunk);
    forgetDoubtedItems(ledger, cut.head);
    noteSettlement(ledger, chunk.runNo, { ...settlement, chunk: chunk.chunk });
  });
}

/**
 * Closes what the run has not sent. Its doubts stay, and no other run sends them. The decision is on disk first, so nothing
 * sends the rest if the process dies half-way. `endClosed` follows when the rejects are written.
 *
 * @param onClosing waits until nobody sends any more of the run.
 */
export async function closePlanned(
  ledger: Ledger,
  plan: Plan,
  run: RunRecord,
  settlement: Settlement,
  onClosing: () => Promise<void>,
): Promise<void> {
  beginClosing(ledger, run, settlement);
  crashPoint("closing");
  await onClosing();
  for (const chunk of chunksOf(ledger, run.runNo, "planned")) {
    await settleWhole(
      ledger,
      plan,
      await cutOff(ledger, plan, chunk, chunk.count),
      settlement,
      () => NOT_SENT,
      "close",
    );
    crashPoint("settled");
  }
}

/** After it returns, no worker begins anything more of the run. */
export function beginClosing(ledger: Ledger, run: RunRecord, settlement: Settlement): void {
  ledger.transaction(() => noteClosing(ledger, run, settlement));
}

/** Ends a run that has nothing planned any more. */
export function endClosed(ledger: Ledger, { runNo }: RunRecord, exitCode: number): void {
  endRun(ledger, runNo, "abandoned", exitCode, new Date().toISOString());
}

/** The same when the plan is lost: the ledger still knows how many actions were not sent, though not which. */
export function closeWithoutPlan(ledger: Ledger, run: RunRecord, settlement: Settlement, exitCode: number): void {
  ledger.transaction(() => {
    for (const chunk of chunksOf(ledger, run.runNo, "planned")) changeChunk(ledger, "closeUnlisted", chunk);
    noteClosing(ledger, run, settlement);
    endClosed(ledger, run, exitCode);
  });
}

/** Part of a transaction: notes the decision; the first one stays. */
function noteClosing(ledger: Ledger, { runNo, isClosing }: RunRecord, settlement: Settlement): void {
  if (!isClosing) noteSettlement(ledger, runNo, { ...settlement, chunk: undefined });
}

/**
 * A person says that the service does not have the actions of a closed run's chunk. The plan is lost, so none can be listed.
 */
export function settleNotSentWithoutPlan(ledger: Ledger, chunk: ChunkRecord, settlement: Settlement): void {
  ledger.transaction(() => {
    changeChunk(ledger, "closeUnlisted", chunk);
    noteSettlement(ledger, chunk.runNo, { ...settlement, chunk: chunk.chunk });
  });
}

interface ByHand {
  readonly outcome: "settled by hand" | "not sent";
  readonly status: string;
}

const SENT: ByHand = { outcome: "settled by hand", status: "settled-by-hand" };
const NOT_SENT: ByHand = { outcome: "not sent", status: "not-sent" };
const LEFT_BEHIND: ByHand = { outcome: "not sent", status: SUPERSEDED };

/** @param itemOf what became of an action, by its number in the plan. */
async function settleWhole(
  ledger: Ledger,
  plan: Plan,
  { head: chunk, apply }: Cut,
  settlement: Settlement,
  itemOf: (seq: number) => ByHand,
  event: "settleSent" | "close",
): Promise<void> {
  const said = doubtedItems(ledger, chunk);
  const rows = await outcomesOf(plan, chunk, (seq) => ({ ...itemOf(seq), response: said.get(seq) }), settlement.at);
  ledger.transaction(() => {
    apply();
    insertOutcomes(ledger, chunk.runNo, rows);
    changeChunk(ledger, event, chunk);
    noteSettlement(ledger, chunk.runNo, { ...settlement, chunk: chunk.chunk });
  });
}

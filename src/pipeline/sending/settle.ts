/** An answer becomes outcomes: in the ledger first, then in the promises. */

import { ACTION_NAMES, type Action } from "../../actions/actions.ts";
import { parseJson } from "../../actions/json.ts";
import { crashPoint } from "../crash-points.ts";
import type { Ledger } from "../ledger/ledger.ts";
import {
  insertOutcomes,
  type NewOutcome,
  type OutcomeRow,
  outcomesOfChunk,
  unprojectedChunks,
} from "../ledger/outcomes.ts";
import { addChunks, type ChunkRecord, chunksOf, endAttempt, markSettled, readAnswer } from "../ledger/runs.ts";
import type { Outcome } from "../ledger/schema.ts";
import { dataOfLine } from "../plan/batch.ts";
import type { ChunkBorders, Plan } from "../plan/plan.ts";
import type { PromiseSink } from "../projections/promise-sink.ts";
import { type ItemOutcome, readExchange } from "./answer.ts";

/** What a run is sent with. */
export interface SettleContext {
  readonly ledger: Ledger;
  readonly plan: Plan;
  readonly runNo: number;
  readonly promises: PromiseSink;
}

/** The actions of a chunk as they stand in the plan. */
export async function actionsOf(plan: Plan, chunk: ChunkBorders): Promise<readonly Action[]> {
  // The planner wrote and checked them, and the checksum says they are the same bytes.
  return (await plan.lines(chunk)).map((line) => parseJson(line.toString("utf8")) as Action);
}

/**
 * Settles a chunk. After it resolves every outcome is in the ledger and every line of the promises file on disk. Should
 * the process die in between, the ledger knows that the lines are missing (`projectUnwritten`).
 */
export async function settle(
  context: SettleContext,
  chunk: ChunkRecord,
  items: readonly ItemOutcome[],
  at: string,
): Promise<void> {
  const { ledger, plan, runNo } = context;
  const known = await toOutcomes(plan, chunk, items, at);
  const doubts = doubtfulParts(chunk, await plan.lines(chunk), items);
  ledger.transaction(() => {
    insertOutcomes(ledger, runNo, known);
    addChunks(ledger, chunk, doubts, "in doubt", "accepted without an actionPromise");
    markSettled(ledger, chunk);
  });
  crashPoint("settled");
  await project(context, chunk.chunk, known);
}

/** Items in doubt become chunks of their own, so that a chunk is in doubt as a whole or not at all. */
function doubtfulParts(
  chunk: ChunkRecord,
  lines: readonly Buffer[],
  items: readonly ItemOutcome[],
): readonly ChunkBorders[] {
  const parts: { first: number; count: number; offset: number; length: number }[] = [];
  let offset = chunk.offset;
  for (const [at, line] of lines.entries()) {
    const length = line.length + 1;
    if (items[at]?.outcome === "in doubt") {
      const last = parts.at(-1);
      if (last !== undefined && last.offset + last.length === offset) {
        last.count += 1;
        last.length += length;
      } else parts.push({ first: chunk.first + at, count: 1, offset, length });
    }
    offset += length;
  }
  return parts;
}

async function project(
  { ledger, promises, runNo }: SettleContext,
  chunk: number,
  rows: readonly OutcomeRow[],
): Promise<void> {
  const record = await promises.write(rows);
  crashPoint("projected");
  ledger.transaction(() => {
    record(ledger);
    ledger.run("UPDATE chunks SET projected = 1 WHERE run_no = ? AND chunk = ?", runNo, chunk);
  });
  crashPoint("recorded");
}

/** Writes the promises of chunks that were settled when the process died before their lines were noted. */
export async function projectUnwritten(context: SettleContext): Promise<void> {
  const { ledger, runNo } = context;
  for (const chunk of unprojectedChunks(ledger, runNo)) {
    await project(context, chunk, outcomesOfChunk(ledger, runNo, chunk));
  }
}

/**
 * Puts right what a crash left: an answer that was stored is settled from the store; a chunk that was being sent is in
 * doubt, since its answer is lost.
 */
export async function recover(context: SettleContext): Promise<void> {
  const { ledger, plan, runNo } = context;
  await projectUnwritten(context);
  for (const chunk of chunksOf(ledger, runNo, "answered")) {
    const { body, at } = readAnswer(ledger, chunk);
    const reading = readExchange(
      { kind: "answer", status: chunk.httpStatus ?? 200, headers: {}, body, whole: true },
      await actionsOf(plan, chunk),
      [],
    );
    if (reading.kind !== "settled")
      throw new Error(
        `the stored answer of chunk ${chunk.chunk} reads differently than when it came: ${reading.detail}`,
      );
    await settle(context, chunk, reading.items, at);
  }
  const at = new Date().toISOString();
  for (const chunk of chunksOf(ledger, runNo, "sending")) {
    ledger.transaction(() =>
      endAttempt(ledger, chunk, {
        state: "in doubt",
        class: "in doubt",
        httpStatus: undefined,
        detail: "the process ended before the answer came",
        at,
      }),
    );
  }
}

async function toOutcomes(
  plan: Plan,
  chunk: ChunkRecord,
  items: readonly ItemOutcome[],
  at: string,
): Promise<readonly NewOutcome[]> {
  const [lines, records] = await Promise.all([plan.lines(chunk), plan.records(chunk)]);
  return items.flatMap((item, index) => {
    if (item.outcome === "in doubt") return [];
    const [line, record] = [lines[index], records[index]];
    if (line === undefined || record === undefined)
      throw new Error(`chunk ${chunk.chunk} has fewer actions in the plan than in its answer`);
    return [toOutcome(plan, chunk, index, line, record, item, at)];
  });
}

/** One action's outcome; also for outcomes that a person decides. */
export function toOutcome(
  plan: Plan,
  chunk: ChunkRecord,
  index: number,
  line: Buffer,
  record: Awaited<ReturnType<Plan["records"]>>[number],
  item: {
    readonly outcome: Outcome;
    readonly status: string;
    readonly actionPromise?: string;
    readonly response?: string;
  },
  at: string,
): NewOutcome {
  const { data } = parseJson(line.toString("utf8")) as Action; // written and checked by the planner
  return {
    seq: chunk.first + index,
    chunk: chunk.chunk,
    source: plan.manifest.inputs[record.input]?.name ?? "",
    line: record.line,
    action: ACTION_NAMES.find((name) => name === record.action) ?? record.action,
    data: dataOfLine(line, record.action),
    ...(data.eventId != null && { eventId: data.eventId }),
    ...(data.ticketId != null && { ticketId: data.ticketId }),
    ...(data.nftId != null && { nftId: data.nftId }),
    ...item,
    at,
    identity: record.identity,
    content: record.content,
  };
}

/** What became of a chunk's actions goes into the promises; what a crash left is put right. */

import type { Action } from "../actions/actions.ts";
import { parseJson } from "../actions/json.ts";
import { crashPoint } from "../disk/crash-points.ts";
import { doubtStored, endAttempt, storedAnswer } from "../ledger/attempts.ts";
import { openBlockCompressor } from "../ledger/block-compressor.ts";
import type { NewOutcome } from "../ledger/blocks.ts";
import { changeChunk } from "../ledger/chunks.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { outcomesOfChunk, unprojectedChunks } from "../ledger/outcomes.ts";
import { type ChunkRecord, chunksOf, dropEmptyChunks } from "../ledger/runs.ts";
import type { OutputText } from "../outputs/output-file.ts";
import { type LineStyle, promiseLines } from "../outputs/promise-lines.ts";
import type { PromiseSink } from "../outputs/promise-sink.ts";
import { sentActions } from "../plan/files/chunk-actions.ts";
import type { IndexRecord } from "../plan/files/index-file.ts";
import type { ChunkBorders, Plan } from "../plan/files/plan.ts";
import { type ItemOutcome, readExchange } from "./answer.ts";
import { type ChunkFacts, decideChunk, type ItemFacts, storeDecided, toOutcomes } from "./chunk-outcomes.ts";
import { packChunk } from "./pack-chunk.ts";
import { promisesOfRun } from "./run-promises.ts";

/** What the outcomes of a run are recorded with. */
export interface RecordContext {
  readonly ledger: Ledger;
  readonly plan: Plan;
  readonly runNo: number;
  /** Undefined where another process writes them. */
  readonly promises: PromiseSink | undefined;
}

/** An action as it stands in the plan, and where it came from. */
interface PlannedAction {
  /** Its number in the plan. */
  readonly seq: number;
  readonly action: Action;
  readonly record: IndexRecord;
}

export async function actionsOf(plan: Plan, chunk: ChunkBorders): Promise<readonly PlannedAction[]> {
  const [lines, records] = await Promise.all([plan.lines(chunk), plan.records(chunk)]);
  return records.map((record, at) => {
    // The planner wrote and checked it, and the checksum says it is the same bytes.
    const action = parseJson(lines[at]?.toString("utf8") ?? "") as Action;
    return { seq: chunk.first + at, action, record };
  });
}

export async function chunkFacts(plan: Plan, chunk: ChunkRecord): Promise<ChunkFacts> {
  return { chunk, inputs: plan.manifest.inputs.map(({ name }) => name), ...(await plan.chunk(chunk)) };
}

/** One row for every action of a chunk, by what is said of each, given its number in the plan. */
export async function outcomesOf(
  plan: Plan,
  chunk: ChunkRecord,
  itemOf: (seq: number) => ItemFacts,
  at: string,
): Promise<readonly NewOutcome[]> {
  return toOutcomes(await chunkFacts(plan, chunk), itemOf, at);
}

type ProjectContext = Omit<RecordContext, "plan">;

/**
 * Writes lines of a chunk to the promises. After it resolves they are on disk; what it returns is part of the transaction that
 * notes it.
 */
export async function appendLines(
  { ledger, promises, runNo }: ProjectContext,
  chunk: number,
  lines: OutputText,
): Promise<() => void> {
  if (promises === undefined) return () => undefined;
  const record = await promises.write(lines);
  crashPoint("projected");
  return () => {
    record(ledger);
    changeChunk(ledger, "project", { runNo, chunk });
  };
}

async function project(context: ProjectContext, chunk: number, lines: OutputText): Promise<void> {
  const note = await appendLines(context, chunk, lines);
  context.ledger.transaction(note);
  crashPoint("recorded");
}

/** Writes the promises of chunks that had outcomes when the process died before their lines were noted. */
export async function projectUnwritten(context: ProjectContext): Promise<void> {
  if (context.promises === undefined) return;
  for (const chunk of unprojectedChunks(context.ledger, context.runNo)) await projectStored(context, chunk);
}

/** Writes the promises of a chunk as the ledger has its outcomes. */
export async function projectStored(context: ProjectContext, chunk: number): Promise<void> {
  const { promises } = context;
  if (promises !== undefined) await project(context, chunk, storedLines(context, chunk, promises.style));
}

/** The lines of the promises of a chunk as the ledger has its outcomes. */
export const storedLines = (
  { ledger, runNo }: Pick<ProjectContext, "ledger" | "runNo">,
  chunk: number,
  { label, format, safeCsv }: LineStyle,
): string => promiseLines(outcomesOfChunk(ledger, runNo, chunk), label, format, safeCsv);

/** An answer that was stored when the process died, read again. */
function readStored(ledger: Ledger, { chunk, actions }: ChunkFacts) {
  const { body, at } = storedAnswer(ledger, chunk);
  const status = chunk.httpStatus ?? 200;
  const exchange = { kind: "answer", status, headers: {}, body, whole: true, early: false } as const;
  using promises = promisesOfRun(ledger, chunk.runNo, 0);
  return { reading: readExchange(exchange, sentActions(actions), [], promises), body, at };
}

/** What `recover` will make of stored answers, by outcome, for commands that only read. */
export async function countStored(
  ledger: Ledger,
  plan: Plan,
  runNo: number,
): Promise<ReadonlyMap<ItemOutcome["outcome"], number>> {
  const counts = new Map<ItemOutcome["outcome"], number>();
  const add = (outcome: ItemOutcome["outcome"], actions: number): void => {
    counts.set(outcome, (counts.get(outcome) ?? 0) + actions);
  };
  for (const chunk of chunksOf(ledger, runNo, "answered")) {
    const { reading } = readStored(ledger, await chunkFacts(plan, chunk));
    if (reading.kind === "decided") for (const { outcome } of reading.items) add(outcome, 1);
    else add("in doubt", chunk.count);
  }
  return counts;
}

/**
 * Puts right what a crash left: a chunk that was being sent is in doubt, since its answer is lost. An answer that an earlier
 * version stored becomes outcomes. Where other machines may be sending, their chunks are left alone: whoever claims such a lane
 * finds out what became of them.
 */
export async function recover(context: RecordContext): Promise<void> {
  const { ledger, plan, runNo } = context;
  dropEmptyChunks(ledger, runNo);
  await projectUnwritten(context);
  using compressor = openBlockCompressor();
  for (const chunk of chunksOf(ledger, runNo, "answered")) {
    const facts = await chunkFacts(plan, chunk);
    const { reading, body, at } = readStored(ledger, facts);
    if (reading.kind !== "decided") {
      // That version did not look as closely.
      ledger.transaction(() => doubtStored(ledger, chunk, reading.detail, body));
      continue;
    }
    const decided = decideChunk(facts, reading.items, at, await packChunk(facts, compressor));
    ledger.transaction(() => {
      storeDecided(ledger, decided);
      changeChunk(ledger, "record", chunk);
    });
    await projectStored(context, chunk.chunk);
    decided.release();
  }
  if (ledger.kind === "postgres") return;
  const at = new Date().toISOString();
  for (const chunk of chunksOf(ledger, runNo, "sending")) {
    const detail = "the process ended before the answer came";
    const end = { event: "doubt", class: "in doubt", httpStatus: undefined, detail, at } as const;
    ledger.transaction(() => endAttempt(ledger, chunk, end));
  }
}

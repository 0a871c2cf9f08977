/** What became of a chunk's actions goes into the promises; what a crash left is put right. */

import type { Action } from "../actions/actions.ts";
import { parseJson } from "../actions/json.ts";
import { crashPoint } from "../disk/crash-points.ts";
import { endAttempt } from "../ledger/attempts.ts";
import type { NewOutcome } from "../ledger/blocks.ts";
import { changeChunk } from "../ledger/chunks.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { outcomesOfChunk, unprojectedChunks } from "../ledger/outcomes.ts";
import { type ChunkRecord, chunksOf } from "../ledger/runs.ts";
import { type LineStyle, promiseLines } from "../outputs/promise-lines.ts";
import type { PromiseSink } from "../outputs/promise-sink.ts";
import type { IndexRecord } from "../plan/files/index-file.ts";
import type { ChunkBorders, Plan } from "../plan/files/plan.ts";
import { type ChunkFacts, type ItemFacts, toOutcomes } from "./chunk-outcomes.ts";

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
  lines: string,
): Promise<() => void> {
  if (promises === undefined) return () => undefined;
  const record = await promises.write(lines);
  crashPoint("projected");
  return () => {
    record(ledger);
    changeChunk(ledger, "project", { runNo, chunk });
  };
}

async function project(context: ProjectContext, chunk: number, lines: string): Promise<void> {
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
const storedLines = (
  { ledger, runNo }: Pick<ProjectContext, "ledger" | "runNo">,
  chunk: number,
  { label, format, safeCsv }: LineStyle,
): string => promiseLines(outcomesOfChunk(ledger, runNo, chunk), label, format, safeCsv);

/**
 * Puts right what a crash left: a chunk that was being sent is in doubt, since its answer is lost. Where other machines may be sending, their chunks are left alone: whoever claims such a lane
 * finds out what became of them.
 */
export async function recover(context: RecordContext): Promise<void> {
  const { ledger, runNo } = context;
  await projectUnwritten(context);
  if (ledger.kind === "postgres") return;
  const at = new Date().toISOString();
  for (const chunk of chunksOf(ledger, runNo, "sending")) {
    const detail = "the process ended before the answer came";
    const end = { event: "doubt", class: "in doubt", httpStatus: undefined, detail, at } as const;
    ledger.transaction(() => endAttempt(ledger, chunk, end));
  }
}

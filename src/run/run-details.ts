/** What the ledger knows of one run, down to its actions. */

import { existsSync } from "node:fs";
import type { Action } from "../actions/actions.ts";
import { parseJson } from "../actions/json.ts";
import { resultsCommand, statusCommand } from "../actions/next-command.ts";
import type { Environment } from "../config/environment.ts";
import { Failure } from "../failure.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { outcomesOfChunk } from "../ledger/outcomes.ts";
import { type ChunkRecord, chunksOf, type RunRecord, wholeOf } from "../ledger/runs.ts";
import { type NotedSettlement, settlementsOf } from "../ledger/settlements.ts";
import { type Plan, planFiles } from "../plan/files/plan.ts";
import { lastCounts } from "../plan/identity/history-of-candidate.ts";
import { actionsOf } from "../sending/record-answer.ts";
import { findSuperseded } from "../sending/superseded.ts";
import { openLedgerToRead } from "./ledger-to-read.ts";
import { planDirectory } from "./places.ts";
import { openRunPlan } from "./run-plan.ts";

export interface RunDetails {
  /** `whole` is the planned chunk of which a chunk is a part. */
  readonly chunks: readonly (ChunkRecord & { readonly whole: number | undefined })[];
  readonly settlements: readonly NotedSettlement[];
}

export async function detailsOf(environment: Environment, { runNo }: RunRecord): Promise<RunDetails> {
  using ledger = await openLedgerToRead(environment);
  if (ledger === undefined) return { chunks: [], settlements: [] };
  return {
    chunks: chunksOf(ledger, runNo).map((chunk) => ({ ...chunk, whole: wholeOf(ledger, chunk) })),
    settlements: settlementsOf(ledger, runNo),
  };
}

/** The actions of a chunk, and what the ledger says of it. */
export interface ActionsOfChunk {
  readonly chunk: ChunkRecord;
  readonly actions: readonly PlacedAction[];
}

export interface PlacedAction {
  readonly source: string;
  readonly line: number;
  readonly action: Action;
}

/**
 * Every action of a chunk, with where it came from. Plans of ended runs are removed after a while; the outcome of each action
 * stays in the ledger.
 *
 * @throws Failure `usage` where the run has no such chunk, or only the removed plan had its actions.
 */
export async function actionsOfChunk(
  environment: Environment,
  run: RunRecord,
  number: number,
): Promise<ActionsOfChunk> {
  const directory = planDirectory(environment, run.run);
  using ledger = await openLedgerToRead(environment);
  const chunk = ledger && chunksOf(ledger, run.runNo).find((each) => each.chunk === number);
  if (ledger === undefined || chunk === undefined)
    throw new Failure("usage", `Run ${run.run} has no chunk ${number}.`, {
      hint: `See which it has: ${statusCommand(environment, run.run)}`,
    });
  if (!existsSync(planFiles(directory).manifest) && run.state !== "open")
    return { chunk, actions: actionsOfLedger(ledger, environment, run, chunk) };
  await using plan = await openRunPlan({ ledger, environment }, run);
  return { chunk, actions: await placedActions(plan, chunk) };
}

function actionsOfLedger(
  ledger: Ledger,
  environment: Environment,
  { run, runNo }: RunRecord,
  { chunk, state }: ChunkRecord,
): readonly PlacedAction[] {
  const rows = outcomesOfChunk(ledger, runNo, chunk);
  if (rows.length === 0)
    throw new Failure(
      "usage",
      `The plan of run ${run} was removed, and the ledger holds no action of its chunk ${chunk} (${state}).`,
      { hint: `Write what the ledger holds of the run: ${resultsCommand(environment, run)}` },
    );
  return rows.map(({ source, line, action, data }) => ({
    source,
    line,
    // The ledger holds what was sent, which the planner checked.
    action: { action: action as Action["action"], data: parseJson(data) as Action["data"] },
  }));
}

export async function placedActions(plan: Plan, chunk: ChunkRecord): Promise<readonly PlacedAction[]> {
  return (await actionsOf(plan, chunk)).map(({ action, record: { input, line } }) => {
    return { source: plan.manifest.inputs[input]?.name ?? "", line, action };
  });
}

export interface Questions {
  readonly run: string;
  readonly environment: Environment;
  readonly isOpen: boolean;
  /** It can't be resumed: what was not sent goes into rejects. */
  readonly isClosed: boolean;
  readonly chunks: readonly OpenChunk[];
  /** Actions that would come too late if they were sent now, since something later of their history was accepted. */
  readonly superseded: {
    readonly actions: number;
    /** How many of them would undo that; a scan undoes nothing. */
    readonly undoing: number;
  };
}

interface OpenChunk {
  readonly chunk: ChunkRecord;
  /** The planned chunk that it is a part of. */
  readonly whole: number | undefined;
  readonly actions: readonly PlacedAction[];
}

/** The doubtful actions, each with its place in the input. */
export async function questionsOf(
  ledger: Ledger,
  environment: Environment,
  plan: Plan,
  chunks: readonly ChunkRecord[],
  run: RunRecord,
): Promise<Questions> {
  const open: OpenChunk[] = [];
  for (const chunk of chunks)
    open.push({ chunk, whole: wholeOf(ledger, chunk), actions: await placedActions(plan, chunk) });
  const superseded = await findSuperseded(ledger, plan, chunks);
  const undoing = open.flatMap(({ chunk, actions }) =>
    actions.filter(({ action }, at) => superseded.has(chunk.first + at) && lastCounts(action.action)),
  );
  const isOpen = run.state === "open";
  return {
    run: run.run,
    environment,
    isOpen,
    isClosed: !isOpen || run.isClosing,
    chunks: open,
    superseded: { actions: superseded.size, undoing: undoing.length },
  };
}

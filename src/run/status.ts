/** What an environment's ledger says of its runs. Takes no lock. */

import { closeCommand, resumeCommand, settleCommand, statusCommand } from "../actions/next-command.ts";
import type { Environment } from "../config/environment.ts";
import { Failure } from "../failure.ts";
import type { Attempt, Chunk, Invocation, Ledger, LockHolder, Run, RunCounts, Settlement } from "../ledger/ledger.ts";
import type { Team } from "../ledger/workers.ts";
import { rejectsOf } from "../write/rejects.ts";
import { countsOf } from "./carry-out.ts";
import type { RunContext } from "./context.ts";
import { findLedgerOf, LOCK } from "./ledger-of.ts";
import { openRuns, unknownRun } from "./resume.ts";
import { lostRunsOf } from "./session.ts";
import { type AskedAction, actionsOfChunk } from "./settle.ts";
import { type Summary, summarise } from "./summary.ts";

export interface RunStatus {
  readonly run: Run;
  readonly counts: RunCounts;
  readonly summary: Summary;
}

export interface Status {
  readonly hasLedger: boolean;
  /** Why the ledger does not know everything that was sent. */
  readonly problem: Failure | undefined;
  /** Newest first. */
  readonly runs: readonly RunStatus[];
  readonly holder: LockHolder | undefined;
  /** The last stream or resume that succeeded, and the last that did not, where that was later. */
  readonly succeeded: Invocation | undefined;
  readonly failed: Invocation | undefined;
  /** Runs that a person has to decide about, the oldest first. */
  readonly toDecide: readonly Run[];
  readonly next: string | null;
  /** Where several machines send. */
  readonly team: Team | undefined;
  readonly size: { readonly bytes: number; readonly actions: number };
}

const NOTHING: Omit<Status, "problem"> = {
  ...{ hasLedger: false, runs: [], holder: undefined, succeeded: undefined, failed: undefined, toDecide: [] },
  ...{ next: null, team: undefined, size: { bytes: 0, actions: 0 } },
};

/** Commands whose end says whether a night went well. */
export const NIGHTLY = ["stream", "resume"];

/** @param last how many runs, besides those that are open. */
export async function status({ cwd }: RunContext, environment: Environment, last: number): Promise<Status> {
  await using ledger = await findLedgerOf(environment);
  const problem = await lostRunsOf(environment, ledger, cwd);
  if (ledger === undefined) return { ...NOTHING, problem };
  const open = await openRuns(ledger);
  const newest = await ledger.runs({ last });
  const all = [...new Map([...open, ...newest].map((run) => [run.number, run])).values()];
  const runs: RunStatus[] = [];
  for (const run of all.sort((a, b) => b.number - a.number)) runs.push(await statusOf(ledger, run, environment));
  const [succeeded] = await ledger.invocations({ commands: NIGHTLY, succeeded: true, last: 1 });
  const [latest] = await ledger.invocations({ commands: NIGHTLY, last: 1 });
  return {
    hasLedger: true,
    problem,
    runs,
    holder: await ledger.holder(LOCK),
    succeeded,
    failed: latest?.exitCode === 0 ? undefined : latest,
    toDecide: open.filter(({ number }) => runs.some((each) => each.run.number === number && waitsForPerson(each))),
    next: runs.findLast(({ summary }) => summary.next !== null)?.summary.next ?? null,
    team: await ledger.workers?.team(),
    size: await ledger.size(),
  };
}

const waitsForPerson = ({ run, counts }: RunStatus): boolean =>
  counts.inDoubt + counts.refused > 0 || run.state === "closing";

export async function statusOf(ledger: Ledger, run: Run, environment: Environment): Promise<RunStatus> {
  const counted = await ledger.counts(run.number);
  // Where nobody holds the lock any more, nobody waits for an answer.
  const counts = (await isSentByNobody(ledger))
    ? { ...counted, inDoubt: counted.inDoubt + counted.inFlight, inFlight: 0 }
    : counted;
  const isOpen = run.state === "open";
  const next =
    run.state === "closing"
      ? closeCommand(run, environment)
      : counts.inDoubt + counts.refused > 0
        ? settleCommand(run.run, environment)
        : isOpen && counts.inFlight === 0
          ? resumeCommand(run.run, environment)
          : null;
  const summary = summarise({
    run: run.run,
    environment: run.environment,
    state:
      run.kind === "adopted"
        ? "adopted"
        : run.state === "finished" || run.state === "abandoned"
          ? run.state
          : "stopped",
    exitCode: run.exitCode ?? 0,
    of: countsOf(run, counts),
    ...(run.kind !== "adopted" && { counts }),
    output: run.output ?? null,
    rejects: await rejectsOf(ledger, run),
    durationMs: run.endedAt === undefined ? 0 : Date.parse(run.endedAt) - Date.parse(run.createdAt),
    next,
  });
  return { run, counts, summary };
}

/** Of workers, what they vanished from is in doubt once its time is over. */
const isSentByNobody = async ({ workers, holder }: Ledger): Promise<boolean> =>
  workers === undefined && (await holder(LOCK)) === undefined;

export interface RunDetails extends RunStatus {
  readonly chunks: readonly Chunk[];
  readonly attempts: readonly Attempt[];
  readonly settlements: readonly Settlement[];
}

/** @throws Failure `usage` where there is no such run. */
export async function runStatus(environment: Environment, id: string): Promise<RunDetails> {
  await using ledger = await findLedgerOf(environment);
  const run = await ledger?.run(id);
  if (ledger === undefined || run === undefined) throw unknownRun(id, environment);
  // Awaited: the ledger is closed once this returns.
  return await detailsOf(ledger, run, environment);
}

export async function detailsOf(ledger: Ledger, run: Run, environment: Environment): Promise<RunDetails> {
  const chunks = await ledger.chunks(run.number);
  return {
    ...(await statusOf(ledger, run, environment)),
    chunks: (await isSentByNobody(ledger))
      ? chunks.map((chunk) => ({ ...chunk, state: chunk.state === "sending" ? "in doubt" : chunk.state }))
      : chunks,
    attempts: await ledger.attempts(run.number),
    settlements: await ledger.settlements(run.number),
  };
}

/**
 * Every action of a chunk, with where it came from.
 *
 * @throws Failure `usage` where the run has no such chunk.
 */
export async function chunkActions(
  environment: Environment,
  id: string,
  number: number,
): Promise<{ readonly chunk: Chunk; readonly actions: readonly AskedAction[] }> {
  await using ledger = await findLedgerOf(environment);
  const run = await ledger?.run(id);
  if (ledger === undefined || run === undefined) throw unknownRun(id, environment);
  const chunk = (await ledger.chunks(run.number)).find((each) => each.chunk === number);
  if (chunk === undefined)
    throw new Failure("usage", `Run ${id} has no chunk ${number}.`, {
      hint: `See which it has: ${statusCommand(environment, id)}`,
    });
  return { chunk, actions: await actionsOfChunk(ledger, run, number) };
}

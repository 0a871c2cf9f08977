/** Goes on with a run. */

import { statusCommand } from "../actions/next-command.ts";
import type { Environment } from "../config/environment.ts";
import { EXIT_CODES, Failure } from "../failure.ts";
import type { Ledger, Run } from "../ledger/ledger.ts";
import { carryOut, whyItWaits } from "./carry-out.ts";
import type { RunContext } from "./context.ts";
import type { RunEnd } from "./run-end.ts";
import { openSession } from "./session.ts";

export interface ResumeSettings {
  readonly environment: Environment;
  /** Its id; undefined: the oldest that is open. */
  readonly run: string | undefined;
  /** Milliseconds after which nothing new is begun. */
  readonly maxDuration?: number | undefined;
  readonly waitLock: number;
  readonly startedAt: number;
}

/**
 * Undefined where nothing is left to send: a `resume` that was killed at its end can be repeated.
 *
 * @throws Failure `usage` where there is no such run, or a person has closed it.
 */
export async function resume(context: RunContext, options: ResumeSettings): Promise<RunEnd | undefined> {
  const { environment, startedAt, maxDuration, waitLock } = options;
  const command = "tickets resume";
  await using session = await openSession(context, environment, { command, waitLockMs: waitLock, sends: true });
  const { ledger } = session;
  const [oldest] = await ledger.runs({ states: ["open", "closing"] });
  const run = options.run === undefined ? oldest : await chosenRun(ledger, options.run, environment);
  if (run === undefined || run.state === "finished") return undefined;
  if (run.state === "abandoned")
    throw new Failure("usage", `Run ${run.run} was closed; it can't be resumed. Nothing was sent.`, {
      hint: `See what came of it: ${statusCommand(environment, run.run)}`,
    });
  if (oldest !== undefined && oldest.number < run.number) throw comesFirst(oldest, environment);
  if (run.state === "closing") throw await whyItWaits(session, run);
  // Whoever resumes it has looked.
  await ledger.noteStop(run.number, { exitCode: EXIT_CODES["stopped-early"], paused: null });
  const deadline = maxDuration === undefined ? Number.POSITIVE_INFINITY : startedAt + maxDuration;
  return await carryOut(context, { session, run, isResumed: true, deadline, startedAt });
}

/** What an older run holds goes first. */
const comesFirst = ({ run, createdAt }: Run, environment: Environment): Failure =>
  new Failure("busy", `Run ${run} of ${createdAt} is older and comes first. Nothing was sent.`, {
    hint: `See where it stands: ${statusCommand(environment, run)}`,
  });

/**
 * The run that a command is about.
 *
 * @param id undefined: the only one that is open, or has a chunk in doubt.
 */
export async function chosenRun(ledger: Ledger, id: string | undefined, environment: Environment): Promise<Run> {
  if (id !== undefined) {
    const run = await ledger.run(id);
    if (run === undefined) throw unknownRun(id, environment);
    return run;
  }
  const open = await openRuns(ledger);
  const [run, ...others] = open;
  if (run === undefined)
    throw new Failure("usage", `No run of ${environment.name} is open.`, {
      hint: `See its runs: ${statusCommand(environment)}`,
    });
  if (others.length > 0)
    throw new Failure("usage", `${open.length} runs of ${environment.name} are open. Name one.`, {
      hint: open.map((each) => `${each.run} of ${each.createdAt}`).join("\n"),
    });
  return run;
}

/** Runs that wait for somebody, the oldest first: open, being closed, or closed with a doubt. */
export async function openRuns(ledger: Ledger): Promise<readonly Run[]> {
  const all = [
    ...(await ledger.runs({ states: ["open", "closing"] })),
    ...(await ledger.runs({ chunks: ["in doubt", "refused"] })),
  ];
  return [...new Map(all.map((run) => [run.number, run])).values()].sort((a, b) => a.number - b.number);
}

export const unknownRun = (run: string, environment: Environment): Failure =>
  new Failure("usage", `The ledger of ${environment.name} has no run ${run}.`, {
    hint: `See its runs: ${statusCommand(environment)}`,
  });

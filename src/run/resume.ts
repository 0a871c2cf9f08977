/** Goes on with a run. */

import { statusCommand } from "../actions/next-command.ts";
import type { Environment } from "../config/environment.ts";
import { EXIT_CODES, Failure } from "../failure.ts";
import type { Run } from "../ledger/ledger.ts";
import { carryOut, deadlineOf } from "./carry-out.ts";
import type { RunContext } from "./context.ts";
import { namedRun, whyItWaits } from "./runs.ts";
import { openSession } from "./session.ts";
import type { RunEnd } from "./summary.ts";

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
  const { environment, startedAt, waitLock } = options;
  const command = "tickets resume";
  await using session = await openSession(context, environment, { command, waitLockMs: waitLock, sends: true });
  const { ledger } = session;
  const [oldest] = await ledger.runs({ states: ["open", "closing"] });
  const run = options.run === undefined ? oldest : await namedRun(ledger, options.run, environment);
  if (run === undefined || run.state === "finished") return undefined;
  if (run.state === "abandoned")
    throw new Failure("usage", `Run ${run.run} was closed; it can't be resumed. Nothing was sent.`, {
      hint: `See what came of it: ${statusCommand(environment, run.run)}`,
    });
  if (oldest !== undefined && oldest.number < run.number) throw comesFirst(oldest, environment);
  if (run.state === "closing") throw await whyItWaits(ledger, run, environment);
  // Whoever resumes it has looked.
  await ledger.noteStop(run.number, { exitCode: EXIT_CODES["stopped-early"], paused: null });
  return await carryOut(context, { session, run, isResumed: true, deadline: deadlineOf(options), startedAt });
}

/** What an older run holds goes first. */
const comesFirst = ({ run, createdAt }: Run, environment: Environment): Failure =>
  new Failure("busy", `Run ${run} of ${createdAt} is older and comes first. Nothing was sent.`, {
    hint: `See where it stands: ${statusCommand(environment, run)}`,
  });

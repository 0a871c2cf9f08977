/** Goes on with runs: the one that a person names, and those that come before anything new. */

import type { Environment } from "../config/environment.ts";
import { EXIT_CODES, Failure } from "../failure.ts";
import { statusCommand } from "../next-command.ts";
import type { RunContext } from "./context.ts";
import { isEnteredHere, openPromises } from "./outputs.ts";
import { failureIfBlocked, namedRun } from "./runs.ts";
import { type Limits, openSession, type Session } from "./session.ts";
import type { RunEnd, Summary } from "./summary.ts";

export interface ResumeSettings extends Limits {
  readonly environment: Environment;
  /** Its id; undefined: the oldest that is open. */
  readonly run: string | undefined;
}

/**
 * Undefined where nothing is left to send: a `resume` that was killed at its end can be repeated.
 *
 * @throws Failure `usage` where there is no such run, or a person has closed it.
 */
export async function resume(context: RunContext, options: ResumeSettings): Promise<RunEnd | undefined> {
  const { environment } = options;
  await using session = await openSession(context, environment, { ...options, command: "tickets resume", sends: true });
  const { ledger } = session;
  const [oldest] = await ledger.runs({ states: ["open", "closing"] });
  const run = options.run === undefined ? oldest : await namedRun(ledger, options.run, environment);
  if (run === undefined || run.state === "finished") return undefined;
  if (run.state === "abandoned")
    throw new Failure("usage", `Run ${run.run} was closed; it can't be resumed.`, {
      nothingSent: true,
      hint: `See its outcome: ${statusCommand(environment, run.run)}`,
    });
  if (oldest !== undefined && oldest.number < run.number)
    throw new Failure("busy", `Run ${oldest.run} is older and comes first.`, {
      nothingSent: true,
      hint: `See where it stands: ${statusCommand(environment, oldest.run)}`,
    });
  if (run.state === "closing") throw await failureIfBlocked(ledger, run, environment);
  // The person who resumes it has looked.
  await ledger.noteStop(run.number, { exitCode: EXIT_CODES["stopped-early"], paused: null });
  const { carryOut } = await import("./carry-out.ts");
  return await carryOut(context, session, run, "resumed");
}

/**
 * Finishes runs that were interrupted; one that a person stopped, or that is in doubt, waits for a person.
 *
 * @returns how the last of them ended; its summary holds those of the others.
 */
export async function finishEarlierRuns(context: RunContext, session: Session): Promise<RunEnd | undefined> {
  const { ledger, environment } = session;
  let last: RunEnd | undefined;
  for (const run of await ledger.runs({ states: ["open", "closing"] })) {
    const waits = await failureIfBlocked(ledger, run, environment);
    if (waits !== undefined) throw waits;
    context.progress.happened({ kind: "earlier run comes first", run: run.run });
    // Loaded only here: most nights, no run is left.
    const { carryOut } = await import("./carry-out.ts");
    const end = await carryOut(context, { ...session, startedAt: performance.now() }, run, "resumed");
    last = { ...end, summary: afterEarlier(end.summary, last?.summary) };
    if (end.summary.state !== "finished") break;
  }
  return last;
}

/** A quiet end does not hide the exit code of an earlier run. */
export function afterEarlier(summary: Summary, resumed: Summary | undefined): Summary {
  if (resumed === undefined || summary === resumed) return summary;
  const exitCode = summary.exitCode === EXIT_CODES.ok ? resumed.exitCode : summary.exitCode;
  return { ...summary, exitCode, resumed };
}

/** Writes the promises that a killed command did not write, of runs that have ended since. */
export async function writeLeft(context: RunContext, session: Session): Promise<void> {
  const { ledger } = session;
  for (const run of await ledger.runs({ unwritten: true })) {
    if (run.state === "open" || run.state === "closing" || !isEnteredHere(ledger, run)) continue;
    await using promises = await openPromises(context, session, run);
    const files = promises.path === undefined ? [] : [promises.path];
    context.progress.happened({ kind: "left written", run: run.run, files });
  }
}

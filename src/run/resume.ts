/** Resumes a run from its plan. */

import { resumeCommand, statusCommand } from "../actions/next-command.ts";
import { cleanText } from "../actions/text.ts";
import type { Environment } from "../config/environment.ts";
import { EXIT_CODES, Failure } from "../failure.ts";
import { findRun, noteStop, openRuns, type RunRecord } from "../ledger/runs.ts";
import { carryOut } from "./carry-out.ts";
import type { RunContext } from "./context.ts";
import { refuseClosing } from "./earlier-runs.ts";
import { writeLeft } from "./left-unwritten.ts";
import type { RunEnd } from "./run-end.ts";
import { openSession, type Session, tellOpened } from "./session.ts";
import type { Settings } from "./settings.ts";

export interface ResumeSettings {
  readonly settings: Settings;
  /** Without it, the oldest unfinished one. */
  readonly run?: string | undefined;
  /** Milliseconds after which nothing new is begun. */
  readonly maxDuration?: number | undefined;
  /** Milliseconds to wait while another run holds the ledger. */
  readonly waitLock: number;
  /** When it began, by `performance.now()`. */
  readonly startedAt: number;
}

/**
 * Resumes a run from its plan; the input is not read. Undefined where there is nothing to resume.
 *
 * @throws Failure for a run that is not known, or that was closed.
 */
export async function resume(context: RunContext, options: ResumeSettings): Promise<RunEnd | undefined> {
  const { settings, startedAt, maxDuration } = options;
  await using session = await openSession(context, settings, {
    command: "tickets resume",
    waitLockMs: options.waitLock,
    sends: true,
  });
  tellOpened(context, session, true);
  await writeLeft(context, session);
  const run = chooseRun(session, options.run);
  if (run === undefined) return undefined;
  refuseClosing(session, run);
  // The person who stopped it wants it to go on: if this process dies, the next command finishes the run unasked.
  if (run.stoppedByPerson) noteStop(session.ledger, run.runNo, run.exitCode ?? EXIT_CODES["stopped-early"], false);
  const deadline = maxDuration === undefined ? Number.POSITIVE_INFINITY : startedAt + maxDuration;
  return await carryOut(context, { session, run, isResumed: true, deadline, startedAt });
}

/** The named run, or the oldest unfinished one; undefined for one that is finished. */
function chooseRun({ ledger, environment }: Session, name: string | undefined): RunRecord | undefined {
  if (name === undefined) return openRuns(ledger)[0];
  const run = findRun(ledger, name);
  if (run === undefined) throw unknownRun(name, environment);
  if (run.state === "abandoned")
    throw new Failure("usage", `Run ${name} was closed on ${run.endedAt}; it can't be resumed.`, {
      hint: `See what it left unsent, and its rejects: ${statusCommand(environment, run.run)}`,
    });
  if (run.state !== "open") return undefined;
  const [first] = openRuns(ledger);
  if (ledger.kind === "postgres" && first !== undefined && first.runNo < run.runNo)
    throw new Failure("busy", `Run ${first.run} of ${first.createdAt} comes first. Nothing was sent.`, {
      hint: `Resume it: ${resumeCommand(first.run, environment)}`,
    });
  return run;
}

export function unknownRun(name: string, environment: Environment): Failure {
  return new Failure("usage", `There is no run ${cleanText(name)} in the ledger of ${environment.name}.`, {
    hint: `List its runs: ${statusCommand(environment)}`,
  });
}

/** Unfinished runs that a command finds. */

import { closeCommand, resumeCommand, settleCommand, statusCommand } from "../actions/next-command.ts";
import { EXIT_CODES, Failure } from "../failure.ts";
import { chunksOf, countRun, openQuestions, openRuns, type RunRecord } from "../ledger/runs.ts";
import { type Manifest, parseManifest } from "../plan/files/manifest.ts";
import { carryOut } from "./carry-out.ts";
import type { RunContext } from "./context.ts";
import type { Session } from "./session.ts";
import type { Summary } from "./summary.ts";

/** The exit code of an earlier run must not be hidden by a quiet end of this one. */
export function afterResumed(summary: Summary, resumed: Summary | undefined): Summary {
  const exitCode = summary.exitCode === EXIT_CODES.ok && resumed !== undefined ? resumed.exitCode : summary.exitCode;
  return { ...summary, exitCode, resumed: resumed ?? null };
}

/** The last of the earlier runs; its summary holds those of the others. */
export interface Resumed {
  readonly summary: Summary;
  readonly manifest: Manifest;
}

/**
 * Unfinished runs come first: they are older than what this command brings. One that a person stopped, or that is in doubt,
 * waits for a person.
 */
export async function finishEarlierRuns(
  context: RunContext,
  session: Session,
  deadline: number,
): Promise<Resumed | null> {
  let last = null as Resumed | null; // narrowed to null otherwise
  for (const run of openRuns(session.ledger)) {
    refuseClosing(session, run);
    refuseStoppedByPerson(session, run);
    refuseTooManyRejections(session, run);
    context.progress.happened({ kind: "earlier run comes first", run: run.run, createdAt: run.createdAt });
    const { summary } = await carryOut(context, {
      session,
      run,
      isResumed: true,
      deadline,
      startedAt: performance.now(),
    });
    last = { summary: afterResumed(summary, last?.summary), manifest: parseManifest(run.manifest) };
    if (summary.state !== "finished") return last;
  }
  return last;
}

type Opened = Pick<Session, "environment" | "ledger">;

/** Why nothing more of a run is sent before a person has done something; undefined where nothing holds it up. */
export function whyItWaits(opened: Opened, run: RunRecord): Failure | undefined {
  try {
    refuseClosing(opened, run);
    refuseStoppedByPerson(opened, run);
    refuseTooManyRejections(opened, run);
  } catch (cause) {
    if (cause instanceof Failure) return cause;
    throw cause;
  }
  const { environment, ledger } = opened;
  const [chunk, ...others] = openQuestions(ledger, run.runNo);
  if (chunk === undefined) return undefined;
  const isDoubt = [chunk, ...others].some(({ state }) => state === "in doubt");
  const which = [chunk, ...others].map(({ chunk: number }) => number).join(", ");
  return new Failure(
    isDoubt ? "in-doubt" : "refused",
    `Run ${run.run} of ${run.createdAt} waits for a person to decide about chunk ${which}. Nothing of it is sent before that, nor of later runs.`,
    { hint: `Look, then decide: ${settleCommand(run.run, environment)}` },
  );
}

export function refuseStoppedByPerson(
  { environment, ledger }: Opened,
  { run, runNo, stoppedByPerson, createdAt }: RunRecord,
): void {
  if (!stoppedByPerson || openQuestions(ledger, runNo).length > 0) return;
  throw new Failure("busy", `Run ${run} of ${createdAt} was stopped by a person and comes first. Nothing was sent.`, {
    hint: `Resume it: ${resumeCommand(run, environment)}\nOr close it: ${closeCommand({ run }, environment)}`,
  });
}

/** A run that stopped for too many rejections waits until a person has looked at them, which `resume` says. */
export function refuseTooManyRejections({ environment, ledger }: Opened, { run, runNo, exitCode }: RunRecord): void {
  if (exitCode !== EXIT_CODES.refused || environment.refusalsAreWhole) return;
  if (chunksOf(ledger, runNo, "refused").length > 0 || countRun(ledger, runNo).rejected <= environment.maxRejected)
    return;
  throw new Failure(
    "refused",
    `Run ${run} stopped because the service rejected too many of its actions, and comes first. Nothing was sent.`,
    {
      hint: `Look at them: ${statusCommand(environment, run)}\nThen go on: ${resumeCommand(run, environment)}`,
    },
  );
}

/** @throws Failure `busy` for a run that a person has begun to close: what follows the closed part would be sent without it. */
export function refuseClosing({ environment }: Pick<Session, "environment">, run: RunRecord): void {
  if (!run.isClosing) return;
  throw new Failure(
    "busy",
    `The closing of run ${run.run} of ${run.createdAt} was interrupted, and comes first. Nothing was sent.`,
    { hint: `Finish closing it: ${closeCommand(run, environment)}` },
  );
}

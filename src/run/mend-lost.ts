/** Brings a run of which the ledger lacks a part up to what the list of runs says. */

import { existsSync, readFileSync } from "node:fs";
import { forgetLostCommand } from "../actions/next-command.ts";
import { Failure } from "../failure.ts";
import type { LostRun } from "../ledger/run-list.ts";
import { findRun, type RunRecord, wasEnteredAgain } from "../ledger/runs.ts";
import { openPlan, type Plan, planFiles } from "../plan/files/plan.ts";
import type { Decision } from "../sending/by-hand.ts";
import { enterLostRun, isImportedRun, mendLostRun } from "../sending/mend-lost-run.ts";
import type { RunContext } from "./context.ts";
import { lostRunsFailure } from "./lost-runs.ts";
import { planDirectory } from "./places.ts";
import { whyNotImported } from "./promises-file.ts";
import type { Session } from "./session.ts";
import { userName } from "./user-name.ts";

/**
 * Closes what the ledger lacks of the run, or puts it in doubt, so that a person can look at it and decide.
 *
 * @param known undefined where the ledger does not know the run at all.
 * @throws Failure `usage` where the run's plan is lost.
 */
export async function mendLost(
  context: RunContext,
  session: Session,
  known: RunRecord | undefined,
  lost: LostRun,
): Promise<RunRecord> {
  const { ledger, environment, runList } = session;
  await using plan = await openPlanOf(session, lost.run, known);
  const run = known ?? enterLostRun(ledger, plan, lost);
  const { doubted, closed } = await mendLostRun(ledger, plan, run, lost);
  const mended = findRun(ledger, run.run) ?? run;
  if (lost.isDecided) runList.stopped(ledger, mended);
  else runList.doubted(ledger, mended, userName());
  context.progress.happened({
    kind: "lost run mended",
    environment,
    lost,
    doubted,
    closed,
    // Where the whole run was missing, the ledger need not have been restored from a copy.
    wasMissing: wasEnteredAgain(ledger, mended),
  });
  return mended;
}

/** The plan of a run of which the ledger lacks a part. */
async function openPlanOf({ environment }: Session, name: string, run: RunRecord | undefined): Promise<Plan> {
  const directory = planDirectory(environment, name);
  try {
    // An imported run's record holds no plan.
    const manifest =
      run === undefined || isImportedRun(run)
        ? readFileSync(planFiles(directory).manifest, "utf8").trimEnd()
        : run.manifest;
    return await openPlan(directory, manifest);
  } catch (cause) {
    throw new Failure(
      "usage",
      `The ledger of ${environment.name} does not know everything that run ${name} sent, and the run's plan is lost, so what it lacks is not known. Nothing was settled.`,
      {
        cause,
        hint: `Restore the folder ${directory} from a backup. If it is lost: find out what the service has, leave that out of what you stream from now on, then: ${forgetLostCommand(environment)}`,
      },
    );
  }
}

/** Refuses a decision while the ledger lacks runs: what it only half remembers may not be what the person thinks of. */
export async function refuseLost(
  context: RunContext,
  session: Session,
  { decision, run: name }: { readonly decision: Decision | undefined; readonly run: string },
): Promise<void> {
  const lost = session.lost();
  if (lost.length === 0) return;
  const failure = await lostRunsFailure(lost, session.environment, context.cwd, "Nothing was settled.");
  if (decision !== undefined) throw failure;
  const ofRun = lost.find(({ run }) => run === name);
  if (ofRun === undefined) context.progress.happened({ kind: "runs are lost", problem: failure });
  if (ofRun === undefined || ofRun.isDecided) return;
  // What a later run was promised is no doubt of this one, so later runs count too.
  const telling = lost.filter(({ run, createdAt }) => run === name || createdAt > ofRun.createdAt);
  for (const each of telling) if (await hasMoreToImport(context, each)) throw failure;
}

/** Whether a run has promises that are not imported yet: only what they don't tell is in doubt. */
async function hasMoreToImport({ progress }: RunContext, { unread }: LostRun): Promise<boolean> {
  for (const path of unread) {
    if (!existsSync(path)) continue;
    const why = await whyNotImported(path);
    if (why === undefined) return true;
    progress.happened({ kind: "promises unusable", why });
  }
  return false;
}

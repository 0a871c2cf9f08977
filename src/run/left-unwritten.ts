/** What a killed command had put into the ledger but not into promises and rejects is written before anything else. */

import type { Ledger } from "../ledger/ledger.ts";
import { mergeOutcomes } from "../ledger/merge.ts";
import { unprojectedChunks } from "../ledger/outcomes.ts";
import { chunksOf, type RunRecord, unwrittenRuns } from "../ledger/runs.ts";
import { canWriteRejects, writeRejects } from "../outputs/rejects.ts";
import type { Plan } from "../plan/files/plan.ts";
import { projectUnwritten } from "../sending/record-answer.ts";
import { noteInList, rejectsDirectory } from "./carry-out.ts";
import type { RunContext } from "./context.ts";
import { arePromisesElsewhere, openPromises } from "./promises.ts";
import { isPlannedElsewhere, openRunPlan } from "./run-plan.ts";
import type { Session } from "./session.ts";

/**
 * Writes what is left of every run, closed ones too, which no other command would resume. A part of their lines may already
 * stand at the end of a file that another run is about to append to, and would look like somebody else's.
 */
export async function writeLeft(context: RunContext, session: Session): Promise<void> {
  const { ledger } = session;
  for (const run of unwrittenRuns(ledger)) {
    const promises = await writeLeftPromises(context, session, run);
    // An open run will be resumed, and writes its rejects at its end.
    if (run.state === "open") continue;
    const rejects = await writeRejectsOfEnded(context, session, run);
    const files = [...promises, ...rejects];
    if (files.length > 0) context.progress.happened({ kind: "left written", run: run.run, files });
  }
}

/** Writes what is left of the rejects of a run that has ended, and notes that nothing more happens to it. */
export async function writeRejectsOfEnded(
  context: RunContext,
  session: Session,
  run: RunRecord,
): Promise<readonly string[]> {
  const rejects = await writeLeftRejects(context, session, run);
  mergeOutcomes(session.ledger);
  noteInList(context, session, run);
  return rejects;
}

/** Promises for standard output wait for the command that resumes the run. */
async function writeLeftPromises(context: RunContext, session: Session, run: RunRecord): Promise<readonly string[]> {
  const { ledger } = session;
  if (
    run.output === undefined ||
    arePromisesElsewhere(ledger, run) ||
    unprojectedChunks(ledger, run.runNo).length === 0
  )
    return [];
  await using promises = await openPromises(context, session, run);
  await projectUnwritten({ ledger, runNo: run.runNo, promises });
  return promises?.path === undefined ? [] : [promises.path];
}

async function writeLeftRejects(context: RunContext, session: Session, run: RunRecord): Promise<readonly string[]> {
  const { ledger } = session;
  if (isPlannedElsewhere(ledger, run)) return [];
  await using plan = await openRunPlan(session, run, context).catch(() => undefined);
  if (plan === undefined || !(await tellsRows(ledger, plan, run))) return [];
  const directory = rejectsDirectory(context, plan.manifest);
  const { written } = await writeRejects({ ledger, run, plan, directory });
  return [...written.keys()];
}

/** Whether the plan of a closed run still tells its rows. Nothing waits for a plan that is lost or damaged. */
async function tellsRows(ledger: Ledger, plan: Plan, { runNo }: RunRecord): Promise<boolean> {
  if (!(await canWriteRejects(plan))) return false;
  try {
    for (const chunk of chunksOf(ledger, runNo)) if (!chunk.rejectsWritten) await plan.records(chunk);
    return true;
  } catch {
    return false;
  }
}

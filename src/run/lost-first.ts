/** What has to be put right before a person decides about a run. */

import { existsSync } from "node:fs";
import type { LostRun } from "../ledger/run-list.ts";
import type { Decision } from "../sending/by-hand.ts";
import type { RunContext } from "./context.ts";
import { lostRunsFailure } from "./lost-runs.ts";
import { whyNotImported } from "./promises-file.ts";
import type { Session } from "./session.ts";
/** Refuses a decision while the ledger lacks runs: what it only half remembers may not be what the person thinks of. */
export async function refuseLost(
  context: RunContext,
  session: Session,
  { decision, run: name }: { readonly decision: Decision | undefined; readonly run: string },
): Promise<void> {
  const lost = session.lost();
  if (lost.length === 0) return;
  const failure = lostRunsFailure(lost, session.environment, context.cwd, "Nothing was settled.");
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

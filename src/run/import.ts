/** Gives a lost or restored ledger its memory back from promises files. */

import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { Environment } from "../config/environment.ts";
import { EXIT_CODES, Failure } from "../failure.ts";
import { changeChunk } from "../ledger/chunks.ts";
import { IMPORTED, mergeOutcomes, rememberUnplaced } from "../ledger/known-state.ts";
import { type Ledger, runListPath, writeMeta } from "../ledger/ledger.ts";
import { leavesOpen } from "../ledger/outcomes.ts";
import { wasReset } from "../ledger/run-list.ts";
import { chunksOf, endRun, findRun, type RunRecord } from "../ledger/runs.ts";
import { DECIDED_STATES, UNDECIDED_STATES } from "../ledger/states.ts";
import { noteRejects } from "../outputs/rejects.ts";
import { openPlan } from "../plan/files/plan.ts";
import { isImportedRun } from "../sending/mend-lost.ts";
import { adoptFile, originalsOf } from "./adopted-output.ts";
import type { RunContext } from "./context.ts";
import { completeRun, enterFromPlan, importRun, missingFrom, toOutcome } from "./imported-lines.ts";
import { lostRunsFailure } from "./lost-runs.ts";
import { mendLost } from "./mend-lost.ts";
import { planDirectory } from "./places.ts";
import { mendEnd, type PromiseLine, readPromises } from "./promises-file.ts";
import { openSession, type Session } from "./session.ts";
import type { Settings } from "./settings.ts";
export interface ImportSettings {
  readonly settings: Settings;
  readonly file: string;
  /** Milliseconds to wait while another run holds the ledger. */
  readonly waitLock: number;
}

/** What an import came to. */
export interface ImportResult {
  readonly path: string;
  /** Actions that the ledger knows now and did not know before. */
  readonly imported: number;
  /** How many runs they are of. */
  readonly runs: number;
  /** Actions of the file that it knew. */
  readonly known: number;
  /** Why nothing can be sent yet: runs are still lost. */
  readonly stillLost: Failure | undefined;
  /** Runs of which nothing but these promises is known, so that there may be more of them. */
  readonly onlyPromised: readonly string[];
}

/**
 * Runs that the ledger knows are left as they are, so importing twice changes nothing. A promises file holds ids and not
 * every field, so what can only be recognised by its other fields (scans, claims, updates, resales) is remembered by its
 * ticket or event alone; a later action of the same kind on it is then a problem that a person decides, never sent unasked.
 */
export async function importResults(context: RunContext, options: ImportSettings): Promise<ImportResult> {
  const { cwd, progress } = context;
  const { settings, file } = options;
  const { environment } = settings;
  await using session = await openSession(context, settings, {
    command: "tickets results --import",
    waitLockMs: options.waitLock,
    mayLackRuns: true,
  });
  const { ledger } = session;
  const path = resolve(cwd, file);
  const { lines, end } = await readPromises(path, file);
  refuseForeign(file, lines, environment);
  const runs = Map.groupBy(lines, ({ run }) => run);
  refuseReset(file, [...runs.keys()], environment);
  let [imported, unplaced] = [0, 0];
  for (const [run, ofRun] of runs) {
    const done = await importLines(context, session, run, ofRun);
    imported += done.imported;
    unplaced += done.unplaced;
  }
  mergeOutcomes(ledger);
  const isOurs = await mendEnd(path, end);
  if (end.isIncomplete) progress.happened({ kind: "promises end amid a line", file, text: end.text, isCutOff: isOurs });
  if (isOurs) await adoptFile(ledger, path);
  for (const original of await originalsOf(session, path, [...runs.keys()])) await adoptFile(ledger, original);
  await mendDecided(context, session);
  for (const [run, ofRun] of runs) await endAsListed(session, run, ofRun);
  const lost = session.lost();
  return {
    path,
    imported,
    runs: runs.size,
    known: lines.length - imported - unplaced,
    stillLost:
      lost.length === 0 ? undefined : lostRunsFailure(lost, environment, cwd, "Nothing is sent until that is mended."),
    onlyPromised: [...runs.keys()].filter((run) => isOnlyPromised(session, run)),
  };
}

/** The lines of one run that the ledger lacks. */
async function importLines(
  { progress }: RunContext,
  session: Session,
  run: string,
  lines: readonly PromiseLine[],
): Promise<{ readonly imported: number; readonly unplaced: number }> {
  const { ledger, environment } = session;
  const known = findRun(ledger, run) ?? (await enterFromPlan(session, run));
  const missing = known === undefined ? lines : missingFrom(ledger, known, lines);
  if (missing.length === 0) return { imported: 0, unplaced: 0 };
  // An imported run may go on in another file, or in the rest of this one.
  if (known === undefined || isImportedRun(known)) {
    importRun(session, run, missing);
    return { imported: missing.length, unplaced: 0 };
  }
  const imported = await completeRun(session, known, missing);
  if (imported === missing.length) return { imported, unplaced: 0 };
  const left = missingFrom(ledger, known, missing);
  ledger.transaction(() => {
    rememberUnplaced(ledger, known.runNo, left.map(toOutcome));
    writeMeta(ledger, IMPORTED, "yes");
  });
  const directory = planDirectory(environment, run);
  progress.happened({ kind: "promises without a place", run, promises: left.length, directory });
  return { imported, unplaced: left.length };
}

function refuseForeign(file: string, lines: readonly PromiseLine[], { name, ledgerNames }: Environment): void {
  const foreign = lines.find((line) => !ledgerNames.includes(line.environment));
  if (foreign === undefined) return;
  throw new Failure(
    "usage",
    `${file} holds promises of ${foreign.environment}, not of ${name}. Nothing was imported.`,
    { hint: `Name its environment: --env ${foreign.environment}` },
  );
}

/** What a sandbox had taken before its reset, the new one has not; a ledger that believed so would never send it. */
function refuseReset(file: string, runs: readonly string[], environment: Environment): void {
  const run = runs.find((each) => wasReset(runListPath(environment.ledgerPath), each));
  if (run === undefined) return;
  throw new Failure(
    "usage",
    `${file} belongs to the sandbox before its reset (run ${run}); the new sandbox has none of it. Nothing was imported.`,
    { hint: "No import is needed: what you stream is sent to the new sandbox." },
  );
}

/** Of a run that the list of runs says all of, nothing is left to ask. */
async function mendDecided(context: RunContext, session: Session): Promise<void> {
  for (const lost of session.lost()) {
    const run = findRun(session.ledger, lost.run);
    if (lost.isDecided && run !== undefined && existsSync(planDirectory(session.environment, run.run)))
      await mendLost(context, session, run, lost);
  }
}

/** A run that had ended, and of which the ledger knows all now, does not come first once more. */
async function endAsListed(
  { ledger, runList, environment }: Session,
  name: string,
  lines: readonly PromiseLine[],
): Promise<void> {
  const [run, listed] = [findRun(ledger, name), runList.content.runs.get(name)];
  if (run?.state !== "open" || listed?.stopped?.state !== "finished") return;
  if (UNDECIDED_STATES.some((state) => chunksOf(ledger, run.runNo, state).length > 0)) return;
  await noteRejectsOf(ledger, run, planDirectory(environment, name));
  const exitCode = EXIT_CODES[leavesOpen(ledger, run.runNo) ? "finished-with-rejects" : "ok"];
  ledger.transaction(() => {
    // The rejects were written before the list was told.
    for (const chunk of DECIDED_STATES.flatMap((state) => chunksOf(ledger, run.runNo, state)))
      changeChunk(ledger, "writeRejects", chunk);
    const last = lines
      .map(({ at }) => at)
      .toSorted()
      .at(-1);
    endRun(ledger, run.runNo, "finished", exitCode, last ?? run.createdAt);
  });
}

/** Where the rows of its rejects stood is known again. Without its plan they stay unknown. */
async function noteRejectsOf(ledger: Ledger, run: RunRecord, directory: string): Promise<void> {
  if (!existsSync(directory)) return;
  try {
    await using plan = await openPlan(directory, run.manifest);
    await noteRejects({ ledger, run, plan, encoding: plan.manifest.options.encoding });
  } catch {
    // A damaged one tells no more than one that is lost.
  }
}

/** Whether neither list nor plan tells of a run, so that nothing else says that there may be more of it. */
function isOnlyPromised({ ledger, runList }: Session, name: string): boolean {
  const run = findRun(ledger, name);
  return run !== undefined && isImportedRun(run) && !runList.content.runs.has(name);
}

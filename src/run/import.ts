/** Refills a lost or restored ledger from promises files. */

import { existsSync } from "node:fs";
import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import type { Environment } from "../config/environment.ts";
import { sha256OfFile } from "../disk/sha256-of-file.ts";
import { EXIT_CODES, Failure } from "../failure.ts";
import { changeChunk } from "../ledger/chunks.ts";
import { IMPORTED } from "../ledger/known-state.ts";
import { type Ledger, runListPath, writeMeta } from "../ledger/ledger.ts";
import { mergeOutcomes, rememberUnplaced } from "../ledger/merge.ts";
import { leavesOpen, outcomesOfChunk, unprojectedChunks } from "../ledger/outcomes.ts";
import { adoptOutput, knownOutputs } from "../ledger/outputs.ts";
import { wasReset } from "../ledger/run-list.ts";
import { countRun, decidedChunks, endRun, findRun, isUndecided, type RunRecord } from "../ledger/runs.ts";
import { promiseFormat, promiseLines } from "../outputs/promise-lines.ts";
import { noteRejects } from "../outputs/rejects.ts";
import { parseManifest } from "../plan/files/manifest.ts";
import { openPlan } from "../plan/files/plan.ts";
import { refuseEmptyName } from "../readers/inputs.ts";
import { isImportedRun } from "../sending/mend-lost-run.ts";
import type { RunContext } from "./context.ts";
import { completeRun, contradictionOf, enterFromPlan, importRun, missingFrom, toOutcome } from "./imported-lines.ts";
import { lostRunsFailure, waysOut } from "./lost-runs.ts";
import { mendLost } from "./mend-lost.ts";
import { planDirectory } from "./places.ts";
import { arePromisesElsewhere, labelOf, lockOutput } from "./promises.ts";
import { appendWhole, lineFailure, mendEnd, type PromiseLine, readPromises } from "./promises-file.ts";
import { openSession, type Session } from "./session.ts";
import type { Settings } from "./settings.ts";

export interface ImportSettings {
  readonly settings: Settings;
  readonly file: string;
  /** Milliseconds to wait while another run holds the ledger. */
  readonly waitLock: number;
}

/** The result of an import. */
export interface ImportResult {
  readonly path: string;
  /** Actions that the ledger knows now and did not know before. */
  readonly imported: number;
  /** How many runs these belong to. */
  readonly runs: number;
  /** Actions of the file that it knew before. */
  readonly known: number;
  /** Why nothing can be sent yet: runs are still lost. */
  readonly stillLost: Failure | undefined;
  /** Runs of which only these promises are known, so that there may be more. */
  readonly onlyPromised: readonly string[];
}

/**
 * Runs that the ledger knows stay as they are, so importing twice changes nothing. A promises file holds ids, not every
 * field. Actions that only their other fields can tell apart (scans, claims, updates, resales) are therefore remembered by
 * ticket or event alone; a later action of the same kind on it is a problem for a person to decide, and never sent unasked.
 */
export async function importResults(context: RunContext, options: ImportSettings): Promise<ImportResult> {
  const { cwd, progress } = context;
  const { settings, file } = options;
  const { environment } = settings;
  refuseEmptyName(file);
  await using session = await openSession(context, settings, {
    command: "tickets results --import",
    waitLockMs: options.waitLock,
    mayLackRuns: true,
  });
  const { ledger } = session;
  const path = resolve(cwd, file);
  // In a shared ledger others write promises while this one imports.
  using _lock = await lockOutput(context, ledger, path, "tickets results --import");
  const { lines, end } = await readToImport(context, session, path, file);
  refuseForeign(file, lines, environment);
  const runs = Map.groupBy(lines, ({ run }) => run);
  refuseReset(file, [...runs.keys()], environment);
  for (const [run, ofRun] of runs) await refuseContradiction(session, file, run, ofRun);
  let [imported, unplaced, completed] = [0, 0, 0];
  for (const [run, ofRun] of runs) {
    const done = await importLines(context, session, run, ofRun);
    imported += done.imported;
    unplaced += done.unplaced;
    if (done.imported > 0) completed += 1;
  }
  mergeOutcomes(ledger);
  const isOurs = await mendEnd(path, end);
  if (end.isIncomplete) progress.happened({ kind: "promises end amid a line", file, text: end.text, isCutOff: isOurs });
  const originals = await originalsOf(session, path, [...runs.keys()]);
  if (isOurs) await adoptFile(ledger, path, runs);
  for (const original of originals) {
    using _ofOriginal = await lockOutput(context, ledger, original, "tickets results --import");
    await adoptFile(ledger, original, runs);
  }
  for (const [run, ofRun] of runs) tellLacking(context, session, { path, file }, run, ofRun);
  await mendDecided(context, session);
  for (const [run, ofRun] of runs) await endAsListed(session, run, ofRun);
  const lost = session.lost();
  return {
    path,
    imported,
    runs: completed,
    known: lines.length - imported - unplaced,
    stillLost:
      lost.length === 0
        ? undefined
        : await lostRunsFailure(lost, environment, cwd, "Nothing is sent until that is mended."),
    onlyPromised: [...runs.keys()].filter((run) => isOnlyPromised(session, run)),
  };
}

/** @throws Failure `usage` that names the way without the file, where a run that the ledger lacks has its promises there. */
async function readToImport({ cwd }: RunContext, session: Session, path: string, file: string) {
  try {
    return await readPromises(path, file);
  } catch (cause) {
    if (!(cause instanceof Failure)) throw cause;
    const lost = session.lost().filter(({ unread }) => unread.includes(path));
    const hint = lost.length === 0 ? cause.hint : await waysOut(lost, session.environment, cwd);
    throw new Failure(cause.code, `${cause.message} Nothing was imported.`, { cause, hint });
  }
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
  // More of an imported run may be in another file, or in the rest of this one.
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

/** What the ledger has of a run that wrote into this file, and the file has not: somebody took it out, or put an older copy back. */
function tellLacking(
  { progress }: RunContext,
  { ledger, environment }: Session,
  { path, file }: { readonly path: string; readonly file: string },
  run: string,
  lines: readonly PromiseLine[],
): void {
  const known = findRun(ledger, run);
  if (known?.output !== path) return;
  const promises = countRun(ledger, known.runNo).accepted - lines.filter(({ status }) => status === "success").length;
  if (promises > 0) progress.happened({ kind: "promises lacking", environment, file, run, promises });
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

async function refuseContradiction(
  session: Session,
  file: string,
  run: string,
  lines: readonly PromiseLine[],
): Promise<void> {
  const wrong = await contradictionOf(session, run, lines);
  if (wrong === undefined) return;
  const why = `contradicts the plan of run ${run}, which has another action under number ${wrong.seq}`;
  throw lineFailure(file, wrong.place, `${why}. Nothing was imported`);
}

/** The new sandbox has nothing of what the old one took; a ledger that believed otherwise would never send it. */
function refuseReset(file: string, runs: readonly string[], environment: Environment): void {
  const run = runs.find((each) => wasReset(runListPath(environment.ledgerPath), each));
  if (run === undefined) return;
  throw new Failure(
    "usage",
    `${file} belongs to the sandbox before its reset (run ${run}); the new sandbox has none of it. Nothing was imported.`,
    { hint: "You need no import: whatever you stream is sent to the new sandbox." },
  );
}

/** Mends the runs about which the list of runs says everything, so that a person has nothing to decide. */
async function mendDecided(context: RunContext, session: Session): Promise<void> {
  for (const lost of session.lost()) {
    const run = findRun(session.ledger, lost.run);
    if (lost.isDecided && run !== undefined && existsSync(planDirectory(session.environment, run.run)))
      await mendLost(context, session, run, lost);
  }
}

/** Ends a run that had finished before and of which the ledger knows everything now, so that it is not resumed. */
async function endAsListed(
  { ledger, runList, environment }: Session,
  name: string,
  lines: readonly PromiseLine[],
): Promise<void> {
  const [run, listed] = [findRun(ledger, name), runList.content.runs.get(name)];
  if (run?.state !== "open" || listed?.stopped?.state !== "finished") return;
  if (isUndecided(ledger, run.runNo)) return;
  await noteRejectsOf(ledger, run, planDirectory(environment, name));
  const exitCode = EXIT_CODES[leavesOpen(ledger, run.runNo) ? "finished-with-rejects" : "ok"];
  ledger.transaction(() => {
    // The rejects were written before the list said that the run was finished.
    for (const chunk of decidedChunks(ledger, run.runNo)) changeChunk(ledger, "writeRejects", chunk);
    const last = lines
      .map(({ at }) => at)
      .toSorted()
      .at(-1);
    endRun(ledger, run.runNo, "finished", exitCode, last ?? run.createdAt);
  });
}

/** Notes again where the rows of a run's rejects stood. Without its plan that stays unknown. */
async function noteRejectsOf(ledger: Ledger, run: RunRecord, directory: string): Promise<void> {
  if (!existsSync(directory)) return;
  try {
    await using plan = await openPlan(directory, run.manifest);
    await noteRejects({ ledger, run, plan });
  } catch {
    // A damaged plan is as good as a lost one.
  }
}

/** Whether a run is known from promises alone: neither the list nor a plan says how much of it there is. */
function isOnlyPromised({ ledger, runList }: Session, name: string): boolean {
  const run = findRun(ledger, name);
  return run !== undefined && isImportedRun(run) && !runList.content.runs.has(name);
}

/** The files that these runs wrote and of which the imported file is an exact copy: they become known as well. */
async function originalsOf(
  { ledger, runList }: Session,
  path: string,
  runs: readonly string[],
): Promise<readonly string[]> {
  const outputs = new Set(runs.flatMap((run) => runList.content.runs.get(run)?.outputs ?? []));
  const known = knownOutputs(ledger);
  const originals: string[] = [];
  for (const output of outputs)
    if (output !== path && !known.has(output) && (await areSameBytes(output, path))) originals.push(output);
  return originals;
}

async function areSameBytes(one: string, other: string): Promise<boolean> {
  const [found, expected] = await Promise.all([stat(one).catch(() => undefined), stat(other)]);
  if (found?.isFile() !== true || found.size !== expected.size) return false;
  return (await sha256OfFile(one)) === (await sha256OfFile(other));
}

/** Makes the file the ledger's own again, so that later runs append to it. */
async function adoptFile(
  ledger: Ledger,
  path: string,
  runs: ReadonlyMap<string, readonly PromiseLine[]>,
): Promise<void> {
  const chunks = [...runs].flatMap(([run, lines]) => unnotedChunks(ledger, path, run, lines));
  const lacking = chunks.map(({ rest }) => rest).join("");
  if (lacking !== "") await appendWhole(path, lacking);
  const sha256 = await sha256OfFile(path);
  const { size, mtimeNs } = await stat(path, { bigint: true });
  adoptOutput(ledger, { path, length: Number(size), mtimeNs: String(mtimeNs), sha256 }, chunks);
}

/**
 * Chunks of a run whose lines reached its file, all or some, before the process could note that, as with most that are killed.
 * Each with the lines that the file lacks.
 */
function unnotedChunks(ledger: Ledger, path: string, name: string, lines: readonly PromiseLine[]) {
  const run = findRun(ledger, name);
  if (run?.output !== path || arePromisesElsewhere(ledger, run)) return [];
  const { runNo } = run;
  const { safeCsv } = parseManifest(run.manifest).options;
  const told = new Set(lines.map(({ seq }) => seq));
  return unprojectedChunks(ledger, runNo).flatMap((chunk) => {
    const outcomes = outcomesOfChunk(ledger, runNo, chunk);
    const untold = outcomes.filter(({ seq }) => !told.has(seq));
    if (untold.length === outcomes.length) return [];
    return [{ runNo, chunk, rest: promiseLines(untold, labelOf(run), promiseFormat(path), safeCsv) }];
  });
}

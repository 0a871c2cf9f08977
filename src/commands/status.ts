/** `tickets status` and `tickets results`: what the ledger knows, shown or written again. They take no lock. */

import { createWriteStream, existsSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { resolve } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { cleanText, count, escapeUnseen } from "../actions/text.ts";
import { displayPath } from "../config/config.ts";
import { formatDuration } from "../config/duration.ts";
import type { Environment } from "../config/environment.ts";
import { EXIT_CODES, Failure } from "../failure.ts";
import { lastFailure, lastSuccess, type NotedEnd } from "../ledger/invocations.ts";
import { type Ledger, runListPath } from "../ledger/ledger.ts";
import { leftToOthers } from "../ledger/left-to-others.ts";
import { isLocked } from "../ledger/lock.ts";
import { storageFailure } from "../ledger/open-ledger.ts";
import { outcomesOfRun } from "../ledger/outcomes.ts";
import { readRunList } from "../ledger/run-list.ts";
import {
  type ChunkRecord,
  chunksOf,
  countRun,
  findRun,
  listRuns,
  openRuns,
  type RunCounts,
  type RunRecord,
  runsWithDoubts,
  wholeOf,
} from "../ledger/runs.ts";
import type { ChunkState } from "../ledger/states.ts";
import { isPlainFile, makeWayFor } from "../outputs/output-file.ts";
import { promiseFormat, promiseLines, promisesHeader } from "../outputs/promise-lines.ts";
import { parseManifest } from "../plan/manifest.ts";
import { openPlan } from "../plan/plan.ts";
import { openLedgerToRead } from "../run/ledger-to-read.ts";
import { lostRunsFailure, lostRunsOf } from "../run/lost-runs.ts";
import { closeCommand, environmentFlags, settleCommand } from "../run/next-command.ts";
import { lockPath, planDirectory } from "../run/places.ts";
import { labelOf } from "../run/promises.ts";
import { unknownRun } from "../run/resume.ts";
import { type EnvironmentOptions, loadSettings } from "../run/settings.ts";
import { type Summary, summarise } from "../run/summary.ts";
import { actionsOf, countStored } from "../sending/settle.ts";
import type { Context } from "./context.ts";
import type { Reporter } from "./reporter.ts";
import { runContextOf } from "./run-context.ts";
import { NEXT } from "./run-end.ts";
import { describeActions } from "./summary.ts";

export interface StatusOptions extends EnvironmentOptions {
  readonly run: string | undefined;
  readonly chunk: number | undefined;
  /** Milliseconds; an older last success, or none, is exit 4. */
  readonly maxAge: number | undefined;
  readonly json: boolean;
}

export async function status(options: StatusOptions, context: Context): Promise<number> {
  const { reporter } = context;
  const { run: name, maxAge } = options;
  if (name !== undefined && maxAge !== undefined)
    throw new Failure("usage", "--max-age is about all runs of an environment, not about one.", {
      hint: "Leave the run or --max-age out.",
    });
  const { environment } = await loadSettings(runContextOf(context), options, "any");
  const list = readRunList(runListPath(environment.ledgerPath));
  using ledger = openLedgerToRead(environment);
  const lost = lostRunsOf({ environment, boundTo: undefined }, list, ledger);
  if (lost.length > 0) {
    const { message, hint } = lostRunsFailure(lost, environment, context.cwd);
    reporter.error(hint === undefined ? message : `${message}\n${hint}`);
  }
  const exitCode = lost.length > 0 ? EXIT_CODES.usage : EXIT_CODES.ok;
  if (ledger !== undefined && name !== undefined)
    return Math.max(exitCode, await showRun(options, name, ledger, environment, context));

  const success = ledger && lastSuccess(ledger);
  const failure = ledger && lastFailure(ledger);
  const runs = ledger === undefined ? [] : listRuns(ledger, 20);
  if (options.json)
    reporter.out(
      `${JSON.stringify({
        lastSuccess: success ?? null,
        lastFailure: failure ?? null,
        runs:
          ledger === undefined
            ? []
            : await Array.fromAsync(runs, async (run) => ({
                ...summaryOfRun(ledger, run, environment, await countsOf(ledger, run, environment)),
                files: filesOf(run),
              })),
      })}\n`,
    );
  if (ledger === undefined) {
    if (lost.length === 0)
      reporter.info(
        `Nothing was ever sent to ${environment.name} from here: there is no ledger at ${displayPath(environment.ledgerPath, context.cwd)}.`,
      );
  } else if (!options.json) {
    const now = Date.now();
    reporter.out(`last success  ${success === undefined ? "none" : describeEnd(success, now)}\n`);
    if (failure !== undefined) reporter.out(`last failure  ${describeEnd(failure, now)}\n`);
    for (const run of runs) reporter.out(`${await describeRun(ledger, run, environment)}\n`);
    // Also those that are no longer among the last.
    for (const run of runsToDecide(ledger))
      tellNext(reporter, nextOf(run, await countsOf(ledger, run, environment), environment));
  }
  if (ledger !== undefined && runs.length === 0) reporter.info(`The ledger of ${environment.name} has no runs yet.`);
  if (exitCode !== EXIT_CODES.ok || maxAge === undefined) return exitCode;
  return tellAge(success, maxAge, environment.name, context);
}

/** Exit 4 when what should happen regularly did not. */
function tellAge(success: NotedEnd | undefined, maxAge: number, name: string, { reporter }: Context): number {
  const age = success === undefined ? undefined : Date.now() - Date.parse(success.endedAt);
  if (age !== undefined && age <= maxAge) return EXIT_CODES.ok;
  reporter.error(
    age === undefined
      ? `No stream to ${name} has succeeded yet (--max-age ${formatDuration(maxAge)}).`
      : `The last success of ${name} is ${describeAge(age)} old, more than --max-age ${formatDuration(maxAge)}.`,
  );
  return EXIT_CODES["finished-with-rejects"];
}

/** `2026-03-01T03:00:12.000Z, 5 h ago: stream sales.csv, 12 s, run 7f3a0c11` */
function describeEnd({ endedAt, command, files, exitCode, error, run, durationMs }: NotedEnd, now: number): string {
  const parts = [
    `${command}${files.length === 0 ? "" : ` ${describeFiles(files)}`}`,
    ...(durationMs === null ? [] : [describeAge(durationMs)]),
    ...(run === null ? [] : [`run ${run}`]),
    ...(exitCode === EXIT_CODES.ok ? [] : [`exit ${exitCode}`]),
  ];
  const why = error === null ? "" : `: ${cleanText(error, 200)}`;
  return `${endedAt}, ${describeAge(now - Date.parse(endedAt))} ago: ${parts.join(", ")}${why}`;
}

/** Files that are named in a line; the others are counted. */
const FILES_SHOWN = 3;

function describeFiles(files: readonly string[]): string {
  const shown = files.slice(0, FILES_SHOWN).map((file) => cleanText(file, 100));
  return `${shown.join(" ")}${files.length > FILES_SHOWN ? ` and ${files.length - FILES_SHOWN} more` : ""}`;
}

/** `8 s`, `5 min`, `26 h`, `12 d`: what matters of an age or a duration. */
export function describeAge(ms: number): string {
  const seconds = Math.max(0, ms) / 1000;
  if (seconds < 90) return `${seconds < 10 ? Math.round(seconds * 10) / 10 : Math.round(seconds)} s`;
  if (seconds < 90 * 60) return `${Math.round(seconds / 60)} min`;
  if (seconds < 48 * 3600) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86_400)} d`;
}

/** `7f3a0c11  2026-03-01T03:00:00.000Z  finished  exit 0  12 s  sales.csv  20 actions: 20 accepted` */
async function describeRun(ledger: Ledger, run: RunRecord, environment: Environment): Promise<string> {
  const counts = await countsOf(ledger, run, environment);
  const { actions, durationMs } = summaryOfRun(ledger, run, environment, counts);
  const files = filesOf(run);
  return [
    run.run,
    run.createdAt,
    `${run.state}${waits(run, counts)}`,
    `exit ${run.exitCode ?? "-"}`,
    run.endedAt === undefined ? "-" : describeAge(durationMs),
    files.length === 0 ? "-" : describeFiles(files),
    describeActions(actions, { inFlight: counts.inFlight, ...partsOf(ledger, run) }),
  ].join("  ");
}

function partsOf(ledger: Ledger, run: RunRecord): { readonly waiting: number; readonly repeated: number } {
  const { actions, repeated } = parseManifest(run.manifest);
  return { waiting: leftToOthers(ledger, run, actions).waiting, repeated };
}

const filesOf = ({ manifest }: RunRecord): readonly string[] => parseManifest(manifest).inputs.map(({ name }) => name);

async function showRun(
  options: StatusOptions,
  name: string,
  ledger: Ledger,
  environment: Environment,
  context: Context,
): Promise<number> {
  const { reporter } = context;
  const run = findRun(ledger, name);
  if (run === undefined) throw unknownRun(name, environment);
  if (options.chunk !== undefined) return showChunk(context, ledger, environment, run, options.chunk);
  const counts = await countsOf(ledger, run, environment);
  const summary = summaryOfRun(ledger, run, environment, counts);
  if (options.json) {
    reporter.out(`${JSON.stringify(summary)}\n`);
    return EXIT_CODES.ok;
  }
  const manifest = parseManifest(run.manifest);
  const lines = [
    `run ${run.run} of ${run.createdAt}: ${run.state}${waits(run, counts)}`,
    ...manifest.inputs.map(
      ({ name, rows, sha256 }) =>
        `input ${cleanText(name, 200)}: ${count(rows, "row")}, SHA-256 ${sha256.slice(0, 16)}…`,
    ),
    describeActions(summary.actions, { inFlight: counts.inFlight, ...partsOf(ledger, run) }),
    ...chunksOf(ledger, run.runNo).map(
      ({ chunk, state, first, count: actions, httpStatus, detail }) =>
        `chunk ${chunk}${partOf(wholeOf(ledger, { runNo: run.runNo, chunk }))}: ${stateNow(state, counts)}, actions ${first} to ${first + actions - 1}${httpStatus === undefined || detail?.startsWith(`HTTP ${httpStatus}`) ? "" : `, HTTP ${httpStatus}`}${detail === undefined || detail === "" ? "" : `, ${cleanText(detail, 200)}`}`,
    ),
    ...ledger
      .all("SELECT chunk, decision, who, at, reason FROM settlements WHERE run_no = ? ORDER BY id", run.runNo)
      .map(
        (row) =>
          `settled ${row.chunk === null ? "run" : `chunk ${row.chunk}`} as ${row.decision} by ${row.who} on ${row.at}${row.reason === null ? "" : `: ${cleanText(String(row.reason), 200)}`}`,
      ),
    ...(run.endedAt === undefined ? [] : [`took ${describeAge(summary.durationMs)}`]),
    ...(run.output === undefined ? [] : [`promises ${displayPath(run.output, context.cwd)}`]),
  ];
  reporter.out(`${lines.join("\n")}\n`);
  tellNext(reporter, summary.next);
  return EXIT_CODES.ok;
}

const partOf = (whole: number | undefined): string => (whole === undefined ? "" : ` (a part of chunk ${whole})`);

/**
 * What the next command would find: an answer that is stored counts as what it says, and only a process that holds the
 * lock has something in flight. Without one the answer of what was being sent is lost.
 */
async function countsOf(ledger: Ledger, run: RunRecord, environment: Environment): Promise<RunCounts> {
  const counts = countRun(ledger, run.runNo);
  const stored = await storedAnswers(ledger, run, environment);
  const known = [...stored.values()].reduce((sum, actions) => sum + actions, 0);
  const inFlight = counts.inFlight - known;
  return {
    ...counts,
    accepted: counts.accepted + (stored.get("accepted") ?? 0),
    rejected: counts.rejected + (stored.get("rejected") ?? 0),
    inDoubt: counts.inDoubt - known + (stored.get("in doubt") ?? 0),
    inFlight: inFlight > 0 && isLocked(lockPath(environment)) ? inFlight : 0,
  };
}

async function storedAnswers(ledger: Ledger, run: RunRecord, environment: Environment): ReturnType<typeof countStored> {
  if (chunksOf(ledger, run.runNo, "answered").length === 0) return new Map();
  try {
    await using plan = await openPlan(planDirectory(environment, run.run), run.manifest);
    return await countStored(ledger, plan, run.runNo);
  } catch {
    return new Map(); // a plan that is lost leads to a doubt
  }
}

function waits(run: RunRecord, { inDoubt, inFlight, refused }: RunCounts): string {
  if (run.isClosing) return `, being closed${inDoubt > 0 ? ", in doubt" : ""}`;
  if (inDoubt > inFlight) return ", in doubt";
  if (inFlight > 0) return ", being sent";
  if (refused > 0) return ", refused";
  return run.state === "open" && run.stoppedByPerson ? ", stopped by a person" : "";
}

/** Runs that may wait for a person's word, oldest first. */
function runsToDecide(ledger: Ledger): readonly RunRecord[] {
  const runs = [...openRuns(ledger), ...runsWithDoubts(ledger)];
  return [...new Map(runs.map((run) => [run.runNo, run])).values()].toSorted((a, b) => a.runNo - b.runNo);
}

/** What decides about a run that waits for a person's word; null for one that does not. */
function nextOf(run: RunRecord, { inDoubt, inFlight, refused }: RunCounts, environment: Environment): string | null {
  if (run.isClosing) return closeCommand(run, environment);
  if (inDoubt > inFlight) return settleCommand(run.run, environment);
  if (inFlight > 0 || refused === 0) return null;
  const isWhole = environment.refusalsAreWhole && run.state === "open";
  return isWhole ? `tickets resume ${run.run} ${environmentFlags(environment)}` : settleCommand(run.run, environment);
}

function tellNext({ info }: Reporter, next: string | null): void {
  if (next !== null) info(`${NEXT["in doubt"]}: ${next}`);
}

function summaryOfRun(ledger: Ledger, run: RunRecord, environment: Environment, counts: RunCounts): Summary {
  const manifest = parseManifest(run.manifest);
  return summarise({
    run: run.run,
    environment: environment.name,
    state: run.state === "open" ? "stopped" : run.state,
    exitCode: run.exitCode ?? EXIT_CODES["stopped-early"],
    plan: manifest,
    problems: manifest.problems,
    counts,
    left: leftToOthers(ledger, run, manifest.actions),
    output: run.output ?? null,
    durationMs: run.endedAt === undefined ? 0 : Date.parse(run.endedAt) - Date.parse(run.createdAt),
    next: nextOf(run, counts, environment),
  });
}

/** The state as the next command would find it, and the counts above already do. */
function stateNow(state: ChunkState, { inFlight }: RunCounts): string {
  return state === "sending" && inFlight === 0 ? "in doubt" : state;
}

/** Every action of a chunk, as NDJSON with where it came from. */
async function showChunk(
  { reporter }: Context,
  ledger: Ledger,
  environment: Environment,
  run: RunRecord,
  number: number,
): Promise<number> {
  const directory = planDirectory(environment, run.run);
  const chunk = chunksOf(ledger, run.runNo).find((each) => each.chunk === number);
  if (chunk === undefined) throw new Failure("usage", `Run ${run.run} has no chunk ${number}.`);
  // Plans of ended runs are removed in time; what became of each action stays in the ledger.
  if (!existsSync(directory) && run.state !== "open")
    return showChunkOfLedger(reporter, ledger, environment, run, chunk);
  await using plan = await openPlan(directory, run.manifest);
  const [actions, records] = await Promise.all([actionsOf(plan, chunk), plan.records(chunk)]);
  for (const [at, { action, data }] of actions.entries()) {
    const record = records[at];
    const { eventId, ticketId, nftId } = data;
    reporter.out(
      `${escapeUnseen(JSON.stringify({ source: plan.manifest.inputs[record?.input ?? 0]?.name, line: record?.line, action, eventId, ticketId, nftId, chunk: number, state: chunk.state }))}\n`,
    );
  }
  return EXIT_CODES.ok;
}

/** @throws Failure `usage` where the chunk's actions stood in the plan alone. */
function showChunkOfLedger(
  reporter: Reporter,
  ledger: Ledger,
  environment: Environment,
  run: RunRecord,
  chunk: ChunkRecord,
): number {
  const rows = ledger.all(
    "SELECT source, line, action, event_id AS eventId, ticket_id AS ticketId, nft_id AS nftId FROM actions WHERE run_no = ? AND chunk = ? ORDER BY seq",
    run.runNo,
    chunk.chunk,
  );
  if (rows.length === 0)
    throw new Failure(
      "usage",
      `The plan of run ${run.run} was removed, and the ledger holds no action of its chunk ${chunk.chunk} (${chunk.state}).`,
      {
        hint: `What the ledger holds of the run is written by: tickets results ${run.run} ${environmentFlags(environment)}`,
      },
    );
  for (const row of rows) {
    const given = Object.entries(row).filter(([, value]) => value !== null);
    const line = JSON.stringify({ ...Object.fromEntries(given), chunk: chunk.chunk, state: chunk.state });
    reporter.out(`${escapeUnseen(line)}\n`);
  }
  return EXIT_CODES.ok;
}

export interface ResultsOptions extends EnvironmentOptions {
  readonly run: string | undefined;
  readonly output: string | undefined;
  readonly force: boolean;
  readonly safeCsv: boolean;
}

/** Writes the promises of a run again, from the ledger, in any format. Without a run: of all, oldest first. */
export async function results(options: ResultsOptions, context: Context): Promise<number> {
  const { reporter, cwd } = context;
  const { environment } = await loadSettings(runContextOf(context), options, "any");
  using ledger = openLedgerToRead(environment);
  if (ledger === undefined)
    throw new Failure(
      "usage",
      `There is no ledger of ${environment.name} at ${displayPath(environment.ledgerPath, cwd)}.`,
    );
  const runs =
    options.run === undefined
      ? [...listRuns(ledger)].reverse()
      : [findRun(ledger, options.run)].filter((run) => run !== undefined);
  if (options.run !== undefined && runs.length === 0) throw unknownRun(options.run, environment);
  const format = options.output === undefined || options.output === "-" ? "ndjson" : promiseFormat(options.output);
  let written = 0;
  const lines = function* (): Generator<string> {
    yield promisesHeader(format, options.safeCsv);
    for (const run of runs) {
      const label = labelOf(run);
      for (const page of outcomesOfRun(ledger, run.runNo)) {
        const text = promiseLines(page, label, format, options.safeCsv);
        written += page.filter(({ outcome }) => outcome !== "not sent").length;
        if (text !== "") yield text;
      }
    }
  };
  if (options.output === undefined || options.output === "-") {
    await pipeline(Readable.from(lines()), context.stdout, { end: false });
  } else {
    const path = resolve(cwd, options.output);
    if (existsSync(path) && !options.force)
      throw new Failure("usage", `${displayPath(path, cwd)} exists; it is not overwritten.`, {
        hint: "Name another file, or replace it with --force.",
      });
    await makeWayFor(path);
    const temporary = `${path}.${process.pid}.tmp`;
    try {
      if (await isPlainFile(path)) {
        await pipeline(Readable.from(lines()), createWriteStream(temporary, { flush: true }));
        await rename(temporary, path);
      } else await pipeline(Readable.from(lines()), createWriteStream(path));
    } catch (cause) {
      throw storageFailure(path, cause);
    } finally {
      await rm(temporary, { force: true });
    }
    reporter.info(`${count(written, "line")} written to ${displayPath(path, cwd)}.`);
  }
  return EXIT_CODES.ok;
}

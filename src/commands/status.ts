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
import type { NotedEnd } from "../ledger/invocations.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { storageFailure } from "../ledger/open-ledger.ts";
import { outcomesOfRun } from "../ledger/outcomes.ts";
import {
  type ChunkRecord,
  chunksOf,
  findRun,
  listRuns,
  type RunCounts,
  type RunRecord,
  wholeOf,
} from "../ledger/runs.ts";
import type { ChunkState } from "../ledger/states.ts";
import { isPlainFile, makeWayFor } from "../outputs/output-file.ts";
import { promiseFormat, promiseLines, promisesHeader } from "../outputs/promise-lines.ts";
import type { Manifest } from "../plan/manifest.ts";
import { openPlan } from "../plan/plan.ts";
import { openLedgerToRead } from "../run/ledger-to-read.ts";
import { environmentFlags } from "../run/next-command.ts";
import { planDirectory } from "../run/places.ts";
import { labelOf } from "../run/promises.ts";
import { unknownRun } from "../run/resume.ts";
import { type EnvironmentOptions, loadSettings } from "../run/settings.ts";
import { status as lookUp, type RunStatus, type Status } from "../run/status.ts";
import { actionsOf } from "../sending/settle.ts";
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
  const core = runContextOf(context);
  const settings = await loadSettings(core, options, "any");
  const { environment } = settings;
  const status = await lookUp(core, { settings, run: name });
  const { problem, hasLedger, runs } = status;
  if (problem !== undefined)
    reporter.error(problem.hint === undefined ? problem.message : `${problem.message}\n${problem.hint}`);
  const exitCode = problem === undefined ? EXIT_CODES.ok : EXIT_CODES.usage;
  using ledger = name === undefined ? undefined : openLedgerToRead(environment);
  if (ledger !== undefined && name !== undefined) {
    const [run] = runs;
    if (run === undefined) throw unknownRun(name, environment);
    return Math.max(exitCode, await showRun(options, run, ledger, environment, context));
  }
  if (options.json) reporter.out(`${JSON.stringify(toDocument(status))}\n`);
  else if (hasLedger) tellStatus(status, reporter);
  if (!hasLedger && problem === undefined)
    reporter.info(
      `Nothing was ever sent to ${environment.name} from here: there is no ledger at ${displayPath(environment.ledgerPath, context.cwd)}.`,
    );
  if (hasLedger && runs.length === 0) reporter.info(`The ledger of ${environment.name} has no runs yet.`);
  if (exitCode !== EXIT_CODES.ok || maxAge === undefined) return exitCode;
  return tellAge(status.lastSuccess, maxAge, environment.name, context);
}

/** The document of `status --json`. */
function toDocument({ lastSuccess, lastFailure, runs }: Status) {
  return {
    lastSuccess: lastSuccess ?? null,
    lastFailure: lastFailure ?? null,
    runs: runs.map(({ summary, manifest }) => ({ ...summary, files: filesOf(manifest) })),
  };
}

function tellStatus({ lastSuccess, lastFailure, runs, next }: Status, reporter: Reporter): void {
  const now = Date.now();
  reporter.out(`last success  ${lastSuccess === undefined ? "none" : describeEnd(lastSuccess, now)}\n`);
  if (lastFailure !== undefined) reporter.out(`last failure  ${describeEnd(lastFailure, now)}\n`);
  for (const run of runs) reporter.out(`${describeRun(run)}\n`);
  for (const command of next) tellNext(reporter, command);
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
function describeRun(status: RunStatus): string {
  const { run, manifest, counts, summary } = status;
  const files = filesOf(manifest);
  return [
    run.run,
    run.createdAt,
    `${run.state}${waits(run, counts)}`,
    `exit ${run.exitCode ?? "-"}`,
    run.endedAt === undefined ? "-" : describeAge(summary.durationMs),
    files.length === 0 ? "-" : describeFiles(files),
    describeActions(summary.actions, partsOf(status)),
  ].join("  ");
}

const partsOf = ({ counts, waiting, manifest }: RunStatus): NonNullable<Parameters<typeof describeActions>[1]> => ({
  inFlight: counts.inFlight,
  waiting,
  repeated: manifest.repeated,
});

const filesOf = ({ inputs }: Manifest): readonly string[] => inputs.map(({ name }) => name);

async function showRun(
  options: StatusOptions,
  status: RunStatus,
  ledger: Ledger,
  environment: Environment,
  context: Context,
): Promise<number> {
  const { reporter } = context;
  const { run, summary, counts, manifest } = status;
  if (options.chunk !== undefined) return showChunk(context, ledger, environment, run, options.chunk);
  if (options.json) {
    reporter.out(`${JSON.stringify(summary)}\n`);
    return EXIT_CODES.ok;
  }
  const lines = [
    `run ${run.run} of ${run.createdAt}: ${run.state}${waits(run, counts)}`,
    ...manifest.inputs.map(
      ({ name, rows, sha256 }) =>
        `input ${cleanText(name, 200)}: ${count(rows, "row")}, SHA-256 ${sha256.slice(0, 16)}…`,
    ),
    describeActions(summary.actions, partsOf(status)),
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

function waits(run: RunRecord, { inDoubt, inFlight, refused }: RunCounts): string {
  if (run.isClosing) return `, being closed${inDoubt > 0 ? ", in doubt" : ""}`;
  if (inDoubt > inFlight) return ", in doubt";
  if (inFlight > 0) return ", being sent";
  if (refused > 0) return ", refused";
  return run.state === "open" && run.stoppedByPerson ? ", stopped by a person" : "";
}

function tellNext({ info }: Reporter, next: string | null): void {
  if (next !== null) info(`${NEXT["in doubt"]}: ${next}`);
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

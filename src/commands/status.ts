/** `tickets status`: what the ledger knows. It takes no lock. */

import { basename } from "node:path";
import { stringifyJson } from "../actions/json.ts";
import { resumeCommand } from "../actions/next-command.ts";
import { andMore, cleanText, count, displayPath, escapeUnseen, number } from "../actions/text.ts";
import { formatDuration } from "../config/duration.ts";
import type { Environment } from "../config/environment.ts";
import { ledgerPlace } from "../config/ledger-server.ts";
import { EXIT_CODES, Failure } from "../failure.ts";
import type { NotedEnd } from "../ledger/invocations.ts";
import { isThere, type LaneStanding, type Team, type WorkerStanding } from "../ledger/postgres/workers.ts";
import type { RunCounts, RunRecord } from "../ledger/runs.ts";
import type { ChunkState } from "../ledger/states.ts";
import type { Manifest } from "../plan/files/manifest.ts";
import { noLedger } from "../run/ledger-to-read.ts";
import { unknownRun } from "../run/resume.ts";
import { type ActionsOfChunk, actionsOfChunk, detailsOf } from "../run/run-details.ts";
import { type EnvironmentOptions, loadSettings } from "../run/settings.ts";
import { status as lookUp, type RunStatus, type Status } from "../run/status.ts";
import { chunkNumber, describeSettlement } from "./chunk-words.ts";
import type { Context } from "./context.ts";
import type { Reporter } from "./reporter.ts";
import { runContextOf } from "./run-context.ts";
import { NEXT } from "./run-end.ts";
import { describeActions, describeRows } from "./summary.ts";
import { columnsOf, layOutSentences, type TableRow } from "./table.ts";
import { tellingFields } from "./telling-fields.ts";

export interface StatusOptions extends EnvironmentOptions {
  readonly run: string | undefined;
  readonly chunk?: number | undefined;
  /** Milliseconds; an older last success, or none, is exit 4. */
  readonly maxAge?: number | undefined;
  /** Numbers for Prometheus go there. */
  readonly metricsFile?: string | undefined;
  readonly json: boolean;
}

export async function status(options: StatusOptions, context: Context): Promise<number> {
  const { reporter } = context;
  const { run: name, maxAge, metricsFile } = options;
  if (name !== undefined && maxAge !== undefined)
    throw new Failure("usage", "--max-age is about all runs of an environment, not about one.", {
      hint: "Leave the run or --max-age out.",
    });
  if (name !== undefined && metricsFile !== undefined)
    throw new Failure("usage", "--metrics-file is about an environment, not about one run.", {
      hint: "Leave the run or --metrics-file out.",
    });
  const core = runContextOf(context);
  const settings = await loadSettings(core, options, "any");
  const { environment } = settings;
  const status = await lookUp(core, { settings, run: name });
  const { problem, hasLedger, runs } = status;
  if (metricsFile !== undefined) {
    const [{ readMetrics }, { writeMetrics }] = await Promise.all([
      import("../run/metrics.ts"),
      import("./metrics-file.ts"),
    ]);
    await writeMetrics(metricsFile, context.cwd, await readMetrics(environment));
  }
  if (problem !== undefined)
    reporter.error(problem.hint === undefined ? problem.message : `${problem.message}\n${problem.hint}`);
  const exitCode = problem === undefined ? EXIT_CODES.ok : EXIT_CODES.usage;
  if (!hasLedger && name !== undefined && problem === undefined) throw noLedger(environment, context.cwd);
  if (hasLedger && name !== undefined) {
    const [run] = runs;
    if (run === undefined) throw unknownRun(name, environment);
    await showRun(options, run, environment, context);
    return exitCode;
  }
  if (options.json) reporter.out(`${JSON.stringify(toDocument(status))}\n`);
  else if (hasLedger) tellStatus(status, environment, context);
  if (!hasLedger && problem === undefined)
    reporter.info(
      `Nothing was ever sent to ${environment.name} from here: there is no ledger at ${ledgerPlace(environment, context.cwd)}.`,
    );
  if (hasLedger && runs.length === 0) reporter.info(`The ledger of ${environment.name} has no runs yet.`);
  if (exitCode !== EXIT_CODES.ok || maxAge === undefined) return exitCode;
  return tellAge(status.lastSuccess, maxAge, environment.name, context);
}

/** The document of `status --json`. */
function toDocument({ lastSuccess, lastFailure, runs, team }: Status) {
  return {
    lastSuccess: lastSuccess ?? null,
    lastFailure: lastFailure ?? null,
    runs: runs.map(({ summary, counts, manifest }) => ({
      ...summary,
      inFlight: counts.inFlight,
      files: filesOf(manifest),
    })),
    ...(team !== undefined && {
      workers: team.workers.map(({ worker, ...rest }) => ({ ...rest, lanes: lanesOf(team, worker).map(laneOf) })),
      lanes: team.lanes.map((lane) => ({ ...laneOf(lane), held: holderOf(team, lane) !== undefined })),
      lastMinute: team.lastMinute,
    }),
  };
}

const lanesOf = ({ lanes }: Team, worker: number): Team["lanes"] => lanes.filter((lane) => lane.worker === worker);
const laneOf = ({ run, lane, actions, beingSent }: LaneStanding) => ({ run, lane, actions, beingSent });
const holderOf = ({ workers }: Team, lane: LaneStanding): WorkerStanding | undefined =>
  workers.find(({ worker }) => worker === lane.worker);

/** The last success and its age, then what a person has to do, then the runs, those that are not finished first. */
function tellStatus(
  { lastSuccess, lastFailure, runs, next, team }: Status,
  environment: Environment,
  { reporter, stdout }: Context,
): void {
  const now = Date.now();
  const columns = columnsOf(stdout);
  reporter.out(`last success  ${lastSuccess === undefined ? "none" : describeEnd(lastSuccess, now)}\n`);
  if (lastFailure !== undefined) reporter.out(`last failure  ${describeEnd(lastFailure, now)}\n`);
  if (next.length > 0) {
    const asked = new Map(runs.map((run) => [run.summary.next, describeQuestion(run)]));
    const lines = next.map((command) => `  ${asked.get(command) ?? "an older run"}:\n    ${command}\n`);
    reporter.out(`\nTo decide:\n${lines.join("")}`);
  }
  if (team !== undefined) tellTeam(team, { now, columns, reporter });
  const [unfinished, finished] = [true, false].map((isOpen) =>
    runs.filter(({ run }) => (run.state === "open") === isOpen),
  );
  tellRuns("Not finished", unfinished, { now, columns, reporter });
  if (team === undefined) tellHowTheyGoOn(unfinished ?? [], environment, reporter);
  tellRuns("Finished", finished, { now, columns, reporter });
}

/** Of those that nobody has to decide about: they were stopped, killed, or are being sent. */
function tellHowTheyGoOn(
  unfinished: readonly RunStatus[],
  environment: Environment,
  { out }: Pick<Reporter, "out">,
): void {
  const [first] = unfinished.filter(({ summary }) => summary.next === null);
  if (first === undefined) return;
  out(
    `Unless a command is at it, this goes on with the next tickets stream, or with:\n  ${resumeCommand(first.run.run, environment)}\n`,
  );
}

/** `run 7f3a0c11, in doubt, 2 of 20 actions` */
function describeQuestion({ run, counts, summary: { actions } }: RunStatus): string {
  const open = actions.inDoubt + actions.refused;
  const what = waits(run, counts).replace(/^, /, "");
  return `run ${run.run}, ${what}${open === 0 ? "" : `, ${number(open)} of ${count(actions.total, "action")}`}`;
}

function tellWorkers(
  title: string,
  workers: readonly WorkerStanding[],
  team: Team,
  { now, columns, reporter }: Surface,
): void {
  if (workers.length === 0) return;
  const rows = workers.map(({ worker, host, process, command, since, seenAgoMs }) => [
    `${cleanText(host, 60)} ${process}`,
    `${describeAge(now - Date.parse(since))} ago`,
    `${describeAge(seenAgoMs)} ago`,
    lanesOf(team, worker)
      .map(({ lane }) => lane)
      .join(" ") || "-",
    cleanText(command, 60),
  ]);
  reporter.out(`\n${title}:\n${layOutSentences(["worker", "began", "last seen", "lanes", "command"], rows, columns)}`);
}

/** Who sends what on all machines, where several may, and how much is left. */
function tellTeam(team: Team, { now, columns, reporter }: Surface): void {
  const { workers, lanes, lastMinute } = team;
  tellWorkers("Sending now", workers.filter(isThere), team, { now, columns, reporter });
  const gone = workers.filter((worker) => !isThere(worker));
  tellWorkers("Not seen any more (killed, or frozen)", gone, team, { now, columns, reporter });
  if (lanes.length === 0) return;
  const left = lanes.reduce((sum, { actions }) => sum + actions, 0);
  const free = lanes.filter((lane) => holderOf(team, lane) === undefined).length;
  const unheld = free === 0 ? "" : `, ${number(free)} of them without a worker`;
  reporter.out(
    `\nTo send: ${count(left, "action")} in ${count(lanes.length, "lane")}${unheld}; ${number(lastMinute)} answered in the last minute.\n`,
  );
}

/** Where and when a table is shown. */
interface Surface {
  readonly now: number;
  readonly columns: number;
  readonly reporter: Reporter;
}

const COLUMNS = ["run", "began", "state", "exit", "took", "files", "actions"] as const;

function tellRuns(title: string, runs: readonly RunStatus[] = [], { now, columns, reporter }: Surface): void {
  if (runs.length === 0) return;
  const rows = runs.map((run) => {
    const { createdAt } = run.run;
    if (!Number.isFinite(columns)) return rowOf(run, { began: createdAt, describe: describeFiles });
    return rowOf(run, { began: `${describeAge(now - Date.parse(createdAt))} ago`, describe: describeFirst });
  });
  reporter.out(`\n${title}:\n${layOutSentences(COLUMNS, rows, columns)}`);
}

/** As far the clocks of machines that share a ledger may be apart. */
const CLOCKS_APART_MS = 60_000;

/** Exit 4 when what should happen regularly did not. */
function tellAge(success: NotedEnd | undefined, maxAge: number, name: string, { reporter }: Context): number {
  const age = success === undefined ? undefined : Date.now() - Date.parse(success.endedAt);
  if (age !== undefined && age <= maxAge && age >= -CLOCKS_APART_MS) return EXIT_CODES.ok;
  reporter.error(
    age === undefined
      ? `No stream to ${name} has succeeded yet (--max-age ${formatDuration(maxAge)}).`
      : age < 0
        ? `The last success of ${name} was at ${success?.endedAt}, by a clock that was ${describeAge(-age)} ahead of this one: how old it is, is not known.`
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
  const age = now - Date.parse(endedAt);
  const when = age < -CLOCKS_APART_MS ? `by a clock that was ${describeAge(-age)} ahead` : `${describeAge(age)} ago`;
  return `${endedAt}, ${when}: ${parts.join(", ")}${why}`;
}

/** Files that are named in a line; the others are counted. */
const FILES_SHOWN = 3;

function describeFiles(files: readonly string[]): string {
  const shown = files.slice(0, FILES_SHOWN).map((file) => cleanText(file, 100));
  return `${shown.join(" ")}${andMore(files.length - FILES_SHOWN)}`;
}

/** `sales.csv and 2 more`, without its folder: a terminal has little room. */
const describeFirst = ([first = "", ...others]: readonly string[]): string =>
  `${cleanText(basename(first), 30)}${andMore(others.length)}`;

/** `8 s`, `5 min`, `26 h`, `12 d`: what matters of an age or a duration. */
export function describeAge(ms: number): string {
  const seconds = Math.max(0, ms) / 1000;
  if (seconds < 90) return `${seconds < 10 ? Math.round(seconds * 10) / 10 : Math.round(seconds)} s`;
  if (seconds < 90 * 60) return `${Math.round(seconds / 60)} min`;
  if (seconds < 48 * 3600) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86_400)} d`;
}

interface RowWords {
  readonly began: string;
  readonly describe: (files: readonly string[]) => string;
}

/** `7f3a0c11  5 h ago  finished  0  12 s  sales.csv  20 actions: 20 accepted` */
function rowOf(status: RunStatus, { began, describe }: RowWords): TableRow {
  const { run, manifest, counts, summary } = status;
  const files = filesOf(manifest);
  return [
    run.run,
    began,
    `${run.state}${waits(run, counts)}`,
    String(run.exitCode ?? "-"),
    run.endedAt === undefined ? "-" : describeAge(summary.durationMs),
    files.length === 0 ? "-" : describe(files),
    describeActions(summary.actions, partsOf(status)),
  ];
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
  environment: Environment,
  { reporter, cwd, verbose }: Context,
): Promise<void> {
  const { run, summary, counts, manifest } = status;
  if (options.chunk !== undefined) {
    tellActions(await actionsOfChunk(environment, run, options.chunk), reporter, verbose);
    return;
  }
  if (options.json) {
    reporter.out(`${JSON.stringify({ ...summary, inFlight: counts.inFlight })}\n`);
    return;
  }
  const { chunks, settlements } = await detailsOf(environment, run);
  const lines = [
    `run ${run.run} of ${run.createdAt}: ${run.state}${waits(run, counts)}`,
    ...manifest.inputs.map(
      ({ name, rows, sha256 }) =>
        `input ${cleanText(name, 200)}: ${count(rows, "row")}, SHA-256 ${sha256.slice(0, 16)}…`,
    ),
    ...(summary.rows.invalid + summary.rows.held === 0 ? [] : [describeRows(summary.rows)]),
    describeActions(summary.actions, partsOf(status)),
    ...chunks.map(
      ({ state, first, count: actions, httpStatus, detail, whole, ...chunk }) =>
        `chunk ${chunkNumber(chunk, whole)}: ${stateNow(state, counts)}, actions ${first} to ${first + actions - 1}${httpStatus === undefined || detail?.startsWith(`HTTP ${httpStatus}`) ? "" : `, HTTP ${httpStatus}`}${detail === undefined || detail === "" ? "" : `, ${cleanText(detail, 200)}`}`,
    ),
    ...settlements.map(
      ({ chunk, ...how }) => `settled ${chunk === undefined ? "run" : `chunk ${chunk}`} ${describeSettlement(how)}`,
    ),
    ...(run.endedAt === undefined ? [] : [`took ${describeAge(summary.durationMs)}`]),
    ...(run.exitCode === undefined || run.exitCode === EXIT_CODES.ok ? [] : [`exit ${run.exitCode}`]),
    ...(summary.output === null ? [] : [`promises ${displayPath(summary.output, cwd)}`]),
    ...summary.rejects.map((path) => `rejects ${displayPath(path, cwd)}`),
  ];
  reporter.out(`${lines.join("\n")}\n`);
  tellNext(reporter, summary.next);
}

/** A document a line. */
function tellActions({ chunk: { chunk, state }, actions }: ActionsOfChunk, { out }: Reporter, verbose: boolean): void {
  const fields = tellingFields(
    actions.map(({ action }) => action),
    verbose,
  );
  for (const [at, { source, line, action }] of actions.entries()) {
    const { eventId, ticketId, nftId } = action.data;
    const telling = Object.fromEntries((fields[at] ?? []).map(({ name, value }) => [name, value]));
    const document = { source, line, action: action.action, eventId, ticketId, nftId, ...telling, chunk, state };
    out(`${escapeUnseen(stringifyJson(document))}\n`);
  }
}

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

/** The state as the next command would find it, as the counts above already show it. */
function stateNow(state: ChunkState, { inFlight }: RunCounts): string {
  return state === "sending" && inFlight === 0 ? "in doubt" : state;
}

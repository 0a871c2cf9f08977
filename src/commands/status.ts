/** `tickets status`: what the ledger knows. It takes no lock. */

import { basename } from "node:path";
import { stringifyJson } from "../actions/json.ts";
import { resumeCommand } from "../actions/next-command.ts";
import { andMore, cleanText, count, displayPath, escapeUnseen, number } from "../actions/text.ts";
import { formatDuration } from "../config/duration.ts";
import type { Environment } from "../config/environment.ts";
import { EXIT_CODES, Failure } from "../failure.ts";
import type { Chunk, Invocation, Run, RunCounts } from "../ledger/ledger.ts";
import type { OpenLane, Team, Worker } from "../ledger/workers.ts";
import { noLedger } from "../run/ledger-of.ts";
import type { AskedAction, RunDetails, RunStatus } from "../run/runs.ts";
import type { EnvironmentOptions } from "../run/settings.ts";
import {
  chunkActions,
  endedAt,
  isThere,
  isUnfinished,
  status as lookUp,
  runStatus,
  type Status,
  waitsForPerson,
} from "../run/status.ts";
import type { Summary } from "../run/summary.ts";
import { chunkNumber, describeSettlement } from "./chunk-words.ts";
import type { Context } from "./context.ts";
import { localTimes } from "./local-time.ts";
import { failureText, type Reporter } from "./reporter.ts";
import { openSettings } from "./run-context.ts";
import { NEXT } from "./run-end.ts";
import { shownFields } from "./shown-fields.ts";
import { describeActions, describeRows } from "./summary.ts";
import { columnsOf, layOutSentences, type TableRow } from "./table.ts";
import { describeHolder, sayNeverSent } from "./words.ts";

export interface StatusOptions extends EnvironmentOptions {
  readonly run: string | undefined;
  readonly chunk?: number | undefined;
  /** Milliseconds; an older last success, or none, is exit 4. */
  readonly maxAge?: number | undefined;
  /** Numbers for Prometheus go there. */
  readonly metrics?: string | undefined;
  readonly json: boolean;
}

export async function status(options: StatusOptions, context: Context): Promise<number> {
  const { reporter } = context;
  const { run: name, maxAge, metrics } = options;
  if (name !== undefined && maxAge !== undefined)
    throw new Failure("usage", "--max-age is about all runs of an environment, not about one.", {
      hint: "Leave the run or --max-age out.",
    });
  if (name !== undefined && metrics !== undefined)
    throw new Failure("usage", "--metrics is about an environment, not about one run.", {
      hint: "Leave the run or --metrics out.",
    });
  const { core, environment } = await openSettings(context, options, "any");
  const found = await lookUp(core, environment, RUNS_SHOWN);
  const { problem, hasLedger, runs } = found;
  if (metrics !== undefined) {
    const { metricsOf, writeMetrics } = await import("./metrics-file.ts");
    await writeMetrics(metrics, context.cwd, metricsOf(environment.name, found));
  }
  if (problem !== undefined) reporter.error(failureText(problem));
  const exitCode = problem === undefined ? EXIT_CODES.ok : EXIT_CODES.usage;
  if (!hasLedger && name !== undefined && problem === undefined) throw noLedger(environment, context.cwd);
  if (hasLedger && name !== undefined) {
    if (options.chunk === undefined) showRun(options, await runStatus(environment, name), context);
    else {
      const { chunk, actions } = await chunkActions(environment, name, options.chunk);
      sayActions(chunk, actions, context);
    }
    return exitCode;
  }
  if (options.json) reporter.out(`${JSON.stringify(toDocument(found))}\n`);
  else if (hasLedger) sayStatus(found, environment, context);
  if (!hasLedger && problem === undefined) sayNeverSent(environment, context);
  if (hasLedger && runs.length === 0) reporter.info(`The ledger of ${environment.name} has no runs yet.`);
  if (exitCode !== EXIT_CODES.ok || maxAge === undefined) return exitCode;
  return sayAge(found.succeeded, maxAge, environment.name, context);
}

/** Runs that are listed, beside those that are open. */
const RUNS_SHOWN = 20;

/** The document of `status --json`. */
function toDocument({ succeeded, failed, unstarted, runs, team, holder }: Status) {
  return {
    lastSuccess: succeeded === undefined ? null : toEnd(succeeded),
    lastFailure: failed === undefined ? null : toEnd(failed),
    notStarted: unstarted === undefined ? null : toEnd(unstarted),
    runs: runs.map(({ summary, counts, run }) => ({
      ...summary,
      inFlight: counts.inFlight,
      files: filesOf(run),
    })),
    lock: holder === undefined ? null : { ...holder, host: holder.host ?? null },
    ...(team !== undefined && {
      workers: team.workers.map(({ worker, pid, ...rest }) => ({
        ...{ ...rest, process: pid },
        lanes: lanesOf(team, worker).map(laneOf),
      })),
      lanes: team.lanes.map((lane) => ({ ...laneOf(lane), held: holderOf(team, lane) !== undefined })),
      lastMinute: team.lastMinute,
    }),
  };
}

/** How a command ended. */
const toEnd = (invocation: Invocation) => {
  const { command, files, exitCode, error = null, run = null, durationMs } = invocation;
  return { endedAt: endedAt(invocation), command, files, exitCode, error, run, durationMs };
};

const lanesOf = ({ lanes }: Team, worker: number): Team["lanes"] => lanes.filter((lane) => lane.worker === worker);
const laneOf = ({ run, lane, actions, inFlight }: Team["lanes"][number]) => ({
  run,
  lane,
  actions,
  beingSent: inFlight,
});
const holderOf = ({ workers }: Team, lane: OpenLane): Worker | undefined =>
  workers.find(({ worker }) => worker === lane.worker);

/** The last success and its age, then what a person has to do, then the runs, those that are not finished first. */
function sayStatus(
  { succeeded, failed, unstarted, runs, holder, team }: Status,
  environment: Environment,
  { reporter, stdout }: Context,
): void {
  const surface: Surface = { time: localTimes(), now: Date.now(), columns: columnsOf(stdout), reporter };
  const { time } = surface;
  reporter.out(`last success  ${succeeded === undefined ? "none" : describeEnd(succeeded, surface)}\n`);
  if (failed !== undefined) reporter.out(`last failure  ${describeEnd(failed, surface)}\n`);
  if (unstarted !== undefined) reporter.out(`not started   ${describeEnd(unstarted, surface)}\n`);
  if (holder !== undefined)
    reporter.out(
      `at work       ${describeHolder(holder)} since ${time(holder.since)}: ${cleanText(holder.command, 200)}\n`,
    );
  const toDecide = runs.filter(waitsForPerson);
  if (toDecide.length > 0) {
    const lines = toDecide.map((each) => `  ${describeQuestion(each)}:\n    ${each.summary.next}\n`);
    reporter.out(`\nTo decide:\n${lines.join("")}`);
  }
  if (team !== undefined) sayTeam(team, surface);
  const [unfinished, finished] = [true, false].map((isOpen) => runs.filter((run) => isUnfinished(run) === isOpen));
  sayRuns("Not finished", unfinished, surface);
  if (team === undefined) sayHowTheyGoOn(unfinished ?? [], environment, reporter);
  sayRuns("Finished", finished, surface);
}

/** Of those that nobody has to decide about: they were stopped, killed, or are being sent. */
function sayHowTheyGoOn(
  unfinished: readonly RunStatus[],
  environment: Environment,
  { out }: Pick<Reporter, "out">,
): void {
  const [first] = unfinished.filter((run) => !waitsForPerson(run));
  if (first === undefined) return;
  out(
    `Unless a command is at it, this goes on with the next tickets stream, or with:\n  ${resumeCommand(first.run.run, environment)}\n`,
  );
}

/** `run 7f3a0c11, in doubt, 2 of 20 actions` */
function describeQuestion({ run, counts, summary: { actions } }: RunStatus): string {
  const what = waits(run, counts).replace(/^, /, "");
  const open = counts.inDoubt + counts.refused;
  return `run ${run.run}, ${what}${open === 0 ? "" : `, ${number(open)} of ${count(actions.total, "action")}`}`;
}

function sayWorkers(title: string, workers: readonly Worker[], team: Team, { time, columns, reporter }: Surface): void {
  if (workers.length === 0) return;
  const rows = workers.map(({ worker, host, pid, command, since, seenAgoMs }) => [
    `${cleanText(host, 60)} ${pid}`,
    time(since),
    `${describeAge(seenAgoMs)} ago`,
    lanesOf(team, worker)
      .map(({ lane }) => lane)
      .join(" ") || "-",
    cleanText(command, 60),
  ]);
  reporter.out(`\n${title}:\n${layOutSentences(["worker", "began", "last seen", "lanes", "command"], rows, columns)}`);
}

/** Who sends what on all machines, where several may, and how much is left. */
function sayTeam(team: Team, surface: Surface): void {
  const { workers, lanes, lastMinute } = team;
  sayWorkers("Sending now", workers.filter(isThere), team, surface);
  const gone = workers.filter((worker) => !isThere(worker));
  sayWorkers("Not seen any more (killed, or frozen)", gone, team, surface);
  if (lanes.length === 0) return;
  const left = lanes.reduce((sum, { actions }) => sum + actions, 0);
  const free = lanes.filter((lane) => holderOf(team, lane) === undefined).length;
  const unheld = free === 0 ? "" : `, ${number(free)} of them without a worker`;
  surface.reporter.out(
    `\nTo send: ${count(left, "action")} in ${count(lanes.length, "lane")}${unheld}; ${number(lastMinute)} answered in the last minute.\n`,
  );
}

/** Where and when it is shown. */
interface Surface {
  readonly time: ReturnType<typeof localTimes>;
  readonly now: number;
  readonly columns: number;
  readonly reporter: Reporter;
}

const COLUMNS = ["run", "began", "state", "exit", "took", "files", "actions"] as const;

function sayRuns(title: string, runs: readonly RunStatus[] = [], { time, columns, reporter }: Surface): void {
  if (runs.length === 0) return;
  const rows = runs.map((run) => rowOf(run, time));
  reporter.out(`\n${title}:\n${layOutSentences(COLUMNS, rows, columns)}`);
}

/** As far the clocks of machines that share a ledger may be apart. */
const CLOCKS_APART_MS = 60_000;

/** Exit 4 when what should happen regularly did not. */
function sayAge(success: Invocation | undefined, maxAge: number, name: string, { reporter }: Context): number {
  const age = success === undefined ? undefined : Date.now() - Date.parse(endedAt(success));
  if (age !== undefined && age <= maxAge && age >= -CLOCKS_APART_MS) return EXIT_CODES.ok;
  reporter.error(
    age === undefined
      ? `No stream to ${name} has succeeded yet (--max-age ${formatDuration(maxAge)}).`
      : age < 0
        ? `The last success of ${name} was at ${success && localTimes()(endedAt(success))}, by a clock ${describeAge(-age)} ahead of this one, so its age is unknown.`
        : `The last success of ${name} is ${describeAge(age)} old, more than --max-age ${formatDuration(maxAge)}.`,
  );
  return EXIT_CODES["finished-with-rejects"];
}

/** `28 Nov 03:00 (Europe/Berlin), 5 h ago: stream sales.csv, 12 s, run 7f3a0c11` */
function describeEnd(invocation: Invocation, { now, time }: Surface): string {
  const { command, files, exitCode, error, run, durationMs } = invocation;
  const at = endedAt(invocation);
  const parts = [
    `${command}${files.length === 0 ? "" : ` ${describeFiles(files)}`}`,
    describeAge(durationMs),
    ...(run === undefined ? [] : [`run ${run}`]),
    ...(exitCode === EXIT_CODES.ok ? [] : [`exit ${exitCode}`]),
  ];
  const why = error === undefined ? "" : `: ${cleanText(error, 200)}`;
  const age = now - Date.parse(at);
  const when = age < -CLOCKS_APART_MS ? `by a clock that was ${describeAge(-age)} ahead` : `${describeAge(age)} ago`;
  return `${time(at)}, ${when}: ${parts.join(", ")}${why}`;
}

/** Files that are named in a line; the others are counted. */
const FILES_SHOWN = 3;

function describeFiles(files: readonly string[]): string {
  const shown = files.slice(0, FILES_SHOWN).map((file) => cleanText(file, 100));
  return `${shown.join(" ")}${andMore(files.length - FILES_SHOWN)}`;
}

/** `sales.csv and 2 more`, without its folder: a table has little room. */
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

/** `7f3a0c11  28 Nov 03:00  finished  0  12 s  sales.csv  20 actions: 20 accepted` */
function rowOf({ run, counts, summary }: RunStatus, time: Surface["time"]): TableRow {
  const files = filesOf(run);
  return [
    run.run,
    time(run.createdAt),
    `${stateOf(run)}${waits(run, counts)}`,
    String(run.exitCode ?? "-"),
    run.endedAt === undefined || run.kind !== "sent" ? "-" : describeAge(summary.durationMs),
    files.length === 0 ? "-" : describeFirst(files),
    describeActions(summary.actions, counts.inFlight),
  ];
}

/** What was imported or adopted was not sent by this run. */
function stateOf({ kind, state }: Run): string {
  if (kind !== "sent") return kind;
  return state === "closing" ? "open" : state;
}

const filesOf = ({ inputs }: Run): readonly string[] => inputs.map(({ name }) => name);

function showRun(
  { json }: StatusOptions,
  { run, summary, counts, chunks, settlements }: RunDetails,
  { reporter, cwd }: Context,
): void {
  if (json) {
    reporter.out(`${JSON.stringify({ ...summary, inFlight: counts.inFlight })}\n`);
    return;
  }
  const time = localTimes();
  const lines = [
    `run ${run.run} of ${time(run.createdAt)}: ${stateOf(run)}${waits(run, counts)}`,
    ...run.inputs.map(
      ({ name, rows, sha256 }) =>
        `input ${cleanText(name, 200)}${run.kind === "imported" ? "" : `: ${count(rows, "row")}, SHA-256 ${sha256.slice(0, 16)}…`}`,
    ),
    ...(summary.rows.invalid + summary.rows.held === 0 ? [] : [describeRows(summary.rows)]),
    describeActions(summary.actions, counts.inFlight),
    ...chunks.map(
      ({ state, count: actions, httpStatus, detail, ...chunk }) =>
        `chunk ${chunkNumber(chunk)}: ${state}, ${count(actions, "action")}${httpStatus === undefined || detail?.startsWith(`HTTP ${httpStatus}`) ? "" : `, HTTP ${httpStatus}`}${detail === undefined || detail === "" ? "" : `, ${cleanText(detail, 200)}`}`,
    ),
    ...settlements.map(
      ({ chunk, ...how }) =>
        `settled ${chunk === undefined ? "run" : `chunk ${chunk}`} ${describeSettlement(how, time)}`,
    ),
    ...(run.endedAt === undefined || run.kind !== "sent" ? [] : [`took ${describeAge(summary.durationMs)}`]),
    ...(run.exitCode === undefined || run.exitCode === EXIT_CODES.ok ? [] : [`exit ${run.exitCode}`]),
    ...(summary.output === null ? [] : [`promises ${displayPath(summary.output, cwd)}`]),
    ...summary.rejects.map((path) => `rejects ${displayPath(path, cwd)}`),
  ];
  reporter.out(`${lines.join("\n")}\n`);
  sayNext(reporter, summary);
}

/** A document a line. */
function sayActions(
  { chunk, state }: Chunk,
  actions: readonly AskedAction[],
  { reporter: { out }, verbose }: Context,
): void {
  const fields = shownFields(
    actions.map(({ action }) => action),
    verbose,
  );
  for (const [at, { source, line, action }] of actions.entries()) {
    const { eventId, ticketId, nftId } = action.data;
    const shown = Object.fromEntries((fields[at] ?? []).map(({ name, value }) => [name, value]));
    const document = { source, line, action: action.action, eventId, ticketId, nftId, ...shown, chunk, state };
    out(`${escapeUnseen(stringifyJson(document))}\n`);
  }
}

function waits({ state, paused }: Run, { inDoubt, inFlight, refused }: RunCounts): string {
  if (state === "closing") return `, being closed${inDoubt > 0 ? ", in doubt" : ""}`;
  if (inDoubt > 0) return ", in doubt";
  if (inFlight > 0) return ", being sent";
  if (refused > 0) return ", refused";
  return state === "open" && paused !== undefined ? ", stopped by a person" : "";
}

function sayNext({ info }: Reporter, { next, actions: { inDoubt } }: Pick<Summary, "next" | "actions">): void {
  if (next !== null) info(`${NEXT[inDoubt > 0 ? "in doubt" : "stopped"]}: ${next}`);
}

/** `tickets status`: what the ledger knows. It takes no lock. */

import { basename } from "node:path";
import { stringifyJson } from "../actions/json.ts";
import { formatDuration } from "../config/duration.ts";
import type { Environment } from "../config/environment.ts";
import { EXIT_CODES, Failure } from "../failure.ts";
import type { Chunk, Invocation, Run, RunCounts } from "../ledger/ledger.ts";
import type { OpenLane, Team, Worker } from "../ledger/workers.ts";
import { resumeCommand } from "../next-command.ts";
import type { AskedAction, RunDetails, RunStatus } from "../run/runs.ts";
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
import { hasUnsentRows } from "../run/summary.ts";
import { andMore, cleanText, count, displayPath, escapeUnseen, number } from "../text.ts";
import type { Context } from "./context.ts";
import { localTimes } from "./local-time.ts";
import type { Options } from "./options.ts";
import { failureText } from "./reporter.ts";
import { openSettings } from "./run-context.ts";
import { NEXT } from "./run-end.ts";
import { shownFields } from "./shown-fields.ts";
import { chunkNumber, describeActions, describeDuration, describeRows, describeSettlement } from "./summary.ts";
import { columnsOf, layOut } from "./table.ts";
import { describeHolding, sayNeverSent } from "./words.ts";

/** `maxAge`: an older last success, or none, is exit 4. */
type StatusOptions = Options<"run" | "chunk" | "maxAge" | "metrics" | "json">;

/** Runs that are listed, beside those that are open. */
const RUNS_SHOWN = 20;

export async function status(options: StatusOptions, context: Context): Promise<number> {
  const { reporter, cwd } = context;
  const { run, maxAge, metrics } = options;
  if (run !== undefined && (maxAge ?? metrics) !== undefined)
    throw new Failure("usage", "--max-age and --metrics are about all runs of an environment, not about one.", {
      hint: "Leave them or the run out.",
    });
  const { core, environment } = await openSettings(context, options, "any");
  if (run !== undefined) return sayProblem(await showRun(run, options, environment, context), context);
  const found = await lookUp(core, environment, RUNS_SHOWN);
  const { problem, hasLedger, runs } = found;
  if (metrics !== undefined) {
    const { metricsOf, writeMetrics } = await import("./metrics-file.ts");
    await writeMetrics(metrics, cwd, metricsOf(environment.name, found));
  }
  const exitCode = sayProblem(problem, context);
  if (options.json) reporter.out(`${JSON.stringify(toDocument(found))}\n`);
  else if (hasLedger) sayStatus(found, environment, context);
  if (!hasLedger && problem === undefined) sayNeverSent(environment, context);
  if (hasLedger && runs.length === 0) reporter.info(`The ledger of ${environment.name} has no runs yet.`);
  if (exitCode !== EXIT_CODES.ok || maxAge === undefined) return exitCode;
  return sayAge(found.succeeded, maxAge, environment.name, context);
}

/** @returns exit 2 where the ledger does not know everything that was sent. */
function sayProblem(problem: Failure | undefined, { reporter }: Context): number {
  if (problem === undefined) return EXIT_CODES.ok;
  reporter.error(failureText(problem));
  return EXIT_CODES.usage;
}

/** The document of `status --json`. */
function toDocument({ succeeded, failed, unstarted, runs, team, holder }: Status) {
  return {
    ...{ lastSuccess: toEnd(succeeded), lastFailure: toEnd(failed), notStarted: toEnd(unstarted) },
    runs: runs.map(({ summary, counts, run }) => ({ ...summary, inFlight: counts.inFlight, files: filesOf(run) })),
    lock: holder === undefined ? null : { ...holder, host: holder.host ?? null },
    ...(team && {
      workers: team.workers.map(({ worker, pid, ...rest }) => ({
        ...{ ...rest, process: pid },
        lanes: lanesOf(team, worker).map(laneOf),
      })),
      lanes: team.lanes.map((lane) => ({ ...laneOf(lane), held: isHeld(team, lane) })),
    }),
  };
}

/** How a command ended. */
function toEnd(invocation: Invocation | undefined) {
  if (invocation === undefined) return null;
  const { command, files, exitCode, error = null, run = null, durationMs } = invocation;
  return { endedAt: endedAt(invocation), command, files, exitCode, error, run, durationMs };
}

const filesOf = ({ inputs }: Run): readonly string[] => inputs.map(({ name }) => name);
const laneOf = ({ run, lane, actions, inFlight }: Team["lanes"][number]) => ({
  run,
  lane,
  actions,
  beingSent: inFlight,
});
const lanesOf = ({ lanes }: Team, worker: number): Team["lanes"] => lanes.filter((lane) => lane.worker === worker);
const isHeld = ({ workers }: Team, lane: OpenLane): boolean => workers.some(({ worker }) => worker === lane.worker);

/** Where and when it is shown. */
interface Surface {
  readonly time: ReturnType<typeof localTimes>;
  readonly now: number;
  readonly columns: number;
  readonly out: (text: string) => void;
}

/** The last success and its age, then what a person has to do, then the runs, those that are not finished first. */
function sayStatus(
  { succeeded, failed, unstarted, runs, holder, team }: Status,
  environment: Environment,
  { reporter: { out }, stdout }: Context,
): void {
  const surface: Surface = { time: localTimes(), now: Date.now(), columns: columnsOf(stdout), out };
  out(`last success  ${succeeded === undefined ? "none" : describeEnd(succeeded, surface)}\n`);
  if (failed !== undefined) out(`last failure  ${describeEnd(failed, surface)}\n`);
  if (unstarted !== undefined) out(`not started   ${describeEnd(unstarted, surface)}\n`);
  if (holder !== undefined) out(`at work       ${describeHolding(holder, surface.time)}\n`);
  const toDecide = runs.filter(waitsForPerson);
  if (toDecide.length > 0) {
    const lines = toDecide.map((each) => `  ${describeQuestion(each)}:\n    ${each.summary.next}\n`);
    out(`\nTo decide:\n${lines.join("")}`);
  }
  if (team !== undefined) sayTeam(team, surface);
  const unfinished = runs.filter(isUnfinished);
  sayRuns("Not finished", unfinished, surface);
  const waiting = unfinished.find((run) => !waitsForPerson(run));
  if (team === undefined && holder === undefined && waiting !== undefined) {
    const { run, paused } = waiting.run;
    const how = paused === undefined ? "The next stream finishes it first. To finish it now:" : "To finish it:";
    out(`${how}\n  ${resumeCommand(run, environment)}\n`);
  }
  sayRuns(
    "Finished",
    runs.filter((run) => !isUnfinished(run)),
    surface,
  );
}

/** `run 7f3a0c11, in doubt, 2 of 20 actions` */
function describeQuestion({ run, counts, summary: { actions } }: RunStatus): string {
  const open = counts.inDoubt + counts.refused;
  const share = open === 0 ? [] : [`${number(open)} of ${count(actions.total, "action")}`];
  return [`run ${run.run}`, ...waitsFor(run, counts), ...share].join(", ");
}

/** Who sends what on all machines, where several may, and how much is left. */
function sayTeam(team: Team, surface: Surface): void {
  const { workers, lanes } = team;
  sayWorkers("Sending now", workers.filter(isThere), team, surface);
  const gone = workers.filter((worker) => !isThere(worker));
  sayWorkers("Not seen any more (killed, or frozen)", gone, team, surface);
  if (lanes.length === 0) return;
  const left = lanes.reduce((sum, { actions }) => sum + actions, 0);
  const free = lanes.filter((lane) => !isHeld(team, lane)).length;
  const unheld = free === 0 ? "" : `, ${number(free)} of them without a worker`;
  surface.out(`\nTo send: ${count(left, "action")} in ${count(lanes.length, "lane")}${unheld}.\n`);
}

function sayWorkers(title: string, workers: readonly Worker[], team: Team, { time, columns, out }: Surface): void {
  if (workers.length === 0) return;
  const rows = workers.map(({ worker, host, pid, command, since, seenAgoMs }) => [
    `${cleanText(host, 60)} ${pid}`,
    time(since),
    `${describeDuration(seenAgoMs)} ago`,
    lanesOf(team, worker)
      .map(({ lane }) => lane)
      .join(" ") || "-",
    cleanText(command, 60),
  ]);
  out(`\n${title}:\n${layOut(["worker", "began", "last seen", "lanes", "command"], rows, columns)}`);
}

/** `7f3a0c11  28 Nov 03:00  finished  0  12 s  sales.csv  20 actions: 20 accepted` */
function sayRuns(title: string, runs: readonly RunStatus[], { time, columns, out }: Surface): void {
  if (runs.length === 0) return;
  const rows = runs.map(({ run, counts, summary }) => [
    run.run,
    time(run.createdAt),
    describeState(run, counts),
    String(run.exitCode ?? "-"),
    run.endedAt === undefined || run.kind !== "sent" ? "-" : describeDuration(summary.durationMs),
    describeFiles(filesOf(run)),
    describeActions(summary.actions, counts.inFlight),
  ]);
  const names = ["run", "began", "state", "exit", "took", "files", "actions"];
  out(`\n${title}:\n${layOut(names, rows, columns)}`);
}

/** `sales.csv and 2 more`, without its folder: a line has little room. */
const describeFiles = ([first, ...others]: readonly string[]): string =>
  first === undefined ? "-" : `${cleanText(basename(first), 30)}${andMore(others.length)}`;

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
        ? `The last success of ${name} was at ${success && localTimes()(endedAt(success))}, by a clock ${describeDuration(-age)} ahead of this one, so its age is unknown.`
        : `The last success of ${name} is ${describeDuration(age)} old, more than --max-age ${formatDuration(maxAge)}.`,
  );
  return EXIT_CODES["finished-with-rejects"];
}

/** `28 Nov 03:00 (Europe/Berlin), 5 h ago: stream sales.csv, 12 s, run 7f3a0c11` */
function describeEnd(invocation: Invocation, { now, time }: Surface): string {
  const { command, files, exitCode, error, run, durationMs } = invocation;
  const at = endedAt(invocation);
  const parts = [
    `${command}${files.length === 0 ? "" : ` ${describeFiles(files)}`}`,
    describeDuration(durationMs),
    ...(run === undefined ? [] : [`run ${run}`]),
    ...(exitCode === EXIT_CODES.ok ? [] : [`exit ${exitCode}`]),
  ];
  const why = error === undefined ? "" : `: ${cleanText(error, 200)}`;
  return `${time(at)}, ${describeDuration(now - Date.parse(at))} ago: ${parts.join(", ")}${why}`;
}

/** `open, in doubt`; what was imported or adopted was not sent by this run. */
function describeState(run: Run, counts: RunCounts): string {
  const state = run.kind !== "sent" ? run.kind : run.state === "closing" ? "open" : run.state;
  return [state, ...waitsFor(run, counts)].join(", ");
}

/** What keeps a run from its end. */
function waitsFor({ state, paused }: Run, { inDoubt, inFlight, refused }: RunCounts): readonly string[] {
  if (state === "closing") return ["being closed", ...(inDoubt > 0 ? ["in doubt"] : [])];
  if (inDoubt > 0) return ["in doubt"];
  if (inFlight > 0) return ["being sent"];
  if (refused > 0) return ["refused"];
  return state === "open" && paused !== undefined ? ["stopped by a person"] : [];
}

/** @returns why the ledger does not know everything that was sent. */
async function showRun(
  name: string,
  { json, chunk: number }: StatusOptions,
  environment: Environment,
  context: Context,
): Promise<Failure | undefined> {
  const { reporter, cwd } = context;
  if (number !== undefined) {
    const { chunk, actions, problem } = await chunkActions(context, environment, name, number);
    sayActions(chunk, actions, context);
    return problem;
  }
  const details = await runStatus(context, environment, name);
  const { summary, counts, problem } = details;
  const { next, actions } = summary;
  reporter.out(json ? `${JSON.stringify({ ...summary, inFlight: counts.inFlight })}\n` : describeRun(details, cwd));
  if (!json && next !== null) reporter.info(`${NEXT[actions.inDoubt > 0 ? "in doubt" : "stopped"]}: ${next}`);
  return problem;
}

/** A line for each thing that is known of it. */
function describeRun({ run, summary, counts, chunks, settlements }: RunDetails, cwd: string): string {
  const time = localTimes();
  const isSent = run.kind === "sent";
  const lines = [
    `run ${run.run} of ${time(run.createdAt)}: ${describeState(run, counts)}`,
    ...run.inputs.map(
      ({ name, rows, sha256 }) =>
        `input ${cleanText(name, 200)}${run.kind === "imported" ? "" : `: ${count(rows, "row")}, SHA-256 ${sha256.slice(0, 16)}…`}`,
    ),
    ...(hasUnsentRows(summary.rows) ? [describeRows(summary.rows)] : []),
    describeActions(summary.actions, counts.inFlight),
    ...chunks.map(describeChunk),
    ...settlements.map(
      ({ chunk, ...how }) =>
        `settled ${chunk === undefined ? "run" : `chunk ${chunk}`} ${describeSettlement(how, time)}`,
    ),
    ...(isSent && run.endedAt !== undefined ? [`took ${describeDuration(summary.durationMs)}`] : []),
    ...(run.exitCode ? [`exit ${run.exitCode}`] : []),
    ...(summary.output === null ? [] : [`promises ${displayPath(summary.output, cwd)}`]),
    ...summary.rejects.map((path) => `rejects ${displayPath(path, cwd)}`),
  ];
  return `${lines.join("\n")}\n`;
}

/** `chunk 2: refused, 12 actions, HTTP 400: …`; what was said of it names the status. */
function describeChunk({ state, count: actions, httpStatus, detail = "", ...chunk }: Chunk): string {
  const status = httpStatus === undefined ? "" : `HTTP ${httpStatus}`;
  const said = cleanText(detail, 200) || status;
  return `chunk ${chunkNumber(chunk)}: ${[state, count(actions, "action"), ...(said === "" ? [] : [said])].join(", ")}`;
}

/** A document a line. */
function sayActions(
  { chunk, state }: Chunk,
  actions: readonly AskedAction[],
  { reporter: { out }, verbose }: Context,
): void {
  for (const { source, line, action } of actions) {
    const { eventId, ticketId, nftId } = action.data;
    const shown = Object.fromEntries(shownFields(action, verbose));
    const document = { source, line, action: action.action, eventId, ticketId, nftId, ...shown, chunk, state };
    out(`${escapeUnseen(stringifyJson(document))}\n`);
  }
}

/** `tickets status`: what the ledger knows. It takes no lock. */

import { basename } from "node:path";
import type { Environment } from "../config/environment.ts";
import { formatDuration } from "../config/values.ts";
import { EXIT_CODES, Failure } from "../failure.ts";
import type { Chunk, Invocation, Ledger, Run, RunCounts, Team, Worker } from "../ledger/ledger.ts";
import { resumeCommand, statusCommand } from "../next-command.ts";
import { lostRunsOf } from "../run/lost-ledger.ts";
import { knownLedgerOf } from "../run/open.ts";
import {
  actionsOfChunk,
  detailsOf,
  endedAt,
  isThere,
  isUnfinished,
  status as lookUp,
  namedRun,
  type RunDetails,
  type RunStatus,
  type Status,
  waitsForPerson,
} from "../run/runs.ts";
import { hasUnsentRows } from "../run/summary.ts";
import { andMore, cleanText, count, displayPath, durationText, number } from "../text.ts";
import type { Context, Options } from "./context.ts";
import { openSettings } from "./core.ts";
import {
  chunkNumber,
  describeActions,
  describeHolding,
  describeRows,
  describeSettlement,
  localTimes,
  type ShowTime,
  sayNeverSent,
  shownFields,
} from "./describe.ts";
import { columnsOf, type Fact, inPairs, layOut, wrapLines } from "./layout.ts";
import { sayFailure } from "./reporter.ts";
import { leadTo, sayNext } from "./run-end.ts";

/** `maxAge`: exit 4 if the last success is older, or missing. */
type StatusOptions = Options<"run" | "chunk" | "maxAge" | "metrics" | "json">;

/** Runs that are listed besides the open ones. */
const RUNS_SHOWN = 20;

export async function status(options: StatusOptions, context: Context): Promise<number> {
  const { reporter, cwd } = context;
  const { run, maxAge, metrics } = options;
  const { core, environment } = await openSettings(context, options, "any");
  if (run !== undefined) return sayFailure(await showRun(run, options, environment, context), reporter);
  const found = await lookUp(core, environment, RUNS_SHOWN);
  const { problem, hasLedger, runs } = found;
  if (metrics !== undefined) {
    const { metricsOf, writeMetrics } = await import("./metrics-file.ts");
    await writeMetrics(metrics, cwd, metricsOf(environment.name, found));
  }
  const exitCode = sayFailure(problem, reporter);
  if (options.json) reporter.document(toDocument(found));
  else if (hasLedger) sayStatus(found, environment, context);
  if (!hasLedger && problem === undefined) sayNeverSent(environment, context);
  if (hasLedger && runs.length === 0) reporter.info(`The ledger of ${environment.name} has no runs yet.`);
  if (exitCode !== EXIT_CODES.ok || maxAge === undefined) return exitCode;
  return sayAge(found.succeeded, maxAge, environment.name, context);
}

/** The document of `status --json`. */
function toDocument({ succeeded, failed, unstarted, runs, team, holder }: Status) {
  return {
    ...{ lastSuccess: toEnd(succeeded), lastFailure: toEnd(failed), notStarted: toEnd(unstarted) },
    runs: runs.map(({ summary, counts, run }) => ({ ...summary, inFlight: counts.inFlight, files: filesOf(run) })),
    lock: holder === undefined ? null : { ...holder, host: holder.host ?? null },
    ...team,
  };
}

/** How a command ended. */
function toEnd(invocation: Invocation | undefined) {
  if (invocation === undefined) return null;
  const { command, files, exitCode, error = null, run = null, durationMs } = invocation;
  return { endedAt: endedAt(invocation), command, files, exitCode, error, run, durationMs };
}

const filesOf = ({ inputs }: Run): readonly string[] => inputs.map(({ name }) => name);

/** The last success and failure, who is at work, what a person has to decide; then the runs, unfinished ones first. */
function sayStatus(found: Status, environment: Environment, { reporter: { show }, stdout }: Context): void {
  const { succeeded, failed, unstarted, runs, holder, team } = found;
  const time = localTimes();
  const facts: readonly Fact[] = [
    ["last success", succeeded === undefined ? "none" : describeEnd(succeeded, time)],
    ["last failure", failed && describeEnd(failed, time)],
    ["not started", unstarted && describeEnd(unstarted, time)],
    ["at work", holder && describeHolding(holder, time)],
    ...(team === undefined ? [] : teamFacts(team, time)),
    ...runs.filter(waitsForPerson).map((run) => ["to decide", describeQuestion(run)] as const),
    ["unfinished", describeWaiting(found, environment)],
  ];
  show(`${inPairs(facts, columnsOf(stdout)).join("\n")}\n`);
  if (runs.length === 0) return;
  const sorted = [...runs.filter(isUnfinished), ...runs.filter((run) => !isUnfinished(run))];
  const rows = sorted.map(({ run, counts, summary }) => [
    run.run,
    time(run.createdAt),
    describeState(run, counts),
    String(run.exitCode ?? "-"),
    run.endedAt === undefined || run.kind !== "sent" ? "-" : durationText(summary.durationMs),
    describeFiles(filesOf(run)),
    describeActions(summary.actions, counts.inFlight),
  ]);
  const names = ["run", "began", "state", "exit", "took", "files", "actions"];
  show(`\n${layOut(names, rows, columnsOf(stdout))}`);
}

/** `run 7f3a0c11, in doubt. Look, then decide: tickets settle 7f3a0c11` */
const describeQuestion = ({ run, counts, summary }: RunStatus): string =>
  `${[`run ${run.run}`, ...waitsFor(run, counts)].join(", ")}. ${leadTo(summary, "in doubt")}: ${summary.next}`;

/** The newest run that nobody is sending and that waits for no decision. */
function describeWaiting({ runs, holder, team }: Status, environment: Environment): string | undefined {
  const waiting = runs.find((run) => isUnfinished(run) && !waitsForPerson(run))?.run;
  if (waiting === undefined || team !== undefined || holder !== undefined) return undefined;
  const { run, paused } = waiting;
  const how = paused === undefined ? "The next stream finishes it first. To finish it now" : "To finish it";
  return `run ${run}. ${how}: ${resumeCommand(run, environment)}`;
}

/** Who sends on all machines, and how much is left. */
const teamFacts = (team: Team, time: ShowTime): readonly Fact[] => [
  ...team.workers.map((worker) => ["worker", describeWorker(worker, team, time)] as const),
  ["to send", team.lanes.length > 0 ? describeLeft(team) : undefined],
];

/** `db2 4711 since 28 Nov 03:00, lanes 0 1: tickets work` */
function describeWorker(worker: Worker, team: Team, time: ShowTime): string {
  const { host, pid, command, since, seenAgoMs } = worker;
  const lanes = team.lanes.filter((lane) => lane.worker === worker.worker).map(({ lane }) => lane);
  const parts = [
    `${cleanText(host, 60)} ${pid} since ${time(since)}`,
    ...(lanes.length === 0 ? [] : [`lanes ${lanes.join(" ")}`]),
    ...(isThere(worker) ? [] : [`not seen for ${durationText(seenAgoMs)} (killed, or frozen)`]),
  ];
  return `${parts.join(", ")}: ${cleanText(command, 60)}`;
}

function describeLeft({ lanes, workers }: Team): string {
  const left = lanes.reduce((sum, { actions }) => sum + actions, 0);
  const free = lanes.filter((lane) => !workers.some(({ worker }) => worker === lane.worker)).length;
  const unheld = free === 0 ? "" : `, ${number(free)} of them without a worker`;
  return `${count(left, "action")} in ${count(lanes.length, "lane")}${unheld}`;
}

/** `sales.csv and 2 more`, without its folder: a line has little room. */
const describeFiles = ([first, ...others]: readonly string[]): string =>
  first === undefined ? "-" : `${cleanText(basename(first), 30)}${andMore(others.length)}`;

/** How far the clocks of machines that share a ledger may differ. */
const CLOCKS_APART_MS = 60_000;

/** Exit 4 if the last success is too old. */
function sayAge(success: Invocation | undefined, maxAge: number, name: string, { reporter }: Context): number {
  const limit = formatDuration(maxAge);
  if (success === undefined) {
    reporter.error(`No stream to ${name} has succeeded yet (--max-age ${limit}).`);
    return EXIT_CODES["finished-with-rejects"];
  }
  const at = endedAt(success);
  const age = Date.now() - Date.parse(at);
  if (age <= maxAge && age >= -CLOCKS_APART_MS) return EXIT_CODES.ok;
  reporter.error(
    age < 0
      ? `The last success of ${name} was at ${localTimes()(at)}, by a clock ${durationText(-age)} ahead of this one, so its age is unknown.`
      : `The last success of ${name} is ${durationText(age)} old, more than --max-age ${limit}.`,
  );
  return EXIT_CODES["finished-with-rejects"];
}

/** `28 Nov 03:00 (Europe/Berlin), 5 h ago: stream sales.csv, 12 s, run 7f3a0c11` */
function describeEnd(invocation: Invocation, time: ShowTime): string {
  const { command, files, exitCode, error, run, durationMs } = invocation;
  const at = endedAt(invocation);
  const parts = [
    `${command}${files.length === 0 ? "" : ` ${describeFiles(files)}`}`,
    durationText(durationMs),
    ...(run === undefined ? [] : [`run ${run}`]),
    ...(exitCode === EXIT_CODES.ok ? [] : [`exit ${exitCode}`]),
  ];
  const why = error === undefined ? "" : `: ${cleanText(error, 200)}`;
  return `${time(at)}, ${durationText(Date.now() - Date.parse(at))} ago: ${parts.join(", ")}${why}`;
}

/** `open, in doubt`; what was imported or adopted was not sent by this run. */
function describeState(run: Run, counts: RunCounts): string {
  const state = run.state === "closing" ? "open" : run.state;
  return [run.kind === "sent" ? state : run.kind, ...waitsFor(run, counts)].join(", ");
}

/** What keeps a run from ending. */
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
  { json, chunk }: StatusOptions,
  environment: Environment,
  context: Context,
): Promise<Failure | undefined> {
  const { reporter, cwd, stdout } = context;
  await using ledger = await knownLedgerOf(environment, cwd);
  const run = await namedRun(ledger, name, environment);
  const problem = await lostRunsOf(environment, ledger, cwd);
  if (chunk !== undefined) {
    await sayActions(ledger, run, chunk, environment, context);
    return problem;
  }
  const details = await detailsOf(ledger, run, environment);
  const { summary, counts } = details;
  if (json) reporter.document({ ...summary, inFlight: counts.inFlight });
  else reporter.show(wrapLines(describeRun(details, cwd), columnsOf(stdout)));
  if (!json) sayNext(summary, context, waitsForPerson(details) ? "in doubt" : "stopped");
  return problem;
}

/** All that is known of a run, a line each. */
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
      ({ chunk, ...how }) => `${chunk === undefined ? "run" : `chunk ${chunk}`} ${describeSettlement(how, time)}`,
    ),
    ...(isSent && run.endedAt !== undefined ? [`took ${durationText(summary.durationMs)}`] : []),
    ...(run.exitCode ? [`exit ${run.exitCode}`] : []),
    ...(summary.output === null ? [] : [`promises ${displayPath(summary.output, cwd)}`]),
    ...summary.rejects.map((path) => `rejects ${displayPath(path, cwd)}`),
  ];
  return `${lines.join("\n")}\n`;
}

/** `chunk 2: refused, 12 actions, HTTP 400: …` */
function describeChunk({ state, count: actions, httpStatus, detail = "", ...chunk }: Chunk): string {
  const status = httpStatus === undefined ? "" : `HTTP ${httpStatus}`;
  const said = cleanText(detail, 200) || status;
  return `chunk ${chunkNumber(chunk)}: ${[state, count(actions, "action"), ...(said === "" ? [] : [said])].join(", ")}`;
}

/** Every action of a chunk, as lines of JSON. */
async function sayActions(
  ledger: Ledger,
  run: Run,
  number: number,
  environment: Environment,
  { reporter, verbose }: Context,
): Promise<void> {
  const found = (await ledger.chunks(run.number)).find(({ chunk }) => chunk === number);
  if (found === undefined)
    throw new Failure("usage", `Run ${run.run} has no chunk ${number}.`, {
      hint: `See which it has: ${statusCommand(environment, run.run)}`,
    });
  const { chunk, state } = found;
  for (const { source, line, action } of await actionsOfChunk(ledger, run, number)) {
    const { eventId, ticketId, nftId } = action.data;
    const shown = Object.fromEntries(shownFields(action, verbose));
    reporter.document({ source, line, action: action.action, eventId, ticketId, nftId, ...shown, chunk, state });
  }
}

/** What the ledger knows about an environment's runs. Takes no lock. */

import { existsSync } from "node:fs";
import { closeCommand, resumeCommand, settleCommand } from "../actions/next-command.ts";
import type { Environment } from "../config/environment.ts";
import { EXIT_CODES, type Failure } from "../failure.ts";
import { lastFailure, lastSuccess, type NotedEnd } from "../ledger/invocations.ts";
import { type Ledger, runListPath } from "../ledger/ledger.ts";
import { leftToOthers } from "../ledger/left-to-others.ts";
import { shownPlace } from "../ledger/machine.ts";
import { rejectsFilesOf } from "../ledger/outputs.ts";
import { openLanes } from "../ledger/postgres/lane-claims.ts";
import { readTeam, type Team } from "../ledger/postgres/workers.ts";
import { readRunList } from "../ledger/run-list.ts";
import {
  countRun,
  findRun,
  listRuns,
  openRuns,
  type RunCounts,
  type RunRecord,
  runsWithDoubts,
} from "../ledger/runs.ts";
import { type Manifest, parseManifest } from "../plan/files/manifest.ts";
import type { RunContext } from "./context.ts";
import { isLockHeld } from "./ledger-of.ts";
import { openLedgerToRead } from "./ledger-to-read.ts";
import { lostRunsFailure, lostRunsOf } from "./lost-runs.ts";
import type { Settings } from "./settings.ts";
import { type Summary, summarise } from "./summary.ts";
import { isShared } from "./worker.ts";

export interface StatusSettings {
  readonly settings: Settings;
  /** Only this run; without it, the last ones. */
  readonly run?: string | undefined;
}

/** What an environment was sent from here. */
export interface Status {
  /** Why nothing could be sent: the ledger lacks runs. */
  readonly problem: Failure | undefined;
  /** Without one, nothing was sent from here. */
  readonly hasLedger: boolean;
  readonly lastSuccess: NotedEnd | undefined;
  readonly lastFailure: NotedEnd | undefined;
  /** The last runs, the newest first; or the one that was named, if it is known. */
  readonly runs: readonly RunStatus[];
  /** The commands that decide about runs which wait for a person, the oldest first. */
  readonly next: readonly string[];
  /** Who sends right now; undefined where the ledger is this machine's alone. */
  readonly team: Team | undefined;
}

export interface RunStatus {
  readonly run: RunRecord;
  readonly manifest: Manifest;
  readonly counts: RunCounts;
  readonly summary: Summary;
  /** How many of its actions wait for what another run holds. */
  readonly waiting: number;
}

/** How many runs are listed. */
const RUNS_TOLD = 20;

export async function status({ cwd }: RunContext, { settings, run: name }: StatusSettings): Promise<Status> {
  const { environment } = settings;
  const list = readRunList(runListPath(environment.ledgerPath));
  using ledger = await openLedgerToRead(environment);
  const lost = lostRunsOf({ environment, boundTo: undefined }, list, ledger);
  const problem = lost.length === 0 ? undefined : await lostRunsFailure(lost, environment, cwd);
  if (ledger === undefined)
    return {
      problem,
      hasLedger: false,
      lastSuccess: undefined,
      lastFailure: undefined,
      runs: [],
      next: [],
      team: undefined,
    };
  const runs: RunStatus[] = [];
  const named = name === undefined ? listRuns(ledger, RUNS_TOLD) : [findRun(ledger, name)];
  for (const run of named) if (run !== undefined) runs.push(await statusOf(ledger, run, environment));
  const next: string[] = [];
  // Older runs too, not only the last ones.
  for (const run of name === undefined ? runsToDecide(ledger) : []) {
    const command = nextOf(run, await countsOf(ledger, run, environment), environment);
    if (command !== null) next.push(command);
  }
  const [success, failure] = [lastSuccess(ledger), lastFailure(ledger)];
  const team = isShared(ledger) ? readTeam(ledger) : undefined;
  return { problem, hasLedger: true, lastSuccess: success, lastFailure: failure, runs, next, team };
}

/** The run of that name, as the next command would find it; undefined where the ledger does not know it. */
export async function runStatus(
  ledger: Ledger,
  name: string,
  environment: Environment,
): Promise<RunStatus | undefined> {
  const run = findRun(ledger, name);
  return run && (await statusOf(ledger, run, environment));
}

/** Of one that no command has ended: what it would have ended with by now. */
function exitCodeOfKilled({ inDoubt, inFlight, refused }: RunCounts): number {
  if (inDoubt > inFlight) return EXIT_CODES["in-doubt"];
  return refused > 0 ? EXIT_CODES.refused : EXIT_CODES["stopped-early"];
}

/** One run, as the next command would find it. */
async function statusOf(ledger: Ledger, run: RunRecord, environment: Environment): Promise<RunStatus> {
  const manifest = parseManifest(run.manifest);
  const counts = await countsOf(ledger, run, environment);
  const left = leftToOthers(ledger, run, manifest);
  const summary = summarise({
    run: run.run,
    environment: environment.name,
    state: run.state === "open" ? "stopped" : run.state,
    exitCode: run.exitCode ?? exitCodeOfKilled(counts),
    plan: manifest,
    problems: manifest.problems,
    counts,
    left,
    output: run.output === undefined ? null : shownPlace({ path: run.output, machine: run.outputMachine }),
    rejects: rejectsFilesOf(ledger, run.runNo).filter((path) => existsSync(path)),
    durationMs: run.endedAt === undefined ? 0 : Date.parse(run.endedAt) - Date.parse(run.createdAt),
    next: nextOf(run, counts, environment),
  });
  return { run, manifest, counts, summary, waiting: left.waiting };
}

/**
 * What the next command would find. A stored answer counts as what it says. What was being sent is in doubt once nobody can
 * be waiting for its answer any more.
 */
export async function countsOf(ledger: Ledger, run: RunRecord, environment: Environment): Promise<RunCounts> {
  const counts = countRun(ledger, run.runNo);
  const { inFlight } = counts;
  return { ...counts, inFlight: inFlight > 0 && (await isBeingSent(ledger, run, environment)) ? inFlight : 0 };
}

/** Whether an answer may still come: someone holds the lock or, where several machines send, the time of a request is not over. */
async function isBeingSent(ledger: Ledger, { runNo }: RunRecord, environment: Environment): Promise<boolean> {
  if (isShared(ledger)) return openLanes(ledger, runNo).some(({ overInMs }) => overInMs > 0);
  return isLockHeld(environment, ledger);
}

/** Runs that may wait for a person's decision, oldest first. */
function runsToDecide(ledger: Ledger): readonly RunRecord[] {
  const runs = [...openRuns(ledger), ...runsWithDoubts(ledger)];
  return [...new Map(runs.map((run) => [run.runNo, run])).values()].toSorted((a, b) => a.runNo - b.runNo);
}

/** The command for a run that waits for a person's decision; null for one that does not. */
function nextOf(run: RunRecord, { inDoubt, inFlight, refused }: RunCounts, environment: Environment): string | null {
  if (run.isClosing) return closeCommand(run, environment);
  if (inDoubt > inFlight) return settleCommand(run.run, environment);
  if (inFlight > 0 || refused === 0) return null;
  const isWhole = environment.refusalsAreWhole && run.state === "open";
  return isWhole ? resumeCommand(run.run, environment) : settleCommand(run.run, environment);
}

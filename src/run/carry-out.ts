/** Carries a run out from wherever it stands, whether it is new or was interrupted. */

import { existsSync } from "node:fs";
import { commandForDoubts, resumeCommand, settleCommand, streamOfRejects } from "../actions/next-command.ts";
import type { Environment } from "../config/environment.ts";
import { crashPoint } from "../disk/crash-points.ts";
import { EXIT_CODES, Failure, SIGNAL_CODES } from "../failure.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { type LeftToOthers, leftToOthers } from "../ledger/left-to-others.ts";
import { hostOf, isHere } from "../ledger/machine.ts";
import { mergeOutcomes } from "../ledger/merge.ts";
import { firstOutcomes, leavesOpen } from "../ledger/outcomes.ts";
import { openLanes } from "../ledger/postgres/lane-claims.ts";
import type { PostgresLedger } from "../ledger/postgres/open-postgres.ts";
import {
  chunksOf,
  countRun,
  endRun,
  noteGoesOn,
  noteStop,
  plannedLanes,
  type RunCounts,
  type RunRecord,
  reopenRefused,
  runsWithDoubts,
} from "../ledger/runs.ts";
import { NO_REJECTS, type WrittenRejects, writeRejects } from "../outputs/rejects.ts";
import { type Manifest, waitsForAnotherRun } from "../plan/files/manifest.ts";
import type { Plan } from "../plan/files/plan.ts";
import { type LaneSource, theseLanes } from "../sending/lanes.ts";
import { projectUnwritten, type RecordContext, recover } from "../sending/record-answer.ts";
import type { Stop, StopRequest } from "../sending/send.ts";
import { closeSuperseded } from "../sending/superseded.ts";
import type { RunContext } from "./context.ts";
import { PLAN_KEPT_MS } from "./places.ts";
import { openPromises } from "./promises.ts";
import { prunePlans } from "./prune.ts";
import { type RunEnd, toRunStop } from "./run-end.ts";
import { areRejectsElsewhere, openRunPlan } from "./run-plan.ts";
import { sendRun } from "./send-run.ts";
import type { Session } from "./session.ts";
import { hasUnsentRows, summarise } from "./summary.ts";
import { claimedLanes, isShared, startWorker } from "./worker.ts";

export interface CarryOutOptions {
  readonly session: Session;
  readonly run: RunRecord;
  /** An earlier command began it. */
  readonly isResumed: boolean;
  /** `performance.now()` after which nothing is begun. */
  readonly deadline: number;
  readonly startedAt: number;
}

/**
 * Sends what is left of a run, and writes promises and rejects. The exit code is in the summary.
 *
 * @throws Failure when it can't even begin: a lost plan, an output file that someone changed, no key.
 */
export async function carryOut(context: RunContext, options: CarryOutOptions): Promise<RunEnd> {
  const { session, run } = options;
  const { ledger, environment } = session;
  const { progress } = context;
  await using plan = await openRunPlan(session, run, context);
  await using promises = await openPromises(context, session, run);
  const recording: RecordContext = { ledger, plan, runNo: run.runNo, promises };
  await recover(recording);
  if (environment.refusalsAreWhole) reopenRefused(ledger, run.runNo);
  if (!isShared(ledger)) await closeUnwanted(context, recording, run);
  const before = { ...countRun(ledger, run.runNo), at: performance.now() };
  progress.happened({
    kind: "run started",
    run: run.run,
    actions: before.notSent - before.superseded,
    chunks: before.chunks.total - before.chunks.settled,
    isResumed: options.isResumed,
  });
  const stops = await sendUntilStopped(context, options, recording);
  progress.advanced(undefined);
  const [stop = { kind: "finished" }] = stops;

  const counts = countRun(ledger, run.runNo);
  const sent = {
    actions: counts.accepted + counts.rejected - before.accepted - before.rejected,
    ms: performance.now() - before.at,
  };
  const done = stop.kind === "finished";
  // Whatever else ended it: a person who has stopped it decides how it goes on.
  if (!done) noteStop(ledger, run.runNo, exitCodeOf(stop), context.stop.aborted && context.stop.reason === "SIGINT");
  const rejects = await rejectsOf(context, session, run, plan);
  crashPoint("rejects written");
  // An interrupted run may end long after it was planned, when what it waited for is decided.
  const left = leftToOthers(ledger, run, plan.manifest);
  const exitCode = done ? exitCodeOfDone(ledger, run, plan.manifest, left) : exitCodeOf(stop);
  mergeOutcomes(ledger);
  crashPoint("merged");
  if (done) await prunePlans(environment, ledger, Date.now() - PLAN_KEPT_MS);
  // Last of all: until then the same command resumes this run, and an --again does not begin anew.
  if (done) endRun(ledger, run.runNo, "finished", exitCode, new Date().toISOString());
  crashPoint("ended");
  noteInList(context, session, run);
  const end = endOf(context, options, { plan, stops, counts, left, exitCode, sent, rejects, output: promises?.path });
  progress.happened({ kind: "run ended", end });
  return end;
}

/** Writes the rejects where the run was planned. Elsewhere, it is told where that is. */
export async function rejectsOf(
  context: RunContext,
  { environment, ledger }: Pick<Session, "environment" | "ledger">,
  run: RunRecord,
  plan: Plan,
): Promise<WrittenRejects> {
  const { manifest } = plan;
  if (!areRejectsElsewhere(ledger, run, plan))
    return writeRejects({ ledger, run, plan, directory: rejectsDirectory(context, manifest) });
  if (leavesOpen(ledger, run.runNo) || hasUnsentRows(manifest.rows)) {
    const { machine } = manifest.options;
    const host = machine === undefined || isHere(ledger, machine) ? undefined : hostOf(machine);
    context.progress.happened({ kind: "rejects left elsewhere", environment, run: run.run, host });
  }
  return NO_REJECTS;
}

function endOf(
  context: RunContext,
  { session: { ledger, environment }, run, startedAt }: CarryOutOptions,
  came: Pick<RunEnd, "left" | "sent"> & {
    readonly plan: Plan;
    readonly stops: readonly Stop[];
    readonly counts: RunCounts;
    readonly exitCode: number;
    readonly rejects: WrittenRejects;
    readonly output: string | undefined;
  },
): RunEnd {
  const { plan, stops, counts, left, exitCode, sent, rejects, output } = came;
  const { manifest } = plan;
  const [stop = { kind: "finished" }] = stops;
  const isDone = stop.kind === "finished";
  // What another run may still send is decided there, and first.
  const waits = isDone && waitsForAnotherRun(left);
  const doubts = waits ? runsWithDoubts(ledger).map((each) => each.run) : [];
  const summary = summarise({
    run: run.run,
    environment: environment.name,
    state: isDone ? "finished" : "stopped",
    exitCode,
    plan: manifest,
    problems: manifest.problems,
    counts,
    left,
    output: output ?? null,
    rejects: rejects.paths,
    durationMs: performance.now() - startedAt,
    next: waits
      ? commandForDoubts(doubts, environment)
      : nextCommand(stop, run, rejects, manifest, context, environment),
  });
  return {
    environment,
    summary,
    manifest,
    stops: stops.map((each) => toRunStop(ledger, manifest, each)),
    left,
    doubts,
    sent,
    rejected: firstOutcomes(ledger, run.runNo, ["rejected"], REJECTED_TOLD),
    rejects,
  };
}

/** Closes, unsent, what must not be sent any more. Where others may send, that is done lane by lane once it is claimed. */
async function closeUnwanted(context: RunContext, { ledger, plan }: RecordContext, run: RunRecord): Promise<void> {
  tellSuperseded(context, await closeSuperseded(ledger, plan, run.runNo));
}

/** How many rejected actions are listed one by one. */
const REJECTED_TOLD = 5;

/** Tells what `closeSuperseded` has closed. */
export function tellSuperseded({ progress }: RunContext, actions: number): void {
  if (actions > 0) progress.happened({ kind: "superseded left out", actions });
}

/** Nothing is sent of a run with chunks that a person has to decide about. */
async function sendUntilStopped(
  context: RunContext,
  options: CarryOutOptions,
  recording: RecordContext,
): Promise<readonly Stop[]> {
  const { session, run } = options;
  const waiting = inDoubtOrRefused(session, run);
  if (waiting.length > 0) return waiting;
  const { ledger } = session;
  const sent = await (isShared(ledger)
    ? sendShared(context, options, recording, ledger)
    : send(context, options, recording));
  // Others may have found what a person has to decide about.
  const isOfOthers = (stop: Stop): boolean =>
    stop.kind === "finished" || (stop.kind === "stopped" && stop.by === "elsewhere");
  const stops = inDoubtOrRefused(session, run).length === 0 ? sent : sent.filter((stop) => !isOfOthers(stop));
  // In an answer that lacks promises in several places, each gap is a doubt of its own.
  const isTold = (chunk: number): boolean => stops.some((stop) => "chunk" in stop && stop.chunk.chunk === chunk);
  return [...stops, ...inDoubtOrRefused(session, run).filter((stop) => "chunk" in stop && !isTold(stop.chunk.chunk))];
}

/**
 * Writes into the list of runs what the ledger holds. If that fails, a lost ledger is still noticed, but less is known about
 * it.
 */
export function noteInList({ progress }: RunContext, { runList, ledger }: Session, run: RunRecord): void {
  try {
    runList.stopped(ledger, run);
  } catch (cause) {
    if (!(cause instanceof Failure)) throw cause;
    progress.happened({ kind: "list of runs not written", problem: cause });
  }
}

/** Where a run's rejects go: the folder where it was begun or, if that is gone, the one where it is resumed. */
export function rejectsDirectory({ cwd }: Pick<RunContext, "cwd">, { options }: Manifest): string {
  return existsSync(options.directory) ? options.directory : cwd;
}

/** Chunks about which a person must decide before anything more is sent. */
function inDoubtOrRefused({ ledger }: Session, run: RunRecord): readonly Stop[] {
  return [
    ...chunksOf(ledger, run.runNo, "in doubt").map(
      (chunk): Stop => ({ kind: "in doubt", chunk, detail: chunk.detail ?? "", body: "" }),
    ),
    ...chunksOf(ledger, run.runNo, "refused").map(
      (chunk): Stop => ({ kind: "refused", whole: false, chunk, detail: chunk.detail ?? "", body: "" }),
    ),
  ];
}

/** Sends what no worker of another machine sends, waits for these, and writes the promises of all. */
async function sendShared(
  context: RunContext,
  options: CarryOutOptions,
  recording: RecordContext,
  ledger: PostgresLedger,
): Promise<readonly Stop[]> {
  const { session, run } = options;
  const lanes = openLanes(ledger, run.runNo);
  if (lanes.length === 0) return [{ kind: "finished" }];
  const { environment } = session;
  noteGoesOn(ledger, run.runNo);
  using worker = startWorker(ledger, environment, "tickets stream");
  const { runNo } = run;
  const of = { ledger, environment, plan: recording.plan, runNo, run: run.run, atOnce: lanes.length };
  const stops = await send(context, options, recording, claimedLanes(context, worker, of));
  await projectUnwritten(recording);
  const [first] = stops;
  if (first?.kind !== "finished") return stops;
  if (openLanes(ledger, runNo).length > 0) return [{ kind: "stopped", by: whyNotAll(context, options) }];
  // What workers have settled meanwhile; nothing comes after it.
  await projectUnwritten(recording);
  return stops;
}

/** Why a run was not sent to its end although nothing went wrong here. */
function whyNotAll({ stop }: RunContext, { deadline }: CarryOutOptions): StopRequest {
  if (stop.aborted) return stop.reason as StopRequest; // see RunContext.stop
  return performance.now() >= deadline ? "max-duration" : "elsewhere";
}

/** @param source of the lanes; by default all in which something is planned. */
async function send(
  context: RunContext,
  { session, run, deadline }: CarryOutOptions,
  recording: RecordContext,
  source?: LaneSource,
): Promise<readonly Stop[]> {
  const { ledger } = session;
  const lanes = source ?? theseLanes(plannedLanes(ledger, run.runNo));
  if (lanes.atOnce === 0) return [{ kind: "finished" }];
  const { promises } = recording;
  const output = promises === undefined ? run.output : promises.path;
  const onSending = (): void => session.runList.sending(ledger, { ...run, output }, recording.plan.manifest);
  return sendRun(context, { session, run, deadline, onSending }, recording, lanes);
}

/** Of a run of which nothing is left to send. */
export function exitCodeOfDone(ledger: Ledger, { runNo }: RunRecord, manifest: Manifest, left: LeftToOthers): number {
  if (waitsForAnotherRun(left)) return EXIT_CODES["in-doubt"];
  const isOpen = leavesOpen(ledger, runNo) || hasUnsentRows(manifest.rows) || left.open > 0;
  return isOpen ? EXIT_CODES["finished-with-rejects"] : EXIT_CODES.ok;
}

export function exitCodeOf(stop: Stop): number {
  switch (stop.kind) {
    case "finished":
      return EXIT_CODES.ok;
    case "in doubt":
      return EXIT_CODES["in-doubt"];
    case "refused":
    case "too many rejections":
      return EXIT_CODES.refused;
    case "not let in":
      return EXIT_CODES["not-let-in"];
    case "not reachable":
      return EXIT_CODES["stopped-early"];
    case "stopped":
      return STOP_CODES[stop.by];
  }
}

const STOP_CODES: Readonly<Record<StopRequest, number>> = {
  ...SIGNAL_CODES,
  "max-duration": EXIT_CODES["stopped-early"],
  elsewhere: EXIT_CODES["stopped-early"],
};

function nextCommand(
  stop: Stop,
  run: RunRecord,
  { paths, areUnclear }: WrittenRejects,
  { options: { flags = [] } }: Manifest,
  context: RunContext,
  environment: Environment,
): string | null {
  switch (stop.kind) {
    case "finished":
      return paths.length === 0 || areUnclear ? null : streamOfRejects(paths, flags, context, environment);
    case "in doubt":
      return settleCommand(run.run, environment);
    case "refused":
      return stop.whole ? resumeCommand(run.run, environment) : settleCommand(run.run, environment);
    default:
      return resumeCommand(run.run, environment);
  }
}

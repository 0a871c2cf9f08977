/** Sends what other processes have published: lanes of the oldest open run, as many at a time as were asked for, one run after the other. */

import type { Environment } from "../config/environment.ts";
import { EXIT_CODES, Failure } from "../failure.ts";
import type { Ledger, LockHolder, Run } from "../ledger/ledger.ts";
import { resumeCommand, settleCommand } from "../next-command.ts";
import { claimedLanes, SEEN_MS, startWorker, type Worker } from "../send/lanes.ts";
import type { Stop, StopRequest } from "../send/stop.ts";
import { pause } from "../send/waiting.ts";
import { endRun, sendFrom } from "./carry-out.ts";
import type { RunContext, RunEvent } from "./context.ts";
import { refuseLostRuns } from "./lost-ledger.ts";
import { findLedgerOf, LOCK, limitsOf, type OpenEnvironment, openLedgerOf, openService } from "./open.ts";
import { failureIfBlocked, openQuestions, statusAfter } from "./runs.ts";
import { exitCodeOf, type Summary } from "./summary.ts";

export interface WorkSettings {
  readonly environment: Environment;
  /** Ends once nothing published is left; else it waits for more. */
  readonly untilIdle: boolean;
  /** Milliseconds after which nothing new is begun; for ever by default. */
  readonly maxDuration?: number | undefined;
  /** Called with each run that this worker ended, or found a reason to stop. */
  readonly onRunEnd: (end: { readonly exitCode: number; readonly summary: Summary }) => Promise<void>;
}

export interface WorkResult {
  accepted: number;
  rejected: number;
  /** Runs of which this worker found the last chunk answered. */
  readonly ended: { readonly run: string; readonly exitCode: number }[];
  exitCode: number;
}

/**
 * @throws Failure `usage` where the ledger is a file of this machine, or lacks runs that were sent from here;
 * `authentication-failed` without a key.
 */
export async function work(context: RunContext, options: WorkSettings): Promise<WorkResult> {
  const { environment, untilIdle } = options;
  const limits = limitsOf(context, options.maxDuration);
  if (environment.ledgerServer === undefined) throw nothingToShare(environment);
  await using service = await openService(context, environment);
  await service.key();
  const { stop } = limits;
  const own: RunContext = { ...context, stop };
  const result: WorkResult = { accepted: 0, rejected: 0, ended: [], exitCode: EXIT_CODES.ok };
  if (!(await isPublished(own, options))) return result;
  await using ledger = await openLedgerOf(environment, environment.baseUrl, own);
  await refuseLostRuns(environment, ledger, context.cwd);
  own.progress.happened({ kind: "ledger opened", environment, runs: (await ledger.runs()).length, isToSend: true });
  const opened: OpenEnvironment = { ...service, ...limits, command: "tickets work", ledger };
  await using worker = await startWorker(ledger, opened.command, environment.timeoutMs);
  if (worker === undefined) throw new Error("a ledger on a server that nobody shares");

  for (let reported: string | undefined; ; ) {
    // The database may be away: a worker with nothing to store does not wait for it.
    const found = await unlessStopped(stop, () => lookFor(opened));
    if (found === undefined) {
      const by = stop.reason as StopRequest; // see RunContext
      if (by !== "max-duration") result.exitCode = exitCodeOf({ kind: "stopped", by });
      return result;
    }
    if ("run" in found) {
      reported = undefined;
      const then = await sendLanesOf(own, options, opened, worker, found.run, result);
      if (then === "end") return result;
      if (then === "look") continue;
    } else {
      const { event, about } = found;
      if (reported !== about) own.progress.happened(event);
      reported = about;
      if (untilIdle && event.kind === "run waits for a person") result.exitCode = EXIT_CODES[event.waits.code];
      if (untilIdle) return result;
    }
    await worker.workers.woken(SEEN_MS, stop);
  }
}

/** Sends lanes of a run until none is left for this worker, and ends the run where that was the last. @returns what comes next. */
async function sendLanesOf(
  context: RunContext,
  { onRunEnd }: WorkSettings,
  opened: OpenEnvironment,
  worker: Worker,
  run: Run,
  result: WorkResult,
): Promise<"look" | "rest" | "end"> {
  const { ledger, environment } = opened;
  const { progress } = context;
  const sent = await sendFrom(context, opened, run, claimedLanes(ledger, worker, run.number, environment.lanes));
  result.accepted += sent.accepted;
  result.rejected += sent.rejected;
  const { stops } = sent;
  const end = await endIfDone(ledger, run);
  if (end !== undefined) {
    result.ended.push({ run: run.run, exitCode: end });
    const counts = await ledger.counts(run.number);
    progress.happened({ kind: "run done", run: run.run, environment, exitCode: end, counts });
  }
  if (stops.length > 0) progress.happened({ kind: "worker stopped", environment, lanes: environment.lanes, stops });
  // Nobody goes on with it before a person has looked.
  if (stops.some(({ kind }) => kind === "too many rejections" || kind === "refused"))
    await ledger.noteStop(run.number, { exitCode: EXIT_CODES.refused });
  const [first] = stops;
  const exitCode = first === undefined ? (end ?? result.exitCode) : exitCodeOf(first);
  result.exitCode = exitCode;
  if (end !== undefined || (first !== undefined && first.kind !== "stopped")) {
    const { summary } = await statusAfter(opened, run, context);
    await onRunEnd({ exitCode, summary: { ...summary, exitCode } });
  }
  if (stops.some(endsWork)) return "end";
  return end === undefined && stops.length === 0 ? "rest" : "look";
}

/** Another run or another moment does not change why it stopped. */
const endsWork = (stop: Stop): boolean =>
  stop.kind === "authentication failed" || (stop.kind === "stopped" && stop.by !== "elsewhere");

/** The one that finds the last chunk answered ends the run. Takes no lock. */
async function endIfDone(ledger: Ledger, run: Run): Promise<number | undefined> {
  const open = await ledger.chunks(run.number, { states: ["planned", "sending", "in doubt", "refused"] });
  if (open.length > 0) return undefined;
  const { exitCode, hasEnded } = await endRun(ledger, run);
  return hasEnded ? exitCode : undefined;
}

/** Why there is nothing to do; it is reported once for what it is about. */
interface Waiting {
  readonly event: Extract<RunEvent, { readonly kind: "nothing to work on" | "run waits for a person" }>;
  readonly about: string;
}

/** The oldest open run, or why nothing of it is sent. */
async function lookFor(opened: OpenEnvironment): Promise<{ readonly run: Run } | Waiting> {
  const { ledger } = opened;
  const [run] = await ledger.runs({ states: ["open"] });
  if (run === undefined) {
    const isFirst = (await ledger.runs({ last: 1 })).length === 0;
    const holder: LockHolder | undefined = await ledger.holder(LOCK);
    return { event: { kind: "nothing to work on", isFirst, holder }, about: String(holder?.since) };
  }
  const waits = (await ledger.workers?.maySend(run.number)) === true ? undefined : await whyWorkWaits(opened, run);
  return waits === undefined ? { run } : { event: { kind: "run waits for a person", waits }, about: waits.message };
}

/** Why no worker goes on with a run; undefined where it may be sent since. */
async function whyWorkWaits({ ledger, environment }: OpenEnvironment, run: Run): Promise<Failure | undefined> {
  const of = `Run ${run.run}`;
  const open = await openQuestions(ledger, run);
  if (open.length > 0) {
    const chunks = `${open.length === 1 ? "chunk" : "chunks"} ${open.map(({ chunk }) => chunk).join(", ")}`;
    const isDoubt = open.some(({ state }) => state === "in doubt");
    return new Failure(isDoubt ? "in-doubt" : "refused", `${of} waits for a person to decide about ${chunks}.`, {
      hint: `Look, then decide: ${settleCommand(run.run, environment)}`,
    });
  }
  const waits = await failureIfBlocked(ledger, run, environment);
  if (waits !== undefined || run.exitCode !== EXIT_CODES.refused) return waits;
  return new Failure("refused", `${of} was refused by the service, and waits for a person.`, {
    hint: `Look, then go on: ${resumeCommand(run.run, environment)}`,
  });
}

const nothingToShare = ({ name }: Environment): Failure =>
  new Failure("usage", `The ledger of ${name} is a file of this machine, so there is nothing to share.`, {
    hint: "Send with tickets stream. For workers on several machines, put the ledger into PostgreSQL: environments.NAME.ledger",
  });

/** Waits for the first run that somebody publishes: until then there may be no tables, and a worker may not make them. */
async function isPublished(context: RunContext, { environment, untilIdle }: WorkSettings): Promise<boolean> {
  for (let isSaid = false; !context.stop.aborted; isSaid = true) {
    await using ledger = await findLedgerOf(environment, "sending", context);
    if (ledger !== undefined) return true;
    if (!isSaid) context.progress.happened({ kind: "nothing to work on", isFirst: true, holder: undefined });
    if (untilIdle) return false;
    await pause(SEEN_MS, context.stop);
  }
  return false;
}

/** Undefined once the signal comes, however long the work would take. */
async function unlessStopped<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T | undefined> {
  if (signal.aborted) return undefined;
  const { promise: stopped, resolve } = Promise.withResolvers<undefined>();
  const onStop = (): void => resolve(undefined);
  signal.addEventListener("abort", onStop, { once: true });
  const working = work();
  working.catch(() => undefined);
  try {
    return await Promise.race([working, stopped]);
  } finally {
    signal.removeEventListener("abort", onStop);
  }
}

/** Sends what other processes have published: lanes of the oldest open run, as many at a time as were asked for, one run after the other. */

import { resumeCommand, settleCommand } from "../actions/next-command.ts";
import type { Environment } from "../config/environment.ts";
import { EXIT_CODES, Failure } from "../failure.ts";
import type { Ledger, LockHolder, Run } from "../ledger/ledger.ts";
import { pause } from "../send/clock.ts";
import type { Stop, StopRequest } from "../send/stop.ts";
import { deadlineOf, endOf, sendFrom, stopAfter } from "./carry-out.ts";
import type { RunContext } from "./context.ts";
import { findLedgerOf, LOCK, openLedgerOf } from "./ledger-of.ts";
import { openQuestions, statusOf, whyItWaits } from "./runs.ts";
import { openService } from "./service.ts";
import { lostRunsOf, type Session } from "./session.ts";
import { exitCodeOf, type Summary } from "./summary.ts";
import { claimedLanes, SEEN_MS, startWorker } from "./worker.ts";

export interface WorkSettings {
  readonly environment: Environment;
  /** Ends once nothing published is left; else it waits for more. */
  readonly untilIdle: boolean;
  readonly maxDuration?: number | undefined;
  readonly startedAt: number;
  /** Told of each run that this worker ended, or found a reason to stop. */
  readonly onRunEnd: (end: { readonly exitCode: number; readonly summary: Summary }) => Promise<void>;
}

export interface WorkResult {
  readonly accepted: number;
  readonly rejected: number;
  /** Runs of which this worker found the last chunk answered. */
  readonly ended: readonly { readonly run: string; readonly exitCode: number }[];
  readonly exitCode: number;
}

/**
 * @throws Failure `usage` where the ledger is a file of this machine, or lacks runs that were sent from here; `authentication
 * failed` without a key.
 */
export async function work(context: RunContext, options: WorkSettings): Promise<WorkResult> {
  const { environment, untilIdle } = options;
  if (environment.ledgerServer === undefined) throw nothingToShare(environment);
  await using service = await openService(context, environment);
  await service.key();
  await service.tls();
  const deadline = deadlineOf(options);
  using timer = stopAfter(deadline, context.stop);
  const stop = timer.signal;
  const [sum, progress] = summing(context.progress);
  const stopping: RunContext = { ...context, stop, progress };
  const ended: { readonly run: string; readonly exitCode: number }[] = [];
  let exitCode: number = EXIT_CODES.ok;
  if (!(await isPublished(stopping, options))) return { ...sum, ended, exitCode };
  await using ledger = await openLedgerOf(environment, environment.baseUrl, stopping);
  const { workers } = ledger;
  if (workers === undefined) throw new Error("a ledger on a server that nobody shares");
  const lost = await lostRunsOf(environment, ledger, context.cwd);
  if (lost !== undefined) throw lost;
  progress.happened({ kind: "ledger opened", environment, runs: (await ledger.runs()).length, isToSend: true });
  const command = "tickets work";
  await using worker = await startWorker(workers, environment, command);
  const session: Session = { ...service, command, ledger };
  const rest = () => unlessStopped(stop, () => workers.woken(SEEN_MS, stop));
  let told: string | undefined;
  for (;;) {
    // The database may be away: whoever has nothing to store does not wait for it.
    const look = await unlessStopped(stop, () => lookFor(session));
    if (look === undefined) {
      const by = stop.reason as StopRequest; // see RunContext
      if (by !== "max-duration") exitCode = exitCodeOf({ kind: "stopped", by });
      break;
    }
    if ("event" in look) {
      const { event, about } = look;
      if (told !== about) progress.happened(event);
      told = about;
      if (untilIdle && event.kind === "run waits for a person") exitCode = EXIT_CODES[event.waits.code];
      if (untilIdle) break;
      await rest();
      continue;
    }
    told = undefined;
    const { run } = look;
    const lanes = claimedLanes(ledger, workers, run, worker.number, environment);
    const sent = await sendFrom(stopping, { session, run, deadline, lanes });
    const stops = sent.filter(({ kind }) => kind !== "finished");
    const end = await endIfDone(ledger, run);
    if (end !== undefined) {
      ended.push({ run: run.run, exitCode: end });
      const counts = await ledger.counts(run.number);
      progress.happened({ kind: "run done", run: run.run, environment, exitCode: end, counts });
    }
    if (stops.length > 0) progress.happened({ kind: "worker stopped", environment, lanes: environment.lanes, stops });
    // Nobody goes on with it before a person has looked.
    if (stops.some(({ kind }) => kind === "too many rejections" || kind === "refused"))
      await ledger.noteStop(run.number, { exitCode: EXIT_CODES.refused });
    const [first] = stops;
    exitCode = first === undefined ? (end ?? exitCode) : exitCodeOf(first);
    if (end !== undefined || (first !== undefined && first.kind !== "stopped")) {
      const { summary } = await statusOf(ledger, (await ledger.run(run.run)) ?? run, environment);
      await options.onRunEnd({ exitCode, summary: { ...summary, exitCode } });
    }
    if (stops.some(endsWork)) break;
    if (end === undefined && stops.length === 0) await rest();
  }
  return { ...sum, ended, exitCode };
}

/** Counts what is answered, as it is told. */
function summing(progress: RunContext["progress"]) {
  const sum = { accepted: 0, rejected: 0 };
  const happened: typeof progress.happened = (event) => {
    if (event.kind === "chunk answered") {
      sum.accepted += event.accepted;
      sum.rejected += event.rejected;
    }
    progress.happened(event);
  };
  return [sum, { ...progress, happened }] as const;
}

const nothingToShare = ({ name }: Environment): Failure =>
  new Failure("usage", `The ledger of ${name} is a file of this machine, so there is nothing to share.`, {
    hint: "Send with tickets stream. For workers on several machines, put the ledger into PostgreSQL: environments.NAME.ledger",
  });

/** Waits for the first run that somebody publishes: until then there may be no tables, and a worker may not make them. */
async function isPublished(context: RunContext, { environment, untilIdle }: WorkSettings): Promise<boolean> {
  for (let isTold = false; !context.stop.aborted; isTold = true) {
    await using ledger = await findLedgerOf(environment, "sending", context);
    if (ledger !== undefined) return true;
    if (!isTold) context.progress.happened({ kind: "nothing to work on", isFirst: true, holder: undefined });
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

/** The oldest open run; or what to tell while there is nothing to do, and what that is about. */
async function lookFor(session: Session) {
  const { ledger } = session;
  const [run] = await ledger.runs({ states: ["open"] });
  if (run === undefined) {
    const isFirst = (await ledger.runs({ last: 1 })).length === 0;
    const holder: LockHolder | undefined = await ledger.holder(LOCK);
    return { event: { kind: "nothing to work on", isFirst, holder }, about: String(holder?.since) } as const;
  }
  const waits = (await ledger.workers?.maySend(run.number)) === true ? undefined : await whyWorkWaits(session, run);
  return waits === undefined
    ? { run }
    : ({ event: { kind: "run waits for a person", waits }, about: waits.message } as const);
}

/** Why no worker goes on with a run; undefined where it may be sent since. */
async function whyWorkWaits({ ledger, environment }: Session, run: Run): Promise<Failure | undefined> {
  const of = `Run ${run.run} of ${run.createdAt}`;
  const open = await openQuestions(ledger, run);
  if (open.length > 0) {
    const chunks = `${open.length === 1 ? "chunk" : "chunks"} ${open.map(({ chunk }) => chunk).join(", ")}`;
    const isDoubt = open.some(({ state }) => state === "in doubt");
    return new Failure(isDoubt ? "in-doubt" : "refused", `${of} waits for a person to decide about ${chunks}.`, {
      hint: `Look, then decide: ${settleCommand(run.run, environment)}`,
    });
  }
  const waits = await whyItWaits(ledger, run, environment);
  if (waits !== undefined || run.exitCode !== EXIT_CODES.refused) return waits;
  return new Failure("refused", `${of} was refused by the service, and waits for a person.`, {
    hint: `Look, then go on: ${resumeCommand(run.run, environment)}`,
  });
}

/** What another run or another moment does not mend. */
const endsWork = (stop: Stop): boolean =>
  stop.kind === "authentication failed" || (stop.kind === "stopped" && stop.by !== "elsewhere");

/** The one that finds the last chunk answered ends the run. Takes no lock. */
async function endIfDone(ledger: Ledger, run: Run): Promise<number | undefined> {
  const open = await ledger.chunks(run.number, { states: ["planned", "sending", "in doubt", "refused"] });
  if (open.length > 0) return undefined;
  const { exitCode } = await endOf(ledger, run);
  return (await ledger.endRun(run.number, { exitCode, at: new Date().toISOString() })) ? exitCode : undefined;
}

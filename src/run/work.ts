/** Sends what other processes have published: lanes of the oldest open run, as many at a time as were asked for, one run after the other. */

import type { Environment } from "../config/environment.ts";
import { type Key, readKey } from "../config/key.ts";
import { EXIT_CODES, Failure } from "../failure.ts";
import { leftToOthers } from "../ledger/left-to-others.ts";
import { mergeOutcomes } from "../ledger/merge.ts";
import { openLanes } from "../ledger/postgres/lane-claims.ts";
import type { PostgresLedger } from "../ledger/postgres/open-postgres.ts";
import {
  countRun,
  endRun,
  findRun,
  noteGoesOn,
  noteRefused,
  openRuns,
  type RunRecord,
  runHeld,
} from "../ledger/runs.ts";
import { type Manifest, parseManifest } from "../plan/files/manifest.ts";
import { pause } from "../sending/pause.ts";
import type { Stop, StopRequest } from "../sending/send.ts";
import { exitCodeOf, exitCodeOfDone } from "./carry-out.ts";
import type { RunContext } from "./context.ts";
import { whyItWaits } from "./earlier-runs.ts";
import { openLedgerOf, tryLockEnvironment } from "./ledger-of.ts";
import { toRunStop } from "./run-end.ts";
import { openPlanToSend } from "./run-plan.ts";
import { type Service, sendRun, stopAfter } from "./send-run.ts";
import { tellOpened, tlsOf } from "./session.ts";
import type { Settings } from "./settings.ts";
import { claimedLanes, isShared, LOOK_AGAIN_MS, startWorker, type Worker } from "./worker.ts";

export interface WorkSettings {
  readonly settings: Settings;
  /** Ends once no run is open, or none can go on without a person. */
  readonly untilIdle: boolean;
  /** Milliseconds after which nothing new is begun. */
  readonly maxDuration?: number | undefined;
  /** When it began, by `performance.now()`. */
  readonly startedAt: number;
}

/** What a worker has done. */
export interface WorkResult {
  readonly environment: Environment;
  readonly exitCode: number;
  /** Actions that it has sent, by what became of them. */
  readonly accepted: number;
  readonly rejected: number;
  /** Runs of which it found the last chunk decided. */
  readonly ended: readonly string[];
  /** What holds the oldest open run up. */
  readonly waits: Failure | undefined;
}

/** What a worker works with. */
interface Work extends Service {
  readonly ledger: PostgresLedger;
  readonly worker: Worker;
  readonly deadline: number;
  readonly ended: string[];
}

/** Works until it is stopped, or there is nothing left to do where that was asked for. */
export async function work(context: RunContext, options: WorkSettings): Promise<WorkResult> {
  const { settings, startedAt, maxDuration } = options;
  const { environment } = settings;
  if (environment.ledgerServer === undefined)
    throw new Failure(
      "usage",
      `The ledger of ${environment.name} is a file of this machine, so there is nothing to share.`,
      {
        hint: "Send with tickets stream. For workers on several machines, put the ledger into PostgreSQL: environments.NAME.ledger",
      },
    );
  const key = keyOf(context, settings);
  await key();
  const tls = await tlsOf(context, environment);
  using ledger = await openLedgerOf(environment, { boundTo: environment.baseUrl });
  if (!isShared(ledger)) throw new Error("a ledger on a server that is none");
  tellOpened(context, { environment, ledger }, true);
  using worker = startWorker(ledger, environment, "tickets work");
  using timer = stopAfter(maxDuration === undefined ? Number.POSITIVE_INFINITY : startedAt + maxDuration, context.stop);
  const sent = { accepted: 0, rejected: 0 };
  const deadline = maxDuration === undefined ? Number.POSITIVE_INFINITY : startedAt + maxDuration;
  const service = { environment, ledger, baseUrl: environment.baseUrl, key, tls };
  const working: Work = { ...service, worker, deadline, ended: [] };
  const end = await untilDone({ ...counting(context, sent), stop: timer.signal }, working, options.untilIdle);
  return { environment, ...sent, ended: working.ended, ...end };
}

/** Read at once: without it, waiting for runs would be in vain. */
function keyOf({ env, stop, progress }: RunContext, { environment }: Settings): () => Promise<Key> {
  let read: Promise<Key> | undefined;
  return () => {
    read ??= readKey(environment, stop, { env }).then((given) => {
      if (given.warning !== undefined) progress.happened({ kind: "key doubtful", warning: given.warning });
      return given;
    });
    return read;
  };
}

/** Counts what is settled while it is told. */
function counting(context: RunContext, sent: { accepted: number; rejected: number }): RunContext {
  const { progress } = context;
  return {
    ...context,
    progress: {
      ...progress,
      happened: (event) => {
        if (event.kind === "chunk settled") {
          sent.accepted += event.accepted;
          sent.rejected += event.rejected;
        }
        progress.happened(event);
      },
    },
  };
}

type End = Pick<WorkResult, "exitCode" | "waits">;

async function untilDone(context: RunContext, working: Work, untilIdle: boolean): Promise<End> {
  const { ledger } = working;
  const { stop, progress } = context;
  let told: string | undefined;
  /** Says once what the worker waits for. */
  const tell = (what: string, say: () => void): void => {
    if (told !== what) say();
    told = what;
  };
  for (;;) {
    const [run] = openRuns(ledger);
    if (stop.aborted) return { exitCode: codeOfStop(stop, run), waits: undefined };
    if (run === undefined) {
      if (untilIdle) return { exitCode: EXIT_CODES.ok, waits: undefined };
      tell("idle", () => progress.happened({ kind: "nothing to work on" }));
      await pause(LOOK_AGAIN_MS, stop);
      continue;
    }
    const waits = whyItWaits(working, run);
    if (waits !== undefined) {
      if (untilIdle) return { exitCode: EXIT_CODES[waits.code], waits };
      tell(waits.message, () => progress.happened({ kind: "run waits for a person", waits }));
      await pause(LOOK_AGAIN_MS, stop);
      continue;
    }
    const gravest = await workOn(context, working, run);
    told = undefined;
    if (gravest !== undefined) return { exitCode: exitCodeOf(gravest), waits: undefined };
  }
}

/** Asked to stop, a worker has stopped early only where something is left. */
function codeOfStop({ reason }: AbortSignal, run: RunRecord | undefined): number {
  const by = reason as StopRequest; // see RunContext.stop
  return by === "max-duration" && run === undefined ? EXIT_CODES.ok : exitCodeOf({ kind: "stopped", by });
}

/** Sends lanes of a run, and ends it where nothing of it is left. Returns why the worker has to end, if it has. */
async function workOn(context: RunContext, working: Work, run: RunRecord): Promise<Stop | undefined> {
  const { ledger, environment, worker } = working;
  if (openLanes(ledger, run.runNo).length === 0) {
    // Whoever holds the lock ends it, or plans what comes next.
    if (!(await endIfDone(context, working, run))) await pause(LOOK_AGAIN_MS, context.stop);
    return undefined;
  }
  await using plan = await openPlanToSend(working, run);
  goOn(working, run);
  const { runNo } = run;
  const recording = { ledger, plan, runNo, promises: undefined };
  const lanes = claimedLanes(context, worker, {
    ...{ ledger, environment, plan, runNo },
    atOnce: Math.min(environment.lanes, openLanes(ledger, runNo).length),
  });
  const before = countRun(ledger, runNo);
  context.progress.happened({
    kind: "run started",
    run: run.run,
    actions: before.notSent - before.superseded,
    chunks: before.chunks.total - before.chunks.settled,
    isResumed: before.chunks.settled > 0,
  });
  const { deadline } = working;
  const stops = await sendRun(context, { session: working, run, deadline }, recording, lanes);
  context.progress.advanced(undefined);
  const end = gravestOf(context, working, run, plan.manifest, stops);
  // Others send what is left, or have stopped it.
  if (end === undefined && openLanes(ledger, runNo).length > 0) await pause(LOOK_AGAIN_MS, context.stop);
  return end;
}

/**
 * Nothing holds a run up any more: what stopped it was decided, or may be tried again. It is looked at anew, since a person may
 * have stopped it, or another worker found too many rejections, while its plan was fetched.
 */
function goOn({ ledger, environment }: Work, { runNo }: RunRecord): void {
  ledger.transaction(() => {
    const run = runHeld(ledger, runNo);
    if (run.exitCode === EXIT_CODES.refused && whyItWaits({ ledger, environment }, run) === undefined)
      noteGoesOn(ledger, runNo);
  });
}

/** What ends the whole worker: what would end the next run likewise. What waits for a person is told, and looked at again. */
function gravestOf(
  { progress, stop }: RunContext,
  { ledger, environment }: Work,
  { runNo }: RunRecord,
  manifest: Manifest,
  stops: readonly Stop[],
): Stop | undefined {
  const [first] = stops;
  if (first === undefined || first.kind === "finished") return undefined;
  if (first.kind === "too many rejections" || first.kind === "refused") noteRefused(ledger, runNo);
  if (first.kind === "stopped" && stop.aborted) return first;
  const told = stops.map((each) => toRunStop(ledger, manifest, each));
  progress.happened({ kind: "worker stopped", environment, manifest, stops: told });
  const isOfAllRuns = first.kind === "not let in" || first.kind === "not reachable";
  return isOfAllRuns || (first.kind === "refused" && first.whole) ? first : undefined;
}

/** Ends a run of which nothing is left, under the environment's lock. False while another process holds that. */
async function endIfDone(
  context: RunContext,
  { ledger, environment, ended }: Work,
  { run }: RunRecord,
): Promise<boolean> {
  using lock = await tryLockEnvironment(context, environment, ledger, "tickets work");
  if (lock === undefined) return false;
  const found = findRun(ledger, run);
  if (found?.state !== "open") return true;
  // In this order: what is open at the first look may have become a question by the second, never the reverse.
  if (openLanes(ledger, found.runNo).length > 0) return true;
  if (whyItWaits({ ledger, environment }, found) !== undefined) return true;
  const manifest = parseManifest(found.manifest);
  const exitCode = exitCodeOfDone(ledger, found, manifest, leftToOthers(ledger, found, manifest));
  mergeOutcomes(ledger);
  endRun(ledger, found.runNo, "finished", exitCode, new Date().toISOString());
  ended.push(run);
  context.progress.happened({ kind: "run done", run, exitCode, counts: countRun(ledger, found.runNo) });
  return true;
}

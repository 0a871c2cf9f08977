/** Sends what other processes have published: lanes of the oldest open run, as many at a time as were asked for, one run after the other. */

import { hostname } from "node:os";
import type { Environment } from "../../src/config/environment.ts";
import { type Key, readKey } from "../../src/config/key.ts";
import { EXIT_CODES, Failure } from "../../src/failure.ts";
import type { Ledger, Run } from "../ledger/ledger.ts";
import type { Claim, Workers } from "../ledger/workers.ts";
import type { LaneSource } from "../send/lanes.ts";
import { marginOf, type Stop } from "../send/send.ts";
import { exitCodeOfDone, sendFrom, stopAfter, whyItWaits } from "./carry-out.ts";
import type { RunContext } from "./context.ts";
import { openLedgerOf } from "./ledger-of.ts";
import { exitCodeOf } from "./run-end.ts";
import { tlsOf } from "./session.ts";

export interface WorkSettings {
  readonly environment: Environment;
  /** Ends once nothing published is left; else it waits for more. */
  readonly untilIdle: boolean;
  readonly maxDuration?: number | undefined;
  readonly startedAt: number;
}

export interface WorkResult {
  readonly accepted: number;
  readonly rejected: number;
  /** Runs of which this worker found the last chunk answered. */
  readonly ended: readonly { readonly run: string; readonly exitCode: number }[];
  readonly exitCode: number;
}

/** How often a worker shows that it is there, and looks again when nothing woke it. */
const SEEN_MS = 2000;

/** @throws Failure `usage` where the ledger is a file of this machine, `authentication failed` without a key. */
export async function work(context: RunContext, options: WorkSettings): Promise<WorkResult> {
  const { environment, untilIdle, startedAt, maxDuration } = options;
  const { progress } = context;
  if (environment.ledgerServer === undefined)
    throw new Failure(
      "usage",
      `The ledger of ${environment.name} is a file of this machine, so there is nothing to share.`,
      {
        hint: "Send with tickets stream. For workers on several machines, put the ledger into PostgreSQL: environments.NAME.ledger",
      },
    );
  let read: Promise<Key> | undefined;
  const key = (): Promise<Key> => {
    read ??= readKey(environment, context.stop, { env: context.env });
    return read;
  };
  const { warning } = await key();
  if (warning !== undefined) progress.happened({ kind: "key doubtful", warning });
  const tls = await tlsOf(context, environment);
  await using ledger = await openLedgerOf(environment, environment.baseUrl);
  const { workers } = ledger;
  if (workers === undefined) throw new Error("a ledger on a server that nobody shares");
  progress.happened({
    kind: "ledger opened",
    environment,
    runs: (await ledger.runs({ last: 1 })).length,
    isToSend: true,
  });
  await using worker = await startWorker(workers, environment);
  const deadline = maxDuration === undefined ? Number.POSITIVE_INFINITY : startedAt + maxDuration;
  using timer = stopAfter(deadline, context.stop);
  const stop = timer.signal;
  const session = { environment, ledger, baseUrl: environment.baseUrl, key, tls };
  const sum = { accepted: 0, rejected: 0 };
  const counting: RunContext = {
    ...context,
    stop,
    progress: {
      ...progress,
      happened(event) {
        if (event.kind === "chunk answered") {
          sum.accepted += event.accepted;
          sum.rejected += event.rejected;
        }
        progress.happened(event);
      },
    },
  };
  const ended: { readonly run: string; readonly exitCode: number }[] = [];
  let exitCode: number = EXIT_CODES.ok;
  let told = "";
  while (!stop.aborted) {
    const [run] = await ledger.runs({ states: ["open"] });
    if (run === undefined || !(await workers.maySend(run.number))) {
      const waits = run && (await whyItWaits(session, run));
      const what = run === undefined ? "nothing" : run.run;
      if (told !== what) {
        told = what;
        if (waits !== undefined) progress.happened({ kind: "run waits for a person", waits });
        else progress.happened({ kind: "nothing to work on", isFirst: (await ledger.runs({ last: 1 })).length === 0 });
      }
      if (untilIdle) {
        if (waits !== undefined) exitCode = EXIT_CODES[waits.code];
        break;
      }
      await workers.woken(SEEN_MS, stop);
      continue;
    }
    told = "";
    const lanes = claimedLanes(ledger, workers, run, worker.number, environment);
    const stops = await sendFrom(counting, { session, run, deadline, lanes });
    const end = await endIfDone(ledger, run);
    if (end !== undefined) {
      ended.push({ run: run.run, exitCode: end });
      progress.happened({ kind: "run done", run: run.run, exitCode: end, counts: await ledger.counts(run.number) });
    }
    const stopped = stops.filter(({ kind }) => kind !== "finished");
    if (stopped.length > 0)
      progress.happened({ kind: "worker stopped", environment, lanes: environment.lanes, stops: stopped });
    exitCode = exitAfter(stopped, end) ?? exitCode;
    if (stopped.some(endsWork)) break;
    if (end === undefined && stopped.length === 0) await workers.woken(SEEN_MS, stop);
  }
  return { ...sum, ended, exitCode };
}

const exitAfter = ([stop]: readonly Stop[], end: number | undefined): number | undefined =>
  stop === undefined ? end : exitCodeOf(stop);

/** What another run or another moment does not mend. */
const endsWork = ({ kind }: Stop): boolean => kind === "authentication failed" || kind === "stopped";

/** The one that finds the last chunk answered ends the run. Takes no lock. */
async function endIfDone(ledger: Ledger, run: Run): Promise<number | undefined> {
  const open = await ledger.chunks(run.number, { states: ["planned", "sending", "in doubt", "refused"] });
  if (open.length > 0) return undefined;
  const exitCode = exitCodeOfDone(run, await ledger.counts(run.number));
  return (await ledger.endRun(run.number, { exitCode, at: new Date().toISOString() })) ? exitCode : undefined;
}

/** This process as one of those that send. Disposing of it says that it goes. */
export async function startWorker(
  workers: Workers,
  { timeoutMs }: Pick<Environment, "timeoutMs">,
  command = "tickets work",
): Promise<AsyncDisposable & { readonly number: number }> {
  const number = await workers.enter({
    host: hostname(),
    pid: process.pid,
    command,
    silentMs: timeoutMs + marginOf(timeoutMs),
  });
  // A server that can't be reached is told of by what needs it; claims end with the session.
  const timer = setInterval(() => void workers.seen(number).catch(() => undefined), SEEN_MS);
  timer.unref();
  return {
    number,
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await workers.seen(number, true).catch(() => undefined);
    },
  };
}

/** Lanes that other machines send too: each is claimed before it is sent, the longest first. */
export function claimedLanes(
  ledger: Ledger,
  workers: Workers,
  run: Run,
  worker: number,
  { lanes: atOnce, timeoutMs }: Pick<Environment, "lanes" | "timeoutMs">,
): LaneSource {
  const mine = new Set<number>();
  const silentMs = timeoutMs + marginOf(timeoutMs);
  return {
    atOnce,
    async next(wake) {
      while (!wake.aborted) {
        await ledger.doubtVanished(run.number, new Date().toISOString());
        const open = await workers.openLanes(run.number);
        if (open.length === 0 || !(await workers.maySend(run.number))) return undefined;
        // A stage begins when all of the one before is answered.
        const begun = Math.min(...open.map(({ stage }) => stage));
        for (const { lane, stage, overInMs } of open) {
          if (stage > begun || overInMs > 0 || mine.has(lane)) continue;
          const claim = await workers.claim({ run: run.number, lane, worker }, silentMs);
          if (claim === undefined) continue;
          mine.add(lane);
          return { number: lane, stage, claim, release: () => release(claim) };
        }
        await workers.woken(SEEN_MS / 2, wake);
      }
      return undefined;
    },
  };
  async function release(claim: Claim): Promise<void> {
    mine.delete(claim.lane);
    await workers.release(claim);
  }
}

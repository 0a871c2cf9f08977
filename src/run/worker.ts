/** This process as one of those that send for a ledger which several machines share, and the lanes that it claims. */

import { hostname } from "node:os";
import type { Environment } from "../config/environment.ts";
import { Failure } from "../failure.ts";
import type { Ledger } from "../ledger/ledger.ts";
import {
  type Claim,
  claimLane,
  doubtVanished,
  keepLocks,
  maySend,
  openLanes,
  releaseLane,
} from "../ledger/postgres/lane-claims.ts";
import type { PostgresLedger } from "../ledger/postgres/open-postgres.ts";
import { endWhenSilent, enterWorker, noteLeft, noteSeen } from "../ledger/postgres/workers.ts";
import { openQuestions } from "../ledger/runs.ts";
import type { Plan } from "../plan/files/plan.ts";
import { holdLane, marginOf } from "../sending/lane-hold.ts";
import type { LaneSource, TakenLane } from "../sending/lanes.ts";
import { pause } from "../sending/pause.ts";
import { closeSuperseded } from "../sending/superseded.ts";
import type { RunContext } from "./context.ts";

/** Whether other machines may send what the ledger holds. */
export const isShared = (ledger: Ledger): ledger is PostgresLedger => ledger.kind === "postgres";

/** How often a worker shows that it is there. */
const SEEN_MS = 2000;
/** How often a lane that another worker holds is looked at again. */
export const LOOK_AGAIN_MS = 1000;

export interface Worker extends Disposable {
  /** Claims a lane, as far as nobody holds it; undefined otherwise. */
  readonly claim: (runNo: number, lane: number) => Claim | undefined;
  readonly release: (claim: Claim) => void;
}

/** Disposing of it gives its lanes back. */
export function startWorker(
  ledger: PostgresLedger,
  { timeoutMs }: Pick<Environment, "timeoutMs">,
  command: string,
): Worker {
  const worker = enterWorker(ledger, { host: hostname(), pid: process.pid, command });
  const claims = new Set<Claim>();
  const silentMs = timeoutMs + marginOf(timeoutMs);
  endWhenSilent(ledger, silentMs);
  const timer = setInterval(
    () =>
      quietly(() => {
        noteSeen(ledger, worker);
        keepLocks(ledger, claims);
        // Again each time: a session may have been begun anew.
        endWhenSilent(ledger, silentMs);
      }),
    SEEN_MS,
  );
  timer.unref();
  const release = (claim: Claim): void => {
    if (claims.delete(claim)) releaseLane(ledger, claim);
  };
  return {
    claim: (runNo, lane) => {
      const claim = claimLane(ledger, { runNo, lane, worker }, silentMs);
      if (claim !== undefined) claims.add(claim);
      return claim;
    },
    release,
    [Symbol.dispose]: () => {
      clearInterval(timer);
      quietly(() => {
        for (const claim of [...claims]) release(claim);
        noteLeft(ledger, worker);
        endWhenSilent(ledger, 0);
      });
    },
  };
}

/** A server that can't be reached is told of by what needs it; claims end with the session. */
function quietly(work: () => void): void {
  try {
    work();
  } catch (cause) {
    if (!(cause instanceof Failure)) throw cause;
  }
}

/** The lanes of a run that other machines send too. Each is claimed, and put right, before it is sent. */
export function claimedLanes(
  { progress }: Pick<RunContext, "progress">,
  worker: Worker,
  options: {
    readonly ledger: Ledger;
    readonly environment: Pick<Environment, "timeoutMs" | "rate">;
    readonly plan: Plan;
    readonly runNo: number;
    readonly atOnce: number;
  },
): LaneSource {
  const { ledger, environment, plan, runNo, atOnce } = options;
  const mine = new Set<number>();
  const take = async (lane: number): Promise<TakenLane | undefined> => {
    const claim = worker.claim(runNo, lane);
    if (claim === undefined) return undefined;
    mine.add(lane);
    const release = (): void => {
      mine.delete(lane);
      worker.release(claim);
    };
    let isReady = false;
    try {
      isReady = doubtVanished(ledger, claim);
      if (isReady && maySend(ledger, runNo)) {
        const superseded = await closeSuperseded(ledger, plan, runNo, lane);
        if (superseded > 0) progress.happened({ kind: "superseded left out", actions: superseded });
      }
    } finally {
      if (!isReady) release();
    }
    return isReady ? { number: lane, hold: holdLane(ledger, claim, environment), release } : undefined;
  };
  return {
    atOnce,
    next: async (wake) => {
      while (!wake.aborted) {
        const open = openLanes(ledger, runNo);
        if (open.length === 0 || !maySend(ledger, runNo)) return undefined;
        for (const { lane, overInMs } of open) {
          // What is being sent is over by itself, or its time is.
          if (overInMs > 0 || mine.has(lane)) continue;
          const taken = await take(lane);
          if (taken !== undefined) return taken;
          if (wake.aborted) return undefined;
        }
        await pause(LOOK_AGAIN_MS, wake);
      }
      return undefined;
    },
  };
}

/**
 * Claims all lanes of a run in which something may be sent, is being sent or is to be decided, so that nothing of it changes
 * meanwhile.
 *
 * @throws Failure `busy` where a worker still holds one of them after `waitMs`.
 */
export async function claimRun(
  worker: Worker,
  ledger: Ledger,
  { runNo, run }: { readonly runNo: number; readonly run: string },
  waitMs: number,
  stop: AbortSignal,
): Promise<void> {
  const deadline = performance.now() + waitMs;
  const held = new Set<number>();
  for (;;) {
    const open = openLanes(ledger, runNo);
    const asked = openQuestions(ledger, runNo).map(({ lane }) => ({ lane, overInMs: 0 }));
    const left = [...open, ...asked].filter(({ lane }) => !held.has(lane));
    if (left.length === 0) return;
    for (const { lane, overInMs } of left) {
      if (overInMs > 0 || held.has(lane)) continue;
      const claim = worker.claim(runNo, lane);
      if (claim === undefined) continue;
      if (doubtVanished(ledger, claim)) held.add(lane);
      else worker.release(claim);
    }
    if (left.every(({ lane }) => held.has(lane))) return;
    if (performance.now() >= deadline || stop.aborted)
      throw new Failure("busy", `Workers are sending run ${run}. Nothing was settled.`, {
        hint: "Run the command again later, or let it wait with --wait-lock 10m. To see who sends: tickets status",
      });
    await pause(Math.min(LOOK_AGAIN_MS, Math.max(1, deadline - performance.now())), stop);
  }
}

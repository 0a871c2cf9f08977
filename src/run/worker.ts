/** A process that sends lanes which others may send too. */

import { setTimeout as wait } from "node:timers/promises";
import type { Claim, Ledger, Run, Workers } from "../ledger/ledger.ts";
import type { LaneSource } from "../send/lanes.ts";
import { marginOf } from "../send/send.ts";
import type { Session } from "./session.ts";

/** How often a worker shows that it is there, and looks again when nothing woke it. */
export const SEEN_MS = 2000;
const GOING_MS = 1000;

/** This process as one of those that send. Disposing of it says that it goes. */
export interface Worker extends AsyncDisposable {
  readonly number: number;
  readonly workers: Workers;
}

/** Undefined where the ledger is one machine's alone. */
export async function startWorker({ ledger, environment, command }: Session): Promise<Worker | undefined> {
  const { workers } = ledger;
  if (workers === undefined) return undefined;
  const silentMs = environment.timeoutMs + marginOf(environment.timeoutMs);
  const number = await workers.enter(command, silentMs);
  // What needs the server reports that it can't be reached; claims end with the session.
  const timer = setInterval(() => void workers.seen(number).catch(() => undefined), SEEN_MS);
  timer.unref();
  return {
    ...{ number, workers },
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      // Nobody waits for a server that is away only to say this.
      const gone = workers.seen(number, true).catch(() => undefined);
      await Promise.race([gone, wait(GOING_MS, undefined, { ref: false })]);
    },
  };
}

/** Lanes that other machines send too: each is claimed before it is sent, the longest first. */
export function claimedLanes(
  ledger: Ledger,
  { number: worker, workers }: Worker,
  { number: run }: Run,
  atOnce: number,
): LaneSource {
  const mine = new Set<number>();
  const release = async (claim: Claim): Promise<void> => {
    mine.delete(claim.lane);
    await workers.release(claim);
  };
  return {
    atOnce,
    async next(wake) {
      while (!wake.aborted) {
        await ledger.doubtVanished(run, new Date().toISOString());
        const open = await workers.openLanes(run);
        if (open.length === 0 || !(await workers.maySend(run))) return undefined;
        // A stage begins when all of the one before is answered.
        const begun = Math.min(...open.map(({ stage }) => stage));
        for (const { lane, stage, inFlight } of open) {
          if (stage > begun || inFlight > 0 || mine.has(lane)) continue;
          const claim = await workers.claim({ run, lane, worker });
          if (claim === undefined) continue;
          mine.add(lane);
          return { number: lane, stage, claim, release: () => release(claim) };
        }
        await workers.woken(SEEN_MS / 2, wake);
      }
      return undefined;
    },
  };
}

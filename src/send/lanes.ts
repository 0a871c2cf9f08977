/** Sends a run, stage after stage: in each, all lanes at once, until all are done or one of them has to stop. */

import { setTimeout as wait } from "node:timers/promises";
import { Failure } from "../failure.ts";
import type { Claim, Ledger, Workers } from "../ledger/ledger.ts";
import type { ServiceClient } from "./client.ts";
import { type Lane, marginOf, type Sending, sendLane } from "./send.ts";
import type { LaneEnd, Stop, StopRequest } from "./stop.ts";

/** A lane to send, in one stage. */
interface TakenLane extends Omit<Lane, "client"> {
  /** Called once nothing more of it is sent here. */
  readonly release?: () => Promise<void>;
}

/** Where the lanes come from. */
export interface LaneSource {
  /** How many are sent at once, at most. */
  readonly atOnce: number;
  /**
   * The next one; undefined when none is left for this process. It may wait for others.
   *
   * @param wake aborted when no wait is to go on.
   */
  next(wake: AbortSignal): Promise<TakenLane | undefined>;
}

/** The planned lanes of a run that this process sends alone: those of a stage once the one before is answered. */
export async function plannedLanes(ledger: Ledger, run: number): Promise<LaneSource> {
  const left: { readonly number: number; readonly stage: number }[] = [];
  for (const { lane, stage } of await ledger.chunks(run, { states: ["planned"] }))
    if (!left.some((each) => each.number === lane && each.stage === stage)) left.push({ number: lane, stage });
  left.sort((a, b) => a.stage - b.stage || a.number - b.number);
  const atOnce = Math.max(0, ...left.map(({ stage }) => left.filter((each) => each.stage === stage).length));
  const sending = new Set<number>();
  let stage = left[0]?.stage;
  let moved = Promise.withResolvers<void>();
  const release = async (number: number): Promise<void> => {
    sending.delete(number);
    if (sending.size > 0 || left[0]?.stage === stage) return;
    stage = left[0]?.stage;
    moved.resolve();
    moved = Promise.withResolvers();
  };
  return {
    atOnce,
    async next(wake) {
      const aborted = new Promise<void>((resolve) => wake.addEventListener("abort", () => resolve(), { once: true }));
      while (left[0] !== undefined && left[0].stage !== stage && !wake.aborted)
        await Promise.race([moved.promise, aborted]);
      const next = wake.aborted ? undefined : left.shift();
      if (next === undefined) return undefined;
      sending.add(next.number);
      return { ...next, release: () => release(next.number) };
    },
  };
}

/** How often a worker shows that it is there, and looks again when nothing woke it. */
export const SEEN_MS = 2000;
const GOING_MS = 1000;

/** This process as one of those that send. Disposing of it says that it goes. */
export interface Worker extends AsyncDisposable {
  readonly number: number;
  readonly workers: Workers;
}

/** Undefined where the ledger is one machine's alone. */
export async function startWorker(
  { workers }: Ledger,
  command: string,
  timeoutMs: number,
): Promise<Worker | undefined> {
  if (workers === undefined) return undefined;
  const silentMs = timeoutMs + marginOf(timeoutMs);
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
  run: number,
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

/**
 * Sends these lanes, one request in flight in each. When one of them ends before its last chunk, the others let their request
 * in flight end, store its answer, and send nothing more.
 *
 * @param connect opens a connection; it is closed here.
 * @returns what stopped them, the gravest first; nothing where all were sent, or others send the rest.
 */
export async function sendLanes(
  sending: Omit<Sending, "halt" | "wake" | "common"> & { readonly mostActions: number | undefined },
  source: LaneSource,
  connect: () => ServiceClient,
): Promise<readonly Stop[]> {
  const halt = new AbortController();
  const { mostActions = Number.POSITIVE_INFINITY } = sending;
  const common = { rejected: 0, answers: 0, notBefore: 0, mostActions };
  const wake = AbortSignal.any([sending.stop, halt.signal]);
  const all: Sending = { ...sending, common, halt: halt.signal, wake };
  const work = async (): Promise<LaneEnd> => {
    try {
      await using client = connect();
      for (;;) {
        const lane = await source.next(wake);
        if (lane === undefined)
          return sending.stop.aborted
            ? { kind: "stopped", by: sending.stop.reason as StopRequest } // see Sending.stop
            : { kind: "finished" };
        let isOver = false;
        try {
          const end = await sendLane(all, { ...lane, client });
          isOver = end.kind === "finished" || end.kind === "taken";
          if (!isOver) return end;
        } finally {
          // Before the release, by which others begin the next stage.
          if (!isOver) halt.abort();
          await lane.release?.();
        }
      }
    } catch (cause) {
      halt.abort();
      throw cause;
    }
  };
  const ended = await Promise.allSettled(Array.from({ length: source.atOnce }, work));
  const failed = ended.find((each) => each.status === "rejected");
  if (failed !== undefined) throw await withDoubts(sending, failed.reason);
  const ends = ended.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
  if (ends.some(({ kind }) => kind === "disk full")) throw await diskFull(sending);
  return GRAVEST_FIRST.flatMap((kind) => ends.filter((end): end is Stop => end.kind === kind));
}

const GRAVEST_FIRST: readonly Stop["kind"][] = [
  "in doubt",
  "refused",
  "authentication failed",
  "too many rejections",
  "not reachable",
  "stopped",
];

type Sent = Pick<Sending, "ledger" | "run">;

async function diskFull(sent: Sent): Promise<Failure> {
  const { place, exhausted } = sent.ledger;
  const isFull = exhausted === "a full disk";
  const what = isFull ? `The disk is full: ${place} can't grow.` : `${place} could not be written.`;
  const hint = isFull ? "Make room" : "Check the disk that holds it, and a quota on it";
  const doubts = await describeDoubts(sent);
  return new Failure("storage", `${what} Every answer received is stored; ${doubts ?? "nothing is in doubt."}`, {
    hint: `${hint}, then run the same command again.`,
  });
}

/** A run that broke off also says for which chunks the answers are missing. */
async function withDoubts(sent: Sent, cause: unknown): Promise<unknown> {
  if (!(cause instanceof Failure)) return cause;
  const doubts = await describeDoubts(sent).catch(() => undefined);
  if (doubts === undefined) return cause;
  return cause.with({ happened: `${cause.message} C${doubts.slice(1)}`, nothingSent: false });
}

/** `chunk 3 is in doubt: its answer may be lost.` */
async function describeDoubts({ ledger, run }: Sent): Promise<string | undefined> {
  const doubts = await ledger.chunks(run, { states: ["sending", "in doubt"] });
  const chunks = doubts.map(({ chunk }) => chunk).join(", ");
  if (doubts.length === 0) return undefined;
  return doubts.length === 1
    ? `chunk ${chunks} is in doubt: its answer may be lost.`
    : `chunks ${chunks} are in doubt: their answers may be lost.`;
}

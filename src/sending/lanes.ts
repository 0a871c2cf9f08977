/** Sending a run: all its lanes at once, each in its own order, until all are done or one of them has to stop. */

import { Failure } from "../failure.ts";
import { openBlockCompressor } from "../ledger/block-compressor.ts";
import { openCheckpointer } from "../ledger/checkpointer.ts";
import { chunksOf } from "../ledger/runs.ts";
import type { ServiceClient } from "./client.ts";
import type { LaneHold } from "./lane-hold.ts";
import { openPromiseLog } from "./promise-log.ts";
import { promisesOfRun } from "./run-promises.ts";
import { type Common, type LaneEnd, type SendContext, type Stop, sendLane } from "./send.ts";

/** A lane to send. */
export interface TakenLane {
  readonly number: number;
  /** Where other machines could take it. */
  readonly hold?: LaneHold;
  /** Called once nothing more of it is sent here. */
  readonly release?: () => void;
}

/** Where the lanes come from. */
export interface LaneSource {
  /** How many are sent at once, at most. */
  readonly atOnce: number;
  /**
   * The next one; undefined when there is none left for this process. It may wait for others.
   *
   * @param wake aborted when no wait is to go on.
   */
  next(wake: AbortSignal): Promise<TakenLane | undefined>;
}

/** These lanes, all at once. */
export function theseLanes(lanes: readonly number[]): LaneSource {
  const left = [...lanes];
  return {
    atOnce: lanes.length,
    next: async () => {
      const number = left.shift();
      return number === undefined ? undefined : { number };
    },
  };
}

/**
 * Sends what is planned in these lanes, one request in flight in each. When one of them ends before its last chunk, the
 * others let their request in flight end, store its answer, and send nothing more.
 *
 * @param connect opens the connection of a lane; it is closed here.
 * @returns why it ended: the gravest reason first, then what else ended a lane. Never empty.
 */
export async function sendLanes(
  context: SendContext,
  source: LaneSource,
  connect: () => ServiceClient,
): Promise<readonly Stop[]> {
  const halt = new AbortController();
  using compressor = openBlockCompressor();
  await using checkpointer = openCheckpointer(context.ledger);
  using promises = promisesOfRun(context.ledger, context.runNo, context.plan.manifest.actions.planned);
  const common: Common = {
    rejected: 0,
    answers: 0,
    promises,
    compressor,
    toldWithoutStatus: false,
    notBefore: 0,
    halt: halt.signal,
    lanes: source.atOnce,
    promiseLog: openPromiseLog(context, checkpointer),
  };
  const wake = AbortSignal.any([context.stop, halt.signal]);
  const run = async (): Promise<LaneEnd> => {
    try {
      await using client = connect();
      for (;;) {
        const lane = await source.next(wake);
        if (lane === undefined) return { kind: "finished" };
        const end = await sendTaken(context, lane, client, common);
        if (end.kind === "finished" || end.kind === "taken over") continue;
        halt.abort();
        return end;
      }
    } catch (cause) {
      halt.abort();
      throw cause;
    }
  };
  const ended = await Promise.allSettled(Array.from({ length: source.atOnce }, run));
  const failed = ended.find((each) => each.status === "rejected");
  if (failed !== undefined) throw withDoubts(context, failed.reason);
  const ends = ended.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
  if (ends.some(({ kind }) => kind === "disk full")) throw diskFull(context);
  const stops = ends.filter(isStop).filter(({ kind }) => kind !== "finished");
  stops.sort((a, b) => GRAVEST_FIRST.indexOf(a.kind) - GRAVEST_FIRST.indexOf(b.kind));
  return stops.length === 0 ? [{ kind: "finished" }] : stops;
}

async function sendTaken(
  context: SendContext,
  { number, hold, release }: TakenLane,
  client: ServiceClient,
  common: Common,
): Promise<LaneEnd> {
  try {
    return await sendLane(context, { number, client, common, hold });
  } finally {
    release?.();
  }
}

const isStop = (end: LaneEnd): end is Stop =>
  end.kind !== "halted" && end.kind !== "disk full" && end.kind !== "taken over";

const GRAVEST_FIRST: readonly Stop["kind"][] = [
  "in doubt",
  "refused",
  "not let in",
  "too many rejections",
  "not reachable",
  "stopped",
  "finished",
];

function diskFull(context: SendContext): Failure {
  const { path, exhaustedBy } = context.ledger;
  const isFull = exhaustedBy === "a full disk";
  const what = isFull ? `The disk is full: ${path} can't grow.` : `${path} could not be written at first.`;
  const hint = isFull ? "Make room" : "Check the disk that holds it, and a quota on it";
  const doubts = describeDoubts(context);
  return new Failure("storage", `${what} Every answer received is stored; ${doubts ?? "nothing is in doubt."}`, {
    hint: `${hint}, then run the same command again.`,
  });
}

/** A run that broke off also says for which chunks the answers are missing. */
function withDoubts(context: SendContext, cause: unknown): unknown {
  const doubts = describeDoubts(context);
  if (!(cause instanceof Failure) || doubts === undefined) return cause;
  const { code, message, hint } = cause;
  return new Failure(code, `${message} C${doubts.slice(1)}`, { cause: cause.cause, hint });
}

/** `chunk 3 is in doubt: its answer may be lost.` What could not be written may be there all the same. */
function describeDoubts({ ledger, runNo }: SendContext): string | undefined {
  const doubts = [...chunksOf(ledger, runNo, "sending"), ...chunksOf(ledger, runNo, "in doubt")];
  if (doubts.length === 0) return undefined;
  const chunks = doubts.map(({ chunk }) => chunk).join(", ");
  return doubts.length === 1
    ? `chunk ${chunks} is in doubt: its answer may be lost.`
    : `chunks ${chunks} are in doubt: their answers may be lost.`;
}

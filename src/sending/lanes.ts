/** Sending a run: all its lanes at once, each in its own order, until all are done or one of them has to stop. */

import { Failure } from "../failure.ts";
import { openBlockCompressor } from "../ledger/block-compressor.ts";
import { openCheckpointer } from "../ledger/checkpointer.ts";
import { chunksOf } from "../ledger/runs.ts";
import type { ServiceClient } from "./client.ts";
import { plainAnswers } from "./fast/plain-answer.ts";
import { openPromiseLog } from "./promise-log.ts";
import { promisesOfRun } from "./run-promises.ts";
import { type Common, type LaneEnd, type SendContext, type Stop, sendLane } from "./send.ts";

/**
 * Sends what is planned in these lanes, one request in flight in each. When one of them ends before its last chunk, the
 * others let their request in flight end, store its answer, and send nothing more.
 *
 * @param connect opens the connection of a lane; it is closed here.
 * @returns why it ended: the gravest reason first, then what else ended a lane. Never empty.
 */
export async function sendLanes(
  context: SendContext,
  lanes: readonly number[],
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
    plain: plainAnswers(),
    toldWithoutStatus: false,
    notBefore: 0,
    halt: halt.signal,
    lanes: lanes.length,
    promiseLog: openPromiseLog(context, checkpointer),
  };
  const run = async (number: number): Promise<LaneEnd> => {
    try {
      await using client = connect();
      const end = await sendLane(context, { number, client, common });
      if (end.kind !== "finished") halt.abort();
      return end;
    } catch (cause) {
      halt.abort();
      throw cause;
    }
  };
  const ended = await Promise.allSettled(lanes.map(run));
  const failed = ended.find((each) => each.status === "rejected");
  if (failed !== undefined) throw withDoubts(context, failed.reason);
  const ends = ended.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
  if (ends.some(({ kind }) => kind === "disk full")) throw diskFull(context);
  const stops = ends.filter((end) => end.kind !== "halted" && end.kind !== "disk full" && end.kind !== "finished");
  stops.sort((a, b) => GRAVEST_FIRST.indexOf(a.kind) - GRAVEST_FIRST.indexOf(b.kind));
  return stops.length === 0 ? [{ kind: "finished" }] : stops;
}

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
  const doubts = describeDoubts(context);
  return new Failure(
    "storage",
    `The disk is full: ${context.ledger.path} can't grow. Every answer received is stored; ${doubts ?? "nothing is in doubt."}`,
    { hint: "Make room, then run the same command again." },
  );
}

/** A run that broke off also says for which chunks the answers are missing. */
function withDoubts(context: SendContext, cause: unknown): unknown {
  const doubts = describeDoubts(context);
  if (!(cause instanceof Failure) || doubts === undefined) return cause;
  const { code, message, hint } = cause;
  return new Failure(code, `${message} C${doubts.slice(1)}`, { cause: cause.cause, hint });
}

/** `chunk 3 is in doubt: its answer is lost.` */
function describeDoubts({ ledger, runNo }: SendContext): string | undefined {
  const doubts = [...chunksOf(ledger, runNo, "sending"), ...chunksOf(ledger, runNo, "in doubt")];
  if (doubts.length === 0) return undefined;
  const chunks = doubts.map(({ chunk }) => chunk).join(", ");
  return doubts.length === 1
    ? `chunk ${chunks} is in doubt: its answer is lost.`
    : `chunks ${chunks} are in doubt: their answers are lost.`;
}

/** Sending a lane: for each chunk write the intent, send, record the answer, report. */

import { cleanText } from "../actions/text.ts";
import { free } from "../disk/buffers.ts";
import { crashPoint } from "../disk/crash-points.ts";
import { turn } from "../disk/turns.ts";
import type { StopSignal } from "../failure.ts";
import type { BlockCompressor } from "../ledger/block-compressor.ts";
import { type ChunkRecord, chunksOf, rejectedIn } from "../ledger/runs.ts";
import { sentActions } from "../plan/files/chunk-actions.ts";
import { type Exchange, type Reading, readExchange } from "./answer.ts";
import { type ChunkLog, openChunkLog } from "./chunk-log.ts";
import { type ChunkFacts, countTallies, decideChunk } from "./chunk-outcomes.ts";
import { rejectTooLarge, splitChunk, tooLargeFrom } from "./chunk-parts.ts";
import type { ServiceClient } from "./client.ts";
import type { Intent, LaneHold } from "./lane-hold.ts";
import { type PackedPart, packChunk } from "./pack-chunk.ts";
import { pause } from "./pause.ts";
import type { PromiseLog } from "./promise-log.ts";
import { isProxyAsking } from "./proxy.ts";
import { chunkFacts, type RecordContext } from "./record-answer.ts";
import { waitBefore } from "./retry.ts";
import type { RunPromises } from "./run-promises.ts";

/** Why sending ended, of a run or of one of its lanes. */
export type Stop =
  | { readonly kind: "finished" }
  | { readonly kind: "in doubt"; readonly chunk: ChunkRecord; readonly detail: string; readonly body: string }
  | {
      /** `whole`: the environment vouches that nothing of the chunk was taken, so it can be sent again. */
      readonly kind: "refused";
      readonly whole: boolean;
      readonly chunk: ChunkRecord;
      readonly detail: string;
      readonly body: string;
    }
  | { readonly kind: "not let in"; readonly chunk: ChunkRecord; readonly detail: string; readonly body: string }
  | {
      /** `reached`: the service answered, with nothing but a request to come back later. */
      readonly kind: "not reachable";
      readonly reached: boolean;
      readonly chunk: ChunkRecord;
      readonly detail: string;
      readonly attempts: number;
      readonly waitMs?: number;
    }
  | { readonly kind: "too many rejections"; readonly rejected: number }
  /** A clean stop at a chunk border. */
  | { readonly kind: "stopped"; readonly by: StopRequest };

/** `elsewhere`: a person, or another machine, has stopped the run. */
export type StopRequest = StopSignal | "max-duration" | "elsewhere";

/** What the sender reports while it works. Every function returns at once. */
export interface SendProgress {
  readonly sending: (chunk: ChunkRecord, attempt: number) => void;
  readonly decided: (chunk: ChunkRecord, counts: { readonly accepted: number; readonly rejected: number }) => void;
  readonly waiting: (chunk: ChunkRecord, detail: string, waitMs: number) => void;
  /** Called once, when an answer has no `status` of its own. */
  readonly withoutStatus: () => void;
  /** An answer came after another machine had given the chunk up. It decides nothing, and was kept for a person. */
  readonly late: (chunk: ChunkRecord, said: string) => void;
}

/** How to ask an environment's service, and what its answers mean. */
interface ServiceHabits {
  /** How often a request that was certainly not taken is tried again. */
  readonly retries: number;
  /** Answers after which a request is sent again: the user's word that it was not taken. */
  readonly retryStatuses: readonly number[];
  /** Actions a second; without it as fast as the service answers. */
  readonly rate?: number;
  /** Rejections after which a run stops. */
  readonly maxRejected: number;
  /** The user's word that a refused chunk was not taken at all. */
  readonly refusalsAreWhole: boolean;
}

export interface SendContext extends RecordContext {
  readonly environment: ServiceHabits;
  readonly progress: SendProgress;
  /** Aborted, with a StopRequest as its reason, when no further request should start. */
  readonly stop: AbortSignal;
  /** Aborted when even the request in flight should be given up. */
  readonly abort: AbortSignal;
  /** `performance.now()` after which no wait may reach. */
  readonly deadline: number;
}

/** What the lanes of a run have in common. */
export interface Common {
  /** Actions that the service has rejected since the command began. */
  rejected: number;
  /** When it was looked how many of the run had been rejected anywhere, and how many at the first look. */
  looked?: { readonly at: number; readonly inRun: number; readonly before: number };
  /** The promises of all lanes, and of earlier processes of this run. */
  readonly promises: RunPromises;
  readonly compressor: BlockCompressor;
  /** An answer without a status of its own has been reported. */
  toldWithoutStatus: boolean;
  /** How many answers decided a chunk. As long as it grows, the service is there and takes something. */
  answers: number;
  /**
   * `performance.now()` before which no lane sends: the service or the rate asks for the wait, or the service can't be
   * reached.
   */
  notBefore: number;
  /** Aborted when one of the lanes has ended in a way that ends all of them. */
  readonly halt: AbortSignal;
  /** How many there are. */
  readonly lanes: number;
  readonly promiseLog: PromiseLog;
}

export interface Lane {
  readonly number: number;
  /** A connection of its own, over which one request at a time is sent. */
  readonly client: ServiceClient;
  readonly common: Common;
  /** Where other machines could take it. */
  readonly hold?: LaneHold | undefined;
}

/**
 * How a lane ended. `halted`: another one has ended all. `taken over`: another machine sends it now. `disk full`: the ledger
 * can't take another intent.
 */
export type LaneEnd =
  | Stop
  | { readonly kind: "halted" }
  | { readonly kind: "taken over" }
  | { readonly kind: "disk full" };

/** A lane at work. */
interface Sender {
  readonly context: SendContext;
  readonly lane: Lane;
  readonly log: ChunkLog;
  /** Aborted when no wait is to go on. */
  readonly wake: AbortSignal;
  /** Tries in a row of which the service took nothing, in this lane or another. */
  retries: number;
  /** `Common.answers` at the latest of these. */
  answersBefore: number;
}

/**
 * Sends a lane's planned chunks in order, one request in flight, until it is done or something stops it.
 *
 * Each intent is on disk before its first byte leaves, together with the previous answer: one commit per chunk on the
 * critical path. Answers become outcomes while the next chunk flies.
 */
export async function sendLane(context: SendContext, lane: Lane): Promise<LaneEnd> {
  const { common } = lane;
  const log = openChunkLog(context, lane, common.promiseLog, {
    onRecorded: ({ chunk, tallies }) => context.progress.decided(chunk, countTallies(tallies)),
    onLate: context.progress.late,
  });
  const wake = AbortSignal.any([context.stop, common.halt]);
  try {
    const end = await sendChunks({ context, lane, log, wake, retries: 0, answersBefore: common.answers });
    await log.record();
    return end;
  } catch (cause) {
    // Whatever broke, an answer that came is stored if it can be.
    await log.record().catch(() => undefined);
    throw cause;
  }
}

async function sendChunks(sender: Sender): Promise<LaneEnd> {
  const { lane, log, wake } = sender;
  for (;;) {
    const facts = await prepare(sender);
    if ("kind" in facts) return facts;
    // No await from here to the request, so that no other lane comes in between.
    const stopped = hindrance(sender) ?? whyStopped(sender);
    if (stopped !== undefined) return stopped;
    const early = lane.common.notBefore - performance.now();
    if (early > 0) {
      await log.record();
      await pause(early, wake);
      continue;
    }
    const landed = await fly(sender, facts);
    if ("waitMs" in landed) lane.common.notBefore = performance.now() + landed.waitMs;
    else if ("kind" in landed) return landed;
    else {
      const end = await conclude(sender, landed);
      if (end !== undefined) return end;
    }
  }
}

/** Why no further chunk may be sent, if there is a reason. */
function hindrance(sender: Sender): LaneEnd | undefined {
  const { ledger, environment } = sender.context;
  if (ledger.exhaustedBy !== undefined) return { kind: "disk full" };
  const rejected = rejectedSoFar(sender);
  if (rejected > environment.maxRejected) return { kind: "too many rejections", rejected };
  return undefined;
}

/** How long what others were told of rejections may be unknown here. */
const LOOK_AGAIN_MS = 1000;

/** Since this process began. Of a run that others send too, what these were told counts, but for their last second. */
function rejectedSoFar({ context: { ledger, runNo }, lane: { common, hold } }: Sender): number {
  if (hold === undefined) return common.rejected;
  const now = performance.now();
  const { looked } = common;
  if (looked === undefined || now - looked.at > LOOK_AGAIN_MS) {
    const inRun = rejectedIn(ledger, runNo);
    common.looked = { at: now, inRun, before: looked?.before ?? inRun };
  }
  const { inRun = 0, before = 0 } = common.looked ?? {};
  return Math.max(common.rejected, inRun - before);
}

function whyStopped({ context: { stop }, lane: { common } }: Sender): LaneEnd | undefined {
  if (stop.aborted) return { kind: "stopped", by: stop.reason as StopRequest }; // see SendContext.stop
  return common.halt.aborted ? { kind: "halted" } : undefined;
}

/** The lane's next chunk, verified before the intent: what is sent is what was checked. */
async function prepare(sender: Sender): Promise<ChunkFacts | LaneEnd> {
  const { context, log, lane } = sender;
  for (;;) {
    const hindered = hindrance(sender);
    if (hindered !== undefined) return hindered;
    const chunk = log.next();
    if (chunk === undefined) return { kind: "finished" };
    const isTooLarge = chunk.count > 1 && chunk.length >= tooLargeFrom(context.ledger, context.runNo);
    if (!isTooLarge) return chunkFacts(context.plan, chunk);
    if (!(await splitChunk(context, chunk, lane.hold?.isHeld))) return { kind: "taken over" };
  }
}

/** What came of a request. */
interface Landed {
  readonly facts: ChunkFacts;
  readonly exchange: Exchange;
  readonly reading: Reading;
  /** When it came, UTC in ISO 8601. */
  readonly at: string;
  /** The chunk as the ledger keeps it. */
  readonly packed: readonly PackedPart[];
  readonly recording: Recording;
}

/** The previous answer while its promises are written, which waits for the other lanes. */
interface Recording {
  isUnderWay: boolean;
  /** Why it could not be recorded. A full disk must not cost the answer that is on its way. */
  readonly failed: Promise<{ readonly cause: unknown } | undefined>;
}

/** Commits the intent and sends the request, unless something is in its way. While it flies, the previous answer becomes outcomes. */
async function fly(
  { context, lane: { client, common, hold }, log }: Sender,
  facts: ChunkFacts,
): Promise<Landed | Exclude<Intent, { readonly kind: "begun" }>> {
  const { plan, environment, progress, abort } = context;
  const { chunk, actions } = facts;
  // Where lanes are held, all machines together keep the rate.
  if (environment.rate !== undefined && hold === undefined)
    common.notBefore = performance.now() + (chunk.count / environment.rate) * 1000;
  const intent = log.intend(chunk);
  if (intent.kind !== "begun") return intent;
  progress.sending(chunk, intent.attempt);
  const following = log.next();
  const { promise: leaving, resolve: onLeaving } = Promise.withResolvers<void>();
  const flying: Promise<Exchange> =
    intent.isTooLate?.() === true
      ? Promise.resolve({ kind: "not sent", error: new Error(`the ledger took too long to note that it is sent`) })
      : client.post(actions.body, abort, onLeaving, intent.leftMs);
  // What follows keeps this thread busy, and would hold up a request that has not left.
  await Promise.race([leaving, flying]);
  await turn();
  const packing = packChunk(facts, common.compressor);
  packing.catch(() => undefined); // it is heard of once the request has ended
  if (following !== undefined) plan.expect(following);
  const recording = record(log);
  const exchange = await flying;
  crashPoint("answered");
  const at = new Date().toISOString();
  const reading = readExchange(exchange, sentActions(actions), environment.retryStatuses, common.promises);
  return { facts, exchange, reading, at, packed: await packing, recording };
}

function record(log: ChunkLog): Recording {
  const recording: Recording = {
    isUnderWay: true,
    failed: log.write().then(
      () => undefined,
      (cause: unknown) => ({ cause }),
    ),
  };
  void recording.failed.then(() => {
    recording.isUnderWay = false;
  });
  return recording;
}

/** Notes what became of the chunk. Returns why the lane ends, if it does. */
async function conclude(sender: Sender, landed: Landed): Promise<LaneEnd | undefined> {
  const { reading, recording } = landed;
  if (reading.kind === "decided") return takeAnswer(sender, landed, reading);
  await noteUndecided(sender, landed, reading);
  const failed = await recording.failed;
  if (failed !== undefined) throw failed.cause;
  const { chunk } = landed.facts;
  switch (reading.kind) {
    case "not sent":
    case "not taken":
    case "retry":
      return waitToRetry(sender, chunk, reading);
    case "too large":
      return undefined;
    case "refused":
      return { ...reading, chunk, whole: sender.context.environment.refusalsAreWhole };
    case "not let in":
    case "in doubt":
      return { ...reading, chunk };
  }
}

type Decided = Extract<Reading, { readonly kind: "decided" }>;
type Undecided = Exclude<Reading, Decided>;
type NotTaken = Extract<Reading, { readonly kind: "not sent" | "not taken" | "retry" }>;

/** The answer says what became of each action. It is recorded while the next chunk flies, or at once where it holds doubts. */
async function takeAnswer(
  { context: { ledger, runNo, progress }, lane: { number, common, hold }, log }: Sender,
  { facts, exchange, at, packed, recording }: Landed,
  reading: Decided,
): Promise<LaneEnd | undefined> {
  if (exchange.kind !== "answer") throw new Error("an answer decided that never came");
  const { chunk } = facts;
  const { status } = exchange;
  common.answers += 1;
  if (!reading.hasStatus && !common.toldWithoutStatus) {
    common.toldWithoutStatus = true;
    progress.withoutStatus();
  }
  const decided = decideChunk(facts, reading.items, at, packed);
  common.rejected += countTallies(decided.tallies).rejected;
  log.conclude(chunk, { event: "answer", decided, status, at, body: exchange.body });
  // Where others may give the chunk up, the answer may have to be kept as it came.
  if (hold === undefined) free(exchange.body);
  const isDoubtful = decided.doubted.length > 0;
  // The one before it may wait for the turns of all others, and this answer with it.
  if (recording.isUnderWay && common.lanes > 1) log.store();
  const failed = await recording.failed;
  if (failed !== undefined || isDoubtful) await log.record();
  if (failed !== undefined) throw failed.cause;
  if (!isDoubtful) return undefined;
  const doubt = chunksOf(ledger, runNo, "in doubt").find(({ lane }) => lane === number) ?? chunk;
  return { kind: "in doubt", chunk: doubt, detail: doubt.detail ?? "", body: "" };
}

/** The chunk as a whole is to be sent again, or waits for a person; one that is too large becomes smaller, or is rejected. */
async function noteUndecided(
  { context, lane: { common, hold }, log }: Sender,
  { facts: { chunk }, exchange, at }: Landed,
  reading: Undecided,
): Promise<void> {
  if (reading.kind === "too large" && chunk.count === 1) {
    const isUnderWay = (): boolean => log.isUnderWay(chunk);
    if (!(await common.promiseLog.inTurn(() => rejectTooLarge(context, chunk, at, isUnderWay)))) return;
    common.rejected += 1;
    context.progress.decided(chunk, { accepted: 0, rejected: 1 });
    return;
  }
  const isRefused = reading.kind === "refused" && !context.environment.refusalsAreWhole;
  const isInDoubt = reading.kind === "in doubt";
  log.conclude(chunk, {
    event: isInDoubt ? "doubt" : isRefused ? "refuse" : "giveBack",
    class: reading.kind,
    httpStatus: exchange.kind === "answer" ? exchange.status : undefined,
    detail: withBody(reading),
    at,
    ...(isInDoubt && exchange.kind === "answer" && { doubted: exchange.body.subarray(0, MOST_KEPT_BYTES) }),
  });
  if (reading.kind === "too large") await splitChunk(context, chunk, hold?.isHeld);
}

/** Waits before the chunk is sent again. Once it was tried often enough, returns that the service can't be reached. */
async function waitToRetry(sender: Sender, chunk: ChunkRecord, reading: NotTaken): Promise<LaneEnd | undefined> {
  const { context, lane, wake } = sender;
  const { common } = lane;
  if (wake.aborted) return undefined;
  if (common.answers !== sender.answersBefore) sender.retries = 0;
  sender.answersBefore = common.answers;
  sender.retries += 1;
  const { retries } = sender;
  const waitMs = waitBefore(retries, "headers" in reading ? reading.headers : {}, Date.now(), Math.random());
  const tooLate = performance.now() + waitMs > context.deadline;
  // Waiting does not help with a proxy that asks for a login.
  if (retries > context.environment.retries || tooLate || isProxyAsking(reading.detail)) {
    return {
      kind: "not reachable",
      reached: reading.kind !== "not sent",
      chunk,
      detail: reading.detail,
      attempts: retries,
      ...(tooLate && { waitMs }),
    };
  }
  context.progress.waiting(chunk, reading.detail, waitMs);
  common.notBefore = Math.max(common.notBefore, performance.now() + waitMs);
  // What the service asks for is asked of all; the way to it may be closed for this machine alone.
  if (reading.kind !== "not sent") lane.hold?.putOff(waitMs);
  await pause(waitMs, wake);
  return undefined;
}

/** What is kept of an answer for the person who has to decide about it. */
function withBody(reading: { readonly detail: string; readonly body?: string }): string {
  return reading.body === undefined || reading.body === ""
    ? reading.detail
    : `${reading.detail}: ${cleanText(reading.body, 500)}`;
}

/** The largest answer that is kept of a doubt; what 5000 items say is much less. */
const MOST_KEPT_BYTES = 16 * 1024 * 1024;

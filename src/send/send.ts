/** A lane as a story: next chunk, intent, post, read the answer, record it with the next intent; while that flies, the promises. */

import { cleanText } from "../actions/text.ts";
import { crashPoint } from "../disk/crash-points.ts";
import type { Answered, Chunk, Given, Intent, Ledger, Stepped } from "../ledger/ledger.ts";
import type { Claim } from "../ledger/workers.ts";
import { type Exchange, ITEM_DOUBTS, type ItemOutcome, type Reading, readExchange, type SentAction } from "./answer.ts";
import type { ServiceClient } from "./client.ts";
import { instant, msSince, pause } from "./clock.ts";
import { isProxyAsking } from "./proxy.ts";
import { MAX_RETRY_AFTER_MS, waitBefore } from "./retry.ts";
import type { SeenPromises } from "./seen.ts";
import type { LaneEnd, StopRequest } from "./stop.ts";

/** What happens while chunks are sent. */
export type SendEvent =
  /** Its intent is on disk, and the request is about to leave. */
  | { readonly kind: "chunk sent"; readonly chunk: Chunk; readonly attempt: number }
  | { readonly kind: "chunk answered"; readonly chunk: Chunk; readonly accepted: number; readonly rejected: number }
  | ({ readonly kind: "chunk waits"; readonly chunk: Chunk } & Wait)
  /** The attempt had been given up by then: the answer decides nothing, and is kept for a person. */
  | { readonly kind: "answer came late"; readonly chunk: Chunk; readonly said: string }
  /** Told once, when an answer has no `status` of its own. */
  | { readonly kind: "answers without status" };

export interface Wait {
  readonly detail: string;
  readonly waitMs: number;
}

/** How to ask an environment's service, and what its answers mean. */
interface ServiceHabits {
  /** How often a request that was certainly not taken is tried again. */
  readonly retries: number;
  /** Statuses after which a request is sent again: the user's word that it was not taken. */
  readonly retryStatuses: readonly number[];
  /** Actions a second; without it as fast as the service answers. */
  readonly rate?: number;
  /** Rejections after which a run stops. */
  readonly maxRejected: number;
  /** The user's word that a refused chunk was not taken at all. */
  readonly refusalsAreWhole: boolean;
  readonly timeoutMs: number;
}

/** What all lanes of a run share. */
export interface Sending {
  readonly ledger: Ledger;
  /** The run's number. */
  readonly run: number;
  readonly environment: ServiceHabits;
  /** That it was given. */
  readonly promises: SeenPromises;
  /** Writes the promises of an answered chunk; after it resolves they are on disk, and that is noted. */
  readonly writePromises: (chunk: number) => Promise<void>;
  /** Returns at once. */
  readonly happened: (event: SendEvent) => void;
  /** Aborted, with a StopRequest as its reason, when no further request may start. */
  readonly stop: AbortSignal;
  /** Aborted when even the request in flight is to be given up. */
  readonly abort: AbortSignal;
  /** Aborted when one of the lanes has ended all. */
  readonly halt: AbortSignal;
  /** Actions of the run that were rejected before the command began. */
  readonly rejectedBefore: number;
  /** `performance.now()` after which no wait may reach. */
  readonly deadline: number;
  /** What changes while the lanes send. */
  readonly common: Common;
}

interface Common {
  /** Actions that the service rejected since the command began. */
  rejected: number;
  /** How many answers decided a chunk. As long as it grows, the service is there. */
  answers: number;
  /** `performance.now()` before which no lane sends. */
  notBefore: number;
  hasToldWithoutStatus: boolean;
  /** A 413 has taught it. */
  mostActions: number;
}

export interface Lane {
  readonly number: number;
  readonly stage: number;
  readonly client: ServiceClient;
  /** Where other machines could take it. */
  readonly claim?: Claim | undefined;
}

/** A chunk that is ready to leave. */
interface Ready {
  readonly chunk: Chunk;
  readonly body: Uint8Array;
  readonly sent: readonly SentAction[];
}

/** An answer that is not stored yet. */
interface Previous {
  readonly chunk: Chunk;
  readonly answered: Answered;
}

/** How long after a vanished worker's request its chunk is left alone. */
export const marginOf = (timeoutMs: number): number => Math.min(10_000, Math.max(2000, timeoutMs / 2));

/**
 * Sends the planned chunks of one lane and stage in order, one request in flight. Each intent is on disk before its first
 * byte leaves, in one commit with the answer before it.
 */
export async function sendLane(sending: Sending, lane: Lane): Promise<LaneEnd> {
  const { ledger, run, common } = sending;
  const wake = AbortSignal.any([sending.stop, sending.halt]);
  const retries = { count: 0, answersBefore: common.answers };
  let previous: Previous | undefined;
  /** Stores the last answer where no intent follows that would take it along. */
  const store = async (): Promise<LaneEnd | undefined> => {
    const stored = previous;
    previous = undefined;
    if (stored === undefined) return undefined;
    const step = await ledger.advance(run, { answered: stored.answered });
    return afterStored(sending, stored, step);
  };
  try {
    for (;;) {
      const next = obstacleOf(sending) ?? (await lookAhead(sending, lane));
      if ("kind" in next) return (await store()) ?? next;
      const early = common.notBefore - performance.now();
      if (early > 0) {
        const end = await store();
        if (end !== undefined) return end;
        await pause(early, wake);
        continue;
      }
      const { chunk, body, sent } = next;
      if (sending.environment.rate !== undefined && lane.claim === undefined)
        common.notBefore = performance.now() + (chunk.count / sending.environment.rate) * 1000;
      const asked = instant();
      const before = previous;
      const step = await ledger.advance(run, { answered: before?.answered, intent: intentOf(sending, lane, chunk) });
      previous = undefined;
      // Its failure is looked at once the answer has come: unheard until then, it would end the process.
      const writing = outcomeOf(before && afterStored(sending, before, step));
      if (step.attempt === undefined) {
        const wrote = await writing;
        if (wrote !== undefined && "cause" in wrote) throw wrote.cause;
        const end = wrote ?? obstructed(step.obstacle);
        if (end !== undefined) return end;
        if (typeof step.obstacle === "number") common.notBefore = performance.now() + step.obstacle;
        continue;
      }
      sending.happened({ kind: "chunk sent", chunk, attempt: step.attempt });
      const exchange = await post(sending, lane, body, asked);
      crashPoint("answered");
      const made = { chunk, number: step.attempt, exchange, at: new Date().toISOString() };
      const reading = readExchange(exchange, sent, sending.environment.retryStatuses, sending.promises);
      const end = await conclude(sending, lane, made, reading);
      previous = end.previous;
      // What went wrong meanwhile must not cost the answer that has just come.
      const wrote = await writing;
      if (wrote !== undefined || end.isUrgent === true) {
        const stored = await store();
        if (wrote !== undefined && "cause" in wrote) throw wrote.cause;
        const why = wrote ?? stored;
        if (why !== undefined) return why;
      }
      if (end.stop !== undefined) return end.stop;
      if (end.retry !== undefined) {
        const stop = await waitToRetry(sending, lane, wake, retries, chunk, end.retry);
        if (stop !== undefined) return stop;
      }
    }
  } catch (cause) {
    // Whatever broke, an answer that came is stored if it can be.
    await store().catch(() => undefined);
    throw cause;
  }
}

/** Why no further chunk may leave. */
function obstacleOf({ ledger, environment, common, halt }: Sending): LaneEnd | undefined {
  if (ledger.exhausted !== undefined) return { kind: "disk full" };
  if (common.rejected > environment.maxRejected) return { kind: "too many rejections", rejected: common.rejected };
  return halt.aborted ? { kind: "halted" } : undefined;
}

/** The lane's next chunk with its request; smaller ones where the service found such a size too large. */
async function lookAhead(sending: Sending, lane: Lane): Promise<Ready | LaneEnd> {
  const { ledger, run, stop, common } = sending;
  const chunk = await ledger.nextChunk(run, lane.number, lane.stage);
  if (chunk === undefined) return { kind: "finished" };
  // One that is at its end needs no stop.
  if (stop.aborted) return { kind: "stopped", by: stop.reason as StopRequest }; // see Sending.stop
  // Another worker may just be sending it.
  if (lane.claim === undefined && chunk.count > common.mostActions) {
    await ledger.split(run, chunk.chunk, common.mostActions, { at: new Date().toISOString(), class: "too large" });
    return await lookAhead(sending, lane);
  }
  const body = await ledger.body(run, chunk.chunk);
  // What an answer must echo: the plan wrote it.
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString("utf8");
  return { chunk, body, sent: JSON.parse(text) as readonly SentAction[] };
}

const intentOf = ({ environment, rejectedBefore }: Sending, { claim }: Lane, { chunk, count }: Chunk): Intent => ({
  chunk,
  at: new Date().toISOString(),
  ...(claim !== undefined && {
    claim: {
      claim,
      limitMs: environment.timeoutMs + marginOf(environment.timeoutMs),
      pace: {
        ...{ actions: count, rate: environment.rate, longestMs: MAX_RETRY_AFTER_MS },
        mostRejected: rejectedBefore + environment.maxRejected,
      },
    },
  }),
});

function obstructed(obstacle: Stepped["obstacle"]): LaneEnd | undefined {
  if (obstacle === "taken") return { kind: "taken" };
  if (typeof obstacle === "object") return { kind: "too many rejections", rejected: obstacle.rejected };
  return obstacle === "waits" ? { kind: "stopped", by: "elsewhere" } : undefined;
}

/** Tells of a stored answer, and writes its promises. */
async function afterStored(
  { ledger, run, happened, writePromises }: Sending,
  { chunk, answered }: Previous,
  { isStored, doubt }: { readonly isStored: boolean; readonly doubt: number | undefined },
): Promise<LaneEnd | undefined> {
  if (!isStored) {
    happened({ kind: "answer came late", chunk, said: `HTTP ${answered.httpStatus}` });
    return { kind: "taken" };
  }
  const of = (outcome: string): number => answered.answers.filter((each) => each.outcome === outcome).length;
  happened({ kind: "chunk answered", chunk, accepted: of("accepted"), rejected: of("rejected") });
  await writePromises(chunk.chunk);
  if (doubt === undefined) return undefined;
  const [found] = (await ledger.chunks(run, { states: ["in doubt"] })).filter((each) => each.chunk === doubt);
  return { kind: "in doubt", chunk: found ?? chunk, detail: found?.detail ?? "", body: "" };
}

/** Posts the request. Where another machine waits for its end, not a byte leaves after its time. */
async function post(sending: Sending, lane: Lane, body: Uint8Array, asked: ReturnType<typeof instant>) {
  const { timeoutMs } = sending.environment;
  if (lane.claim === undefined) return lane.client.post(body, sending.abort);
  const leftMs = (): number => timeoutMs + marginOf(timeoutMs) / 2 - msSince(asked);
  if (leftMs() < timeoutMs)
    return { kind: "not sent", error: new Error("the ledger took too long to note the intent") } as const;
  return lane.client.post(body, sending.abort, leftMs);
}

interface AttemptMade {
  readonly chunk: Chunk;
  readonly number: number;
  readonly exchange: Exchange;
  readonly at: string;
}

/** What the lane does next. */
interface Concluded {
  /** An answer that waits for the next intent; `isUrgent`: it must not. */
  readonly previous?: Previous;
  readonly isUrgent?: boolean;
  readonly retry?: NotTaken;
  readonly stop?: LaneEnd;
}

type NotTaken = Extract<Reading, { readonly kind: "not sent" | "not taken" | "retry" }>;

/** Notes what became of the chunk, unless its answer waits for the next intent. */
async function conclude(sending: Sending, lane: Lane, made: AttemptMade, reading: Reading): Promise<Concluded> {
  const { ledger, run, environment, common, happened } = sending;
  const { chunk, exchange, number: attempt, at } = made;
  const [httpStatus, raw] = exchange.kind === "answer" ? [exchange.status, exchange.body] : [];
  const given: Given = {
    ...{ at, class: reading.kind, httpStatus, detail: "detail" in reading ? withBody(reading) : undefined },
    ...(lane.claim !== undefined && { claim: { attempt, claim: lane.claim } }),
  };
  const answered = { chunk: chunk.chunk, attempt, httpStatus: httpStatus ?? 200, at, claim: lane.claim };
  if (reading.kind === "decided") {
    common.answers += 1;
    if (!reading.hasStatus && !common.hasToldWithoutStatus) {
      common.hasToldWithoutStatus = true;
      happened({ kind: "answers without status" });
    }
    common.rejected += reading.items.filter(({ outcome }) => outcome === "rejected").length;
    const kept = lane.claim === undefined ? undefined : raw;
    return {
      previous: { chunk, answered: { ...answered, answers: reading.items.map(toAnswer), raw: kept } },
      isUrgent: reading.items.some(({ outcome }) => outcome === "in doubt"),
    };
  }
  if (reading.kind === "too large" && chunk.count === 1) {
    common.rejected += 1;
    const response = JSON.stringify({ status: "too large", message: "HTTP 413" });
    return { previous: { chunk, answered: { ...answered, answers: [{ outcome: "rejected", response }] } } };
  }
  if (reading.kind === "too large") {
    const most = Math.ceil(chunk.count / 2);
    common.mostActions = Math.min(common.mostActions, most);
    const parts = await ledger.split(run, chunk.chunk, most, given);
    return parts.length === 0 ? { stop: { kind: "taken" } } : {};
  }
  const whole = environment.refusalsAreWhole;
  const [event, kept] =
    reading.kind === "in doubt"
      ? (["doubt", raw?.subarray(0, MOST_KEPT_BYTES)] as const)
      : ([reading.kind === "refused" && !whole ? "refuse" : "giveBack", undefined] as const);
  // Committed before any wait.
  const isNoted = await ledger.change(run, chunk.chunk, event, { ...given, raw: kept });
  if (!isNoted) return { stop: { kind: "taken" } };
  if (!("body" in reading)) return { retry: reading };
  const { kind, detail, body } = reading;
  return { stop: kind === "refused" ? { kind, whole, chunk, detail, body } : { kind, chunk, detail, body } };
}

const toAnswer = (item: ItemOutcome): Answered["answers"][number] =>
  item.outcome === "accepted"
    ? { outcome: "accepted", promise: item.actionPromise }
    : item.outcome === "rejected"
      ? { outcome: "rejected", response: item.response }
      : { outcome: "in doubt", response: item.response, why: ITEM_DOUBTS[item.why] };

/** Waits before the chunk is sent again. Once it was tried often enough, returns that the service can't be reached. */
async function waitToRetry(
  { ledger, environment, common, happened, deadline }: Sending,
  lane: Lane,
  wake: AbortSignal,
  retries: { count: number; answersBefore: number },
  chunk: Chunk,
  reading: NotTaken,
): Promise<LaneEnd | undefined> {
  if (wake.aborted) return undefined;
  if (common.answers !== retries.answersBefore) retries.count = 0;
  retries.answersBefore = common.answers;
  retries.count += 1;
  const attempts = retries.count;
  const waitMs = waitBefore(attempts, "headers" in reading ? reading.headers : {}, Date.now(), Math.random());
  const isTooLate = performance.now() + waitMs > deadline;
  const reached = reading.kind !== "not sent";
  // Waiting does not help with a proxy that asks for a login.
  if (attempts > environment.retries || isTooLate || isProxyAsking(reading.detail))
    return { kind: "not reachable", reached, chunk, detail: reading.detail, attempts, ...(isTooLate && { waitMs }) };
  happened({ kind: "chunk waits", chunk, detail: reading.detail, waitMs });
  common.notBefore = Math.max(common.notBefore, performance.now() + waitMs);
  // What the service asks for is asked of all; the way to it may be closed for this machine alone.
  if (reached && lane.claim !== undefined) await ledger.workers?.putOff(waitMs);
  await pause(waitMs, wake);
  return undefined;
}

const outcomeOf = (
  work: Promise<LaneEnd | undefined> | undefined,
): Promise<LaneEnd | { readonly cause: unknown } | undefined> =>
  Promise.resolve(work).catch((cause: unknown) => ({ cause }));

/** What is kept of an answer for the person who decides about it. */
const withBody = ({ detail, body = "" }: { readonly detail: string; readonly body?: string }): string =>
  body === "" ? detail : `${detail}: ${cleanText(body, 500)}`;

/** The largest answer that is kept of a doubt; what 5000 items say is much less. */
const MOST_KEPT_BYTES = 16 * 1024 * 1024;

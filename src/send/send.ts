/** A lane as a story: next chunk, intent, post, read the answer, record it with the next intent; while that flies, the promises. */

import { crashPoint } from "../disk/crash-points.ts";
import type { Answer, Chunk, Claim, Ended, Intent, Ledger, Request, Stepped } from "../ledger/ledger.ts";
import { cleanText } from "../text.ts";
import { type Reading, readExchange, toBeEchoed } from "./answer.ts";
import type { ServiceClient } from "./client.ts";
import { instant, msSince, pause } from "./clock.ts";
import type { Exchange } from "./exchange.ts";
import { isProxyAsking } from "./proxy.ts";
import { waitBefore } from "./retry.ts";
import type { SeenPromises } from "./seen.ts";
import type { LaneEnd, StopRequest } from "./stop.ts";

/** What happens while chunks are sent. */
export type SendEvent =
  /** Its intent is on disk, and the request is about to leave. */
  | { readonly kind: "chunk sent"; readonly chunk: Chunk; readonly attempt: number }
  | { readonly kind: "chunk answered"; readonly chunk: Chunk; readonly accepted: number; readonly rejected: number }
  | ({ readonly kind: "chunk waits"; readonly chunk: Chunk } & Wait)
  /** The attempt had been given up by then: the answer decides nothing, and is kept for a person. */
  | { readonly kind: "answer came late"; readonly chunk: Chunk; readonly said: string };

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
  /** Those that it was given before. */
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
  /** The most actions a request: fewer once a 413 was answered. */
  mostActions: number;
}

export interface Lane {
  readonly number: number;
  readonly stage: number;
  readonly client: ServiceClient;
  /** Where other machines could take it. */
  readonly claim?: Claim | undefined;
}

/** An answer that is not stored yet. */
interface Previous {
  readonly chunk: Chunk;
  readonly ended: Ended & { readonly answers: readonly Answer[] };
}

/** How long after a vanished worker's request its chunk is left alone. */
export const marginOf = (timeoutMs: number): number => Math.min(10_000, Math.max(2000, timeoutMs / 2));

/** What a lane keeps from chunk to chunk. */
interface Way extends Sending, Lane {
  /** Ends each wait. */
  readonly wake: AbortSignal;
  previous: Previous | undefined;
  /** Since the service decided a chunk, in whichever lane. */
  retries: number;
  answersBefore: number;
}

/**
 * Sends the planned chunks of one lane and stage in order, one request in flight. Each intent is on disk before its first
 * byte leaves, in one commit with the answer before it. @returns why the lane ends.
 */
export async function sendLane(sending: Sending, lane: Lane): Promise<LaneEnd> {
  const wake = AbortSignal.any([sending.stop, sending.halt]);
  const way = { ...sending, ...lane, wake, previous: undefined, retries: 0, answersBefore: sending.common.answers };
  try {
    for (;;) {
      const { writing, isUrgent, retry, stop } = await exchangeNext(way);
      // The request and its answer are gone by now: lanes that wait for their turn to write hold neither.
      const wrote = await writing;
      const stored = wrote !== undefined || isUrgent === true ? await store(way) : undefined;
      const end = wrote ?? stored ?? stop ?? (retry && (await waitToRetry(way, retry)));
      if (end !== undefined) return end;
    }
  } catch (cause) {
    // Whatever broke, an answer that came is stored if it can be.
    await store(way).catch(() => undefined);
    throw cause;
  }
}

/** The next chunk, from its intent to its answer. */
async function exchangeNext(way: Way): Promise<Concluded & { readonly writing?: Writing }> {
  const next = obstacleOf(way) ?? (await lookAhead(way));
  if ("kind" in next) return { stop: (await store(way)) ?? next };
  const { notBefore } = way.common;
  if (notBefore > performance.now()) return { stop: (await store(way)) ?? (await waitUntil(way, notBefore)) };
  const { chunk, body } = next;
  const asked = instant();
  const { attempt, obstacle, writing } = await intend(way, chunk);
  if (attempt === undefined) return { writing, stop: obstructed(way, obstacle) };
  way.happened({ kind: "chunk sent", chunk, attempt });
  const exchange = await post(way, body, asked);
  crashPoint("answered");
  const reading = readingOf(way, exchange, body);
  const made = { chunk, attempt, exchange, at: new Date().toISOString() };
  const { previous, ...concluded } = await noteOutcome(way, made, reading);
  way.previous = previous;
  return { writing, ...concluded };
}

/** What an exchange means. An answer that can't be compared with earlier ones is not lost: a person decides. */
function readingOf({ environment, promises }: Way, exchange: Exchange, body: Uint8Array): Reading {
  try {
    // Only now: while requests fly, a lane keeps no more than their bytes.
    return readExchange(exchange, toBeEchoed(body), environment.retryStatuses, promises);
  } catch (cause) {
    if (exchange.kind !== "answer") throw cause;
    const why = cause instanceof Error ? cause.message : String(cause);
    const detail = `HTTP ${exchange.status}, but it can't be compared with earlier answers (${why})`;
    return { kind: "in doubt", detail, body: "" };
  }
}

/** The last answer's promises. */
type Writing = Promise<LaneEnd | undefined>;

/** Stores the last answer where no intent follows that would take it along. */
async function store(way: Way): Promise<LaneEnd | undefined> {
  const { previous } = way;
  way.previous = undefined;
  if (previous === undefined) return undefined;
  return afterStored(way, previous, await way.ledger.advance(way.run, { ended: previous.ended }));
}

/** In one commit with the last answer, whose promises are written while the request flies. */
async function intend(way: Way, chunk: Chunk): Promise<Stepped & { readonly writing: Writing }> {
  const { ledger, run, environment, common, claim, previous, rejectedBefore } = way;
  const { rate, maxRejected, timeoutMs } = environment;
  const shareMs = rate === undefined ? 0 : Math.ceil((chunk.count / rate) * 1000);
  if (claim === undefined) common.notBefore = performance.now() + shareMs;
  const mostRejected = rejectedBefore + maxRejected;
  const intent: Intent = {
    chunk: chunk.chunk,
    at: new Date().toISOString(),
    claim: claim && { claim, limitMs: timeoutMs + marginOf(timeoutMs), mostRejected, shareMs },
  };
  const step = await ledger.advance(run, { ended: previous?.ended, intent });
  way.previous = undefined;
  const writing = previous === undefined ? Promise.resolve(undefined) : afterStored(way, previous, step);
  // What goes wrong meanwhile must not cost the answer that comes: it is heard after that. Unheard it would end the process.
  writing.catch(() => undefined);
  return { ...step, writing };
}

/** Why no further chunk may leave. */
function obstacleOf({ ledger, environment, common, halt }: Sending): LaneEnd | undefined {
  if (ledger.exhausted !== undefined) return { kind: "disk full" };
  if (common.rejected > environment.maxRejected) return { kind: "too many rejections", rejected: common.rejected };
  return halt.aborted ? { kind: "halted" } : undefined;
}

/** The lane's next chunk with its request; smaller ones where the service found such a size too large. */
async function lookAhead(way: Way): Promise<Request | LaneEnd> {
  const { ledger, run, stop, common, number, stage, claim } = way;
  const next = await ledger.nextChunk(run, number, stage);
  if (next === undefined) return { kind: "finished" };
  // One that is at its end needs no stop.
  if (stop.aborted) return { kind: "stopped", by: stop.reason as StopRequest }; // see Sending.stop
  const { chunk } = next;
  if (chunk.count <= common.mostActions) return next;
  return (await ledger.split(run, chunk.chunk, common.mostActions, claim)) ? await lookAhead(way) : { kind: "taken" };
}

/** @returns undefined where it only has to wait, before it looks again. */
function obstructed({ common }: Way, obstacle: Stepped["obstacle"]): LaneEnd | undefined {
  if (typeof obstacle !== "object")
    return obstacle === "waits" ? { kind: "stopped", by: "elsewhere" } : { kind: "taken" };
  if ("rejected" in obstacle) return { kind: "too many rejections", rejected: obstacle.rejected };
  common.notBefore = Math.max(common.notBefore, performance.now() + obstacle.waitMs);
  return undefined;
}

/** Reports a stored answer, and writes its promises. */
async function afterStored(
  { happened, writePromises }: Sending,
  { chunk, ended }: Previous,
  { isStored, doubt }: Stepped,
): Promise<LaneEnd | undefined> {
  if (!isStored) {
    happened({ kind: "answer came late", chunk, said: `HTTP ${ended.httpStatus}` });
    return { kind: "taken" };
  }
  const of = (outcome: string): number => ended.answers.filter((each) => each.outcome === outcome).length;
  happened({ kind: "chunk answered", chunk, accepted: of("accepted"), rejected: of("rejected") });
  await writePromises(chunk.chunk);
  return doubt && { kind: "in doubt", chunk: doubt, detail: doubt.detail ?? "", body: "" };
}

/** Posts the request. Where another machine waits for its end, not a byte leaves after its time. */
async function post({ environment, client, claim, abort }: Way, body: Uint8Array, asked: ReturnType<typeof instant>) {
  const { timeoutMs } = environment;
  if (claim === undefined) return client.post(body, abort);
  const leftMs = (): number => timeoutMs + marginOf(timeoutMs) / 2 - msSince(asked);
  if (leftMs() < timeoutMs)
    return { kind: "not sent", error: new Error("the ledger took too long to note the intent") } as const;
  return client.post(body, abort, leftMs);
}

interface AttemptMade {
  readonly chunk: Chunk;
  readonly attempt: number;
  readonly exchange: Exchange;
  readonly at: string;
}

/** What the lane does next. */
interface Concluded {
  /** An answer that waits for the next intent; `isUrgent`: it must not. */
  readonly previous?: Previous;
  readonly isUrgent?: boolean;
  readonly retry?: NotTaken & { readonly chunk: Chunk };
  readonly stop?: LaneEnd | undefined;
}

type NotTaken = Extract<Reading, { readonly kind: "not sent" | "not taken" | "retry" }>;

/** Notes what became of the chunk, unless its answer waits for the next intent. */
async function noteOutcome(way: Way, made: AttemptMade, reading: Reading): Promise<Concluded> {
  if (reading.kind === "decided") return decided(way, made, reading.items);
  const { ledger, run, environment, common, claim } = way;
  const { chunk, exchange, attempt, at } = made;
  const [httpStatus, raw] = exchange.kind === "answer" ? [exchange.status, exchange.body] : [];
  if (reading.kind === "too large" && chunk.count === 1) return decided(way, made, [TOO_LARGE]);
  const whole = environment.refusalsAreWhole;
  const [event, kept] =
    reading.kind === "in doubt"
      ? (["doubt", raw?.subarray(0, MOST_KEPT_BYTES)] as const)
      : ([reading.kind === "refused" && !whole ? "refuse" : "giveBack", undefined] as const);
  const detail = "detail" in reading ? withBody(reading) : undefined;
  const ended = { chunk: chunk.chunk, claim, attempt, at, event, class: reading.kind, httpStatus, detail, raw: kept };
  // Committed before any wait.
  const { isStored } = await ledger.advance(run, { ended });
  if (!isStored) return { stop: { kind: "taken" } };
  if (reading.kind === "too large") {
    common.mostActions = Math.min(common.mostActions, Math.ceil(chunk.count / 2));
    return {};
  }
  if (!("body" in reading)) return { retry: { chunk, ...reading } };
  const { kind, body } = reading;
  const said = { chunk, detail: reading.detail, body };
  return { stop: kind === "refused" ? { kind, whole, ...said } : { kind, ...said } };
}

/** The answer says what became of every action. */
function decided(
  { common, claim }: Way,
  { chunk, attempt, exchange, at }: AttemptMade,
  answers: readonly Answer[],
): Concluded {
  common.answers += 1;
  common.rejected += answers.filter(({ outcome }) => outcome === "rejected").length;
  const [httpStatus, body] = exchange.kind === "answer" ? [exchange.status, exchange.body] : [200];
  const raw = claim === undefined ? undefined : body;
  const made = { chunk: chunk.chunk, claim, attempt, at, httpStatus, raw };
  return {
    previous: { chunk, ended: { ...made, event: "answer", class: "answered", answers } },
    isUrgent: answers.some(({ outcome }) => outcome === "in doubt"),
  };
}

/** Of one action that is too large alone. */
const TOO_LARGE: Answer = {
  outcome: "rejected",
  response: JSON.stringify({ status: "too large", message: "HTTP 413" }),
};

/** Waits before the chunk is sent again. @returns that the service can't be reached, once it was tried often enough. */
async function waitToRetry(way: Way, reading: NonNullable<Concluded["retry"]>): Promise<LaneEnd | undefined> {
  const { ledger, environment, common, happened, deadline, wake, claim } = way;
  const { chunk, detail } = reading;
  if (wake.aborted) return undefined;
  way.retries = common.answers === way.answersBefore ? way.retries + 1 : 1;
  way.answersBefore = common.answers;
  const attempts = way.retries;
  const waitMs = waitBefore(attempts, "headers" in reading ? reading.headers : {}, Date.now(), Math.random());
  const until = performance.now() + waitMs;
  const isTooLate = until > deadline;
  const reached = reading.kind !== "not sent";
  // Waiting does not help with a proxy that asks for a login.
  if (attempts > environment.retries || isTooLate || isProxyAsking(detail))
    return { kind: "not reachable", reached, chunk, detail, attempts, ...(isTooLate && { waitMs }) };
  happened({ kind: "chunk waits", chunk, detail, waitMs });
  common.notBefore = Math.max(common.notBefore, until);
  // What the service asks for is asked of all; the way to it may be closed for this machine alone.
  if (reached && claim !== undefined) await ledger.workers?.putOff(waitMs);
  return waitUntil(way, until);
}

async function waitUntil({ wake }: Way, moment: number): Promise<undefined> {
  await pause(moment - performance.now(), wake);
}

/** What is kept of an answer for the person who decides about it. */
const withBody = ({ detail, body = "" }: { readonly detail: string; readonly body?: string }): string =>
  body === "" ? detail : `${detail}: ${cleanText(body, 500)}`;

/** The largest answer that is kept of a doubt; what 5000 items say is much less. */
const MOST_KEPT_BYTES = 16 * 1024 * 1024;

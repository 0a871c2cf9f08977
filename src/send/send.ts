/** A lane as a story: next chunk, intent, post, read the answer, record it with the next intent; while that flies, the promises. */

import { crashPoint } from "../disk/crash-points.ts";
import type { Answer, Chunk, Claim, Ended, Intent, Ledger, Request, Stepped } from "../ledger/ledger.ts";
import { cleanText } from "../text.ts";
import { type Reading, readExchange, toBeEchoed } from "./answer.ts";
import type { ServiceClient } from "./client.ts";
import type { Exchange } from "./exchange.ts";
import { isProxyAsking } from "./proxy.ts";
import type { SeenPromises } from "./seen.ts";
import type { LaneEnd, StopRequest } from "./stop.ts";
import { instant, msSince, pause, waitBefore } from "./waiting.ts";

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
  /** Ends each wait: aborted with `stop` and `halt`. */
  readonly wake: AbortSignal;
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
interface Sender extends Sending, Lane {
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
  const sender = { ...sending, ...lane, previous: undefined, retries: 0, answersBefore: sending.common.answers };
  try {
    for (;;) {
      const { writing, retry, stop } = await exchangeNext(sender);
      // The request and its answer are gone by now: lanes that wait for their turn to write hold neither.
      const wrote = await writing;
      const stored = wrote !== undefined || leavesDoubt(sender) ? await store(sender) : undefined;
      const end = wrote ?? stored ?? stop ?? (retry && (await waitToRetry(sender, retry)));
      if (end !== undefined) return end;
    }
  } catch (cause) {
    // Whatever broke, an answer that came is stored if it can be.
    await store(sender).catch(() => undefined);
    throw cause;
  }
}

/** The next chunk, from its intent to its answer. */
async function exchangeNext(sender: Sender): Promise<Concluded & { readonly writing?: Writing }> {
  const next = obstacleOf(sender) ?? (await lookAhead(sender));
  if ("kind" in next) return { stop: (await store(sender)) ?? next };
  const { notBefore } = sender.common;
  if (notBefore > performance.now()) return { stop: (await store(sender)) ?? (await waitUntil(sender, notBefore)) };
  const { chunk, body } = next;
  const asked = instant();
  const { attempt, obstacle, writing } = await intend(sender, chunk);
  if (attempt === undefined) return { writing, stop: obstructed(sender, obstacle) };
  sender.happened({ kind: "chunk sent", chunk, attempt });
  const exchange = await post(sender, body, asked);
  crashPoint("answered");
  const reading = readingOf(sender, exchange, body);
  const made = { chunk, attempt, exchange, at: new Date().toISOString() };
  return { writing, ...(await noteOutcome(sender, made, reading)) };
}

/** What an exchange means. An answer that can't be compared with earlier ones is not lost: a person decides. */
function readingOf({ environment, promises }: Sender, exchange: Exchange, body: Uint8Array): Reading {
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

/** Nothing follows an answer before a person has decided. */
const leavesDoubt = ({ previous }: Sender): boolean =>
  previous?.ended.answers.some(({ outcome }) => outcome === "in doubt") === true;

/** Stores the last answer where no intent follows that would take it along. */
async function store(sender: Sender): Promise<LaneEnd | undefined> {
  const { previous } = sender;
  sender.previous = undefined;
  if (previous === undefined) return undefined;
  return afterStored(sender, previous, await sender.ledger.advance(sender.run, { ended: previous.ended }));
}

/** In one commit with the last answer, whose promises are written while the request flies. */
async function intend(sender: Sender, chunk: Chunk): Promise<Stepped & { readonly writing: Writing }> {
  const { ledger, run, environment, common, claim, previous, rejectedBefore } = sender;
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
  sender.previous = undefined;
  const writing = previous === undefined ? Promise.resolve(undefined) : afterStored(sender, previous, step);
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
async function lookAhead(sender: Sender): Promise<Request | LaneEnd> {
  const { ledger, run, stop, common, number, stage, claim } = sender;
  const next = await ledger.nextChunk(run, number, stage);
  if (next === undefined) return { kind: "finished" };
  // One that is at its end needs no stop.
  if (stop.aborted) return { kind: "stopped", by: stop.reason as StopRequest }; // see Sending.stop
  const { chunk } = next;
  if (chunk.count <= common.mostActions) return next;
  return (await ledger.split(run, chunk.chunk, common.mostActions, claim))
    ? await lookAhead(sender)
    : { kind: "taken" };
}

/** @returns undefined where it only has to wait, before it looks again. */
function obstructed({ common }: Sender, obstacle: Stepped["obstacle"]): LaneEnd | undefined {
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
async function post(
  { environment, client, claim, abort }: Sender,
  body: Uint8Array,
  asked: ReturnType<typeof instant>,
) {
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
  readonly retry?: NotTaken & { readonly chunk: Chunk };
  readonly stop?: LaneEnd | undefined;
}

type NotTaken = Extract<Reading, { readonly kind: "not sent" | "not taken" | "retry" }>;

/** Notes what became of the chunk, unless its answer waits for the next intent. */
async function noteOutcome(sender: Sender, made: AttemptMade, reading: Reading): Promise<Concluded> {
  if (reading.kind === "decided") return decided(sender, made, reading.items);
  const { ledger, run, environment, common, claim } = sender;
  const { chunk, exchange, attempt, at } = made;
  const [httpStatus, raw] = exchange.kind === "answer" ? [exchange.status, exchange.body] : [];
  if (reading.kind === "too large" && chunk.count === 1) return decided(sender, made, [TOO_LARGE]);
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
function decided(sender: Sender, { chunk, attempt, exchange, at }: AttemptMade, answers: readonly Answer[]): Concluded {
  const { common, claim } = sender;
  common.answers += 1;
  common.rejected += answers.filter(({ outcome }) => outcome === "rejected").length;
  const [httpStatus, body] = exchange.kind === "answer" ? [exchange.status, exchange.body] : [200];
  const raw = claim === undefined ? undefined : body;
  const made = { chunk: chunk.chunk, claim, attempt, at, httpStatus, raw };
  sender.previous = { chunk, ended: { ...made, event: "answer", class: "answered", answers } };
  return {};
}

/** Of one action that is too large alone. */
const TOO_LARGE: Answer = {
  outcome: "rejected",
  response: JSON.stringify({ status: "too large", message: "HTTP 413" }),
};

/** Waits before the chunk is sent again. @returns that the service can't be reached, once it was tried often enough. */
async function waitToRetry(sender: Sender, reading: NonNullable<Concluded["retry"]>): Promise<LaneEnd | undefined> {
  const { ledger, environment, common, happened, deadline, wake, claim } = sender;
  const { chunk, detail } = reading;
  if (wake.aborted) return undefined;
  sender.retries = common.answers === sender.answersBefore ? sender.retries + 1 : 1;
  sender.answersBefore = common.answers;
  const attempts = sender.retries;
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
  return waitUntil(sender, until);
}

async function waitUntil({ wake }: Sender, moment: number): Promise<undefined> {
  await pause(moment - performance.now(), wake);
}

/** What is kept of an answer for the person who decides about it. */
const withBody = ({ detail, body = "" }: { readonly detail: string; readonly body?: string }): string =>
  body === "" ? detail : `${detail}: ${cleanText(body, 500)}`;

/** The largest answer that is kept of a doubt; what 5000 items say is much less. */
const MOST_KEPT_BYTES = 16 * 1024 * 1024;

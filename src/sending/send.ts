/** A lane being sent: for each chunk write the intent, send, settle, tell. */

import { setImmediate as turn, setTimeout as wait } from "node:timers/promises";
import { cleanText } from "../actions/text.ts";
import { free } from "../disk/buffers.ts";
import { crashPoint } from "../disk/crash-points.ts";
import {
  type ChunkRecord,
  chunksOf,
  endAttempt,
  keepDoubtedAnswer,
  markSending,
  nextPlannedChunk,
  storeAnswer,
} from "../ledger/runs.ts";
import { sentActions } from "../plan/chunk-actions.ts";
import { type AnswerHeaders, type ItemOutcome, readExchange } from "./answer.ts";
import type { ServiceClient } from "./client.ts";
import { isProxyAsking } from "./proxy.ts";
import { backoffMs, retryAfterMs } from "./retry.ts";
import type { RunPromises } from "./run-promises.ts";
import { chunkFacts, type SettleContext, settle } from "./settle.ts";
import type { ChunkFacts } from "./settling.ts";
import { rejectTooLarge, splitChunk, tooLargeFrom } from "./split.ts";

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
  /** Cleanly, at a chunk border. */
  | { readonly kind: "stopped"; readonly by: StopRequest };

export type StopRequest = "SIGINT" | "SIGTERM" | "SIGHUP" | "max-duration";

/** What the sender tells while it works; every function returns at once. */
export interface SendProgress {
  readonly sending: (chunk: ChunkRecord, attempt: number) => void;
  readonly settled: (chunk: ChunkRecord, counts: { readonly accepted: number; readonly rejected: number }) => void;
  readonly waiting: (chunk: ChunkRecord, detail: string, waitMs: number) => void;
  /** Once: the answers don't say as a whole whether they are of success. */
  readonly withoutStatus: () => void;
}

/** How an environment's service is to be asked, and what its answers mean. */
interface ServiceHabits {
  /** How often a request is tried again that was certainly not taken. */
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

export interface SendContext extends SettleContext {
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
  /** The promises of all lanes, and of what was sent before. */
  readonly promises: RunPromises;
  /** An answer without a status of its own was told of. */
  toldWithoutStatus: boolean;
  /** Answers that settled a chunk; while there are any, the service is there and takes something. */
  answers: number;
  /** `performance.now()` before which no lane sends: the service asked for it, can't be reached, or the rate does. */
  notBefore: number;
  /** Aborted when one of the lanes has ended in a way that ends all of them. */
  readonly halt: AbortSignal;
  /** Does one thing after the other: no two chunks become outcomes, or are written to the promises, at a time. */
  readonly inTurn: <T>(work: () => Promise<T>) => Promise<T>;
}

export interface Lane {
  readonly number: number;
  /** A connection of its own, over which one request at a time is sent. */
  readonly client: ServiceClient;
  readonly common: Common;
}

/** How a lane ended. `halted`: another one has ended all. `disk full`: the ledger can't take another intent. */
export type LaneEnd = Stop | { readonly kind: "halted" } | { readonly kind: "disk full" };

/** An answer that is not in the ledger yet; it goes there with the next intent. */
interface UnstoredAnswer {
  readonly facts: ChunkFacts;
  readonly status: number;
  readonly body: Buffer;
  readonly items: readonly ItemOutcome[];
  readonly at: string;
}

/**
 * Sends a lane's planned chunks in order, one request in flight, until it is done or something stops it.
 *
 * Each intent is on disk before its first byte leaves, together with the answer before it: one commit a chunk on the
 * critical path. Answers become outcomes while the next chunk flies.
 */
export async function sendLane(context: SendContext, lane: Lane): Promise<LaneEnd> {
  const keeper: { flush?: () => Promise<void> } = {};
  try {
    return await sendChunks(context, lane, keeper);
  } catch (cause) {
    // Whatever broke, an answer that came is stored if it can be.
    await keeper.flush?.().catch(() => undefined);
    throw cause;
  }
}

async function sendChunks(
  context: SendContext,
  { number, client, common }: Lane,
  keeper: { flush?: () => Promise<void> },
): Promise<LaneEnd> {
  const { ledger, plan, environment, progress, stop } = context;
  const wake = AbortSignal.any([stop, common.halt]);
  let unstored: UnstoredAnswer | undefined;
  /** Tries in a row that the service took nothing of, in this lane or another. */
  let retries = 0;
  let answersBefore = common.answers;

  const storeUnstored = (answer: UnstoredAnswer): void => storeAnswer(ledger, answer.facts.chunk, answer);
  const settleUnstored = async (answer: UnstoredAnswer): Promise<void> => {
    await common.inTurn(() => settle(context, answer.facts, answer.items, answer.at));
    free(answer.body);
    progress.settled(answer.facts.chunk, countItems(answer.items));
  };
  /** Brings the last answer into the ledger when no request will take it there. */
  const flush = async (): Promise<void> => {
    if (unstored === undefined) return;
    const answer = unstored;
    ledger.transaction(() => storeUnstored(answer));
    unstored = undefined;
    crashPoint("stored");
    await settleUnstored(answer);
  };
  keeper.flush = flush;
  const end = async (reason: LaneEnd): Promise<LaneEnd> => {
    await flush();
    return reason;
  };

  /** Why no further chunk may be sent, whatever is left to send. */
  const hindrance = (): LaneEnd | undefined => {
    if (ledger.isExhausted) return { kind: "disk full" };
    if (common.rejected > environment.maxRejected) return { kind: "too many rejections", rejected: common.rejected };
    return undefined;
  };
  const whyStopped = (): LaneEnd | undefined => {
    if (stop.aborted) return { kind: "stopped", by: stop.reason as StopRequest }; // see SendContext.stop
    return common.halt.aborted ? { kind: "halted" } : undefined;
  };

  for (;;) {
    const hindered = hindrance();
    if (hindered !== undefined) return end(hindered);
    const chunk = nextPlannedChunk(ledger, context.runNo, number);
    if (chunk === undefined) return end({ kind: "finished" });
    if (chunk.count > 1 && chunk.length >= tooLargeFrom(ledger, context.runNo)) {
      await splitChunk(context, chunk);
      continue;
    }
    // Verified before the intent: what is sent is what was checked.
    const facts = await chunkFacts(plan, chunk);
    // From here to the request nothing is waited for, so that no other lane comes in between.
    const stopped = hindrance() ?? whyStopped();
    if (stopped !== undefined) return end(stopped);
    const early = common.notBefore - performance.now();
    if (early > 0) {
      await flush();
      await pause(early, wake);
      continue;
    }
    if (environment.rate !== undefined) common.notBefore = performance.now() + (chunk.count / environment.rate) * 1000;
    const previous = unstored;
    let attempt = 0;
    ledger.transaction(() => {
      if (previous !== undefined) storeUnstored(previous);
      attempt = markSending(ledger, chunk, new Date().toISOString());
    });
    unstored = undefined;
    crashPoint("intended");
    progress.sending(chunk, attempt);
    const following = nextPlannedChunk(ledger, context.runNo, number);
    const { promise: leaving, resolve: onLeaving } = Promise.withResolvers<void>();
    const flying = client.post(facts.actions.body, context.abort, onLeaving);
    // What follows keeps this thread busy, and would hold up a request that has not left.
    await Promise.race([leaving, flying]);
    await turn();
    const sent = sentActions(facts.actions);
    if (following !== undefined) plan.expect(following);
    // A full disk must not cost the answer that is on its way.
    const settling =
      previous === undefined
        ? undefined
        : await settleUnstored(previous).then(
            () => undefined,
            (cause: unknown) => ({ cause }),
          );
    const exchange = await flying;
    crashPoint("answered");
    const at = new Date().toISOString();
    const reading = readExchange(exchange, sent, environment.retryStatuses, common.promises);
    const httpStatus = exchange.kind === "answer" ? exchange.status : undefined;
    const conclude = (event: "giveBack" | "refuse" | "doubt", answer?: Uint8Array): void =>
      ledger.transaction(() => {
        endAttempt(ledger, chunk, {
          event,
          class: reading.kind,
          httpStatus,
          detail: "detail" in reading ? withBody(reading) : undefined,
          at,
        });
        if (answer !== undefined && answer.length > 0) keepDoubtedAnswer(ledger, chunk, answer);
      });

    switch (reading.kind) {
      case "settled": {
        if (exchange.kind !== "answer") throw new Error("an answer was settled that never came");
        common.answers += 1;
        if (!reading.hasStatus && !common.toldWithoutStatus) {
          common.toldWithoutStatus = true;
          progress.withoutStatus();
        }
        common.rejected += countItems(reading.items).rejected;
        unstored = { facts, status: exchange.status, body: exchange.body, items: reading.items, at };
        const doubtful = reading.items.filter(({ outcome }) => outcome === "in doubt").length;
        if (settling !== undefined || doubtful > 0) await flush();
        if (settling !== undefined) throw settling.cause;
        if (doubtful > 0) {
          const doubt = chunksOf(ledger, context.runNo, "in doubt").find(({ lane }) => lane === number) ?? chunk;
          return { kind: "in doubt", chunk: doubt, detail: doubt.detail ?? "", body: "" };
        }
        break;
      }
      case "not sent":
      case "not taken":
      case "retry": {
        conclude("giveBack");
        if (settling !== undefined) throw settling.cause;
        if (wake.aborted) continue;
        if (common.answers !== answersBefore) retries = 0;
        answersBefore = common.answers;
        retries += 1;
        const waitMs = waitBefore(retries, "headers" in reading ? reading.headers : {});
        // Whoever asks for a login is not appeased by waiting.
        const tooLate = performance.now() + waitMs > context.deadline;
        if (retries > environment.retries || tooLate || isProxyAsking(reading.detail)) {
          return {
            kind: "not reachable",
            reached: reading.kind !== "not sent",
            chunk,
            detail: reading.detail,
            attempts: retries,
            ...(tooLate && { waitMs }),
          };
        }
        progress.waiting(chunk, reading.detail, waitMs);
        common.notBefore = Math.max(common.notBefore, performance.now() + waitMs);
        await pause(waitMs, wake);
        break;
      }
      case "too large":
        if (chunk.count === 1) {
          await common.inTurn(() => rejectTooLarge(context, chunk, at));
          common.rejected += 1;
          progress.settled(chunk, { accepted: 0, rejected: 1 });
        } else {
          conclude("giveBack");
          await splitChunk(context, chunk);
        }
        if (settling !== undefined) throw settling.cause;
        break;
      case "not let in":
        conclude("giveBack");
        if (settling !== undefined) throw settling.cause;
        return { kind: "not let in", chunk, detail: reading.detail, body: reading.body };
      case "refused":
        conclude(environment.refusalsAreWhole ? "giveBack" : "refuse");
        if (settling !== undefined) throw settling.cause;
        return {
          kind: "refused",
          chunk,
          detail: reading.detail,
          body: reading.body,
          whole: environment.refusalsAreWhole,
        };
      case "in doubt":
        conclude("doubt", exchange.kind === "answer" ? exchange.body.subarray(0, MOST_KEPT_BYTES) : undefined);
        if (settling !== undefined) throw settling.cause;
        return { kind: "in doubt", chunk, detail: reading.detail, body: reading.body };
    }
  }
}

/** What is kept of an answer for the person who has to decide about it. */
function withBody(reading: { readonly detail: string; readonly body?: string }): string {
  return reading.body === undefined || reading.body === ""
    ? reading.detail
    : `${reading.detail}: ${cleanText(reading.body, 500)}`;
}

/** The largest answer that is kept of a doubt; what 5000 items say is much less. */
const MOST_KEPT_BYTES = 16 * 1024 * 1024;

function countItems(items: readonly ItemOutcome[]): { readonly accepted: number; readonly rejected: number } {
  let accepted = 0;
  let rejected = 0;
  for (const { outcome } of items) {
    if (outcome === "accepted") accepted += 1;
    if (outcome === "rejected") rejected += 1;
  }
  return { accepted, rejected };
}

function waitBefore(retry: number, { retryAfter, date }: AnswerHeaders): number {
  return retryAfterMs(retryAfter, date, Date.now()) ?? backoffMs(retry, Math.random());
}

/** Node's timers know no more; a longer one would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Waits, but not past a request to stop. */
async function pause(ms: number, stop: AbortSignal): Promise<void> {
  await wait(Math.min(ms, LONGEST_TIMER_MS), undefined, { signal: stop }).catch((cause: unknown) => {
    if (!stop.aborted) throw cause;
  });
}

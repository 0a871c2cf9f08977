/** Asks for the status of promises: several at once, no faster than the environment allows, again where that may help. */

import type { ServiceClient } from "./client.ts";
import { isProxyAsking } from "./proxy.ts";
import { readStatus, type StatusReading } from "./status-answer.ts";
import { pause, waitBefore } from "./waiting.ts";

/** How many requests are in flight at once, each over a connection of its own. */
export const ASKED_AT_ONCE = 8;

/** A promise to be asked about. */
export interface OpenPromise {
  readonly promise: string;
  /** The number of its run, its chunk, and the place of its action there. */
  readonly run: number;
  readonly chunk: number;
  readonly place: number;
  /** What the service last said of it. */
  readonly status: string | undefined;
}

/** Why asking ended early. */
export type AskStop =
  | Extract<StatusReading, { readonly kind: "authentication failed" | "refused" | "unreadable" }>
  | { readonly kind: "not reachable"; readonly detail: string; readonly attempts: number; readonly reached: boolean };

export interface AskContext {
  /** `/actions/{actionPromise}`, or what else the environment's `statusPath` is. */
  readonly statusPath: string;
  /** How often a promise is asked about again in a row, without any answer in between. */
  readonly retries: number;
  /** Requests a second, all together; without it as fast as the service answers. */
  readonly rate?: number | undefined;
  /** Aborted when asking is to end; what is in flight is given up. */
  readonly stop: AbortSignal;
  readonly connect: () => ServiceClient;
  /** An answer that says something of a promise, or nothing that can be read. Called as it comes. */
  readonly answered: (promise: OpenPromise, answer: Answered) => void | Promise<void>;
  readonly waiting: (detail: string, waitMs: number) => void;
}

type Answered = Extract<StatusReading, { readonly kind: "status" | "unreadable" }>;

/** So many answers that can't be read, and none that can: the path is that of something else. */
const MOST_UNREADABLE = 50;

/** What those who ask have in common. */
interface Common {
  /** `performance.now()` before which nobody asks. */
  notBefore: number;
  answers: number;
  /** How many answers could be read. */
  read: number;
  stop: AskStop | undefined;
  readonly halt: AbortController;
}

/**
 * Asks about each promise once.
 *
 * @returns why it ended before all were asked about; undefined also when `stop` ended it.
 */
export async function askStatuses(
  context: AskContext,
  promises: AsyncIterable<OpenPromise>,
): Promise<AskStop | undefined> {
  const halt = new AbortController();
  const common: Common = { notBefore: 0, answers: 0, read: 0, stop: undefined, halt };
  const end = AbortSignal.any([context.stop, halt.signal]);
  const left = promises[Symbol.asyncIterator]();
  const work = async (): Promise<void> => {
    await using client = context.connect();
    for (let next = await left.next(); !end.aborted && next.done !== true; next = await left.next())
      await askOne({ context, common, client, end }, next.value);
  };
  const settled = await Promise.allSettled(
    Array.from({ length: ASKED_AT_ONCE }, async () => {
      try {
        await work();
      } catch (cause) {
        halt.abort();
        throw cause;
      }
    }),
  );
  const failed = settled.find((each) => each.status === "rejected");
  if (failed !== undefined) throw failed.reason;
  return common.stop;
}

interface Asker {
  readonly context: AskContext;
  readonly common: Common;
  readonly client: ServiceClient;
  readonly end: AbortSignal;
}

async function askOne({ context, common, client, end }: Asker, promise: OpenPromise): Promise<void> {
  let [retries, answersBefore] = [0, common.answers];
  for (;;) {
    await turnOf(context, common, end);
    if (end.aborted) return;
    const exchange = await client.get(pathOf(context.statusPath, promise.promise), end);
    if (end.aborted) return;
    const reading = readStatus(exchange, promise.promise);
    if (reading.kind === "status" || reading.kind === "unreadable") {
      common.answers += 1;
      if (reading.kind === "status") common.read += 1;
      await context.answered(promise, reading);
      if (reading.kind === "unreadable" && common.read === 0 && common.answers >= MOST_UNREADABLE)
        halt(common, reading);
      return;
    }
    if (reading.kind !== "later") return halt(common, reading);
    if (common.answers !== answersBefore) retries = 0;
    answersBefore = common.answers;
    retries += 1;
    const { detail, reached, headers } = reading;
    // Waiting does not help with a proxy that asks for a login.
    if (retries > context.retries || isProxyAsking(detail))
      return halt(common, { kind: "not reachable", detail, attempts: retries, reached });
    const waitMs = waitBefore(retries, headers, Date.now(), Math.random());
    context.waiting(detail, waitMs);
    common.notBefore = Math.max(common.notBefore, performance.now() + waitMs);
  }
}

function halt(common: Common, stop: AskStop): void {
  common.stop ??= stop;
  common.halt.abort();
}

/** Waits until this request may leave: the rate is shared, and where one has to wait, all do. */
async function turnOf({ rate }: AskContext, common: Common, end: AbortSignal): Promise<void> {
  for (let now = performance.now(); now < common.notBefore && !end.aborted; now = performance.now())
    await pause(common.notBefore - now, end);
  if (rate !== undefined) common.notBefore = performance.now() + 1000 / rate;
}

/** The path of a promise, below the base URL. Whatever is in a promise stays one step of the path, or one value of the query. */
export function pathOf(statusPath: string, actionPromise: string): string {
  const step = encodeURIComponent(actionPromise.toWellFormed()).replaceAll(".", "%2E");
  return statusPath.split("{actionPromise}").map(escaped).join(step);
}

/** A config may write a path with or without its escapes. */
function escaped(path: string): string {
  try {
    return encodeURI(decodeURI(path).toWellFormed());
  } catch {
    return encodeURI(path.toWellFormed());
  }
}

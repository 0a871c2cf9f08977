/** Callbacks to an event's callbackUrl, as far as a sandbox may make them: to this machine only, ids only. */

import { setTimeout as delay } from "node:timers/promises";
import type { Callback } from "./engine.ts";
import { requestHttp, requestHttps } from "./http.ts";

const TRIES = 6; // once, and up to five times again
const FIRST_WAIT_MS = 500;
const TIMEOUT_MS = 5_000;
/** Of one address, and on their way to all of them. */
const AT_ONCE = 4;
const AT_ONCE_IN_ALL = 64;
/** For one address, so that one that takes nothing fills up only its own places. */
const MAX_WAITING = 10_000;

export interface CallbackCounts {
  readonly delivered: number;
  /** Given up after the last try. */
  readonly failed: number;
  /** Not tried: another host than this machine, or too many waiting for the same address. */
  readonly dropped: number;
}

export type Callbacks = ReturnType<typeof startCallbacks>;

/** What waits for one callbackUrl. */
interface Address {
  readonly waiting: Callback[];
  working: number;
}

/**
 * Starts delivering, each address at its own pace: a dead or slow one delays no other. After disposal nothing more is sent,
 * and what was waiting is dropped.
 *
 * @param firstWaitMs Wait before the second try; it doubles with every further one.
 */
export function startCallbacks(firstWaitMs = FIRST_WAIT_MS) {
  const end = new AbortController();
  const addresses = new Map<string, Address>();
  const working = new Set<Promise<void>>();
  const posts = createGate(AT_ONCE_IN_ALL);
  let idle = Promise.withResolvers<void>();
  idle.resolve();
  const counts = { delivered: 0, failed: 0, dropped: 0 };

  async function work(url: string, address: Address): Promise<void> {
    for (let next = address.waiting.shift(); next !== undefined; next = address.waiting.shift()) {
      const delivered = await deliver(next, firstWaitMs, posts, end.signal);
      counts[delivered ? "delivered" : "failed"] += 1;
    }
    address.working -= 1;
    if (address.working === 0) addresses.delete(url);
  }

  return {
    /** Takes a callback to deliver later; never waits. */
    enqueue(callback: Callback): void {
      const { callbackUrl } = callback;
      const address = addresses.get(callbackUrl) ?? { waiting: [], working: 0 };
      if (end.signal.aborted || !isLoopbackUrl(callbackUrl) || address.waiting.length >= MAX_WAITING) {
        counts.dropped += 1;
        return;
      }
      addresses.set(callbackUrl, address);
      address.waiting.push(callback);
      if (address.working >= AT_ONCE) return;
      address.working += 1;
      if (working.size === 0) idle = Promise.withResolvers<void>();
      // Started apart from the request that caused it.
      const worker = Promise.resolve()
        .then(() => work(callbackUrl, address))
        .finally(() => {
          working.delete(worker);
          if (working.size === 0) idle.resolve();
        });
      working.add(worker);
    },
    counts: (): CallbackCounts => ({ ...counts }),
    /** Resolves when nothing is waiting or on its way. */
    idle: () => idle.promise,
    async [Symbol.asyncDispose]() {
      end.abort();
      for (const { waiting } of addresses.values()) counts.dropped += waiting.splice(0).length;
      await Promise.allSettled(working);
    },
  };
}

/** Lets at most `atOnce` through at a time, in the order in which they came. */
function createGate(atOnce: number) {
  let free = atOnce;
  const queue: (() => void)[] = [];
  return async <T>(pass: () => Promise<T>): Promise<T> => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => queue.push(resolve));
    try {
      return await pass();
    } finally {
      const next = queue.shift();
      if (next === undefined) free += 1;
      else next();
    }
  };
}

async function deliver(
  callback: Callback,
  firstWaitMs: number,
  posts: ReturnType<typeof createGate>,
  signal: AbortSignal,
): Promise<boolean> {
  const { callbackUrl, ...ids } = callback;
  const body = JSON.stringify(ids);
  for (let tried = 0; tried < TRIES; tried += 1) {
    try {
      if (tried > 0) await delay(firstWaitMs * 2 ** (tried - 1), undefined, { signal });
      if ((await posts(() => post(callbackUrl, body, signal))) === 200) return true;
    } catch {
      // Not reachable, or ended by disposal; the loop's condition and `signal` decide what follows.
    }
    if (signal.aborted) return false;
  }
  return false;
}

/** Posts once; gives the status. Redirects are not followed, so nothing leaves the machine by one. */
function post(url: string, body: string, signal: AbortSignal): Promise<number | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<number | undefined>();
  const send = new URL(url).protocol === "https:" ? requestHttps : requestHttp;
  const request = send(url, {
    method: "POST",
    headers: { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body) },
    signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    agent: false,
    // "localhost" is this machine, whatever a hosts file says.
    ...(new URL(url).hostname === "localhost" && { host: "127.0.0.1" }),
  });
  request.on("error", reject);
  request.on("response", (response) => {
    response.resume();
    resolve(response.statusCode);
  });
  request.end(body);
  return promise;
}

/** True for an http(s) URL whose host is this machine by its very spelling. */
function isLoopbackUrl(url: string): boolean {
  const parsed = URL.parse(url);
  return parsed !== null && /^https?:$/.test(parsed.protocol) && isLoopbackHost(parsed.hostname);
}

/** True for `localhost`, `127.x.y.z` and `[::1]`, as a URL spells them. */
export function isLoopbackHost(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127(\.\d{1,3}){3}$/.test(hostname);
}

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

/**
 * Starts delivering, each address at its own pace: a dead or slow one delays no other. After disposal nothing more is sent,
 * and what was waiting is dropped.
 *
 * @param firstWaitMs Wait before the second try; it doubles with every further one.
 */
export function startCallbacks(firstWaitMs = FIRST_WAIT_MS) {
  const end = new AbortController();
  const { signal } = end;
  const addresses = new Map<string, { readonly pass: Gate; open: number }>();
  const open = new Set<Promise<void>>();
  const posts = openGate(AT_ONCE_IN_ALL);
  const counts = { delivered: 0, failed: 0, dropped: 0 };

  async function deliver({ callbackUrl, ...ids }: Callback): Promise<keyof CallbackCounts> {
    if (signal.aborted) return "dropped";
    const body = JSON.stringify(ids);
    for (let tried = 0; tried < TRIES && !signal.aborted; tried += 1) {
      try {
        if (tried > 0) await delay(firstWaitMs * 2 ** (tried - 1), undefined, { signal });
        if ((await posts(() => post(callbackUrl, body, signal))) === 200) return "delivered";
      } catch {
        // Not reachable, or ended by disposal.
      }
    }
    return "failed";
  }

  return {
    /** Takes a callback to deliver later; never waits. */
    enqueue(callback: Callback): void {
      const { callbackUrl } = callback;
      const address = addresses.get(callbackUrl) ?? { pass: openGate(AT_ONCE), open: 0 };
      if (signal.aborted || !isLoopbackUrl(callbackUrl) || address.open >= AT_ONCE + MAX_WAITING) {
        counts.dropped += 1;
        return;
      }
      addresses.set(callbackUrl, address);
      address.open += 1;
      const delivery = address
        .pass(() => deliver(callback))
        .then((outcome) => {
          counts[outcome] += 1;
          address.open -= 1;
          if (address.open === 0) addresses.delete(callbackUrl);
          open.delete(delivery);
        });
      open.add(delivery);
    },
    counts: (): CallbackCounts => ({ ...counts }),
    idle,
    async [Symbol.asyncDispose]() {
      end.abort();
      await idle();
    },
  };

  /** Resolves when nothing is waiting or on its way. */
  async function idle(): Promise<void> {
    for (const delivery of open) await delivery;
  }
}

type Gate = ReturnType<typeof openGate>;

/** Lets at most `atOnce` through at a time, in the order in which they came. */
function openGate(atOnce: number) {
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

function isLoopbackUrl(url: string): boolean {
  const { protocol = "", hostname = "" } = URL.parse(url) ?? {};
  return /^https?:$/.test(protocol) && isLoopbackHost(hostname);
}

/** True for `localhost`, `127.x.y.z` and `[::1]`, as a URL spells them. */
export function isLoopbackHost(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127(\.\d{1,3}){3}$/.test(hostname);
}

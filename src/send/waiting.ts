/** What time has passed, when to try again, and waiting for it. */

import { setTimeout as wait } from "node:timers/promises";
import { DateTime } from "luxon";
import type { AnswerHeaders } from "./exchange.ts";

/** By both clocks: the monotonic one stops while the machine sleeps, and the wall clock may be set back. */
export interface Instant {
  readonly monotonicMs: number;
  readonly wallMs: number;
}

export const instant = (): Instant => ({ monotonicMs: performance.now(), wallMs: Date.now() });
export const msSince = ({ monotonicMs, wallMs }: Instant): number =>
  Math.max(performance.now() - monotonicMs, Date.now() - wallMs);

const HOUR_MS = 3_600_000;

/**
 * Waits, but no longer than `end` allows. An hour at a time: a low rate or a late deadline asks for longer waits than Node's
 * timers can do.
 */
export async function pause(ms: number, end: AbortSignal): Promise<void> {
  for (let left = ms; left > 0 && !end.aborted; left -= HOUR_MS)
    await wait(Math.min(left, HOUR_MS), undefined, { signal: end }).catch((cause: unknown) => {
      if (!end.aborted) throw cause;
    });
}

const BASE_MS = 500;
const CAP_MS = 60_000;

/** The longest wait that a Retry-After may ask for. */
export const MAX_RETRY_AFTER_MS = 600_000;

/**
 * Milliseconds before retry number `attempt` (from 1): exponential with full jitter, at most 0.5 s before the first retry
 * and at most 60 s before any.
 *
 * @param chance a number from 0 to 1, such as `Math.random()`.
 */
export function backoffMs(attempt: number, chance: number): number {
  return Math.round(chance * Math.min(CAP_MS, BASE_MS * 2 ** Math.min(attempt - 1, 30)));
}

/**
 * What a Retry-After header asks for in milliseconds, at most ten minutes; undefined when it can't be read. A date is read
 * against the answer's own Date, so that a wrong clock does no harm.
 */
export function retryAfterMs(
  retryAfter: string | undefined,
  date: string | undefined,
  nowMs: number,
): number | undefined {
  if (retryAfter === undefined) return undefined;
  const text = retryAfter.trim();
  if (/^\d+$/.test(text)) return Math.min(MAX_RETRY_AFTER_MS, Number(text) * 1000);
  const until = fromHttpDate(text);
  if (until === undefined) return undefined;
  const from = (date === undefined ? undefined : fromHttpDate(date.trim())) ?? nowMs;
  return Math.min(MAX_RETRY_AFTER_MS, Math.max(0, until - from));
}

/** Milliseconds since 1970 of an HTTP date in any of its three forms (RFC 9110, 5.6.7), or undefined when it is none. */
function fromHttpDate(text: string): number | undefined {
  const at = DateTime.fromHTTP(text);
  return at.isValid ? at.toMillis() : undefined;
}

/**
 * How long to wait before a retry, in milliseconds: as long as the service asks, else longer with each. Some services round what
 * is less than a second down to 0, which is believed once.
 *
 * @param retry the first is 1.
 * @param chance as `backoffMs` takes it.
 */
export function waitBefore(retry: number, { retryAfter, date }: AnswerHeaders, nowMs: number, chance: number): number {
  const asked = retryAfterMs(retryAfter, date, nowMs);
  return asked === undefined || (asked === 0 && retry > 1) ? backoffMs(retry, chance) : asked;
}

/** What time has passed, and waiting. */

import { setTimeout as wait } from "node:timers/promises";

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

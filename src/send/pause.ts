import { setTimeout as wait } from "node:timers/promises";

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

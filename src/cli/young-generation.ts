/** V8's memory for short-lived values, in the thread that runs a command. */

import { setFlagsFromString } from "node:v8";

/**
 * Leaves it as large as starting has made it, 4 MB in each half, where V8 would go on to double it to 32. What stays of a chunk
 * lies outside of V8's heap, and the rest is dropped at once: more room takes 25 to 50 MB and saves no time. Only the command line
 * of Node says it otherwise. It holds for workers too, but on Node 22 until the first of them starts.
 */
export function keepYoungGenerationSmall(): void {
  setFlagsFromString("--semi-space-growth-factor=1");
}

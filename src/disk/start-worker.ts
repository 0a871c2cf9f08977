/** Threads beside the one that the program runs in. */

import { getCompileCacheDir } from "node:module";
import { dirname } from "node:path";
import { type ResourceLimits, Worker } from "node:worker_threads";
import { errorCode } from "../failure.ts";

/**
 * Undefined where there may be no more threads.
 *
 * @param beside the module that stands beside the one to run, as `import.meta.url`.
 * @param name of the module to run, without its ending.
 */
export function startWorker(
  beside: string,
  name: string,
  resourceLimits: ResourceLimits,
  workerData?: unknown,
): Worker | undefined {
  // The build makes .js of .ts.
  const path = `./${name}${beside.endsWith(".ts") ? ".ts" : ".js"}`;
  const cache = getCompileCacheDir();
  try {
    return new Worker(new URL(path, beside), {
      resourceLimits,
      workerData,
      // It would read and compile all modules anew: a cache is each thread's own.
      ...(cache !== undefined && { env: { ...process.env, NODE_COMPILE_CACHE: dirname(cache) } }),
    });
  } catch (cause) {
    if (errorCode(cause) === "ERR_WORKER_INIT_FAILED") return undefined;
    throw cause;
  }
}

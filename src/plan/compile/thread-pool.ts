/** The threads that plan large files: how many, and started early where it can be told that there is something for them. */

import { statSync } from "node:fs";
import { availableParallelism } from "node:os";
import type { Worker } from "node:worker_threads";
import { quoted } from "../../actions/text.ts";
import { startWorker } from "../../disk/start-worker.ts";
import { Failure } from "../../failure.ts";

/** Size, as stored, from which a file is worth them. */
export const LEAST_BYTES = 16 * 1024 * 1024;

/** For short-lived values. Plain rows leave hardly any; with four times as much a plan holds 20 to 60 MB more and takes no less time. */
const YOUNG_GENERATION_MB = 8;

/** A further one would only wait for the main thread, which joins their results. */
const MOST_THREADS = 5;

/** How many threads plan large files, the main one included; below two, it does so alone. */
export function workersOf({ TICKETS_WORKERS: given }: NodeJS.ProcessEnv): number {
  if (given === undefined || given === "") return Math.min(MOST_THREADS, availableParallelism());
  if (/^\d{1,2}$/.test(given)) return Number(given);
  throw new Failure("usage", `TICKETS_WORKERS is ${quoted(given)}; it must be 0 to 99.`, {
    hint: "Leave it unset to suit the machine; 0 plans in one thread.",
  });
}

/** Those that nobody has taken yet. They hold no process. */
let early: Worker[] = [];

/** Starts threads for these files while the rest of the program is loaded, the config read and the ledger opened. */
export function startEarly(paths: readonly string[], env: NodeJS.ProcessEnv): void {
  const isLarge = (path: string): boolean => (statSync(path, { throwIfNoEntry: false })?.size ?? 0) >= LEAST_BYTES;
  try {
    if (!paths.some(isLarge)) return;
    const count = workersOf(env);
    if (count < 2) return;
    early = start(count - 1);
    for (const worker of early) {
      worker.unref();
      const forget = (): void => {
        early = early.filter((each) => each !== worker);
      };
      worker.once("error", forget).once("exit", forget);
    }
  } catch {
    // Told by whoever reads the file or needs the threads.
  }
}

/** As many as the system gives: fewer do the same more slowly. */
export function takeWorkers(count: number): readonly Worker[] {
  const taken = early.splice(0, count);
  for (const worker of taken) worker.ref();
  return [...taken, ...start(count - taken.length)];
}

function start(count: number): Worker[] {
  const workers: Worker[] = [];
  while (workers.length < count) {
    const worker = startWorker(import.meta.url, "worker", { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB });
    if (worker === undefined) break;
    workers.push(worker);
  }
  return workers;
}

/** A worker: compiles ranges of files, one after the other (parallel.ts). */

import { parentPort } from "node:worker_threads";
import { SpareMemory } from "../../readers/spare-memory.ts";
import { createRangeCompiler, type RangeCompiler } from "./compile-ranges.ts";
import type { Task } from "./parallel.ts";

let open: { readonly input: number; readonly compile: RangeCompiler } | undefined;
/** Of batches that were joined. */
const spare = new SpareMemory();

parentPort?.on("message", (task: Task) => {
  if (task.kind === "file") {
    open = { input: task.input, compile: createRangeCompiler(task, spare) };
    return;
  }
  if (open?.input !== task.input) throw new Error("the worker was not told of the file");
  if (task.memory !== undefined) spare.giveBack(task.memory);
  parentPort?.postMessage(open.compile(task));
});

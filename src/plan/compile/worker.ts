/** A worker: reads, maps and checks ranges of files (parallel.ts). Knows nothing of other ranges. */

import { parentPort } from "node:worker_threads";
import { IS_FAST_PATH_ON } from "../../actions/fast-path.ts";
import { severityIn } from "../../checks/severity.ts";
import { asBuffer } from "../../disk/buffers.ts";
import { createMapper } from "../../mapping/create-mapper.ts";
import { SpareMemory } from "../../readers/spare-memory.ts";
import { createProblemLog } from "../findings/problem-log.ts";
import { createRowMarks } from "../rejects/mended-rows.ts";
import { createRowCompiler, type RowCompiler } from "./compile-rows.ts";
import type { Answer, FileTask, Task } from "./parallel.ts";

const files = new Map<number, RowCompiler>();
/** Of batches that were joined. */
const spare = new SpareMemory();

function openFile(task: FileTask): void {
  const { file, input, ranged, mapper, severities, now, notesEvents, readAs, mended, mostGiven } = task;
  files.clear(); // one after the other
  files.set(
    input,
    createRowCompiler({
      file,
      input,
      mapper: createMapper(mapper),
      severityOf: severityIn(severities),
      now,
      notesEvents,
      readAs,
      // Rows of rejects files are told by who knows the ledger.
      rules: [],
      header: mapper.header,
      ranged,
      settings: IS_FAST_PATH_ON ? mapper : undefined,
      marks: createRowMarks(mended, "some"),
      keeps: spare,
      mostGiven,
    }),
  );
}

parentPort?.on("message", (task: Task) => {
  if (task.kind === "file") {
    openFile(task);
    return;
  }
  const open = files.get(task.input);
  if (open === undefined) throw new Error("the worker was not told of the file");
  const { range, bytes, capacity, memory } = task;
  if (memory !== undefined) spare.giveBack(memory);
  const log = createProblemLog(capacity.cap, capacity.keeps);
  const batch = open.compileRange({ ...task, bytes: asBuffer(bytes) }, log);
  const mayDiffer = batch.isUnsure || (batch.seen?.events?.length ?? 0) > 0;
  const answer: Answer = { range, batch, text: bytes, mayDiffer };
  parentPort?.postMessage(answer);
});

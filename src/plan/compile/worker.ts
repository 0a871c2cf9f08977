/** A worker: reads, maps and checks ranges of files (parallel.ts). Knows nothing of other ranges. */

import { parentPort } from "node:worker_threads";
import { IS_FAST_PATH_ON } from "../../actions/fast-path.ts";
import { severityIn } from "../../checks/severity.ts";
import { asBuffer } from "../../disk/buffers.ts";
import { createMapper } from "../../mapping/create-mapper.ts";
import type { CandidateBytes } from "../candidates/facts.ts";
import { createProblemLog } from "../findings/problem-log.ts";
import { createRowMarks } from "../rejects/mended-rows.ts";
import { createRowCompiler, type RowCompiler } from "./compile-rows.ts";
import type { Answer, FileTask, Task } from "./parallel.ts";

const files = new Map<number, RowCompiler>();

function openFile({ file, input, ranged, mapper, severities, now, notesEvents, readAs, mended }: FileTask): void {
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
      keepsBatches: true,
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
  const { range, bytes, capacity } = task;
  const log = createProblemLog(capacity.cap, capacity.keeps);
  const batch = open.compileRange({ ...task, bytes: asBuffer(bytes) }, log);
  const mayDiffer = batch.isUnsure || (batch.seen?.events?.length ?? 0) > 0;
  const answer: Answer = { range, batch, text: bytes, mayDiffer };
  parentPort?.postMessage(answer, [...memoryOf(batch.bytes), bytes.buffer as ArrayBuffer]); // as it came
});

function memoryOf({ lines, index, facts, texts }: CandidateBytes): ArrayBuffer[] {
  // Each was taken from its buffer into memory of its own.
  return [lines, index, facts, texts].map(({ buffer }) => buffer as ArrayBuffer);
}

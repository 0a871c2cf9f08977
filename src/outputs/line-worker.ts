/** Makes the lines of promises beside the thread that sends (line-maker.ts). */

import { hash } from "node:crypto";
import { parentPort } from "node:worker_threads";
import { asBuffer, free } from "../disk/buffers.ts";
import type { LineTask } from "./line-maker.ts";
import type { OutputBytes } from "./output-file.ts";
import { plainPromiseLines } from "./plain-promise-lines.ts";

parentPort?.on("message", ({ accepted, label }: LineTask) => {
  const { actions, index, promised } = accepted;
  const bytes = plainPromiseLines({ ...accepted, index: asBuffer(index) }, label);
  for (const given of [actions.body, actions.places, index, promised.body, promised.starts]) free(given);
  const lines: OutputBytes = { bytes, sha256: hash("sha256", bytes) };
  parentPort?.postMessage(lines, [bytes.buffer as ArrayBuffer]); // a memory of its own
});

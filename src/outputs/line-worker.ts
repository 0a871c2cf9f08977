/** Makes the lines of promises beside the thread that sends (line-maker.ts). */

import { parentPort } from "node:worker_threads";
import { asBuffer, free } from "../disk/buffers.ts";
import type { LineTask } from "./line-maker.ts";
import { plainPromiseLines } from "./plain-promise-lines.ts";

parentPort?.on("message", ({ accepted, label }: LineTask) => {
  const { actions, index, promised } = accepted;
  const lines = plainPromiseLines({ ...accepted, index: asBuffer(index) }, label);
  for (const bytes of [actions.body, actions.places, index, promised.body, promised.starts]) free(bytes);
  parentPort?.postMessage(lines, [lines.buffer as ArrayBuffer]); // a memory of its own
});

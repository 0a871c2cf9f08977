/** The thread that looks at a large file. What it began with is a `Job`; it sends `Message`s. */

import { parentPort, workerData } from "node:worker_threads";
import { Failure } from "../failure.ts";
import { createMapper } from "../map/create-mapper.ts";
import { openInput } from "../read/input.ts";
import { Look } from "./look.ts";
import type { Job, Message } from "./thread.ts";

const { file, opening, mapping, rules, room }: Job = workerData; // as thread.ts gives it
const port = parentPort;
if (port === null) throw new Error("This file is the beginning of a thread.");
const send = (message: Message): void => port.postMessage(message);

let look: Look | undefined;
try {
  await using input = await openInput(file, opening);
  const { header } = input;
  const mapper = createMapper({ ...mapping, ...(header !== undefined && { header }) });
  look = new Look(input, mapper, rules);
  for await (const batch of look.batches()) {
    Atomics.wait(room, 0, 0);
    Atomics.sub(room, 0, 1);
    send({ kind: "batch", batch });
  }
  send({ kind: "end", understood: look.understood, whole: look.whole });
} catch (error) {
  const failure = error instanceof Failure ? { code: error.code, message: error.message, hint: error.hint } : undefined;
  send({ kind: "thrown", understood: look?.understood, thrown: { error, failure } });
}
port.close();

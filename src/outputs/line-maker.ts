/**
 * Makes the lines of plain promises on another thread, once a run has shown that it is long. Whoever sends has the next answer to
 * read meanwhile.
 */

import type { Worker } from "node:worker_threads";
import { isOwn } from "../disk/buffers.ts";
import { startWorker } from "../disk/start-worker.ts";
import type { OutputBytes } from "./output-file.ts";
import { type AcceptedChunk, plainPromiseLines } from "./plain-promise-lines.ts";
import type { RunLabel } from "./promise-lines.ts";

export interface LineMaker extends AsyncDisposable {
  /**
   * The lines of a chunk, of which the caller has asked for no other meanwhile. The memory of what it is made of may be gone then.
   *
   * @returns undefined where the thread has ended with it: the ledger holds all that they say.
   */
  make(accepted: AcceptedChunk, label: RunLabel): Promise<OutputBytes | undefined>;
}

/** What the thread is asked for; it gives bytes with their digest. */
export interface LineTask {
  readonly accepted: Omit<AcceptedChunk, "index"> & { readonly index: Uint8Array };
  readonly label: RunLabel;
}

/** Actions of a run that are too few for a thread of their own: it takes as long to start. */
const FEW = 40_000;

/** Nothing lives there but what comes and goes outside of V8's heap. */
const MEMORY = { maxYoungGenerationSizeMb: 1, maxOldGenerationSizeMb: 16 };

/** @param few for tests. */
export function openLineMaker(few = FEW): LineMaker {
  let made = 0;
  let worker: Worker | undefined;
  let ended: Promise<void> | undefined;
  /** Told of the lines that are asked for. */
  let onLines: (lines: OutputBytes | undefined) => void = () => undefined;
  const start = (): void => {
    const { promise, resolve } = Promise.withResolvers<void>();
    ended = promise;
    worker = startWorker(import.meta.url, "line-worker", MEMORY);
    worker?.unref();
    worker?.on("message", (lines: Required<OutputBytes>) => onLines(lines));
    worker?.on("error", () => undefined); // it ends then
    worker?.on("exit", () => {
      worker = undefined;
      onLines(undefined);
      resolve();
    });
    if (worker === undefined) resolve();
  };
  return {
    async make(accepted, label) {
      made += accepted.actions.count;
      if (made > few && ended === undefined) start();
      const to = worker;
      if (to === undefined) return { bytes: plainPromiseLines(accepted, label) };
      const { promise, resolve } = Promise.withResolvers<OutputBytes | undefined>();
      onLines = resolve;
      to.ref();
      to.postMessage(...toSend(accepted, label));
      const lines = await promise;
      to.unref();
      return lines;
    },
    [Symbol.asyncDispose]: async () => {
      await worker?.terminate();
      await ended;
    },
  };
}

/** A task and the memory that it takes along. */
function toSend({ actions, index, promised, ...rest }: AcceptedChunk, label: RunLabel): [LineTask, ArrayBuffer[]] {
  const [body, places] = [ownBytes(actions.body), ownNumbers(actions.places)];
  const [promises, starts] = [ownBytes(promised.body), ownNumbers(promised.starts)];
  const accepted = {
    ...rest,
    actions: { body, places, count: actions.count },
    index: ownBytes(index),
    promised: { ...promised, body: promises, starts },
  };
  return [{ accepted, label }, [body, places, accepted.index, promises, starts].map(({ buffer }) => buffer)];
}

type Own<T> = T & { readonly buffer: ArrayBuffer };

/** What shares its memory with others is copied. */
const ownBytes = (bytes: Uint8Array): Own<Uint8Array> => (isOwn(bytes) ? bytes : Uint8Array.from(bytes));
const ownNumbers = (numbers: Int32Array): Own<Int32Array> => (isOwn(numbers) ? numbers : Int32Array.from(numbers));

/**
 * Checkpoints while a run is sent, on another thread: within a commit, the request that waits for it would wait for them. They
 * are never relied on. Where the thread can't start or ends early, SQLite itself does one when the log has grown large
 * (`wal_autocheckpoint`).
 */

import type { Worker } from "node:worker_threads";
import { startWorker } from "../disk/start-worker.ts";
import type { Ledger } from "./ledger.ts";

export interface Checkpointer extends AsyncDisposable {
  /** So many bytes more have been committed, about. Now is a good time for a checkpoint, if one is due. */
  grew(bytes: number): void;
}

/** From the thread that sends. */
export type CheckpointTask = "move" | "close";

/** Of what was committed, after which a checkpoint is due: it takes a few milliseconds of another thread and of the disk. */
const DUE_BYTES = 4 * 1024 * 1024;

/** A statement and two numbers are all that lives there. */
const MEMORY = { maxYoungGenerationSizeMb: 1, maxOldGenerationSizeMb: 16 };

/** @param dueBytes for tests. */
export function openCheckpointer(ledger: Ledger, dueBytes = DUE_BYTES): Checkpointer {
  let grown = 0;
  let isMoving = false;
  let ended: Promise<void> | undefined;
  let worker: Worker | undefined;
  const start = (): void => {
    const { promise, resolve } = Promise.withResolvers<void>();
    ended = promise;
    worker = startWorker(import.meta.url, "checkpoint-worker", MEMORY, ledger.path);
    if (worker === undefined) {
      resolve();
      return;
    }
    worker.unref();
    worker.on("message", () => {
      isMoving = false;
    });
    worker.on("error", () => undefined); // it ends then
    worker.on("exit", () => {
      worker = undefined;
      resolve();
    });
  };
  return {
    grew(bytes) {
      grown += bytes;
      // PostgreSQL does its own.
      if (ledger.kind === "postgres") return;
      // On a full disk, what the reserve made room for is for answers.
      if (grown < dueBytes || isMoving || ledger.exhaustedBy !== undefined) return;
      if (ended === undefined) start();
      grown = 0;
      isMoving = true;
      worker?.postMessage("move" satisfies CheckpointTask);
    },
    [Symbol.asyncDispose]: async () => {
      worker?.ref();
      worker?.postMessage("close" satisfies CheckpointTask);
      // Before the ledger is closed, whose last connection takes the log away.
      await ended;
    },
  };
}

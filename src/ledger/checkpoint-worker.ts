/** Moves the log of a ledger into its file, on a connection of its own (checkpointer.ts). */

import { DatabaseSync } from "node:sqlite";
import { parentPort, workerData } from "node:worker_threads";
import type { CheckpointTask } from "./checkpointer.ts";
import { DURABLE } from "./durable.ts";

const database = new DatabaseSync(String(workerData));
database.exec(DURABLE);
// Passive: it waits for nobody, and no commit or reader waits for it.
const checkpoint = database.prepare("PRAGMA wal_checkpoint(PASSIVE)");

/** What was committed during one is left to the next, which has less to do. */
const MOST_TRIES = 5;

/** Only once all of the log was moved does the next commit begin at its front again. */
function moveAll(): void {
  for (let tried = 0; tried < MOST_TRIES; tried += 1) {
    const { busy, log, checkpointed } = checkpoint.get() ?? {};
    if (busy !== 0 || log === checkpointed) return;
  }
}

parentPort?.on("message", (task: CheckpointTask) => {
  if (task === "move") {
    moveAll();
    parentPort?.postMessage("moved");
    return;
  }
  database.close();
  parentPort?.close();
});

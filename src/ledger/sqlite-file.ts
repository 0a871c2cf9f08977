/** What is looked at before a file is taken for the ledger, and what keeps it whole: its log's number, and the ballast. */

import { closeSync, existsSync, fsyncSync, openSync, rmSync, statfsSync, statSync, writeSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { Failure } from "../failure.ts";
import { storageFailureOf } from "./sqlite-failures.ts";

/** Magic numbers of network file systems in `statfs` (linux/magic.h): SQLite's locks and log are not safe on them. */
const NETWORK_FILE_SYSTEMS = new Map([
  [0x6969, "NFS"],
  [0x517b, "SMB"],
  [0xff534d42, "CIFS"],
  [0xfe534d42, "SMB2"],
  [0x00c36400, "Ceph"],
  [0x01021997, "9P"],
  [0x5346414f, "AFS"],
  [0x6b414653, "AFS"],
  [0x0bd00bd0, "Lustre"],
  [0x19830326, "BeeGFS"],
  [0x47504653, "GPFS"],
  [0x01161970, "GFS2"],
  [0x7461636f, "OCFS2"],
  [0x73757245, "Coda"],
]);

/** @param type of the file system, as `statfs` numbers it. */
export function refuseNetworkFileSystem(path: string, type = statfsSync(dirname(path)).type): void {
  const name = NETWORK_FILE_SYSTEMS.get(type);
  if (name === undefined) return;
  throw new Failure("usage", `${dirname(path)} is on a network file system (${name}), where a ledger is not safe.`, {
    nothingSent: true,
    hint: "Choose a local folder with TICKETS_STATE_DIR.",
  });
}

/** A ledger that has lost all its bytes looks like a new one, and everything would be sent again. */
export function refuseEmptied(path: string): void {
  if (statSync(path).size === 0 && existsSync(ballastOf(path))) throw storageFailureOf("damaged", path, "it is empty");
}

/** Beyond this size the check takes seconds; then SQLite's own checks while reading must do. */
const CHECKED_BYTES = 64 * 1024 * 1024;

/** Finds a damaged file before anything is decided by it. */
export function checkPages(file: DatabaseSync, path: string): void {
  if (statSync(path).size > CHECKED_BYTES) return;
  const result = String(file.prepare("PRAGMA quick_check(1)").get()?.quick_check);
  if (result !== "ok") throw storageFailureOf("damaged", path, result);
}

export const bytesOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

/** How long to wait for another writer. */
export const LOCKED_MS = 60_000;

/** A log that grew beyond this goes into the file. */
const LOG_BYTES = 16 * 1024 * 1024;

const numberIn = (file: DatabaseSync): number => Number(file.prepare("PRAGMA user_version").get()?.user_version);
const numberOfLog = (file: DatabaseSync): number =>
  Number(file.prepare("SELECT value FROM meta WHERE name = 'log'").get()?.value ?? 0);

/** The file alone, as it stands. */
export function unchanging(path: string): URL {
  const url = pathToFileURL(path);
  url.searchParams.set("immutable", "1");
  return url;
}

/**
 * Each log has a number. It is in the head of the file before the log begins with it, so that a log which belongs to another
 * file, one that was put back from a copy, is noticed: SQLite would take pages of both.
 *
 * Looks without a right to write: closed, it would bring into the file what is in the log.
 */
export function refuseOtherLog(path: string): void {
  if (bytesOf(`${path}-wal`) === 0) return;
  let [log, own, after] = [0, 0, 0];
  try {
    log = askedOf(path, numberOfLog);
    own = askedOf(unchanging(path), numberIn);
    after = askedOf(path, numberOfLog);
  } catch {
    // Whoever opens it finds what else is wrong with it.
    return;
  }
  // A process that was killed as it began a log has put the next number into the file already.
  if (log === 0 || own === log || own === log + 1) return;
  // Another process writes it right now: between the two looks it began another log.
  if (after !== log) return;
  throw new Failure(
    "storage",
    `The ledger ${path} and its log ${basename(path)}-wal don't belong together: one of them was put back from a copy.`,
    {
      nothingSent: true,
      hint: "Put back both as they were; or move the log away, and what the ledger then lacks is noticed before anything is sent.",
    },
  );
}

/** What is read from a database that is opened for it alone. */
function askedOf(path: string | URL, ask: (file: DatabaseSync) => number): number {
  const file = new DatabaseSync(path, { readOnly: true, timeout: LOCKED_MS });
  try {
    return ask(file);
  } finally {
    file.close();
  }
}

/** Before the first write. A log that others began, or that a killed process left, goes on. */
export function openLog(file: DatabaseSync, path: string): void {
  const number = numberOfLog(file);
  if (bytesOf(`${path}-wal`) === 0 || number === 0 || number !== numberIn(file)) beginLog(file);
}

/** What is in the log goes into the file, and the next log begins. Where a reader still needs the old one, that goes on. */
function beginLog(file: DatabaseSync): void {
  const next = numberOfLog(file) + 1;
  file.exec(`PRAGMA user_version = ${next}`);
  const done = file.prepare("PRAGMA wal_checkpoint(PASSIVE)").get();
  if (done?.log !== done?.checkpointed) return;
  file.prepare(NOTE_LOG).run(String(next));
}

const NOTE_LOG =
  "INSERT INTO meta (name, value) VALUES ('log', ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value";

/** After a write. */
export function keepLogShort(file: DatabaseSync, path: string): void {
  if (bytesOf(`${path}-wal`) <= LOG_BYTES) return;
  try {
    beginLog(file);
  } catch {
    // It is tried again after the next write; what was written is in the log.
  }
}

/** A file beside the ledger that makes room for a known answer when the disk is full. */
export const BALLAST_BYTES = 32 * 1024 * 1024;

const ballastOf = (path: string): string => join(dirname(path), "ballast");

export function fillBallast(path: string): void {
  const ballast = ballastOf(path);
  if (existsSync(ballast) && statSync(ballast).size === BALLAST_BYTES) return;
  const file = openSync(ballast, "w", 0o600);
  try {
    // Written out rather than set as a length: a sparse file would hold no room.
    const block = Buffer.alloc(1024 * 1024);
    for (let at = 0; at < BALLAST_BYTES; at += block.length) writeSync(file, block);
    fsyncSync(file);
  } catch (cause) {
    rmSync(ballast, { force: true });
    throw cause;
  } finally {
    closeSync(file);
  }
}

export const releaseBallast = (path: string): void => rmSync(ballastOf(path), { force: true });

/** One run at a time: a lock that the operating system releases when the process dies. */

import { closeSync, existsSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as wait } from "node:timers/promises";
import { z } from "zod";
import { makeFolder } from "../disk/folders.ts";
import { Failure } from "../failure.ts";
import { refuseNetworkFileSystem, sqliteErrorKind, storageFailure } from "./open-ledger.ts";

const HOLDER = z.object({ pid: z.number(), since: z.string(), command: z.string() });
/** `host` where it may be another machine. */
export type LockHolder = z.infer<typeof HOLDER> & { readonly host?: string };

/** How often a lock is tried that another process holds. */
export const POLL_MS = 200;

/** `process 4711 on machine-2` */
export const describeHolder = ({ pid, host }: LockHolder): string =>
  `process ${pid}${host === undefined ? "" : ` on ${host}`}`;

export const lockedFailure = (what: string, holder: LockHolder | undefined): Failure =>
  new Failure(
    "busy",
    `Another run holds ${what}${holder === undefined ? "" : ` (${describeHolder(holder)}, since ${holder.since}: ${holder.command})`}. Nothing was sent.`,
    { hint: "Run the command again later, or let it wait with --wait-lock 10m." },
  );

/**
 * Takes the lock at `path`, or fails with `busy` naming who holds it. An SQLite file with an exclusive transaction held
 * open is the portable form of a lock that no crash leaves behind; the text file beside it only tells people who holds it.
 *
 * @param waitMs how long to wait for another run to end.
 */
export async function acquireLock(options: {
  /** What is locked, for messages. */
  readonly what: string;
  readonly path: string;
  readonly command: string;
  readonly waitMs: number;
  readonly signal: AbortSignal;
  readonly onWait?: (holder: LockHolder | undefined) => void;
}): Promise<Disposable> {
  const { what, path, command, waitMs, signal, onWait } = options;
  let database: DatabaseSync;
  try {
    makeFolder(dirname(path), { mode: 0o700 });
    refuseNetworkFileSystem(path);
    // Only where it is missing: closing a second descriptor of a locked file would drop the process's lock on it.
    if (!existsSync(path)) closeSync(openSync(path, "a", 0o600));
    // Long enough to outlast someone who only looks whether the lock is held.
    database = new DatabaseSync(path, { timeout: 250 });
  } catch (cause) {
    throw storageFailure(path, cause);
  }
  const deadline = performance.now() + waitMs;
  let told = false;
  try {
    while (!tryLock(database)) {
      const holder = readLockHolder(path);
      if (performance.now() >= deadline) throw lockedFailure(what, holder);
      if (!told) onWait?.(holder);
      told = true;
      await wait(Math.min(POLL_MS, Math.max(1, deadline - performance.now())), undefined, { signal });
    }
    writeFileSync(`${path}.holder`, JSON.stringify({ pid: process.pid, since: new Date().toISOString(), command }), {
      mode: 0o600,
    });
  } catch (cause) {
    database.close();
    throw lockFailure(path, cause);
  }
  let held = true;
  return {
    [Symbol.dispose]: () => {
      if (held) database.close();
      held = false;
    },
  };
}

function lockFailure(path: string, cause: unknown): unknown {
  if (sqliteErrorKind(cause) !== "damaged") return storageFailure(path, cause);
  return new Failure("storage", `The lock ${path} is damaged. Nothing was sent.`, {
    hint: "The file holds no data. If no other run is under way, delete it.",
    cause,
  });
}

function tryLock(database: DatabaseSync): boolean {
  try {
    database.exec("BEGIN EXCLUSIVE");
    return true;
  } catch (cause) {
    if (sqliteErrorKind(cause) === "locked") return false;
    throw cause;
  }
}

/** Who took the lock last. Only trying shows whether they still hold it. */
export function readLockHolder(path: string): LockHolder | undefined {
  try {
    return HOLDER.parse(JSON.parse(readFileSync(`${path}.holder`, "utf8")));
  } catch {
    return undefined;
  }
}

/** Whether someone holds the lock right now. Only looks: it takes nothing. */
export function isLocked(path: string): boolean {
  if (!existsSync(path)) return false;
  const database = new DatabaseSync(path, { readOnly: true, timeout: 0 });
  try {
    database.prepare("SELECT count(*) FROM sqlite_schema").get();
    return false;
  } catch (cause) {
    if (sqliteErrorKind(cause) === "locked") return true;
    throw lockFailure(path, cause);
  } finally {
    database.close();
  }
}

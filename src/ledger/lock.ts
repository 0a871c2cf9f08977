/** One holder at a time, on one machine: a lock that the operating system releases when the process dies. */

import { closeSync, existsSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as wait } from "node:timers/promises";
import { z } from "zod";
import { Failure } from "../failure.ts";
import { isDamaged, isLocked, storageFailure } from "./sqlite-failures.ts";

export interface LockHolder {
  readonly host: string | undefined;
  readonly pid: number;
  readonly since: string;
  readonly command: string;
}

export interface LockOptions {
  readonly name: string;
  /** What is locked, for messages. */
  readonly what: string;
  readonly command: string;
  /** How long to wait for another to let go. */
  readonly waitMs: number;
  readonly signal: AbortSignal;
  readonly onWait?: ((holder: LockHolder | undefined) => void) | undefined;
}

const HOLDER = z.object({ pid: z.number(), since: z.string(), command: z.string() });

/** How often a lock is tried that another process holds. */
const POLL_MS = 200;

function lockedFailure(what: string, holder: LockHolder | undefined): Failure {
  const host = holder?.host === undefined ? "" : ` on ${holder.host}`;
  const who = holder === undefined ? "" : ` (process ${holder.pid}${host}, since ${holder.since}: ${holder.command})`;
  return new Failure("busy", `Another run holds ${what}${who}.`, {
    nothingSent: true,
    hint: "Run the command again later, or let it wait with --wait-lock 10m.",
  });
}

/** Tries until the lock is taken, or the time is over. @throws Failure `busy` */
export async function untilTaken(
  tryIt: () => boolean | Promise<boolean>,
  readHolder: () => LockHolder | undefined | Promise<LockHolder | undefined>,
  { what, waitMs, signal, onWait }: LockOptions,
): Promise<void> {
  const deadline = performance.now() + waitMs;
  for (let isShown = false; !(await tryIt()); isShown = true) {
    const holder = await readHolder();
    if (performance.now() >= deadline) throw lockedFailure(what, holder);
    if (!isShown) onWait?.(holder);
    await wait(Math.min(POLL_MS, Math.max(1, deadline - performance.now())), undefined, { signal });
  }
}

/**
 * An SQLite file with an exclusive transaction held open is the portable form of a lock that no crash leaves behind; the text
 * file beside it only shows people who holds it.
 */
export async function acquireLock(path: string, options: LockOptions): Promise<AsyncDisposable> {
  let database: DatabaseSync | undefined;
  try {
    // Only where it is missing: closing a second descriptor of a locked file would drop the process's lock on it.
    if (!existsSync(path)) closeSync(openSync(path, "a", 0o600));
    // Long enough to outlast someone who only looks whether the lock is held.
    const file = new DatabaseSync(path, { timeout: 250 });
    database = file;
    await untilTaken(
      () => tryLock(file),
      () => lastHolder(path),
      options,
    );
    const holder = { pid: process.pid, since: new Date().toISOString(), command: options.command };
    writeFileSync(`${path}.holder`, JSON.stringify(holder), { mode: 0o600 });
    return {
      async [Symbol.asyncDispose]() {
        if (file.isOpen) file.close();
      },
    };
  } catch (cause) {
    database?.close();
    throw lockFailure(path, cause);
  }
}

function lockFailure(path: string, cause: unknown): unknown {
  if (!isDamaged(cause)) return storageFailure(path, cause);
  return new Failure("storage", `The lock ${path} is damaged.`, {
    nothingSent: true,
    hint: "The file holds no data. If no other run is under way, delete it.",
    cause,
  });
}

function tryLock(database: DatabaseSync): boolean {
  try {
    database.exec("BEGIN EXCLUSIVE");
    return true;
  } catch (cause) {
    if (isLocked(cause)) return false;
    throw cause;
  }
}

/** Who took the lock last. */
function lastHolder(path: string): LockHolder | undefined {
  try {
    return { host: undefined, ...HOLDER.parse(JSON.parse(readFileSync(`${path}.holder`, "utf8"))) };
  } catch {
    return undefined;
  }
}

/** Who holds the lock right now; an unknown one where that is not known. Only looks: it takes nothing. */
export function readLockHolder(path: string): LockHolder | undefined {
  if (!existsSync(path)) return undefined;
  const database = new DatabaseSync(path, { readOnly: true, timeout: 0 });
  try {
    database.prepare("SELECT count(*) FROM sqlite_schema").get();
    return undefined;
  } catch (cause) {
    if (isLocked(cause)) return lastHolder(path) ?? { host: undefined, pid: 0, since: "", command: "unknown" };
    throw lockFailure(path, cause);
  } finally {
    database.close();
  }
}

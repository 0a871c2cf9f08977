/** One run at a time, on whichever machine: a lock of the ledger's own session. It ends with the session, however that ends. */

import { hostname } from "node:os";
import { setTimeout as wait } from "node:timers/promises";
import type { Ledger } from "../ledger.ts";
import { type LockHolder, lockedFailure, POLL_MS } from "../lock.ts";
import { type PostgresLedger, takenMeanwhile } from "./open-postgres.ts";

/**
 * Takes the lock `name`, or fails with `busy` naming who holds it.
 *
 * @param waitMs how long to wait for another run to end.
 */
export async function acquireServerLock(options: {
  /** What is locked, for messages. */
  readonly what: string;
  readonly ledger: PostgresLedger;
  readonly name: string;
  readonly command: string;
  readonly waitMs: number;
  readonly signal: AbortSignal;
  readonly onWait?: ((holder: LockHolder | undefined) => void) | undefined;
}): Promise<Disposable> {
  const { what, ledger, name, command, waitMs, signal, onWait } = options;
  const deadline = performance.now() + waitMs;
  let told = false;
  let fence: number | undefined;
  // Whoever held it meanwhile may have changed what this process has read.
  const onAgain = (): void => {
    if (fence !== undefined && fence !== fenceOf(ledger, name)) throw takenMeanwhile(ledger.path);
  };
  while (!ledger.tryLock(name, onAgain)) {
    const holder = readServerLockHolder(ledger, name);
    if (performance.now() >= deadline) throw lockedFailure(what, holder);
    if (!told) onWait?.(holder);
    told = true;
    await wait(Math.min(POLL_MS, Math.max(1, deadline - performance.now())), undefined, { signal });
  }
  try {
    const since = new Date().toISOString();
    fence = ledger.transaction(() => {
      ledger.run(TAKE, name, hostname(), process.pid, since, command);
      return fenceOf(ledger, name);
    });
  } catch (cause) {
    ledger.unlock(name);
    throw cause;
  }
  return { [Symbol.dispose]: () => ledger.unlock(name) };
}

const fenceOf = (ledger: Ledger, name: string): number =>
  Number(ledger.get("SELECT fence FROM locks WHERE name = ?", name)?.fence);

const TAKE = `INSERT INTO locks (name, fence, host, pid, since, command) VALUES (?, 1, ?, ?, ?, ?)
  ON CONFLICT (name) DO UPDATE SET fence = locks.fence + 1, host = excluded.host, pid = excluded.pid,
    since = excluded.since, command = excluded.command`;

/** Who took the lock last. Only the server knows whether they still hold it. */
export function readServerLockHolder(ledger: Ledger, name: string): LockHolder | undefined {
  const row = ledger.get("SELECT host, pid, since, command FROM locks WHERE name = ?", name);
  if (row === undefined) return undefined;
  return { host: String(row.host), pid: Number(row.pid), since: String(row.since), command: String(row.command) };
}

/** Whether any session holds the lock right now. Takes nothing. */
export function isServerLocked(ledger: Ledger, name: string): boolean {
  return ledger.get(HELD, name) !== undefined;
}

/** As `tryLock` makes the number of a lock; the server shows it in two halves (PostgreSQL, pg_locks). */
const HELD = `SELECT 1 AS one FROM pg_locks,
    (SELECT hashtextextended(current_schema() || ' ' || ?, 0) AS number) AS wanted
  WHERE locktype = 'advisory' AND objsubid = 1 AND granted
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND (classid::bigint << 32) | objid::bigint = number
  LIMIT 1`;

/** The processes that send for a ledger which several machines share. */

import type { Ledger } from "../ledger.ts";

/** How long a worker that has ended is remembered. */
const REMEMBERED = "30 days";

/** @returns the worker's number. */
export function enterWorker(
  ledger: Ledger,
  { host, pid, command }: { readonly host: string; readonly pid: number; readonly command: string },
): number {
  const sql = "INSERT INTO workers (host, pid, command) VALUES (?, ?, ?) RETURNING worker";
  return ledger.transaction(() => {
    ledger.run(`DELETE FROM workers WHERE seen_at < clock_timestamp() - interval '${REMEMBERED}'`);
    return Number(ledger.get(sql, host, pid, command)?.worker);
  });
}

export function noteSeen(ledger: Ledger, worker: number): void {
  ledger.run("UPDATE workers SET seen_at = clock_timestamp() WHERE worker = ?", worker);
}

export function noteLeft(ledger: Ledger, worker: number): void {
  ledger.run("UPDATE workers SET seen_at = clock_timestamp(), ended_at = clock_timestamp() WHERE worker = ?", worker);
}

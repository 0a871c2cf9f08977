/** The memory of one environment: which actions it has been sent, and what became of each. One SQLite file. */

import { dirname, join } from "node:path";
import type { SQLInputValue, SQLOutputValue } from "node:sqlite";

export type SqlRow = Record<string, SQLOutputValue>;

/** An open ledger. Statements are prepared once; times are UTC in ISO 8601. */
export interface Ledger extends Disposable {
  readonly path: string;
  /** How many rows were changed. */
  run(sql: string, ...values: SQLInputValue[]): number;
  get(sql: string, ...values: SQLInputValue[]): SqlRow | undefined;
  all(sql: string, ...values: SQLInputValue[]): SqlRow[];
  iterate(sql: string, ...values: SQLInputValue[]): Iterable<SqlRow>;
  /** The disk was full and the reserve is used up: store what is known, and begin nothing more. */
  readonly isExhausted: boolean;
  /** All or nothing; after it returns the change is on disk. Transactions don't nest. */
  transaction<T>(change: () => T): T;
}

/** Path of the list of runs, which shows whether the ledger was lost. */
export const runListPath = (path: string): string => join(dirname(path), "run-list.ndjson");

/** Has `look` see the ledger as it is now, whatever a run writes meanwhile. */
export async function readSnapshot<T>(ledger: Ledger, look: () => Promise<T>): Promise<T> {
  ledger.run("BEGIN");
  try {
    return await look();
  } finally {
    ledger.run("ROLLBACK");
  }
}

export function readMeta(ledger: Ledger, key: string): string | undefined {
  const row = ledger.get("SELECT value FROM meta WHERE key = ?", key);
  return row === undefined ? undefined : String(row.value);
}

/** Binds the ledger to another base URL: the same service under a new address. */
export function rebind(ledger: Ledger, boundTo: string): void {
  ledger.transaction(() => writeMeta(ledger, "bound_to", boundTo));
}

export function writeMeta(ledger: Ledger, key: string, value: string): void {
  const sql = "INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value";
  ledger.run(sql, key, value);
}

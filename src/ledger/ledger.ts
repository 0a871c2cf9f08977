/** The memory of one environment: which actions it has been sent, and what became of each. One SQLite file. */

import { dirname, join } from "node:path";
import type { SQLInputValue, SQLOutputValue } from "node:sqlite";

export type SqlRow = Record<string, SQLOutputValue>;

/** An open ledger. Statements are prepared once; times are UTC in ISO 8601. */
export interface Ledger extends Disposable {
  readonly kind: "sqlite" | "postgres";
  /** The file, or where the database is; for messages. */
  readonly path: string;
  /** How many rows were changed. */
  run(sql: string, ...values: SQLInputValue[]): number;
  get(sql: string, ...values: SQLInputValue[]): SqlRow | undefined;
  all(sql: string, ...values: SQLInputValue[]): SqlRow[];
  iterate(sql: string, ...values: SQLInputValue[]): Iterable<SqlRow>;
  hasTable(name: string): boolean;
  /** What used up the reserve: store what is known, and begin nothing more. */
  readonly exhaustedBy: "a full disk" | "a failed write" | undefined;
  /** All or nothing; after it returns the change is on disk. Transactions don't nest. */
  transaction<T>(change: () => T): T;
  /** Has `look` see the ledger as it is now, whatever a run writes meanwhile. It changes nothing. */
  snapshot<T>(look: () => Promise<T>): Promise<T>;
}

/** A statement that enters a row, or overwrites the one with these keys. Its values: the keys, then the others. */
export function upsert(table: string, keys: readonly string[], others: readonly string[]): string {
  const columns = [...keys, ...others];
  const values = columns.map(() => "?").join(", ");
  const sets = others.map((column) => `${column} = excluded.${column}`).join(", ");
  return `INSERT INTO ${table} (${columns.join(", ")}) VALUES (${values}) ON CONFLICT (${keys.join(", ")}) DO UPDATE SET ${sets}`;
}

/** Path of the list of runs, which shows whether the ledger was lost. */
export const runListPath = (path: string): string => join(dirname(path), "run-list.ndjson");

export function readMeta(ledger: Ledger, key: string): string | undefined {
  const row = ledger.get("SELECT value FROM meta WHERE key = ?", key);
  return row === undefined ? undefined : String(row.value);
}

export function writeMeta(ledger: Ledger, key: string, value: string): void {
  ledger.run(WRITE_META, key, value);
}

const WRITE_META = upsert("meta", ["key"], ["value"]);

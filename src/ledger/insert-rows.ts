/** Many rows at a time. */

import type { Ledger } from "./ledger.ts";
import { arrayText } from "./postgres/array-text.ts";

/** The columns of a table, with their types in SQLite. */
export type Columns = Readonly<Record<string, "INTEGER" | "TEXT" | "BLOB">>;
export type Value = number | string | Uint8Array | null;

/**
 * Part of a transaction: enters rows into a table, but those that it has. A row is a statement in a file; a server, where each
 * statement goes over a network, takes a column as one value.
 *
 * @param rows with a value for each column.
 */
export function insertRows(ledger: Ledger, table: string, columns: Columns, rows: readonly (readonly Value[])[]): void {
  if (rows.length === 0) return;
  const insert = `INSERT OR IGNORE INTO ${table} (${Object.keys(columns).join(", ")})`;
  if (ledger.kind === "sqlite") {
    const sql = `${insert} VALUES (${Object.keys(columns)
      .map(() => "?")
      .join(", ")})`;
    for (const row of rows) ledger.run(sql, ...row);
    return;
  }
  const arrays = Object.values(columns).map((type) => `CAST(? AS ${type}[])`);
  const values = arrays.map((_, at) => arrayText(rows.map((row) => itemOf(row[at] ?? null))));
  ledger.run(`${insert} SELECT * FROM unnest(${arrays.join(", ")})`, ...values);
}

/** Bytes as PostgreSQL reads them (8.4.1). */
const itemOf = (value: Value): string | number | null =>
  value instanceof Uint8Array
    ? `\\x${Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("hex")}`
    : value;

/** Many rows at a time. */

import type { Ledger, SqlRow } from "./ledger.ts";
import { arrayText } from "./postgres/array-text.ts";

/** The columns of a table, with their types in SQLite. */
export type Columns = Readonly<Record<string, "INTEGER" | "TEXT" | "BLOB">>;
export type Value = number | string | Uint8Array | null;

/**
 * Part of a transaction. In a file each row is a statement; a server, where each statement goes over a network, takes a column
 * as one value.
 *
 * @param rows with a value for each column.
 * @param more what the statement ends in.
 * @returns what that returns.
 */
export function insertRows(
  ledger: Ledger,
  table: string,
  columns: Columns,
  rows: readonly (readonly Value[])[],
  more = "",
): readonly SqlRow[] {
  if (rows.length === 0) return [];
  const names = Object.keys(columns);
  const head = `INSERT INTO ${table} (${names.join(", ")})`;
  if (ledger.kind === "sqlite") {
    const sql = `${head} VALUES (${names.map(() => "?").join(", ")}) ${more}`;
    return rows.flatMap((row) => ledger.all(sql, ...row));
  }
  const arrays = Object.values(columns).map((type) => `CAST(? AS ${type}[])`);
  const values = arrays.map((_, at) => arrayText(rows.map((row) => itemOf(row[at] ?? null))));
  return ledger.all(`${head} SELECT * FROM unnest(${arrays.join(", ")}) ${more}`, ...values);
}

/** Bytes as PostgreSQL reads them (8.4.1). */
const itemOf = (value: Value): string | number | null =>
  value instanceof Uint8Array
    ? `\\x${Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("hex")}`
    : value;

/** Many rows at a time into PostgreSQL: a column is one value, an array as text. */

import { type ColumnValue, valueFor } from "../column-values.ts";
import type { Ledger, SqlRow } from "../ledger.ts";
import type { ColumnKind, LedgerTable } from "../ledger-tables.ts";

const TYPES: Readonly<Record<ColumnKind, string>> = {
  number: "bigint",
  text: "text",
  bytes: "bytea",
  promises: "bytea",
  path: "text",
};

/** Part of a transaction. */
export function insertRows(ledger: Ledger, { name, columns }: LedgerTable, rows: readonly SqlRow[]): void {
  const names = columns.map((column) => column.name).join(", ");
  const arrays = columns.map(({ kind }) => `CAST(? AS ${TYPES[kind]}[])`).join(", ");
  const sql = `INSERT INTO ${name} (${names}) SELECT * FROM unnest(${arrays})`;
  ledger.run(
    sql,
    ...columns.map((column) => `{${rows.map((row) => itemOf(valueFor(ledger, row, column))).join(",")}}`),
  );
}

/** An item as an array's text has it (PostgreSQL, 8.15.6). */
function itemOf(value: ColumnValue): string {
  if (value === null) return "NULL";
  if (typeof value === "string") return `"${value.replace(/["\\]/g, "\\$&")}"`;
  if (typeof value === "number" || typeof value === "bigint") return String(value);
  return `"\\\\x${Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("hex")}"`;
}

/** Has numbers go on behind those of the rows, and the server know how the rows are spread. */
export function finishRows(ledger: Ledger, tables: readonly LedgerTable[]): void {
  const counted = ledger.all(
    "SELECT table_name AS name, column_name AS counted FROM information_schema.columns WHERE table_schema = current_schema() AND is_identity = 'YES'",
  );
  for (const { name, counted: column } of counted) {
    const last = Number(ledger.get(`SELECT max(${column}) AS last FROM ${name}`)?.last ?? 0);
    if (last > 0)
      ledger.get("SELECT setval(pg_get_serial_sequence(?, ?), ?) AS last", String(name), String(column), last);
  }
  ledger.run(`ANALYZE ${tables.map(({ name }) => name).join(", ")}`);
}

/** Values that SQLite and PostgreSQL hold in different forms, and what they have in common. */

import { promisesAsBytes, promisesAsStored } from "./block.ts";
import type { Ledger, SqlRow } from "./ledger.ts";
import type { TableColumn } from "./ledger-tables.ts";
import { fromPlaced, machineOf, toPlaced } from "./machine.ts";

export type ColumnValue = Uint8Array | string | number | bigint | null;

/** At a place in memory: those at none, as they come from a thread, are NULL for the driver of the lowest supported Node. */
const NO_BYTES = new Uint8Array(1).subarray(0, 0);

const valueAt = (row: SqlRow, name: string): ColumnValue => row[name] ?? null;

/** A value as it is compared: the same for the same in both. A path of this machine is without its name. */
export function commonValue(row: SqlRow, { name, kind }: TableColumn): ColumnValue {
  const value = valueAt(row, name);
  if (kind === "promises") return promisesAsBytes(value as Buffer | string | null, Number(row.count)); // all it can be
  return kind === "path" && typeof value === "string" ? withoutThisMachine(value) : value;
}

function withoutThisMachine(text: string): string {
  const { path, machine } = fromPlaced(text);
  return machine === machineOf({ kind: "postgres" }) ? path : text;
}

/** A value as `ledger` holds it, wherever the row comes from. */
export function valueFor({ kind }: Pick<Ledger, "kind">, row: SqlRow, column: TableColumn): ColumnValue {
  const value = commonValue(row, column);
  if (column.kind === "path" && typeof value === "string")
    return fromPlaced(value).machine === undefined ? toPlaced({ kind }, value) : value;
  if (column.kind === "promises" && kind === "sqlite")
    return promisesAsStored(value as Uint8Array | null, Number(row.count)); // bytes by now
  return value instanceof Uint8Array && value.length === 0 ? NO_BYTES : value;
}

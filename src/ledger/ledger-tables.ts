/** The tables of a ledger of this version, as SQLite describes them. A ledger in PostgreSQL has them too, column by column. */

import { DatabaseSync } from "node:sqlite";
import { wrap } from "./open-ledger.ts";
import { makeStatusTable } from "./promise-statuses.ts";
import { migrate } from "./schema.ts";

/**
 * What the values of a column are; each may be null. `promises`: of a block, which SQLite holds as bytes or as text; `path`: of a
 * file, which PostgreSQL holds with its machine.
 */
export type ColumnKind = "number" | "text" | "bytes" | "promises" | "path";

export interface TableColumn {
  readonly name: string;
  readonly kind: ColumnKind;
}

export interface LedgerTable {
  readonly name: string;
  readonly columns: readonly TableColumn[];
  /** Columns of its key, in their order. */
  readonly key: readonly string[];
}

const KINDS: Readonly<Record<string, ColumnKind>> = {
  INTEGER: "number",
  TEXT: "text",
  BLOB: "bytes",
  ANY: "promises",
};

const PATHS: ReadonlySet<string> = new Set([
  "outputs.path",
  "output_segments.path",
  "replaced_outputs.path",
  "rejects_files.path",
  "runs.output",
]);

/** A table that refers to another stands behind it. */
export function ledgerTables(): readonly LedgerTable[] {
  using database = new DatabaseSync(":memory:");
  const ledger = wrap(database, ":memory:");
  migrate(database, ledger, 0, () => undefined);
  makeStatusTable(ledger);
  return ledger
    .all("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY rowid")
    .map(({ name }) => String(name))
    .filter((name) => !OF_DEEDS.has(name))
    .map((name) =>
      describe(
        name === "loose_deeds" ? "deeds" : name,
        ledger.all("SELECT name, type, pk FROM pragma_table_info(?)", name),
      ),
    );
}

/** Deeds in a form of their own, which only a file has: what is copied are all deeds, as rows (deed-rows.ts). */
const OF_DEEDS: ReadonlySet<string> = new Set(["deed_parts", "deed_blocks"]);

function describe(table: string, rows: readonly Readonly<Record<string, unknown>>[]): LedgerTable {
  const columns = rows.map(({ name, type }) => {
    const kind = PATHS.has(`${table}.${name}`) ? "path" : KINDS[String(type)];
    if (kind === undefined) throw new Error(`${table}.${name} is of type ${type}`);
    return { name: String(name), kind };
  });
  const key = rows
    .filter(({ pk }) => Number(pk) > 0)
    .toSorted((one, other) => Number(one.pk) - Number(other.pk))
    .map(({ name }) => String(name));
  return { name: table, columns, key };
}

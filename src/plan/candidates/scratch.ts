/** What a plan keeps only while it is made, and may be more than memory holds: a temporary SQLite database in its folder. */

import { closeSync, openSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import { setImmediate } from "node:timers/promises";

export interface Scratch extends Disposable {
  /** The file and its tables are made with the first change. */
  run(sql: string, ...values: readonly SQLInputValue[]): void;
  /** Whether a query finds a row; false, too, where nothing was ever changed. */
  has(sql: string, ...values: readonly SQLInputValue[]): boolean;
  /**
   * What a query finds, in arrays, between which the request to stop is heard; nothing where nothing was ever changed. Rows
   * that were given may be changed, but for what the query orders them by. `Row` says what the columns that it names hold.
   */
  batches<Row extends readonly unknown[]>(sql: string): AsyncGenerator<readonly Row[]>;
}

/**
 * Nothing of it is needed after a crash. A new database has nothing to undo, so that the journal stays empty; none at all is
 * what Node forbids. It holds 16 MiB in memory, and its sorting as much again.
 */
const SETTINGS =
  "PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE; PRAGMA cache_size = -16384";
/** Rows given at a time. */
const BATCH = 500;

/**
 * A database that is gone when it is disposed of.
 *
 * @param folder what does not fit into memory lies here: the database, and what SQLite sorts.
 * @param name of its file, without the ending.
 * @param tables makes them.
 */
export function createScratch(folder: string, name: string, tables: string): Scratch {
  const path = join(folder, `${name}.db`);
  let database: DatabaseSync | undefined;
  const statements = new Map<string, StatementSync>();
  const open = (): DatabaseSync => {
    // SQLite would make it readable for all.
    closeSync(openSync(path, "wx", 0o600));
    database = new DatabaseSync(path);
    // Else it sorts in the system's folder, which may be small; it does so again once this one is gone.
    database.exec(`PRAGMA temp_store_directory = '${folder.replaceAll("'", "''")}'`);
    // One transaction, never ended: what fits into memory is never written.
    database.exec(`${SETTINGS}; BEGIN; ${tables}`);
    return database;
  };
  const prepared = (sql: string): StatementSync => {
    const known = statements.get(sql);
    if (known !== undefined) return known;
    const statement = (database ?? open()).prepare(sql);
    statements.set(sql, statement);
    return statement;
  };
  return {
    run(sql, ...values) {
      prepared(sql).run(...values);
    },
    has: (sql, ...values) => database !== undefined && prepared(sql).get(...values) !== undefined,
    async *batches<Row extends readonly unknown[]>(sql: string) {
      if (database === undefined) return;
      const statement = database.prepare(sql);
      statement.setReturnArrays(true);
      let batch: Row[] = [];
      for (const row of statement.iterate()) {
        if (batch.push(row as unknown as Row) < BATCH) continue; // an array, and of what the caller put there
        yield batch;
        batch = [];
        await setImmediate();
      }
      if (batch.length > 0) yield batch;
    },
    [Symbol.dispose]() {
      if (database === undefined) return;
      database.close();
      database = undefined;
      unlinkSync(path);
    },
  };
}

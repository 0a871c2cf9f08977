/** A ledger in a file: SQLite through node:sqlite. */

import { closeSync, existsSync, lstatSync, openSync, realpathSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { makeFolder } from "../disk/folders.ts";
import { type Database, isRows, oneAtATime, type Rows, raw, type Sql, textOf, type Writer } from "./database.ts";
import { acquireLock, type LockHolder, type LockOptions, readLockHolder } from "./lock.ts";
import { refuseVersion, SCHEMA_VERSION, type Types, tables } from "./schema.ts";
import { isConflict, isUnableToWrite, lackOf, storageFailure, storageFailureOf, taken } from "./sqlite-failures.ts";
import {
  bytesOf,
  checkPages,
  fillBallast,
  keepLogShort,
  LOCKED_MS,
  openLog,
  refuseEmptied,
  refuseNetworkFileSystem,
  refuseOtherLog,
  releaseBallast,
  unchanging,
} from "./sqlite-file.ts";

export const SQLITE_TYPES: Types = {
  ...{ int: "INTEGER", text: "TEXT", key: "TEXT", bytes: "BLOB", id: "INTEGER PRIMARY KEY" },
  ...{ table: " STRICT", keyed: " STRICT, WITHOUT ROWID" },
  json: (text) => text,
};

/** Each commit is on disk when it returns. What goes from the log into the file, and when, `sqlite-file.ts` says. */
const SETTINGS =
  "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0; PRAGMA journal_size_limit = 67108864; PRAGMA cache_size = -32000;";

/**
 * Where a link leads to the file, lock, log and ballast are beside the file itself: all who open it share them.
 *
 * @returns undefined where there is no ledger, or one without tables, and it is to be read only.
 * @throws Failure `usage` on a network file system or for tables of another version, `storage` where the file is damaged or can't
 * be opened.
 */
export function openSqlite(named: string, isToRead: boolean): Sqlite | undefined {
  const isThere = existsSync(named);
  if (!isThere && isToRead) return undefined;
  let file: DatabaseSync | undefined;
  let path = named;
  try {
    if (!isToRead) makeFolder(dirname(named), { mode: 0o700 });
    refuseNetworkFileSystem(named);
    // SQLite would make it readable for all; its companions take the mode of the file itself.
    if (!isThere) closeSync(openSync(named, "a", 0o600));
    if (lstatSync(named).isSymbolicLink()) path = realpathSync(named);
    refuseNetworkFileSystem(path);
    if (statSync(path).isDirectory()) throw storageFailureOf("aFolder", path);
    if (isThere) refuseEmptied(path);
    if (isThere) refuseOtherLog(path);
    file = isToRead ? openToRead(path) : new DatabaseSync(path, { timeout: LOCKED_MS });
    if (hasTables(file, path, isToRead)) {
      if (isThere) checkPages(file, path);
      if (!isToRead) fillBallast(path);
      return new Sqlite(file, path);
    }
    file.close();
    return undefined;
  } catch (cause) {
    file?.close();
    throw storageFailure(path, cause);
  }
}

/** Makes them where there are none. @returns false where there are none, and it is to be read only. */
function hasTables(file: DatabaseSync, path: string, isToRead: boolean): boolean {
  const has = (name: string): boolean =>
    file.prepare("SELECT 1 FROM sqlite_schema WHERE name = ?").get(name) !== undefined;
  const isMade = file.prepare("SELECT 1 FROM sqlite_schema LIMIT 1").get() !== undefined;
  if (isMade) {
    // Only the tables of this form call it `name`.
    const isOurs = has("meta") && file.prepare("SELECT 1 FROM pragma_table_info('meta') WHERE name = 'name'").get();
    const row = isOurs ? file.prepare("SELECT value FROM meta WHERE name = 'schema'").get() : undefined;
    refuseVersion(path, row === undefined ? undefined : String(row.value));
  }
  if (isToRead) return isMade;
  // What is removed can be given back without copying the rest. Said again, it would be written again.
  if (!isMade) file.exec("PRAGMA auto_vacuum = INCREMENTAL");
  file.exec(SETTINGS);
  if (isMade) return true;
  file.exec("BEGIN EXCLUSIVE");
  // Another process may have made them just now.
  if (!has("meta"))
    file.exec(`${tables(SQLITE_TYPES)}; INSERT INTO meta (name, value) VALUES ('schema', '${SCHEMA_VERSION}')`);
  file.exec("COMMIT");
  return true;
}

/**
 * Even to read, SQLite writes files beside it. Where it can't, on a disk that is full or read-only, nobody else can write either,
 * and without a write-ahead log the file alone is complete.
 */
function openToRead(path: string): DatabaseSync {
  const file = new DatabaseSync(path, { readOnly: true, timeout: LOCKED_MS });
  try {
    file.prepare("SELECT count(*) FROM sqlite_schema").get();
    return file;
  } catch (cause) {
    file.close();
    if (!isUnableToWrite(cause) || bytesOf(`${path}-wal`) > 0) throw cause;
    return new DatabaseSync(unchanging(path), { readOnly: true });
  }
}

class Sqlite implements Database {
  readonly place: string;
  readonly machine = undefined;
  readonly now = raw("CAST(unixepoch('subsec') * 1000 AS INTEGER)");
  exhausted: Database["exhausted"];
  readonly #file: DatabaseSync;
  #hasLog = false;
  readonly #inOrder = oneAtATime();
  readonly #statements = new Map<string, StatementSync>();
  readonly #writer: Writer;

  constructor(file: DatabaseSync, path: string) {
    this.place = path;
    this.#file = file;
    this.#writer = {
      place: path,
      now: this.now,
      all: async <T extends object>(statement: Sql) =>
        this.#prepared(textOf(statement, placeOf)).all(...valuesOf(statement)) as unknown as T[], // see Reader
      run: async (statement) => Number(this.#prepared(textOf(statement, placeOf)).run(...valuesOf(statement)).changes),
      insert: async (table, rows, onConflict) => this.#insert(table, rows, onConflict),
      // Nobody else sends.
      wake: async () => undefined,
    };
  }

  all<T extends object>(statement: Sql): Promise<T[]> {
    return this.#inTurn(() => this.#writer.all<T>(statement));
  }

  /** Where the disk is full, the ballast makes room for once more. */
  write<T>(work: (writer: Writer) => Promise<T>, how?: "once"): Promise<T> {
    return this.#inTurn(async () => {
      try {
        const result = await this.#write(work);
        // What a large run made of the cache is of no use to its chunks, which are stored one by one.
        if (how === "once") this.#file.exec("PRAGMA shrink_memory");
        return result;
      } catch (cause) {
        const lack = lackOf(cause);
        if (lack === undefined || this.exhausted !== undefined || how === "once") throw cause;
        this.exhausted = lack;
        releaseBallast(this.place);
        return await this.#write(work);
      }
    });
  }

  async #write<T>(work: (writer: Writer) => Promise<T>): Promise<T> {
    if (!this.#hasLog) openLog(this.#file, this.place);
    this.#hasLog = true;
    this.#file.exec("BEGIN IMMEDIATE");
    try {
      const result = await work(this.#writer);
      this.#file.exec("COMMIT");
      keepLogShort(this.#file, this.place);
      return result;
    } catch (cause) {
      if (this.#file.isTransaction) this.#file.exec("ROLLBACK");
      throw cause;
    }
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    return this.#inOrder(async () => {
      try {
        return await work();
      } catch (cause) {
        throw isConflict(cause) ? taken(cause) : storageFailure(this.place, cause);
      }
    });
  }

  #prepared(text: string): StatementSync {
    const statement = this.#statements.get(text) ?? this.#file.prepare(text);
    this.#statements.set(text, statement);
    return statement;
  }

  #insert(table: string, { columns, rows }: Rows, onConflict = ""): void {
    const names = Object.keys(columns);
    const places = names.map(() => "?").join(", ");
    const into = `INSERT INTO ${table} (${names.join(", ")}) VALUES (${places}) ${onConflict}`;
    const statement = this.#prepared(into);
    for (const row of rows) statement.run(...row);
  }

  lock(options: LockOptions): Promise<AsyncDisposable> {
    return acquireLock(this.#lockOf(options.name), options);
  }

  async holder(name: string): Promise<LockHolder | undefined> {
    return readLockHolder(this.#lockOf(name));
  }

  /** Beside the ledger, so that whoever names the file another way finds the same lock. */
  #lockOf(name: string): string {
    return join(dirname(this.place), `${name.replaceAll(/[^\w.-]/g, "_")}.lock`);
  }

  async bytes(): Promise<number> {
    return bytesOf(this.place) + bytesOf(`${this.place}-wal`);
  }

  giveBack(): Promise<void> {
    return this.#inTurn(async () => {
      this.#hasLog = false;
      this.#file.exec("PRAGMA incremental_vacuum; PRAGMA wal_checkpoint(TRUNCATE)");
    });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#inOrder(async () => {
      if (this.#file.isOpen) this.#file.close();
    });
  }
}

const valuesOf = ({ values }: Sql) => values.map((value) => (isRows(value) ? JSON.stringify(value.rows) : value));

/** Rows are a JSON array of arrays. */
const placeOf = (value: Sql["values"][number]): string =>
  isRows(value)
    ? `(SELECT ${Object.keys(value.columns)
        .map((name, at) => `value ->> ${at} AS ${name}`)
        .join(", ")} FROM json_each(?))`
    : "?";

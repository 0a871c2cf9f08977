/** A ledger in a file: SQLite through node:sqlite. */

import { closeSync, existsSync, openSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import { makeFolder } from "../disk/folders.ts";
import { type Database, oneAtATime, type Session } from "./database.ts";
import { acquireLock, readLockHolder } from "./lock.ts";
import { refuseVersion, SCHEMA_VERSION, type Types, tables } from "./schema.ts";
import { isRows, raw, type Sql, sql } from "./sql.ts";
import { isConflict, isUnableToWrite, lackOf, storageFailure, storageFailureOf, taken } from "./sqlite-failures.ts";
import {
  bytesOf,
  checkPages,
  fillBallast,
  LOCKED_MS,
  logOf,
  refuseEmptied,
  refuseNetworkFileSystem,
  refuseOtherLog,
  releaseBallast,
  unchanging,
} from "./sqlite-file.ts";

export const SQLITE_TYPES: Types = {
  ...{ int: "INTEGER", text: "TEXT", key: "TEXT", bytes: "BLOB", id: "INTEGER PRIMARY KEY" },
  ...{ table: " STRICT", keyed: " STRICT, WITHOUT ROWID" },
  hex: (bytes) => `lower(hex(${bytes}))`,
};

/** Each commit is on disk when it returns. What goes from the log into the file, and when, is for `logOf` to say. */
const SETTINGS =
  "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0; PRAGMA journal_size_limit = 67108864; PRAGMA cache_size = -32000;";

/** Rows of a statement that inserts: more of them gain nothing. */
const ROWS_AT_ONCE = 100;

/**
 * @returns undefined where there is no ledger, or one without tables, and it is to be read only.
 * @throws Failure `usage` on a network file system or for tables of another version, `storage` where the file is damaged or can't
 * be opened.
 */
export function openSqlite(path: string, isToRead: boolean): Database | undefined {
  const isThere = existsSync(path);
  if (!isThere && isToRead) return undefined;
  let file: DatabaseSync;
  try {
    if (!isToRead) makeFolder(dirname(path), { mode: 0o700 });
    refuseNetworkFileSystem(path);
    // SQLite would make it readable for all; its companions take the mode of the file itself.
    if (!isThere) closeSync(openSync(path, "a", 0o600));
    if (statSync(path).isDirectory()) throw storageFailureOf("aFolder", path);
    if (isThere) refuseEmptied(path);
    if (isThere) refuseOtherLog(path);
    file = isToRead ? openToRead(path) : new DatabaseSync(path, { timeout: LOCKED_MS });
  } catch (cause) {
    throw storageFailure(path, cause);
  }
  try {
    if (!hasTables(file, path, isToRead)) {
      file.close();
      return undefined;
    }
    if (isThere) checkPages(file, path);
    if (!isToRead) fillBallast(path);
    return toDatabase(file, path);
  } catch (cause) {
    file.close();
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

function toDatabase(file: DatabaseSync, path: string): Database {
  let exhausted: Database["exhausted"];
  let isOpen = true;
  const session = toSession(file);
  const log = logOf(file, path);
  const inOrder = oneAtATime();
  const asked = <T>(work: () => T | Promise<T>): Promise<T> =>
    inOrder(async () => {
      try {
        return await work();
      } catch (cause) {
        throw isConflict(cause) ? taken(cause) : storageFailure(path, cause);
      }
    });
  /** Between `BEGIN` and its end. */
  const within = async <T>(begin: string, work: (session: Session) => Promise<T>): Promise<T> => {
    file.exec(begin);
    try {
      const result = await work(session);
      file.exec("COMMIT");
      return result;
    } catch (cause) {
      if (file.isTransaction) file.exec("ROLLBACK");
      throw cause;
    }
  };
  const write = async <T>(work: (session: Session) => Promise<T>): Promise<T> => {
    log.ready();
    const result = await within("BEGIN IMMEDIATE", work);
    log.written();
    return result;
  };
  return {
    kind: "sqlite",
    place: path,
    get exhausted() {
      return exhausted;
    },
    dialect: {
      now: raw("CAST(unixepoch('subsec') * 1000 AS INTEGER)"),
      indexOf: (column, bytes) => sql`instr(${raw(column)}, ${bytes})`,
      forUpdate: raw(""),
    },
    plain: { all: (statement) => asked(() => session.all(statement)) },
    read: (work) => asked(() => within("BEGIN", work)),
    write: (work, how) =>
      asked(async () => {
        try {
          return await write(work);
        } catch (cause) {
          const lack = lackOf(cause);
          if (lack === undefined || exhausted !== undefined || how === "once") throw cause;
          exhausted = lack;
          releaseBallast(path);
          return await write(work);
        }
      }),
    /** Nobody else sends. */
    wake: async () => undefined,
    lock: (options) => acquireLock(lockOf(path, options.name), options),
    holder: async (name) => readLockHolder(lockOf(path, name)),
    bytes: async () => bytesOf(path) + bytesOf(`${path}-wal`),
    giveBack: () => asked(() => log.giveBack()),
    async [Symbol.asyncDispose]() {
      if (!isOpen) return;
      isOpen = false;
      await inOrder(async () => file.close());
    },
  };
}

/** Beside the ledger, so that whoever names the file another way finds the same lock. */
const lockOf = (path: string, name: string): string => join(dirname(path), `${name.replaceAll(/[^\w.-]/g, "_")}.lock`);

function toSession(file: DatabaseSync): Session {
  const statements = new Map<string, StatementSync>();
  const prepared = (text: string): StatementSync => {
    let statement = statements.get(text);
    if (statement === undefined) {
      statement = file.prepare(text);
      statements.set(text, statement);
    }
    return statement;
  };
  return {
    async all<T extends object>(statement: Sql) {
      const { text, values } = rendered(statement);
      return prepared(text).all(...values) as T[]; // see Session
    },
    async run(statement) {
      const { text, values } = rendered(statement);
      return Number(prepared(text).run(...values).changes);
    },
    async insert({ name, columns }, rows, onConflict = "") {
      const names = Object.keys(columns);
      const row = `(${names.map(() => "?").join(", ")})`;
      let changes = 0;
      for (let from = 0; from < rows.length; from += ROWS_AT_ONCE) {
        const some = rows.slice(from, from + ROWS_AT_ONCE);
        const text = `INSERT INTO ${name} (${names.join(", ")}) VALUES ${some.map(() => row).join(", ")} ${onConflict}`;
        changes += Number(prepared(text).run(...some.flat()).changes);
      }
      return changes;
    },
  };
}

function rendered({ texts, values }: Sql): { readonly text: string; readonly values: SQLInputValue[] } {
  let text = texts[0] ?? "";
  const bound = values.map((value, at) => {
    text += `${placeOf(value)}${texts[at + 1] ?? ""}`;
    return isRows(value) ? JSON.stringify(value.rows) : value;
  });
  return { text, values: bound };
}

/** Rows are a JSON array of arrays. */
const placeOf = (value: Sql["values"][number]): string =>
  isRows(value)
    ? `(SELECT ${Object.keys(value.columns)
        .map((name, at) => `value ->> ${at} AS ${name}`)
        .join(", ")} FROM json_each(?))`
    : "?";

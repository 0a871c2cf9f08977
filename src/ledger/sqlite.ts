/** A ledger in a file: SQLite through node:sqlite. */

import { closeSync, existsSync, fsyncSync, openSync, rmSync, statfsSync, statSync, writeSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { makeFolder } from "../disk/folders.ts";
import { Failure } from "../failure.ts";
import { type Database, oneAtATime, type Session } from "./database.ts";
import { acquireLock, readLockHolder } from "./lock.ts";
import { refuseVersion, SCHEMA_VERSION, type Types, tables } from "./schema.ts";
import { isRows, raw, type Sql, sql } from "./sql.ts";
import {
  damaged,
  folderInPlace,
  isConflict,
  isUnableToWrite,
  lackOf,
  storageFailure,
  taken,
} from "./sqlite-failures.ts";

export const SQLITE_TYPES: Types = {
  ...{ int: "INTEGER", text: "TEXT", key: "TEXT", bytes: "BLOB", id: "INTEGER PRIMARY KEY" },
  ...{ table: " STRICT", keyed: " STRICT, WITHOUT ROWID" },
  hex: (bytes) => `lower(hex(${bytes}))`,
};

/** How long to wait for another writer. */
const LOCKED_MS = 60_000;

/** Each commit is on disk when it returns. What goes from the log into the file, and when, is for `beginLog` to say. */
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
    if (statSync(path).isDirectory()) throw folderInPlace(path);
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
    const log = statSync(`${path}-wal`, { throwIfNoEntry: false });
    if (!isUnableToWrite(cause) || (log !== undefined && log.size > 0)) throw cause;
    return new DatabaseSync(unchanging(path), { readOnly: true });
  }
}

/** A ledger that has lost all its bytes looks like a new one, and everything would be sent again. */
function refuseEmptied(path: string): void {
  if (statSync(path).size === 0 && existsSync(ballastOf(path))) throw damaged(path, "it is empty");
}

const logBytes = (path: string): number => statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;

/** A log that grew beyond this goes into the file. */
const LOG_BYTES = 16 * 1024 * 1024;

/**
 * Each log has a number. It is in the head of the file before the log begins with it, so that a log which belongs to another
 * file, one that was put back from a copy, is noticed: SQLite would take pages of both.
 */
function numberOfLog(file: DatabaseSync): number {
  return Number(file.prepare("SELECT value FROM meta WHERE name = 'log'").get()?.value ?? 0);
}

const numberIn = (file: DatabaseSync): number => Number(file.prepare("PRAGMA user_version").get()?.user_version);

/** As the file alone has it. */
function numberInFile(path: string): number {
  const alone = new DatabaseSync(unchanging(path), { readOnly: true });
  try {
    return numberIn(alone);
  } finally {
    alone.close();
  }
}

function unchanging(path: string): URL {
  const url = pathToFileURL(path);
  url.searchParams.set("immutable", "1");
  return url;
}

/** Looks without a right to write: closed, it would bring into the file what is in the log. */
function refuseOtherLog(path: string): void {
  if (logBytes(path) === 0) return;
  let [log, own] = [0, 0];
  try {
    const file = new DatabaseSync(path, { readOnly: true, timeout: LOCKED_MS });
    try {
      log = numberOfLog(file);
      own = numberInFile(path);
    } finally {
      file.close();
    }
  } catch {
    // What else is wrong with it is told by who opens it.
    return;
  }
  // A process that was killed as it began a log has put the next number into the file already.
  if (log === 0 || own === log || own === log + 1) return;
  throw new Failure(
    "storage",
    `The ledger ${path} and its log ${basename(path)}-wal don't belong together: one of them was put back from a copy. Nothing was sent.`,
    {
      hint: "Put back both as they were; or move the log away, and what the ledger then lacks is told before anything is sent.",
    },
  );
}

/** A log that others began, or that a killed process left, goes on. */
function isLogBegun(file: DatabaseSync, path: string): boolean {
  const log = numberOfLog(file);
  return logBytes(path) > 0 && log > 0 && log === numberIn(file);
}

/** What is in the log goes into the file, and the next log begins. Where a reader still needs the old one, that goes on. */
function beginLog(file: DatabaseSync): void {
  const next = numberOfLog(file) + 1;
  file.exec(`PRAGMA user_version = ${next}`);
  const done = file.prepare("PRAGMA wal_checkpoint(PASSIVE)").get();
  if (done?.log !== done?.checkpointed) return;
  file
    .prepare("INSERT INTO meta (name, value) VALUES ('log', ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value")
    .run(String(next));
}

/** Beyond this size the check takes seconds; then SQLite's own checks while reading must do. */
const CHECKED_BYTES = 64 * 1024 * 1024;

/** Finds a damaged file before anything is decided by it. */
function checkPages(file: DatabaseSync, path: string): void {
  if (statSync(path).size > CHECKED_BYTES) return;
  const result = String(file.prepare("PRAGMA quick_check(1)").get()?.quick_check);
  if (result !== "ok") throw damaged(path, result);
}

/** Magic numbers of network file systems in `statfs` (linux/magic.h): SQLite's locks and log are not safe on them. */
const NETWORK_FILE_SYSTEMS = new Map([
  [0x6969, "NFS"],
  [0x517b, "SMB"],
  [0xff534d42, "CIFS"],
  [0xfe534d42, "SMB2"],
  [0x00c36400, "Ceph"],
  [0x01021997, "9P"],
  [0x5346414f, "AFS"],
  [0x6b414653, "AFS"],
  [0x0bd00bd0, "Lustre"],
  [0x19830326, "BeeGFS"],
  [0x47504653, "GPFS"],
  [0x01161970, "GFS2"],
  [0x7461636f, "OCFS2"],
  [0x73757245, "Coda"],
]);

/** @param type of the file system, as `statfs` numbers it. */
export function refuseNetworkFileSystem(path: string, type = statfsSync(dirname(path)).type): void {
  const name = NETWORK_FILE_SYSTEMS.get(type);
  if (name === undefined) return;
  throw new Failure(
    "usage",
    `${dirname(path)} is on a network file system (${name}), where a ledger is not safe. Nothing was sent.`,
    { hint: "Choose a local folder with --state-dir." },
  );
}

/** A file beside the ledger that makes room for a known answer when the disk is full. */
export const BALLAST_BYTES = 32 * 1024 * 1024;

const ballastOf = (path: string): string => join(dirname(path), "ballast");

function fillBallast(path: string): void {
  const ballast = ballastOf(path);
  if (existsSync(ballast) && statSync(ballast).size === BALLAST_BYTES) return;
  const file = openSync(ballast, "w", 0o600);
  try {
    // Written out rather than set as a length: a sparse file would hold no room.
    const block = Buffer.alloc(1024 * 1024);
    for (let at = 0; at < BALLAST_BYTES; at += block.length) writeSync(file, block);
    fsyncSync(file);
  } catch (cause) {
    rmSync(ballast, { force: true });
    throw cause;
  } finally {
    closeSync(file);
  }
}

function toDatabase(file: DatabaseSync, path: string): Database {
  let exhausted: Database["exhausted"];
  let isOpen = true;
  let hasLog = false;
  const session = toSession(file);
  const inOrder = oneAtATime();
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
  const told = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (cause) {
      throw isConflict(cause) ? taken(cause) : storageFailure(path, cause);
    }
  };
  const write = async <T>(work: (session: Session) => Promise<T>): Promise<T> => {
    if (!hasLog && !isLogBegun(file, path)) beginLog(file);
    hasLog = true;
    const result = await within("BEGIN IMMEDIATE", work);
    if (logBytes(path) > LOG_BYTES) {
      try {
        beginLog(file);
      } catch {
        // It is tried again after the next write; what was written is in the log.
      }
    }
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
    plain: { all: (statement) => inOrder(() => told(() => session.all(statement))) },
    read: (work) => inOrder(() => told(() => within("BEGIN", work))),
    write: (work, how) =>
      inOrder(() =>
        told(async () => {
          try {
            return await write(work);
          } catch (cause) {
            const lack = lackOf(cause);
            if (lack === undefined || exhausted !== undefined || how === "once") throw cause;
            exhausted = lack;
            rmSync(ballastOf(path), { force: true });
            return await write(work);
          }
        }),
      ),
    lock: (options) => acquireLock(lockOf(path, options.name), options),
    holder: async (name) => readLockHolder(lockOf(path, name)),
    bytes: async () =>
      ["", "-wal"].reduce((sum, end) => sum + (statSync(`${path}${end}`, { throwIfNoEntry: false })?.size ?? 0), 0),
    giveBack: () =>
      inOrder(() =>
        told(async () => {
          hasLog = false;
          file.exec("PRAGMA incremental_vacuum; PRAGMA wal_checkpoint(TRUNCATE)");
        }),
      ),
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

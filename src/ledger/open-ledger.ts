/**
 * Opening a ledger: creating it, and refusing one that is damaged, of another form, of another service or in an unsafe place.
 */

import { closeSync, existsSync, fsyncSync, openSync, rmSync, statfsSync, statSync, writeSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { makeFolder } from "../disk/folders.ts";
import { errorCode, Failure, firstThrown } from "../failure.ts";
import { bind } from "./bound.ts";
import { damaged } from "./damaged.ts";
import { type Ledger, runListPath } from "./ledger.ts";
import { createTables, refuseOtherForm } from "./schema.ts";

/** Magic numbers of network file systems in `statfs` (linux/magic.h): SQLite's locks and WAL are not safe on them. */
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

/**
 * Opens the ledger at `path`, creating it and its folder where they are missing (unless `readOnly`).
 *
 * `boundTo` is what the ledger belongs to: the environment's base URL, or the sandbox's instance id. A ledger that belongs to
 * something else is refused, since what one service has accepted says nothing about another. Undefined: not compared, for
 * reading only.
 *
 * @throws Failure `usage` when it has an earlier form, belongs to another service or lies on a network file system, `storage` when
 * it is damaged, made by a newer version, or can't be opened.
 */
export function openLedger({
  path,
  boundTo,
  readOnly = false,
}: {
  readonly path: string;
  readonly boundTo: string | undefined;
  readonly readOnly?: boolean;
}): Ledger {
  const isNew = !existsSync(path);
  if (isNew && readOnly) throw new Failure("storage", `There is no ledger at ${path}.`);
  let database: DatabaseSync;
  try {
    if (!readOnly) makeFolder(dirname(path), { mode: 0o700 });
    refuseNetworkFileSystem(path);
    // SQLite would make it readable for all; its companions take the mode of the file itself.
    if (isNew) closeSync(openSync(path, "a", 0o600));
    if (!isNew && statSync(path).isDirectory()) throw folderInPlace(path);
    if (!isNew) refuseEmptied(path);
    database = readOnly ? openToRead(path) : new DatabaseSync(path, { timeout: LOCKED_MS });
  } catch (cause) {
    throw storageFailure(path, cause);
  }
  try {
    const version = versionOf(database);
    refuseOtherForm(path, version);
    if (version === 0 && database.prepare("SELECT 1 FROM sqlite_schema LIMIT 1").get() !== undefined)
      throw damaged(path, "it is the database of another program");
    // Only now, since the first of them changes the file.
    if (!readOnly) database.exec(`PRAGMA journal_mode = WAL; ${SETTINGS}`);
    if (!isNew) checkIntegrity(database, path);
    const ledger = wrap(database, path);
    if (!readOnly && version === 0)
      ledger.transaction(() => {
        // Another command may have done it meanwhile.
        if (versionOf(database) === 0) createTables(database);
      });
    if (!readOnly) fillBallast(path);
    if (boundTo !== undefined) bind(ledger, boundTo, readOnly);
    return ledger;
  } catch (cause) {
    database.close();
    throw storageFailure(path, cause);
  }
}

const versionOf = (database: DatabaseSync): number =>
  Number(database.prepare("PRAGMA user_version").get()?.user_version);

/** After a commit its change is on disk, and what a checkpoint moves is there before its place in the log is used again. */
const DURABLE = "PRAGMA synchronous = FULL; PRAGMA fullfsync = ON;";

/** Each connection's own settings. */
const SETTINGS = `${DURABLE} PRAGMA foreign_keys = ON; PRAGMA cache_size = -8000;`;

/** How long to wait for another writer. */
const LOCKED_MS = 60_000;

/**
 * Opens a ledger read-only. Even then SQLite writes files beside it. Where it can't, on a disk that is full or read-only,
 * nobody else can write either, and without a write-ahead log the file alone is complete.
 */
function openToRead(path: string): DatabaseSync {
  const database = new DatabaseSync(path, { readOnly: true, timeout: LOCKED_MS });
  try {
    database.prepare("SELECT count(*) FROM sqlite_schema").get();
    return database;
  } catch (cause) {
    database.close();
    const log = statSync(`${path}-wal`, { throwIfNoEntry: false });
    if (!isUnableToWrite(cause) || (log !== undefined && log.size > 0)) throw cause;
    const unchanging = pathToFileURL(path);
    unchanging.searchParams.set("immutable", "1");
    return new DatabaseSync(unchanging, { readOnly: true });
  }
}

function isUnableToWrite(cause: unknown): boolean {
  return ["full", "can't open", "read-only"].includes(sqliteErrorKind(cause) ?? "");
}

/** A ledger that has lost all its bytes looks like a new one, and everything would be sent again. */
function refuseEmptied(path: string): void {
  if (statSync(path).size > 0) return;
  if (existsSync(ballastPath(path)) || existsSync(runListPath(path))) throw damaged(path, "it is empty");
}

function folderInPlace(path: string, cause?: unknown): Failure {
  return new Failure("storage", `${path} is a folder, where a file has to be.`, {
    hint: "Look what is in it. If it is nothing of yours, move it away; if the file was there before, restore that from a backup.",
    cause,
  });
}

/** A file beside the ledger that makes room for a known answer when the disk is full. */
export const BALLAST_BYTES = 32 * 1024 * 1024;

const ballastPath = (path: string): string => join(dirname(path), "ballast");

function fillBallast(path: string): void {
  const ballast = ballastPath(path);
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

/** A database as what this folder works with. */
export function wrap(database: DatabaseSync, path: string): Ledger {
  let exhaustedBy: Ledger["exhaustedBy"];
  const statements = new Map<string, StatementSync>();
  const prepared = (sql: string): StatementSync => {
    let statement = statements.get(sql);
    if (statement === undefined) {
      if (/\?\d/.test(sql)) throw new Error(`the lowest Node binds no numbered parameters: ${sql}`);
      statement = database.prepare(sql);
      statements.set(sql, statement);
    }
    return statement;
  };
  const guarded = <T>(work: () => T): T => {
    try {
      return work();
    } catch (cause) {
      throw storageFailure(path, cause);
    }
  };
  return {
    kind: "sqlite",
    path,
    run: (sql, ...values) => guarded(() => Number(prepared(sql).run(...values).changes)),
    get: (sql, ...values) => guarded(() => prepared(sql).get(...values)),
    all: (sql, ...values) => guarded(() => prepared(sql).all(...values)),
    *iterate(sql, ...values) {
      // Each step reads, and may find the file damaged.
      try {
        yield* prepared(sql).iterate(...values);
      } catch (cause) {
        throw storageFailure(path, cause);
      }
    },
    hasTable: (name) =>
      guarded(() => prepared("SELECT 1 AS one FROM sqlite_schema WHERE name = ?").get(name) !== undefined),
    get exhaustedBy() {
      return exhaustedBy;
    },
    transaction: (change) =>
      guarded(() => {
        try {
          return inTransaction(database, change);
        } catch (cause) {
          if (exhaustedBy !== undefined || !mayLackRoom(cause)) throw cause;
          exhaustedBy = isDiskFull(cause) ? "a full disk" : "a failed write";
          rmSync(ballastPath(path), { force: true });
          return inTransaction(database, change);
        }
      }),
    async snapshot(look) {
      guarded(() => database.exec("BEGIN"));
      try {
        return await look();
      } finally {
        guarded(() => database.exec("ROLLBACK"));
      }
    },
    [Symbol.dispose]: () => database.close(),
  };
}

function inTransaction<T>(database: DatabaseSync, change: () => T): T {
  database.exec("BEGIN IMMEDIATE");
  try {
    const result = change();
    database.exec("COMMIT");
    return result;
  } catch (cause) {
    if (database.isTransaction) database.exec("ROLLBACK");
    throw cause;
  }
}

/** Beyond this size the page check takes seconds; then SQLite's own checks while reading must do. */
const CHECKED_BYTES = 64 * 1024 * 1024;

/** SQLite's page check finds a damaged file before anything is decided by it. */
function checkIntegrity(database: DatabaseSync, path: string): void {
  if (statSync(path).size > CHECKED_BYTES) return;
  const result = String(database.prepare("PRAGMA quick_check(1)").get()?.quick_check);
  if (result !== "ok") throw damaged(path, result);
}

/** @param type of the file system, as `statfs` numbers it. */
export function refuseNetworkFileSystem(path: string, type = statfsSync(dirname(path)).type): void {
  const name = NETWORK_FILE_SYSTEMS.get(type);
  if (name !== undefined) {
    throw new Failure(
      "usage",
      `${dirname(path)} is on a network file system (${name}), where a ledger is not safe. Nothing was sent.`,
      { hint: "Choose a local folder with --state-dir." },
    );
  }
}

/** Whether an error of SQLite or the file system says that there is no room. */
export function isDiskFull(cause: unknown): boolean {
  const inner = innerOf(cause);
  return sqliteErrorKind(inner) === "full" || ["ENOSPC", "EDQUOT", "EFBIG"].includes(errorCode(inner) ?? "");
}

/** The same, or that a write failed: SQLite does not say why, and a quota that is used up is such, too. */
const mayLackRoom = (cause: unknown): boolean =>
  isDiskFull(cause) || FAILED_WRITES.has(sqliteErrorCode(innerOf(cause)));

/** What a failure was made of. */
const innerOf = (cause: unknown): unknown =>
  cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause;

/** What helps where a folder of the state can't be written, and where one that the command line or a run names can't. */
const OTHER_STATE = "or choose another with --state-dir";
export const SAME_AGAIN = "then run the same command again";

/**
 * Turns an error of SQLite or the file system into a failure with exit code 10; other failures pass.
 *
 * @param otherwise what else than giving the folder other permissions helps.
 */
export function storageFailure(path: string, thrown: unknown, otherwise = OTHER_STATE): unknown {
  const cause = firstThrown(thrown);
  if (cause instanceof Failure || !(cause instanceof Error)) return cause;
  const code = errorCode(cause) ?? "";
  const kind = sqliteErrorKind(cause);
  const { message } = cause;
  if (isDiskFull(cause)) {
    return new Failure("storage", `The disk is full: ${path} can't be written.`, {
      hint: "Make room, then run the same command again.",
      cause,
    });
  }
  if (code === "ENOENT" && "syscall" in cause && cause.syscall === "mkdir") {
    // Node says this when it creates several folders on a file system that takes none.
    return new Failure("storage", `The folder ${dirname(path)} can't be created.`, {
      hint: `Check the folder above it (its owner, its permissions, and whether its file system is read-only), ${otherwise}.`,
      cause,
    });
  }
  if (kind === "read-only" || ["EROFS", "EACCES", "EPERM"].includes(code)) {
    // SQLite gives the files beside it the permissions that it finds on the ledger.
    const files = kind === "read-only" ? `, ${basename(path)} and what stands beside it (-wal, -shm)` : "";
    return new Failure("storage", `${path} can't be written (${message}).`, {
      hint: `Check the owner and permissions of the folder${files}, ${otherwise}.`,
      cause,
    });
  }
  if (kind === "damaged") return damaged(path, message, cause);
  if (kind === "failed" && FAILED_WRITES.has(sqliteErrorCode(cause)))
    return new Failure("storage", `${path} can't be written (${message}).`, {
      hint: "Check the disk that holds it, and a quota on it, then run the same command again.",
      cause,
    });
  if (code === "EISDIR") return folderInPlace(path, cause);
  if (code === "ENOTDIR")
    return new Failure("storage", `${fileAbove(path)} can't be a folder: a file of that name is in the way.`, {
      hint: `Move the file away, ${otherwise}.`,
      cause,
    });
  if (code.startsWith("ERR_SQLITE") || /^E[A-Z0-9]+$/.test(code)) {
    return new Failure("storage", `${path}: ${message}`, {
      hint: "Check the disk that holds it, then run the same command again.",
      cause,
    });
  }
  return cause;
}

/** The file that stands where a folder of this path must be. */
function fileAbove(path: string): string {
  const above = dirname(path);
  return existsSync(above) || above === path ? above : fileAbove(above);
}

type SqliteErrorKind = "locked" | "read-only" | "failed" | "full" | "can't open" | "damaged";

/** By SQLite's result codes (sqlite.org/rescode.html), without what extends them where that says nothing more here. */
const KINDS: ReadonlyMap<number, SqliteErrorKind> = new Map([
  [5, "locked"], // SQLITE_BUSY
  [6, "locked"],
  [8, "read-only"],
  [10, "failed"], // SQLITE_IOERR
  [4874, "full"], // SQLITE_IOERR_SHMSIZE: the file can't grow
  [11, "damaged"], // SQLITE_CORRUPT
  [13, "full"],
  [14, "can't open"],
  [26, "damaged"], // SQLITE_NOTADB
]);

/** SQLITE_IOERR_WRITE, _FSYNC, _DIR_FSYNC and _TRUNCATE. */
const FAILED_WRITES: ReadonlySet<number> = new Set([778, 1034, 1290, 1546]);

/** Undefined for what is no error of SQLite, or another one. */
export function sqliteErrorKind(cause: unknown): SqliteErrorKind | undefined {
  const code = sqliteErrorCode(cause);
  return KINDS.get(code) ?? KINDS.get(code & 0xff);
}

/** With what extends it; not a number for what is no error of SQLite. */
const sqliteErrorCode = (cause: unknown): number =>
  cause instanceof Error && "errcode" in cause ? Number(cause.errcode) : Number.NaN;

/** What SQLite and the file system say, as failures of the ledger. */

import { basename, dirname } from "node:path";
import { cleanText } from "../../src/actions/text.ts";
import { errorCode, Failure, firstThrown } from "../../src/failure.ts";

/** A failure with exit code 10. */
export function damaged(place: string, why: string, cause?: unknown): Failure {
  return new Failure("storage", `The ledger ${place} is damaged: ${cleanText(why, 200)}. Nothing more was sent.`, {
    hint: "Restore it from a backup; or move it away and fill a new one from the promises files: tickets results --import FILES",
    cause,
  });
}

export function folderInPlace(path: string, cause?: unknown): Failure {
  return new Failure("storage", `${path} is a folder, where a file has to be.`, {
    hint: "Look what is in it. If it is nothing of yours, move it away; if the file was there before, restore that from a backup.",
    cause,
  });
}

/** Another run entered the same action first. */
export const taken = (cause: unknown): Failure =>
  new Failure("busy", "Another run entered some of these actions meanwhile. Nothing was sent.", {
    hint: "Run the same command again: it looks at what is known by then.",
    cause,
  });

/** Whether an error of SQLite or the file system says that there is no room. */
const isDiskFull = (cause: unknown): boolean =>
  kindOf(cause) === "full" || ["ENOSPC", "EDQUOT", "EFBIG"].includes(errorCode(cause) ?? "");

/** Of which the ballast may help: SQLite does not say why a write failed, and a quota that is used up is such, too. */
export function lackOf(cause: unknown): "a full disk" | "a failed write" | undefined {
  if (isDiskFull(cause)) return "a full disk";
  return FAILED_WRITES.has(codeOf(cause)) ? "a failed write" : undefined;
}

export const isUnableToWrite = (cause: unknown): boolean =>
  ["full", "can't open", "read-only"].includes(kindOf(cause) ?? "");

export const isDamaged = (cause: unknown): boolean => kindOf(cause) === "damaged";
export const isLocked = (cause: unknown): boolean => kindOf(cause) === "locked";

/** A key that is there: SQLITE_CONSTRAINT_PRIMARYKEY, _UNIQUE, _ROWID. */
export const isConflict = (cause: unknown): boolean => [1555, 2067, 2579].includes(codeOf(cause));

const OTHER_STATE = "or choose another with --state-dir";

/** An error of SQLite or the file system as a failure with exit code 10; others pass. */
export function storageFailure(path: string, thrown: unknown): unknown {
  const cause = firstThrown(thrown);
  if (cause instanceof Failure || !(cause instanceof Error)) return cause;
  const code = errorCode(cause) ?? "";
  const kind = kindOf(cause);
  const { message } = cause;
  const failure = (what: string, hint: string): Failure => new Failure("storage", what, { hint, cause });
  if (isDiskFull(cause))
    return failure(`The disk is full: ${path} can't be written.`, "Make room, then run the same command again.");
  if (kind === "read-only" || ["EROFS", "EACCES", "EPERM"].includes(code)) {
    // SQLite gives the files beside it the permissions that it finds on the ledger.
    const files = kind === "read-only" ? `, ${basename(path)} and what stands beside it (-wal, -shm)` : "";
    return failure(
      `${path} can't be written (${message}).`,
      `Check the owner and permissions of the folder${files}, ${OTHER_STATE}.`,
    );
  }
  if (kind === "damaged") return damaged(path, message, cause);
  if (FAILED_WRITES.has(codeOf(cause)))
    return failure(
      `${path} can't be written (${message}).`,
      "Check the disk that holds it, and a quota on it, then run the same command again.",
    );
  if (code === "EISDIR") return folderInPlace(path, cause);
  if (code === "ENOTDIR")
    return failure(
      `${dirname(path)} can't be a folder: a file of that name is in the way.`,
      `Move the file away, ${OTHER_STATE}.`,
    );
  if (code.startsWith("ERR_SQLITE") || /^E[A-Z0-9]+$/.test(code))
    return failure(`${path}: ${message}`, "Check the disk that holds it, then run the same command again.");
  return cause;
}

type Kind = "locked" | "read-only" | "full" | "can't open" | "damaged";

/** By SQLite's result codes (sqlite.org/rescode.html), without what extends them where that says nothing more here. */
const KINDS: ReadonlyMap<number, Kind> = new Map([
  [5, "locked"], // SQLITE_BUSY
  [6, "locked"],
  [8, "read-only"],
  [4874, "full"], // SQLITE_IOERR_SHMSIZE: the file can't grow
  [11, "damaged"], // SQLITE_CORRUPT
  [13, "full"],
  [14, "can't open"],
  [26, "damaged"], // SQLITE_NOTADB
]);

/** SQLITE_IOERR_WRITE, _FSYNC, _DIR_FSYNC and _TRUNCATE. */
const FAILED_WRITES: ReadonlySet<number> = new Set([778, 1034, 1290, 1546]);

const kindOf = (cause: unknown): Kind | undefined => KINDS.get(codeOf(cause)) ?? KINDS.get(codeOf(cause) & 0xff);

/** With what extends it; not a number for what is no error of SQLite. */
const codeOf = (cause: unknown): number =>
  cause instanceof Error && "errcode" in cause ? Number(cause.errcode) : Number.NaN;

/** What SQLite and the file system say, as failures of the ledger. */

import { errorCode, Failure, firstThrown } from "../failure.ts";
import { cleanText } from "../text.ts";

interface Words {
  /** Of the system, or of SQLite (sqlite.org/rescode.html): the primary code where the extended one says nothing more. */
  readonly codes: readonly (string | number)[];
  readonly what: (path: string, why: string) => string;
  readonly hint: string;
}

const WORDS = {
  full: {
    codes: ["ENOSPC", "EDQUOT", "EFBIG", 13, 4874], // SQLITE_FULL, SQLITE_IOERR_SHMSIZE: the file can't grow
    what: (path) => `The disk is full: ${path} can't be written.`,
    hint: "Make room, then run the same command again.",
  },
  failedWrite: {
    codes: [778, 1034, 1290, 1546], // SQLITE_IOERR_WRITE, _FSYNC, _DIR_FSYNC, _TRUNCATE
    what: (path, why) => `${path} can't be written (${why}).`,
    hint: "Check the disk that holds it, and a quota on it, then run the same command again.",
  },
  readOnly: {
    codes: ["EROFS", "EACCES", "EPERM", 8], // SQLITE_READONLY
    what: (path, why) => `${path} can't be written (${why}).`,
    hint: "Check the owner and permissions of its folder and of the files there, or choose another with TICKETS_STATE_DIR.",
  },
  damaged: {
    codes: [11, 26], // SQLITE_CORRUPT, SQLITE_NOTADB
    what: (path, why) => `The ledger ${path} is damaged: ${cleanText(why, 200)}. Nothing more was sent.`,
    hint: "Restore it from a backup; or move it away and fill a new one from the promises files: tickets results --import FILES",
  },
  aFolder: {
    codes: ["EISDIR"],
    what: (path) => `${path} is a folder, where a file has to be.`,
    hint: "Look what is in it. If it is nothing of yours, move it away; if the file was there before, restore that from a backup.",
  },
  locked: {
    codes: [5, 6], // SQLITE_BUSY, SQLITE_LOCKED
    what: (path, why) => `${path}: ${why}`,
    hint: "Wait until no other command uses it, then run the same command again.",
  },
  other: {
    codes: [],
    what: (path, why) => `${path}: ${why}`,
    hint: "Check the disk that holds it, then run the same command again.",
  },
} as const satisfies Record<string, Words>;

type Kind = keyof typeof WORDS;
const KINDS = new Map(Object.entries<Words>(WORDS).flatMap(([kind, { codes }]) => codes.map((code) => [code, kind])));

/** A failure with exit code 10. */
export const storageFailureOf = (kind: Kind, path: string, why = "", cause?: unknown): Failure =>
  new Failure("storage", WORDS[kind].what(path, why), { hint: WORDS[kind].hint, cause });

/** An error of SQLite or the file system as a failure with exit code 10; others pass. */
export function storageFailure(path: string, thrown: unknown): unknown {
  const cause = firstThrown(thrown);
  if (cause instanceof Failure || !(cause instanceof Error)) return cause;
  const isKnown = /^(?:ERR_SQLITE.*|E[A-Z0-9]+)$/.test(errorCode(cause) ?? "");
  return isKnown ? storageFailureOf(kindOf(cause), path, cause.message, cause) : cause;
}

/** Another run entered the same action first. */
export const taken = (cause: unknown): Failure =>
  new Failure("busy", "Another run entered some of these actions meanwhile.", {
    nothingSent: true,
    hint: "Run the same command again: it looks at what is known by then.",
    cause,
  });

/** Of which the ballast may help: SQLite does not say why a write failed, and a quota that is used up is such, too. */
export function lackOf(cause: unknown): "a full disk" | "a failed write" | undefined {
  const kind = kindOf(cause);
  if (kind === "full") return "a full disk";
  return kind === "failedWrite" ? "a failed write" : undefined;
}

/** 14: SQLITE_CANTOPEN */
export const isUnableToWrite = (cause: unknown): boolean =>
  ["full", "readOnly"].includes(kindOf(cause)) || (codeOf(cause) & 0xff) === 14;
export const isDamaged = (cause: unknown): boolean => kindOf(cause) === "damaged";
export const isLocked = (cause: unknown): boolean => kindOf(cause) === "locked";
/** A key that is there: SQLITE_CONSTRAINT_PRIMARYKEY, _UNIQUE, _ROWID. */
export const isConflict = (cause: unknown): boolean => [1555, 2067, 2579].includes(codeOf(cause));

function kindOf(cause: unknown): Kind {
  const code = codeOf(cause);
  const kind = KINDS.get(code) ?? KINDS.get(code & 0xff) ?? KINDS.get(errorCode(cause) ?? "");
  return (kind ?? "other") as Kind; // its keys
}

/** With what extends it; not a number for what is no error of SQLite. */
const codeOf = (cause: unknown): number =>
  cause instanceof Error && "errcode" in cause ? Number(cause.errcode) : Number.NaN;

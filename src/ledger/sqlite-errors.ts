/** What SQLite says went wrong, by its primary result codes (sqlite.org/rescode.html), whatever the words. */

const KINDS: ReadonlyMap<number, "locked" | "read-only" | "full" | "can't open" | "damaged"> = new Map([
  [5, "locked"], // SQLITE_BUSY
  [6, "locked"],
  [8, "read-only"],
  [10, "full"], // SQLITE_IOERR: a disk that takes no more, as far as SQLite knows
  [11, "damaged"], // SQLITE_CORRUPT
  [13, "full"],
  [14, "can't open"],
  [26, "damaged"], // SQLITE_NOTADB
]);

/** Undefined for what is no error of SQLite, or another one. */
export function sqliteErrorKind(
  cause: unknown,
): "locked" | "read-only" | "full" | "can't open" | "damaged" | undefined {
  const code = cause instanceof Error && "errcode" in cause ? Number(cause.errcode) : Number.NaN;
  return KINDS.get(code & 0xff); // without what extends it
}

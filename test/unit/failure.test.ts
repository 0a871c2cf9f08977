import { expect, test } from "vitest";
import { firstThrown } from "../../src/failure.ts";
import { storageFailure } from "../../src/ledger/sqlite-failures.ts";

const full = Object.assign(new Error("ENOSPC: no space left on device, unlink"), { code: "ENOSPC" });
const left = Object.assign(new Error("ENOTEMPTY: directory not empty, rmdir"), { code: "ENOTEMPTY" });

/** What a Node without such errors of its own throws. */
const plain = (error: Error, suppressed: unknown): Error =>
  Object.assign(new Error("An error was suppressed during disposal."), { name: "SuppressedError", error, suppressed });

test("of errors that came while another was cleaned up after, the first is reported, as what it is", () => {
  for (const thrown of [plain(left, full), plain(left, plain(left, full)), full])
    expect(storageFailure("ledger.db", thrown)).toMatchObject({
      code: "storage",
      message: "The disk is full: ledger.db can't be written.",
    });
  expect(firstThrown(plain(full, "a reason that is no error"))).toBe("a reason that is no error");
  expect(firstThrown(undefined)).toBe(undefined);
});

/** As node:sqlite throws it. */
const ofSqlite = (errcode: number, message: string): Error =>
  Object.assign(new Error(message), { code: "ERR_SQLITE_ERROR", errcode });

test.each([
  ["SQLITE_FULL", 13, "database or disk is full", "The disk is full: ledger.db can't be written.", "Make room"],
  ["SQLITE_IOERR_SHMSIZE", 4874, "disk I/O error", "The disk is full: ledger.db can't be written.", "Make room"],
  ["SQLITE_IOERR_READ", 266, "disk I/O error", "ledger.db: disk I/O error", "Check the disk that holds it, then"],
  ["SQLITE_IOERR_WRITE", 778, "disk I/O error", "ledger.db can't be written (disk I/O error).", "and a quota on it"],
  ["SQLITE_IOERR_FSYNC", 1034, "disk I/O error", "ledger.db can't be written (disk I/O error).", "and a quota on it"],
])("%s is reported as what it is", (_, code, thrown, message, hint) => {
  const reported = storageFailure("ledger.db", ofSqlite(code, thrown));
  expect(reported).toMatchObject({ code: "storage", message, hint: expect.stringContaining(hint) });
});

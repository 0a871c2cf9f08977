import { expect, test } from "vitest";
import { firstThrown } from "../../src/failure.ts";
import { storageFailure } from "../../src/ledger/open-ledger.ts";

const full = Object.assign(new Error("ENOSPC: no space left on device, unlink"), { code: "ENOSPC" });
const left = Object.assign(new Error("ENOTEMPTY: directory not empty, rmdir"), { code: "ENOTEMPTY" });

/** What a Node without such errors of its own throws. */
const plain = (error: Error, suppressed: unknown): Error =>
  Object.assign(new Error("An error was suppressed during disposal."), { name: "SuppressedError", error, suppressed });

test("of errors that came while another was cleaned up after, the first is told, as what it is", () => {
  for (const thrown of [plain(left, full), plain(left, plain(left, full)), full])
    expect(storageFailure("ledger.db", thrown)).toMatchObject({
      code: "storage",
      message: "The disk is full: ledger.db can't be written.",
    });
  expect(firstThrown(plain(full, "a reason that is no error"))).toBe("a reason that is no error");
  expect(firstThrown(undefined)).toBe(undefined);
});

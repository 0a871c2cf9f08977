import { describe, expect, test } from "vitest";
import { free } from "../../../src/disk/buffers.ts";

describe("memory that is given back", () => {
  test("is gone at once, and may be given back again", () => {
    const own = Buffer.allocUnsafeSlow(1_000_000);
    const { buffer } = own;
    free(own);
    expect([own.length, buffer.byteLength]).toEqual([0, 0]);
    expect(() => free(own)).not.toThrow();
  });

  test("is left alone where others share it", () => {
    const shared = Buffer.from("a small one of Node's pool");
    const part = Buffer.allocUnsafeSlow(1_000_000).subarray(10);
    free(shared);
    free(part);
    expect([shared.toString(), part.length]).toEqual(["a small one of Node's pool", 999_990]);
  });
});

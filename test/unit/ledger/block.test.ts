import { zstdCompressSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { compressLines, decompressLines, encodePromises, placesOfPromise } from "../../../src/ledger/block.ts";

const linesOf = (bytes: number): Buffer => Buffer.from(Array.from({ length: bytes }, (_, at) => 32 + ((at * at) % 90)));

describe("compressed lines", () => {
  test.each([0, 1, 63, 64, 255, 256, 257, 65_535, 65_791, 65_792, 65_793, 1_000_000])(
    "are the same again, of %i bytes",
    (bytes) => {
      expect(decompressLines(compressLines(linesOf(bytes))).equals(linesOf(bytes))).toBe(true);
    },
  );

  test("take no more memory than a byte beside them", () => {
    const { buffer } = decompressLines(compressLines(linesOf(120_000)));
    expect(buffer.byteLength).toBe(120_001);
  });

  test("are read where their frame does not say how long they are", () => {
    const frame = zstdCompressSync(linesOf(100_000));
    expect(decompressLines(frame).equals(linesOf(100_000))).toBe(true);
  });

  test.each([0, 1, 4, 5, 6, 9, 60])("are not read from the first %i bytes of a frame", (bytes) => {
    expect(() => decompressLines(compressLines(linesOf(100_000)).subarray(0, bytes))).toThrow();
  });
});

describe("the places of a promise", () => {
  const [none, some] = ["00000000-0000-0000-0000-000000000000", "11111111-2222-4333-8444-555555555555"];
  test.each([
    ["packed beside others", [some, undefined, some], some, [0, 2]],
    ["of zeros, which is packed nowhere", [some, undefined, some], none, []],
    ["of zeros, which was given", [some, undefined, none], none, [2]],
  ])("%s", (_, given, asked, places) => {
    expect(placesOfPromise(encodePromises(given), given.length, asked)).toEqual(places);
  });
});

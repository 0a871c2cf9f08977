import { randomBytes } from "node:crypto";
import { expect, onTestFinished, test } from "vitest";
import { compressLines, decompressLines } from "../../../src/ledger/block.ts";
import { type BlockCompressor, openBlockCompressor } from "../../../src/ledger/block-compressor.ts";

function opened(): BlockCompressor {
  const compressor = openBlockCompressor();
  onTestFinished(() => compressor[Symbol.dispose]());
  return compressor;
}

test("each block comes back as itself, however many are asked for at a time and however large they are", async () => {
  const compressor = opened();
  const lines = [1, 100, 300_000, 7, 65_536, 1_000_000, 2].flatMap((bytes) => [
    randomBytes(bytes), // which no compression makes smaller
    Buffer.from("a line\n".repeat(bytes / 4 + 1)),
  ]);
  const compressed = await Promise.all(lines.map((each) => compressor.compress(each)));
  expect(compressed.map((each) => decompressLines(each).equals(lines.shift() ?? Buffer.alloc(0)))).not.toContain(false);
});

test("a block is compressed as any other block is, wherever it stands among them", async () => {
  const compressor = opened();
  for (const text of ["one\n", "another\n".repeat(10_000), "one\n"])
    expect((await compressor.compress(Buffer.from(text))).equals(compressLines(Buffer.from(text)))).toBe(true);
});

test("nothing comes of what is compressed after the end", async () => {
  const compressor = openBlockCompressor();
  compressor[Symbol.dispose]();
  await expect(compressor.compress(Buffer.from("late\n"))).rejects.toThrow();
});

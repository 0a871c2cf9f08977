import { describe, expect, it } from "vitest";
import { hash128, hash128Bytes } from "../../../src/actions/hash128.ts";

const hashOf = (text: string, seed = 1): string => {
  const out = new Uint32Array(4);
  hash128(text, seed, out);
  return [...out].join(" ");
};

describe("the hash", () => {
  it("differs with the text, its length and the seed", () => {
    const texts = [
      "",
      "\0",
      "\0\0",
      "a",
      "a\0",
      "aaaaaaaa",
      "aaaaaaaa\0",
      "aaaaaaaab",
      "ab",
      "ba",
      "😀",
      "\ud83d",
      "A",
      "á",
    ];
    expect(new Set(texts.map((text) => hashOf(text))).size).toBe(texts.length);
    expect(hashOf("a", 1)).not.toBe(hashOf("a", 2));
  });

  it("is the same of bytes as of the text whose units they are", () => {
    const out = new Uint32Array(4);
    for (const length of [0, 1, 8, 9, 40]) {
      const text = "\u1234日本-é".repeat(8).slice(0, length);
      hash128Bytes(Buffer.from(`-${text}-`, "utf16le"), 2, 2 + 2 * length, 1, out);
      expect([...out].join(" ")).toBe(hashOf(text));
    }
  });

  it("spreads ids that differ little over all its bits", () => {
    const words: [number, number, number, number] = [0, 0, 0, 0];
    const buckets = new Uint32Array(256);
    const out = new Uint32Array(4);
    const count = 1 << 16;
    const seen = new Set<number>();
    for (let at = 0; at < count; at += 1) {
      hash128(`2026-WAVE-${String(at).padStart(8, "0")}`, 7, out);
      for (const word of [0, 1, 2, 3] as const) words[word] |= out[word] ?? 0;
      const bucket = (out[0] ?? 0) & 0xff;
      buckets[bucket] = (buckets[bucket] ?? 0) + 1;
      seen.add((out[0] ?? 0) * 2 ** 21 + ((out[1] ?? 0) >>> 11));
    }
    expect(words).toEqual([-1, -1, -1, -1]);
    expect(seen.size).toBe(count);
    // 256 expected in each; six standard deviations are 96.
    expect(Math.min(...buckets)).toBeGreaterThan(256 - 96);
    expect(Math.max(...buckets)).toBeLessThan(256 + 96);
  });
});

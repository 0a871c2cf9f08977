import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createByteCounts } from "../../../../src/readers/fast/byte-counts.ts";

const QUOTE = 0x22;
const LF = 0x0a;

const times = (bytes: Uint8Array, byte: number): number => bytes.filter((each) => each === byte).length;

describe.each([
  ["sixteen at a time", true],
  ["one by one", false],
])("%s", (_, isWide) => {
  it("counts the quotes and the line feeds of any bytes", () => {
    const counts = createByteCounts(QUOTE, isWide);
    const byte = fc.constantFrom(QUOTE, LF, 0x61, 0, 0xc3, 0xff);
    fc.assert(
      fc.property(fc.array(byte, { maxLength: 100 }), fc.constantFrom(0, 1, 700, 900), (piece, repeats) => {
        // Up to 90 KB: more than are counted in one go.
        const bytes = Buffer.concat(Array.from({ length: repeats }, () => Buffer.from(piece)));
        counts.count(bytes);
        expect([counts.quotes, counts.lineFeeds]).toEqual([times(bytes, QUOTE), times(bytes, LF)]);
      }),
    );
  });

  it("counts no quotes where there are none in UTF-8 text", () => {
    const counts = createByteCounts(-1, isWide);
    counts.count(Buffer.from('"a"\n"ü"\n'));
    expect([counts.quotes, counts.lineFeeds]).toEqual([0, 2]);
  });

  it("looks at a part of a larger memory", () => {
    const counts = createByteCounts(QUOTE, isWide);
    counts.count(Buffer.from('""\n"').subarray(1, 3));
    expect([counts.quotes, counts.lineFeeds]).toEqual([1, 1]);
  });
});

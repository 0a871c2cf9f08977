import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { RowMemory } from "../../../../src/plan/candidates/row-memory.ts";

const SIZE = 1024;
const HALF = SIZE / 2;

describe.each([
  ["of WebAssembly", true],
  ["of JavaScript", false],
])("the memory %s", (_, isMany) => {
  const memory = new RowMemory(2 * SIZE, isMany);
  const start = memory.allot(SIZE);

  /** Bytes of which each tells where it stood. */
  const begin = (): Buffer => {
    for (let at = 0; at < SIZE; at += 1) memory.bytes[start + at] = at * 7 + (at >> 8);
    return Buffer.from(memory.bytes.subarray(start, start + SIZE));
  };

  it("is what it is said to be", () => {
    expect(memory.lanes !== undefined).toBe(isMany);
  });

  test("copies exactly what it is told to", () => {
    const place = fc.record({ from: fc.nat(HALF / 2), to: fc.nat(HALF / 2), length: fc.nat(HALF / 2 - 1) });
    fc.assert(
      fc.property(place, fc.boolean(), ({ from, to, length }, isBehind) => {
        const expected = begin();
        const [source, target] = isBehind ? [from + HALF, to] : [from, to + HALF];
        expect(memory.copy(start + target, start + source, length)).toBe(start + target + length);
        expected.copyWithin(target, source, source + length);
        expect(memory.bytes.subarray(start, start + SIZE).equals(expected)).toBe(true);
      }),
    );
  });

  test("tells whether two places hold the same", () => {
    fc.assert(
      fc.property(fc.nat(40), fc.nat(7), fc.option(fc.nat(39)), (length, shift, odd) => {
        begin();
        const other = start + HALF + shift;
        memory.copy(other, start, length);
        const differs = odd !== null && odd < length;
        if (differs) memory.bytes[other + odd] = (memory.bytes[other + odd] ?? 0) ^ 1;
        expect(memory.isSame(start, other, length)).toBe(!differs);
      }),
    );
  });
});

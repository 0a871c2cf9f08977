import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { inKeyOrder } from "../../../src/ledger/key-order.ts";

const ordered = (keys: readonly number[]): readonly number[] => [...inKeyOrder(Uint32Array.from(keys))];

describe("places in key order", () => {
  test("are all places, each once, whatever the keys are", () => {
    const key = fc.oneof(fc.integer({ min: 0, max: 2 ** 32 - 1 }), fc.constantFrom(0, 1, 2 ** 31, 2 ** 32 - 1));
    fc.assert(
      fc.property(fc.array(key, { maxLength: 300 }), (keys) => {
        expect(ordered(keys).toSorted((one, other) => one - other)).toEqual([...keys.keys()]);
      }),
    );
  });

  test.each([1, 2, 3, 255, 256, 257, 5000])("are those of rising keys, of %i that are evenly spread", (count) => {
    const spread = Array.from({ length: count }, (_, at) => ((at * 7919) % count) * Math.floor(2 ** 32 / count));
    const keys = [...new Set(spread)];
    expect(ordered(keys).map((place) => keys[place])).toEqual(keys.toSorted((one, other) => one - other));
  });

  test("leave equal keys in the order in which they came", () => {
    expect(ordered([5, 2 ** 31, 5, 2 ** 31, 5])).toEqual([0, 2, 4, 1, 3]);
  });

  test("are in the order of twenty bits where there are very many", () => {
    const keys = Array.from({ length: 2 ** 18 }, (_, at) => Math.imul(at, 0x9e3779b1) >>> 0);
    const bits = ordered(keys).map((place) => (keys[place] ?? 0) >>> 12);
    expect(bits.every((each, at) => at === 0 || each >= (bits[at - 1] ?? 0))).toBe(true);
  });
});

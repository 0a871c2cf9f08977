import fc from "fast-check";
import { expect, test } from "vitest";
import { inKeyOrder } from "../../../src/ledger/key-order.ts";

test("each place comes once, in the order of the first twenty bits, and those with the same in their own order", () => {
  const key = fc.oneof(
    fc.integer({ min: 0, max: 2 ** 32 - 1 }),
    fc.integer({ min: 2 ** 31 - 5000, max: 2 ** 31 + 5000 }),
  );
  fc.assert(
    fc.property(fc.array(key, { maxLength: 300 }), (keys) => {
      const bits = (place: number): number => (keys[place] ?? 0) >>> 12;
      const sorted = [...keys.keys()].sort((one, other) => bits(one) - bits(other) || one - other);
      expect([...inKeyOrder(Uint32Array.from(keys))]).toEqual(sorted);
    }),
    { numRuns: 20 },
  );
});

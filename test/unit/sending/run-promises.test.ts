import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { encodePromises } from "../../../src/ledger/block.ts";
import { createRunPromises } from "../../../src/sending/run-promises.ts";

test.each([0, 50_000])(
  "each of 50,000 promises is known once it was added, and not before (%i expected)",
  (expected) => {
    const promises = createRunPromises(expected);
    const all = Array.from({ length: 50_000 }, (_, at) => (at % 2 === 0 ? randomUUID() : `p${at}`));
    expect(all.filter((promise) => promises.has(promise))).toEqual([]);
    for (const promise of all) promises.add(promise);
    expect(all.every((promise) => promises.has(promise))).toBe(true);
    expect(all.filter((promise) => promises.has(`${promise}x`) || promises.has(promise.slice(1)))).toEqual([]);
  },
);

test("promises that differ in one character, in case or in a blank are different", () => {
  const promises = createRunPromises();
  promises.add("9d2c6e10-5b1f-4f0e-8a77-6b1e2f3a0001");
  for (const other of [
    "9d2c6e10-5b1f-4f0e-8a77-6b1e2f3a0002",
    "9D2C6E10-5B1F-4F0E-8A77-6B1E2F3A0001",
    "9d2c6e10-5b1f-4f0e-8a77-6b1e2f3a0001 ",
    "",
  ])
    expect(promises.has(other)).toBe(false);
  expect(promises.has("9d2c6e10-5b1f-4f0e-8a77-6b1e2f3a0001")).toBe(true);
});

test("those of a block are added as the ledger packs them, and zeros are none", () => {
  const promises = createRunPromises();
  const [one, two] = [randomUUID(), randomUUID()];
  const block = encodePromises([undefined, one, undefined, two]);
  promises.addPacked(block as Buffer); // UUIDs
  expect([promises.has(one), promises.has(two)]).toEqual([true, true]);
  expect(promises.has("00000000-0000-0000-0000-000000000000")).toBe(false);
});

test("the memory of promises is given back with them", () => {
  const held = (): number => process.memoryUsage().arrayBuffers;
  const before = held();
  {
    using promises = createRunPromises(1_000_000);
    expect(held() - before).toBeGreaterThan(8 * 2 ** 20);
    expect(promises.has("p")).toBe(false);
  }
  expect(held() - before).toBeLessThan(2 ** 20);
});

import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { atOnce } from "../../../src/disk/turns.ts";
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

const packed = (...promises: readonly string[]): Uint8Array => {
  const bytes = encodePromises(promises);
  if (!Buffer.isBuffer(bytes)) throw new Error("not all of them are UUIDs");
  return bytes;
};

test("an answer that repeats a promise, of its own or of an earlier one, adds none", () => {
  const promises = createRunPromises();
  const [one, two, three] = [randomUUID(), randomUUID(), randomUUID()];
  expect(atOnce(promises.addNew(packed(one, two, one)))).toBe(false);
  expect([promises.has(one), promises.has(two)]).toEqual([false, false]);
  expect(atOnce(promises.addNew(packed(one, two)))).toBe(true);
  expect([promises.has(one), promises.has(two)]).toEqual([true, true]);
  expect(atOnce(promises.addNew(packed(three, two)))).toBe(false);
  expect(promises.has(three)).toBe(false);
  promises.add(three);
  expect(atOnce(promises.addNew(packed(three)))).toBe(false);
});

test("those of a block are added as the ledger packs them, and zeros are none", () => {
  const promises = createRunPromises();
  const [one, two] = [randomUUID(), randomUUID()];
  const block = encodePromises([undefined, one, undefined, two]);
  promises.addPacked(block as Buffer); // UUIDs
  expect([promises.has(one), promises.has(two)]).toEqual([true, true]);
  expect(promises.has("00000000-0000-0000-0000-000000000000")).toBe(false);
  expect(atOnce(promises.addNew(packed(randomUUID(), two)))).toBe(false);
});

test("those of an earlier process count wherever they are asked for first, and however that ends", () => {
  const blocks = Array.from({ length: 40 }, () => Array.from({ length: 50 }, () => randomUUID()));
  const all = blocks.flat();
  const begin = () => {
    const promises = createRunPromises();
    for (const block of blocks) promises.addPacked(encodePromises(block) as Buffer); // UUIDs
    return promises;
  };
  const [last = ""] = all.slice(-1);
  expect([all[0] ?? "", last].every((promise) => begin().has(promise))).toBe(true);
  expect(atOnce(begin().addNew(packed(randomUUID(), last)))).toBe(false);
  const given = begin();
  const leaving = given.addNew(packed(randomUUID()));
  leaving.next();
  leaving.return(false);
  const fresh = randomUUID();
  expect(atOnce(given.addNew(packed(fresh)))).toBe(true);
  expect([...all, fresh].every((promise) => given.has(promise))).toBe(true);
  given.add(randomUUID());
  expect(atOnce(given.addNew(packed(fresh)))).toBe(false);
});

test("promises that are taken back leave those between which they stood", () => {
  const promises = createRunPromises();
  const kept = Array.from({ length: 2000 }, () => randomUUID());
  for (let at = 0; at < kept.length; at += 20) {
    const some = kept.slice(at, at + 20);
    const others = Array.from({ length: 100 }, () => randomUUID());
    expect(atOnce(promises.addNew(packed(...others, ...kept.slice(0, 1), ...others.slice(0, 1))))).toBe(false);
    expect(atOnce(promises.addNew(packed(...some)))).toBe(true);
    expect(others.filter((promise) => promises.has(promise))).toEqual([]);
  }
  expect(kept.every((promise) => promises.has(promise))).toBe(true);
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

import { expect, it } from "vitest";
import { createPortion } from "../../../../src/plan/compile/portion.ts";

const bytes = (count: number) => ({
  lines: Buffer.alloc(count),
  index: Buffer.alloc(0),
  facts: Buffer.alloc(0),
  texts: Buffer.alloc(0),
});

it("is an eighth until it is known what comes of it, then all where that is little", () => {
  const portion = createPortion(1000);
  expect(portion.size).toBe(125);
  portion.note(125, bytes(125_000));
  expect(portion.size).toBe(1000);
});

it("is as little as gives a megabyte, at once where much comes of it, and larger again only by and by", () => {
  const portion = createPortion(1000);
  portion.note(125, bytes(125 * 40_000));
  expect(portion.size).toBe(26);
  portion.note(26, bytes(26 * 100));
  expect(portion.size).toBe(29);
  for (let time = 0; time < 40; time += 1) portion.note(26, bytes(26 * 100));
  expect(portion.size).toBe(1000);
});

it("is never nothing", () => {
  expect(createPortion(3).size).toBe(1);
  const portion = createPortion(1000);
  portion.note(1, bytes(3_000_000));
  expect(portion.size).toBe(1);
  portion.note(0, bytes(0));
  expect(portion.size).toBe(1);
  const empty = createPortion(1000);
  empty.note(100, bytes(0));
  expect(empty.size).toBe(1000);
});

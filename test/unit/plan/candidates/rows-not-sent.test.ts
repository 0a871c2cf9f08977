import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { createInvalidRows } from "../../../../src/plan/candidates/rows-not-sent.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "invalid-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const row = (number: number) => () => ({
  ...{ row: number, input: 0, line: number + 1, reason: "r", before: 0, histories: [`h${number}`] },
});

it("asks for no row once more are invalid than the plan bears", () => {
  using invalid = createInvalidRows(folder, 1);
  invalid.add(true, row(1));
  invalid.add(false, row(2));
  expect(invalid.isKept).toBe(true);
  const asked = vi.fn(row(3));
  invalid.add(false, asked);
  invalid.add(true, asked);
  expect(asked).not.toHaveBeenCalled();
  expect(invalid).toMatchObject({ isKept: false, invalid: 2, held: 2 });
});

it("writes nothing to disk where the first invalid row is one too many", () => {
  using invalid = createInvalidRows(folder, 0);
  invalid.add(false, row(1));
  expect(readdirSync(folder)).toEqual([]);
});

it("absorbs what a fork has found, and counts what that did not keep", () => {
  using invalid = createInvalidRows(folder, 2);
  invalid.add(false, row(1));
  const found = invalid.fork();
  found.add(false, row(2));
  found.add(true, row(3));
  expect(found.kept.map((each) => each.row)).toEqual([2, 3]);
  const other = invalid.fork();
  for (const number of [2, 3, 4]) other.add(false, row(number));
  expect(other).toMatchObject({ isKept: false, kept: [], counts: { invalid: 3, held: 0 } });
  invalid.absorb(found);
  expect(invalid).toMatchObject({ isKept: true, invalid: 2, held: 1 });
  expect([...invalid.histories]).toEqual(["h1", "h2", "h3"]);
  invalid.absorb(other);
  expect(invalid).toMatchObject({ isKept: false, invalid: 5, held: 1 });
});

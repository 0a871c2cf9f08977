import { expect, test } from "vitest";
import { WaitingRowsTally } from "../../../../src/plan/decide/waiting-rows.ts";

test("a row is counted once, whatever stands between its actions, and no more are kept than problems are", () => {
  const rows = new WaitingRowsTally();
  const add = (row: number): void => rows.waiting.add(row, { source: "a.csv", line: row + 1 });
  for (const row of [1, 2, 1]) add(row);
  expect(rows.waiting).toMatchObject({
    rows: 2,
    first: [
      { source: "a.csv", line: 2 },
      { source: "a.csv", line: 3 },
    ],
  });
  for (let row = 1; row <= 20_000; row += 1) add(row);
  expect([rows.waiting.rows, rows.waiting.first.length, rows.pending.rows]).toEqual([20_000, 10_000, 0]);
});

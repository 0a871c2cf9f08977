import { expect, test } from "vitest";
import { tellWaiting } from "../../../src/commands/waiting-words.ts";
import type { PlanResult } from "../../../src/plan/make-plan.ts";
import { makeContext } from "../../support/context.ts";

/** What is said of as many rows that are pending, of which all are kept by their places. */
function told(rows: number, options: { readonly most?: number; readonly verbose?: boolean } = {}): string {
  const { context, said } = makeContext(".", {});
  const first = Array.from({ length: rows }, (_, at) => ({ source: "a.csv", line: at + 2 }));
  const plan = {
    actions: { pending: rows, waiting: 0 },
    waitingRows: { pending: { rows, first }, waiting: { rows: 0, first: [] } },
  } as unknown as PlanResult; // all that is read of it
  tellWaiting(context.reporter, plan, { most: options.most, verbose: options.verbose ?? false });
  return said();
}

const places = (rows: number): string => Array.from({ length: rows }, (_, at) => `a.csv:${at + 2}`).join(", ");

test("ten rows are named, with --verbose fifty, with --max-problems as many as it says", () => {
  const why = "60 actions are not sent, since another run may have sent or still send them: ";
  const more = (rows: number): string => ` and ${rows} more rows (--max-problems shows more).`;
  expect(told(60)).toBe(`${why}${places(10)}${more(50)}`);
  expect(told(60, { verbose: true })).toBe(`${why}${places(50)}${more(10)}`);
  expect(told(60, { most: 58 })).toBe(`${why}${places(58)}${more(2)}`);
  expect(told(60, { most: 60 })).toBe(`${why}${places(60)}.`);
  expect(told(60, { most: 0 })).toBe(`${why}60 rows.`);
  expect(told(1)).toBe("1 action is not sent, since another run may have sent or still send it: a.csv:2.");
  expect(told(0)).toBe("");
});

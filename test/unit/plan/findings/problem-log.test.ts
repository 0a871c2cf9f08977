import { expect, it } from "vitest";
import type { Problem } from "../../../../src/actions/problem.ts";
import { createProblemLog } from "../../../../src/plan/findings/problem-log.ts";

const problem = (rule: string, more: Partial<Problem> = {}): Problem => ({
  ...{ source: "in.csv", line: 2, severity: "error", rule, message: "m", hint: "h" },
  ...more,
});
const cause = { source: "in.csv", line: 1 };

it("keeps errors in place of warnings and of rows that wait", () => {
  const log = createProblemLog(2);
  for (const each of [problem("a", { cause }), problem("a"), problem("w", { severity: "warn" })]) log.add(each);
  log.add(problem("a", { line: 9 }));
  expect(log.kept.map(({ line }) => line)).toEqual([2, 9]);
});

it("gives its forks no more room than it has", () => {
  const log = createProblemLog(1);
  log.add(problem("a"));
  const fork = log.fork();
  expect(fork.capacity.keeps).toBe("none");
  fork.add(problem("a", { line: 3 }));
  log.absorb(fork);
  expect(log).toMatchObject({ errors: 2, kept: [{ line: 2 }], tallies: [{ rule: "a", count: 2, first: { line: 2 } }] });
});

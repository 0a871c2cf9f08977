import { expect, test } from "vitest";
import { walk } from "../support/docs/walk.ts";
import { PAGES, readPage } from "../support/pages.ts";
import { testEach } from "../support/walks.ts";

/** How many blocks of each page can't be run here. */
const WALKED = {
  "README.md": 4,
  "CONTRIBUTING.md": 2,
  "docs/design/ledger.md": 1,
  "docs/environments.md": 2,
  "docs/guarantees.md": 0,
  "docs/nightly.md": 5,
  "docs/reference.md": 1,
  "docs/scale-out.md": 10,
  "docs/tutorial.md": 0,
  "docs/when-it-fails.md": 0,
};

testEach("%s: every command does what the page shows", Object.entries(WALKED), 10, async ([page, notRun]) => {
  const walked = await walk(readPage(page));
  for (const { line, shown, now } of walked.compared) expect.soft(now, `${page}:${line}`).toBe(shown);
  expect(walked.notRun).toHaveLength(notRun);
});

test("every page that shows commands is walked", () => {
  const showing = PAGES.filter((page) => /^```(?:sh|console)$/m.test(readPage(page)));
  // The benchmarks take minutes.
  expect(showing.filter((page) => !Object.hasOwn(WALKED, page))).toEqual(["bench/README.md"]);
});

/** The benchmark, on a few rows: that every case runs, that what was sent arrived, and where results are kept. */

import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { CASES } from "../../bench/cases.ts";

const RUN = fileURLToPath(new URL("../../bench/run.ts", import.meta.url));
/** As under `npm run bench`: the benchmark measures on the Node that the project carries. */
const NODE = fileURLToPath(new URL("../../node_modules/.bin/node", import.meta.url));
const KEPT = fileURLToPath(new URL("../../bench/results.json", import.meta.url));

test("every case runs on a few rows, one invocation after the other, and leaves the kept results alone", {
  tags: ["long"],
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), "tickets-bench-test-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const before = existsSync(KEPT) ? readFileSync(KEPT, "utf8") : undefined;
  const bench = (cases: readonly string[]) =>
    promisify(execFile)(NODE, [
      RUN,
      ...["--folder", folder, "--rows", "2000", "--rounds", "1", "--cases", cases.join(",")],
    ]);
  const [first = "", ...others] = Object.keys(CASES);
  await bench([first]);
  await bench(others);
  const page = readFileSync(join(folder, "RESULTS.md"), "utf8");
  for (const { title } of Object.values(CASES)) expect(page).toContain(`## ${title}\n`);
  expect(page).not.toContain("| met |");
  expect(existsSync(KEPT) ? readFileSync(KEPT, "utf8") : undefined).toBe(before);
});

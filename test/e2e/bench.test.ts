// @module-tag long

/** The benchmark, on a few rows: that every case runs, that what was sent arrived, and what is kept where. */

import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { CASES } from "../../bench/cases.ts";
import { openFolder } from "../support/folder.ts";

const RUN = fileURLToPath(new URL("../../bench/run.ts", import.meta.url));
/** As under `npm run bench`: the benchmark measures on the Node that the project carries. */
const NODE = fileURLToPath(new URL("../../node_modules/.bin/node", import.meta.url));
const KEPT = fileURLToPath(new URL("../../bench/results.json", import.meta.url));

test("every case runs on a few rows, one invocation after the other, and leaves nothing but its results", async () => {
  const folder = openFolder();
  const kept = readFileSync(KEPT, "utf8");
  const bench = (cases: readonly string[], flags: readonly string[]) =>
    promisify(execFile)(NODE, [RUN, "--only", cases.join(","), "--rows", "2000", "--rounds", "1", ...flags], {
      env: { ...process.env, TMPDIR: folder },
    });
  const [first = "", ...others] = Object.keys(CASES);
  await bench([first], ["--out", join(folder, "out")]);
  await bench(others, ["--out", join(folder, "out")]);
  await bench(["startup"], []);
  const page = readFileSync(join(folder, "out", "RESULTS.md"), "utf8");
  for (const name of Object.keys(CASES)) expect(page).toContain(`| ${name} | 2,000 | 1 |`);
  expect(page).not.toContain("| met |");
  expect(page).not.toContain("NaN");
  expect(readdirSync(folder)).toEqual(["out"]);
  expect(readFileSync(KEPT, "utf8")).toBe(kept);
});

// The long walk: every test with all trials and races on the carried Node, then the short walk on the lowest Node that is
// supported, and a part of it on the one between.
//
//     node scripts/test-all.mjs [--rest]      --rest: without what `npm test` has just walked on the carried Node
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const VITEST = join(ROOT, "node_modules", "vitest", "vitest.mjs");
/**
 * The lowest supported Node, where all is walked that stands on what a Node brings along (SQLite, streams, compression, sockets,
 * the disk), and the LTS between it and the carried one, where only how the built bin dies and goes on is: both ends agree on the
 * rest. What is planned comes of plain computing, and is held to its expectations by the built bin's tests; so are sessions with
 * PostgreSQL.
 */
const OTHERS = [
  {
    version: "22.19.0",
    files: [
      "test/e2e/",
      ...["cli", "disk", "ledger", "plan", "read", "sandbox", "send", "write"].map((part) => `test/unit/${part}/`),
      ...["sandbox", "send", "write", "run"].map((part) => `test/pipeline/${part}/`),
    ],
  },
  { version: "24", files: ["test/e2e/crash/", "test/e2e/validate"] },
];
const failed = [];

/** @param files whose paths begin so; all where there are none. */
function walk(node, tests, files = []) {
  const { status, stdout } = spawnSync(node, ["--version"], { encoding: "utf8" });
  if (status !== 0) throw new Error(`${node} does not run.`);
  const what = [`TESTS=${tests} on Node ${stdout.trim()}`, ...files].join(", ");
  console.log(`\n== ${what}`);
  const { TESTS: _, ...others } = process.env;
  const env = {
    ...others,
    PATH: `${dirname(node)}${delimiter}${process.env.PATH}`,
    ...(tests !== "short" && { TESTS: tests }),
  };
  const report = join(folder, `${tests}-${stdout.trim()}.json`);
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
  const ended = spawnSync(node, [VITEST, "run", ...files, ...reporters], {
    cwd: ROOT,
    env,
    stdio: "inherit",
  });
  if (ended.status !== 0) failed.push(`${what}\n${failures(report).join("\n")}`);
}

/** What failed, in few words: it is said again at the very end, since a log of several walks is often cut to its last lines. */
function failures(report) {
  if (!existsSync(report)) return ["  vitest ended without a report"];
  const tests = JSON.parse(readFileSync(report, "utf8")).testResults.flatMap((file) => {
    const failedTests = file.assertionResults.filter(({ status }) => status === "failed");
    const inFile = `${relative(ROOT, file.name)}: `;
    if (failedTests.length === 0) return file.status === "failed" ? [inFile + file.message] : [];
    return failedTests.map(({ fullName, failureMessages }) => `${inFile}${fullName}\n${failureMessages.join("\n")}`);
  });
  return tests.length === 0
    ? ["  no test: see vitest's own words above"]
    : tests.map((failed) => `  ${failed.slice(0, 2_000)}`);
}

/** The registry's own build of that version, in a folder. */
function install(version, folder) {
  const name = `node-${process.platform === "win32" ? "win" : process.platform}-${process.arch}`;
  const args = ["install", "--silent", "--no-save", "--no-package-lock", "--prefix", folder, `${name}@${version}`];
  const { status } = spawnSync("npm", args, { stdio: "inherit", shell: process.platform === "win32" });
  if (status !== 0) throw new Error(`npm could not install ${name}@${version}.`);
  return join(folder, "node_modules", name, "bin", process.platform === "win32" ? "node.exe" : "node");
}

const folder = mkdtempSync(join(tmpdir(), "tickets-nodes-"));
try {
  walk(process.execPath, process.argv.includes("--rest") ? "rest" : "all");
  for (const { version, files } of OTHERS) walk(install(version, join(folder, version)), "short", files);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
for (const what of failed) console.error(`failed: ${what}`);
process.exitCode = failed.length === 0 ? 0 : 1;

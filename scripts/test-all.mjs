// The long walk: every test with all trials and races on the carried Node, then the short walk on the other supported Nodes.
//
//     node scripts/test-all.mjs [--rest]      --rest: without what `npm test` has just walked on the carried Node
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const VITEST = join(ROOT, "node_modules", "vitest", "vitest.mjs");
/** The lowest supported Node, and the LTS between it and the carried one. */
const OTHERS = ["22.19.0", "24"];
const failed = [];

function walk(node, tests) {
  const { status, stdout } = spawnSync(node, ["--version"], { encoding: "utf8" });
  if (status !== 0) throw new Error(`${node} does not run.`);
  const what = `TESTS=${tests} on Node ${stdout.trim()}`;
  console.log(`\n== ${what}`);
  const { TESTS: _, ...others } = process.env;
  const env = {
    ...others,
    PATH: `${dirname(node)}${delimiter}${process.env.PATH}`,
    ...(tests !== "short" && { TESTS: tests }),
  };
  if (spawnSync(node, [VITEST, "run"], { cwd: ROOT, env, stdio: "inherit" }).status !== 0) failed.push(what);
}

/** The registry's own build of that version, in a folder. */
function install(version, folder) {
  const name = `node-${process.platform === "win32" ? "win" : process.platform}-${process.arch}`;
  const args = ["install", "--silent", "--no-save", "--no-package-lock", "--prefix", folder, `${name}@${version}`];
  const { status } = spawnSync("npm", args, { stdio: "inherit", shell: process.platform === "win32" });
  if (status !== 0) throw new Error(`npm could not install ${name}@${version}.`);
  return join(folder, "node_modules", name, "bin", process.platform === "win32" ? "node.exe" : "node");
}

walk(process.execPath, process.argv.includes("--rest") ? "rest" : "all");
const folder = mkdtempSync(join(tmpdir(), "tickets-nodes-"));
try {
  for (const version of OTHERS) walk(install(version, join(folder, version)), "short");
} finally {
  rmSync(folder, { recursive: true, force: true });
}
for (const what of failed) console.error(`failed: ${what}`);
process.exitCode = failed.length === 0 ? 0 : 1;

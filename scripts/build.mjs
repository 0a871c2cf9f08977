// Compiles src/ to dist/ from scratch, so that a deleted source leaves no stale module behind: the types module by module, the
// code as few files, since a command that reads hundreds takes half of its start for that.
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const DIST = join(ROOT, "dist");
/** What the compiler made of each module, until it is put together. */
const MODULES = join(ROOT, "dist/.modules");

/** What is run or imported by name: the program, the library, and threads: one compiles a part of a plan, one does checkpoints, one makes the lines of promises, one speaks with PostgreSQL. */
const ENTRIES = {
  main: "main.js",
  index: "index.js",
  worker: "plan/compile/worker.js",
  "checkpoint-worker": "ledger/checkpoint-worker.js",
  "line-worker": "outputs/line-worker.js",
  "connection-worker": "ledger/postgres/connection-worker.js",
};

/** A package whose parts are so many that reading them takes a quarter of a command's start. All others stay files of their own. */
const PUT_TOGETHER = "zod";
const IN_ITS_FOLDER = /[\\/]node_modules[\\/]zod[\\/]/;

/**
 * Files, each of which has these modules and all they import that no file before it has. So none imports one behind it, and what
 * a thread or a small command reads comes before what it does not need. All else goes where it is used.
 */
const FILES = {
  start: ["actions/text", "cli/version", "failure"],
  checkpoints: ["ledger/durable"],
  common: [
    ...["actions/actions", "actions/fields", "actions/formula-guard", "actions/identity", "actions/json"],
    ...["disk/buffers", "plan/files/index-file"],
  ],
  lines: ["outputs/plain-promise-lines"],
  rows: ["plan/compile/compile-ranges", "readers/spare-memory"],
  program: ["cli/program"],
  command: ["cli/run-command", "commands/status"],
  runs: ["commands/plan", "commands/resume", "commands/stream", "commands/validate"],
};

rmSync(DIST, { recursive: true, force: true });
const tsc = join(folderOf("typescript"), "bin", "tsc");
const { status } = spawnSync(process.execPath, [tsc, "-p", join(ROOT, "tsconfig.build.json")], { stdio: "inherit" });
process.exitCode = status ?? 1;
if (process.exitCode === 0) {
  const input = Object.fromEntries(Object.entries(ENTRIES).map(([name, path]) => [name, join(MODULES, path)]));
  const files = Object.entries(FILES).map(([name, modules], at, all) => {
    const own = new Set(modules.map(compiled));
    return { name, test: (id) => own.has(id), priority: all.length - at };
  });
  const bundle = await rolldown({
    input,
    platform: "node",
    external: (id) => /^[^./]/.test(id) && id !== PUT_TOGETHER,
  });
  await bundle.write({
    dir: DIST,
    entryFileNames: "[name].js",
    chunkFileNames: "[name]-[hash].js",
    codeSplitting: { groups: [{ name: PUT_TOGETHER, test: IN_ITS_FOLDER, priority: files.length + 1 }, ...files] },
  });
  await bundle.close();
  cpSync(join(folderOf(PUT_TOGETHER), "LICENSE"), join(DIST, `${PUT_TOGETHER}-LICENSE.txt`));
  // Found beside the module that reads it, which is put into this folder.
  cpSync(join(ROOT, "src/sandbox/page"), join(DIST, "page"), { recursive: true });
}
rmSync(MODULES, { recursive: true, force: true });

/** The file of a module of src/. */
function compiled(module) {
  const path = join(MODULES, `${module}.js`);
  if (!existsSync(path)) throw new Error(`there is no src/${module}.ts`);
  return path;
}

function folderOf(packageName) {
  return dirname(createRequire(import.meta.url).resolve(`${packageName}/package.json`));
}

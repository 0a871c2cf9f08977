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

/** What is run or imported by name: the program and the library. */
const ENTRIES = { main: "main.js", index: "index.js" };

/** Packages whose parts are so many that reading them takes a quarter of a command's start. All others stay files of their own. */
const PUT_TOGETHER = ["zod", "undici"];
const isPutTogether = (id) => PUT_TOGETHER.some((name) => id === name || id.startsWith(`${name}/`));
const folderIn = (name) => new RegExp(`[\\\\/]node_modules[\\\\/]${name}[\\\\/]`);

/**
 * Of undici, what is used of it: the rest, such as fetch and WebSocket, is read with it otherwise. Its index gives every
 * dispatcher its methods, as here: a proxy is connected to by one of them.
 */
const PARTS_OF_UNDICI = `
  import api from "undici/lib/api/index.js";
  import Dispatcher from "undici/lib/dispatcher/dispatcher.js";
  Object.assign(Dispatcher.prototype, api);
  export { default as buildConnector } from "undici/lib/core/connect.js";
  export { default as Client } from "undici/lib/dispatcher/client.js";
  export { default as EnvHttpProxyAgent } from "undici/lib/dispatcher/env-http-proxy-agent.js";
`;
const inParts = {
  name: "parts-of-undici",
  resolveId: (id) => (id === "undici" ? "\0undici" : undefined),
  load: (id) => (id === "\0undici" ? PARTS_OF_UNDICI : undefined),
};

/**
 * Files, each of which has these modules and all they import that no file before it has. So none imports one behind it, and what
 * a small command reads comes before what it does not need. All else goes where it is used.
 */
const FILES = {
  start: ["text", "cli/version", "failure"],
  common: [...["actions/actions", "actions/fields", "read/rejects-columns", "actions/json"]],
  program: ["cli/program"],
  command: ["cli/run-command", "commands/status"],
  look: ["plan/look", "read/input", "map/create-mapper"],
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
  const packages = PUT_TOGETHER.map((name) => ({ name, test: folderIn(name), priority: files.length + 1 }));
  const bundle = await rolldown({
    input,
    platform: "node",
    external: (id) => /^[^./\0]/.test(id) && !isPutTogether(id),
    plugins: [inParts],
  });
  await bundle.write({
    dir: DIST,
    entryFileNames: "[name].js",
    chunkFileNames: "[name]-[hash].js",
    codeSplitting: { groups: [...packages, ...files] },
  });
  await bundle.close();
  for (const name of PUT_TOGETHER) cpSync(join(folderOf(name), "LICENSE"), join(DIST, `${name}-LICENSE.txt`));
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

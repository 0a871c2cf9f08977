#!/usr/bin/env node
// Plain JavaScript that any Node can read: it only sees to it that a Node new enough runs the program.
const MINIMUM = [22, 19];
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"];
const [major, minor] = process.versions.node.split(".").map(Number);
if (major < MINIMUM[0] || (major === MINIMUM[0] && minor < MINIMUM[1])) {
  Promise.all([import("node:child_process"), import("node:fs"), import("node:url")]).then(
    ([{ spawn }, { existsSync, realpathSync }, { fileURLToPath }]) => {
      const program = process.platform === "win32" ? "node.exe" : "node";
      // As a development dependency of a checkout, or installed beside the package.
      const carried = ["../node_modules/node/bin/", "../../node/bin/"]
        .map((folder) => fileURLToPath(new URL(folder + program, import.meta.url)))
        .find((path) => existsSync(path) && realpathSync(path) !== realpathSync(process.execPath));
      if (carried !== undefined) return startOn(carried, fileURLToPath(import.meta.url), spawn);
      process.stderr.write(
        `error: tickets needs Node ${MINIMUM.join(".")} or newer; this is ${process.versions.node}. Install a current Node, or one beside tickets: npm install node\n`,
      );
      process.exitCode = 2;
    },
  );
} else {
  // Node 22 calls its SQLite experimental at every start; nothing else is filtered.
  const emit = process.emitWarning;
  process.emitWarning = (warning, ...rest) => {
    if (/SQLite is an experimental feature/.test(String(warning))) return;
    emit.call(process, warning, ...rest);
  };
  Promise.all([import("node:module"), import("node:fs")]).then(
    ([{ enableCompileCache }, { existsSync, mkdirSync }]) => {
      const parent = userCache(process.env);
      const { NODE_COMPILE_CACHE: chosen, NODE_DISABLE_COMPILE_CACHE: disabled } = process.env;
      if (parent !== undefined && !chosen && !disabled) {
        try {
          // Made one by one: where a file system such as /proc takes none, Node's way of making several never ends.
          for (const folder of [parent, `${parent}/tickets`])
            if (!existsSync(folder)) mkdirSync(folder, { mode: 0o700 });
          enableCompileCache?.(`${parent}/tickets`);
        } catch {} // it only starts more slowly
      }
      return import("../dist/main.js");
    },
  );
}

/**
 * The user's own, unlike Node's choice in the folder for temporary files, where others could leave code to be run.
 * Undefined where nobody has a home; a relative path in these variables is invalid (XDG).
 */
function userCache({ XDG_CACHE_HOME: cache, HOME: home }) {
  if (cache?.startsWith("/")) return cache;
  return home?.startsWith("/") ? `${home}/.cache` : undefined;
}

/**
 * Runs the program on another Node and ends as it ends. A signal is told as a message: one that a terminal or a supervisor
 * gives to both must not count as two, since the second gives a request up.
 */
function startOn(node, self, spawn) {
  const child = spawn(node, [self, ...process.argv.slice(2)], { stdio: ["inherit", "inherit", "inherit", "ipc"] });
  const tell = (signal) => child.connected && child.send(signal, () => {});
  for (const name of SIGNALS) process.on(name, tell);
  child.on("error", ({ message }) => {
    process.stderr.write(`error: ${node} can't be started (${message}).\n`);
    process.exitCode = 2;
  });
  child.on("close", (code, signal) => {
    for (const name of SIGNALS) process.removeListener(name, tell);
    if (signal === null) process.exitCode = code;
    else process.kill(process.pid, signal);
  });
}

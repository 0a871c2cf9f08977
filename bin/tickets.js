#!/usr/bin/env node
// Plain JavaScript that any Node can read: it only sees to it that a Node new enough runs the program.
const MINIMUM = [22, 19];
const [major, minor] = process.versions.node.split(".").map(Number);
if (major < MINIMUM[0] || (major === MINIMUM[0] && minor < MINIMUM[1])) {
  import("node:fs").then(({ existsSync }) => {
    const carried = new URL("../node_modules/.bin/node", import.meta.url);
    // Not argv: another folder's npx starts this file through a link in its cache.
    const pathOf = (url) => decodeURIComponent(new URL(url).pathname);
    const instead = existsSync(carried)
      ? ` Use the one that this checkout carries: npx tickets in its folder, or ${pathOf(carried)} ${pathOf(import.meta.url)}`
      : " Install a current Node.";
    process.stderr.write(
      `tickets needs Node ${MINIMUM.join(".")} or newer; this is ${process.versions.node}.${instead}\n`,
    );
    process.exitCode = 2;
  });
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

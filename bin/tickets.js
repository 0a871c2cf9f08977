#!/usr/bin/env node
// Plain JavaScript that any Node can read: it only sees to it that a Node new enough runs the program.
const MINIMUM = [22, 19];
const [major, minor] = process.versions.node.split(".").map(Number);
if (major < MINIMUM[0] || (major === MINIMUM[0] && minor < MINIMUM[1])) {
  import("node:fs").then(({ existsSync }) => {
    const carried = new URL("../node_modules/.bin/node", import.meta.url);
    const instead = existsSync(carried)
      ? ` Use the one that this checkout carries: npx tickets, or ${decodeURIComponent(carried.pathname)} ${process.argv[1]}`
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
  import("node:module").then(({ enableCompileCache }) => {
    enableCompileCache?.();
    return import("../dist/main.js");
  });
}

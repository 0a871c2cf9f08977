// The published manifest is package.json without what only a checkout needs: `npm pack` and `npm publish` call this before and after.
//
//     node scripts/manifest.mjs publish | restore
import { copyFileSync, existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const MANIFEST = fileURLToPath(new URL("../package.json", import.meta.url));
/** The checkout's own while the other one is packed. */
const KEPT = `${MANIFEST}.checkout`;

// Also what a pack that was killed has left.
if (existsSync(KEPT)) renameSync(KEPT, MANIFEST);
if (process.argv[2] === "publish") {
  const {
    scripts: _,
    devDependencies: __,
    allowScripts: ___,
    ...published
  } = JSON.parse(readFileSync(MANIFEST, "utf8"));
  copyFileSync(MANIFEST, KEPT);
  writeFileSync(MANIFEST, `${JSON.stringify(published, null, 2)}\n`);
}

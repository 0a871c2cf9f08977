// `npm ci` builds. Where the development dependencies are absent (`npm ci --omit=dev`) there is nothing to build with, and that is no fault.
import { createRequire } from "node:module";

let compiler = true;
try {
  createRequire(import.meta.url).resolve("typescript/package.json");
} catch {
  compiler = false;
}
if (compiler) await import("./build.mjs");

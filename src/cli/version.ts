/** The program's version. Loads nothing else, so that it can be said at once. */

import { readFileSync } from "node:fs";

export const VERSION_FLAGS = ["-V", "--version"] as const;

export function version(): string {
  const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  return String((JSON.parse(text) as { version: unknown }).version); // our own package.json
}

/** Whether the version is all that is asked for; anything beside it is for the command line to understand. */
export function isVersionAsked(args: readonly string[]): boolean {
  return args.length === 1 && VERSION_FLAGS.some((flag) => flag === args[0]);
}

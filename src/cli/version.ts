/** The program's version. Loads nothing else, so that it can be said at once. */

import { createRequire } from "node:module";

export const VERSION_FLAGS = ["-V", "--version"] as const;

export function version(): string {
  // By the package's own name: the build puts this file elsewhere.
  const { version } = createRequire(import.meta.url)("ticket-stream/package.json") as { version: unknown }; // its own
  return String(version);
}

/** Whether the version is all that is asked for; anything beside it is for the command line to understand. */
export function isVersionAsked(args: readonly string[]): boolean {
  return args.length === 1 && VERSION_FLAGS.some((flag) => flag === args[0]);
}

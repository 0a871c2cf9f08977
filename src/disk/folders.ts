/** Folders, made as `mkdir -p` makes them. */

import { closeSync, fsyncSync, mkdirSync, openSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { errorCode, Failure } from "../failure.ts";
import { cleanText } from "../text.ts";

/**
 * Makes a folder and what is missing above it, so that it survives a power cut. Node's own `recursive` never ends on a file
 * system that takes no folders, such as /proc.
 *
 * @throws Failure `storage` with a sentence.
 */
export function makeFolder(
  path: string,
  { mode, hint = STATE_HINT }: { readonly mode?: number; readonly hint?: string } = {},
): void {
  const missing: string[] = [];
  for (let at = path; !isFolder(at); at = dirname(at)) missing.unshift(at);
  for (const folder of missing) {
    try {
      mkdirSync(folder, mode);
    } catch (cause) {
      // Another process may have made it just now.
      if (!isFolder(folder)) throw notCreated(folder, cause, hint);
    }
    try {
      syncFolder(dirname(folder));
    } catch (cause) {
      throw notCreated(folder, cause, hint);
    }
  }
}

function notCreated(folder: string, cause: unknown, hint: string): Failure {
  const code = errorCode(cause) ?? "unknown error";
  const why = REASONS[code] ?? code;
  return new Failure("storage", `The folder ${cleanText(folder, 300)} can't be created (${why}).`, { hint, cause });
}

/** Makes the names in a folder survive a power cut: of new files, of new folders, and of renamed ones. */
export function syncFolder(folder: string): void {
  let file: number;
  try {
    file = openSync(folder, "r");
  } catch (cause) {
    // A folder may be writable and not readable.
    if (errorCode(cause) === "EACCES") return;
    throw cause;
  }
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

const STATE_HINT =
  "HOME, XDG_STATE_HOME, TICKETS_STATE_DIR and stateDir in the config say where state is kept. Nothing was sent.";

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "its file system allows no folders",
  ENOTDIR: "what is above it is not a folder",
  EEXIST: "a file of that name is in the way",
  EACCES: "permission denied",
  EPERM: "permission denied",
  EROFS: "its file system is read-only",
  ENOSPC: "the disk is full",
};

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return dirname(path) === path; // above it there is nothing to make
  }
}

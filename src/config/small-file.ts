/** Small files that a config names: keys, addresses, and configs themselves. */

import { readFileSync, statSync } from "node:fs";
import { errorCode, Failure } from "../failure.ts";
import { openFile } from "../read/open-file.ts";

/** Makes a failure of why a file can't be used: a phrase such as `does not exist`. */
export type Refuse = (why: string, cause?: unknown) => Failure;

/** The text of a file, or of a pipe, which is waited for until `signal` ends the wait. */
export async function readSmall(path: string, most: number, refuse: Refuse, signal?: AbortSignal): Promise<string> {
  try {
    await using file = await openFile(path, signal);
    const blocks: Buffer[] = [];
    let length = 0;
    for await (const block of file.blocks) {
      blocks.push(block);
      length += block.length;
      if (length > most) throw refuse("is too large");
    }
    return Buffer.concat(blocks).toString("utf8");
  } catch (cause) {
    signal?.throwIfAborted();
    throw cause instanceof Failure ? cause : refuse(whyUnreadable(cause), cause);
  }
}

/** The text of a file; a pipe is refused, since nothing could end the wait for it. */
export function readSmallSync(path: string, most: number, refuse: Refuse): string {
  try {
    const found = statSync(path);
    if (found.isFile() && found.size <= most) return readFileSync(path, "utf8");
    throw refuse(found.isFile() ? "is too large" : found.isDirectory() ? "is a folder" : "is not a plain file");
  } catch (cause) {
    throw cause instanceof Failure ? cause : refuse(whyUnreadable(cause), cause);
  }
}

export function whyUnreadable(cause: unknown): string {
  const code = errorCode(cause) ?? "unknown reason";
  const known = { ENOENT: "does not exist", EACCES: "can't be read: permission denied", EISDIR: "is a folder" }[code];
  return known ?? `can't be read (${code})`;
}

/** What is doubtful about a file that holds a secret. */
export function warningOfMode(path: string): string | undefined {
  const mode = statSync(path, { throwIfNoEntry: false })?.mode ?? 0;
  return (mode & 0o077) !== 0 ? `The key file ${path} is readable by others; chmod 600 keeps it private.` : undefined;
}

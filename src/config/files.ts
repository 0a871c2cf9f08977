/** Where a user's files are, by the rules of XDG; and how the small ones are read that a config names, and configs themselves. */

import { readFileSync, statSync } from "node:fs";
import { userInfo } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import { errorCode, Failure } from "../failure.ts";
import { openFile } from "../read/open-file.ts";

/** Makes `text` absolute: relative to `base`, `~/` being the home directory (no shell expands it in a config or in cron). */
export function toPath(text: string, base: string, env: NodeJS.ProcessEnv): string {
  const home = text === "~" || text.startsWith("~/") ? homeDirectory(env) : undefined;
  return home === undefined ? resolve(base, text) : join(home, text.slice(1));
}

/** `$XDG_CONFIG_HOME/tickets`, or undefined where nobody has a home (a container's bare user id). */
export function userConfigDirectory(env: NodeJS.ProcessEnv): string | undefined {
  return userDirectory(env, "XDG_CONFIG_HOME", ".config");
}

/** `$XDG_STATE_HOME/tickets`, or undefined where nobody has a home. */
export function userStateDirectory(env: NodeJS.ProcessEnv): string | undefined {
  return userDirectory(env, "XDG_STATE_HOME", ".local/state");
}

function userDirectory(env: NodeJS.ProcessEnv, variable: string, underHome: string): string | undefined {
  const chosen = env[variable];
  // XDG: a relative path in these variables is invalid and to be ignored.
  if (chosen !== undefined && isAbsolute(chosen)) return join(chosen, "tickets");
  const home = homeDirectory(env);
  return home === undefined ? undefined : join(home, underHome, "tickets");
}

function homeDirectory(env: NodeJS.ProcessEnv): string | undefined {
  if (env.HOME !== undefined && isAbsolute(env.HOME)) return env.HOME;
  try {
    // `os.homedir` would accept an empty or relative HOME: each working directory would have its own state.
    const { homedir } = userInfo();
    return isAbsolute(homedir) ? homedir : undefined;
  } catch {
    return undefined; // no entry in the user database
  }
}

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
    if (found.isDirectory()) throw refuse("is a folder");
    if (!found.isFile()) throw refuse("is not a plain file");
    if (found.size > most) throw refuse("is too large");
    return readFileSync(path, "utf8");
  } catch (cause) {
    throw cause instanceof Failure ? cause : refuse(whyUnreadable(cause), cause);
  }
}

export function whyUnreadable(cause: unknown): string {
  const code = errorCode(cause) ?? "unknown reason";
  const known = { ENOENT: "does not exist", EACCES: "can't be read: permission denied", EISDIR: "is a folder" }[code];
  return known ?? `can't be read (${code})`;
}

/** A warning if others can read a file that holds a secret. */
export function warningOfMode(path: string): string | undefined {
  const mode = statSync(path, { throwIfNoEntry: false })?.mode ?? 0;
  return (mode & 0o077) !== 0 ? `The key file ${path} is readable by others; chmod 600 keeps it private.` : undefined;
}

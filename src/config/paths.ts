/** Where a user's files are, by the rules of XDG. */

import { userInfo } from "node:os";
import { isAbsolute, join, resolve } from "node:path";

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
    // Not that of `homedir`, which takes an empty or relative HOME at its word: state would be in each working directory.
    const { homedir } = userInfo();
    return isAbsolute(homedir) ? homedir : undefined;
  } catch {
    return undefined; // no entry in the user database
  }
}

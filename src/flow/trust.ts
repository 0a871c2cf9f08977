/** Trusting the config of the working directory. */

import { displayPath } from "../actions/text.ts";
import { type Config, loadConfig } from "../config/config.ts";
import { keepTrust } from "../config/trust.ts";
import { Failure } from "../failure.ts";
import type { RunContext } from "./context.ts";
import { KNOWN_RULES } from "./rules.ts";

/**
 * Trusts the config of the working directory as it is now. After this resolves that is on disk.
 *
 * @param configFlag a config named by a flag; such a one is trusted already.
 * @throws Failure `usage` where a config is named, or the working directory has none.
 */
export async function trustConfig(
  { cwd, env, stop: signal }: Pick<RunContext, "cwd" | "env" | "stop">,
  configFlag: string | undefined,
): Promise<NonNullable<Config["found"]>> {
  if (configFlag !== undefined || env.TICKETS_CONFIG)
    throw new Failure(
      "usage",
      "A config named with --config or TICKETS_CONFIG counts as trusted; --trust is for the one in the working directory.",
      { hint: "Leave --config and TICKETS_CONFIG out." },
    );
  const { found } = await loadConfig({ cwd, env, knownRules: KNOWN_RULES, isTrusting: true, signal });
  if (found === undefined)
    throw new Failure("usage", `There is no config in ${displayPath(cwd, cwd)} to trust.`, {
      hint: "Run the command in the folder that holds it.",
    });
  await keepTrust(found.file, found.digest, env);
  return found;
}

/** The core as a command uses it: with the settings of an environment, and words for what happens. */

import type { RunContext } from "../run/context.ts";
import { type EnvironmentOptions, loadSettings, type Settings } from "../run/settings.ts";
import type { Context } from "./context.ts";
import { progressOf } from "./event-words.ts";

/**
 * The core, and the config and environment that a command is for.
 *
 * @param ledgers "any" for a command that reads a ledger or repairs it, even where there is a second one of the same service.
 */
export async function openSettings(
  context: Context,
  options: EnvironmentOptions,
  ledgers?: "any",
): Promise<Settings & { readonly core: RunContext }> {
  const core = runContextOf(context);
  return { core, ...(await loadSettings(core, options, ledgers)) };
}

export function runContextOf(context: Context): RunContext {
  const { stdout, isStdoutTaken } = context;
  return { ...context, promisesTo: isStdoutTaken ? undefined : stdout, progress: progressOf(context) };
}

/** What a command gives the core: its surroundings, its sandbox and its words. */

import type { Environment } from "../config/environment.ts";
import type { BuiltInService, RunContext } from "../run/context.ts";
import { sandboxStatePath } from "../run/ledger-of.ts";
import { type EnvironmentOptions, loadSettings, type Settings } from "../run/settings.ts";
import { cleanText } from "../text.ts";
import type { Context } from "./context.ts";
import { progressOf } from "./words.ts";

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
  return {
    ...context,
    promisesTo: isStdoutTaken ? undefined : stdout,
    openSandbox: (environment) => startBuiltIn(environment, context),
    progress: progressOf(context),
  };
}

/** The sandbox inside the command; its state stays between commands. */
async function startBuiltIn(environment: Environment, { reporter }: Context): Promise<BuiltInService> {
  const { startSandbox } = await import("../sandbox/server.ts");
  return startSandbox({
    engine: { path: sandboxStatePath(environment), accept: environment.accept },
    onError: (error) => reporter.error(`The sandbox could not answer a request: ${cleanText(String(error), 300)}`),
  });
}

import { cleanText } from "../actions/text.ts";
import type { Environment } from "../config/environment.ts";
import type { BuiltInService, RunContext } from "../run/context.ts";
import { sandboxStatePath } from "../run/ledger-of.ts";
import type { Context } from "./context.ts";
import { progressOf } from "./words.ts";

/** What a command gives the core: its surroundings, its sandbox and its words. */
export function runContextOf(context: Context): RunContext {
  const { cwd, env, stdin, stdout, isStdoutTaken, now, stop, abort } = context;
  return {
    cwd,
    env,
    stdin,
    promisesTo: isStdoutTaken ? undefined : stdout,
    ...(now !== undefined && { now }),
    stop,
    abort,
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

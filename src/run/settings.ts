/** The config and the environment that a command is for. */

import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Config, loadConfig } from "../config/config.ts";
import { type Environment, type EnvironmentFlags, resolveEnvironment } from "../config/environment.ts";
import { userStateDirectory } from "../config/files.ts";
import { conflictOf } from "../config/key.ts";
import { Failure } from "../failure.ts";
import { findLedger } from "../ledger/ledger.ts";
import { KNOWN_RULES } from "../rules.ts";
import type { RunContext } from "./context.ts";

/** Flags that say which environment is used and where its state is; `tickets env` shows the result. */
export interface EnvironmentOptions {
  readonly env?: string | undefined;
  readonly config?: string | undefined;
  readonly flags: EnvironmentFlags;
}

export interface Settings {
  readonly config: Config;
  readonly environment: Environment;
}

/** The config alone, for a check that names no environment. */
export type SettingsToCheck = Settings | { readonly config: Config; readonly environment?: undefined };

export async function loadSettingsToCheck(context: RunContext, options: EnvironmentOptions): Promise<SettingsToCheck> {
  if (options.env !== undefined || context.env.TICKETS_ENV !== undefined) return loadSettings(context, options);
  return { config: await configOf(context, { configFlag: options.config }) };
}

/** What a config is loaded with. */
type Loading = Pick<RunContext, "cwd" | "env" | "stop">;

export const configOf = (
  { cwd, env, stop: signal }: Loading,
  which: { readonly configFlag?: string | undefined; readonly isTrusting?: boolean },
): Promise<Config> => loadConfig({ cwd, env, signal, knownRules: KNOWN_RULES, ...which });

/**
 * The config, and the environment that the command is for.
 *
 * @param ledgers "one": a second ledger of the same service is refused. "any": it is only reported, for commands that read a
 * ledger or repair it.
 */
export async function loadSettings(
  context: RunContext,
  options: EnvironmentOptions,
  ledgers: "one" | "any" = "one",
): Promise<Settings> {
  const { env, progress } = context;
  const config = await configOf(context, { configFlag: options.config });
  const choice = { envFlag: options.env, configFlag: options.config, env, flags: options.flags };
  const environment = resolveEnvironment(config, choice);
  progress.happened({ kind: "environment chosen", environment });
  await refuseMovedAddress(config, environment, env);
  const problem = await conflictOf(config, environment, env, context.stop);
  if (problem !== undefined && ledgers === "one") throw problem;
  if (problem !== undefined) progress.happened({ kind: "warning", message: problem.message });
  return { config, environment };
}

/**
 * A config that merely lies in a folder may name both another address and another ledger. The key would be sent there, and
 * that ledger would not object. So the ledger in the user's usual place is compared too.
 */
async function refuseMovedAddress(config: Config, environment: Environment, env: NodeJS.ProcessEnv): Promise<void> {
  const { kind, baseUrl, ledgerOwner, ledgerPath, ledgerServer } = environment;
  if (kind === "sandbox" || config.found === undefined || config.found.isTrusted) return;
  const usual = userStateDirectory(env);
  if (usual === undefined) return;
  const path = join(usual, ledgerOwner, "ledger.db");
  if ((path === ledgerPath && ledgerServer === undefined) || !existsSync(path)) return;
  await using ledger = await findLedger({ place: { kind: "sqlite", path }, boundTo: undefined });
  const bound = ledger?.boundTo;
  if (bound === undefined || bound === baseUrl) return;
  throw new Failure(
    "usage",
    `Your ledger of ${environment.name} (${path}) belongs to ${bound}, but the config in this folder sets its baseUrl to ${baseUrl}.`,
    {
      nothingSent: true,
      hint: "A config that is not trusted may not send your key elsewhere. Rename the environment, or read the config.\nIf you wrote it or trust who did, now and after every change: tickets env --trust",
    },
  );
}

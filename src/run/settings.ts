/** The config and the environment that a command is for. */

import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { importCommand, resultsCommand, statusCommand } from "../actions/next-command.ts";
import { displayPath } from "../actions/text.ts";
import { type Config, loadConfig } from "../config/config.ts";
import { type Environment, type EnvironmentFlags, ownLedgerOf, resolveEnvironment } from "../config/environment.ts";
import { userStateDirectory } from "../config/paths.ts";
import { twinFailure } from "../config/twins.ts";
import { Failure } from "../failure.ts";
import { findLedger } from "../ledger/open.ts";
import type { RunContext } from "./context.ts";
import { KNOWN_RULES } from "./rules.ts";

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
  const { cwd, env, stop: signal } = context;
  if (options.env !== undefined || env.TICKETS_ENV !== undefined) return loadSettings(context, options);
  return { config: await loadConfig({ cwd, env, configFlag: options.config, knownRules: KNOWN_RULES, signal }) };
}

/**
 * The config, and the environment that the command is for.
 *
 * @param ledgers "one": a second ledger of the same service is refused. "any": it is only reported, for commands that read a
 * ledger or mend it.
 */
export async function loadSettings(
  context: RunContext,
  options: EnvironmentOptions,
  ledgers: "one" | "any" = "one",
): Promise<Settings> {
  const { cwd, env, progress } = context;
  const config = await loadConfig({
    cwd,
    env,
    configFlag: options.config,
    knownRules: KNOWN_RULES,
    signal: context.stop,
  });
  const choice = { envFlag: options.env, configFlag: options.config, env, flags: options.flags };
  const environment = resolveEnvironment(config, choice);
  progress.happened({ kind: "environment chosen", environment });
  await refuseMovedAddress(config, environment, env);
  const problem =
    (await twinFailure(config, environment, env, context.stop)) ??
    forgottenLedger(environment, ownLedgerOf(config, environment, choice), cwd);
  if (problem !== undefined && ledgers === "one") throw problem;
  if (problem !== undefined) progress.happened({ kind: "ledgers in conflict", problem });
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
    `${environment.name} has a ledger in your usual place too (${path}), which belongs to ${bound}, and this folder's config names ${baseUrl} for it. Nothing was sent.`,
    {
      hint: "A config that merely lies in a folder may not send your key elsewhere. Call the environment otherwise, or read the config.\nIf you wrote it or trust who did, now and after every change: tickets env --trust",
    },
  );
}

/** What an environment was sent before it shared another's ledger must be imported there. */
export function forgottenLedger(environment: Environment, own: string | undefined, cwd: string): Failure | undefined {
  if (own === undefined) return undefined;
  const { name, ledgerOwner } = environment;
  const file = `${name}.promises.ndjson`;
  return new Failure(
    "usage",
    `${name} shares the ledger of ${ledgerOwner}, but also has its own (${displayPath(own, cwd)}); what only that one knows would be sent again. Nothing was sent.`,
    {
      hint: [
        `Without the line sameServiceAs, settle its open runs: ${statusCommand(environment)}`,
        `Then write its promises: ${resultsCommand(environment)} -o ${file}`,
        `With the line again: ${importCommand(environment, file)}`,
        `Then move ${displayPath(dirname(own), cwd)} away.`,
      ].join("\n"),
    },
  );
}

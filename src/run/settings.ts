/** The config and the environment that a command is for. */

import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { importCommand, resultsCommand, statusCommand } from "../actions/next-command.ts";
import { count, displayPath } from "../actions/text.ts";
import { type Config, loadConfig } from "../config/config.ts";
import { type Environment, type EnvironmentFlags, ownLedgerOf, resolveEnvironment } from "../config/environment.ts";
import type { Key } from "../config/key.ts";
import { type Neighbour, readNeighbours, secondLedger } from "../config/neighbours.ts";
import { userStateDirectory } from "../config/paths.ts";
import { Failure } from "../failure.ts";
import { readMeta } from "../ledger/ledger.ts";
import { openLedger } from "../ledger/open-ledger.ts";
import { actionsOutside, type SiblingLedger } from "../ledger/siblings.ts";
import type { RunContext } from "./context.ts";
import { lookBeside } from "./former-self.ts";
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
  /** Other environments at the same address, declared or known by their ledgers alone. */
  readonly neighbours: readonly Pick<Neighbour, "name" | "key">[];
  /** Ledgers that may be what this environment kept under another name. */
  readonly former: readonly SiblingLedger[];
  /** The key, where it was read to be compared: its source may give it only once. */
  readonly key?: Key | undefined;
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
 * ledger or mend it. "to send": it is refused, and where a key has to be compared, one that a command gives is read too.
 * "to publish": it is refused, and a server is waited for as where something is sent.
 */
export async function loadSettings(
  context: RunContext,
  options: EnvironmentOptions,
  ledgers: "one" | "any" | "to send" | "to publish" = "one",
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
  const declared = await readNeighbours(config, environment, env, context.stop);
  const twice =
    secondLedger(config, environment, declared) ??
    forgottenLedger(environment, ownLedgerOf(config, environment, choice), cwd) ??
    leftBehind(environment, cwd);
  refuseMovedAddress(config, environment, env);
  const sends = ledgers === "to send" && twice === undefined;
  const waits = sends || ledgers === "to publish";
  const beside = await lookBeside(config, environment, declared, { env, signal: context.stop, sends, waits });
  const problem = twice ?? beside.problem;
  const isRefused = ledgers === "one" || ledgers === "to send" || ledgers === "to publish";
  if (problem !== undefined && isRefused) throw problem;
  if (problem !== undefined) progress.happened({ kind: "ledgers in conflict", problem });
  const { others, former, key } = beside;
  return { config, environment, neighbours: [...declared, ...others], former, key };
}

/**
 * A config that merely lies in a folder may name both another address and another ledger. The key would be sent there, and
 * that ledger would not object. So the ledger in the user's usual place is compared too.
 */
function refuseMovedAddress(config: Config, environment: Environment, env: NodeJS.ProcessEnv): void {
  const { kind, baseUrl, ledgerOwner, ledgerPath, ledgerServer } = environment;
  if (kind === "sandbox" || config.found === undefined || config.found.isTrusted) return;
  const usual = userStateDirectory(env);
  if (usual === undefined) return;
  const path = join(usual, ledgerOwner, "ledger.db");
  if ((path === ledgerPath && ledgerServer === undefined) || !existsSync(path)) return;
  using ledger = openLedger({ path, boundTo: undefined, readOnly: true });
  const bound = readMeta(ledger, "bound_to");
  if (bound === undefined || bound === baseUrl) return;
  throw new Failure(
    "usage",
    `${environment.name} has a ledger in your usual place too (${path}), which belongs to ${bound}, and this folder's config names ${baseUrl} for it. Nothing was sent.`,
    {
      hint: "A config that merely lies in a folder may not send your key elsewhere. Call the environment otherwise, or read the config.\nIf you wrote it or trust who did, now and after every change: tickets env --trust",
    },
  );
}

/** What an environment was sent before its ledger was in a database must be imported there. */
export function leftBehind(environment: Environment, cwd: string): Failure | undefined {
  const { name, ledgerPath: path, ledgerServer } = environment;
  if (ledgerServer === undefined || !existsSync(path)) return undefined;
  using ledger = openLedger({ path, boundTo: undefined, readOnly: true });
  const actions = actionsOutside(ledger);
  if (actions === 0) return undefined;
  const [file, promises] = [displayPath(path, cwd), `${name}.promises.ndjson`];
  return new Failure(
    "usage",
    `The ledger of ${name} is in PostgreSQL now, but there is also the file that it was in (${file}), which knows of ${count(actions, "action")} accepted or in doubt. What only the file knows would be sent again. Nothing was sent.`,
    {
      hint: [
        `Without the line ledger:, settle its open runs: ${statusCommand(environment)}`,
        `Then write its promises: ${resultsCommand(environment)} -o ${promises}`,
        `Move ${file} away.`,
        `With the line again: ${importCommand(environment, promises)}`,
      ].join("\n"),
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

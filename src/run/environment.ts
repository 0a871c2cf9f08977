/** Which environment would be used, and where each value came from. Sends nothing, runs no command, shows no key. */

import { statSync } from "node:fs";
import type { Config } from "../config/config.ts";
import { describeKeySource, describeProgram, listEnvironments } from "../config/declared.ts";
import { formatDuration } from "../config/duration.ts";
import { type Environment, resolveEnvironment } from "../config/environment.ts";
import { keyPresence } from "../config/key.ts";
import { describeLedgerServer, describeLedgerSource } from "../config/ledger-server.ts";
import { SETTING_NAMES, type SettingName } from "../config/settings.ts";
import { describeTls } from "../config/tls.ts";
import { errorCode, Failure } from "../failure.ts";
import type { LockHolder, Run } from "../ledger/ledger.ts";
import type { ServerFacts } from "../ledger/workers.ts";
import { proxyOf } from "../send/proxy.ts";
import type { RunContext } from "./context.ts";
import { findLedgerOf, LOCK } from "./ledger-of.ts";
import { defaultOutput } from "./outputs.ts";
import { configOf, conflictOf, type EnvironmentOptions } from "./settings.ts";

export interface EnvironmentView {
  readonly config: Config;
  /** Undefined where none is chosen. */
  readonly used: UsedEnvironment | undefined;
  /** All environments, where none was named. */
  readonly environments: ReturnType<typeof listEnvironments> | undefined;
  /** Why any command would stop. */
  readonly problem: Failure | undefined;
}

export interface UsedEnvironment {
  readonly name: string;
  readonly from: string;
  readonly kind: Environment["kind"];
  readonly baseUrl: { readonly value: string | null; readonly from: string };
  /** The proxy that requests go through, without user and password. */
  readonly proxy: string | null;
  readonly apiKey: { readonly source: string; readonly state: string; readonly from: string };
  readonly settings: Readonly<Record<string, { readonly value: unknown; readonly from: string }>>;
  readonly ledgerPath: string;
  /** Where the ledger is, if a database holds it: host, database and schema, and never a password. */
  readonly ledgerPlace: string | undefined;
  /** Undefined where there is none yet, or it can't be read. */
  readonly ledger: LedgerState | undefined;
  readonly isLedgerReadable: boolean;
}

interface LedgerState {
  /** Who holds its lock. */
  readonly holder: LockHolder | undefined;
  readonly lastRun: Run | undefined;
  readonly bytes: number;
  /** Undefined where it is a file. */
  readonly server: ServerFacts | undefined;
}

/**
 * @param options.name the environment to look at; without it, the one that would be used, and the list of all.
 * @throws Failure `usage` where the environment that is named can't be used, or the config is wrong.
 */
export async function viewEnvironment(
  context: Pick<RunContext, "cwd" | "env" | "stop">,
  { name, env: envFlag, config: configFlag, flags }: EnvironmentOptions & { readonly name: string | undefined },
): Promise<EnvironmentView> {
  const { env } = context;
  const config = await configOf(context, { configFlag });
  const environments = name === undefined ? listEnvironments(config, env) : undefined;
  let environment: Environment;
  try {
    environment = resolveEnvironment(config, { envFlag: name ?? envFlag, configFlag, env, flags });
  } catch (cause) {
    // The list of all environments is still worth showing.
    if (name !== undefined || !(cause instanceof Failure)) throw cause;
    return { config, used: undefined, environments, problem: cause };
  }
  const problem = await conflictOf(context, config, environment);
  const from = name === undefined ? environment.origins.name : "named on the command line";
  let [ledger, trouble]: [LedgerState | undefined, Failure | undefined] = [undefined, undefined];
  try {
    ledger = await ledgerStateOf(environment);
  } catch (cause) {
    // A database that can't be reached is no reason to show nothing.
    if (environment.ledgerServer === undefined || !(cause instanceof Failure)) throw cause;
    trouble = cause;
  }
  const used = { ...(await usedOf(environment, from, env)), ledger, isLedgerReadable: trouble === undefined };
  return { config, used, environments, problem: problem ?? trouble };
}

async function usedOf(
  environment: Environment,
  from: string,
  env: NodeJS.ProcessEnv,
): Promise<Omit<UsedEnvironment, "ledger" | "isLedgerReadable">> {
  const { name, kind, baseUrl, keySource, origins, ledgerPath, ledgerServer } = environment;
  const settings = SETTING_NAMES.map((setting) => {
    return [setting, { value: shownValue(environment, setting), from: origins[setting] }] as const;
  });
  return {
    ...{ name, from, kind },
    baseUrl: { value: baseUrl === "" ? null : baseUrl, from: origins.baseUrl },
    proxy: proxyOf(environment, env)?.shown ?? null,
    apiKey: { source: describeKeySource(keySource), state: await keyPresence(keySource, env), from: origins.apiKey },
    settings: Object.fromEntries(settings),
    ledgerPath,
    ledgerPlace: ledgerServer && describeLedgerServer(ledgerServer),
  };
}

/** A setting as a config writes it; what holds secrets by its places alone. */
function shownValue(environment: Environment, setting: SettingName): unknown {
  const { timeoutMs, tls, onEnd, ledgerServer } = environment;
  if (setting === "timeout") return formatDuration(timeoutMs);
  if (setting === "tls") return tls === undefined ? null : describeTls(tls);
  if (setting === "onEnd") return onEnd === undefined ? null : describeProgram(onEnd.command);
  if (setting === "ledger") return ledgerServer === undefined ? "SQLite" : describeLedgerSource(ledgerServer);
  if (setting === "output") return environment.output ?? defaultOutput(environment.name);
  return environment[setting] ?? null;
}

async function ledgerStateOf(environment: Environment): Promise<LedgerState | undefined> {
  if (environment.ledgerServer === undefined && !exists(environment.ledgerPath)) return undefined;
  await using ledger = await findLedgerOf(environment);
  if (ledger === undefined) return undefined;
  return {
    holder: await ledger.holder(LOCK),
    lastRun: (await ledger.runs({ last: 1 })).at(-1),
    bytes: await ledger.bytes(),
    server: await ledger.workers?.facts(),
  };
}

function exists(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch (cause) {
    throw new Failure("storage", `Can't look at the ledger ${path} (${errorCode(cause)}).`, {
      hint: "Check who may look into its folder.",
      cause,
    });
  }
}

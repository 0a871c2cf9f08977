/** Which environment a command works with, every setting of it, and where each value came from. */

import { existsSync } from "node:fs";
import { join } from "node:path";
import { nearest } from "../actions/nearest.ts";
import { Failure } from "../failure.ts";
import { cleanText, displayPath, quoted } from "../text.ts";
import { type Config, originOf } from "./config.ts";
import {
  baseUrlOf,
  type KeySource,
  keySourceOf,
  ledgerOwnerOf,
  listEnvironments,
  originIn,
  placeIn,
  SANDBOX,
  type Sourced,
} from "./declared.ts";
import { toPath, userStateDirectory } from "./files.ts";
import { type LedgerServer, ledgerServerOf } from "./ledger-server.ts";
import {
  ENVIRONMENT_NAME,
  SETTING_NAMES,
  SETTINGS,
  type Setting,
  type SettingName,
  type Settings,
  type TextSetting,
  variablePart,
} from "./settings.ts";

/** Everything that sending to one environment needs to know. Frozen; holds no secret. Paths are absolute. */
export interface Environment extends Omit<Settings, "timeout" | "onEnd" | "ledger"> {
  readonly name: string;
  readonly kind: "sandbox" | "service";
  /** Normalised, without a slash at the end; empty for the sandbox, whose address is known when it has started. */
  readonly baseUrl: string;
  readonly keySource: KeySource;
  readonly timeoutMs: number;
  readonly confirm: boolean;
  /** Run after each run, without a shell in this directory. */
  readonly onEnd?: { readonly command: readonly string[]; readonly directory: string };
  readonly stateDir: string;
  readonly ledgerPath: string;
  /** The database that holds the ledger. Absent: the file at `ledgerPath` does. The folder of `ledgerPath` is this machine's state in any case. */
  readonly ledgerServer?: LedgerServer;
  /** The environment whose ledger it keeps: its own name, or that of `sameServiceAs`. */
  readonly ledgerOwner: string;
  /** All environments that keep this ledger, its owner first. */
  readonly ledgerNames: readonly string[];
  /** The flags that lead another command to the same ledger. */
  readonly named: readonly string[];
  /** Where each setting came from: a flag, a variable, `FILE:LINE`, "built in" or "default". */
  readonly origins: Readonly<Record<"name" | "baseUrl" | "apiKey" | SettingName, string>>;
}

/** What a caller sets in place of the config, as text or a number; the command line has a flag for `lanes` alone. */
export type EnvironmentFlags = Readonly<Partial<Record<TextSetting, string | number | undefined>>>;

export interface EnvironmentChoice {
  readonly envFlag?: string | undefined;
  readonly configFlag?: string | undefined;
  readonly env: NodeJS.ProcessEnv;
  readonly flags?: EnvironmentFlags;
}

/**
 * Chooses the environment (`--env`, `TICKETS_ENV`, the config's `env`, else the sandbox while nothing is configured) and
 * takes every value from flag, variable, config, default, in this order.
 *
 * Throws a `usage` failure when nothing or something unknown is chosen or a value can't be used; nothing was sent then.
 */
export function resolveEnvironment(config: Config, choice: EnvironmentChoice): Environment {
  const { name, origin } = chooseName(config, choice);
  const settings = settingsOf(config, name, choice);
  const { timeout: timeoutMs, onEnd: command, ledger: _, ...values } = settings.values;
  const { configFlag, env } = choice;
  const owner = ledgerOwnerOf(config, name);
  const stateDir = stateDirOf(config, owner, env);
  const service = name === SANDBOX ? sandbox(env) : serviceOf(config, name, env);
  const server = ledgerServerOf(config, owner, env);
  const directory = config.environments.get(name)?.directory;
  return Object.freeze({
    ...values,
    timeoutMs,
    confirm: values.confirm ?? name === "production",
    ...(command && directory !== undefined && { onEnd: { command, directory } }),
    stateDir: stateDir.value,
    ledgerPath: ledgerIn(stateDir.value, owner),
    ...(server && { ledgerServer: server }),
    ledgerOwner: owner,
    ledgerNames: [
      owner,
      ...[...config.environments.keys()].filter((each) => each !== owner && ledgerOwnerOf(config, each) === owner),
    ],
    ...service.values,
    name,
    named: ["--env", name, ...(configFlag === undefined ? [] : ["--config", configFlag])],
    origins: Object.freeze({
      ...{ name: origin, ...settings.origins, stateDir: stateDir.origin },
      ledger: server?.origin ?? "default",
      ...service.origins,
    }),
  });
}

function sandbox(env: NodeJS.ProcessEnv) {
  // Whoever sets an address means to send somewhere: sending to this machine instead must not be silent.
  if (env.TICKETS_SANDBOX_BASE_URL)
    throw new Failure("usage", "TICKETS_SANDBOX_BASE_URL is set, but the sandbox is built in and has no address", {
      hint: "Unset it, or give the environment another name. Nothing was sent.",
    });
  const keySource: KeySource = {};
  return {
    values: { kind: "sandbox", baseUrl: "", keySource, complete: true, statusPath: "/actions/{actionPromise}" },
    origins: { baseUrl: "built in", apiKey: "built in", complete: "built in", statusPath: "built in" },
  } as const;
}

function serviceOf(config: Config, name: string, env: NodeJS.ProcessEnv) {
  const address = baseUrlOf(config, name, env);
  refuseWrongTwin(config, name, address.value, env);
  const key = keySourceOf(config, name, env);
  return {
    values: { kind: "service", baseUrl: address.value, keySource: key.value },
    origins: { baseUrl: address.origin, apiKey: key.origin },
  } as const;
}

/** @throws Failure `usage` for a `sameServiceAs` that would give two services one ledger. */
function refuseWrongTwin(config: Config, name: string, baseUrl: string, env: NodeJS.ProcessEnv): void {
  const other = config.environments.get(name)?.sameServiceAs;
  if (other === undefined) return;
  const said = `${name} says sameServiceAs: ${other} (${placeIn(config, name, "sameServiceAs")})`;
  const refuse = (what: string, hint: string): Failure =>
    new Failure("usage", `${said}${what}`, { hint: `${hint} Nothing was sent.` });
  if (config.environments.get(name)?.ledger !== undefined)
    throw refuse(
      " and names a ledger of its own",
      `The ledger of ${other} is used. Name the database there, and remove it here.`,
    );
  if (other === SANDBOX)
    throw refuse(
      ", but the sandbox is a separate service on this machine",
      "Name another environment, or remove the line.",
    );
  const names = listEnvironments(config, env).map((each) => each.name);
  if (!names.includes(other)) {
    const near = nearest(other, names);
    const meant = near === undefined || near === name ? "" : ` Did you mean ${near}?`;
    throw refuse(", but there is no such environment", `There are: ${names.join(", ")}.${meant}`);
  }
  const third = config.environments.get(other)?.sameServiceAs;
  if (third !== undefined)
    throw refuse(`, which itself says sameServiceAs: ${third}`, "The one that keeps the ledger has no such line.");
  const address = baseUrlOf(config, other, env).value;
  if (address !== baseUrl)
    throw refuse(
      `, but they have two addresses: ${baseUrl} and ${address}`,
      "Give both the same base URL, or remove the line.",
    );
}

function chooseName(
  config: Config,
  { envFlag, env }: EnvironmentChoice,
): { readonly name: string; readonly origin: string } {
  const names = listEnvironments(config, env).map(({ name }) => name);
  const chosen = [
    { name: envFlag, origin: "flag --env" },
    { name: env.TICKETS_ENV || undefined, origin: "TICKETS_ENV" },
    { name: config.env, origin: originOf(config, ["env"]) ?? "config" },
  ].find(({ name }) => name !== undefined);
  if (chosen?.name === undefined) {
    if (names.every((name) => name === SANDBOX))
      return { name: SANDBOX, origin: "default (no environment is configured)" };
    throw new Failure("usage", `No environment is chosen. There are: ${names.join(", ")}`, {
      hint: "Name one with --env or TICKETS_ENV, or put `env: NAME` into the config.",
    });
  }
  const { name, origin } = chosen;
  if (!names.includes(name)) throw unknownEnvironment(config, name, origin, names);
  return { name, origin };
}

function unknownEnvironment(config: Config, name: string, origin: string, names: readonly string[]): Failure {
  const near = nearest(name, names);
  const shown = `"${cleanText(name, 64)}" (${origin})`;
  const rest = `There are: ${names.join(", ")}.${near === undefined ? "" : ` Did you mean ${near}?`}`;
  if (!ENVIRONMENT_NAME.test(name))
    return new Failure("usage", `${shown} can't be the name of an environment, which holds a-z, 0-9, - and _ only.`, {
      hint: rest,
    });
  const part = variablePart(name);
  const [file = "tickets.config.yaml"] = config.files;
  return new Failure("usage", `No environment ${shown} is configured. ${rest}`, {
    hint: `Set TICKETS_${part}_BASE_URL and TICKETS_${part}_API_KEY, or declare it under environments in ${displayPath(file, config.cwd)}.`,
  });
}

/** Every setting of the table, from flag, variable, config or default. All that can't be read is one failure. */
function settingsOf(config: Config, name: string, choice: EnvironmentChoice) {
  const declared = config.environments.get(name);
  const values: Partial<Record<SettingName, unknown>> = {};
  const origins: Partial<Record<SettingName, string>> = {};
  const problems: string[] = [];
  for (const setting of SETTING_NAMES) {
    const { schema, otherwise, isText }: Setting = SETTINGS[setting];
    const given = isText && textOf(setting, choice);
    if (given === undefined) {
      const written = declared?.[setting];
      origins[setting] = written === undefined ? "default" : originIn(config, name, setting);
      const value = written ?? otherwise;
      if (value !== undefined) values[setting] = value;
      continue;
    }
    const { text, by, origin } = given;
    origins[setting] = origin;
    const read = schema.safeParse(isText === "number" && NUMBER.test(text) ? Number(text) : text);
    if (read.success) values[setting] = read.data;
    else problems.push(`${by} ${read.error.issues[0]?.message}${isText === "number" ? `, not ${quoted(text)}` : ""}`);
  }
  if (problems.length > 0) throw new Failure("usage", problems.join("\n"));
  return {
    values: values as Settings, // each by its own schema, or its default
    origins: origins as Record<SettingName, string>, // one for each setting
  };
}

const NUMBER = /^\d{1,15}(?:\.\d{1,9})?$/;

/** What a flag says of a setting, or else a variable, and how they are called. */
function textOf(setting: SettingName, { env, flags = {} }: EnvironmentChoice) {
  const words = setting.replace(/[A-Z]/g, (capital) => `-${capital.toLowerCase()}`);
  const variable = `TICKETS_${variablePart(words)}`;
  const byFlag: string | number | undefined = (flags as Readonly<Record<string, string | number>>)[setting]; // its own keys
  const named = setting === "lanes" ? { by: "--lanes", origin: "flag --lanes" } : { by: setting, origin: "the caller" };
  if (byFlag !== undefined) return { text: String(byFlag), ...named };
  const text = env[variable];
  return text ? { text, by: variable, origin: variable } : undefined;
}

/** The ledger that an environment kept before it shared another's, if it is still there. It is no longer read. */
export function ownLedgerOf(
  config: Config,
  { name, ledgerOwner }: Environment,
  env: NodeJS.ProcessEnv,
): string | undefined {
  if (ledgerOwner === name) return undefined;
  const path = ledgerIn(stateDirOf(config, name, env).value, name);
  return existsSync(path) ? path : undefined;
}

const ledgerIn = (stateDir: string, owner: string): string => join(stateDir, owner, "ledger.db");

function stateDirOf(config: Config, name: string, env: NodeJS.ProcessEnv): Sourced<string> {
  const given = env.TICKETS_STATE_DIR ?? "";
  // With a blank it would be another folder, whose ledger knows nothing of what was sent.
  if (given !== given.trim())
    throw new Failure("usage", `TICKETS_STATE_DIR begins or ends with a blank: ${quoted(given)}.`, {
      hint: "Take the blank out. Another folder is another ledger, which would send everything again.",
    });
  if (given !== "") return { value: toPath(given, config.cwd, env), origin: "TICKETS_STATE_DIR" };
  const own = config.environments.get(name)?.stateDir;
  if (own !== undefined) return { value: own, origin: originIn(config, name, "stateDir") };
  if (config.stateDir !== undefined)
    return { value: config.stateDir, origin: originOf(config, ["stateDir"]) ?? "config" };
  const value = name === SANDBOX ? join(config.cwd, ".tickets") : userStateDirectory(env);
  if (value !== undefined) return { value, origin: "default" };
  throw new Failure("usage", "There is no home directory to keep the ledger in", {
    hint: "Name a folder with TICKETS_STATE_DIR, or stateDir in the config.",
  });
}

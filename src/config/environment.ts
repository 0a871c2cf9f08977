/** Which environment a command works with, every setting of it, and where each value came from. */

import { existsSync } from "node:fs";
import { join } from "node:path";
import { nearest } from "../actions/nearest.ts";
import { cleanText, displayPath, quoted } from "../actions/text.ts";
import { Failure } from "../failure.ts";
import { parseBaseUrl } from "./base-url.ts";
import { type Config, type EnvironmentConfig, originOf } from "./config.ts";
import { parseDuration } from "./duration.ts";
import { type LedgerServer, schemaOfOwner, toLedgerServer } from "./ledger-server.ts";
import { toPath, userStateDirectory } from "./paths.ts";
import { ENVIRONMENT_NAME, LIMITS, rangeText, variablePart } from "./schema.ts";

/** Where a key is; never the key. */
export type KeySource =
  | { readonly kind: "built-in" }
  | { readonly kind: "variable"; readonly name: string }
  | { readonly kind: "file"; readonly path: string }
  | { readonly kind: "command"; readonly command: readonly string[]; readonly directory: string };

/** A program with its arguments, run without a shell in this directory. */
interface OnEnd {
  readonly command: readonly string[];
  readonly directory: string;
}

/** Where a client certificate, its key and the authorities are; paths are absolute. */
export interface TlsSource {
  readonly cert?: string;
  readonly key?: string;
  readonly ca?: string;
  readonly passphrase?: Extract<KeySource, { kind: "variable" | "file" }>;
}

/** Everything that sending to one environment needs to know. Frozen; holds no secret. */
export interface Environment {
  readonly name: string;
  readonly kind: "sandbox" | "service";
  /** Normalised, without a slash at the end; empty for the sandbox, whose address is known when it has started. */
  readonly baseUrl: string;
  readonly keySource: KeySource;
  /** Actions per request. */
  readonly chunkSize: number;
  readonly maxChunkBytes: number;
  readonly timeoutMs: number;
  readonly retries: number;
  readonly retryStatuses: readonly number[];
  /** Actions per second; absent: no limit. */
  readonly rate?: number;
  readonly lanes: number;
  readonly maxRejected: number;
  readonly refusalsAreWhole: boolean;
  readonly complete: boolean;
  readonly statusPath?: string;
  /** The environment that is the same service under another name, whose ledger this one shares. */
  readonly sameServiceAs?: string;
  /** Promises file, absolute or `-`, where the config names one. */
  readonly output?: string;
  readonly confirm: boolean;
  readonly freshConnection: boolean;
  readonly tls?: TlsSource;
  /** Run after each run. */
  readonly onEnd?: OnEnd;
  /** Ids of rules that the service does not insist on. */
  readonly accept: readonly string[];
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
  readonly origins: Readonly<Record<SettingName, string>>;
}

export type SettingName = "name" | "baseUrl" | "apiKey" | keyof EnvironmentSettings;
type EnvironmentSettings = Omit<
  Environment,
  "name" | "kind" | "baseUrl" | "keySource" | "ledgerPath" | "ledgerOwner" | "ledgerNames" | "named" | "origins"
>;

/** What the command line said, as text; numbers are taken too. */
export interface EnvironmentFlags {
  readonly chunkSize?: string | number | undefined;
  readonly lanes?: string | number | undefined;
  readonly rate?: string | number | undefined;
  readonly timeout?: string | number | undefined;
  readonly retries?: string | number | undefined;
  readonly stateDir?: string | undefined;
}

export interface EnvironmentChoice {
  readonly envFlag?: string | undefined;
  readonly configFlag?: string | undefined;
  readonly env: NodeJS.ProcessEnv;
  readonly flags?: EnvironmentFlags;
}

const SANDBOX = "sandbox";

const DEFAULT_MAX_CHUNK_BYTES = 8 * 1024 * 1024; // gateways of this kind take at most 10 MB
const DEFAULT_TIMEOUT_MS = 120_000;

/**
 * Chooses the environment (`--env`, `TICKETS_ENV`, the config's `env`, else the sandbox while nothing is configured) and
 * takes every value from flag, variable, config, default, in this order.
 *
 * Throws a `usage` failure when nothing or something unknown is chosen or a value can't be used; nothing was sent then.
 */
export function resolveEnvironment(config: Config, choice: EnvironmentChoice): Environment {
  const { name, origin } = chooseName(config, choice);
  const { values, origins } = resolveSettings(config, name, choice);
  const { configFlag, flags: { stateDir } = {} } = choice;
  const named = [
    ...["--env", name],
    ...(configFlag === undefined ? [] : ["--config", configFlag]),
    ...(stateDir === undefined ? [] : ["--state-dir", stateDir]),
  ];
  const service = name === SANDBOX ? sandbox(choice.env) : serviceOf(config, name, choice.env);
  return Object.freeze({
    ...values,
    ...service.values,
    name,
    named,
    origins: Object.freeze({ name: origin, ...origins, ...service.origins }),
  });
}

function sandbox(env: NodeJS.ProcessEnv) {
  refuseSandboxAddress(env);
  const keySource: KeySource = { kind: "built-in" };
  return {
    values: { kind: "sandbox", baseUrl: "", keySource, complete: true, statusPath: "/actions/{actionPromise}" },
    origins: { baseUrl: "built in", apiKey: "built in", complete: "built in", statusPath: "built in" },
  } as const;
}

function serviceOf(config: Config, name: string, env: NodeJS.ProcessEnv) {
  const address = baseUrlOf(config, name, env);
  refuseWrongTwin(config, name, address.value, env);
  refuseTlsWithout(config, name, address.value);
  const key = keySourceOf(config, name, env);
  return {
    values: { kind: "service", baseUrl: address.value, keySource: key.value },
    origins: { baseUrl: address.origin, apiKey: key.origin },
  } as const;
}

/** Whoever names a certificate counts on a connection that is guarded by it. */
function refuseTlsWithout(config: Config, name: string, baseUrl: string): void {
  if (!baseUrl.startsWith("http:") || config.environments.get(name)?.tls === undefined) return;
  const place = displayOrigin(originOf(config, ["environments", name, "tls"]) ?? "config", config.cwd);
  throw new Failure("usage", `${name} names certificates (tls, ${place}), but its address ${baseUrl} has no TLS`, {
    hint: "Use an https: address, or remove the line. Nothing was sent.",
  });
}

/** Environments that could be named, sorted, with the sandbox; each with where it is declared. */
export function listEnvironments(
  config: Config,
  env: NodeJS.ProcessEnv,
): readonly { readonly name: string; readonly origin: string }[] {
  const found = new Map<string, string>();
  for (const name of config.environments.keys()) found.set(name, originOf(config, ["environments", name]) ?? "config");
  const declared = new Set([...config.environments.keys()].map(variablePart));
  for (const [variable, value] of Object.entries(env)) {
    const part = /^TICKETS_([A-Z0-9_]+)_BASE_URL$/.exec(variable)?.[1];
    if (part === undefined || !value || declared.has(part)) continue;
    // One spelling only: pre-prod and pre_prod would share the variables but not the ledger, and send everything twice.
    const name = part.toLowerCase().replaceAll("_", "-");
    if (name !== SANDBOX && ENVIRONMENT_NAME.test(name)) found.set(name, variable);
  }
  if (!found.has(SANDBOX)) found.set(SANDBOX, "built in");
  return [...found].map(([name, origin]) => ({ name, origin })).sort((one, other) => (one.name < other.name ? -1 : 1));
}

function chooseName(
  config: Config,
  { envFlag, env }: EnvironmentChoice,
): { readonly name: string; readonly origin: string } {
  const names = listEnvironments(config, env).map(({ name }) => name);
  const chosen =
    envFlag !== undefined
      ? { name: envFlag, origin: "flag --env" }
      : env.TICKETS_ENV
        ? { name: env.TICKETS_ENV, origin: "TICKETS_ENV" }
        : config.env !== undefined
          ? { name: config.env, origin: originOf(config, ["env"]) ?? "config" }
          : undefined;
  if (chosen === undefined) {
    if (names.every((name) => name === SANDBOX))
      return { name: SANDBOX, origin: "default (no environment is configured)" };
    throw new Failure("usage", `No environment is chosen. There are: ${names.join(", ")}`, {
      hint: "Name one with --env or TICKETS_ENV, or put `env: NAME` into the config.",
    });
  }
  if (!names.includes(chosen.name)) throw unknownEnvironment(chosen.name, chosen.origin, names);
  return chosen;
}

function unknownEnvironment(name: string, origin: string, names: readonly string[]): Failure {
  const near = nearest(name, names);
  const shown = `"${cleanText(name, 64)}" (${origin})`;
  const rest = `There are: ${names.join(", ")}.${near === undefined ? "" : ` Did you mean ${near}?`}`;
  if (!ENVIRONMENT_NAME.test(name)) {
    return new Failure("usage", `${shown} can't be the name of an environment, which holds a-z, 0-9, - and _ only.`, {
      hint: rest,
    });
  }
  const part = variablePart(name);
  return new Failure("usage", `No environment ${shown} is configured. ${rest}`, {
    hint: `Set TICKETS_${part}_BASE_URL and TICKETS_${part}_API_KEY, or declare it under environments in tickets.config.yaml.`,
  });
}

/**
 * Whoever sets an address for the sandbox means to send somewhere, so sending to this machine instead must not be silent.
 * The sandbox's key variable is read by `tickets sandbox`.
 */
function refuseSandboxAddress(env: NodeJS.ProcessEnv): void {
  if (!env.TICKETS_SANDBOX_BASE_URL) return;
  throw new Failure("usage", "TICKETS_SANDBOX_BASE_URL is set, but the sandbox is built in and has no address", {
    hint: "Unset it, or give the environment another name. Nothing was sent.",
  });
}

export interface Sourced<T> {
  readonly value: T;
  readonly origin: string;
}

export function baseUrlOf(config: Config, name: string, env: NodeJS.ProcessEnv): Sourced<string> {
  const variable = `TICKETS_${variablePart(name)}_BASE_URL`;
  const written = env[variable];
  if (written) {
    const parsed = parseBaseUrl(written);
    if ("url" in parsed) return { value: parsed.url, origin: variable };
    throw new Failure("usage", `${variable} ${parsed.problem}. Nothing was sent.`, {
      hint: "Set it to the address that came with the key.",
    });
  }
  const declared = config.environments.get(name)?.baseUrl;
  if (declared !== undefined)
    return { value: declared, origin: originOf(config, ["environments", name, "baseUrl"]) ?? "config" };
  const place = originOf(config, ["environments", name]);
  throw new Failure("usage", `Environment ${name}${place === undefined ? "" : ` (${place})`} has no base URL`, {
    hint: `Set ${variable}, or baseUrl in the config. The address comes with the key.`,
  });
}

export function keySourceOf(config: Config, name: string, env: NodeJS.ProcessEnv): Sourced<KeySource> {
  const variable = `TICKETS_${variablePart(name)}_API_KEY`;
  const environment = config.environments.get(name);
  const declared = environment?.apiKey;
  if (env[variable] || environment === undefined || declared === undefined) {
    return { value: { kind: "variable", name: variable }, origin: env[variable] ? variable : "default" };
  }
  const origin = originOf(config, ["environments", name, "apiKey"]) ?? "config";
  if (declared.env !== undefined) return { value: { kind: "variable", name: declared.env }, origin };
  if (declared.file !== undefined) return { value: { kind: "file", path: declared.file }, origin };
  return { value: { kind: "command", command: declared.command ?? [], directory: environment.directory }, origin };
}

/** Which environment's ledger `name` keeps. Only `sameServiceAs` leads to another, and only one step far. */
export function ledgerOwnerOf(config: Config, name: string): string {
  return config.environments.get(name)?.sameServiceAs ?? name;
}

/** Refuses a `sameServiceAs` that would give two services one ledger. */
function refuseWrongTwin(config: Config, name: string, baseUrl: string, env: NodeJS.ProcessEnv): void {
  const other = config.environments.get(name)?.sameServiceAs;
  if (other === undefined) return;
  const place = originOf(config, ["environments", name, "sameServiceAs"]);
  if (config.environments.get(name)?.ledger !== undefined)
    throw new Failure(
      "usage",
      `${name} says sameServiceAs: ${other} (${displayOrigin(place ?? "config", config.cwd)}) and names a ledger of its own`,
      { hint: `The ledger of ${other} is used. Name the database there, and remove it here. Nothing was sent.` },
    );
  const refuse = (what: string, hint: string): Failure =>
    new Failure(
      "usage",
      `${name} says sameServiceAs: ${other} (${displayOrigin(place ?? "config", config.cwd)}), ${what}`,
      { hint: `${hint} Nothing was sent.` },
    );
  if (other === name) throw refuse("which is itself", "Name the other environment, or remove the line.");
  if (other === SANDBOX)
    throw refuse(
      "but the sandbox is a separate service on this machine",
      "Name another environment, or remove the line.",
    );
  const names = listEnvironments(config, env).map((each) => each.name);
  if (!names.includes(other)) {
    const near = nearest(other, names);
    throw refuse(
      "but there is no such environment",
      `There are: ${names.join(", ")}.${near === undefined || near === name ? "" : ` Did you mean ${near}?`}`,
    );
  }
  const third = config.environments.get(other)?.sameServiceAs;
  if (third === name)
    throw refuse(`and ${other} says the same of ${name}`, "One of them keeps the ledger: remove its line.");
  if (third !== undefined)
    throw refuse(`which itself says sameServiceAs: ${third}`, `Name the one that keeps the ledger: ${third}.`);
  const address = baseUrlOf(config, other, env).value;
  if (address !== baseUrl)
    throw refuse(
      `but they have two addresses: ${baseUrl} and ${address}`,
      "Give both the same base URL, or remove the line.",
    );
}

type Settings = Omit<Environment, "name" | "kind" | "baseUrl" | "keySource" | "named" | "origins">;

/** What the config says of an environment, by its keys there. */
type Declared = Partial<EnvironmentConfig>;

/** The settings that are called otherwise than their keys in the config. */
const CALLED: Readonly<Partial<Record<keyof Declared, keyof EnvironmentSettings>>> = {
  timeout: "timeoutMs",
  ledger: "ledgerServer",
};

/** Reads the settings of an environment, and notes where each comes from. */
class SettingReader {
  readonly origins: Partial<Record<keyof EnvironmentSettings, string>> = {};
  readonly problems: string[] = [];
  readonly #config: Config;
  readonly #name: string;
  readonly #choice: EnvironmentChoice;
  readonly #declared: Declared;

  constructor(config: Config, name: string, choice: EnvironmentChoice) {
    this.#config = config;
    this.#name = name;
    this.#choice = choice;
    this.#declared = config.environments.get(name) ?? {};
  }

  from<K extends keyof Declared, T>(key: K, otherwise: T): NonNullable<Declared[K]> | T {
    const value = this.#declared[key];
    const origin = value === undefined ? "default" : originOf(this.#config, ["environments", this.#name, key]);
    this.#note(key, origin ?? "config");
    return value ?? otherwise;
  }

  /** A setting that a flag and a variable override. Text that can't be read is a problem and counts as not given. */
  overridable<K extends keyof Declared & keyof EnvironmentFlags, T extends Declared[K]>(
    key: K,
    read: Reading<NonNullable<Declared[K]>>,
    otherwise: T,
  ): NonNullable<Declared[K]> | T {
    const { flags = {}, env } = this.#choice;
    const words = key.replace(/[A-Z]/g, (capital) => `-${capital.toLowerCase()}`);
    const [flag, variable] = [`--${words}`, `TICKETS_${variablePart(words)}`];
    const isFlag = flags[key] !== undefined;
    const text = String(flags[key] ?? env[variable] ?? "");
    if (!isFlag && text === "") return this.from(key, otherwise);
    const result = read(text);
    this.#note(key, isFlag ? `flag ${flag}` : variable);
    if ("value" in result) return result.value;
    this.problems.push(`${isFlag ? flag : variable} ${result.problem}`);
    return otherwise;
  }

  #note(key: keyof Declared, origin: string): void {
    this.origins[CALLED[key] ?? (key as keyof EnvironmentSettings)] = origin; // as `resolveSettings` asks for them
  }
}

function resolveSettings(
  config: Config,
  name: string,
  choice: EnvironmentChoice,
): { readonly values: Settings; readonly origins: Readonly<Record<keyof EnvironmentSettings, string>> } {
  const settings = new SettingReader(config, name, choice);
  const { origins, problems } = settings;
  const owner = ledgerOwnerOf(config, name);
  const ofLedger = owner === name ? settings : new SettingReader(config, owner, choice);
  const values: Settings = {
    chunkSize: settings.overridable("chunkSize", wholeNumberFrom(LIMITS.chunkSize), LIMITS.chunkSize[1]),
    maxChunkBytes: settings.from("maxChunkBytes", DEFAULT_MAX_CHUNK_BYTES),
    timeoutMs: settings.overridable("timeout", durationFrom, DEFAULT_TIMEOUT_MS),
    retries: settings.overridable("retries", wholeNumberFrom(LIMITS.retries), 8),
    retryStatuses: settings.from("retryStatuses", []),
    ...optional("rate", settings.overridable("rate", rateFrom, undefined)),
    lanes: settings.overridable("lanes", wholeNumberFrom(LIMITS.lanes), 1),
    maxRejected: settings.from("maxRejected", 100),
    refusalsAreWhole: settings.from("refusalsAreWhole", false),
    complete: settings.from("complete", false),
    ...optional("statusPath", settings.from("statusPath", undefined)),
    ...optional("sameServiceAs", settings.from("sameServiceAs", undefined)),
    ...optional("output", settings.from("output", undefined)),
    confirm: settings.from("confirm", name === "production"),
    freshConnection: settings.from("freshConnection", true),
    ...optional("tls", tlsOf(settings.from("tls", undefined))),
    ...optional("onEnd", onEndOf(settings.from("onEnd", undefined), config.environments.get(name))),
    accept: settings.from("accept", []),
    ...optional("ledgerServer", ledgerServerOf(config, owner, ofLedger, choice.env)),
    ...stateOf(config, owner, choice, (origin) => {
      origins.stateDir = origin;
    }),
    ledgerOwner: owner,
    ledgerNames: [
      owner,
      ...[...config.environments.keys()].filter((each) => each !== owner && ledgerOwnerOf(config, each) === owner),
    ],
  };
  origins.ledgerServer = ofLedger.origins.ledgerServer ?? "default";
  if (problems.length > 0) throw new Failure("usage", problems.join("\n"));
  return { values, origins: origins as Record<keyof EnvironmentSettings, string> }; // every setting above has noted its origin
}

function ledgerServerOf(
  config: Config,
  owner: string,
  settings: SettingReader,
  env: NodeJS.ProcessEnv,
): LedgerServer | undefined {
  const declared = settings.from("ledger", undefined);
  const isUnsafe = settings.from("unsafeLedger", false);
  if (declared === undefined) return undefined;
  const origin = displayOrigin(settings.origins.ledgerServer ?? "config", config.cwd);
  refuseSharedSchema(config, owner, origin);
  return toLedgerServer({ ...declared.postgres, owner, isUnsafe, origin, env });
}

/** Two environments in one schema would be one ledger, and each would take what the other has sent for its own. */
function refuseSharedSchema(config: Config, owner: string, origin: string): void {
  const placeOf = (name: string): string | undefined => {
    const url = config.environments.get(name)?.ledger?.postgres.url;
    return url && [url.env, url.file, schemaOfOwner(config, name)].join("\0");
  };
  const other = [...config.environments.keys()].find(
    (name) => name !== owner && ledgerOwnerOf(config, name) === name && placeOf(name) === placeOf(owner),
  );
  if (other === undefined) return;
  throw new Failure("usage", `${owner} (${origin}) and ${other} keep their ledgers in one schema of one database`, {
    hint: `Give each a schema of its own; or, if they are one service, give one of them sameServiceAs: ${other} in place of its ledger. Nothing was sent.`,
  });
}

function tlsOf(tls: Declared["tls"]): TlsSource | undefined {
  if (tls === undefined) return undefined;
  const { cert, key, ca, passphrase } = tls;
  const { env: name, file: path = "" } = passphrase ?? {};
  return {
    ...optional("cert", cert?.file),
    ...optional("key", key?.file),
    ...optional("ca", ca?.file),
    ...(passphrase !== undefined && {
      passphrase: name === undefined ? { kind: "file", path } : { kind: "variable", name },
    }),
  };
}

function onEndOf(command: Declared["onEnd"], declared: EnvironmentConfig | undefined): OnEnd | undefined {
  return command === undefined || declared === undefined ? undefined : { command, directory: declared.directory };
}

function optional<K extends string, T>(key: K, value: T | undefined): { readonly [P in K]?: T } {
  return value === undefined ? {} : ({ [key]: value } as { readonly [P in K]: T }); // one key, just written
}

/**
 * The ledger that `name` kept before it shared another's, if it is still there. It is no longer read.
 */
export function ownLedgerOf(
  config: Config,
  { name, ledgerOwner }: Environment,
  choice: Pick<EnvironmentChoice, "env" | "flags">,
): string | undefined {
  if (ledgerOwner === name) return undefined;
  const { ledgerPath } = stateOf(config, name, choice, () => undefined);
  return existsSync(ledgerPath) ? ledgerPath : undefined;
}

function stateOf(
  config: Config,
  name: string,
  { env, flags: { stateDir: flag } = {} }: Pick<EnvironmentChoice, "env" | "flags">,
  note: (origin: string) => void,
): { readonly stateDir: string; readonly ledgerPath: string } {
  const at = (stateDir: string, origin: string) => {
    note(origin);
    return { stateDir, ledgerPath: join(stateDir, name, "ledger.db") };
  };
  if (flag === "") throw new Failure("usage", "--state-dir is empty.", { hint: "Name a folder, or leave it out." });
  const given = (text: string, named: string): string => {
    if (text !== text.trim()) throw blankAround(text, named);
    return toPath(text, config.cwd, env);
  };
  if (flag !== undefined) return at(given(flag, "--state-dir"), "flag --state-dir");
  if (env.TICKETS_STATE_DIR) return at(given(env.TICKETS_STATE_DIR, "TICKETS_STATE_DIR"), "TICKETS_STATE_DIR");
  const own = config.environments.get(name)?.stateDir;
  if (own !== undefined) return at(own, originOf(config, ["environments", name, "stateDir"]) ?? "config");
  if (config.stateDir !== undefined) return at(config.stateDir, originOf(config, ["stateDir"]) ?? "config");
  if (name === SANDBOX) return at(join(config.cwd, ".tickets"), "default");
  const user = userStateDirectory(env);
  if (user !== undefined) return at(user, "default");
  throw new Failure("usage", "There is no home directory to keep the ledger in", {
    hint: "Name a folder with --state-dir, TICKETS_STATE_DIR or stateDir in the config.",
  });
}

/** With a blank it would be another folder, whose ledger knows nothing of what was sent. */
const blankAround = (text: string, named: string): Failure =>
  new Failure("usage", `${named} begins or ends with a blank: ${quoted(text)}.`, {
    hint: "Take the blank out. Another folder is another ledger, which would send everything again.",
  });

type Reading<T> = (text: string) => { readonly value: T } | { readonly problem: string };

const wholeNumberFrom =
  (limits: readonly [number, number]): Reading<number> =>
  (text) => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    return value >= limits[0] && value <= limits[1]
      ? { value }
      : { problem: `needs ${rangeText(limits)}, not "${cleanText(text, 40)}"` };
  };

const rateFrom: Reading<number> = (text) => {
  const value = /^\d{1,9}(\.\d{1,9})?$/.test(text) ? Number(text) : 0;
  return value > 0
    ? { value }
    : { problem: `needs a number above zero (actions per second), not "${cleanText(text, 40)}"` };
};

const durationFrom: Reading<number> = (text) => {
  try {
    const value = parseDuration(text);
    return value > 0 ? { value } : { problem: "needs a duration above zero" };
  } catch (cause) {
    if (!(cause instanceof Failure)) throw cause;
    return { problem: `needs a duration: ${cause.message}` };
  }
};

/** What a service refuses when it ends a connection over the client's certificate. */
export const describeOwnCertificate = (tls: TlsSource | undefined): string =>
  tls?.cert === undefined ? "a connection without a client certificate" : `the client certificate ${tls.cert}`;

/** Where a key comes from, in words. */
export function describeKeySource(source: KeySource): string {
  switch (source.kind) {
    case "built-in":
      return "built in";
    case "variable":
      return `environment variable ${source.name}`;
    case "file":
      return `file ${source.path}`;
    case "command":
      return describeProgram(source.command);
  }
}

/** A program, in words; some people write a token into its arguments. */
export const describeProgram = ([program = "", ...rest]: readonly string[]): string =>
  `command ${program}${rest.length > 0 ? " ..." : ""}`;

/** `FILE:LINE` origins with the file as messages call it. */
export function displayOrigin(origin: string, cwd: string): string {
  const match = /^(\/.*):(\d+)$/.exec(origin);
  return match?.[1] === undefined ? origin : `${displayPath(match[1], cwd)}:${match[2]}`;
}

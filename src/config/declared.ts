/** What configs and variables say of environments: which there are, their address, and where their key is. */

import { Failure } from "../failure.ts";
import { displayPath } from "../text.ts";
import { type Config, originOf } from "./config.ts";
import type { Program } from "./program.ts";
import { ENVIRONMENT_NAME, variablePart } from "./settings.ts";
import { parseBaseUrl } from "./values.ts";

/** The environment that is built in. */
export const SANDBOX = "sandbox";

/** Where a secret is; never the secret. */
export interface SecretSource {
  /** Name of a variable. */
  readonly env?: string | undefined;
  readonly file?: string | undefined;
}

/** Where a key is: one of these, or none of them for a key that is built in. */
export interface KeySource extends SecretSource {
  readonly program?: Program;
}

/** Where a key comes from, in words. */
export function describeKeySource({ env, file, program }: KeySource): string {
  if (env !== undefined) return `environment variable ${env}`;
  if (file !== undefined) return `file ${file}`;
  return program === undefined ? "built in" : describeProgram(program.command);
}

/** A program in words, without its arguments: they may hold a token. */
export const describeProgram = ([program = "", ...rest]: readonly string[]): string =>
  `command ${program}${rest.length > 0 ? " ..." : ""}`;

/** Environments that could be named, sorted, with the sandbox; each with where it is declared. */
export function listEnvironments(
  config: Config,
  env: NodeJS.ProcessEnv,
): readonly { readonly name: string; readonly origin: string }[] {
  const found = new Map<string, string>([[SANDBOX, "built in"]]);
  for (const name of config.environments.keys()) found.set(name, originIn(config, name));
  const declared = new Set([...config.environments.keys()].map(variablePart));
  for (const [variable, value] of Object.entries(env)) {
    const part = /^TICKETS_([A-Z0-9_]+)_BASE_URL$/.exec(variable)?.[1];
    if (part === undefined || !value || declared.has(part)) continue;
    // One form only: pre-prod and pre_prod would share the variables but not the ledger, and send everything twice.
    const name = part.toLowerCase().replaceAll("_", "-");
    if (name !== SANDBOX && ENVIRONMENT_NAME.test(name)) found.set(name, variable);
  }
  return [...found].map(([name, origin]) => ({ name, origin })).sort((one, other) => (one.name < other.name ? -1 : 1));
}

export interface Sourced<T> {
  readonly value: T;
  readonly origin: string;
}

/** @throws Failure `usage` for an environment without an address, or with one that can't be used. */
export function baseUrlOf(config: Config, name: string, env: NodeJS.ProcessEnv): Sourced<string> {
  const variable = `TICKETS_${variablePart(name)}_BASE_URL`;
  const written = env[variable];
  if (written) {
    const parsed = parseBaseUrl(written);
    if ("url" in parsed) return { value: parsed.url, origin: variable };
    throw new Failure("usage", `${variable} ${parsed.problem}.`, {
      nothingSent: true,
      hint: "Set it to the address that came with the key.",
    });
  }
  const declared = config.environments.get(name)?.baseUrl;
  if (declared !== undefined) return { value: declared, origin: originIn(config, name, "baseUrl") };
  const place = config.environments.has(name) ? ` (${originIn(config, name)})` : "";
  throw new Failure("usage", `Environment ${name}${place} has no base URL`, {
    hint: `Set ${variable}, or baseUrl in the config. The address comes with the key.`,
  });
}

export function keySourceOf(config: Config, name: string, env: NodeJS.ProcessEnv): Sourced<KeySource> {
  const variable = `TICKETS_${variablePart(name)}_API_KEY`;
  const environment = config.environments.get(name);
  const declared = environment?.apiKey;
  if (env[variable] || environment === undefined || declared === undefined)
    return { value: { env: variable }, origin: env[variable] ? variable : "default" };
  const { command, ...place } = declared;
  const { directory } = environment;
  return {
    value: command === undefined ? place : { program: { command, directory } },
    origin: originIn(config, name, "apiKey"),
  };
}

/** Whose ledger `name` uses: its own, or that of its `sameServiceAs`. */
export const ledgerOwnerOf = (config: Config, name: string): string =>
  config.environments.get(name)?.sameServiceAs ?? name;

/** Where a config says something of an environment: `FILE:LINE`. */
export const originIn = (config: Config, name: string, ...keys: readonly string[]): string =>
  originOf(config, ["environments", name, ...keys]) ?? "config";

/** The same, with the file as messages call it. */
export const placeIn = (config: Config, name: string, ...keys: readonly string[]): string =>
  displayOrigin(originIn(config, name, ...keys), config.cwd);

/** `FILE:LINE` origins with the file as messages call it. */
export function displayOrigin(origin: string, cwd: string): string {
  const match = /^(\/.*):(\d+)$/.exec(origin);
  return match?.[1] === undefined ? origin : `${displayPath(match[1], cwd)}:${match[2]}`;
}

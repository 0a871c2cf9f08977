/** The key of an environment: read when something is about to be sent and not before, and compared with those of others. */

import { access, constants, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { inspect } from "node:util";
import { errorCode, Failure } from "../failure.ts";
import { importCommand, resultsCommand, statusCommand } from "../next-command.ts";
import { cleanText, displayPath } from "../text.ts";
import type { Config } from "./config.ts";
import {
  baseUrlOf,
  describeKeySource,
  displayOrigin,
  type KeySource,
  keySourceOf,
  ledgerOwnerOf,
  listEnvironments,
  placeIn,
} from "./declared.ts";
import { type Environment, ownLedgerOf } from "./environment.ts";
import { type Refuse, readSmall, warningOfMode } from "./files.ts";
import type { Program } from "./program.ts";

/**
 * A key that can't leak by accident: printed, joined, serialised or inspected it is "[key]". A class because only its
 * private field keeps the text out of every way of looking at an object.
 */
export class Key {
  readonly #text: string;
  /** Shown once: others can read the key's file. */
  readonly warning: string | undefined;

  constructor(text: string, warning?: string) {
    this.#text = text;
    this.warning = warning;
  }

  /** The text itself, for the X-Api-Key header and nothing else. */
  reveal(): string {
    return this.#text;
  }

  toString(): string {
    return "[key]";
  }

  toJSON(): string {
    return "[key]";
  }

  [inspect.custom](): string {
    return "[key]";
  }
}

/** What the built-in sandbox takes; it guards nothing. */
const SANDBOX_KEY = "sandbox";

/** Far above any key. */
const MOST_BYTES = 16 * 1024;

export interface KeyOwner {
  readonly name: string;
  readonly keySource: KeySource;
  readonly origins: { readonly apiKey: string };
}

/**
 * The key of an environment from its variable, file or command (run without a shell, at most 30 s, without input).
 *
 * Throws a `authentication-failed` failure that names the source and never the value, the command's output or its arguments.
 */
export async function readKey(
  { name, keySource: source, origins }: KeyOwner,
  signal: AbortSignal,
  { env = process.env, commandLimitMs = 30_000 }: { readonly env?: NodeJS.ProcessEnv; commandLimitMs?: number } = {},
): Promise<Key> {
  const place = origins.apiKey === "default" ? "" : ` It is named by ${origins.apiKey}.`;
  const refuse: Refuse = (what, cause) =>
    new Failure("authentication-failed", cleanText(`No key for ${name}: ${describeKeySource(source)} ${what}.`, 1000), {
      hint: `${remedyFor(source, name)}${place}`,
      cause,
    });
  const { env: variable, file, program } = source;
  if (variable !== undefined) {
    const text = env[variable];
    if (text === undefined) throw refuse("is not set");
    return new Key(checked(text, refuse));
  }
  if (file !== undefined) {
    const text = await readSmall(file, MOST_BYTES, refuse, signal);
    // `trim` also removes the byte order mark that editors add.
    return new Key(checked(text.trim(), refuse), warningOfMode(file));
  }
  if (program === undefined) return new Key(SANDBOX_KEY);
  return new Key(checked(await printedBy(program, { env, signal, limitMs: commandLimitMs }, refuse), refuse));
}

/** Whether the key's source is there. It is neither read nor run. */
export async function keyPresence(
  { env: variable, file, program }: KeySource,
  env: NodeJS.ProcessEnv,
): Promise<"built in" | "set" | "not set" | "not readable" | "not run"> {
  if (variable !== undefined) return env[variable] ? "set" : "not set";
  if (file === undefined) return program === undefined ? "built in" : "not run";
  try {
    if (!(await stat(file)).size) return "not set";
    await access(file, constants.R_OK);
    return "set";
  } catch (cause) {
    return errorCode(cause) === "ENOENT" ? "not set" : "not readable";
  }
}

function remedyFor({ env: variable, file }: KeySource, name: string): string {
  if (variable !== undefined) return `Set ${variable} to the key that you were given for ${name}.`;
  if (file !== undefined) return `Put the key that you were given for ${name} into the file, alone on one line.`;
  return `Run the command by hand; it has to print the key of ${name} and nothing else.`;
}

/** The key in `raw`, without the line end that editors and `echo` add. */
function checked(raw: string, refuse: Refuse): string {
  const text = raw.replace(/(?:\r?\n)+$/, "");
  if (text.trim() === "") throw refuse("is empty");
  if (/\s/.test(text)) throw refuse("contains blanks or line breaks, which no key does");
  // What a header can carry (RFC 9110, field values): a damaged file is reported here, and not by a 403.
  if (/[^\u0021-\u007e\u00a1-\u00ff]/.test(text))
    throw refuse("contains characters that no key can have (control characters or beyond Latin-1)");
  return text;
}

/** The command gets no input, so it can't ask for anything. */
async function printedBy(
  program: Program,
  limits: { readonly env: NodeJS.ProcessEnv; readonly signal: AbortSignal; readonly limitMs: number },
  refuse: Refuse,
): Promise<string> {
  // Most keys are in a variable or a file.
  const { runProgram } = await import("./program.ts");
  const ended = await runProgram(program, { ...limits, input: "", mostBytes: MOST_BYTES });
  limits.signal.throwIfAborted();
  if ("printed" in ended) return ended.printed;
  throw refuse(ended.failed === "printed too much" ? `${ended.failed} for a key` : ended.failed);
}

/** Why an environment's ledger does not know all that its service was sent: there is a second one. */
export async function conflictOf(
  config: Config,
  environment: Environment,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<Failure | undefined> {
  const twin = await twinFailure(config, environment, env, signal);
  const own = ownLedgerOf(config, environment, env);
  if (twin !== undefined || own === undefined) return twin;
  // What it was sent before it shared another's ledger must be imported there.
  const { name, ledgerOwner } = environment;
  const file = `${name}.promises.ndjson`;
  return new Failure(
    "usage",
    `${name} shares the ledger of ${ledgerOwner}, but also has its own (${displayPath(own, config.cwd)}); what only that one knows would be sent again.`,
    {
      nothingSent: true,
      hint: [
        `Without the line sameServiceAs, settle its open runs: ${statusCommand(environment)}`,
        `Then write its promises: ${resultsCommand(environment, "--all")} -o ${file}`,
        `With the line again: ${importCommand(environment, file)}`,
        `Then move ${displayPath(dirname(own), config.cwd)} away.`,
      ].join("\n"),
    },
  );
}

/**
 * Why `environment` may not send: another has its base URL and its key, but its own ledger. Each would send again what the other
 * has sent. Keys are compared without running a command, and not kept.
 */
export async function twinFailure(
  config: Config,
  { kind, name, baseUrl, ledgerOwner, keySource }: Environment,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<Failure | undefined> {
  if (kind === "sandbox") return undefined;
  const others = listEnvironments(config, env)
    .filter((each) => ledgerOwnerOf(config, each.name) !== ledgerOwner && hasAddress(config, each.name, env, baseUrl))
    .map((each) => ({ ...each, keySource: keySourceOf(config, each.name, env).value }));
  const twins: typeof others = [];
  for (const other of others) if (await haveSameKey(other.keySource, keySource, env, signal)) twins.push(other);
  const [twin] = twins;
  if (twin === undefined) return undefined;
  const place = config.environments.has(name) ? ` (${placeIn(config, name)})` : "";
  const shown = twins.map((each) => `${each.name} (${displayOrigin(each.origin, config.cwd)})`).join(" and ");
  const sources = [...new Set([keySource, twin.keySource].map(describeKeySource))].join(" and in ");
  return new Failure(
    "usage",
    `${name}${place} and ${shown} are one service: both have the base URL ${baseUrl} and the same key (${sources}). With separate ledgers, one would send again what the other has sent.`,
    {
      nothingSent: true,
      hint: `Keep one of them. Or let them share a ledger: in a config, give the one that was used less \`sameServiceAs: ${twin.name}\` (or ${name}).`,
    },
  );
}

/** False if its own address is missing or wrong. */
function hasAddress(config: Config, name: string, env: NodeJS.ProcessEnv, baseUrl: string): boolean {
  try {
    return baseUrlOf(config, name, env).value === baseUrl;
  } catch (cause) {
    if (cause instanceof Failure) return false;
    throw cause;
  }
}

async function haveSameKey(
  one: KeySource,
  other: KeySource,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<boolean> {
  if (wordsOf(one) === wordsOf(other)) return true;
  const key = await comparableKey(one, env, signal);
  return key !== undefined && key === (await comparableKey(other, env, signal));
}

/** Undefined for a key that can't be read without running a command. */
async function comparableKey(
  keySource: KeySource,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { file, program } = keySource;
  try {
    // A pipe gives its bytes once: they are left for sending.
    if (program !== undefined || (file !== undefined && !(await stat(file)).isFile())) return undefined;
    const key = await readKey({ name: "", keySource, origins: { apiKey: "default" } }, signal, { env });
    return key.reveal();
  } catch {
    signal.throwIfAborted();
    return undefined;
  }
}

/** The same words ask for the same key, in whichever folder a command runs. */
const wordsOf = ({ env, file, program }: KeySource): string => JSON.stringify([env, file, program?.command]);

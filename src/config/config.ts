/** Finds, reads and checks the config files, and reports everything that is wrong with them at once. */

import { lstat, stat } from "node:fs/promises";
import { basename, dirname, extname, join, resolve } from "node:path";
import type { CosmiconfigResult, PublicExplorer } from "cosmiconfig";
import { nearest } from "../actions/nearest.ts";
import type { Severity } from "../actions/problem.ts";
import { cleanText, displayPath, quoted } from "../actions/text.ts";
import { errorCode, Failure } from "../failure.ts";
import type { DeepReadonly } from "../map/schema-words.ts";
import type { SourceConfig } from "../map/source.ts";
import { openFile } from "../read/open-file.ts";
import { type ConfigDocument, type ConfigPath, type ConfigProblem, pathKey, positionAt } from "./document.ts";
import { explainIssues, isRecord, keysAt, problemLine, valueAt } from "./explain.ts";
import { MODULE_NAME, openExplorer } from "./explorer.ts";
import { toPath, userConfigDirectory } from "./paths.ts";
import { configSchema, type ParsedConfig, type ParsedEnvironment, variablePart } from "./schema.ts";
import { digestOfConfig, isTrusted, trustProblems } from "./trust.ts";

/** One entry of `environments`; paths are absolute, `baseUrl` is normalised, `timeout` in milliseconds. */
export type EnvironmentConfig = DeepReadonly<ParsedEnvironment> & {
  /** Folder of the file that declares it; where its command runs. */
  readonly directory: string;
};

/** All configs that apply, as one. Frozen. */
export interface Config {
  /** Working directory that the files were looked for in. */
  readonly cwd: string;
  /** The files that were read, absolute: the project's, then the user's. */
  readonly files: readonly string[];
  /** Name of the default environment. */
  readonly env?: string;
  readonly environments: ReadonlyMap<string, EnvironmentConfig>;
  readonly sources: Readonly<Record<string, SourceConfig>>;
  readonly rules: Readonly<Record<string, Severity>>;
  readonly stateDir?: string;
  /** The one of the working directory, if any. */
  readonly found?: FoundConfig;
  readonly documents: readonly ConfigDocument[];
}

/** Where a config file came from: one that the user chose or owns is trusted, one that is merely found is not. */
type Role = "project" | "user" | "chosen";

interface ReadDocument extends ConfigDocument {
  readonly digest: string;
}

interface LoadedDocument extends ReadDocument {
  readonly role: Role;
}

/** A config that lies in the working directory. */
interface FoundConfig {
  readonly file: string;
  readonly digest: string;
  readonly isTrusted: boolean;
  /** What it names that needs trust. */
  readonly needsTrust: readonly ConfigProblem[];
}

const CONFIG_NAMES = ["yaml", "yml", "json"] as const;
const SCRIPT_NAMES = ["js", "mjs", "cjs", "ts", "mts", "cts"] as const;
const PROJECT_PLACES = [
  ...CONFIG_NAMES.map((extension) => `tickets.config.${extension}`),
  ".ticketsrc",
  ...CONFIG_NAMES.map((extension) => `.ticketsrc.${extension}`),
  "package.json",
];
const PROJECT_SCRIPTS = SCRIPT_NAMES.flatMap((extension) => [`tickets.config.${extension}`, `.ticketsrc.${extension}`]);
const USER_PLACES = CONFIG_NAMES.map((extension) => `config.${extension}`);
const USER_SCRIPTS = SCRIPT_NAMES.map((extension) => `config.${extension}`);
const NO_SCRIPTS =
  "A config is data (.yaml, .yml or .json): code would run in the nightly job, with the key in reach. Move its content there.";

/**
 * Loads the config of the working directory (nothing is looked for above it) and the environments that the user's config
 * directory adds; `--config` or `TICKETS_CONFIG` replaces both. Without any file, an empty config.
 *
 * `knownRules` are the ids that `rules` and `accept` may name; without it they are not compared. `isTrusting`: the config
 * of the working directory is about to be trusted, so what needs trust is allowed.
 * Throws one `usage` failure that lists every problem of every file with file, line and column.
 */
export async function loadConfig(options: {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly configFlag?: string | undefined;
  readonly knownRules?: readonly string[];
  readonly isTrusting?: boolean;
  /** Ends the wait for a config that is a pipe. */
  readonly signal?: AbortSignal | undefined;
}): Promise<Config> {
  const { cwd, env, knownRules, isTrusting = false } = options;
  const documents = await readDocuments(cwd, env, options.configFlag, options.signal);
  const parsed: { readonly document: LoadedDocument; readonly value: ParsedConfig }[] = [];
  const problems: ConfigProblem[] = [];
  for (const document of documents) {
    const result = configSchema.safeParse(document.value);
    if (result.success) parsed.push({ document, value: result.data });
    problems.push(
      ...document.problems,
      ...(result.success ? [] : explainIssues(document, configSchema, result.error.issues)),
      ...placementProblems(document),
      ...ruleProblems(document, knownRules),
    );
  }
  problems.push(...sharedEnvironmentProblems(documents, cwd));
  const found = await foundConfig(documents, env);
  const untrusted = found === undefined || found.isTrusted || isTrusting ? [] : found.needsTrust;
  if (problems.length + untrusted.length > 0)
    throw configFailure([...problems, ...untrusted], cwd, untrusted.length > 0);
  return Object.freeze({ ...toConfig(cwd, env, documents, parsed), ...(found !== undefined && { found }) });
}

async function foundConfig(
  documents: readonly LoadedDocument[],
  env: NodeJS.ProcessEnv,
): Promise<FoundConfig | undefined> {
  const document = documents.find(({ role }) => role === "project");
  if (document === undefined) return undefined;
  const { file, digest } = document;
  return {
    file,
    digest,
    isTrusted: await isTrusted(file, digest, env),
    needsTrust: await trustProblems(document, env),
  };
}

/** Where the value at `path` was declared, as `/path/tickets.config.yaml:12`; undefined when no config declares it. */
export function originOf(config: Config, path: ConfigPath): string | undefined {
  for (const document of config.documents) {
    const position = document.keyPositions.get(pathKey(path)) ?? document.positions.get(pathKey(path));
    if (position !== undefined) return `${position.file}:${position.line}`;
  }
  return undefined;
}

async function readDocuments(
  cwd: string,
  env: NodeJS.ProcessEnv,
  configFlag: string | undefined,
  signal: AbortSignal | undefined,
): Promise<readonly LoadedDocument[]> {
  const chosen = configFlag ?? (env.TICKETS_CONFIG || undefined);
  if (chosen !== undefined) {
    const by = configFlag === undefined ? "TICKETS_CONFIG" : "--config";
    return [await readChosen(toPath(chosen, cwd, env), by, signal)];
  }
  const userDirectory = userConfigDirectory(env);
  const place = { cwd, signal };
  return [
    ...(await readPlace(cwd, PROJECT_PLACES, PROJECT_SCRIPTS, "project", place)),
    ...(userDirectory === undefined ? [] : await readPlace(userDirectory, USER_PLACES, USER_SCRIPTS, "user", place)),
  ];
}

async function readChosen(file: string, by: string, signal: AbortSignal | undefined): Promise<LoadedDocument> {
  const extension = extname(file);
  if (SCRIPT_NAMES.some((name) => extension === `.${name}`)) {
    throw new Failure("usage", `${file} (${by}) is a script and is not run.`, { hint: NO_SCRIPTS });
  }
  if (extension !== "" && !CONFIG_NAMES.some((name) => extension === `.${name}`)) {
    throw new Failure("usage", `${file} (${by}) is not a config: it is neither .yaml, .yml nor .json.`, {
      hint: "Name the file that holds the settings, or give it one of these endings.",
    });
  }
  const document = (await isRegular(file))
    ? await loadFile(openExplorer([], loadText), file)
    : await readPipe(file, signal);
  if (document === undefined)
    throw new Failure("usage", `${file} (${by}) has no key "tickets".`, {
      hint: "Put the settings under that key, or name another file.",
    });
  return { ...document, role: "chosen" };
}

/** The one config of a directory, or none. */
async function readPlace(
  directory: string,
  places: readonly string[],
  scripts: readonly string[],
  role: Role,
  { cwd, signal }: { readonly cwd: string; readonly signal: AbortSignal | undefined },
): Promise<readonly LoadedDocument[]> {
  const script = (await present(directory, scripts))[0];
  if (script !== undefined) {
    throw new Failure("usage", `${displayPath(script, cwd)} is a script and is not run.`, { hint: NO_SCRIPTS });
  }
  const files = await present(directory, places);
  if (files.length === 0) return [];
  // What would wait for a writer, or never end, is no place to search.
  const regular: string[] = [];
  for (const file of files) if (await isRegular(file)) regular.push(file);
  const explorer = openExplorer(
    places.filter((name) => regular.includes(join(directory, name))),
    loadText,
  );
  // The search ends with the first file and skips what it can't read. So files are then loaded by name, and one that fails is named.
  const first = regular.length === 0 ? null : await explorer.search(directory).catch(() => null);
  const documents = [await toDocument(first)];
  for (const file of files)
    if (file !== first?.filepath)
      documents.push(regular.includes(file) ? await loadFile(explorer, file) : await readPipe(file, signal));
  const found = documents.filter((document) => document !== undefined);
  if (found.length > 1) {
    const names = found.map(({ file }) => (basename(file) === "package.json" ? `${file} (its key "tickets")` : file));
    throw new Failure("usage", `There are ${found.length} configs in one folder: ${names.join(" and ")}`, {
      hint: "Keep one; which of them counts can't be guessed.",
    });
  }
  return found.map((document) => ({ ...document, role }));
}

/** Those of `names` that exist, absolute. A dangling link exists: leaving it out would be silent. */
async function present(directory: string, names: readonly string[]): Promise<readonly string[]> {
  const found: string[] = [];
  for (const name of names) {
    const file = join(directory, name);
    try {
      await lstat(file);
      found.push(file);
    } catch (cause) {
      const code = errorCode(cause);
      if (code !== "ENOENT" && code !== "ENOTDIR") throw unreadable(file, cause);
    }
  }
  return found;
}

async function loadFile(explorer: PublicExplorer, file: string): Promise<ReadDocument | undefined> {
  try {
    return await toDocument(await explorer.load(file));
  } catch (cause) {
    throw unreadable(file, cause);
  }
}

/** Undefined for a package.json without the key. */
async function toDocument(result: CosmiconfigResult): Promise<ReadDocument | undefined> {
  if (result === null) return undefined;
  // An empty file has no text to load: an empty config.
  return result.isEmpty === true ? parseText(result.filepath, "") : (result.config as ReadDocument); // made by `loadText`
}

/** What cosmiconfig keeps of a file; the key of a package.json it takes out again. */
async function loadText(file: string, text: string): Promise<unknown> {
  const document = await parseText(file, text);
  return isPackage(file) ? { [MODULE_NAME]: document } : document;
}

/**
 * Undefined for a package.json without the key. The digest is of the very text that is parsed: what is read a second time
 * may be another.
 */
async function parseText(file: string, text: string): Promise<ReadDocument | undefined> {
  // The parser of YAML is a large part of a command's start.
  const { parseConfigText } = await import("./parse-document.ts");
  const document = parseConfigText(file, text, isPackage(file) ? MODULE_NAME : undefined);
  return document && { ...document, digest: digestOfConfig(text) };
}

const isPackage = (file: string): boolean => basename(file, extname(file)) === "package";

/** @throws Failure `usage` for a file that is too large to be a config. */
async function isRegular(file: string): Promise<boolean> {
  try {
    const found = await stat(file);
    if (found.isFile() && found.size > MOST_BYTES) throw tooLarge(file);
    return found.isFile();
  } catch (cause) {
    throw unreadable(file, cause);
  }
}

/** Far above any config; a device may have no end. */
const MOST_BYTES = 16 * 1024 * 1024;

const tooLarge = (file: string): Failure =>
  new Failure("usage", `The config ${file} has more than 16 MiB, as no config has.`, {
    hint: "Nothing was sent. Check what the file is, and where it leads if it is a link.",
  });

/** A shell's <(...) gives its bytes once, if at all. */
async function readPipe(file: string, signal: AbortSignal | undefined): Promise<ReadDocument | undefined> {
  try {
    await using pipe = await openFile(file, signal);
    const blocks: Buffer[] = [];
    let length = 0;
    for (let block = await pipe.read(); block !== undefined; block = await pipe.read()) {
      blocks.push(block);
      length += block.length;
      if (length > MOST_BYTES) throw tooLarge(file);
    }
    return await parseText(file, Buffer.concat(blocks).toString("utf8"));
  } catch (cause) {
    signal?.throwIfAborted();
    throw unreadable(file, cause);
  }
}

function unreadable(file: string, cause: unknown): Failure {
  if (cause instanceof Failure) return cause;
  const code = errorCode(cause);
  if (code === undefined) return new Failure("internal", `Reading the config ${file} failed`, { cause });
  const why = { ENOENT: "there is no such file", EISDIR: "it is a folder", EACCES: "permission denied" }[code] ?? code;
  return new Failure("usage", `Can't read the config ${file}: ${why}.`, {
    hint: "Check its name and who may read it.",
    cause,
  });
}

/** What the schema allows, but not in this file or for this environment. Looks at raw values, to be reported beside other problems. */
function placementProblems(document: LoadedDocument): readonly ConfigProblem[] {
  const problems: ConfigProblem[] = [];
  const complain = (path: ConfigPath, message: string) =>
    problems.push({ ...positionAt(document, path, "key"), path, message });
  if (document.role === "user") {
    for (const key of keysAt(document, [])) {
      if (key === "environments" || !Object.hasOwn(configSchema.shape, key)) continue;
      complain(
        [key],
        "the user's config can only add environments; this belongs in the config of the working directory",
      );
    }
  }
  const variables = new Map<string, string>();
  for (const name of keysAt(document, ["environments"])) {
    const path = ["environments", name];
    const twin = variables.get(variablePart(name));
    if (twin === undefined) variables.set(variablePart(name), name);
    else
      complain(
        path,
        `shares its variables (TICKETS_${variablePart(name)}_...) with ${cleanText(twin, 64)}; rename one`,
      );
    if (name !== "sandbox") continue;
    for (const key of ["baseUrl", "apiKey", "sameServiceAs", "tls", "ledger", "unsafeLedger"] as const) {
      if (!keysAt(document, path).includes(key)) continue;
      complain([...path, key], SANDBOX_LACKS[key]);
    }
    if (valueAt(document, [...path, "complete"]) === false) {
      complain([...path, "complete"], "the sandbox is always complete: nothing else registers events there");
    }
  }
  return problems;
}

const NO_ADDRESS = "the sandbox is built in and has neither address nor key; give the environment another name";
const OWN_LEDGER =
  "the sandbox keeps its ledger on this machine, as it does its service; give the environment another name";
const SANDBOX_LACKS = {
  baseUrl: NO_ADDRESS,
  apiKey: NO_ADDRESS,
  sameServiceAs: "the sandbox is a separate service on this machine",
  tls: "the sandbox is reached without TLS; give the environment another name",
  ledger: OWN_LEDGER,
  unsafeLedger: OWN_LEDGER,
};

function ruleProblems(document: ConfigDocument, known: readonly string[] | undefined): readonly ConfigProblem[] {
  if (known === undefined) return [];
  const problems: ConfigProblem[] = [];
  const check = (rule: unknown, path: ConfigPath, of: "key" | "value") => {
    if (typeof rule !== "string" || known.includes(rule)) return;
    const message = of === "key" ? "is not the id of a rule" : `${quoted(rule, 60)} is not the id of a rule`;
    problems.push({ ...positionAt(document, path, of), path, message, didYouMean: nearest(rule, known) });
  };
  for (const rule of keysAt(document, ["rules"])) check(rule, ["rules", rule], "key");
  for (const name of keysAt(document, ["environments"])) {
    const path = ["environments", name, "accept"];
    const accepted = valueAt(document, path);
    if (!Array.isArray(accepted)) continue;
    for (const [index, rule] of accepted.entries()) check(rule, [...path, index], "value");
  }
  return problems;
}

/** An environment that two files declare: which of the two would be sent to can't be guessed. */
function sharedEnvironmentProblems(documents: readonly ConfigDocument[], cwd: string): readonly ConfigProblem[] {
  const problems: ConfigProblem[] = [];
  const seen = new Map<string, { readonly document: ConfigDocument; readonly name: string }>();
  for (const document of documents) {
    for (const name of keysAt(document, ["environments"])) {
      const path = ["environments", name];
      const first = seen.get(variablePart(name));
      if (first === undefined) seen.set(variablePart(name), { document, name });
      else if (first.document !== document) {
        const { line } = positionAt(first.document, ["environments", first.name], "key");
        const also =
          first.name === name ? "is also declared" : `shares its variables with ${cleanText(first.name, 64)}`;
        const message = `${also} in ${displayPath(first.document.file, cwd)}:${line}; keep one of the two`;
        problems.push({ ...positionAt(document, path, "key"), path, message });
      }
    }
  }
  return problems;
}

const MOST_SHOWN = 50;

function configFailure(problems: readonly ConfigProblem[], cwd: string, needsTrust: boolean): Failure {
  const sorted = [...problems].sort(
    (one, other) => one.file.localeCompare(other.file) || one.line - other.line || one.column - other.column,
  );
  const lines = sorted.slice(0, MOST_SHOWN).map((problem) => problemLine(problem, displayPath(problem.file, cwd)));
  if (sorted.length > MOST_SHOWN) lines.push(`and ${sorted.length - MOST_SHOWN} more`);
  const [only] = lines;
  const message =
    lines.length === 1 && only !== undefined
      ? only
      : `${sorted.length} problems in the config:\n${lines.map((line) => `  ${line}`).join("\n")}`;
  const hint = needsTrust
    ? "Nothing was sent. A file named by --config or TICKETS_CONFIG, and your own config, count as trusted.\nRead the file. If you wrote it or trust who did, now and after every change: tickets env --trust"
    : "Nothing was sent.";
  return new Failure("usage", message, { hint });
}

function toConfig(
  cwd: string,
  env: NodeJS.ProcessEnv,
  documents: readonly ConfigDocument[],
  parsed: readonly { readonly document: ConfigDocument; readonly value: ParsedConfig }[],
): Config {
  const environments = new Map<string, EnvironmentConfig>();
  let main: Pick<Config, "env" | "stateDir"> = {};
  let sources: Record<string, SourceConfig> = {};
  let rules: Record<string, Severity> = {};
  for (const { document, value } of parsed) {
    const directory = dirname(document.file);
    const absolute = (path: string) => toPath(path, directory, env);
    for (const [name, environment] of Object.entries(value.environments ?? {})) {
      environments.set(name, deepFreeze({ ...withPaths(environment, absolute), directory }));
    }
    // Only the first file, the project's or the chosen one, may hold the rest.
    if (document !== documents[0]) continue;
    main = {
      ...(value.env === undefined ? {} : { env: value.env }),
      ...(value.stateDir === undefined ? {} : { stateDir: absolute(value.stateDir) }),
    };
    rules = value.rules ?? {};
    sources = Object.fromEntries(
      Object.entries(value.sources ?? {}).map(([name, source]) => [name, withLookupPaths(source, absolute)]),
    );
  }
  return Object.freeze({
    cwd: resolve(cwd),
    files: Object.freeze(documents.map(({ file }) => file)),
    ...main,
    environments,
    sources: deepFreeze(sources),
    rules: deepFreeze(rules),
    documents,
  });
}

function withPaths(environment: ParsedEnvironment, absolute: (path: string) => string): ParsedEnvironment {
  const { apiKey, output, stateDir, onEnd, tls, ledger } = environment;
  // A program's bare name is looked for in PATH; anything with a slash is a path.
  const command = ([program = "", ...rest]: readonly string[]) => [
    program.includes("/") ? absolute(program) : program,
    ...rest,
  ];
  return {
    ...environment,
    ...(output === undefined || output === "-" ? {} : { output: absolute(output) }),
    ...(stateDir === undefined ? {} : { stateDir: absolute(stateDir) }),
    ...(apiKey?.file === undefined ? {} : { apiKey: { file: absolute(apiKey.file) } }),
    ...(apiKey?.command === undefined ? {} : { apiKey: { command: command(apiKey.command) } }),
    ...(onEnd === undefined ? {} : { onEnd: command(onEnd) }),
    ...(tls === undefined ? {} : { tls: withTlsPaths(tls, absolute) }),
    ...(ledger === undefined ? {} : { ledger: withLedgerPaths(ledger, absolute) }),
  };
}

function withLedgerPaths(
  { postgres }: NonNullable<ParsedEnvironment["ledger"]>,
  absolute: (path: string) => string,
): NonNullable<ParsedEnvironment["ledger"]> {
  const { url, tls } = postgres;
  return {
    postgres: {
      ...postgres,
      ...(url.file !== undefined && { url: { file: absolute(url.file) } }),
      ...(tls && { tls: withTlsPaths(tls, absolute) }),
    },
  };
}

function withTlsPaths(
  tls: NonNullable<ParsedEnvironment["tls"]>,
  absolute: (path: string) => string,
): NonNullable<ParsedEnvironment["tls"]> {
  const { cert, key, ca, passphrase } = tls;
  return {
    ...(cert && { cert: { file: absolute(cert.file) } }),
    ...(key && { key: { file: absolute(key.file) } }),
    ...(ca && { ca: { file: absolute(ca.file) } }),
    ...(passphrase && { passphrase: passphrase.file === undefined ? passphrase : { file: absolute(passphrase.file) } }),
  };
}

function withLookupPaths(source: SourceConfig, absolute: (path: string) => string): SourceConfig {
  if (source.lookup === undefined) return source;
  const lookup = Object.entries(source.lookup).map(([name, entry]) => [name, { ...entry, file: absolute(entry.file) }]);
  return { ...source, lookup: Object.fromEntries(lookup) };
}

function deepFreeze<T>(value: T): T {
  if (isRecord(value)) for (const inner of Object.values(value)) deepFreeze(inner);
  return Object.freeze(value);
}

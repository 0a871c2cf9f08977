/** Reads and checks the config files, and reports everything that is wrong with them at once. */

import { dirname, resolve } from "node:path";
import { nearest } from "../actions/nearest.ts";
import { Failure } from "../failure.ts";
import type { DeepReadonly, SourceConfig } from "../map/source.ts";
import type { Severity } from "../rules.ts";
import { cleanText, displayPath, quoted } from "../text.ts";
import {
  type ConfigDocument,
  type ConfigPath,
  type ConfigProblem,
  explainIssues,
  isRecord,
  keysAt,
  pathKey,
  placesIn,
  positionAt,
  problemLine,
  valueAt,
} from "./document.ts";
import { toPath } from "./files.ts";
import { type FoundDocument, findConfigs, type Search } from "./find.ts";
import { configSchema, PATHS, type ParsedConfig, type ParsedEnvironment, PROGRAMS, variablePart } from "./settings.ts";
import { isTrusted, trustProblems } from "./trust.ts";

/** One entry of `environments`; paths are absolute, `baseUrl` is normalised, `timeout` in milliseconds. */
type EnvironmentConfig = DeepReadonly<ParsedEnvironment> & {
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

/** A config that lies in the working directory. */
interface FoundConfig extends FoundDocument {
  readonly isTrusted: boolean;
  /** What it names that needs trust. */
  readonly needsTrust: readonly ConfigProblem[];
}

/**
 * Loads the config of the working directory (nothing is looked for above it) and the environments that the user's config
 * directory adds; `--config` or `TICKETS_CONFIG` replaces both. Without any file, an empty config.
 *
 * `knownRules` are the ids that `rules` and `accept` may name; without it they are not compared. `isTrusting`: the config
 * of the working directory is about to be trusted, so what needs trust is allowed.
 * Throws one `usage` failure that lists every problem of every file with file, line and column.
 */
export async function loadConfig(
  options: Search & { readonly knownRules?: readonly string[]; readonly isTrusting?: boolean },
): Promise<Config> {
  const { cwd, env, knownRules, isTrusting = false } = options;
  const documents = await findConfigs(options);
  const values: ParsedConfig[] = [];
  const problems: ConfigProblem[] = [];
  for (const document of documents) {
    const result = configSchema.safeParse(document.value);
    if (result.success) values.push(withPaths(result.data, dirname(document.file), env));
    else problems.push(...explainIssues(document, configSchema, result.error.issues));
    problems.push(...document.problems, ...placementProblems(document), ...ruleProblems(document, knownRules));
  }
  problems.push(...nameProblems(documents, cwd));
  const project = documents.find(({ role }) => role === "project");
  const found = await foundConfig(project, env);
  const isFree = found === undefined || found.isTrusted || isTrusting;
  const untrusted = (isFree ? [] : found.needsTrust).map((problem) => ({
    ...problem,
    message: `${problem.message}; this file is not trusted`,
  }));
  if (problems.length + untrusted.length > 0)
    throw configFailure([...problems, ...untrusted], cwd, untrusted.length > 0);
  // Only the first file, the project's or the chosen one, holds more than environments.
  const [{ env: name, stateDir, sources, rules } = {}] = values;
  return Object.freeze({
    cwd: resolve(cwd),
    files: Object.freeze(documents.map(({ file }) => file)),
    ...(name !== undefined && { env: name }),
    ...(stateDir !== undefined && { stateDir }),
    environments: environmentsOf(documents, values),
    sources: deepFreeze(sources ?? {}),
    rules: deepFreeze(rules ?? {}),
    documents,
    ...(found !== undefined && { found }),
  });
}

async function foundConfig(
  document: FoundDocument | undefined,
  env: NodeJS.ProcessEnv,
): Promise<FoundConfig | undefined> {
  if (document === undefined) return undefined;
  const needsTrust = await trustProblems(document, env);
  return { ...document, isTrusted: await isTrusted(document.file, document.digest, env), needsTrust };
}

/** Where the value at `path` was declared, as `/path/tickets.config.yaml:12`; undefined when no config declares it. */
export function originOf(config: Config, path: ConfigPath): string | undefined {
  for (const document of config.documents) {
    const position = document.keyPositions.get(pathKey(path)) ?? document.positions.get(pathKey(path));
    if (position !== undefined) return `${position.file}:${position.line}`;
  }
  return undefined;
}

/** What the schema allows, but not in this file or for this environment. It looks at raw values, so that all problems are reported at once. */
function placementProblems(document: FoundDocument): readonly ConfigProblem[] {
  const known = Object.keys(configSchema.shape);
  const misplaced =
    document.role === "user"
      ? keysAt(document.value, []).filter((key) => key !== "environments" && known.includes(key))
      : [];
  const lacking = Object.entries(SANDBOX_LACKS).filter(([key]) => {
    const value = valueAt(document.value, [...SANDBOX_PATH, key]);
    return key === "complete" ? value === false : value !== undefined;
  });
  return [
    ...misplaced.map((key) =>
      problemAt(
        document,
        [key],
        "the user's config can only add environments; this belongs in the config of the working directory",
      ),
    ),
    ...lacking.map(([key, message]) => problemAt(document, [...SANDBOX_PATH, key], message)),
  ];
}

const SANDBOX_PATH: ConfigPath = ["environments", "sandbox"];
const NO_ADDRESS = "the sandbox is built in and has neither address nor key; give the environment another name";
const SANDBOX_LACKS: Readonly<Record<string, string>> = {
  baseUrl: NO_ADDRESS,
  apiKey: NO_ADDRESS,
  sameServiceAs: "the sandbox is a separate service on this machine",
  ledger: "the sandbox always keeps its ledger in a file; give the environment another name",
  // Only `complete: false`.
  complete: "the sandbox is always complete: nothing else registers events there",
};

const problemAt = (document: ConfigDocument, path: ConfigPath, message: string): ConfigProblem => ({
  ...positionAt(document, path, "key"),
  path,
  message,
});

/** Ids in `rules` and `accept` that no rule has. */
function ruleProblems(document: ConfigDocument, known: readonly string[] | undefined): readonly ConfigProblem[] {
  if (known === undefined) return [];
  const named = placesIn(document.value, "rules.*").flatMap((path) => {
    const rule = String(path.at(-1));
    return known.includes(rule) ? [] : [{ rule, ...problemAt(document, path, "is not the id of a rule") }];
  });
  const accepted = placesIn(document.value, "environments.*.accept").flatMap((path) => {
    const rules = valueAt(document.value, path);
    return (Array.isArray(rules) ? rules : []).flatMap((rule: unknown, index) => {
      if (typeof rule !== "string" || known.includes(rule)) return [];
      const place = [...path, index];
      const message = `${quoted(rule, 60)} is not the id of a rule`;
      return [{ rule, ...positionAt(document, place), path: place, message }];
    });
  });
  return [...named, ...accepted].map(({ rule, ...problem }) => ({ ...problem, didYouMean: nearest(rule, known) }));
}

/** Environments that are declared twice, or that share their variables: it would be unclear which is meant. */
function nameProblems(documents: readonly ConfigDocument[], cwd: string): readonly ConfigProblem[] {
  const problems: ConfigProblem[] = [];
  const seen = new Map<string, { readonly document: ConfigDocument; readonly name: string }>();
  for (const document of documents) {
    for (const name of keysAt(document.value, ["environments"])) {
      const first = seen.get(variablePart(name));
      if (first === undefined) {
        seen.set(variablePart(name), { document, name });
        continue;
      }
      const { line } = positionAt(first.document, ["environments", first.name], "key");
      const place = `${displayPath(first.document.file, cwd)}:${line}`;
      const message =
        first.name === name
          ? `is also declared in ${place}; keep one of the two`
          : `shares its variables (TICKETS_${variablePart(name)}_...) with ${cleanText(first.name, 64)} in ${place}; rename one`;
      problems.push(problemAt(document, ["environments", name], message));
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
  const message =
    sorted.length === 1
      ? lines.join("")
      : `${sorted.length} problems in the config:\n${lines.map((line) => `  ${line}`).join("\n")}`;
  const hint = needsTrust
    ? "A file named by --config or TICKETS_CONFIG, and your own config, count as trusted.\nRead the file. If you wrote it or trust who did, now and after every change: tickets env --trust"
    : undefined;
  return new Failure("usage", message, { nothingSent: true, hint });
}

function environmentsOf(documents: readonly ConfigDocument[], values: readonly ParsedConfig[]) {
  const environments = new Map<string, EnvironmentConfig>();
  for (const [index, { file }] of documents.entries())
    for (const [name, environment] of Object.entries(values[index]?.environments ?? {}))
      environments.set(name, deepFreeze({ ...environment, directory: dirname(file) }));
  return environments;
}

/** With every path absolute. */
function withPaths(value: ParsedConfig, directory: string, env: NodeJS.ProcessEnv): ParsedConfig {
  // A program's bare name is looked for in PATH; anything with a slash is a path.
  const programs = PROGRAMS.flatMap((pattern) => placesIn(value, pattern).map((path) => [...path, 0]));
  const paths = PATHS.flatMap((pattern) => placesIn(value, pattern));
  for (const path of [...paths, ...programs]) {
    const [key = "", written] = [path.at(-1), valueAt(value, path)];
    const holder = valueAt(value, path.slice(0, -1));
    if (typeof written !== "string" || !isRecord(holder)) continue;
    const isPath = key === 0 ? written.includes("/") : key !== "output" || written !== "-";
    if (isPath) Reflect.set(holder, key, toPath(written, directory, env));
  }
  return value;
}

function deepFreeze<T>(value: T): T {
  if (isRecord(value)) for (const inner of Object.values(value)) deepFreeze(inner);
  return Object.freeze(value);
}

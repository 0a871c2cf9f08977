/** Which config files apply, and their texts as documents. */

import { lstat, stat } from "node:fs/promises";
import { basename, extname, join } from "node:path";
import { cosmiconfig } from "cosmiconfig";
import { errorCode, Failure } from "../failure.ts";
import { displayPath } from "../text.ts";
import type { ConfigDocument } from "./document.ts";
import { readSmall, toPath, userConfigDirectory, whyUnreadable } from "./files.ts";
import { digestOfConfig } from "./trust.ts";

export interface FoundDocument extends ConfigDocument {
  /** Of the text that was parsed: the file may have changed since. */
  readonly digest: string;
  /** Where it came from: one that the user chose or owns is trusted, one that lies in the working directory is not. */
  readonly role: "project" | "user" | "chosen";
}

/** The name of configs, and of their key in a package.json. */
const NAME = "tickets";
const DATA = [".yaml", ".yml", ".json"];
const SCRIPTS = [".js", ".mjs", ".cjs", ".ts", ".mts", ".cts"];
/** What the files of a folder are called: with an ending, and without. */
const PLACES = {
  project: { stems: [`${NAME}.config`, `.${NAME}rc`], others: [`.${NAME}rc`, "package.json"] },
  user: { stems: ["config"], others: [] },
};
const NO_SCRIPTS =
  "A config is data (.yaml, .yml or .json): code would run in the nightly job, with access to the key. Move its content there.";

export interface Search {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly configFlag?: string | undefined;
  /** Ends the wait for a config that is a pipe. */
  readonly signal?: AbortSignal | undefined;
}

/** The config of the working directory and that of the user, or the one that is named instead. */
export async function findConfigs(search: Search): Promise<readonly FoundDocument[]> {
  const { cwd, env, configFlag } = search;
  const chosen = configFlag ?? (env.TICKETS_CONFIG || undefined);
  if (chosen !== undefined) {
    const by = configFlag === undefined ? "TICKETS_CONFIG" : "--config";
    return [await readChosen(toPath(chosen, cwd, env), by, search)];
  }
  const project = await readPlace(cwd, "project", search);
  const userDirectory = userConfigDirectory(env);
  const user = userDirectory === undefined ? undefined : await readPlace(userDirectory, "user", search);
  return [project, user].filter((document) => document !== undefined);
}

async function readChosen(file: string, by: string, search: Search): Promise<FoundDocument> {
  const ending = extname(file);
  if (SCRIPTS.includes(ending))
    throw new Failure("usage", `${file} (${by}) is a script and is not run.`, { hint: NO_SCRIPTS });
  if (ending !== "" && !DATA.includes(ending))
    throw new Failure("usage", `${file} (${by}) is not a config: it is neither .yaml, .yml nor .json.`, {
      hint: "Name the file that holds the settings, or give it one of these endings.",
    });
  const document = await readConfig(file, "chosen", search);
  if (document !== undefined) return document;
  throw new Failure("usage", `${file} (${by}) has no key "${NAME}".`, {
    hint: "Put the settings under that key, or name another file.",
  });
}

/** The one config of a directory, or none. */
async function readPlace(directory: string, role: "project" | "user", search: Search) {
  const { stems, others } = PLACES[role];
  const withEndings = (endings: readonly string[]) => stems.flatMap((stem) => endings.map((ending) => stem + ending));
  const [script] = await present(directory, withEndings(SCRIPTS));
  if (script !== undefined)
    throw new Failure("usage", `${displayPath(script, search.cwd)} is a script and is not run.`, { hint: NO_SCRIPTS });
  const found: FoundDocument[] = [];
  for (const file of await present(directory, [...withEndings(DATA), ...others])) {
    const document = await readConfig(file, role, search);
    if (document !== undefined) found.push(document);
  }
  if (found.length > 1) {
    const names = found.map(({ file }) => (isPackage(file) ? `${file} (its key "${NAME}")` : file));
    throw new Failure("usage", `There are ${found.length} configs in one folder: ${names.join(" and ")}`, {
      hint: "Keep one of them.",
    });
  }
  return found[0];
}

/** Those of `names` that exist, absolute. A dangling link counts, so that it is reported. */
async function present(directory: string, names: readonly string[]): Promise<readonly string[]> {
  const found: string[] = [];
  for (const name of names) {
    const file = join(directory, name);
    try {
      await lstat(file);
      found.push(file);
    } catch (cause) {
      const code = errorCode(cause);
      if (code !== "ENOENT" && code !== "ENOTDIR") throw unreadable(file, whyUnreadable(cause), cause);
    }
  }
  return found;
}

/** Far above any config; a device may have no end. */
const MOST_BYTES = 16 * 1024 * 1024;

/** Undefined for a package.json without the key. A shell's <(...) gives its bytes only once, so it is read as a stream. */
async function readConfig(
  file: string,
  role: FoundDocument["role"],
  { signal }: Search,
): Promise<FoundDocument | undefined> {
  const parse = (text: string) => parseText(file, text, role);
  const refuse = (why: string, cause?: unknown): Failure => unreadable(file, why, cause);
  const found = await stat(file).catch(() => undefined);
  if (found?.isFile() !== true || found.size > MOST_BYTES)
    return parse(await readSmall(file, MOST_BYTES, refuse, signal));
  try {
    const result = await openExplorer(parse).load(file);
    // An empty file has no text to load: an empty config.
    return result?.isEmpty === true ? await parse("") : result?.config;
  } catch (cause) {
    throw cause instanceof Failure ? cause : refuse(whyUnreadable(cause), cause);
  }
}

/**
 * cosmiconfig as this tool uses it: it loads data, runs nothing, and obeys no folder's settings.
 *
 * It looks for settings of its own in `process.cwd()` when it is made: it would run `.config/config.js` and obey the key
 * `cosmiconfig` of a package.json, and no option prevents it. So it is made as if the working directory were the folder of
 * this file, which holds none. It looks before it returns, so nothing else sees the other folder. `process.chdir` would
 * mislead everything that is being read by a relative path, fails in a worker, and may find no way back.
 */
function openExplorer(parse: (text: string) => Promise<FoundDocument | undefined>) {
  const { cwd } = process;
  process.cwd = () => import.meta.dirname;
  try {
    // The key of a package.json is taken out again by cosmiconfig.
    const load = async (file: string, text: string) => (isPackage(file) ? { [NAME]: await parse(text) } : parse(text));
    const loaders = Object.fromEntries([...DATA, "noExt"].map((ending) => [ending, load]));
    return cosmiconfig(NAME, { searchPlaces: [], loaders, cache: false });
  } finally {
    process.cwd = cwd;
  }
}

async function parseText(file: string, text: string, role: FoundDocument["role"]): Promise<FoundDocument | undefined> {
  // The parser of YAML is a large part of a command's start.
  const { parseConfigText } = await import("./parse-document.ts");
  const document = parseConfigText(file, text, isPackage(file) ? NAME : undefined);
  return document && { ...document, digest: digestOfConfig(text), role };
}

const isPackage = (file: string): boolean => basename(file, extname(file)) === "package";

function unreadable(file: string, why: string, cause: unknown): Failure {
  return new Failure("usage", `The config ${file} ${why}.`, {
    hint: "Check its name and who may read it.",
    cause,
  });
}

/** Which config files apply, and their texts as documents. */

import { lstat, stat } from "node:fs/promises";
import { basename, extname, join } from "node:path";
import { cosmiconfig } from "cosmiconfig";
import { displayPath } from "../actions/text.ts";
import { errorCode, Failure } from "../failure.ts";
import type { ConfigDocument } from "./document.ts";
import { toPath, userConfigDirectory } from "./paths.ts";
import { readSmall, whyUnreadable } from "./small-file.ts";
import { digestOfConfig } from "./trust.ts";

export interface FoundDocument extends ConfigDocument {
  /** Of the very text that was parsed: what is read a second time may be another. */
  readonly digest: string;
  /** Where it came from: one that the user chose or owns is trusted, one that lies in the working directory is not. */
  readonly role: "project" | "user" | "chosen";
}

/** The name that configs bear, and their key in a package.json. */
const NAME = "tickets";
const DATA = [".yaml", ".yml", ".json"];
const SCRIPTS = [".js", ".mjs", ".cjs", ".ts", ".mts", ".cts"];
const PROJECT_STEMS = [`${NAME}.config`, `.${NAME}rc`];
const USER_STEMS = ["config"];
const NO_SCRIPTS =
  "A config is data (.yaml, .yml or .json): code would run in the nightly job, with the key in reach. Move its content there.";

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
  const others = [`.${NAME}rc`, "package.json"];
  const project = await readPlace(cwd, PROJECT_STEMS, others, search);
  const userDirectory = userConfigDirectory(env);
  const user = userDirectory === undefined ? undefined : await readPlace(userDirectory, USER_STEMS, [], search);
  return [
    ...(project === undefined ? [] : [{ ...project, role: "project" as const }]),
    ...(user === undefined ? [] : [{ ...user, role: "user" as const }]),
  ];
}

async function readChosen(file: string, by: string, search: Search): Promise<FoundDocument> {
  const ending = extname(file);
  if (SCRIPTS.includes(ending))
    throw new Failure("usage", `${file} (${by}) is a script and is not run.`, { hint: NO_SCRIPTS });
  if (ending !== "" && !DATA.includes(ending))
    throw new Failure("usage", `${file} (${by}) is not a config: it is neither .yaml, .yml nor .json.`, {
      hint: "Name the file that holds the settings, or give it one of these endings.",
    });
  const document = await readConfig(file, search);
  if (document === undefined)
    throw new Failure("usage", `${file} (${by}) has no key "${NAME}".`, {
      hint: "Put the settings under that key, or name another file.",
    });
  return { ...document, role: "chosen" };
}

/** The one config of a directory, or none. */
async function readPlace(directory: string, stems: readonly string[], others: readonly string[], search: Search) {
  const withEndings = (endings: readonly string[]) => stems.flatMap((stem) => endings.map((ending) => stem + ending));
  const [script] = await present(directory, withEndings(SCRIPTS));
  if (script !== undefined)
    throw new Failure("usage", `${displayPath(script, search.cwd)} is a script and is not run.`, { hint: NO_SCRIPTS });
  const found: Omit<FoundDocument, "role">[] = [];
  for (const file of await present(directory, [...withEndings(DATA), ...others])) {
    const document = await readConfig(file, search);
    if (document !== undefined) found.push(document);
  }
  if (found.length > 1) {
    const names = found.map(({ file }) => (isPackage(file) ? `${file} (its key "${NAME}")` : file));
    throw new Failure("usage", `There are ${found.length} configs in one folder: ${names.join(" and ")}`, {
      hint: "Keep one; which of them counts can't be guessed.",
    });
  }
  return found[0];
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
      if (code !== "ENOENT" && code !== "ENOTDIR") throw unreadable(file, whyUnreadable(cause), cause);
    }
  }
  return found;
}

/** Far above any config; a device may have no end. */
const MOST_BYTES = 16 * 1024 * 1024;

/** Undefined for a package.json without the key. A shell's <(...) gives its bytes once, if at all, so it is read as a stream. */
async function readConfig(file: string, { signal }: Search): Promise<Omit<FoundDocument, "role"> | undefined> {
  const refuse = (why: string, cause?: unknown): Failure => unreadable(file, why, cause);
  const found = await stat(file).catch(() => undefined);
  if (found?.isFile() !== true || found.size > MOST_BYTES)
    return parseText(file, await readSmall(file, MOST_BYTES, refuse, signal));
  try {
    const result = await openExplorer().load(file);
    // An empty file has no text to load: an empty config.
    return result?.isEmpty === true ? await parseText(file, "") : result?.config;
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
function openExplorer() {
  const { cwd } = process;
  process.cwd = () => import.meta.dirname;
  try {
    const loaders = Object.fromEntries([...DATA, "noExt"].map((ending) => [ending, loadText]));
    return cosmiconfig(NAME, { searchPlaces: [], loaders, cache: false });
  } finally {
    process.cwd = cwd;
  }
}

/** The key of a package.json is taken out again by cosmiconfig. */
async function loadText(file: string, text: string): Promise<unknown> {
  const document = await parseText(file, text);
  return isPackage(file) ? { [NAME]: document } : document;
}

async function parseText(file: string, text: string): Promise<Omit<FoundDocument, "role"> | undefined> {
  // The parser of YAML is a large part of a command's start.
  const { parseConfigText } = await import("./parse-document.ts");
  const document = parseConfigText(file, text, isPackage(file) ? NAME : undefined);
  return document && { ...document, digest: digestOfConfig(text) };
}

const isPackage = (file: string): boolean => basename(file, extname(file)) === "package";

function unreadable(file: string, why: string, cause: unknown): Failure {
  return new Failure("usage", `The config ${file} ${why}.`, {
    hint: "Check its name and who may read it.",
    cause,
  });
}

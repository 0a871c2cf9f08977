/**
 * Trust: a config that merely lies in the working directory may have come from someone else. Until a person has trusted it, it may
 * not name programs, files outside its folder, or other variables: they would be run, read, sent or published.
 */

import { createHash } from "node:crypto";
import { lstat, readFile, realpath } from "node:fs/promises";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { z } from "zod";
import { replaceFile } from "../disk/files.ts";
import { makeFolder } from "../disk/folders.ts";
import { Failure } from "../failure.ts";
import { cleanText } from "../text.ts";
import { type ConfigDocument, type ConfigPath, type ConfigProblem, placesIn, positionAt, valueAt } from "./document.ts";
import { toPath, userStateDirectory } from "./files.ts";
import { PATHS, PROGRAMS, VARIABLES, variablePart } from "./settings.ts";

/** The digest by which a config is trusted: of its whole text. */
export const digestOfConfig = (text: string): string => createHash("sha256").update(text).digest("hex");

/** Everything in a config that needs trust, each with its place. */
export async function trustProblems(
  document: ConfigDocument,
  env: NodeJS.ProcessEnv,
): Promise<readonly ConfigProblem[]> {
  const { file, value } = document;
  const folder = await realpath(dirname(file));
  const problems: ConfigProblem[] = [];
  const complain = (path: ConfigPath, message: string): void => {
    problems.push({ ...positionAt(document, path, "key"), path, message });
  };
  const placesOf = (patterns: readonly string[]) => patterns.flatMap((pattern) => placesIn(value, pattern));
  for (const path of placesOf(PATHS)) {
    const written = valueAt(value, path);
    if (typeof written !== "string" || written === "" || (path.at(-1) === "output" && written === "-")) continue;
    const real = await realPathOf(toPath(written, dirname(file), env));
    if (!isInside(folder, real))
      complain(path, `names ${cleanText(real, 200)}, which lies outside the config's folder`);
  }
  for (const path of placesOf(PROGRAMS)) complain(path, "would run a program");
  for (const path of placesOf(VARIABLES)) {
    const variable = valueAt(value, path);
    const [, environment = ""] = path.map(String);
    // A key of the sandbox is reported elsewhere.
    if (typeof variable !== "string" || environment === "sandbox") continue;
    const isKey = path.at(-2) === "apiKey";
    const twin = isKey ? valueAt(value, ["environments", environment, "sameServiceAs"]) : undefined;
    const wrong = whyNotVariable(environment, variable, twin);
    if (wrong !== undefined) complain(path, wrong);
  }
  return problems;
}

/** The secret in the variable would go to this environment's address, so it must be its own. */
function whyNotVariable(environment: string, variable: string, sameServiceAs: unknown): string | undefined {
  if (!variable.startsWith("TICKETS_"))
    return isSurelyName(variable)
      ? `names the variable ${variable}, which does not begin with TICKETS_`
      : "names a variable that does not begin with TICKETS_";
  const owner = /^TICKETS_(.+)_API_KEY$/.exec(variable)?.[1];
  if (owner === undefined || owner === variablePart(environment)) return undefined;
  // Two such environments have one address, or nothing is sent.
  if (typeof sameServiceAs === "string" && owner === variablePart(sameServiceAs)) return undefined;
  return isSurelyName(variable)
    ? `names ${variable}, the key of another environment`
    : "names the key of another environment";
}

/** Whether a text is surely the name of a variable. Any other may be a key, and is not shown. */
const isSurelyName = (text: string): boolean =>
  text.length <= 40 && /^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*$/.test(text) && (text.includes("_") || !/\d/.test(text));

/** A path with links resolved, as far as it exists. */
async function realPathOf(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch {
    // A dangling link would be followed once its target exists.
    const isLink = await lstat(path).then(
      (found) => found.isSymbolicLink(),
      () => false,
    );
    if (isLink || dirname(path) === path) return isLink ? `${sep}${basename(path)}` : path;
    return join(await realPathOf(dirname(path)), basename(path));
  }
}

function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way === "" || (way !== ".." && !way.startsWith(`..${sep}`) && resolve(folder, way) === path);
}

const STORE = z.record(z.string(), z.string());

/** Whether this user has trusted the config as it is. */
export async function isTrusted(file: string, digest: string, env: NodeJS.ProcessEnv): Promise<boolean> {
  const store = storePath(env);
  if (store === undefined) return false;
  return (await readStore(store))[await realpath(file)] === digest;
}

/**
 * Trusts a config as it is now. After this resolves it is on disk.
 *
 * @throws Failure `usage` where there is no home to keep it in, `storage` where it can't be written.
 */
export async function keepTrust(file: string, digest: string, env: NodeJS.ProcessEnv): Promise<void> {
  const store = storePath(env);
  if (store === undefined)
    throw new Failure("usage", "There is no home directory to keep the trust in", {
      hint: "Name the config with --config or TICKETS_CONFIG: then it counts as trusted.",
    });
  makeFolder(dirname(store), { mode: 0o700 });
  const trusted = { ...(await readStore(store)), [await realpath(file)]: digest };
  try {
    await replaceFile(store, `${JSON.stringify(trusted, null, 2)}\n`, { mode: 0o600 });
  } catch (cause) {
    throw new Failure("storage", `The list of trusted configs can't be written to ${cleanText(store, 300)}.`, {
      hint: "Check who may write in its folder, or name the config with --config: then it counts as trusted.",
      cause,
    });
  }
}

function storePath(env: NodeJS.ProcessEnv): string | undefined {
  const directory = userStateDirectory(env);
  return directory === undefined ? undefined : join(directory, "trusted.json");
}

async function readStore(store: string): Promise<Readonly<Record<string, string>>> {
  try {
    const { uid, mode } = await lstat(store);
    // Somebody else could have written it.
    if (process.getuid !== undefined && (uid !== process.getuid() || (mode & 0o022) !== 0)) return {};
    return STORE.parse(JSON.parse(await readFile(store, "utf8")));
  } catch {
    return {}; // missing or damaged: nothing is trusted
  }
}

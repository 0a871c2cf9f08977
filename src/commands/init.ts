/** `tickets init`: a starter config from exports. Asks nothing, sends nothing, overwrites nothing. */

import { lstatSync } from "node:fs";
import { open, rm } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { setAside } from "../disk/files.ts";
import { EXIT_CODES, errorCode, Failure } from "../failure.ts";
import { EXAMPLE } from "../init/example.ts";
import { type GuessedSource, guessConfig } from "../init/guess.ts";
import { samplesOf } from "../init/samples.ts";
import { storageFailure } from "../ledger/sqlite-failures.ts";
import { cleanText, count, displayPath, inShell } from "../text.ts";
import { makeOutputFolder } from "../write/output-file.ts";
import type { Context } from "./context.ts";
import type { Given } from "./options.ts";

/** `files`: the exports, a source for each; without them a commented example is written. `output`: `-` is standard output. */
type InitOptions = Pick<Given, "files" | "output" | "moveAside" | "encoding">;

const DEFAULT_OUTPUT = "tickets.config.yaml";

export async function init(options: InitOptions, context: Context): Promise<number> {
  const { reporter, cwd } = context;
  const output = options.output ?? DEFAULT_OUTPUT;
  const target = resolve(cwd, output);
  if (output !== "-") {
    if (!/\.ya?ml$/i.test(output))
      throw new Failure("usage", `${cleanText(output, 200)} does not end in .yaml; the config is written as YAML.`, {
        hint: "Name a file that ends in .yaml.",
      });
    // Before the export is read: what can't be written need not be looked for.
    if (!options.moveAside) refuseExisting(target, cwd, options.output === undefined);
  }
  const found = options.files.length === 0 ? undefined : await lookAt(options, context);
  const guess = found === undefined ? undefined : guessConfig(...found.map(({ sample }) => sample));
  const yaml = guess?.yaml ?? EXAMPLE;
  if (output === "-") reporter.out(yaml);
  else {
    const aside = options.moveAside && exists(target) ? setAside(target) : undefined;
    if (aside !== undefined) reporter.info(`The old config was set aside as ${displayPath(aside, cwd)}.`);
    await writeConfig(target, yaml, cwd);
    reporter.info(`Written: ${displayPath(target, cwd)}`);
  }
  if (guess === undefined || found === undefined) {
    reporter.info("It holds an example. To make one from exports: tickets init FILE...");
    return EXIT_CODES.ok;
  }
  const inOrder = guess.sources.flatMap((source) => {
    const { file } = found[source.at] ?? {};
    return file === undefined ? [] : [{ file, source }];
  });
  for (const { file, source } of inOrder) reporter.info(`${cleanText(file.name, 200)}: ${understood(source)}.`);
  if (guess.open.length > 0) {
    reporter.info(`Fill in (${count(guess.open.length, "value")}; until then every command refuses the config):`);
    for (const { line, what } of guess.open)
      reporter.info(`  ${output === "-" ? "line " : `${displayPath(target, cwd)}:`}${line}  ${cleanText(what, 160)}`);
  }
  if (guess.guesses.length > 0) {
    const lines = guess.guesses.length === 1 ? "1 guess: line" : `${guess.guesses.length} guesses: lines`;
    reporter.info(`Check ${lines} ${guess.guesses.join(", ")}`);
  }
  const config = output === "-" || options.output === undefined ? "" : ` --config ${inShell(displayPath(target, cwd))}`;
  const isAsGiven = guess.sources.every(({ at }, place) => at === place);
  const names = isAsGiven ? options.files : inOrder.map(({ file }) => file.name);
  // Standard input has no name that a source could match.
  const byName = inOrder.length === 1 && inOrder[0]?.file.path === "-" ? ` --source ${inOrder[0].source.name}` : "";
  reporter.info(`Next: tickets plan ${names.map(inShell).join(" ")} --preview${byName}${config}`);
  return EXIT_CODES.ok;
}

function understood({ system, page, how }: GuessedSource): string {
  if (system !== undefined) return `${system}, recognised by its headers; ${page} shows what it gives`;
  if (how === "actions") return "its columns are named like fields, and each row names its action";
  return how === "fields"
    ? "its columns are named like fields; check which action its rows are"
    : "an unknown layout, so its columns were guessed from their names and cells; check each line";
}

function lookAt({ files, encoding }: InitOptions, { cwd, stdin, stop: signal, reporter }: Context) {
  return samplesOf(files, {
    cwd,
    stdin,
    signal,
    encoding,
    onUtf8: ({ name }, declared) =>
      reporter.info(
        `${cleanText(name, 200)} is UTF-8, so --encoding ${cleanText(declared, 40)} is not declared for it.`,
      ),
  });
}

/** Two configs of one folder would stop every command. */
const NAMES = ["tickets.config.", ".ticketsrc."].flatMap((name) => ["yaml", "yml", "json"].map((end) => name + end));

/**
 * @param isDefault the config has a default name, so its folder may hold no other config.
 * @throws Failure `usage` where the file, or another config of its folder, exists.
 */
function refuseExisting(target: string, cwd: string, isDefault: boolean): void {
  const rivals = isDefault ? [".ticketsrc", ...NAMES].map((name) => join(dirname(target), name)) : [];
  const found = [target, ...rivals].find(exists);
  if (found !== undefined) throw existingFailure(found, found === target, cwd);
}

/** @throws Failure `usage` where the file exists, `storage` where it can't be written. */
async function writeConfig(path: string, text: string, cwd: string): Promise<void> {
  makeOutputFolder(path);
  try {
    await using file = await open(path, "wx");
    // Half a config would only be in the way of the next try.
    await file.writeFile(text).catch(async (cause: unknown) => {
      await rm(path, { force: true });
      throw cause;
    });
  } catch (cause) {
    if (errorCode(cause) === "EEXIST") throw existingFailure(path, true, cwd);
    throw storageFailure(path, cause);
  }
}

const existingFailure = (path: string, isTarget: boolean, cwd: string): Failure =>
  new Failure("usage", `${displayPath(path, cwd)} already exists and is not overwritten.`, {
    hint: isTarget
      ? "Write to standard output with -o - and copy what you need, name another file with -o, or set the old one aside with --move-aside (it is renamed, never deleted)."
      : "One folder holds one config. Write to standard output with -o - and copy the source into it.",
  });

function exists(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch (cause) {
    throw storageFailure(path, cause);
  }
}

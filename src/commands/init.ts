/** `tickets init`: a starter config from exports. Asks nothing, sends nothing, overwrites nothing. */

import { lstatSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { setAside } from "../disk/files.ts";
import { EXIT_CODES, Failure } from "../failure.ts";
import { EXAMPLE, type Guess, guessConfig } from "../init/guess.ts";
import { type FoundSample, samplesOf } from "../init/samples.ts";
import { storageFailure } from "../ledger/sqlite-failures.ts";
import { cleanText, count, displayPath, inShell } from "../text.ts";
import { writeWhole } from "../write/output-file.ts";
import type { AllOptions, Context } from "./context.ts";

/** `files`: the exports, a source for each; without them a commented example is written. `output`: `-` is standard output. */
type InitOptions = Pick<AllOptions, "files" | "output" | "moveAside" | "encoding">;

const DEFAULT_OUTPUT = "tickets.config.yaml";

export async function init(options: InitOptions, context: Context): Promise<number> {
  const { reporter, cwd } = context;
  const output = options.output ?? DEFAULT_OUTPUT;
  const target = output === "-" ? undefined : resolve(cwd, output);
  // Refused before the exports are read.
  if (target !== undefined) refuseTarget(target, options, cwd);
  const found = options.files.length === 0 ? undefined : await lookAt(options, context);
  const guess = found === undefined ? undefined : guessConfig(...found.map(({ sample }) => sample));
  const yaml = guess?.yaml ?? EXAMPLE;
  if (target === undefined) reporter.out(yaml);
  else {
    const aside = options.moveAside && exists(target) ? setAside(target) : undefined;
    if (aside !== undefined) reporter.info(`The old config was set aside as ${displayPath(aside, cwd)}.`);
    await writeWhole(target, yaml, displayPath(target, cwd));
    reporter.info(`Written: ${displayPath(target, cwd)}`);
  }
  if (guess === undefined || found === undefined)
    reporter.info("It holds an example. To make one from exports: tickets init FILE...");
  else sayGuess(guess, found, { ...options, target }, context);
  return EXIT_CODES.ok;
}

/** How each export was understood, what a person has to fill in and check, and the next command. */
function sayGuess(
  { sources, open, guesses }: Guess,
  found: readonly FoundSample[],
  { files, output, target }: InitOptions & { readonly target: string | undefined },
  { reporter, cwd }: Context,
): void {
  const config = target === undefined ? "" : displayPath(target, cwd);
  const inOrder = sources.flatMap((source) => {
    const { file } = found[source.at] ?? {};
    return file === undefined ? [] : [{ file, source }];
  });
  for (const { file, source } of inOrder) reporter.info(`${cleanText(file.name, 200)}: ${source.taken}.`);
  if (open.length > 0)
    reporter.info(`Fill in (${count(open.length, "value")}; until then every command refuses the config):`);
  for (const { line, what } of open)
    reporter.info(`  ${config === "" ? "line " : `${config}:`}${line}  ${cleanText(what, 160)}`);
  if (guesses.length > 0)
    reporter.info(
      `Check ${guesses.length === 1 ? "1 guess: line" : `${guesses.length} guesses: lines`} ${guesses.join(", ")}`,
    );
  const isAsGiven = sources.every(({ at }, place) => at === place);
  const names = isAsGiven ? files : inOrder.map(({ file }) => file.name);
  const [first] = inOrder;
  // Standard input has no name that a source could match.
  const byName = inOrder.length === 1 && first?.file.path === "-" ? ` --source ${first.source.name}` : "";
  const flag = config === "" || output === undefined ? "" : ` --config ${inShell(config)}`;
  reporter.info(`Next: tickets plan ${names.map(inShell).join(" ")} --preview${byName}${flag}`);
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

/** Two configs in one folder would stop every command. */
const NAMES = ["tickets.config.", ".ticketsrc."].flatMap((name) => ["yaml", "yml", "json"].map((end) => name + end));

/** @throws Failure `usage` for a file that is no YAML or exists, and beside another config of the same folder. */
function refuseTarget(target: string, { output, moveAside }: InitOptions, cwd: string): void {
  if (output !== undefined && !/\.ya?ml$/i.test(output))
    throw new Failure("usage", `${cleanText(output, 200)} does not end in .yaml; the config is written as YAML.`, {
      hint: "Name a file that ends in .yaml.",
    });
  if (moveAside) return;
  const rivals = output === undefined ? [".ticketsrc", ...NAMES].map((name) => join(dirname(target), name)) : [];
  const found = [target, ...rivals].find(exists);
  if (found === undefined) return;
  throw new Failure("usage", `${displayPath(found, cwd)} already exists and is not overwritten.`, {
    hint:
      found === target
        ? "Write to standard output with -o - and copy what you need, name another file with -o, or set the old one aside with --move-aside (it is renamed, never deleted)."
        : "One folder holds one config. Write to standard output with -o - and copy the source into it.",
  });
}

/** True for a dangling link, too. */
function exists(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch (cause) {
    throw storageFailure(path, cause);
  }
}

/** `tickets init`: a starter config from exports. Asks nothing, sends nothing, overwrites nothing. */

import { lstat, open, rm, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { cleanText, count, inShell } from "../actions/text.ts";
import { displayPath } from "../config/config.ts";
import { setAside } from "../disk/aside.ts";
import { EXIT_CODES, errorCode, Failure } from "../failure.ts";
import { type GuessedSource, guessConfig } from "../init/guess.ts";
import type { Sample } from "../init/sample.ts";
import { storageFailure } from "../ledger/open-ledger.ts";
import { withExactNumbers } from "../mapping/exact-numbers.ts";
import type { Row } from "../mapping/row.ts";
import { makeOutputFolder } from "../outputs/output-file.ts";
import { openBytes } from "../readers/bytes.ts";
import { findingsOfEncoding } from "../readers/content.ts";
import { openInput } from "../readers/input.ts";
import type { InputFile } from "../readers/input-file.ts";
import { resolveInputs } from "../readers/inputs.ts";
import { watchUtf8 } from "../readers/utf8-watch.ts";
import type { Context } from "./context.ts";

export interface InitOptions {
  /** The exports, a source for each; without them a commented example is written. */
  readonly files: readonly string[];
  /** `-`: standard output. */
  readonly output?: string | undefined;
  /** Set an existing config aside. */
  readonly force: boolean;
  readonly encoding?: string | undefined;
}

const DEFAULT_OUTPUT = "tickets.config.yaml";
/** Enough to see every status; all of them are kept in memory. */
const ROWS_LOOKED_AT = 20_000;

export async function init(options: InitOptions, context: Context): Promise<number> {
  const { reporter, cwd } = context;
  const output = options.output ?? DEFAULT_OUTPUT;
  const target = resolve(cwd, output);
  if (output !== "-") {
    if (!/\.ya?ml$/i.test(output))
      throw new Failure("usage", `${cleanText(output, 200)} does not end in .yaml, which the config is written in.`);
    // Before the export is read: what can't be written need not be looked for.
    if (!options.force) await refuseExisting(target, cwd, options.output === undefined);
  }
  const found = options.files.length === 0 ? undefined : await samplesOf(options, context);
  const guess = found === undefined ? undefined : guessConfig(...found.map(({ sample }) => sample));
  const yaml = guess?.yaml ?? EXAMPLE;
  if (output === "-") reporter.out(yaml);
  else {
    if (options.force && (await exists(target)))
      reporter.info(`The old config was set aside as ${displayPath(setAside(target), cwd)}.`);
    makeOutputFolder(target);
    await writeNew(target, yaml, cwd);
    reporter.info(`Written: ${displayPath(target, cwd)}`);
  }
  if (guess === undefined || found === undefined) {
    reporter.info("It holds an example. tickets init FILE... looks at exports instead.");
    return EXIT_CODES.ok;
  }
  const inOrder = guess.order.flatMap((at) => {
    const [file, source] = [found[at]?.file, guess.sources[at]];
    return file === undefined || source === undefined ? [] : [{ file, source }];
  });
  for (const { file, source } of inOrder) reporter.info(`${cleanText(file.name, 200)}: ${understood(source)}.`);
  if (guess.open.length > 0) {
    reporter.info(`Fill in (${count(guess.open.length, "line")}; until then every command refuses the config):`);
    const shown = guess.open.slice(0, 20);
    for (const { line, what } of shown)
      reporter.info(`  ${output === "-" ? "line " : `${displayPath(target, cwd)}:`}${line}  ${cleanText(what, 160)}`);
    if (guess.open.length > shown.length) reporter.info(`  and ${guess.open.length - shown.length} more`);
  }
  if (guess.guesses.length > 0) {
    const some = guess.guesses.slice(0, 20).join(", ");
    reporter.info(
      `Check ${guess.guesses.length === 1 ? "1 guess: line" : `${guess.guesses.length} guesses: lines`} ${some}${guess.guesses.length > 20 ? ", …" : ""}`,
    );
  }
  const config = output === "-" || options.output === undefined ? "" : ` --config ${inShell(displayPath(target, cwd))}`;
  const isAsGiven = guess.order.every((at, place) => at === place);
  const names = isAsGiven ? options.files : inOrder.map(({ file }) => file.name);
  // Standard input has no name that a source could match.
  const byName = inOrder.length === 1 && inOrder[0]?.file.path === "-" ? ` --source ${inOrder[0].source.name}` : "";
  reporter.info(`Next: tickets plan ${names.map(inShell).join(" ")} --preview${byName}${config}`);
  return EXIT_CODES.ok;
}

function understood({ system, how }: GuessedSource): string {
  if (system !== undefined) return `${system}, told by its headers`;
  if (how === "actions") return "its columns are called like fields, and each row names its action";
  return how === "fields"
    ? "its columns are called like fields; check which action its rows are"
    : "an unknown layout, so its columns were guessed by name and by their cells; check each line";
}

interface Found {
  readonly file: InputFile;
  readonly sample: Sample;
}

async function samplesOf(options: InitOptions, context: Context): Promise<readonly Found[]> {
  const files = await resolveInputs(options.files, {
    cwd: context.cwd,
    onPassedOver: context.reporter.warn,
    signal: context.stop,
  });
  if (files.length > 1 && files.some(({ path }) => path === "-"))
    throw new Failure("usage", "Standard input has no name by which its source could be chosen beside others.", {
      hint: "Save it as a file, or look at it alone: tickets init -",
    });
  const found: Found[] = [];
  for (const file of files) {
    const encoding = await encodingOf(file, options, context);
    found.push({ file, sample: await sampleOf(file, encoding, context) });
  }
  return found;
}

/** `--encoding` is that of the files that are not UTF-8: others would be read as another text. */
async function encodingOf(
  file: InputFile,
  { encoding }: InitOptions,
  { reporter, stop: signal }: Context,
): Promise<string | undefined> {
  if (encoding === undefined || !(await canBeReadTwice(file))) return encoding;
  await using source = await openBytes(file, { signal });
  const watch = watchUtf8();
  for await (const block of source.blocks()) {
    watch.take(block, () => 0);
    if (!watch.seen.isValid) return encoding;
  }
  watch.end();
  if (!watch.seen.isValid) return encoding;
  if (watch.seen.characters > 0)
    reporter.info(
      `${cleanText(file.name, 200)} is UTF-8, so --encoding ${cleanText(encoding, 40)} is not declared for it.`,
    );
  return undefined;
}

/** A pipe gives its bytes once. */
const canBeReadTwice = async ({ path }: InputFile): Promise<boolean> => path !== "-" && (await stat(path)).isFile();

async function sampleOf(file: InputFile, encoding: string | undefined, context: Context): Promise<Sample> {
  const { stdin, stop: signal } = context;
  await using input = await openInput(file, { signal, stdin, ...(encoding !== undefined && { encoding }) });
  const rows: Row[] = [];
  let isWhole = true;
  reading: for await (const batch of input.batches()) {
    for (const row of batch) {
      if (row.kind === "malformed") {
        if (rows.length > 0) continue;
        throw new Failure(
          "usage",
          `${cleanText(file.name, 200)}:${row.line} ${row.findings[0]?.message ?? "can't be read."}`,
          {
            ...(row.findings[0]?.hint !== undefined && { hint: row.findings[0].hint }),
          },
        );
      }
      if (rows.length === ROWS_LOOKED_AT) {
        isWhole = false;
        break reading;
      }
      rows.push(row);
    }
  }
  const [misread] = findingsOfEncoding(input);
  if (misread !== undefined)
    throw new Failure("usage", `${cleanText(file.name, 200)}:${misread.line} ${misread.message}`, {
      hint: "Leave --encoding out, or save it as a file.",
    });
  if (input.header === undefined && rows.length === 0)
    throw new Failure("usage", `${cleanText(file.name, 200)} is empty: there is nothing to guess from.`);
  const first = rows[0];
  if (first?.kind === "object" && typeof first.value.action === "string" && typeof first.value.data === "object")
    throw new Failure(
      "usage",
      `${cleanText(file.name, 200)} holds actions already ({action, data}); they need no config.`,
      {
        hint: `Check it: tickets validate ${inShell(file.name)}`,
      },
    );
  const common = {
    fileName: file.path === "-" ? "export" : basename(file.name),
    isWhole,
    ...(input.encoding !== "utf-8" && { encoding: input.encoding }),
  };
  if (input.header === undefined) return { ...common, ...tableOfObjects(rows) };
  const { delimiter } = input;
  return {
    ...common,
    header: input.header,
    rows: rows.flatMap((row) => (row.kind === "cells" ? [row.cells] : [])),
    ...(delimiter !== undefined && delimiter !== "," && input.format === "csv" && { delimiter }),
  };
}

/** How deep values in JSON rows are looked for, and how many of them. */
const DEEPEST = 4;
const MOST_PATHS = 500;

/** JSON rows as a table of the paths of their values. */
function tableOfObjects(rows: readonly Row[]): Pick<Sample, "header" | "rows" | "lists"> {
  const paths = new Map<string, number>();
  const lists = new Set<string>();
  const table = rows.flatMap((row) => {
    if (row.kind !== "object") return [];
    const cells: string[] = [];
    const walk = (value: unknown, path: string, depth: number): void => {
      if (value === null || value === undefined) return;
      if (Array.isArray(value)) {
        if (lists.size < MOST_PATHS) lists.add(path);
      } else if (typeof value === "object") {
        if (depth < DEEPEST)
          for (const [key, inner] of Object.entries(value))
            walk(inner, path === "" ? key : `${path}.${key}`, depth + 1);
      } else {
        let at = paths.get(path);
        if (at === undefined && paths.size < MOST_PATHS) {
          at = paths.size;
          paths.set(path, at);
        }
        if (at !== undefined) cells[at] = String(value);
      }
    };
    walk(withExactNumbers(row), "", 0);
    return [cells];
  });
  const header = [...paths.keys()];
  return { header, rows: table.map((cells) => header.map((_path, at) => cells[at] ?? "")), lists: [...lists] };
}

/** The config's other names: two of them in one folder would stop every command. */
const OTHER_CONFIGS = [
  "tickets.config.yaml",
  "tickets.config.yml",
  "tickets.config.json",
  ".ticketsrc",
  ".ticketsrc.yaml",
  ".ticketsrc.yml",
  ".ticketsrc.json",
];

async function refuseExisting(target: string, cwd: string, isDefault: boolean): Promise<void> {
  const rivals = isDefault ? OTHER_CONFIGS.map((name) => join(dirname(target), name)) : [];
  for (const path of new Set([target, ...rivals])) {
    if (!(await exists(path))) continue;
    throw existingFailure(path, path === target, cwd);
  }
}

function existingFailure(path: string, isTarget: boolean, cwd: string): Failure {
  return new Failure("usage", `${displayPath(path, cwd)} is there already, and is not overwritten.`, {
    hint: isTarget
      ? "Write to standard output with -o - and copy what you need, name another file with -o, or set the old one aside with --force (it is renamed, never deleted)."
      : "One folder holds one config. Write to standard output with -o - and copy the source into it.",
  });
}

async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (cause) {
    if (errorCode(cause) === "ENOENT") return false;
    throw storageFailure(path, cause);
  }
}

async function writeNew(path: string, text: string, cwd: string): Promise<void> {
  try {
    await using file = await open(path, "wx");
    // Half a config would only stand in the way of the next try.
    await file.writeFile(text).catch(async (cause: unknown) => {
      await rm(path, { force: true });
      throw cause;
    });
  } catch (cause) {
    if (errorCode(cause) === "EEXIST") throw existingFailure(path, true, cwd);
    throw storageFailure(path, cause);
  }
}

const EXAMPLE = `# A config of tickets. docs/mapping.md explains sources; tickets init FILE writes one from an export.

# Without an environment everything goes to the built-in sandbox.
#environments:
#  playground:
#    baseUrl: https://…
#    apiKey: {env: TICKETS_PLAYGROUND_API_KEY}

#sources:
#  orders:
#    match: "orders*.csv"
#    zone: Europe/Berlin
#    fields: {eventId: my-event, ticketId: "{Ticket ID}"}
#    actions:
#      - soldTicket:
#          when: {Status: paid}
#          fields:
#            userId: "{Customer ID}"
#            price: {from: "{Price}", decimal: ","}
#            orderTime: {from: "{Date}", format: "d.M.yyyy HH:mm"}
`;

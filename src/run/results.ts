/** Writes the promises of runs again from the ledger, and refills a ledger from promises files. */

import { createReadStream, existsSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { Readable, type Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { resultsCommand } from "../actions/next-command.ts";
import { cleanText, displayPath } from "../actions/text.ts";
import type { Environment } from "../config/environment.ts";
import { Failure } from "../failure.ts";
import type { Imported, Ledger, Run, RunCounts } from "../ledger/ledger.ts";
import { adoptPromises, isPlainFile, writeWhole } from "../write/output-file.ts";
import { styleOf } from "../write/promise-file.ts";
import { promiseFormat, promiseLines, promisesHeader } from "../write/promises.ts";
import { parsePromises } from "../write/read-promises.ts";
import type { RunContext } from "./context.ts";
import { findLedgerOf, noLedger, openLedgerOf } from "./ledger-of.ts";
import { lostRunsOf } from "./lost-ledger.ts";
import { isEnteredHere, openPromises, refuseCompressed } from "./outputs.ts";
import { writeRejectsOf } from "./rejects.ts";
import { hasPromises, namedRun, type RunStatus, runOfResults, statusOf } from "./runs.ts";
import { openSession } from "./session.ts";

export interface ResultsSettings {
  readonly environment: Environment;
  /** Its id; undefined: the only one that is open, else the last. */
  readonly run?: string | undefined;
  /** Every run instead, the oldest first. */
  readonly all: boolean;
  /** A file, whose ending says the format, or a stream, which gets NDJSON. */
  readonly to: string | Writable;
  /** Replace an existing file. */
  readonly force: boolean;
}

export interface WrittenResults {
  /** The ids of the runs. */
  readonly runs: readonly string[];
  readonly lines: number;
  /** Undefined where they went to a stream. */
  readonly path: string | undefined;
  /** Runs of which something was undecided when the writing began: it has no line. */
  readonly undecided: readonly (RunCounts & { readonly run: string })[];
  /** Why the ledger does not know everything that was sent. */
  readonly problem: Failure | undefined;
}

/** @throws Failure where there is no ledger, the run is not known, or the file exists already. */
export async function writeResults({ cwd }: RunContext, options: ResultsSettings): Promise<WrittenResults> {
  const { environment, to, force } = options;
  const { safeCsv } = environment;
  await using ledger = await findLedgerOf(environment);
  if (ledger === undefined) throw noLedger(environment, cwd);
  const problem = await lostRunsOf(environment, ledger, cwd);
  const runs = options.all
    ? (await ledger.runs()).filter(hasPromises)
    : [await runOfResults(ledger, options.run, environment)];
  // Before the lines are read: what a run that goes on decides meanwhile may have no line either.
  const undecided = await undecidedOf(ledger, runs);
  const found = { runs: runs.map(({ run }) => run), undecided, problem };
  let written = 0;
  const counted = async function* (path: string | undefined): AsyncGenerator<string> {
    if (path !== undefined) yield promisesHeader(promiseFormat(path), safeCsv);
    for await (const text of linesOf(ledger, runs, path, safeCsv)) {
      written += text.split("\n").length - 1;
      yield text;
    }
  };
  if (typeof to !== "string") {
    await pipeline(Readable.from(counted(undefined)), to, { end: false });
    return { ...found, lines: written, path: undefined };
  }
  const path = resolve(cwd, to);
  const shown = displayPath(path, cwd);
  refuseCompressed(path, cwd, false);
  if (existsSync(path) && !force)
    throw new Failure("usage", `${shown} already exists and is not overwritten.`, {
      hint: "Name another file, or replace it with --force.",
    });
  await writeWhole(path, counted(path), shown);
  return { ...found, lines: written, path };
}

async function undecidedOf(ledger: Ledger, runs: readonly Run[]): Promise<WrittenResults["undecided"]> {
  const undecided = [];
  for (const run of runs) {
    const counts = await ledger.counts(run.number);
    if (counts.inDoubt + counts.inFlight + counts.refused > 0 || run.state === "open")
      undecided.push({ run: run.run, ...counts });
  }
  return undecided;
}

/** The lines of the promises, those of a chunk at a time. */
async function* linesOf(
  ledger: Ledger,
  runs: readonly Run[],
  path: string | undefined,
  safeCsv: boolean,
): AsyncGenerator<string> {
  for (const run of runs)
    for (const { chunk } of await ledger.chunks(run.number)) {
      const text = promiseLines(await ledger.outcomes(run.number, chunk), styleOf(run, path, safeCsv));
      if (text !== "") yield text;
    }
}

export interface ImportedFile extends Imported {
  readonly file: string;
  /** The end of a last line that a power cut tore. */
  readonly torn: string | undefined;
}

function refuseNoFile(name: string, path: string): void {
  const refuse = (what: string, hint: string): Failure =>
    new Failure("usage", `${what} Nothing was imported.`, { hint });
  const shown = cleanText(name, 300);
  if (name === "") throw refuse("A file name is empty.", "Was a variable not set?");
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined)
    throw refuse(`There is no file ${shown}.`, "A relative path begins in the folder that the command runs in.");
  if (found.isDirectory()) throw refuse(`${shown} is a directory, not a file.`, "Name the file in it.");
}

/**
 * Refills the environment's ledger from promises files.
 *
 * @returns what was imported, and what the ledger lacks even so.
 * @throws Failure `usage` for a file that is none, or belongs to another environment.
 */
export async function importResults(
  context: RunContext,
  options: { readonly environment: Environment; readonly files: readonly string[]; readonly waitLock: number },
): Promise<{ readonly files: readonly ImportedFile[]; readonly problem: Failure | undefined }> {
  const { environment, files, waitLock } = options;
  for (const name of files) refuseNoFile(name, resolve(context.cwd, name));
  await using session = await openSession(context, environment, {
    command: "tickets results --import",
    waitLockMs: waitLock,
    mayLackRuns: true,
  });
  const imported: ImportedFile[] = [];
  for (const name of await inOrder(files, context.cwd, environment)) {
    const path = resolve(context.cwd, name);
    const { lines, torn: tornOf } = readLines(path, context.cwd, environment);
    const counts = await session.ledger.importActions(lines);
    const torn = tornOf();
    imported.push({ file: name, torn, ...counts });
    const unwritten = await session.ledger.runs({ unwritten: true });
    if (torn === undefined && (await isPlainFile(path)) && unwritten.every(({ output }) => output !== path))
      await adoptPromises(session.ledger, path);
  }
  return { files: imported, problem: await lostRunsOf(environment, session.ledger, context.cwd) };
}

const readLines = (path: string, cwd: string, { ledgerNames }: Environment) =>
  parsePromises(createReadStream(path), promiseFormat(path), displayPath(path, cwd), ledgerNames);

/** Runs are numbered as they are met, and by that it is known what came later. Pipes, which are read once, stay as they were given. */
async function inOrder(files: readonly string[], cwd: string, environment: Environment): Promise<readonly string[]> {
  const begins = new Map<string, string>();
  for (const name of files) {
    const path = resolve(cwd, name);
    if (!(await isPlainFile(path))) return files;
    for await (const [line] of readLines(path, cwd, environment).lines) {
      begins.set(name, line?.at ?? "");
      break;
    }
  }
  const beginOf = (name: string): string => begins.get(name) ?? "";
  return files.toSorted((one, other) => beginOf(one).localeCompare(beginOf(other)));
}

/** How often it is looked what workers have sent, at least. */
const LOOK_MS = 2000;

/**
 * Writes the promises and rejects of published runs while workers send them, until nothing is open any more or the command is
 * stopped. Takes no lock but that of the file that is written.
 *
 * @returns the runs that were written.
 * @throws Failure `usage` where whatever sends writes its promises itself.
 */
export async function followResults(
  context: RunContext,
  { environment, run: id }: { readonly environment: Environment; readonly run?: string | undefined },
): Promise<readonly RunStatus[]> {
  const { stop } = context;
  if (environment.ledgerServer === undefined)
    throw new Failure(
      "usage",
      `The ledger of ${environment.name} is a file of this machine, so whatever sends writes its promises itself.`,
      { hint: `Write them again: ${resultsCommand(environment, "--all")}` },
    );
  await using ledger = await openLedgerOf(environment, environment.baseUrl, context);
  const written = new Map<number, Run>();
  if (id !== undefined) {
    const chosen = await namedRun(ledger, id, environment);
    written.set(chosen.number, chosen);
  }
  const isMeant = (run: Run): boolean => (id === undefined ? isEnteredHere(ledger, run) : run.run === id);
  for (let isLast = false; !isLast && !stop.aborted; ) {
    const open = (await ledger.runs({ states: ["open", "closing"] })).filter(isMeant);
    isLast = open.length === 0;
    for (const run of await ledger.runs({ unwritten: true })) {
      if (!isMeant(run)) continue;
      try {
        // Opening the file writes them.
        await using _ = await openPromises(context, ledger, run, environment, 0);
        written.set(run.number, run);
      } catch (cause) {
        // Another process writes it just now.
        if (!(cause instanceof Failure && cause.code === "busy")) throw cause;
        isLast = false;
      }
    }
    if (!isLast) await ledger.workers?.woken(LOOK_MS, stop);
  }
  const ends: RunStatus[] = [];
  for (const { run } of written.values()) {
    const found = await ledger.run(run);
    if (found === undefined) continue;
    if (found.state === "finished" || found.state === "abandoned") await writeRejectsOf(context, ledger, found);
    ends.push(await statusOf(ledger, found, environment));
  }
  return ends;
}

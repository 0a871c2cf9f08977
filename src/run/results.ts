/** Refills a ledger from promises files, and writes the promises of published runs while workers send them. */

import { createReadStream, statSync } from "node:fs";
import { resolve } from "node:path";
import type { Environment } from "../config/environment.ts";
import { Failure } from "../failure.ts";
import { type JournalEntry, readJournal } from "../ledger/journal.ts";
import type { Imported, ImportedRun, Run } from "../ledger/ledger.ts";
import { resultsCommand } from "../next-command.ts";
import { cleanText, displayPath } from "../text.ts";
import { adoptPromises } from "../write/output-file.ts";
import { openPromises } from "../write/promise-file.ts";
import { promiseFormat } from "../write/promises.ts";
import { parsePromises } from "../write/read-promises.ts";
import { writeRejectsOf } from "../write/rejects.ts";
import type { RunContext } from "./context.ts";
import { journalPath, lostRunsOf, noteImportedInJournal } from "./lost-ledger.ts";
import { type Limits, openEnvironment, openLedgerOf } from "./open.ts";
import { isEnteredHere, namedRun, type RunStatus, statusOf, unfinishedRuns } from "./runs.ts";

export interface ImportedFile extends Imported {
  readonly file: string;
  /** The end of a last line that a power cut tore. */
  readonly torn: string | undefined;
}

/**
 * Refills the environment's ledger from promises files, each of which is read twice.
 *
 * @returns what was imported, and what the ledger lacks even so.
 * @throws Failure `usage` for a file that is none, or belongs to another environment.
 */
export async function importResults(
  context: RunContext,
  options: Limits & { readonly environment: Environment; readonly files: readonly string[] },
): Promise<{ readonly files: readonly ImportedFile[]; readonly problem: Failure | undefined }> {
  const { environment, files } = options;
  const { cwd } = context;
  for (const name of files) refuseNoFile(name, cwd);
  await using opened = await openEnvironment(context, environment, {
    ...options,
    command: "tickets results --import",
    mayLackRuns: true,
  });
  const { ledger } = opened;
  const imported: ImportedFile[] = [];
  const named = await lookThrough(files, cwd, environment);
  await ledger.importRuns(inOrderOfEntry(named.runs, readJournal(journalPath(environment))));
  for (const name of named.files) {
    const path = resolve(cwd, name);
    const { lines, torn: tornOf } = readLines(path, cwd, environment);
    const counts = await ledger.importActions(lines);
    const torn = tornOf();
    imported.push({ file: name, torn, ...counts });
    const unwritten = await ledger.runs({ unwritten: true });
    if (torn === undefined && unwritten.every(({ output }) => output !== path)) await adoptPromises(ledger, path);
  }
  await noteImportedInJournal(environment, ledger);
  return { files: imported, problem: await lostRunsOf(environment, ledger, cwd) };
}

function refuseNoFile(name: string, cwd: string): void {
  if (name !== "" && statSync(resolve(cwd, name), { throwIfNoEntry: false })?.isFile() === true) return;
  throw new Failure("usage", `There is no file ${cleanText(name, 300) || '""'}. Nothing was imported.`, {
    hint: "A relative path begins in the folder that the command runs in. A pipe is no file: each is read twice.",
  });
}

const readLines = (path: string, cwd: string, { ledgerNames }: Environment) =>
  parsePromises(createReadStream(path), promiseFormat(path), displayPath(path, cwd), ledgerNames);

/** The runs that the files name, and the files by their first lines. */
async function lookThrough(files: readonly string[], cwd: string, environment: Environment) {
  const runs = new Map<string, ImportedRun>();
  const begins = new Map<string, string>();
  for (const name of files)
    for await (const lines of readLines(resolve(cwd, name), cwd, environment).lines)
      for (const { runId: run, environment: of, at } of lines) {
        if (!begins.has(name)) begins.set(name, at);
        if (at < (runs.get(run)?.at ?? "~")) runs.set(run, { run, environment: of, at });
      }
  const beginOf = (name: string): string => begins.get(name) ?? "";
  return { files: files.toSorted((one, other) => beginOf(one).localeCompare(beginOf(other))), runs };
}

/** As the journal lists them; what it does not list, by its first answer. */
function inOrderOfEntry(
  runs: ReadonlyMap<string, ImportedRun>,
  journal: readonly JournalEntry[],
): readonly ImportedRun[] {
  const listed = new Map<string, ImportedRun>();
  let latest = "";
  for (const { run, at } of journal) {
    // A clock that was put back changes nothing about the order.
    if (at > latest) latest = at;
    const found = runs.get(run);
    if (found !== undefined && !listed.has(run)) listed.set(run, { ...found, at: latest });
  }
  const others = [...runs.values()].filter(({ run }) => !listed.has(run));
  return [...listed.values(), ...others].toSorted((one, other) => one.at.localeCompare(other.at));
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
  const written = new Set<string>();
  if (id !== undefined) written.add((await namedRun(ledger, id, environment)).run);
  const isMeant = (run: Run): boolean => (id === undefined ? isEnteredHere(ledger, run) : run.run === id);
  for (let isLast = false; !isLast && !stop.aborted; ) {
    const open = (await unfinishedRuns(ledger)).filter(isMeant);
    isLast = open.length === 0;
    for (const run of (await ledger.runs({ unwritten: true })).filter(isMeant)) {
      try {
        // Opening the file writes them.
        await using _ = await openPromises(context, ledger, run, 0);
        written.add(run.run);
      } catch (cause) {
        // Another process writes it just now.
        if (!(cause instanceof Failure && cause.code === "busy")) throw cause;
        isLast = false;
      }
    }
    if (!isLast) await ledger.workers?.woken(LOOK_MS, stop);
  }
  const ends: RunStatus[] = [];
  for (const found of await ledger.runs({ ids: [...written] })) {
    if (found.state === "finished" || found.state === "abandoned") await writeRejectsOf(context, ledger, found);
    ends.push(await statusOf(ledger, found, environment));
  }
  return ends;
}

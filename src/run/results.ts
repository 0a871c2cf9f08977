/** Refills a ledger from promises files, and writes the promises of published runs while workers send them. */

import { createReadStream, statSync } from "node:fs";
import { resolve } from "node:path";
import type { Environment } from "../config/environment.ts";
import { Failure } from "../failure.ts";
import { type JournalEntry, readJournal } from "../ledger/journal.ts";
import type { Imported, ImportedRun, Run } from "../ledger/ledger.ts";
import { resultsCommand } from "../next-command.ts";
import { cleanText, displayPath } from "../text.ts";
import { adoptPromises, isPlainFile } from "../write/output-file.ts";
import { promiseFormat } from "../write/promises.ts";
import { parsePromises } from "../write/read-promises.ts";
import type { RunContext } from "./context.ts";
import { journalPath, openLedgerOf } from "./ledger-of.ts";
import { lostRunsOf } from "./lost-ledger.ts";
import { isEnteredHere, openPromises } from "./outputs.ts";
import { writeRejectsOf } from "./rejects.ts";
import { namedRun, type RunStatus, statusOf } from "./runs.ts";
import { openSession } from "./session.ts";

export interface ImportedFile extends Imported {
  readonly file: string;
  /** The end of a last line that a power cut tore. */
  readonly torn: string | undefined;
}

function refuseNoFile(name: string, path: string): void {
  if (name !== "" && statSync(path, { throwIfNoEntry: false })?.isDirectory() === false) return;
  throw new Failure("usage", `There is no file ${cleanText(name, 300) || '""'}. Nothing was imported.`, {
    hint: "A relative path begins in the folder that the command runs in.",
  });
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
  const named = await lookThrough(files, context.cwd, environment);
  await session.ledger.importRuns(inOrderOfEntry(named.runs, readJournal(journalPath(environment))));
  for (const name of named.files) {
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

/**
 * The runs that the files name, and the files by their first lines. Pipes are read once: with one, files stay as they were given,
 * and runs are numbered as they are met.
 */
async function lookThrough(files: readonly string[], cwd: string, environment: Environment) {
  const runs = new Map<string, ImportedRun>();
  const begins = new Map<string, string>();
  for (const name of files) {
    const path = resolve(cwd, name);
    if (!(await isPlainFile(path))) return { files, runs: new Map<string, ImportedRun>() };
    for await (const lines of readLines(path, cwd, environment).lines)
      for (const { runId, environment: of, at } of lines) {
        if (!begins.has(name)) begins.set(name, at);
        if (at < (runs.get(runId)?.at ?? "~")) runs.set(runId, { run: runId, environment: of, at });
      }
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
    const open = (await ledger.runs({ states: ["open", "closing"] })).filter(isMeant);
    isLast = open.length === 0;
    for (const run of (await ledger.runs({ unwritten: true })).filter(isMeant)) {
      try {
        // Opening the file writes them.
        await using _ = await openPromises(context, { ledger, environment }, run, 0);
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

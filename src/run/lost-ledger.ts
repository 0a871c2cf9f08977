/** How it is noticed that a ledger was lost, or is another one: by its journal, and by those of other ledgers. */

import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Environment } from "../config/environment.ts";
import { Failure } from "../failure.ts";
import { appendJournal, type JournalEntry, type LackingRun, lackingRuns, readJournal } from "../ledger/journal.ts";
import type { Ledger, Run } from "../ledger/ledger.ts";
import { importCommand } from "../next-command.ts";
import { andMore, cleanText, count, displayPath, inShell } from "../text.ts";

const JOURNAL = "journal.ndjson";
export const journalPath = ({ ledgerPath }: Pick<Environment, "ledgerPath">): string =>
  join(dirname(ledgerPath), JOURNAL);

/**
 * Notes outside the ledger that a run is sent, so that a lost or older one is noticed; again once some of it was sent, since a
 * copy of the ledger that was made meanwhile knows of one time less. After it resolves, the line is on disk.
 */
export async function noteInJournal(environment: Environment, ledger: Ledger, run: Run, actions: number) {
  const output = run.output === undefined ? {} : { output: run.output };
  const sends = await ledger.noteSending(run.number);
  const { boundTo: baseUrl = "" } = ledger;
  await appendJournal(journalPath(environment), {
    run: run.run,
    at: run.createdAt,
    baseUrl,
    actions,
    sends,
    ...output,
  });
}

/** Notes the runs that an import brought, as if they were sent from here: it may be lost once more. */
export async function noteImportedInJournal(environment: Environment, ledger: Ledger): Promise<void> {
  const noted = new Map(readJournal(journalPath(environment)).map((entry) => [entry.run, entry]));
  for (const run of await ledger.runs()) {
    if (run.kind !== "imported") continue;
    const { accepted, rejected, settled } = await ledger.counts(run.number);
    const known = accepted + rejected + settled;
    const { baseUrl, actions = 0 } = noted.get(run.run) ?? {};
    // Its promises may stand in several files, and the service may have another address since.
    if (known > actions || baseUrl !== ledger.boundTo)
      await noteInJournal(environment, ledger, run, Math.max(known, actions));
  }
}

/** A run was closed: the service has no more of it than what has an outcome, or is in doubt. */
export async function noteClosedInJournal(environment: Environment, run: Run, actions: number): Promise<void> {
  const path = journalPath(environment);
  const entry = readJournal(path).findLast((each) => each.run === run.run);
  if (entry !== undefined && entry.actions > actions) await appendJournal(path, { ...entry, actions });
}

/** Why the ledger does not know everything that was sent from here. */
export async function lostRunsOf(
  environment: Environment,
  ledger: Ledger | undefined,
  cwd: string,
): Promise<Failure | undefined> {
  const entries = readJournal(journalPath(environment));
  const { kind } = environment;
  if (ledger === undefined && kind === "sandbox") return undefined;
  // Of a sandbox, what it was sent since the last reset.
  const own = entries.filter(({ baseUrl }) => kind === "service" || baseUrl === ledger?.boundTo);
  const lacking =
    ledger === undefined ? own.map((entry) => ({ entry, known: undefined })) : await lackingRuns(ledger, own);
  return lacking.length === 0 ? undefined : lostRuns(lacking, environment, cwd);
}

/** @throws Failure `usage` where the ledger does not know everything that was sent from here. */
export async function refuseLostRuns(environment: Environment, ledger: Ledger | undefined, cwd: string): Promise<void> {
  const lost = await lostRunsOf(environment, ledger, cwd);
  if (lost !== undefined) throw lost;
}

/** How many runs are listed one by one. */
const SHOWN = 5;

function lostRuns(lacking: readonly LackingRun[], environment: Environment, cwd: string): Failure {
  const shown = lacking.slice(0, SHOWN).map(({ entry: { run, at, actions }, known }) => {
    const what = known === undefined ? "" : `it knows ${known} of `;
    return `run ${run} of ${at} (${what}${count(actions, "action")})`;
  });
  const files = [...new Set(lacking.flatMap(({ entry: { output } }) => (output === undefined ? [] : [output])))];
  const command = importCommand(environment, ...files.map((file) => displayPath(file, cwd)));
  const journal = displayPath(journalPath(environment), cwd);
  return new Failure(
    "usage",
    `The ledger of ${environment.name} was lost, or restored from an older copy: it lacks ${shown.join(", ")}${andMore(lacking.length - shown.length)}.`,
    {
      nothingSent: true,
      hint: `Import what it lacks: ${command}\nActions that were adopted or in doubt are not in promises files. Check which of them the service has, move the journal aside, then adopt those again: mv ${inShell(journal)} ${inShell(`${journal}.aside`)}`,
    },
  );
}

/** A person's word that a new ledger is meant: given before, or asked for; undefined where nobody can be asked. */
export type NewLedgerWord = true | ((question: string) => Promise<boolean>) | undefined;

/**
 * Under another name, everything would be sent once more. A ledger is new as long as it has no runs.
 *
 * @throws Failure `usage` where nobody says that a new ledger is meant.
 */
export async function agreeToNewLedger(
  environment: Environment,
  ledger: Ledger | undefined,
  word: NewLedgerWord,
  cwd: string,
): Promise<void> {
  if (word === true || (ledger !== undefined && (await ledger.runs({ last: 1 })).length > 0)) return;
  const other = await largestOtherOf(environment);
  if (other === undefined) return;
  const { name, baseUrl } = environment;
  const otherName = cleanText(basename(other.folder), 64);
  const what = `The ledger of ${name} is new, but that of ${otherName} (${displayPath(other.folder, cwd)}) knows of ${count(other.actions, "action")} which ${baseUrl} has accepted, or may have. All of it that is in the input would be sent again.`;
  if (word !== undefined && (await word(`${what} Begin a new ledger?`))) return;
  throw new Failure("usage", `${what}`, {
    nothingSent: true,
    hint: `If ${name} was called ${otherName} before, call it that again.\nIf it is another account's, add --yes once, or give the environment a stateDir of its own.`,
  });
}

/** Whose journal in the same state folder lists most actions of the same service. */
async function largestOtherOf({ ledgerPath, baseUrl, kind }: Environment) {
  const state = dirname(dirname(ledgerPath));
  let largest: { readonly folder: string; readonly actions: number } | undefined;
  if (kind === "sandbox" || !existsSync(state)) return undefined;
  for (const name of await readdir(state)) {
    const folder = join(state, name);
    if (folder === dirname(ledgerPath)) continue;
    const runs = new Map(journalIn(folder).map((entry) => [entry.run, entry]));
    const actions = [...runs.values()].reduce((sum, each) => sum + (each.baseUrl === baseUrl ? each.actions : 0), 0);
    if (actions > (largest?.actions ?? 0)) largest = { folder, actions };
  }
  return largest;
}

/** Nothing of one that is damaged: the command that needs it says so. */
function journalIn(folder: string): readonly JournalEntry[] {
  try {
    return readJournal(join(folder, JOURNAL));
  } catch {
    return [];
  }
}

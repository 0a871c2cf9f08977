/** The ledger of an environment, and its lock. */

import { existsSync, statSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { cleanText, count, displayPath } from "../actions/text.ts";
import type { Environment } from "../config/environment.ts";
import { describeLedgerServer, ledgerPlace } from "../config/ledger-server.ts";
import { EXIT_CODES, Failure } from "../failure.ts";
import { readJournal } from "../ledger/journal.ts";
import type { Invocation, Ledger } from "../ledger/ledger.ts";
import { findLedger, type LedgerPlace, openLedger } from "../ledger/open.ts";
import type { RunContext } from "./context.ts";
import { JOURNAL } from "./places.ts";

/** The environment's lock among those of its ledger. */
export const LOCK = "environment";

/** How long a database server that can't be reached is waited for: one that fails over is back by then. */
const PATIENCE_MS = { sending: 60_000, reading: 5_000, noting: 2_000 } as const;
type Patience = keyof typeof PATIENCE_MS;

/** Who hears that a database is away, and can stop waiting for it. */
type Hearer = Pick<RunContext, "stop" | "progress">;

function placeOf(
  { ledgerPath: path, ledgerServer: server }: Environment,
  patience: Patience,
  hearer?: Hearer,
): LedgerPlace {
  if (server === undefined) return { kind: "sqlite", path };
  const { url, tls } = server.address();
  return {
    ...{
      kind: "postgres",
      url,
      tls,
      schema: server.schema,
      shown: describeLedgerServer(server),
      application: "tickets",
    },
    patienceMs: PATIENCE_MS[patience],
    connectTimeoutMs: Math.min(10_000, PATIENCE_MS[patience]),
    signal: hearer?.stop,
    onAway: (isAway) => hearer?.progress.happened({ kind: "database away", isAway }),
  };
}

/** The environment's ledger, made where there is none. */
export const openLedgerOf = (environment: Environment, boundTo: string, hearer: Hearer): Promise<Ledger> =>
  openLedger({ place: placeOf(environment, "sending", hearer), boundTo });

/** The environment's ledger, read-only; undefined where there is none yet. */
export async function findLedgerOf(
  environment: Environment,
  patience: Patience = "reading",
  hearer?: Hearer,
): Promise<Ledger | undefined> {
  const place = placeOf(environment, patience, hearer);
  if (place.kind === "sqlite") refuseFileAsFolder(place.path);
  // What a sandbox that is not running belongs to is not known.
  return findLedger({ place, boundTo: environment.kind === "sandbox" ? undefined : environment.baseUrl });
}

/** That no ledger is below a file says nothing about what was sent. */
function refuseFileAsFolder(path: string): void {
  let above = dirname(path);
  while (!existsSync(above) && above !== dirname(above)) above = dirname(above);
  if (!existsSync(above) || statSync(above).isDirectory()) return;
  throw new Failure(
    "usage",
    `${cleanText(above, 300)} is a file, and the ledger ${cleanText(path, 300)} can't be below it.`,
    {
      hint: "HOME, XDG_STATE_HOME, TICKETS_STATE_DIR, --state-dir and stateDir in the config say where state is kept: name a folder.",
    },
  );
}

/** @param cwd that a path is shown from. */
export const noLedger = (environment: Environment, cwd: string): Failure =>
  new Failure("usage", `There is no ledger of ${environment.name} at ${ledgerPlace(environment, cwd)}.`, {
    hint: "Nothing was sent from here yet, or the ledger is elsewhere: name its folder with --state-dir.",
  });

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
  throw new Failure("usage", `${what} Nothing was sent.`, {
    hint: `If ${name} was called ${otherName} before, call it that again.\nIf it is another account's, add --yes once, or give the environment a stateDir of its own.`,
  });
}

/** What else in the same state folder knows most actions of the same service, be its ledger lost or damaged. */
async function largestOtherOf({ ledgerPath, baseUrl, kind }: Environment) {
  const state = dirname(dirname(ledgerPath));
  let largest: { readonly folder: string; readonly actions: number } | undefined;
  if (kind === "sandbox" || !existsSync(state)) return undefined;
  for (const name of await readdir(state)) {
    const folder = join(state, name);
    if (folder === dirname(ledgerPath)) continue;
    const actions = Math.max(await actionsInLedger(folder, baseUrl), actionsInJournal(folder, baseUrl));
    if (actions > (largest?.actions ?? 0)) largest = { folder, actions };
  }
  return largest;
}

async function actionsInLedger(folder: string, baseUrl: string): Promise<number> {
  const path = join(folder, "ledger.db");
  try {
    await using ledger = await findLedger({ place: { kind: "sqlite", path }, boundTo: undefined });
    return ledger?.boundTo === baseUrl ? (await ledger.size()).actions : 0;
  } catch {
    return 0;
  }
}

function actionsInJournal(folder: string, baseUrl: string): number {
  try {
    const runs = new Map(readJournal(join(folder, JOURNAL)).map((entry) => [entry.run, entry]));
    return [...runs.values()].reduce((sum, each) => sum + (each.baseUrl === baseUrl ? each.actions : 0), 0);
  } catch {
    return 0;
  }
}

/**
 * Notes in the ledger how a command ended, if there is one that takes it. Takes no lock, and never throws, since no command
 * fails for its trace.
 *
 * @param told marks of warnings that the command printed.
 */
export async function noteInvocationOf(
  environment: Environment,
  invocation: Invocation,
  told: readonly string[],
): Promise<void> {
  const { ledgerPath, ledgerServer } = environment;
  // Whoever could not reach the server would wait for it a second time; a file that is not there is not made for this.
  if (ledgerServer === undefined ? !existsSync(ledgerPath) : invocation.exitCode === EXIT_CODES.storage) return;
  try {
    await using ledger = await openLedger({ place: placeOf(environment, "noting"), boundTo: undefined });
    await ledger.noteInvocation(invocation, told);
  } catch {
    // The command itself has reported a ledger that can't be written.
  }
}

/** What a command that may send works with: the service, its ledger, and the lock. What is noted outside the ledger, by which a lost one is noticed. */

import { userInfo } from "node:os";
import { importCommand } from "../actions/next-command.ts";
import { andMore, count, displayPath, inShell } from "../actions/text.ts";
import type { Environment } from "../config/environment.ts";
import { Opened } from "../disk/closing.ts";
import { Failure } from "../failure.ts";
import { appendJournal, type LackingRun, lackingRuns, readJournal } from "../ledger/journal.ts";
import type { By, Ledger, Run } from "../ledger/ledger.ts";
import type { RunContext } from "./context.ts";
import { agreeToNewLedger, LOCK, type NewLedgerWord, openLedgerOf } from "./ledger-of.ts";
import { journalPath } from "./places.ts";
import { openService, type Service } from "./service.ts";

/** Disposing of it gives the lock back. */
export interface Session extends Service {
  /** What is shown of it to others. */
  readonly command: string;
  readonly ledger: Ledger;
}

interface SessionOptions {
  readonly command: string;
  readonly waitLockMs: number;
  /** The key is read first: without it, waiting and reading would be in vain. */
  readonly sends?: boolean;
  /** For the command that refills a ledger: it need not know everything that was sent from here. */
  readonly mayLackRuns?: boolean;
  /** The user's word that a new ledger beside one of the same service is meant; a function asks for it. */
  readonly newLedger?: NewLedgerWord;
}

/**
 * Opens the environment's ledger and takes its lock.
 *
 * @throws Failure `usage` where the ledger lacks runs that were sent from here, `busy` while another command holds the lock,
 * `authentication failed` without a key.
 */
export async function openSession(
  context: RunContext,
  environment: Environment,
  { command, waitLockMs, sends = false, mayLackRuns = false, newLedger }: SessionOptions,
): Promise<Session> {
  const { progress, stop, cwd } = context;
  await using opened = new Opened();
  const service = opened.use(await openService(context, environment));
  if (sends) {
    if (environment.keySource.kind !== "command") await service.key();
    await service.tls();
  }
  const ledger = opened.use(await openLedgerOf(environment, service.boundTo, context));
  const lock = await ledger.lock({
    ...{ name: LOCK, what: `the ledger of ${environment.name}`, command, waitMs: waitLockMs, signal: stop },
    onWait: (holder) => progress.happened({ kind: "waiting for the lock", holder }),
  });
  opened.use(lock);
  if (!mayLackRuns) {
    const lost = await lostRunsOf(environment, ledger, cwd);
    if (lost !== undefined) throw lost;
    await agreeToNewLedger(environment, ledger, newLedger, cwd);
  }
  const closing = opened.move();
  return { ...service, command, ledger, [Symbol.asyncDispose]: () => closing[Symbol.asyncDispose]() };
}

/** Who runs this process. In a container a user id may have no name. */
export function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `user ${process.getuid?.() ?? "unknown"}`;
  }
}

/** A person's word, given now. */
export const byUser = (reason?: string): By => ({ who: userName(), at: new Date().toISOString(), reason });

/** Notes outside the ledger that a run is sent, so that a lost or older one is noticed. After it resolves, the line is on disk. */
export async function noteInJournal(environment: Environment, ledger: Ledger, run: Run, actions: number) {
  const path = journalPath(environment);
  // A worker takes up a run again and again.
  if (ledger.workers !== undefined && readJournal(path).some((entry) => entry.run === run.run)) return;
  const output = run.output === undefined ? {} : { output: run.output };
  const sends = await ledger.noteSending(run.number);
  const { boundTo: baseUrl = "" } = ledger;
  await appendJournal(path, { run: run.run, at: run.createdAt, baseUrl, actions, sends, ...output });
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

/** How many runs are listed one by one. */
const SHOWN = 5;

function lostRuns(lacking: readonly LackingRun[], environment: Environment, cwd: string): Failure {
  const shown = lacking.slice(0, SHOWN).map(({ entry: { run, at, actions }, known }) => {
    const what = known === undefined ? "" : `it knows ${known} of `;
    return `run ${run} of ${at} (${what}${count(actions, "action")})`;
  });
  const files = [...new Set(lacking.flatMap(({ entry: { output } }) => (output === undefined ? [] : [output])))];
  const commands = files.map((file) => importCommand(environment, displayPath(file, cwd)));
  const journal = displayPath(journalPath(environment), cwd);
  return new Failure(
    "usage",
    `The ledger of ${environment.name} was lost, or restored from an older copy: it lacks ${shown.join(", ")}${andMore(lacking.length - shown.length)}. Nothing was sent.`,
    {
      hint: `Import what it lacks: ${(commands.length === 0 ? [importCommand(environment)] : commands).join("\n")}\nWhat no file tells of, only the service knows: once you have looked, move the list of runs away: mv ${inShell(journal)} ${inShell(`${journal}.aside`)}`,
    },
  );
}

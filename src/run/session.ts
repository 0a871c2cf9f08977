/** What a command that may send works with: the environment, its ledger, and its lock. */

import { basename } from "node:path";
import { importCommand } from "../actions/next-command.ts";
import { andMore, cleanText, count, displayPath, inShell } from "../actions/text.ts";
import type { Environment } from "../config/environment.ts";
import { Key, readKey } from "../config/key.ts";
import type { ClientTls } from "../config/tls.ts";
import { Opened } from "../disk/closing.ts";
import { Failure } from "../failure.ts";
import { appendJournal, type JournalEntry, type LackingRun, lackingRuns, readJournal } from "../ledger/journal.ts";
import type { Ledger, Run } from "../ledger/ledger.ts";
import type { BuiltInService, RunContext } from "./context.ts";
import { LOCK, openLedgerOf, otherLedgersOf } from "./ledger-of.ts";
import { journalPath } from "./places.ts";

/** Disposing of it gives the lock back. */
export interface Session extends AsyncDisposable {
  readonly environment: Environment;
  /** What is shown of it to others. */
  readonly command: string;
  readonly ledger: Ledger;
  /** Where requests go. For the sandbox that is known only once it runs. */
  readonly baseUrl: string;
  readonly key: () => Promise<Key>;
  /** What connections are opened with, where the environment says. */
  readonly tls: ClientTls | undefined;
}

/** A person's word that a new ledger is meant: given before, or asked for; undefined where nobody can be asked. */
export type NewLedgerWord = true | ((question: string) => Promise<boolean>) | undefined;

export interface SessionOptions {
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
  options: SessionOptions,
): Promise<Session> {
  const { progress, stop, env, cwd } = context;
  await using opened = new Opened();
  let read: Promise<Key> | undefined;
  const keyOfService = (): Promise<Key> => {
    read ??= readKey(environment, stop, { env }).then((key) => {
      if (key.warning !== undefined) progress.happened({ kind: "key doubtful", warning: key.warning });
      return key;
    });
    return read;
  };
  const isService = environment.kind === "service";
  if (options.sends === true && isService && environment.keySource.kind !== "command") await keyOfService();
  const tls = options.sends === true ? await tlsOf(context, environment) : undefined;
  let sandbox: BuiltInService | undefined;
  if (!isService) sandbox = opened.use(await context.openSandbox(environment));
  const boundTo = sandbox === undefined ? environment.baseUrl : `sandbox:${sandbox.instanceId}`;
  const ledger = opened.use(await openLedgerOf(environment, boundTo, context));
  const lock = await ledger.lock({
    name: LOCK,
    what: `the ledger of ${environment.name}`,
    command: options.command,
    waitMs: options.waitLockMs,
    signal: stop,
    onWait: (holder) => progress.happened({ kind: "waiting for the lock", holder }),
  });
  opened.use(lock);
  if (options.mayLackRuns !== true) {
    const lacking = await lackingRuns(ledger, ownEntries(environment, ledger));
    if (lacking.length > 0) throw lostRuns(lacking, environment, cwd);
    await agreeToNewLedger(environment, ledger, options.newLedger, cwd);
  }
  const closing = opened.move();
  return {
    environment,
    command: options.command,
    ledger,
    baseUrl: sandbox?.url ?? environment.baseUrl,
    key: async () => (sandbox === undefined ? await keyOfService() : new Key(sandbox.apiKey)),
    tls,
    [Symbol.asyncDispose]: () => closing[Symbol.asyncDispose](),
  };
}

/** Read before anything else, as the key is; loaded only where there is something to read. */
export async function tlsOf({ env, progress }: RunContext, environment: Environment): Promise<ClientTls | undefined> {
  if (environment.tls === undefined) return undefined;
  const { readTls } = await import("../config/tls.ts");
  return readTls(environment, env, (warning) => progress.happened({ kind: "key doubtful", warning }));
}

/** What this machine sent; of a sandbox, only what it sent since the last reset. */
const ownEntries = (environment: Environment, { boundTo }: Ledger): readonly JournalEntry[] =>
  readJournal(journalPath(environment)).filter(({ baseUrl }) => environment.kind === "service" || baseUrl === boundTo);

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

/** For commands that only read: why the ledger does not know everything that was sent from here. */
export async function lostRunsOf(
  environment: Environment,
  ledger: Ledger | undefined,
  cwd: string,
): Promise<Failure | undefined> {
  const entries = readJournal(journalPath(environment));
  const own = ledger === undefined ? entries : ownEntries(environment, ledger);
  if (environment.kind === "sandbox" && ledger === undefined) return undefined;
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
  const [other] = await otherLedgersOf(environment);
  if (other === undefined) return;
  const { name, baseUrl } = environment;
  const otherName = cleanText(basename(other.folder), 64);
  const what = `The ledger of ${name} is new, but that of ${otherName} (${displayPath(other.folder, cwd)}) knows of ${count(other.actions, "action")} which ${baseUrl} has accepted, or may have. All of it that is in the input would be sent again.`;
  if (word !== undefined && (await word(`${what} Begin a new ledger?`))) return;
  throw new Failure("usage", `${what} Nothing was sent.`, {
    hint: `If ${name} was called ${otherName} before, call it that again.\nIf it is another account's, add --yes once, or give the environment a stateDir of its own.`,
  });
}

/** An environment, opened: its service and key; its ledger, to read or to write; for a command that may send, with its lock. */

import { existsSync } from "node:fs";
import { userInfo } from "node:os";
import { dirname, join } from "node:path";
import type { Environment } from "../config/environment.ts";
import { Key, readKey } from "../config/key.ts";
import { describeLedgerServer, ledgerPlace } from "../config/ledger-server.ts";
import { EXIT_CODES, Failure } from "../failure.ts";
import { type By, findLedger, type Invocation, type Ledger, type LedgerPlace, openLedger } from "../ledger/ledger.ts";
import type { ClientOptions, ServiceClient } from "../send/client.ts";
import type { StopRequest } from "../send/stop.ts";
import { cleanText } from "../text.ts";
import type { RunContext } from "./context.ts";
import { agreeToNewLedger, type NewLedgerWord, refuseLostRuns } from "./lost-ledger.ts";

/** The environment's lock among those of its ledger. */
export const LOCK = "environment";

export const sandboxStatePath = ({ ledgerPath }: Pick<Environment, "ledgerPath">): string =>
  join(dirname(ledgerPath), "service.db");

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
  const patienceMs = PATIENCE_MS[patience];
  return {
    ...{ kind: "postgres", schema: server.schema, shown: describeLedgerServer(server), application: "tickets" },
    ...server.address(),
    ...{ patienceMs, connectTimeoutMs: Math.min(10_000, patienceMs), signal: hearer?.stop },
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
  // What a sandbox that is not running belongs to is not known.
  const boundTo = environment.kind === "sandbox" ? undefined : environment.baseUrl;
  return findLedger({ place: placeOf(environment, patience, hearer), boundTo });
}

/** The environment's ledger, read-only. @throws Failure `usage` where there is none yet, or it was lost. */
export async function knownLedgerOf(environment: Environment, cwd: string): Promise<Ledger> {
  const ledger = await findLedgerOf(environment);
  if (ledger !== undefined) return ledger;
  await refuseLostRuns(environment, ledger, cwd);
  throw new Failure("usage", `There is no ledger of ${environment.name} at ${ledgerPlace(environment, cwd)}.`, {
    hint: "Nothing was sent from here yet, or the ledger is elsewhere: name its folder with TICKETS_STATE_DIR.",
  });
}

/**
 * Notes in the ledger how a command ended, if there is one that takes it. Takes no lock, and never throws, since no command
 * fails for its trace.
 *
 * @param shown marks of warnings that the command printed.
 */
export async function noteInvocationOf(
  environment: Environment,
  invocation: Invocation,
  shown: readonly string[],
): Promise<void> {
  const { ledgerPath, ledgerServer } = environment;
  // A command that could not reach the server does not wait for it again; a file that is not there is not made for this.
  if (ledgerServer === undefined ? !existsSync(ledgerPath) : invocation.exitCode === EXIT_CODES.storage) return;
  try {
    await using ledger = await openLedger({ place: placeOf(environment, "noting"), boundTo: undefined });
    await ledger.noteInvocation(invocation, shown);
  } catch {
    // The command itself has reported a ledger that can't be written.
  }
}

/** Where the requests to an environment go, with which key. */
export interface Service extends AsyncDisposable {
  readonly environment: Environment;
  /** Of the sandbox it is known only once that runs. */
  readonly baseUrl: string;
  /** What a ledger of the service belongs to. */
  readonly boundTo: string;
  /** Read when it is first asked for. @throws Failure `authentication-failed` where there is none. */
  readonly key: () => Promise<Key>;
}

export async function openService({ env, stop, progress }: RunContext, environment: Environment): Promise<Service> {
  if (environment.kind === "sandbox") return await openBuiltIn(environment, progress);
  const { baseUrl } = environment;
  const read = async (): Promise<Key> => {
    const key = await readKey(environment, stop, { env });
    if (key.warning !== undefined) progress.happened({ kind: "warning", message: key.warning });
    return key;
  };
  let reading: Promise<Key> | undefined;
  return {
    ...{ environment, baseUrl, boundTo: baseUrl },
    key() {
      reading ??= read();
      return reading;
    },
    [Symbol.asyncDispose]: async () => undefined,
  };
}

/** The sandbox inside the command; its state stays between commands. */
async function openBuiltIn(environment: Environment, { happened }: RunContext["progress"]): Promise<Service> {
  const { startSandbox } = await import("../sandbox/server.ts");
  const sandbox = await startSandbox({
    engine: { path: sandboxStatePath(environment), accept: environment.accept },
    onError: (error) =>
      happened({
        kind: "warning",
        message: `The sandbox could not answer a request: ${cleanText(String(error), 300)}`,
      }),
  });
  return {
    ...{ environment, baseUrl: sandbox.url, boundTo: `sandbox:${sandbox.instanceId}` },
    key: async () => new Key(sandbox.apiKey),
    [Symbol.asyncDispose]: () => sandbox[Symbol.asyncDispose](),
  };
}

/** In place of the environment's own; `sendsKey` false: what is asked needs no key, so none leaves this machine. */
type Asking = Partial<Pick<ClientOptions, "timeoutMs" | "freshConnection" | "maxAnswerBytes">> & {
  readonly sendsKey?: boolean;
};

/** What opens connections to a service. */
export async function connectorTo(
  service: Service,
  { env }: Pick<RunContext, "env">,
  { sendsKey = true, ...asking }: Asking = {},
): Promise<() => ServiceClient> {
  const { timeoutMs, freshConnection } = service.environment;
  const key = sendsKey ? await service.key() : undefined;
  // Loaded only here: most commands ask nobody, and the HTTP client would be a large part of their start.
  const { openClient } = await import("../send/client.ts");
  return () => openClient({ baseUrl: service.baseUrl, key, timeoutMs, freshConnection, env, ...asking });
}

/** Disposing of it gives the lock back. */
export interface OpenEnvironment extends Service {
  /** What is shown of it to others. */
  readonly command: string;
  readonly ledger: Ledger;
  /** When the command began, by `performance.now()`. */
  readonly startedAt: number;
  /** When nothing new is begun any more. */
  readonly deadline: number;
  /** Aborted, with a `StopRequest` as its reason, when no further request should start: a signal came, or the time is up. */
  readonly stop: AbortSignal;
}

/** How long a command may take, in milliseconds. */
export interface Limits {
  /** To wait while another command holds the ledger; none by default. */
  readonly waitLock?: number | undefined;
  /** After which nothing new is begun; for ever by default. */
  readonly maxDuration?: number | undefined;
}

interface OpenOptions extends Limits {
  readonly command: string;
  /** The key is read first: without it, waiting and reading would be in vain. */
  readonly sends?: boolean;
  /** For commands that put a ledger right: it need not know everything that was sent from here. */
  readonly mayLackRuns?: boolean;
  /** The user's word that a new ledger beside one of the same service is meant; a function asks for it. */
  readonly newLedger?: NewLedgerWord;
}

/**
 * Opens the environment's ledger and takes its lock.
 *
 * @throws Failure `usage` where the ledger lacks runs that were sent from here, `busy` while another command holds the lock,
 * `authentication-failed` without a key.
 */
export async function openEnvironment(
  context: RunContext,
  environment: Environment,
  { command, waitLock = 0, maxDuration, sends = false, mayLackRuns = false, newLedger }: OpenOptions,
): Promise<OpenEnvironment> {
  const { progress, cwd } = context;
  const limits = limitsOf(context, maxDuration);
  const service = await openService(context, environment);
  const open: AsyncDisposable[] = [service];
  try {
    if (sends && environment.keySource.program === undefined) await service.key();
    const ledger = await openLedgerOf(environment, service.boundTo, context);
    open.push(ledger);
    const lock = await ledger.lock({
      ...{ name: LOCK, what: `the ledger of ${environment.name}`, command, waitMs: waitLock, signal: context.stop },
      onWait: (holder) => progress.happened({ kind: "waiting for the lock", holder }),
    });
    open.push(lock);
    if (!mayLackRuns) {
      await refuseLostRuns(environment, ledger, cwd);
      await agreeToNewLedger(environment, ledger, newLedger, cwd);
    }
    return { ...service, command, ledger, ...limits, [Symbol.asyncDispose]: () => closeAll(open) };
  } catch (cause) {
    await closeAll(open);
    throw cause;
  }
}

/** The last of them first; each, whatever becomes of the others. */
async function closeAll([first, ...others]: readonly AsyncDisposable[]): Promise<void> {
  await using _ = first;
  if (others.length > 0) await closeAll(others);
}

/** Timers of Node hold 31 bits of milliseconds: 24 days. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** From now on. */
export function limitsOf({ stop }: Pick<RunContext, "stop">, maxDuration: number | undefined) {
  const startedAt = performance.now();
  if (maxDuration === undefined) return { startedAt, deadline: Number.POSITIVE_INFINITY, stop };
  const over = new AbortController();
  const end = () => over.abort("max-duration" satisfies StopRequest);
  setTimeout(end, Math.min(maxDuration, LONGEST_TIMER_MS)).unref();
  return { startedAt, deadline: startedAt + maxDuration, stop: AbortSignal.any([stop, over.signal]) };
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

/** Where the ledger of an environment is, and its lock: a file of this machine, or a database that many machines share. */

import { existsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import type { Environment } from "../config/environment.ts";
import type { LedgerServer } from "../config/ledger-server.ts";
import { makeFolder } from "../disk/folders.ts";
import { EXIT_CODES, errorCode, Failure } from "../failure.ts";
import { isUnmade } from "../ledger/bound.ts";
import { enterInvocation, type Invocation, noteInvocation } from "../ledger/invocations.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { acquireLock, isLocked, type LockHolder, readLockHolder } from "../ledger/lock.ts";
import { openLedger, storageFailure } from "../ledger/open-ledger.ts";
import type { PostgresLedger, PostgresOptions } from "../ledger/postgres/open-postgres.ts";
import type { ServerFacts } from "../ledger/postgres/server-facts.ts";
import type { RunContext } from "./context.ts";
import { lockPath } from "./places.ts";

export interface OpenLedgerOptions {
  /** See `openLedger`. */
  readonly boundTo: string | undefined;
  /** Called before a ledger is created. */
  readonly beforeCreating?: () => Promise<void>;
}

/** How long a database server that can't be reached is waited for, milliseconds: one that fails over is back by then. */
const PATIENCE_MS = { sending: 60_000, reading: 5_000, noting: 2_000 } as const;
const CONNECT_TIMEOUT_MS = 10_000;

/** The driver is loaded only where it is used. */
const postgres = () => import("../ledger/postgres/open-postgres.ts");
const serverLocks = () => import("../ledger/postgres/lock.ts");

/** The environment's ledger, created where there is none. */
export async function openLedgerOf(environment: Environment, options: OpenLedgerOptions): Promise<Ledger> {
  const { ledgerPath: path, ledgerServer: server } = environment;
  const { boundTo, beforeCreating } = options;
  if (server !== undefined) return openServer(environment, server, options);
  if (!existsSync(path)) await beforeCreating?.();
  return openLedger({ path, boundTo });
}

/**
 * The environment's ledger, read-only; undefined where there is none yet.
 *
 * @param patience with a server that can't be reached.
 */
export async function findLedgerOf(
  environment: Environment,
  boundTo: string | undefined,
  patience: keyof typeof PATIENCE_MS = "reading",
): Promise<Ledger | undefined> {
  const { ledgerPath: path, ledgerServer: server } = environment;
  if (server !== undefined) return findServer(server, boundTo, PATIENCE_MS[patience]);
  if (!isThere(path)) return undefined;
  const ledger = openLedger({ path, boundTo, readOnly: true });
  if (!isUnmade(ledger)) return ledger;
  ledger[Symbol.dispose]();
  return undefined;
}

/** @throws Failure `storage` where it can't be told: what must be a folder is a file, or may not be searched. */
function isThere(path: string): boolean {
  try {
    statSync(path);
    return true;
  } catch (cause) {
    if (errorCode(cause) === "ENOENT") return false;
    throw storageFailure(path, cause);
  }
}

/** Whether there is a ledger. Asks the server that holds it, so what is about to read it finds it instead. */
export async function hasLedger(environment: Environment): Promise<boolean> {
  using ledger = await findLedgerOf(environment, undefined);
  return ledger !== undefined;
}

async function openServer(
  environment: Environment,
  server: LedgerServer,
  { boundTo, beforeCreating }: OpenLedgerOptions,
): Promise<PostgresLedger> {
  const { openPostgres } = await postgres();
  if (beforeCreating !== undefined) {
    using found = await findServer(server, undefined, PATIENCE_MS.sending);
    if (found === undefined) await beforeCreating();
  }
  // The machine's own part: plans, and the list of runs.
  makeFolder(dirname(environment.ledgerPath), { mode: 0o700 });
  return openPostgres(postgresOptions(server, boundTo, PATIENCE_MS.sending));
}

async function findServer(
  server: LedgerServer,
  boundTo: string | undefined,
  patienceMs: number,
): Promise<PostgresLedger | undefined> {
  const { findPostgres } = await postgres();
  return findPostgres(postgresOptions(server, boundTo, patienceMs));
}

function postgresOptions(server: LedgerServer, boundTo: string | undefined, patienceMs: number): PostgresOptions {
  const { schema, isUnsafe } = server;
  const { url, tls } = server.address();
  return {
    address: { url, tls, schema, application: "tickets", connectTimeoutMs: Math.min(CONNECT_TIMEOUT_MS, patienceMs) },
    boundTo,
    unsafe: isUnsafe,
    patienceMs,
  };
}

export async function serverFactsOf(ledger: Ledger): Promise<ServerFacts> {
  const { readServerFacts } = await import("../ledger/postgres/server-facts.ts");
  return readServerFacts(ledger);
}

/**
 * Notes in the ledger how a command ended, if there is one that takes it. Takes no lock, and never throws, since no command
 * fails for its trace.
 *
 * @param toldWarnings digests of warnings that the command has printed.
 */
export async function noteInvocationOf(
  { ledgerPath, ledgerServer: server }: Environment,
  invocation: Invocation,
  toldWarnings: readonly string[],
): Promise<void> {
  if (server === undefined) {
    noteInvocation(ledgerPath, invocation, toldWarnings);
    return;
  }
  // Whoever could not reach the server would wait for it a second time.
  if (invocation.exitCode === EXIT_CODES.storage) return;
  try {
    using ledger = await findServer(server, undefined, PATIENCE_MS.noting);
    ledger?.transaction(() => enterInvocation(ledger, invocation, toldWarnings));
  } catch {
    // The command itself has reported a ledger that can't be written.
  }
}

/** What the lock of an environment is called among those of a ledger in PostgreSQL. */
const ENVIRONMENT = "environment";

interface Locking {
  readonly command: string;
  readonly waitMs: number;
  readonly onWait?: ((holder: LockHolder | undefined) => void) | undefined;
}

/**
 * The environment's ledger with its lock: no other process changes it as long as the lock is held.
 *
 * @param options.boundTo asked once a lock that is a file is held.
 * @throws Failure `busy` while another run holds it after `waitMs`.
 */
export async function openLocked(
  context: Pick<RunContext, "stop">,
  environment: Environment,
  options: Locking & Omit<OpenLedgerOptions, "boundTo"> & { readonly boundTo: () => Promise<string | undefined> },
): Promise<{ readonly ledger: Ledger; readonly lock: Disposable }> {
  const { ledgerServer: server } = environment;
  if (server === undefined) {
    const lock = await lockFile(context, environment, options);
    try {
      return { lock, ledger: await openLedgerOf(environment, { ...options, boundTo: await options.boundTo() }) };
    } catch (cause) {
      lock[Symbol.dispose]();
      throw cause;
    }
  }
  // The lock is the session's, so the ledger comes first.
  const boundTo = await options.boundTo();
  const ledger = await openServer(environment, server, { ...options, boundTo });
  try {
    const lock = await lockSession(context, environment, ledger, options);
    return { ledger, lock };
  } catch (cause) {
    ledger[Symbol.dispose]();
    throw cause;
  }
}

/** The environment's lock, on the session of a ledger that several machines share; undefined while another process holds it. */
export async function tryLockEnvironment(
  context: Pick<RunContext, "stop">,
  environment: Environment,
  ledger: PostgresLedger,
  command: string,
): Promise<Disposable | undefined> {
  try {
    return await lockSession(context, environment, ledger, { command, waitMs: 0 });
  } catch (cause) {
    if (cause instanceof Failure && cause.code === "busy") return undefined;
    throw cause;
  }
}

/** The lock alone, of a ledger that is there or not. */
export async function lockLedger(
  context: Pick<RunContext, "stop">,
  environment: Environment,
  command: string,
  waitMs: number,
): Promise<Disposable> {
  const { ledgerServer: server } = environment;
  const ledger = server && (await findServer(server, undefined, PATIENCE_MS.sending));
  // Without one there is only what this machine has.
  if (ledger === undefined) return lockFile(context, environment, { command, waitMs });
  try {
    await lockSession(context, environment, ledger, { command, waitMs });
    return ledger;
  } catch (cause) {
    ledger[Symbol.dispose]();
    throw cause;
  }
}

const whatIsLocked = ({ name }: Environment): string => `the ledger of ${name}`;

function lockFile(
  { stop: signal }: Pick<RunContext, "stop">,
  environment: Environment,
  { command, waitMs, onWait }: Locking,
): Promise<Disposable> {
  const [what, path] = [whatIsLocked(environment), lockPath(environment)];
  return acquireLock({ what, path, command, waitMs, signal, ...(onWait && { onWait }) });
}

async function lockSession(
  { stop: signal }: Pick<RunContext, "stop">,
  environment: Environment,
  ledger: PostgresLedger,
  { command, waitMs, onWait }: Locking,
): Promise<Disposable> {
  const { acquireServerLock } = await serverLocks();
  const what = whatIsLocked(environment);
  return acquireServerLock({ what, ledger, name: ENVIRONMENT, command, waitMs, signal, onWait });
}

/** Whether a process holds the environment's lock right now, and which, where that is known. */
export async function lockHolderOf(
  environment: Environment,
  ledger: Ledger,
): Promise<{ readonly isHeld: boolean; readonly holder: LockHolder | undefined }> {
  if (ledger.kind === "postgres") {
    const { isServerLocked, readServerLockHolder } = await serverLocks();
    const isHeld = isServerLocked(ledger, ENVIRONMENT);
    return { isHeld, holder: isHeld ? readServerLockHolder(ledger, ENVIRONMENT) : undefined };
  }
  const path = lockPath(environment);
  const isHeld = isLocked(path);
  return { isHeld, holder: isHeld ? readLockHolder(path) : undefined };
}

/** Whether a process holds the environment's lock right now. */
export const isLockHeld = async (environment: Environment, ledger: Ledger): Promise<boolean> =>
  (await lockHolderOf(environment, ledger)).isHeld;

/** What a command that may send works with: the service, its ledger, and the lock. */

import { userInfo } from "node:os";
import type { Environment } from "../config/environment.ts";
import { Opened } from "../disk/closing.ts";
import type { By, Ledger } from "../ledger/ledger.ts";
import type { RunContext } from "./context.ts";
import { LOCK, openLedgerOf } from "./ledger-of.ts";
import { agreeToNewLedger, lostRunsOf, type NewLedgerWord } from "./lost-ledger.ts";
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

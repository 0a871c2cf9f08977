/** What commands work with: the service and its key; for one that may send, also the ledger and its lock. */

import { userInfo } from "node:os";
import type { Environment } from "../config/environment.ts";
import { Key, readKey } from "../config/key.ts";
import { Opened } from "../disk/closing.ts";
import type { By, Ledger } from "../ledger/ledger.ts";
import type { ClientOptions, ServiceClient } from "../send/client.ts";
import type { RunContext } from "./context.ts";
import { LOCK, openLedgerOf } from "./ledger-of.ts";
import { agreeToNewLedger, type NewLedgerWord, refuseLostRuns } from "./lost-ledger.ts";

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

export async function openService(context: RunContext, environment: Environment): Promise<Service> {
  if (environment.kind === "sandbox") {
    const sandbox = await context.openSandbox(environment);
    return {
      ...{ environment, baseUrl: sandbox.url, boundTo: `sandbox:${sandbox.instanceId}` },
      key: async () => new Key(sandbox.apiKey),
      [Symbol.asyncDispose]: () => sandbox[Symbol.asyncDispose](),
    };
  }
  const { env, stop, progress } = context;
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
export interface Session extends Service {
  /** What is shown of it to others. */
  readonly command: string;
  readonly ledger: Ledger;
  /** When the command began, by `performance.now()`. */
  readonly startedAt: number;
  /** When nothing new is begun any more. */
  readonly deadline: number;
}

/** How long a command may take, in milliseconds. */
export interface Limits {
  /** To wait while another command holds the ledger. */
  readonly waitLock: number;
  /** After which nothing new is begun; for ever by default. */
  readonly maxDuration?: number | undefined;
}

interface SessionOptions extends Limits {
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
export async function openSession(
  context: RunContext,
  environment: Environment,
  { command, waitLock, maxDuration, sends = false, mayLackRuns = false, newLedger }: SessionOptions,
): Promise<Session> {
  const { progress, stop, cwd } = context;
  const startedAt = performance.now();
  await using opened = new Opened();
  const service = opened.use(await openService(context, environment));
  if (sends && environment.keySource.program === undefined) await service.key();
  const ledger = opened.use(await openLedgerOf(environment, service.boundTo, context));
  const lock = await ledger.lock({
    ...{ name: LOCK, what: `the ledger of ${environment.name}`, command, waitMs: waitLock, signal: stop },
    onWait: (holder) => progress.happened({ kind: "waiting for the lock", holder }),
  });
  opened.use(lock);
  if (!mayLackRuns) {
    await refuseLostRuns(environment, ledger, cwd);
    await agreeToNewLedger(environment, ledger, newLedger, cwd);
  }
  const closing = opened.move();
  return {
    ...{ ...service, command, ledger, startedAt, deadline: deadlineOf(startedAt, maxDuration) },
    [Symbol.asyncDispose]: () => closing[Symbol.asyncDispose](),
  };
}

/** By `performance.now()`, as `startedAt`. */
export const deadlineOf = (startedAt: number, maxDuration = Number.POSITIVE_INFINITY): number =>
  startedAt + maxDuration;

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

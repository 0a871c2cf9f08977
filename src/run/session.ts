/** What a command that may send works with: the environment, its ledger, and its lock. */

import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Environment } from "../config/environment.ts";
import { Key, readKey } from "../config/key.ts";
import type { ClientTls } from "../config/tls.ts";
import { type Ledger, runListPath } from "../ledger/ledger.ts";
import { type LostRun, openRunList, type RunList, readRunList } from "../ledger/run-list.ts";
import { countRuns, findRun } from "../ledger/runs.ts";
import { planFiles } from "../plan/files/plan.ts";
import type { BuiltInService, RunContext } from "./context.ts";
import { openLocked } from "./ledger-of.ts";
import { lostRunsFailure, lostRunsOf } from "./lost-runs.ts";
import { PLAN_KEPT_MS, runsDirectory } from "./places.ts";
import type { Settings } from "./settings.ts";

/** A session that may send: it holds the environment's lock until it is disposed. */
export interface Session extends AsyncDisposable {
  readonly environment: Environment;
  readonly ledger: Ledger;
  readonly runList: RunList;
  /** Runs that were sent from here and of which the ledger does not know everything. Found anew each time. */
  readonly lost: () => readonly LostRun[];
  /** Where requests go. For the sandbox that is known only once it runs. */
  readonly baseUrl: string;
  readonly boundTo: string;
  readonly key: () => Promise<Key>;
  /** What connections are opened with, where the environment says. */
  readonly tls: ClientTls | undefined;
}

export async function openSession(
  context: RunContext,
  { environment }: Pick<Settings, "environment">,
  options: {
    readonly command: string;
    readonly waitLockMs: number;
    /**
     * Reads the key first: without it, waiting and reading would be in vain. A key that a command gives is read when it is
     * needed.
     */
    readonly sends?: boolean;
    /** Only for an import: the ledger need not know everything that was sent from here. */
    readonly mayLackRuns?: boolean;
  },
): Promise<Session> {
  const { progress } = context;
  let given: Promise<Key> | undefined;
  const keyOfService = (): Promise<Key> => {
    given ??= readKey(environment, context.stop, { env: context.env }).then((key) => {
      if (key.warning !== undefined) progress.happened({ kind: "key doubtful", warning: key.warning });
      return key;
    });
    return given;
  };
  if (options.sends === true && environment.kind === "service" && environment.keySource.kind !== "command")
    await keyOfService();
  const tls = options.sends === true ? await tlsOf(context, environment) : undefined;
  const { command, waitLockMs } = options;
  let sandbox: BuiltInService | undefined;
  let opened: Awaited<ReturnType<typeof openLocked>> | undefined;
  const close = async (): Promise<void> => {
    opened?.ledger[Symbol.dispose]();
    await sandbox?.[Symbol.asyncDispose]();
    opened?.lock[Symbol.dispose]();
  };
  const bind = async (): Promise<string> => {
    if (environment.kind === "sandbox") sandbox = await context.openSandbox(environment);
    return sandbox === undefined ? environment.baseUrl : `sandbox:${sandbox.instanceId}`;
  };
  const { mayLackRuns = false } = options;
  const list = runListPath(environment.ledgerPath);
  const refuseLost = (boundTo: string, ledger: Ledger | undefined): boolean => {
    const lost = lostRunsOf({ environment, boundTo }, readRunList(list), ledger);
    if (lost.length > 0 && !mayLackRuns) throw lostRunsFailure(lost, environment, context.cwd);
    return lost.length > 0;
  };
  let boundTo = "";
  try {
    opened = await openLocked(context, environment, {
      command,
      waitMs: waitLockMs,
      onWait: (holder) => progress.happened({ kind: "waiting for the lock", holder }),
      boundTo: async () => {
        boundTo = await bind();
        return boundTo;
      },
      // Before a new ledger is created, which the next command would take for one that was there.
      beforeCreating: async () => {
        refuseLost(boundTo, undefined);
      },
    });
    const started = sandbox;
    const { ledger } = opened;
    const lacksRuns = refuseLost(boundTo, ledger);
    if (!lacksRuns) await removeUnfinishedPlans(environment, ledger);
    return {
      environment,
      ledger,
      runList: openRunList(list),
      lost: () => lostRunsOf({ environment, boundTo }, readRunList(list), ledger),
      boundTo,
      tls,
      baseUrl: started?.url ?? environment.baseUrl,
      key: async () => (started === undefined ? await keyOfService() : new Key(started.apiKey)),
      [Symbol.asyncDispose]: close,
    };
  } catch (cause) {
    await close();
    throw cause;
  }
}

/** Read before anything else, as the key is; loaded only where there is something to read. */
export async function tlsOf({ env, progress }: RunContext, environment: Environment): Promise<ClientTls | undefined> {
  if (environment.tls === undefined) return undefined;
  const { readTls } = await import("../config/tls.ts");
  return readTls(environment, env, (warning) => progress.happened({ kind: "key doubtful", warning }));
}

/** Removes the folders of plans that never became runs because the process died before. */
async function removeUnfinishedPlans(environment: Environment, ledger: Ledger): Promise<void> {
  const directory = runsDirectory(environment);
  const names = await readdir(directory).catch(() => []);
  for (const name of names) {
    if (findRun(ledger, name) !== undefined) continue;
    const plan = join(directory, name);
    // A whole plan may belong to a ledger that is only missing for now. It is removed when a finished plan would be.
    const manifest = await stat(planFiles(plan).manifest).catch(() => undefined);
    if (manifest === undefined || Date.now() - manifest.mtimeMs > PLAN_KEPT_MS)
      await rm(plan, { recursive: true, force: true });
  }
}

/** Reports what a command begins with: the environment, and whether its ledger is new. */
export function tellOpened(
  { progress }: RunContext,
  { environment, ledger }: Pick<Settings, "environment"> & { readonly ledger: Ledger | undefined },
  isToSend: boolean,
): void {
  const runs = ledger === undefined ? 0 : countRuns(ledger);
  progress.happened({ kind: "ledger opened", environment, runs, isToSend });
}

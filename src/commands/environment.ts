/** `tickets env` and `tickets sandbox`, with what they need of ledger and state. */

import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { cleanText, count, fileInShell } from "../actions/text.ts";
import { displayPath, loadConfig } from "../config/config.ts";
import type { Environment } from "../config/environment.ts";
import { keepTrust } from "../config/trust.ts";
import { BESIDE_DATABASE, setAside } from "../disk/aside.ts";
import { makeFolder } from "../disk/folders.ts";
import { EXIT_CODES, Failure } from "../failure.ts";
import { readMeta, rebind, runListPath } from "../ledger/ledger.ts";
import { acquireLock, isLocked, readLockHolder } from "../ledger/lock.ts";
import { openLedger } from "../ledger/open-ledger.ts";
import {
  openRunList,
  type RunList,
  type RunListContent,
  readRunList,
  setRunListAside,
  thisMachine,
} from "../ledger/run-list.ts";
import { lastRun, openRuns } from "../ledger/runs.ts";
import { parseManifest } from "../plan/manifest.ts";
import { openLedgerToRead } from "../run/ledger-to-read.ts";
import { lostRunsOf, strayPlans } from "../run/lost-runs.ts";
import { environmentFlags } from "../run/next-command.ts";
import { lockPath, sandboxStatePath } from "../run/places.ts";
import { KNOWN_RULES } from "../run/rules.ts";
import { type EnvironmentOptions, loadSettings, type Settings } from "../run/settings.ts";
import { userName } from "../run/user-name.ts";
import type { Context } from "./context.ts";
import { diskUseOf } from "./disk.ts";
import { showEnvironment } from "./env.ts";
import { runContextOf } from "./run-context.ts";
import { runSandbox } from "./sandbox.ts";

export async function environment(
  options: EnvironmentOptions & { readonly name: string | undefined; readonly json: boolean },
  context: Context,
): Promise<number> {
  const { cwd, env, reporter } = context;
  return showEnvironment(
    {
      cwd,
      env,
      name: options.name,
      envFlag: options.env,
      configFlag: options.config,
      flags: options.flags,
      knownRules: KNOWN_RULES,
      json: options.json,
      signal: context.stop,
      ledgerSummary: async (environment) => {
        using ledger = openLedgerToRead(environment);
        const run = ledger === undefined ? undefined : lastRun(ledger);
        return {
          lock: describeLock(lockPath(environment)),
          disk: diskUseOf(environment.ledgerPath),
          lastRun: run === undefined ? null : `${run.run} ${run.state} ${run.endedAt ?? run.createdAt}`,
        };
      },
    },
    { out: reporter.out, err: (text) => reporter.error(text.trimEnd()) },
  );
}

function describeLock(path: string): string | null {
  if (!isLocked(path)) return null;
  const holder = readLockHolder(path);
  return holder === undefined ? "held" : `held by process ${holder.pid} since ${holder.since}: ${holder.command}`;
}

export interface ServeOptions extends EnvironmentOptions {
  readonly port: number | undefined;
  readonly reset: boolean;
  readonly faults: string | undefined;
  readonly keyEnv: string | undefined;
}

export async function serveSandbox(options: ServeOptions, context: Context): Promise<number> {
  const { environment } = await loadSettings(runContextOf(context), { ...options, env: "sandbox" });
  makeFolder(dirname(sandboxStatePath(environment)), { mode: 0o700 });
  return runSandbox(
    {
      statePath: sandboxStatePath(environment),
      reset: options.reset,
      afterReset: () => setLedgerAside(environment.ledgerPath, context),
      accept: environment.accept,
      env: context.env,
      ...(options.port !== undefined && { port: options.port }),
      ...(options.faults !== undefined && { faultsFile: options.faults }),
      ...(options.keyEnv !== undefined && { keyEnv: options.keyEnv }),
    },
    { out: { write: context.reporter.out }, err: { write: (text) => context.reporter.info(text.trimEnd()) } },
    context.stop,
  );
}

/** A new instance has accepted nothing, so the old one's ledger and list of runs would be wrong about it. */
async function setLedgerAside(path: string, { reporter }: Context): Promise<void> {
  const now = new Date();
  setRunListAside(runListPath(path), now);
  if (!existsSync(path)) return;
  reporter.info(`The sandbox's ledger was set aside as ${setAside(path, now, BESIDE_DATABASE)}.`);
}

export interface ForgetOptions extends EnvironmentOptions {
  readonly name: string | undefined;
  readonly reason: string | undefined;
  readonly waitLock: number;
}

/** A person says that the ledger may do without runs that were sent from here; who, when and why is kept in the list. */
export async function forgetLostRuns(options: ForgetOptions, context: Context): Promise<number> {
  const { reporter, cwd } = context;
  const { environment, former } = await loadSettings(
    runContextOf(context),
    { ...options, env: options.name ?? options.env },
    "any",
  );
  const { reason } = options;
  if (reason === undefined || reason.trim() === "")
    throw new Failure("usage", "--forget-lost needs a reason, which is kept. Nothing was forgotten.", {
      hint: 'Say it with --reason "…".',
    });
  using _lock = await acquireLock({
    what: `the ledger of ${environment.name}`,
    path: lockPath(environment),
    command: "tickets env --forget-lost",
    waitMs: options.waitLock,
    signal: context.stop,
  });
  const path = runListPath(environment.ledgerPath);
  const list = await readOrSetAside(path, context);
  using ledger = openLedgerToRead(environment);
  const lost = lostRunsOf({ environment, boundTo: undefined }, list, ledger);
  if (lost.length === 0 && former.length === 0 && existsSync(path)) {
    reporter.info(`The ledger of ${environment.name} knows every run that was sent from here; nothing was forgotten.`);
    return EXIT_CODES.ok;
  }
  const runList = openRunList(path, thisMachine());
  if (ledger !== undefined) runList.complete(ledger, ({ manifest }) => parseManifest(manifest));
  const strays = list.head === undefined ? strayPlans(environment, ledger, () => true) : [];
  runList.addStrays(strays);
  const runs = lost.map(({ run }) => run);
  const open = ledger === undefined ? [] : openRuns(ledger).filter(({ run }) => runs.includes(run));
  if (former.length > 0) tellApart(former, runList, { environment, reason }, context);
  if (lost.length === 0 && former.length > 0) return EXIT_CODES.ok;
  runList.forget(runs, userName(), cleanText(reason, 500));
  reporter.warn(
    runs.length === 0
      ? `The list of runs was made again from the ledger of ${environment.name}.`
      : `${count(runs.length, "run")} of ${environment.name} forgotten (${runs.join(", ")}). What the ledger does not know of them is sent again when it is in the input.${open.length === 0 ? "" : ` The next command goes on with ${open.map(({ run }) => run).join(", ")}, and sends what the ledger has as not sent.`}`,
  );
  const own = lost.filter(({ run }) => open.some((each) => each.run === run)).flatMap(({ unread }) => unread);
  for (const promises of new Set(own.filter((each) => existsSync(each))))
    reporter.warn(
      `${displayPath(promises, cwd)} holds promises that the ledger does not know, and no run goes on with that file before they are imported: tickets results --import ${fileInShell(displayPath(promises, cwd))} ${environmentFlags(environment)}`,
    );
  reporter.detail(`Kept in ${displayPath(path, cwd)}.`);
  return EXIT_CODES.ok;
}

/** The ledgers beside the environment's own are not its former self. */
function tellApart(
  former: Settings["former"],
  runList: RunList,
  { environment, reason }: { readonly environment: Environment; readonly reason: string },
  { reporter, cwd }: Context,
): void {
  const ids = former.map(({ id }) => id);
  runList.tellApart(ids, userName(), cleanText(reason, 500));
  const names = former.map(({ name }) => cleanText(name, 64)).join(" and ");
  reporter.warn(
    `${environment.name} keeps a ledger of its own beside that of ${names}. If they are one account after all, what ${names} has sent is sent again when it is in the input.`,
  );
  reporter.detail(`Kept in ${displayPath(runList.path, cwd)}.`);
}

/** The list, or what is told without it where it is missing or damaged; a damaged one is renamed, never deleted. */
async function readOrSetAside(path: string, { reporter, cwd }: Context): Promise<RunListContent> {
  try {
    return readRunList(path);
  } catch (cause) {
    if (!(cause instanceof Failure)) throw cause;
    reporter.warn(`The damaged list of runs was set aside as ${displayPath(setAside(path), cwd)}.`);
    return readRunList(path);
  }
}

/** Trusts the config of the working directory as it is now. */
export async function trustConfig(options: EnvironmentOptions, { cwd, env, reporter }: Context): Promise<number> {
  if (options.config !== undefined || env.TICKETS_CONFIG)
    throw new Failure(
      "usage",
      "A config that is named counts as trusted; --trust is for the one in the working directory.",
      {
        hint: "Leave --config and TICKETS_CONFIG out.",
      },
    );
  const { found } = await loadConfig({ cwd, env, knownRules: KNOWN_RULES, isTrusting: true });
  if (found === undefined) throw new Failure("usage", `There is no config in ${displayPath(cwd, cwd)} to trust.`);
  await keepTrust(found.file, found.digest, env);
  reporter.info(
    `${displayPath(found.file, cwd)} is trusted as it is now${found.isTrusted ? ", as it was" : ""}. ${found.needsTrust.length === 0 ? "It names nothing that needs it." : "It may use:"}`,
  );
  for (const { line, path, message } of found.needsTrust)
    reporter.info(
      `  line ${line}, ${path.map((step) => cleanText(String(step), 60)).join(".")}: ${message.replace(/; [^;]*$/, "")}`,
    );
  return EXIT_CODES.ok;
}

/** The same service under a new address: the ledger is told, because a person says so. */
export async function rebindLedger(
  options: EnvironmentOptions & { readonly name: string | undefined; readonly waitLock: number },
  context: Context,
): Promise<number> {
  const { environment } = await loadSettings(
    runContextOf(context),
    { ...options, env: options.name ?? options.env },
    "any",
  );
  if (environment.kind === "sandbox")
    throw new Failure("usage", "The sandbox's ledger belongs to its instance; it has no address to change.");
  if (!existsSync(environment.ledgerPath))
    throw new Failure("usage", `There is no ledger of ${environment.name} yet, so nothing to rebind.`);
  using _lock = await acquireLock({
    what: `the ledger of ${environment.name}`,
    path: lockPath(environment),
    command: "tickets env --rebind",
    waitMs: options.waitLock,
    signal: context.stop,
  });
  using ledger = openLedger({ path: environment.ledgerPath, boundTo: undefined });
  const before = readMeta(ledger, "bound_to");
  rebind(ledger, environment.baseUrl);
  context.reporter.info(
    `The ledger of ${environment.name} belonged to ${before} and now belongs to ${environment.baseUrl}.`,
  );
  return EXIT_CODES.ok;
}

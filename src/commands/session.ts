/** What a command that looks into a ledger works with: the environment, its ledger, and the lock when it sends. */

import { existsSync } from "node:fs";
import { readdir, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { cleanText } from "../actions/text.ts";
import { allRules } from "../checks/rules.ts";
import { type Config, displayPath, loadConfig } from "../config/config.ts";
import {
  displayOrigin,
  type Environment,
  type EnvironmentFlags,
  ownLedgerOf,
  resolveEnvironment,
} from "../config/environment.ts";
import { Key, readKey } from "../config/key.ts";
import { type Neighbour, readNeighbours, secondLedger } from "../config/neighbours.ts";
import { userStateDirectory } from "../config/paths.ts";
import { Failure } from "../failure.ts";
import { type Ledger, readMeta, runListPath, writeMeta } from "../ledger/ledger.ts";
import { acquireLock } from "../ledger/lock.ts";
import { openLedger } from "../ledger/open-ledger.ts";
import {
  type ListHead,
  type LostRun,
  openRunList,
  type RunList,
  readRunList,
  thisMachine,
} from "../ledger/run-list.ts";
import { lastRun, listRuns } from "../ledger/runs.ts";
import type { SiblingLedger } from "../ledger/siblings.ts";
import { noteKey } from "../ledger/used-keys.ts";
import { MAPPING_RULES } from "../mapping/rules.ts";
import { parseManifest } from "../plan/manifest.ts";
import { planFiles } from "../plan/plan.ts";
import { INPUT_RULES, READER_RULES } from "../readers/rules.ts";
import type { Sandbox } from "../sandbox/server.ts";
import { proxyFor, type UsedProxy } from "../sending/proxy.ts";
import type { Context } from "./context.ts";
import { lookBeside } from "./former-self.ts";
import { lookForLostRuns, lostRunsFailure, lostRunsOf, strayPlans } from "./lost-runs.ts";
import { count, inShell, type Reporter } from "./reporter.ts";

/** Flags that say which environment and where its state is; `tickets env` shows what becomes of them. */
export interface EnvironmentOptions {
  readonly env?: string | undefined;
  readonly config?: string | undefined;
  readonly flags: EnvironmentFlags;
}

export const ALL_RULES = allRules(READER_RULES, INPUT_RULES, MAPPING_RULES);

/** Ids of all rules, for the config's `rules`. */
export const KNOWN_RULES: readonly string[] = Object.keys(ALL_RULES);

export interface Settings {
  readonly config: Config;
  readonly environment: Environment;
  /** Other environments at the same address, declared or known by their ledgers alone. */
  readonly neighbours: readonly Pick<Neighbour, "name" | "key">[];
  /** Ledgers that may be what this environment kept under another name. */
  readonly former: readonly SiblingLedger[];
  /** Where it was read to be compared: what gives it may give it once. */
  readonly key?: Key | undefined;
}

/**
 * The config, and the environment that the command is for.
 *
 * @param ledgers "one": a second ledger of the same service is refused; "any": it is told, for commands that only look
 * into a ledger or mend it; "to send": refused, and a key that a command gives is read where one has to be compared.
 */
export async function loadSettings(
  context: Context,
  options: EnvironmentOptions,
  ledgers: "one" | "any" | "to send" = "one",
): Promise<Settings> {
  const { cwd, env, reporter } = context;
  const config = await loadConfig({
    cwd,
    env,
    configFlag: options.config,
    knownRules: KNOWN_RULES,
    signal: context.stop,
  });
  const choice = { envFlag: options.env, configFlag: options.config, env, flags: options.flags };
  const environment = resolveEnvironment(config, choice);
  context.trace.ledgerPath = environment.ledgerPath;
  const declared = await readNeighbours(config, environment, env, context.stop);
  const twice =
    secondLedger(config, environment, declared) ??
    forgottenLedger(environment, ownLedgerOf(config, environment, choice), cwd);
  refuseMovedAddress(config, environment, env);
  const sends = ledgers === "to send" && twice === undefined;
  const beside = await lookBeside(config, environment, declared, { env, signal: context.stop, sends });
  const problem = twice ?? beside.problem;
  if (problem !== undefined && ledgers !== "any") throw problem;
  if (problem !== undefined) reporter.warn(problem.message);
  const { others, former, key } = beside;
  return { config, environment, neighbours: [...declared, ...others], former, key };
}

/**
 * A config that lies in a folder may name both another address and another ledger; the key would go there, and no ledger
 * say that the service is another. So the one that this user's runs usually keep is asked too.
 */
function refuseMovedAddress(config: Config, environment: Environment, env: NodeJS.ProcessEnv): void {
  const { kind, baseUrl, ledgerOwner, ledgerPath } = environment;
  if (kind === "sandbox" || config.found === undefined || config.found.isTrusted) return;
  const usual = userStateDirectory(env);
  if (usual === undefined) return;
  const path = join(usual, ledgerOwner, "ledger.db");
  if (path === ledgerPath || !existsSync(path)) return;
  openLedger({ path, boundTo: baseUrl, readOnly: true })[Symbol.dispose]();
}

/** The proxy that requests to an environment go through, if any. */
export function proxyOf({ kind, baseUrl }: Environment, env: NodeJS.ProcessEnv): UsedProxy | undefined {
  return kind === "sandbox" ? undefined : proxyFor(baseUrl, env);
}

/** What an environment was sent before it shared another's ledger must come along. */
export function forgottenLedger(environment: Environment, own: string | undefined, cwd: string): Failure | undefined {
  if (own === undefined) return undefined;
  const { name, ledgerOwner } = environment;
  const file = `${name}.promises.ndjson`;
  const flags = environmentFlags(environment);
  return new Failure(
    "usage",
    `${name} shares the ledger of ${ledgerOwner}, but has kept one of its own (${displayPath(own, cwd)}), and what that one knows would be sent again. Nothing was sent.`,
    {
      hint: [
        `Without the line sameServiceAs, settle its open runs: tickets status ${flags}`,
        `Then write its promises: tickets results ${flags} -o ${file}`,
        `With the line again: tickets results --import ${file} ${flags}`,
        `Then move ${displayPath(dirname(own), cwd)} away.`,
      ].join("\n"),
    },
  );
}

/**
 * What a command that is told to people names the environment with. Such a command ends its line, after a colon, so that it
 * can be copied: what is said after it begins a new line.
 */
export const environmentFlags = ({ named }: Pick<Environment, "named">): string => named.map(inShell).join(" ");

export const lockPath = (environment: Environment): string => join(dirname(environment.ledgerPath), "lock.db");
export const runsDirectory = (environment: Environment): string => join(dirname(environment.ledgerPath), "runs");
export const planDirectory = (environment: Environment, run: string): string => join(runsDirectory(environment), run);
export const sandboxStatePath = (environment: Environment): string =>
  join(dirname(environment.ledgerPath), "service.db");

/** The ledger for looking only, or undefined where there is none yet. */
export function openLedgerToRead(environment: Environment): Ledger | undefined {
  if (!existsSync(environment.ledgerPath)) return undefined;
  return openLedger({
    path: environment.ledgerPath,
    boundTo: environment.kind === "sandbox" ? undefined : environment.baseUrl,
    readOnly: true,
  });
}

/**
 * The same for a command that decides by it what was sent before.
 *
 * @throws Failure `usage` when it lacks runs that were sent from here.
 */
export function openLedgerToPlan({ cwd }: Context, environment: Environment): Ledger | undefined {
  let ledger: Ledger | undefined;
  const lost = lookForLostRuns(environment, () => {
    ledger = openLedgerToRead(environment);
    return ledger;
  });
  if (lost.length === 0) return ledger;
  ledger?.[Symbol.dispose]();
  throw lostRunsFailure(lost, environment, cwd);
}

/** A session that may send: it holds the environment's lock until it is disposed. */
export interface Session extends AsyncDisposable {
  readonly environment: Environment;
  /** Of other accounts at the same address. */
  readonly neighbours: Settings["neighbours"];
  readonly ledger: Ledger;
  readonly runList: RunList;
  /** Runs that were sent from here and of which the ledger does not know all. Asked each time, since a command may mend it. */
  readonly lost: () => readonly LostRun[];
  /** Where requests go; for the sandbox known only now that it runs. */
  readonly baseUrl: string;
  readonly boundTo: string;
  readonly key: () => Promise<Key>;
}

export async function openSession(
  context: Context,
  { environment, neighbours, key: known }: Pick<Settings, "environment" | "neighbours" | "key">,
  options: {
    readonly command: string;
    readonly waitLockMs: number;
    /** Looks for the key first: without it, waiting and reading would be for nothing. A command is run when it is needed. */
    readonly sends?: boolean;
    /** Only for what puts a lost ledger right: it need not know all that was sent from here. */
    readonly mayLackRuns?: boolean;
  },
): Promise<Session> {
  const { reporter } = context;
  let given: Promise<Key> | undefined;
  const keyOfService = (): Promise<Key> => {
    const read = async (): Promise<Key> => known ?? readKey(environment, context.stop, { env: context.env });
    given ??= read().then((key) => {
      if (key.warning !== undefined) reporter.warn(key.warning);
      return key;
    });
    return given;
  };
  if (options.sends === true && environment.kind === "service" && environment.keySource.kind !== "command")
    await keyOfService();
  const lock = await acquireLock({
    what: `the ledger of ${environment.name}`,
    path: lockPath(environment),
    command: options.command,
    waitMs: options.waitLockMs,
    signal: context.stop,
    onWait: (holder) =>
      reporter.info(
        `Waiting for another run to end${holder === undefined ? "" : ` (process ${holder.pid}, since ${holder.since})`} …`,
      ),
  });
  let sandbox: Sandbox | undefined;
  let ledger: Ledger | undefined;
  const close = async (): Promise<void> => {
    ledger?.[Symbol.dispose]();
    await sandbox?.[Symbol.asyncDispose]();
    lock[Symbol.dispose]();
  };
  try {
    if (environment.kind === "sandbox") sandbox = await startBuiltIn(environment, reporter);
    const started = sandbox;
    const boundTo = started === undefined ? environment.baseUrl : `sandbox:${started.instanceId}`;
    const { mayLackRuns = false } = options;
    const list = readRunList(runListPath(environment.ledgerPath));
    const refuseLost = (): boolean => {
      const lost = lostRunsOf({ environment, boundTo }, list, ledger);
      if (lost.length > 0 && !mayLackRuns) throw lostRunsFailure(lost, environment, context.cwd);
      return lost.length > 0;
    };
    // Before a new one is made, which would be taken for a known one by the next command.
    if (!existsSync(environment.ledgerPath)) refuseLost();
    ledger = openLedger({ path: environment.ledgerPath, boundTo });
    const opened = ledger;
    const lacksRuns = refuseLost();
    const keyToUse = async (): Promise<Key> => {
      const key = await keyOfService();
      noteKey(opened, (salt) => key.digest(salt));
      return key;
    };
    if (given !== undefined) await keyToUse();
    const runList = openRunList(runListPath(environment.ledgerPath), thisMachine());
    if (runList.isNew) makeRunList(context, environment, ledger, runList, boundTo);
    else runList.complete(ledger, ({ manifest }) => parseManifest(manifest));
    if (runList.cameFrom !== undefined) tellMoved(context, environment, runList.cameFrom);
    if (!lacksRuns) await removeUnfinishedPlans(environment, ledger);
    return {
      environment,
      neighbours,
      ledger,
      runList,
      lost: () => lostRunsOf({ environment, boundTo }, runList.content, opened),
      boundTo,
      baseUrl: started?.url ?? environment.baseUrl,
      key: async () => (started === undefined ? await keyToUse() : new Key(started.apiKey)),
      [Symbol.asyncDispose]: close,
    };
  } catch (cause) {
    await close();
    throw cause;
  }
}

/** Key in the ledger's meta table: a list of runs lies beside it. */
const HAS_RUN_LIST = "run_list";

/** A list that is not there is made of what the ledger knows. One that was there before has been lost, which is told. */
function makeRunList(
  { reporter }: Context,
  environment: Environment,
  ledger: Ledger,
  runList: RunList,
  boundTo: string,
): void {
  const strays = strayPlans(environment, ledger, (each) => environment.kind !== "sandbox" || each === boundTo);
  runList.complete(ledger, ({ manifest }) => parseManifest(manifest));
  runList.addStrays(strays);
  const runs = listRuns(ledger).length;
  if (readMeta(ledger, HAS_RUN_LIST) !== undefined && runs > 0)
    reporter.warn(
      `The list of runs ${runList.path} was missing. It was made again from the ledger, with ${count(runs, "run")}.`,
    );
  ledger.transaction(() => writeMeta(ledger, HAS_RUN_LIST, "yes"));
}

/** Whoever copied a ledger to a second machine, and goes on with both, sends everything twice: neither knows the other. */
function tellMoved({ reporter }: Context, environment: Environment, { host, at }: ListHead): void {
  reporter.warn(
    `The state of ${environment.name} came here from another machine (${cleanText(host, 100)}, which had it since ${at}). Use it on one machine only: a second copy does not learn what this one sends, and sends it again.`,
  );
}

/** The sandbox inside the command; its state stays between commands. */
async function startBuiltIn(environment: Environment, reporter: Reporter): Promise<Sandbox> {
  const { startSandbox } = await import("../sandbox/server.ts");
  return startSandbox({
    engine: { path: sandboxStatePath(environment), accept: environment.accept },
    onError: (error) => reporter.error(`The sandbox could not answer a request: ${cleanText(String(error), 300)}`),
  });
}

/** Finished plans are kept for two weeks, for rejects and questions; the ledger keeps what each action came to. */
export const PLAN_KEPT_MS = 14 * 24 * 60 * 60 * 1000;

/** Folders of plans that never became runs, because the process died before; they mean nothing. */
async function removeUnfinishedPlans(environment: Environment, ledger: Ledger): Promise<void> {
  const directory = runsDirectory(environment);
  const names = await readdir(directory).catch(() => []);
  for (const name of names) {
    if (ledger.get("SELECT 1 AS one FROM runs WHERE run = ?", name) !== undefined) continue;
    const plan = join(directory, name);
    // A whole plan may belong to a ledger that is only missing for now; it goes when a finished one would.
    const manifest = await stat(planFiles(plan).manifest).catch(() => undefined);
    if (manifest === undefined || Date.now() - manifest.mtimeMs > PLAN_KEPT_MS)
      await rm(plan, { recursive: true, force: true });
  }
}

/** Tells the first line of a command that sends. A ledger that is NEW is told always: nothing is known to have been sent before. */
export function tellSession(session: Session, context: Context): void {
  const line = describeSession(session, context);
  if (lastRun(session.ledger) === undefined) context.reporter.notice(line);
  else context.reporter.info(line);
}

/** The first line of a command that looks into a ledger: what is used, and whether its memory is new. */
export function describeSession(
  {
    environment,
    neighbours,
    ledger,
  }: Pick<Settings, "environment" | "neighbours"> & { readonly ledger: Ledger | undefined },
  context: Context,
): string {
  const where = environment.kind === "sandbox" ? "built in" : environment.baseUrl;
  const runs = Number(ledger?.get("SELECT count(*) AS n FROM runs")?.n ?? 0);
  const known = runs === 0 ? "NEW" : `with ${count(runs, "earlier run")}`;
  const { name, ledgerOwner, ledgerPath } = environment;
  const proxy = proxyOf(environment, context.env);
  return [
    `${name} (${where}${proxy === undefined ? "" : `, through the proxy ${proxy.shown}`})`,
    `ledger ${ledgerOwner === name ? "" : `of ${ledgerOwner} `}${displayPath(ledgerPath, context.cwd)} ${known}`,
    // The first key that goes to an address should go there knowingly.
    ...(known === "NEW" && environment.kind === "service"
      ? [`address from ${displayOrigin(environment.origins.baseUrl, context.cwd)}`]
      : []),
    ...neighbours.map(({ name: other, key }) =>
      key === "different"
        ? `another account than ${other} at the same address`
        : `the same address as ${other}, whose key is not known here`,
    ),
  ].join(" · ");
}

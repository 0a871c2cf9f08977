/** `tickets env`: what would be used, and why; whether it works; and the trust in a config. It never shows a key. */

import { dirname } from "node:path";
import type { Config } from "../config/config.ts";
import { describeKeySource, describeProgram, displayOrigin, listEnvironments } from "../config/declared.ts";
import { type Environment, resolveEnvironment } from "../config/environment.ts";
import { conflictOf, keyPresence } from "../config/key.ts";
import { describeLedgerServer, describeLedgerSource } from "../config/ledger-server.ts";
import { SETTING_NAMES, type SettingName } from "../config/settings.ts";
import { keepTrust } from "../config/trust.ts";
import { formatDuration } from "../config/values.ts";
import { EXIT_CODES, Failure } from "../failure.ts";
import type { ServerFacts } from "../ledger/ledger.ts";
import type { RunContext } from "../run/context.ts";
import { connectorTo, findLedgerOf, LOCK, openService } from "../run/open.ts";
import { configOf } from "../run/settings.ts";
import { describe } from "../send/answer.ts";
import { pathOf } from "../send/ask-statuses.ts";
import type { Exchange } from "../send/exchange.ts";
import { proxyOf } from "../send/proxy.ts";
import { readStatus } from "../send/status-answer.ts";
import { cleanText, displayPath } from "../text.ts";
import { defaultOutput } from "../write/promises.ts";
import type { Context, Options } from "./context.ts";
import { openSettings } from "./core.ts";
import { describeHolding, localTimes } from "./describe.ts";
import { columnsOf, type Fact, inPairs, wrapLines } from "./layout.ts";
import { sayFailure } from "./reporter.ts";

/** `name`: the environment to show; without it the one that would be used, and the list of all. */
export type EnvOptions = Options<"name" | "json">;

/** `tickets env [NAME]` */
export async function showEnvironment(options: EnvOptions, context: Context): Promise<number> {
  const { cwd, env, reporter, stdout } = context;
  const config = await configOf(context, { configFlag: options.config });
  const environments = options.name === undefined ? listEnvironments(config, env) : undefined;
  const { used, problem } = await lookAt(config, options, context);
  if (options.json) {
    const environment = used === undefined ? null : toDocument(used, env);
    reporter.document({ environment, ...(environments && { environments }), configFiles: config.files });
  } else {
    const columns = columnsOf(stdout);
    const files = config.files.map((file) => displayPath(file, cwd)).join(", ") || "none";
    const parts = [
      ...(used === undefined ? [] : [asText(toDocument(used, env, localTimes()), files, cwd, columns)]),
      ...(environments === undefined ? [] : [listText(environments, used?.environment.name, cwd, columns)]),
    ];
    reporter.show(parts.map((lines) => `${lines.join("\n")}\n`).join("\n"));
  }
  return sayFailure(problem, reporter);
}

interface Used {
  readonly environment: Environment;
  readonly from: string;
  readonly keyState: string;
  /** Undefined where there is none yet; a failure where it can't be read. */
  readonly ledger: Awaited<ReturnType<typeof ledgerStateOf>> | Failure;
}

/** @returns what would be used, and why any command would stop. */
async function lookAt(
  config: Config,
  { name, env: envFlag, config: configFlag, flags }: EnvOptions,
  context: Context,
): Promise<{ readonly used?: Used; readonly problem: Failure | undefined }> {
  const { env } = context;
  let environment: Environment;
  try {
    environment = resolveEnvironment(config, { envFlag: name ?? envFlag, configFlag, env, flags });
  } catch (cause) {
    // The list of all environments is still worth showing.
    if (name !== undefined || !(cause instanceof Failure)) throw cause;
    return { problem: cause };
  }
  const conflict = await conflictOf(config, environment, env, context.stop);
  const ledger = await ledgerStateOf(environment).catch((cause: unknown) => {
    // The rest is worth showing even if the database can't be reached.
    if (environment.ledgerServer === undefined || !(cause instanceof Failure)) throw cause;
    return cause;
  });
  const from = name === undefined ? environment.origins.name : "named on the command line";
  const keyState = await keyPresence(environment.keySource, env);
  const used = { environment, from, keyState, ledger };
  return { used, problem: conflict ?? (ledger instanceof Failure ? ledger : undefined) };
}

async function ledgerStateOf(environment: Environment) {
  await using ledger = await findLedgerOf(environment);
  if (ledger === undefined) return undefined;
  const [holder, runs] = [await ledger.holder(LOCK), await ledger.runs({ last: 1 })];
  return { holder, lastRun: runs.at(-1), server: await ledger.workers?.facts() };
}

/** An environment in the document of `env --json`. Of a database that holds its ledger it has the place and never a password. */
function toDocument(
  { environment, from, keyState, ledger }: Used,
  env: NodeJS.ProcessEnv,
  time: (at: string) => string = (at) => at,
) {
  const { name, kind, baseUrl, keySource, origins, ledgerPath: path, ledgerServer } = environment;
  const isUnreadable = ledger instanceof Failure;
  const { holder, lastRun: run, server = null } = isUnreadable || ledger === undefined ? {} : ledger;
  const settings = SETTING_NAMES.map(
    (setting) => [setting, { value: shownValue(environment, setting), from: origins[setting] }] as const,
  );
  return {
    ...{ name, from, kind },
    baseUrl: { value: baseUrl === "" ? null : baseUrl, from: origins.baseUrl },
    // Without user and password.
    proxy: proxyOf(environment, env)?.shown ?? null,
    apiKey: { source: describeKeySource(keySource), state: keyState, from: origins.apiKey },
    settings: Object.fromEntries(settings),
    ledger: {
      path,
      ...(ledgerServer && { database: describeLedgerServer(ledgerServer), server }),
      isNew: isUnreadable ? null : ledger === undefined,
      /** `held by process 4711 since 28 Nov 03:00: tickets stream` */
      lock: holder ? `held by ${describeHolding(holder, time)}` : null,
      /** `7f3a0c11 finished 28 Nov 03:04` */
      lastRun: run ? `${run.run} ${run.state} ${time(run.endedAt ?? run.createdAt)}` : null,
    },
  };
}

/** A setting as a config writes it; of secrets, only where they are. */
function shownValue(environment: Environment, setting: SettingName): unknown {
  const { timeoutMs, onEnd, ledgerServer } = environment;
  if (setting === "timeout") return formatDuration(timeoutMs);
  if (setting === "onEnd") return onEnd === undefined ? null : describeProgram(onEnd.command);
  if (setting === "ledger") return ledgerServer === undefined ? "SQLite" : describeLedgerSource(ledgerServer);
  if (setting === "output") return environment.output ?? defaultOutput(environment.name);
  return environment[setting] ?? null;
}

function asText(
  { name, from, baseUrl, proxy, apiKey, settings, ledger }: ReturnType<typeof toDocument>,
  configFiles: string,
  cwd: string,
  columns: number,
): readonly string[] {
  const { path, database, server, isNew, lock, lastRun } = ledger;
  const by = (value: unknown, origin: string): string => `${valueText(value)}  (${displayOrigin(origin, cwd)})`;
  const { source, state } = apiKey;
  const used: readonly Fact[] = [
    ["baseUrl", by(baseUrl.value ?? "this machine; nothing leaves it", baseUrl.from)],
    ["proxy", proxy && by(proxy, "HTTPS_PROXY")],
    ["apiKey", by(source === state ? source : `${source}, ${state}`, apiKey.from)],
    ...Object.entries(settings).map(([setting, { value, from: origin }]) => [setting, by(value, origin)] as const),
  ];
  const facts: readonly Fact[] = [
    ["ledger", `${valueText(database ?? path)}${newnessText(isNew)}`],
    ["database", server && describeServer(server)],
    ["folder", database && displayPath(dirname(path), cwd)],
    ["lock", lock],
    ["last run", lastRun],
    ["config", configFiles],
  ];
  const head = wrapLines(`${name}  (${displayOrigin(from, cwd)})`, columns);
  return [head, ...inPairs(used, columns, "  "), "", ...inPairs(facts, columns, "  ")];
}

function newnessText(isNew: boolean | null): string {
  if (isNew === null) return "  can't be read";
  return isNew ? "  NEW" : "";
}

/** `PostgreSQL 15.18, each commit on its disk` */
function describeServer({ version, standbys }: ServerFacts): string {
  const standby = standbys === "" ? "" : ` and on the standby ${cleanText(standbys, 200)}`;
  return `PostgreSQL ${cleanText(version, 60)}, each commit on its disk${standby}`;
}

function listText(
  environments: ReturnType<typeof listEnvironments>,
  used: string | undefined,
  cwd: string,
  columns: number,
): readonly string[] {
  const rows = environments.map(({ name, origin }): Fact => {
    return [`${name === used ? "*" : " "} ${name}`, displayOrigin(origin, cwd)];
  });
  return [`environments${used === undefined ? "" : " (* would be used)"}`, ...inPairs(rows, columns, "  ")];
}

function valueText(value: unknown): string {
  if (value === null) return "none";
  if (Array.isArray(value)) return value.length === 0 ? "none" : cleanText(value.join(", "), 500);
  return cleanText(String(value), 500);
}

/** `tickets env --trust`: trusts the config of the working directory as it is now. */
export async function trustConfig({ config }: Options<"config">, context: Context): Promise<number> {
  const { cwd, env, reporter } = context;
  if (config !== undefined || env.TICKETS_CONFIG)
    throw new Failure(
      "usage",
      "A config named with --config or TICKETS_CONFIG counts as trusted; --trust is for the one in the working directory.",
      { hint: "Leave --config and TICKETS_CONFIG out." },
    );
  const { found } = await configOf(context, { isTrusting: true });
  if (found === undefined)
    throw new Failure("usage", `There is no config in ${displayPath(cwd, cwd)} to trust.`, {
      hint: "Run the command in the folder that holds it.",
    });
  await keepTrust(found.file, found.digest, env);
  const { file, isTrusted, needsTrust } = found;
  reporter.info(
    `${displayPath(file, cwd)} is trusted as it is now${isTrusted ? ", and already was" : ""}. ${needsTrust.length === 0 ? "Nothing in it needs trust." : "It may use:"}`,
  );
  for (const { line, path, message } of needsTrust)
    reporter.info(`  line ${line}, ${path.map((step) => cleanText(String(step), 60)).join(".")}: ${message}`);
  return EXIT_CODES.ok;
}

/**
 * `tickets env --check`: whether the service can be reached and accepts the key, as far as that shows without sending an action.
 * Exit 5 where authentication failed, 7 where the service can't be reached.
 */
export async function checkEnvironment(options: EnvOptions, context: Context): Promise<number> {
  const { reporter, cwd, stdout } = context;
  const { core, environment } = await openSettings(context, { ...options, env: options.name ?? options.env }, "any");
  const { name, kind, baseUrl, keySource, origins } = environment;
  const { checks, exitCode } = judge(await askOnce(core, environment), environment);
  if (options.json) {
    reporter.document({ environment: name, baseUrl: baseUrl === "" ? null : baseUrl, checks, exitCode });
    return exitCode;
  }
  const where = kind === "sandbox" ? "this machine; nothing leaves it" : baseUrl;
  const facts = checks.map(({ check, result, detail }): Fact => {
    return [check, `${result === "failed" ? "FAILED" : result}: ${cleanText(detail, 500)}`];
  });
  const columns = columnsOf(stdout);
  const head = wrapLines(`${name}  ${where}  (${displayOrigin(origins.baseUrl, cwd)})`, columns);
  const lines = [head, ...inPairs(facts, columns, "  ")];
  reporter.show(`${lines.join("\n")}\n`);
  const last = checks.at(-1);
  if (last?.check === "key" && last.result !== "ok" && kind === "service")
    reporter.info(`The key of ${name} comes from ${describeKeySource(keySource)}.`);
  return exitCode;
}

/** Longest wait for the one answer. */
const MOST_MS = 15_000;

/** A promise that no service gave. */
const NO_PROMISE = "00000000-0000-0000-0000-000000000000";

/**
 * Asks one question in the way of every request, through the same proxy. The key is sent only where a status can be asked for.
 *
 * @throws Failure `authentication-failed` where there is a `statusPath`, and no key.
 */
async function askOnce(context: RunContext, environment: Environment): Promise<Exchange> {
  const { statusPath, timeoutMs } = environment;
  await using service = await openService(context, environment);
  const connect = await connectorTo(service, context, {
    ...{ timeoutMs: Math.min(timeoutMs, MOST_MS), freshConnection: true, maxAnswerBytes: 1024 * 1024 },
    sendsKey: statusPath !== undefined,
  });
  await using client = connect();
  const path = statusPath === undefined ? "/" : pathOf(statusPath, NO_PROMISE);
  const exchange = await client.get(path, AbortSignal.any([context.stop, context.abort]));
  context.stop.throwIfAborted();
  return exchange;
}

interface Check {
  readonly check: "service" | "key";
  readonly result: "ok" | "failed" | "not known";
  /** What was seen. */
  readonly detail: string;
}

interface Judged {
  readonly checks: readonly Check[];
  readonly exitCode: number;
}

/** The key is not judged where the service does not answer. */
function judge(exchange: Exchange, { statusPath }: Environment): Judged {
  if (exchange.kind !== "answer") {
    const failed = { check: "service", result: "failed", detail: describe(exchange.error) } as const;
    return { checks: [failed], exitCode: EXIT_CODES["stopped-early"] };
  }
  const service = { check: "service", result: "ok", detail: `answered HTTP ${exchange.status}` } as const;
  const ofKey = (result: Check["result"], detail: string, code: keyof typeof EXIT_CODES): Judged => ({
    checks: [service, { check: "key", result, detail }],
    exitCode: EXIT_CODES[code],
  });
  if (statusPath === undefined)
    return ofKey("not known", "without a statusPath, only sending an action would show whether it is accepted", "ok");
  const reading = readStatus(exchange, NO_PROMISE);
  switch (reading.kind) {
    case "status":
    case "unreadable":
      return ofKey("ok", "accepted; the question was about a made-up promise", "ok");
    case "later":
      return ofKey("not known", `no answer about a promise (${reading.detail})`, "stopped-early");
    case "refused":
      return ofKey(
        "not known",
        `the question was refused (${reading.detail}), perhaps because of statusPath: ${reading.body || "(empty)"}`,
        "refused",
      );
    case "authentication failed":
      return ofKey(
        "failed",
        `authentication failed (${reading.detail}): ${reading.body || "(empty)"}`,
        "authentication-failed",
      );
  }
}

/** `tickets env`: what would be used, and why; whether the service can be reached; the trust in a config. */

import { dirname } from "node:path";
import { cleanText, displayPath } from "../actions/text.ts";
import { describeKeySource, displayOrigin } from "../config/declared.ts";
import { EXIT_CODES } from "../failure.ts";
import type { ServerFacts } from "../ledger/workers.ts";
import { type Check, checkEnvironment as check } from "../run/check-environment.ts";
import { type EnvironmentView, type UsedEnvironment, viewEnvironment } from "../run/environment.ts";
import { type EnvironmentOptions, trustConfig as trust } from "../run/settings.ts";
import type { Context } from "./context.ts";
import { localTimes } from "./local-time.ts";
import { failureText } from "./reporter.ts";
import { openSettings } from "./run-context.ts";
import { columnsOf, inColumns, type TableRow, widthsOf } from "./table.ts";
import { describeBytes, describeHolder } from "./words.ts";

export interface EnvOptions extends EnvironmentOptions {
  /** The environment to show; without it the one that would be used, and the list of all. */
  readonly name: string | undefined;
  readonly json: boolean;
}

/** `tickets env [NAME]` */
export async function showEnvironment(
  options: EnvOptions,
  { cwd, env, stop, stdout, reporter }: Context,
): Promise<number> {
  const { config, used, environments, problem } = await viewEnvironment({ cwd, env, stop }, options);
  if (options.json) {
    const document = {
      environment: used === undefined ? null : toDocument(used),
      ...(environments && { environments }),
      configFiles: config.files,
    };
    reporter.out(`${JSON.stringify(document, null, 2)}\n`);
  } else {
    const files = config.files.map((file) => displayPath(file, cwd)).join(", ");
    const shown = { cwd, columns: columnsOf(stdout), configFiles: files || "none" };
    const parts = [used && asText(used, shown), environments && listText(environments, used?.name, shown)];
    reporter.out(parts.filter((part) => part !== undefined).join("\n"));
  }
  if (problem === undefined) return EXIT_CODES.ok;
  reporter.error(failureText(problem));
  return EXIT_CODES[problem.code];
}

/** An environment in the document of `env --json`. */
function toDocument({ ledgerPath: path, ledgerPlace, ledger, isLedgerReadable, ...used }: UsedEnvironment) {
  const place = ledgerPlace === undefined ? {} : { database: ledgerPlace, server: ledger?.server ?? null };
  return {
    ...used,
    ledger: { path, ...place, isNew: isLedgerReadable ? ledger === undefined : null, ...stateOf(ledger) },
  };
}

/** The lock such as `held by process 4711 since 28 Nov 03:00: tickets stream`, the last run such as `7f3a0c11 finished 28 Nov 03:04`. */
function stateOf(ledger: UsedEnvironment["ledger"], time: (at: string) => string = (at) => at) {
  if (ledger === undefined) return { lock: null, lastRun: null };
  const { holder, lastRun: run, bytes } = ledger;
  return {
    lock:
      holder === undefined ? null : `held by ${describeHolder(holder)} since ${time(holder.since)}: ${holder.command}`,
    lastRun: run === undefined ? null : `${run.run} ${run.state} ${time(run.endedAt ?? run.createdAt)}`,
    bytes,
  };
}

interface Shown {
  readonly cwd: string;
  /** Of the terminal. */
  readonly columns: number;
  readonly configFiles: string;
}

function asText(used: UsedEnvironment, { cwd, columns, configFiles }: Shown): string {
  const { name, from, baseUrl, proxy, apiKey, settings, ledgerPath, ledgerPlace, ledger, isLedgerReadable } = used;
  const { lock, lastRun, bytes } = stateOf(ledger, localTimes());
  const rows = [
    ["baseUrl", baseUrl.value ?? "this machine; nothing leaves it", baseUrl.from],
    ...(proxy === null ? [] : [["proxy", proxy, "HTTPS_PROXY"]]),
    ["apiKey", `${valueText(apiKey.source)} (${apiKey.state})`, apiKey.from],
    ...Object.entries(settings).map(([setting, { value, from: origin }]) => [setting, valueText(value), origin]),
  ];
  const newness = ledger !== undefined ? "" : isLedgerReadable ? "  NEW" : "  can't be read";
  const facts: readonly (readonly [string, string | null | undefined])[] = [
    ["ledger", `${valueText(ledgerPlace ?? ledgerPath)}${newness}`],
    ["database", ledger?.server && describeServer(ledger.server)],
    ["folder", ledgerPlace && displayPath(dirname(ledgerPath), cwd)],
    ["lock", lock],
    ["last run", lastRun],
    ["size", bytes === undefined ? undefined : describeBytes(bytes)],
    ["config", configFiles],
  ];
  const lines = [
    `${name}  (${displayOrigin(from, cwd)})`,
    ...withOrigins(
      rows.map(([setting = "", value = "", origin = ""]) => [setting, value, displayOrigin(origin, cwd)]),
      columns,
    ),
    "",
    ...facts.flatMap(([fact, value]) => (value == null ? [] : [`  ${fact.padEnd(8)}  ${value}`])),
  ];
  return `${lines.join("\n")}\n`;
}

/** `PostgreSQL 15.18, TLSv1.3, each commit on its disk` */
function describeServer({ version, tls, forgetful, standbys }: ServerFacts): string {
  const safe =
    forgetful !== ""
      ? `may forget what it has confirmed (${forgetful})`
      : `each commit on its disk${standbys === "" ? "" : ` and on the standby ${cleanText(standbys, 200)}`}`;
  return [`PostgreSQL ${cleanText(version, 60)}`, tls ?? "without TLS", safe].join(", ");
}

function listText(
  environments: NonNullable<EnvironmentView["environments"]>,
  used: string | undefined,
  { cwd, columns }: Shown,
): string {
  const rows = environments.map(({ name, origin }) => [
    `${name === used ? "*" : " "} ${name}`,
    displayOrigin(origin, cwd),
  ]);
  return `environments${used === undefined ? "" : " (* would be used)"}\n${withOrigins(rows, columns).join("\n")}\n`;
}

function valueText(value: unknown): string {
  if (value === null) return "none";
  if (Array.isArray(value)) return value.length === 0 ? "none" : cleanText(value.join(", "), 500);
  return cleanText(String(value), 500);
}

/** In columns, or each row in words where the terminal is narrower: `baseUrl: https://example.com (the config)`. */
function withOrigins(rows: readonly TableRow[], columns: number): readonly string[] {
  const widths = widthsOf(rows);
  if (widths.reduce((sum, width) => sum + 2 + width, 0) > columns)
    return rows.map((row) => `  ${row.slice(0, -1).join(": ")} (${row.at(-1)})`);
  return rows.map((row) => `  ${inColumns(row, widths)}`);
}

/** `tickets env --trust` */
export async function trustConfig(options: EnvironmentOptions, { cwd, env, stop, reporter }: Context): Promise<number> {
  const { file, isTrusted, needsTrust } = await trust({ cwd, env, stop }, options.config);
  reporter.info(
    `${displayPath(file, cwd)} is trusted as it is now${isTrusted ? ", and already was" : ""}. ${needsTrust.length === 0 ? "It names nothing that always needs trust." : "It may use:"}`,
  );
  for (const { line, path, message } of needsTrust)
    reporter.info(
      `  line ${line}, ${path.map((step) => cleanText(String(step), 60)).join(".")}: ${message.replace(/; [^;]*$/, "")}`,
    );
  return EXIT_CODES.ok;
}

/** `tickets env --check` sends no action. Exit 5 where authentication failed, 7 where the service can't be reached. */
export async function checkEnvironment(options: EnvOptions, context: Context): Promise<number> {
  const { reporter, cwd } = context;
  const { core, ...settings } = await openSettings(context, { ...options, env: options.name ?? options.env }, "any");
  const { environment } = settings;
  const { name, kind, baseUrl, keySource, origins } = environment;
  const { checks, exitCode } = await check(core, settings);
  if (options.json) {
    const document = { environment: name, baseUrl: baseUrl === "" ? null : baseUrl, checks, exitCode };
    reporter.out(`${JSON.stringify(document)}\n`);
    return exitCode;
  }
  const where = kind === "sandbox" ? "this machine; nothing leaves it" : baseUrl;
  reporter.out(`${name}  ${where}  (${displayOrigin(origins.baseUrl, cwd)})\n`);
  for (const each of checks) reporter.out(`  ${each.check.padEnd(10)}  ${describeCheck(each)}\n`);
  const last = checks.at(-1);
  if (last?.check === "key" && last.result !== "ok" && kind === "service")
    reporter.info(`The key of ${name} comes from ${describeKeySource(keySource)}.`);
  return exitCode;
}

const MARKS = { ok: "ok", failed: "FAILED", "not known": "not known" } as const;

const describeCheck = ({ result, detail }: Check): string => `${MARKS[result]}: ${cleanText(detail, 500)}`;

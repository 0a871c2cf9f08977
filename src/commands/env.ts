/** `tickets env`: what would be used, and why; and what a person says of an environment's config and ledger. */

import { dirname } from "node:path";
import { cleanText, displayPath, textWidth } from "../actions/text.ts";
import type { Config } from "../config/config.ts";
import { displayOrigin } from "../config/declared.ts";
import { EXIT_CODES } from "../failure.ts";
import type { ServerFacts } from "../ledger/workers.ts";
import { type EnvironmentView, type UsedEnvironment, viewEnvironment } from "../run/environment.ts";
import { type EnvironmentOptions, trustConfig as trust } from "../run/settings.ts";
import type { Context } from "./context.ts";
import { localTimes } from "./local-time.ts";
import { failureText } from "./reporter.ts";
import { columnsOf } from "./table.ts";
import { describeBytes, describeHolder } from "./words.ts";

export interface EnvOptions extends EnvironmentOptions {
  /** The environment to show; without it the one that would be used, and the list of all. */
  readonly name: string | undefined;
}

/** `tickets env [NAME]` */
export async function showEnvironment(
  options: EnvOptions & { readonly json: boolean },
  { cwd, env, stop, stdout, reporter }: Context,
): Promise<number> {
  const { config, used, environments, problem } = await viewEnvironment({ cwd, env, stop }, options);
  if (options.json) {
    const document = {
      environment: used === undefined ? null : toDocument(used),
      ...(environments === undefined ? {} : { environments }),
      configFiles: config.files,
    };
    reporter.out(`${JSON.stringify(document, null, 2)}\n`);
  } else {
    const shown = { cwd, columns: columnsOf(stdout) };
    const parts = [
      used === undefined ? undefined : asText(used, config, shown),
      environments === undefined ? undefined : listText(environments, used?.name, shown),
    ];
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
}

function asText(
  { name, from, baseUrl, proxy, apiKey, settings, ledgerPath, ledgerPlace, ledger, isLedgerReadable }: UsedEnvironment,
  config: Config,
  { cwd, columns }: Shown,
): string {
  const { lock, lastRun, bytes } = stateOf(ledger, localTimes());
  const rows = [
    ["baseUrl", baseUrl.value ?? "this machine; nothing leaves it", baseUrl.from],
    ...(proxy === null ? [] : [["proxy", proxy, "HTTPS_PROXY"]]),
    ["apiKey", `${valueText(apiKey.source)} (${apiKey.state})`, apiKey.from],
    ...Object.entries(settings).map(([setting, { value, from: origin }]) => [setting, valueText(value), origin]),
  ];
  const lines = [
    `${name}  (${displayOrigin(from, cwd)})`,
    ...table(
      rows.map(([setting = "", value = "", origin = ""]) => [setting, value, displayOrigin(origin, cwd)]),
      columns,
    ),
    "",
    `  ledger    ${valueText(ledgerPlace ?? ledgerPath)}${ledger !== undefined ? "" : isLedgerReadable ? "  NEW" : "  can't be read"}`,
    ...(ledger?.server === undefined ? [] : [`  database  ${describeServer(ledger.server)}`]),
    ...(ledgerPlace === undefined ? [] : [`  folder    ${displayPath(dirname(ledgerPath), cwd)}`]),
    ...(lock === null ? [] : [`  lock      ${lock}`]),
    ...(lastRun === null ? [] : [`  last run  ${lastRun}`]),
    ...(bytes === undefined ? [] : [`  size      ${describeBytes(bytes)}`]),
    `  config    ${config.files.length === 0 ? "none" : config.files.map((file) => displayPath(file, cwd)).join(", ")}`,
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
  return `environments${used === undefined ? "" : " (* would be used)"}\n${table(rows, columns).join("\n")}\n`;
}

function valueText(value: unknown): string {
  if (value === null) return "none";
  if (Array.isArray(value)) return value.length === 0 ? "none" : cleanText(value.join(", "), 500);
  return cleanText(String(value), 500);
}

/** In columns, or each row in words where the terminal is narrower: `baseUrl: https://example.com (the config)`. */
function table(rows: readonly (readonly string[])[], columns: number): readonly string[] {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => textWidth(row[column] ?? "")))) ?? [];
  if (widths.reduce((sum, width) => sum + 2 + width, 0) > columns)
    return rows.map((row) => `  ${row.slice(0, -1).join(": ")} (${row.at(-1)})`);
  const padded = (cell: string, at: number): string =>
    cell + " ".repeat(Math.max(0, (widths[at] ?? 0) - textWidth(cell)));
  return rows.map((row) => `  ${row.map(padded).join("  ")}`.trimEnd());
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

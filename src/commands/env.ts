import { stat } from "node:fs/promises";
import { cleanText } from "../actions/text.ts";
import { type Config, displayPath, loadConfig } from "../config/config.ts";
import { formatDuration } from "../config/duration.ts";
import {
  describeKeySource,
  displayOrigin,
  type Environment,
  type EnvironmentFlags,
  listEnvironments,
  ownLedgerOf,
  resolveEnvironment,
  type SettingName,
} from "../config/environment.ts";
import { keyPresence } from "../config/key.ts";
import { readNeighbours, secondLedger } from "../config/neighbours.ts";
import { EXIT_CODES, errorCode, Failure } from "../failure.ts";
import { lookBeside } from "../run/former-self.ts";
import { forgottenLedger } from "../run/settings.ts";
import { type DiskUse, describeBytes } from "./disk.ts";
import { proxyOf } from "./first-line.ts";

/** What the ledger of an environment says of itself, for people. */
interface LedgerSummary {
  /** Who holds the lock, such as `held by process 4711 since 03:00`; null when nobody does. */
  readonly lock: string | null;
  /** The last run and its state, such as `7f3a finished 2026-03-01T03:04:05Z`; null when there was none. */
  readonly lastRun: string | null;
  readonly disk?: DiskUse;
}

export interface ShowEnvironmentOptions {
  /** Working directory. */
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** The environment to show; without it the one that would be used, and the list of all. */
  readonly name?: string | undefined;
  readonly envFlag?: string | undefined;
  readonly configFlag?: string | undefined;
  readonly flags?: EnvironmentFlags;
  readonly knownRules?: readonly string[];
  readonly json?: boolean;
  readonly signal?: AbortSignal;
  /** Asked only where a ledger exists. */
  readonly ledgerSummary?: (environment: Environment) => Promise<LedgerSummary>;
}

const NEVER = new AbortController().signal;

interface Output {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
}

/** `tickets env [NAME]`: what would be used and where each value came from. Sends nothing, runs no command, reads no key. */
export async function showEnvironment(options: ShowEnvironmentOptions, io: Output): Promise<number> {
  const { cwd, env, name, envFlag, flags = {} } = options;
  const config = await loadConfig(options);
  const environments = name === undefined ? listEnvironments(config, env) : undefined;
  let environment: Environment | undefined;
  let problem: Failure | undefined;
  try {
    environment = resolveEnvironment(config, { envFlag: name ?? envFlag, env, flags });
  } catch (cause) {
    // The list of what could be named is still worth showing.
    if (name !== undefined || !(cause instanceof Failure)) throw cause;
    problem = cause;
  }
  if (environment !== undefined) {
    const neighbours = await readNeighbours(config, environment, env, options.signal ?? NEVER);
    problem =
      secondLedger(config, environment, neighbours) ??
      forgottenLedger(environment, ownLedgerOf(config, environment, { env, flags }), cwd) ??
      (await lookBeside(config, environment, neighbours, { env, signal: options.signal ?? NEVER, sends: false }))
        .problem;
  }
  const shown = environment === undefined ? undefined : await describe(environment, options);
  if (options.json === true) {
    const document = {
      environment: shown ?? null,
      ...(environments === undefined ? {} : { environments }),
      configFiles: config.files,
    };
    io.out(`${JSON.stringify(document, null, 2)}\n`);
  } else {
    const parts = [
      shown === undefined ? undefined : asText(shown, config, cwd),
      environments === undefined ? undefined : listText(environments, shown?.name, cwd),
    ];
    io.out(parts.filter((part) => part !== undefined).join("\n"));
  }
  if (problem === undefined) return EXIT_CODES.ok;
  io.err(`${problem.message}\n${problem.hint === undefined ? "" : `${problem.hint}\n`}`);
  return EXIT_CODES[problem.code];
}

interface Described {
  readonly name: string;
  readonly from: string;
  readonly kind: Environment["kind"];
  readonly baseUrl: { readonly value: string | null; readonly from: string };
  /** That requests go through, without user and password. */
  readonly proxy: string | null;
  readonly apiKey: { readonly source: string; readonly state: string; readonly from: string };
  readonly settings: Readonly<Record<string, { readonly value: unknown; readonly from: string }>>;
  readonly ledger: {
    readonly path: string;
    readonly isNew: boolean;
    readonly lock: string | null;
    readonly lastRun: string | null;
    readonly disk?: DiskUse;
  };
}

/** The settings as shown, in this order; durations as a config writes them. */
const SHOWN: readonly Exclude<SettingName, "name" | "baseUrl" | "apiKey">[] = [
  "chunkSize",
  "maxChunkBytes",
  "timeoutMs",
  "retries",
  "retryStatuses",
  "rate",
  "lanes",
  "maxRejected",
  "refusalsAreWhole",
  "complete",
  "confirm",
  "freshConnection",
  "accept",
  "statusPath",
  "sameServiceAs",
  "output",
  "stateDir",
];

async function describe(environment: Environment, options: ShowEnvironmentOptions): Promise<Described> {
  const { name, kind, baseUrl, keySource, origins, ledgerPath } = environment;
  const settings: Record<string, { value: unknown; from: string }> = {};
  for (const setting of SHOWN) {
    const isTimeout = setting === "timeoutMs";
    const value = isTimeout ? formatDuration(environment.timeoutMs) : (environment[setting] ?? null);
    settings[isTimeout ? "timeout" : setting] = { value, from: origins[setting] };
  }
  const isNew = !(await exists(ledgerPath));
  const summary = isNew ? undefined : await options.ledgerSummary?.(environment);
  return {
    name,
    from: options.name === undefined ? origins.name : "named on the command line",
    kind,
    proxy: proxyOf(environment, options.env)?.shown ?? null,
    baseUrl: { value: baseUrl === "" ? null : baseUrl, from: origins.baseUrl },
    apiKey: {
      source: describeKeySource(keySource),
      state: await keyPresence(keySource, options.env),
      from: origins.apiKey,
    },
    settings,
    ledger: {
      path: ledgerPath,
      isNew,
      lock: summary?.lock ?? null,
      lastRun: summary?.lastRun ?? null,
      ...(summary?.disk !== undefined && { disk: summary.disk }),
    },
  };
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (cause) {
    const code = errorCode(cause);
    if (code === "ENOENT" || code === "ENOTDIR") return false;
    throw new Failure("storage", `Can't look at the ledger ${path} (${String(code)})`, { cause });
  }
}

function asText(
  { name, from, baseUrl, proxy, apiKey, settings, ledger }: Described,
  config: Config,
  cwd: string,
): string {
  const rows: [string, string, string][] = [
    ["baseUrl", baseUrl.value ?? "this machine; nothing leaves it", baseUrl.from],
    ...(proxy === null ? [] : [["proxy", proxy, "HTTPS_PROXY"] satisfies [string, string, string]]),
    ["apiKey", `${valueText(apiKey.source)} (${apiKey.state})`, apiKey.from],
  ];
  for (const [setting, { value, from: origin }] of Object.entries(settings))
    rows.push([setting, valueText(value), origin]);
  const lines = [
    `${name}  (${displayOrigin(from, cwd)})`,
    ...table(rows.map(([setting, value, origin]) => [setting, value, displayOrigin(origin, cwd)])),
    "",
    `  ledger    ${valueText(ledger.path)}${ledger.isNew ? "  NEW" : ""}`,
    ...(ledger.lock === null ? [] : [`  lock      ${ledger.lock}`]),
    ...(ledger.lastRun === null ? [] : [`  last run  ${ledger.lastRun}`]),
    ...(ledger.disk === undefined ? [] : [`  disk      ${describeDisk(ledger.disk)}`]),
    `  config    ${config.files.length === 0 ? "none" : config.files.map((file) => displayPath(file, cwd)).join(", ")}`,
  ];
  return `${lines.join("\n")}\n`;
}

/** `ledger 1.2 MB, plans 3.4 MB, ballast 33.6 MB` */
function describeDisk({ ledger, plans, ballast, sandbox, setAside }: DiskUse): string {
  const parts: readonly (readonly [string, number])[] = [
    ["ledger", ledger],
    ["plans", plans],
    ["ballast", ballast],
    ["sandbox", sandbox],
    ["set aside", setAside],
  ];
  return parts.flatMap(([name, bytes]) => (bytes === 0 ? [] : [`${name} ${describeBytes(bytes)}`])).join(", ");
}

function listText(environments: ReturnType<typeof listEnvironments>, used: string | undefined, cwd: string): string {
  const rows = environments.map(({ name, origin }) => [
    `${name === used ? "*" : " "} ${name}`,
    displayOrigin(origin, cwd),
  ]);
  return `environments${used === undefined ? "" : " (* would be used)"}\n${table(rows).join("\n")}\n`;
}

function valueText(value: unknown): string {
  if (value === null) return "none";
  if (Array.isArray(value)) return value.length === 0 ? "none" : cleanText(value.join(", "), 500);
  return cleanText(String(value), 500);
}

function table(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  return rows.map((row) => `  ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ")}`.trimEnd());
}

/** Command functions run inside the test: a folder of their own, a talk that is written down, signals that a test can give. */

import { mkdir, mkdtemp, readFile, rm, truncate, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { expect, onTestFinished } from "vitest";
import type { Context } from "../../src/commands/context.ts";
import type { ProgressState } from "../../src/commands/reporter.ts";
import type { settle } from "../../src/commands/settle.ts";
import { type StreamOptions, stream } from "../../src/commands/stream.ts";
import { newTrace } from "../../src/commands/trace.ts";
import { EXIT_CODES, Failure } from "../../src/failure.ts";
import type { Ledger } from "../../src/ledger/ledger.ts";
import { BALLAST_BYTES, openLedger } from "../../src/ledger/open-ledger.ts";
import { parseFaultScript } from "../../src/sandbox/faults.ts";
import { type Sandbox, startSandbox } from "../../src/sandbox/server.ts";
import type { StopRequest } from "../../src/sending/send.ts";
import { findShared } from "./both-ledgers.ts";
import { expectCountsToAddUp, type Summary } from "./counts.ts";
import { IS_LEDGER_SHARED, type SharedLedger, sharedLedger } from "./shared-ledger.ts";

const KEY = "key-of-the-test";

/** What a command does while it runs, so that a test can act at that moment. */
interface Watch {
  readonly onProgress?: (state: ProgressState) => void;
  readonly onDetail?: (text: string) => void;
}

export interface Asked {
  readonly context: Context;
  /** Everything it said, in order, on any channel but standard output. */
  readonly said: () => string;
  readonly out: () => string;
  /** As the first signal does. */
  readonly stop: (by: StopRequest) => void;
  /** As the second signal does. */
  readonly abort: () => void;
}

export function makeContext(cwd: string, env: NodeJS.ProcessEnv, watch: Watch = {}): Asked {
  const lines: string[] = [];
  const out: string[] = [];
  const [stopping, aborting] = [new AbortController(), new AbortController()];
  const say = (text: string): void => {
    lines.push(text);
  };
  const stdout = new PassThrough();
  stdout.on("data", (text: Buffer) => out.push(text.toString()));
  return {
    context: {
      cwd,
      env,
      stdin: new PassThrough().end(),
      stdout,
      reporter: {
        info: say,
        warn: say,
        warnAgain: say,
        notice: say,
        error: say,
        detail: (text) => {
          say(text);
          watch.onDetail?.(text);
        },
        log: () => undefined,
        progress: (state) => {
          if (state !== undefined) watch.onProgress?.(state);
        },
        ask: undefined,
        out: (text) => {
          out.push(text);
        },
      },
      now: () => new Date("2026-12-01T00:00:00Z"),
      isStdoutTaken: false,
      version: () => "0.0.0",
      verbose: false,
      stop: stopping.signal,
      abort: aborting.signal,
      trace: newTrace(),
    },
    said: () => lines.join("\n"),
    out: () => out.join(""),
    stop: (by) => stopping.abort(by),
    abort: () => aborting.abort(new Error("interrupted by a second SIGINT")),
  };
}

export interface Done {
  readonly exitCode: number;
  readonly said: string;
  /** Undefined when the command ended in a failure before it had one. */
  readonly summary: Summary | undefined;
}

/** One environment called `local`, whose service is a sandbox of the test. */
export interface Field {
  readonly folder: string;
  /** What a process of its own needs to know of the environment. */
  readonly env: NodeJS.ProcessEnv;
  readonly sandbox: Sandbox;
  readonly write: (name: string, text: string | Buffer) => Promise<void>;
  readonly read: (name: string) => Promise<string>;
  readonly setFaults: (...rules: readonly object[]) => void;
  readonly stream: (
    files: readonly string[],
    options?: Partial<StreamOptions>,
    more?: Watch & { readonly env?: NodeJS.ProcessEnv; readonly asked?: (asked: Asked) => void },
  ) => Promise<Done>;
  /** The environment's ledger, to look into. */
  readonly withLedger: <T>(look: (ledger: Ledger) => T) => T;
}

/** `settings` are those that only a config can make, as YAML of the environment. */
export async function openField(settings = "", port = 0): Promise<Field> {
  const folder = await mkdtemp(join(tmpdir(), "tickets-field-"));
  const sandbox = await startSandbox({ engine: { path: ":memory:" }, apiKey: KEY, port });
  onTestFinished(async () => {
    await sandbox[Symbol.asyncDispose]();
    await rm(folder, { recursive: true });
  });
  await mkdir(join(folder, "home"));
  await makeBallast(join(folder, "state", "local"));
  const shared = IS_LEDGER_SHARED ? await sharedLedger() : undefined;
  const write = async (name: string, text: string | Buffer): Promise<void> => {
    const isConfig = shared !== undefined && name === CONFIG;
    await writeFile(join(folder, name), isConfig ? withLedger(String(text), shared) : text);
    // No export that is being written just now, whose end would be watched.
    const aWhileAgo = new Date(Date.now() - 3_600_000);
    await utimes(join(folder, name), aWhileAgo, aWhileAgo);
  };
  if (settings !== "") await write(CONFIG, `environments:\n  local:\n    ${settings}\n`);
  else if (shared !== undefined) await write(CONFIG, "");
  const ownEnv = { ...environmentOf(folder, sandbox.url), ...shared?.env };
  return {
    folder,
    env: ownEnv,
    sandbox,
    write,
    read: (name) => readFile(join(folder, name), "utf8"),
    setFaults: (...rules) => sandbox.setFaults(parseFaultScript({ seed: 1, rules }, "test")),
    async stream(files, options = {}, { env, asked: onAsked, ...watch } = {}) {
      const asked = makeContext(folder, { ...ownEnv, ...env }, watch);
      onAsked?.(asked);
      return done(asked, () => stream(streamOptions(files, options), asked.context));
    },
    withLedger(look) {
      const path = join(folder, "state", "local", "ledger.db");
      using ledger = (shared && findShared(shared)) ?? openLedger({ path, boundTo: undefined, readOnly: true });
      return look(ledger);
    },
  };
}

const CONFIG = "tickets.config.yaml";

/** The same config, by which the ledger of `local` is in PostgreSQL. */
function withLedger(config: string, shared: SharedLedger): string {
  const own = `environments:\n  local:\n    ${shared.settings}\n`;
  const environments = /^environments:\n {2}local:\n/m;
  return environments.test(config) ? config.replace(environments, own) : `${own}${config}`;
}

/** As large as the ledger's own, and empty: to write that out takes longer than most tests. */
async function makeBallast(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  await writeFile(join(directory, "ballast"), "");
  await truncate(join(directory, "ballast"), BALLAST_BYTES);
}

function environmentOf(folder: string, url: string): NodeJS.ProcessEnv {
  return {
    HOME: join(folder, "home"),
    TICKETS_ENV: "local",
    TICKETS_STATE_DIR: join(folder, "state"),
    TICKETS_LOCAL_BASE_URL: url,
    TICKETS_LOCAL_API_KEY: KEY,
  };
}

export function streamOptions(files: readonly string[], options: Partial<StreamOptions>): StreamOptions {
  return {
    files,
    again: false,
    dryRun: false,
    force: false,
    json: true,
    yes: false,
    safeCsv: false,
    waitLock: 0,
    ...options,
    flags: { retries: 0, ...options.flags },
  };
}

/** What a person settles a run by who has looked. */
export function settleOptions(run: string, decision: "sent" | "not-sent"): Parameters<typeof settle>[0] {
  return {
    run,
    decision,
    chunk: undefined,
    first: undefined,
    reason: "looked",
    json: true,
    yes: true,
    waitLock: 0,
    flags: {},
  };
}

/** Runs a command as the process boundary does: a failure becomes its exit code. All counts that it tells must add up. */
async function done(asked: Asked, command: () => Promise<number>): Promise<Done> {
  let exitCode: number;
  try {
    exitCode = await command();
  } catch (cause) {
    if (!(cause instanceof Failure)) throw cause;
    asked.context.reporter.error(cause.message);
    if (cause.hint !== undefined) asked.context.reporter.error(cause.hint);
    exitCode = EXIT_CODES[cause.code];
  }
  const out = asked.out();
  expectCountsToAddUp({ args: ["stream", "--json"], exitCode, stdout: out, stderr: asked.said() });
  return { exitCode, said: asked.said(), summary: out === "" ? undefined : (JSON.parse(out) as Summary) }; // checked just now
}

/** The ids of what the sandbox has accepted, in order; refused items stand in brackets. */
export function processedBy({ engine }: Sandbox): string {
  return Array.from(engine.processed(), ({ status, ticketId, eventId }) =>
    status === "success" ? (ticketId ?? eventId) : `(${ticketId ?? eventId})`,
  ).join(" ");
}

/** Every action accepted at most once. */
export function expectNothingDoubled({ engine }: Sandbox): void {
  const accepted = Array.from(engine.processed()).filter(({ status }) => status === "success");
  const deeds = accepted.map(({ action, eventId, ticketId, data }) => [action, eventId, ticketId, data].join(" "));
  expect(deeds).toEqual([...new Set(deeds)]);
}

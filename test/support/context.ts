/**
 * The one door of tests to the inside: commands run inside the test, in a folder of their own, with a talk that is written
 * down and signals that a test can give. Where the program changes, this file follows.
 */

import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { expect, onTestFinished } from "vitest";
import { type Context, newTrace } from "../../src/commands/context.ts";
import { checkEnvironment, showEnvironment, trustConfig } from "../../src/commands/env.ts";
import { find } from "../../src/commands/find.ts";
import { init } from "../../src/commands/init.ts";
import { plan } from "../../src/commands/plan.ts";
import { prune } from "../../src/commands/prune.ts";
import { remoteStatus } from "../../src/commands/remote-status.ts";
import { writeStreamReport } from "../../src/commands/report.ts";
import { importResults, results } from "../../src/commands/results.ts";
import { resume } from "../../src/commands/resume.ts";
import { serveSandbox } from "../../src/commands/sandbox.ts";
import { settle } from "../../src/commands/settle.ts";
import { status } from "../../src/commands/status.ts";
import { stream } from "../../src/commands/stream.ts";
import { validate } from "../../src/commands/validate.ts";
import { EXIT_CODES, Failure } from "../../src/failure.ts";
import type { WorkUnderWay } from "../../src/run/context.ts";
import { parseFaultScript } from "../../src/sandbox/faults.ts";
import { type Sandbox, startSandbox } from "../../src/sandbox/server.ts";
import type { StopRequest } from "../../src/send/stop.ts";
import { type Chunk, chunksIn } from "./chunks.ts";
import { expectCountsToAddUp, type Summary } from "./counts.ts";
import { makeBallast, writeOld } from "./folder.ts";

export type { Stop } from "../../src/send/stop.ts";

/** A command whose options are left out as flags are on a command line. */
const command =
  <O extends object, D extends Partial<O>>(carryOut: (options: O, context: Context) => Promise<number>, defaults: D) =>
  (options: Omit<O, keyof D> & Partial<O>, context: Context): Promise<number> =>
    carryOut({ ...defaults, ...options } as object as O, context); // what one lacks, the other has

const CHECKING = { flags: {} };
const WAITING = { ...CHECKING, waitLock: 0 };

/** The commands, by what is typed. */
export const verbs = {
  stream: command(stream, WAITING),
  resume: command(resume, { ...WAITING, run: undefined }),
  validate: command(validate, CHECKING),
  plan: command(plan, CHECKING),
  init: command(init, {}),
  settle: command(settle, { ...WAITING, chunk: undefined, first: undefined, reason: "looked", yes: true }),
  status: command(status, { ...CHECKING, run: undefined }),
  remoteStatus: command(remoteStatus, { ...CHECKING, run: undefined }),
  results: command(results, { flags: {}, run: undefined }),
  importResults: command(importResults, { flags: {}, waitLock: 0 }),
  find: command(find, CHECKING),
  env: command(showEnvironment, { ...CHECKING, name: undefined }),
  checkEnvironment: command(checkEnvironment, { ...CHECKING, name: undefined }),
  trust: command(trustConfig, { flags: {} }),
  prune: command(prune, CHECKING),
  sandbox: command(serveSandbox, CHECKING),
};
type Verb = keyof typeof verbs;
export type Options<V extends Verb> = Parameters<(typeof verbs)[V]>[0];

const KEY = "key-of-the-test";

/** What a command does while it runs, so that a test can act at that moment. */
interface Watch {
  readonly onProgress?: (state: WorkUnderWay) => void;
  readonly onDetail?: (text: string, asked: Asked) => void;
}

export interface Asked {
  readonly context: Context;
  /** Everything it said, in order, on any channel but standard output. */
  readonly said: () => string;
  readonly out: () => string;
  /** How many it sent. */
  readonly requests: () => number;
  /** As the first signal does. */
  readonly stop: (by: StopRequest) => void;
  /** As the second signal does. */
  readonly abort: () => void;
}

export function makeContext(cwd: string, env: NodeJS.ProcessEnv, watch: Watch = {}): Asked {
  const lines: string[] = [];
  const out: string[] = [];
  let requests = 0;
  const [stopping, aborting] = [new AbortController(), new AbortController()];
  const say = (text: string): void => {
    lines.push(text);
  };
  const find = (text: string): void => {
    out.push(`${text}\n`);
  };
  const stdout = new PassThrough();
  stdout.on("data", (text: Buffer) => out.push(text.toString()));
  const asked: Asked = {
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
        found: { info: find, warn: find, warnAgain: find, error: find },
        detail: (text) => {
          say(text);
          watch.onDetail?.(text, asked);
        },
        log: (_, { event }) => {
          if (event === "chunk.sent") requests += 1;
        },
        progress: (state) => {
          if (state !== undefined) watch.onProgress?.(state);
        },
        ask: undefined,
        show: (text) => {
          out.push(text);
        },
        document: (result) => {
          out.push(`${JSON.stringify(result)}\n`);
        },
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
    requests: () => requests,
    stop: (by) => stopping.abort(by),
    abort: () => aborting.abort(new Error("interrupted by a second SIGINT")),
  };
  return asked;
}

export interface Done {
  readonly exitCode: number;
  readonly said: string;
  /** Undefined when the command ended in a failure before it had one. */
  readonly summary: Summary | undefined;
  /** How many were sent. */
  readonly requests: number;
}

interface Ran {
  readonly exitCode: number;
  /** On standard error and on standard output. */
  readonly said: string;
  readonly out: string;
}

/** One environment called `local`, whose service is a sandbox of the test. */
export interface Field {
  readonly folder: string;
  /** What a process of its own needs to know of the environment. */
  readonly env: NodeJS.ProcessEnv;
  readonly sandbox: Sandbox;
  /** Rows as objects are written as NDJSON. */
  readonly write: (name: string, content: string | Buffer | readonly object[]) => Promise<void>;
  readonly read: (name: string) => Promise<string>;
  /** Puts a text in the place of the first of these, which must stand there. */
  readonly edit: (name: string, old: string, now: string) => Promise<void>;
  readonly setFaults: (...rules: readonly object[]) => void;
  readonly stream: (
    files: readonly string[],
    options?: Partial<Options<"stream">>,
    more?: Watch & { readonly env?: NodeJS.ProcessEnv; readonly asked?: (asked: Asked) => void },
  ) => Promise<Done>;
  /** Any other command, by its verb. */
  readonly ask: <V extends Verb>(verb: V, options: Options<V>, env?: NodeJS.ProcessEnv) => Promise<Ran>;
  /** As `status --json` has them, the newest first. */
  readonly runs: (env?: NodeJS.ProcessEnv) => Promise<readonly (Summary & { readonly run: string })[]>;
  /** Those of the newest run. */
  readonly chunks: (env?: NodeJS.ProcessEnv) => Promise<readonly Chunk[]>;
  /** Says what became of a run: without a name, of the newest that has a doubt, or of the newest. */
  readonly settle: (
    decision: Options<"settle">["decision"],
    which?: Partial<Pick<Options<"settle">, "run" | "chunk" | "first">>,
    env?: NodeJS.ProcessEnv,
  ) => Promise<Ran>;
}

/** `settings` are those that only a config can make, as YAML of the environment. */
export async function openField(settings = ""): Promise<Field> {
  const folder = await mkdtemp(join(tmpdir(), "tickets-field-"));
  const sandbox = await startSandbox({ engine: { path: ":memory:" }, apiKey: KEY });
  onTestFinished(async () => {
    await sandbox[Symbol.asyncDispose]();
    await rm(folder, { recursive: true });
  });
  await mkdir(join(folder, "home"));
  makeBallast(join(folder, "state", "local"));
  const write: Field["write"] = async (name, content) => {
    const isText = typeof content === "string" || Buffer.isBuffer(content);
    const text = isText ? content : content.map((row) => `${JSON.stringify(row)}\n`).join("");
    writeOld(join(folder, name), text);
  };
  const read: Field["read"] = (name) => readFile(join(folder, name), "utf8");
  if (settings !== "") await write("tickets.config.yaml", `environments:\n  local:\n    ${settings}\n`);
  const ownEnv = environmentOf(folder, sandbox.url);
  const ask: Field["ask"] = async (verb, options, env) => {
    const asked = makeContext(folder, { ...ownEnv, ...env });
    const carryOut = verbs[verb] as (given: typeof options, context: Context) => Promise<number>; // of that verb
    const exitCode = await exitCodeOf(asked, () => carryOut(options, asked.context));
    return { exitCode, said: asked.said(), out: asked.out() };
  };
  const runs: Field["runs"] = async (more) => {
    const { said, out } = await ask("status", { json: true }, more);
    expect(out, said).not.toBe("");
    return JSON.parse(out).runs;
  };
  return {
    folder,
    ask,
    runs,
    async chunks(more) {
      const [newest] = await runs(more);
      return newest === undefined ? [] : chunksIn((await ask("status", { run: newest.run }, more)).out);
    },
    async settle(decision, which, more) {
      const known = await runs(more);
      const doubted = known.find(({ actions }) => actions.inDoubt > 0);
      const run = (doubted ?? known[0])?.run ?? "";
      return ask("settle", { run, decision, ...which }, more);
    },
    env: ownEnv,
    sandbox,
    write,
    read,
    async edit(name, old, now) {
      const text = await read(name);
      expect(text, name).toContain(old);
      await write(
        name,
        text.replace(old, () => now),
      );
    },
    setFaults: (...rules) => sandbox.setFaults(parseFaultScript({ seed: 1, rules }, "test")),
    async stream(files, options = {}, { env, asked: onAsked, ...watch } = {}) {
      const asked = makeContext(folder, { ...ownEnv, ...env }, watch);
      onAsked?.(asked);
      const { flags, ...more } = options;
      const command = { files, json: true, ...more, flags: { retries: 0, ...flags } };
      return done(asked, () => verbs.stream(command, asked.context));
    },
  };
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

/** Runs a command as the process boundary does: a failure becomes its exit code. */
export async function exitCodeOf({ context }: Asked, command: () => Promise<number>): Promise<number> {
  const startedAt = new Date().toISOString();
  const ended = async (exitCode: number, failure: Failure | undefined): Promise<number> => {
    const path = context.trace.report;
    if (path !== undefined) await writeStreamReport(path, { startedAt, exitCode, failure }, context);
    return exitCode;
  };
  try {
    return await ended(await command(), undefined);
  } catch (cause) {
    if (!(cause instanceof Failure)) throw cause;
    context.reporter.error(cause.message);
    if (cause.hint !== undefined) context.reporter.error(cause.hint);
    return await ended(EXIT_CODES[cause.code], cause);
  }
}

/** All counts that it tells must add up. */
async function done(asked: Asked, command: () => Promise<number>): Promise<Done> {
  const exitCode = await exitCodeOf(asked, command);
  const out = asked.out();
  expectCountsToAddUp({ args: ["stream", "--json"], exitCode, stdout: out, stderr: asked.said() });
  const summary = out === "" ? undefined : (JSON.parse(out) as Summary); // checked just now
  return { exitCode, said: asked.said(), summary, requests: asked.requests() };
}

/** The ids of what the sandbox has accepted, in order; refused items stand in brackets. */
export function processedBy({ engine }: Sandbox): string {
  return Array.from(engine.processed(), ({ status, ticketId, eventId }) =>
    status === "success" ? (ticketId ?? eventId) : `(${ticketId ?? eventId})`,
  ).join(" ");
}

/** What the sandbox has accepted, in order. */
export const acceptedBy = ({ engine }: Sandbox) =>
  Array.from(engine.processed())
    .filter(({ status }) => status === "success")
    .map(({ data, ...action }) => ({ ...action, data: JSON.parse(data) as Readonly<Record<string, unknown>> })); // as the engine wrote it

/** A field in which these tickets are sold to `u`, by their events. */
export async function openSold(
  tickets: Readonly<Record<string, string>> = { T1: "E", T2: "E", T3: "F" },
): Promise<Field> {
  const field = await openField();
  const events = [...new Set(Object.values(tickets))];
  await field.write("before.ndjson", [
    ...events.map((eventId) => ({ action: "newEvent", data: { eventId, currency: "EUR" } })),
    ...Object.entries(tickets).map(([ticketId, eventId]) => ({
      action: "soldTicket",
      data: { eventId, ticketId, userId: "u", price: "1", orderTime: 100 },
    })),
  ]);
  const { exitCode, said } = await field.stream(["before.ndjson"]);
  expect(exitCode, said).toBe(0);
  return field;
}

/** Every action accepted at most once. */
export function expectNothingDoubled({ engine }: Sandbox): void {
  const accepted = Array.from(engine.processed()).filter(({ status }) => status === "success");
  const taken = accepted.map(({ action, eventId, ticketId, data }) => [action, eventId, ticketId, data].join(" "));
  expect(taken).toEqual([...new Set(taken)]);
}

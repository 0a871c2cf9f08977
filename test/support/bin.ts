/** The built bin in a process of its own, in a folder of its own, with nothing of this machine's settings. */

import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFailed, onTestFinished } from "vitest";
import { expectCountsToAddUp, type Summary } from "./counts.ts";
import { writeOld } from "./folder.ts";
import { runWarm } from "./warm-bin.ts";

export const BIN = fileURLToPath(new URL("../../bin/tickets.js", import.meta.url));
export const FIXTURES = fileURLToPath(new URL("../../fixtures/", import.meta.url));

export const fixture = (name: string): string => join(FIXTURES, name);

/** Ends a hung process; no test waits this long. */
const LONGEST_MS = 900_000;

export interface Ended {
  readonly args: readonly string[];
  /** Null when a signal ended the process. */
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string | Buffer;
  /** For node itself, before the bin. */
  readonly nodeArgs?: readonly string[];
  /** What a shell does around the command, which is `"$@"` to it: `"$@" 2>&-`. */
  readonly shell?: string | undefined;
  /** Gets the process as soon as it runs, to send it signals. */
  readonly onSpawn?: (child: ChildProcess) => void;
  /** Where the start of the process is what is tried. Others run in one that has run commands before, unless any of the above is asked of it. */
  readonly isStarted?: boolean;
}

/** A folder of one test, removed with it. Home, state and temporary files of what runs there lie inside it. */
export interface Workplace {
  readonly folder: string;
  path(name: string): string;
  write(name: string, content: string | Buffer): string;
  read(name: string): string;
  /** All files below the folder, in order. */
  files(): readonly string[];
  /** Runs `tickets` in the folder; every count it gives, in words or JSON, must add up. */
  tickets(args: readonly string[], options?: RunOptions): Promise<Ended>;
  /** Runs `tickets … --json` and gives the one document on standard output. */
  summary(args: readonly string[], options?: RunOptions): Promise<Ended & { readonly summary: Summary }>;
}

export function openWorkplace(): Workplace {
  const folder = mkdtempSync(join(tmpdir(), "tickets-e2e-"));
  const path = (name: string): string => join(folder, name);
  for (const name of ["home", "tmp"]) mkdirSync(path(name));
  const reported: string[] = [];
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  onTestFailed(() => {
    console.error(reported.join("\n"));
  });

  const tickets: Workplace["tickets"] = async (args, options = {}) => {
    const ended = await runBin(args, folder, options);
    const shown = (text: string): string => (text.length > 4000 ? `${text.slice(0, 4000)}…\n` : text);
    reported.push(
      `$ tickets ${args.join(" ")}\n${shown(ended.stderr)}${shown(ended.stdout)}exit ${ended.exitCode ?? "by signal"}`,
    );
    expectCountsToAddUp(ended);
    return ended;
  };
  return {
    folder,
    path,
    write(name, content) {
      writeOld(path(name), content);
      return path(name);
    },
    read: (name) => readFileSync(path(name), "utf8"),
    files: () =>
      readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
        .toSorted(),
    tickets,
    async summary(args, options) {
      const ended = await tickets([...args, "--json"], options);
      return { ...ended, summary: onlyDocument(ended.stdout) };
    },
  };
}

/** The one JSON document, on one line, that `--json` promises; anything else on standard output throws. */
function onlyDocument(stdout: string): Summary {
  const [text = "", ...rest] = stdout.split("\n");
  if (rest.join("") !== "") throw new Error(`more than one line on standard output:\n${stdout.slice(0, 2000)}`);
  return JSON.parse(text) as Summary; // its counts were checked when it came
}

/** Home, state and temporary files inside the folder, and nothing of this machine's settings but the path. */
export const settingsIn = (folder: string): Readonly<Record<string, string | undefined>> => ({
  PATH: process.env.PATH,
  HOME: join(folder, "home"),
  TMPDIR: join(folder, "tmp"),
  XDG_STATE_HOME: join(folder, "home", "state"),
  XDG_CONFIG_HOME: join(folder, "home", "config"),
  // One for all tests, so that each starts as quickly as for a user.
  NODE_COMPILE_CACHE: join(tmpdir(), "node-compile-cache"),
});

/** Words such as `TICKETS_CHUNK_SIZE=5` set a variable for their command, as in a shell, wherever they stand. */
const SETTING = /^(TICKETS_[A-Z_]+)=(.*)$/s;

/** The words of a command without the variables that they set, and those. */
function withSettings(typed: readonly string[]): {
  readonly args: readonly string[];
  readonly settings: Readonly<Record<string, string>>;
} {
  const settings = typed.flatMap((word) => {
    const [, name, value] = SETTING.exec(word) ?? [];
    return name === undefined || value === undefined ? [] : [[name, value] as const];
  });
  return { args: typed.filter((word) => !SETTING.test(word)), settings: Object.fromEntries(settings) };
}

async function runBin(typed: readonly string[], folder: string, options: RunOptions): Promise<Ended> {
  const { args, settings } = withSettings(typed);
  const env = { ...options.env, ...settings };
  const { stdin, nodeArgs = [], shell, onSpawn, isStarted = false } = options;
  // One that dies would take a process along that others were to use.
  const asked = [stdin, options.nodeArgs, shell, onSpawn, env.TICKETS_TEST_CRASH_AT];
  if (!isStarted && asked.every((each) => each === undefined)) {
    const command = { args, cwd: folder, env: definedOf({ ...settingsIn(folder), ...env }) };
    return { args, ...(await runWarm(command, LONGEST_MS)) };
  }
  const command = [process.execPath, ...nodeArgs, BIN, ...args];
  const [program = "", ...words] = shell === undefined ? command : ["/bin/sh", "-c", shell, "sh", ...command];
  const child = spawn(program, words, {
    cwd: folder,
    env: { ...settingsIn(folder), ...env },
    stdio: [stdin === undefined ? "ignore" : "pipe", "pipe", "pipe"],
    timeout: LONGEST_MS,
    killSignal: "SIGKILL",
  });
  onSpawn?.(child);
  const [out, err] = [textOf(child.stdout), textOf(child.stderr)];
  if (stdin !== undefined) {
    child.stdin?.on("error", () => {}); // the program need not read it to the end
    child.stdin?.end(stdin);
  }
  const { promise, resolve, reject } = Promise.withResolvers<number | null>();
  child.on("error", reject);
  child.on("close", resolve);
  const exitCode = await promise;
  return { args, exitCode, stdout: out(), stderr: err() };
}

const definedOf = (env: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));

function textOf(stream: NodeJS.ReadableStream | null): () => string {
  const chunks: Buffer[] = [];
  stream?.on("data", (chunk: Buffer) => chunks.push(chunk));
  return () => Buffer.concat(chunks).toString();
}

/** One command, from its flags to its exit code: the terminal opened, the command called, what it leaves behind noted. */

import { setFlagsFromString } from "node:v8";
import type { ActionName } from "../actions/actions.ts";
import { cleanText, quoted } from "../actions/text.ts";
import type { Context } from "../commands/context.ts";
import { keepTrace, newTrace, type Trace } from "../commands/trace.ts";
import { parseAge, parseDuration } from "../config/duration.ts";
import { EXIT_CODES, exitCodeOfError, Failure, type FailureCode, firstThrown, isStop } from "../failure.ts";
import type { Allowance, Order } from "../plan/plan.ts";
import type { LogFile } from "./log-file.ts";
import { LOG_FORMATS, type LogFormat } from "./log-line.ts";
import { openTerminal, type Terminal } from "./terminal.ts";
import { version } from "./version.ts";

/** The process that a command runs in, as far as it can be told to stop. */
export interface Process {
  readonly stop: AbortSignal;
  readonly abort: AbortSignal;
  readonly onFirstSignal: (listener: (signal: NodeJS.Signals) => void) => void;
  /** What there is to say of an error; undefined where only the reader of the output is gone. Resolves once all output is written. */
  readonly explain: (error: unknown) => Promise<Explained | undefined>;
}

/** Why a command failed. */
export interface Explained {
  readonly code: FailureCode | "stopped";
  readonly message: string;
  readonly hint: string | undefined;
  readonly exitCode: number;
}

/** Flags without a value. */
const SWITCHES = [
  ...([
    "quiet",
    "verbose",
    "json",
    "allowEmpty",
    "resend",
    "adopt",
    "publish",
    "dryRun",
    "force",
    "moveAside",
    "safeCsv",
    "yes",
    "untilIdle",
  ] as const),
  ...(["sent", "notSent", "abandon", "pause", "follow", "trust", "reset", "remote", "check"] as const),
] as const;

type TextFlag =
  | ("env" | "config" | "stateDir" | "source" | "inputFormat" | "encoding" | "output" | "reason")
  | ("chunkSize" | "lanes" | "rate" | "timeout" | "retries" | "maxDuration" | "waitLock" | "maxAge" | "olderThan")
  | ("faults" | "keyEnv" | "logFile" | "metricsFile" | "report");

type CountFlag = "limit" | "maxProblems" | "maxInputBytes" | "chunk" | "first" | "port";

/** What commander makes of the flags of all commands, by their names. */
export interface Flags
  extends Partial<Record<(typeof SWITCHES)[number], true>>,
    Partial<Record<TextFlag, string>>,
    Partial<Record<CountFlag, number>> {
  readonly color: boolean;
  readonly logFormat?: LogFormat;
  /** This and the next ones belong to commands that read input. */
  readonly order: Order;
  readonly action?: ActionName;
  readonly maxInvalid?: Allowance;
  readonly preview?: number | true;
  readonly import?: readonly string[];
}

/** What a command is given: its flags, with a switch that is not given false, and durations in milliseconds. */
export type Options = ReturnType<typeof toOptions>;

/**
 * Calls a command and resolves with its exit code; whatever it threw has been told.
 *
 * @param args what was typed, for the trace.
 */
export async function runCommand(
  { verb, flags, args }: { readonly verb: string; readonly flags: Flags; readonly args: readonly string[] },
  { stop, abort, onFirstSignal, explain }: Process,
  command: (options: Options, context: Context) => Promise<number>,
): Promise<number> {
  // V8 would let what lives briefly take 64 MiB before it tidies up; what it has now is enough. A thread begins with more.
  setFlagsFromString("--semi-space-growth-factor=1");
  setFlagsFromString("--min-semi-space-size=16");
  const [startedAt, started] = [new Date(), performance.now()];
  const { stdin, stdout, stderr, env } = process;
  const { quiet = false, verbose = false, json = false, color } = flags;
  const trace = newTrace();
  const { logFormat, logFile, problem } = await openLog(flags, env);
  const cwd = process.cwd();
  const terminal = await openTerminal({
    ...{ quiet, verbose, color, logFormat, logFile, stdin, stdout, stderr, env },
    place: () => ({ environment: trace.environment?.name, run: trace.sending }),
    isOutputText: LISTING.has(verb) && !json,
    isOutputJson: json,
  });
  if (logFormat === "json") hearWarnings(terminal);
  terminal.log(`${verb} begins`, { event: "command.started", command: verb, version: version() });
  onFirstSignal((signal) => {
    if (SENDING.has(verb))
      terminal.warn(
        `${signal}: stopping; a request in flight is finished first. A second Ctrl-C or SIGTERM gives it up and leaves it in doubt.`,
      );
  });
  let failure: unknown;
  let explained: Explained | undefined;
  let exitCode: number = EXIT_CODES.internal;
  try {
    if (problem !== undefined) throw problem;
    if (flags.metricsFile !== undefined)
      (await import("../commands/metrics-file.ts")).checkMetricsFile(flags.metricsFile, cwd);
    // Logs are read by others than the person who asked for more.
    const showsPersons = verbose && logFormat === "pretty" && logFile === undefined;
    const surroundings = { cwd, env, stdin, stdout, stop, abort, isStdoutTaken: json, verbose: showsPersons };
    exitCode = await command(toOptions(flags), { ...surroundings, reporter: terminal, trace, version });
  } catch (thrown) {
    failure = firstThrown(thrown);
    explained = await explain(failure);
    exitCode = explained?.exitCode ?? EXIT_CODES.ok;
    terminal.progress(undefined);
    if (explained !== undefined) tellFailure(terminal, explained);
    // A program that reads the document should find one, whatever happened.
    if (json && failure instanceof Failure && explained !== undefined)
      terminal.out(`${JSON.stringify(failureDocument(explained))}\n`);
  }
  terminal.end(exitCode);
  const durationMs = Math.round(performance.now() - started);
  if (leavesTrace(verb, flags)) {
    const { warnings } = terminal;
    const noted = failure === undefined ? exitCode : exitCodeOfError(failure, stop);
    const ended = { startedAt, durationMs, exitCode: noted, error: whyFailed(failure, stop), warnings };
    // What it says has been said by now.
    await keepTrace(trace, { command: verb, args, env, ...ended, version: version() });
  }
  const isWatched = flags.metricsFile !== undefined || trace.environment?.onEnd !== undefined;
  if (isWatched && SENDING.has(verb) && flags.dryRun !== true) {
    const document = trace.summary ?? (explained && failureDocument(explained));
    const ended = { endedAt: new Date().toISOString(), durationMs, exitCode, document };
    const { afterRun } = await import("../commands/after-run.ts");
    await afterRun(trace, ended, { reporter: terminal, cwd, env, abort }, flags.metricsFile);
  }
  tellEnd(terminal, trace, { command: verb, exitCode, durationMs });
  terminal.end(exitCode);
  logFile?.[Symbol.dispose]();
  return exitCode;
}

/** How stderr is written, and the log file. What is wrong with them is told once there is a terminal. */
async function openLog(
  { logFormat, logFile: name }: Flags,
  env: NodeJS.ProcessEnv,
): Promise<{ readonly logFormat: LogFormat; readonly logFile?: LogFile; readonly problem?: Failure }> {
  const asked = logFormat ?? (env.TICKETS_LOG_FORMAT || "pretty");
  const format = LOG_FORMATS.find((each) => each === asked);
  if (format === undefined)
    return {
      logFormat: "pretty",
      problem: new Failure("usage", `TICKETS_LOG_FORMAT is ${quoted(asked)}; it must be ${LOG_FORMATS.join(" or ")}.`, {
        hint: "Nothing was sent.",
      }),
    };
  if (name === undefined) return { logFormat: format };
  const { openLogFile } = await import("./log-file.ts");
  try {
    return { logFormat: format, logFile: openLogFile(name, process.cwd()) };
  } catch (problem) {
    if (problem instanceof Failure) return { logFormat: format, problem };
    throw problem;
  }
}

/** Warnings of Node itself, which it would write among the lines. */
function hearWarnings(terminal: Terminal): void {
  process.removeAllListeners("warning");
  process.on("warning", ({ name, message }) => terminal.warn(`${name}: ${cleanText(message, 500)}`));
}

function tellFailure(terminal: Terminal, { code, message, hint, exitCode }: Explained): void {
  const about = { event: "failure", code, hint, exitCode } as const;
  terminal.error(hint === undefined ? message : `${message}\n${hint}`, about);
}

/** The document of a command that has no result. */
const failureDocument = ({ code, message, hint, exitCode }: Explained): object => ({
  error: { code, message, hint: hint ?? null },
  exitCode,
});

function tellEnd(
  terminal: Terminal,
  trace: Trace,
  ended: { readonly command: string; readonly exitCode: number; readonly durationMs: number },
): void {
  const { summary, run } = trace;
  trace.sending = run;
  terminal.log(`${ended.command} ends with exit code ${ended.exitCode}`, {
    event: "command.ended",
    counts: summary?.actions,
    next: summary?.next ?? undefined,
    ...ended,
  });
}

/** Commands that let the request in flight end when a signal comes. */
const SENDING: ReadonlySet<string> = new Set(["stream", "resume", "work"]);

/** Commands of which standard output is for people. */
const LISTING: ReadonlySet<string> = new Set(["status", "env", "find"]);

function toOptions(flags: Flags) {
  const { maxDuration, waitLock, maxAge, olderThan } = flags;
  return {
    ...(Object.fromEntries(SWITCHES.map((name) => [name, false])) as Record<(typeof SWITCHES)[number], boolean>),
    ...flags,
    /** Those that say what the environment is used with. */
    flags,
    maxDuration: durationIn("--max-duration", maxDuration, parseDuration),
    waitLock: durationIn("--wait-lock", waitLock, parseDuration) ?? 0,
    maxAge: durationIn("--max-age", maxAge, parseAge),
    olderThan: durationIn("--older-than", olderThan, parseAge) ?? 0,
  };
}

/** @throws Failure `usage` that names the flag. */
function durationIn(flag: string, text: string | undefined, read: (text: string) => number): number | undefined {
  try {
    return text === undefined ? undefined : read(text);
  } catch (cause) {
    if (!(cause instanceof Failure)) throw cause;
    throw new Failure(cause.code, `${flag} needs a duration: ${cause.message}.`, { cause });
  }
}

function whyFailed(failure: unknown, stop: AbortSignal): string | undefined {
  if (isStop(failure, stop)) return `stopped by ${stop.reason}`;
  return failure instanceof Error ? failure.message : undefined;
}

/** Commands that send, check or change something; those that only look leave nothing, so that a monitor may call them often. */
function leavesTrace(verb: string, flags: Flags): boolean {
  if (verb === "results") return flags.import !== undefined || flags.follow === true;
  return ["stream", "validate", "plan", "resume", "prune", "settle"].includes(verb);
}

/** One command, from its flags to its exit code: the terminal opened, the command called, what it leaves behind noted. */

import { setFlagsFromString } from "node:v8";
import type { Command } from "commander";
import { afterRun, type Ended, noteEnd } from "../commands/after.ts";
import { type AllOptions, type Context, newTrace } from "../commands/context.ts";
import { failureText } from "../commands/reporter.ts";
import { EXIT_CODES, Failure, type FailureCode, firstThrown, isStop } from "../failure.ts";
import { COMMANDS } from "./commands.ts";
import type { LogFile } from "./log-file.ts";
import { openTerminal, type Terminal } from "./terminal.ts";
import { version } from "./version.ts";

/** The process that a command runs in. */
export interface Process {
  readonly stop: AbortSignal;
  readonly abort: AbortSignal;
  readonly onFirstSignal: (listener: (signal: NodeJS.Signals) => void) => void;
  /** Puts an error in words; undefined where only the reader of the output is gone. Resolves once all output is written. */
  readonly explain: (error: unknown) => Promise<Explained | undefined>;
}

/** Why a command failed. */
export interface Explained {
  readonly code: FailureCode | "stopped";
  readonly message: string;
  readonly hint: string | undefined;
  readonly exitCode: number;
}

/** Calls a command and resolves with its exit code; whatever it threw has been shown. */
export async function runCommand(typed: Command, process_: Process): Promise<number> {
  const command = typed.name();
  const given = givenTo(typed);
  const spec = COMMANDS[command];
  if (spec === undefined) throw new Error(`no command ${command}`);
  // By itself V8 lets the space for young objects grow to 64 MiB; what it has by now (main.ts) is enough.
  setFlagsFromString("--semi-space-growth-factor=1");
  const [startedAt, started] = [new Date().toISOString(), performance.now()];
  const { stop, abort, onFirstSignal } = process_;
  const { stdin, stdout, stderr, env } = process;
  const { quiet = false, verbose = false, json = false, metrics, dryRun } = given;
  const trace = newTrace();
  const { logFile, problem } = await openLog(given.log);
  const cwd = process.cwd();
  const terminal = await openTerminal({
    ...{ quiet, verbose, logFile, stdin, stdout, stderr, env },
    place: () => ({ environment: trace.environment?.name, run: trace.run }),
  });
  terminal.log(`${command} begins`, { event: "command.started", command, version: version() });
  onFirstSignal((signal) => {
    if (spec.sends)
      terminal.warn(
        `${signal}: stopping after the request in flight. A second Ctrl-C or SIGTERM gives that up and leaves its chunk in doubt.`,
      );
  });
  const context: Context = {
    ...{ cwd, env, stdin, stdout, stop, abort, isStdoutTaken: json, reporter: terminal, trace, version },
    // Logs are read by others than the person who asked for more.
    verbose: verbose && logFile === undefined,
  };
  const call = (): Promise<number> => {
    if (problem !== undefined) throw problem;
    return spec.run(given, context);
  };
  const ended = await endOf(call, { terminal, json, isSending: spec.sends === true, ...process_ });
  const { exitCode, failure } = ended;
  terminal.end(exitCode);
  const durationMs = Math.round(performance.now() - started);
  await noteEnd({ command, startedAt, durationMs, ...ended }, context);
  const { environment, summary } = trace;
  const isWatched = metrics !== undefined || environment?.onEnd !== undefined;
  if (isWatched && spec.sends && !dryRun) {
    const document = summary ?? (failure && failureDocument(failure));
    await afterRun({ environment, summary, exitCode, document }, context, metrics);
  }
  terminal.log(`${command} ends with exit code ${exitCode}`, {
    ...{ event: "command.ended", command, exitCode, durationMs },
    ...{ counts: summary?.actions, next: summary?.next ?? undefined },
  });
  terminal.end(exitCode);
  logFile?.[Symbol.dispose]();
  return exitCode;
}

interface EndOptions extends Pick<Process, "stop" | "explain"> {
  readonly terminal: Terminal;
  readonly json: boolean;
  readonly isSending: boolean;
}

/** Calls the command, and shows what it throws. */
async function endOf(
  call: () => Promise<number>,
  { terminal, json, isSending, stop, explain }: EndOptions,
): Promise<Pick<Ended, "exitCode" | "noted" | "error"> & { readonly failure: Explained | undefined }> {
  try {
    const exitCode = await call();
    return { exitCode, noted: exitCode, error: undefined, failure: undefined };
  } catch (thrown) {
    const failure = firstThrown(thrown);
    // That nothing was sent is news only of a command that sends.
    const isNoise = !isSending && failure instanceof Failure;
    const explained = await explain(isNoise ? failure.with({ nothingSent: false }) : failure);
    const error = whyFailed(failure, stop);
    terminal.progress(undefined);
    if (explained === undefined)
      return { exitCode: EXIT_CODES.ok, noted: EXIT_CODES.internal, error, failure: undefined };
    const { code, exitCode } = explained;
    terminal.error(failureText(explained), { event: "failure", code, exitCode });
    // Who parses the document finds one, whatever happened.
    if (json && failure instanceof Failure) terminal.document(failureDocument(explained));
    return { exitCode, noted: exitCode, error, failure: explained };
  }
}

/** The document of a command that has no result. */
const failureDocument = ({ code, message, hint, exitCode }: Explained): object => ({
  error: { code, message, hint: hint ?? null },
  exitCode,
});

/** What was typed: the flags and the argument by their names. */
function givenTo(typed: Command): AllOptions {
  const { lanes, ...flags } = typed.opts();
  const [argument] = typed.registeredArguments;
  const word = argument && { [argument.name()]: typed.processedArgs[0] };
  return { ...flags, ...word, flags: { lanes } } as AllOptions; // commander gives what the table has declared
}

/** Opens the log file. Its failure is reported once there is a terminal. */
async function openLog(name: string | undefined): Promise<{ readonly logFile?: LogFile; readonly problem?: Failure }> {
  if (name === undefined) return {};
  const { openLogFile } = await import("./log-file.ts");
  try {
    return { logFile: openLogFile(name, process.cwd()) };
  } catch (problem) {
    if (problem instanceof Failure) return { problem };
    throw problem;
  }
}

function whyFailed(failure: unknown, stop: AbortSignal): string | undefined {
  if (isStop(failure, stop)) return `stopped by ${stop.reason}`;
  return failure instanceof Error ? failure.message : undefined;
}

/** One command, from its flags to its exit code: the terminal opened, the command called, what it leaves behind noted. */

import type { ActionName } from "../actions/actions.ts";
import type { Context } from "../commands/context.ts";
import { keepTrace, newTrace } from "../commands/trace.ts";
import { parseAge, parseDuration } from "../config/duration.ts";
import { EXIT_CODES, exitCodeOfError, Failure, firstThrown, isStop } from "../failure.ts";
import type { Order } from "../plan/files/manifest.ts";
import type { Allowance } from "../plan/make-plan.ts";
import { openTerminal } from "./terminal.ts";
import { version } from "./version.ts";

/** The process that a command runs in, as far as it can be told to stop. */
export interface Process {
  readonly stop: AbortSignal;
  readonly abort: AbortSignal;
  readonly onFirstSignal: (listener: (signal: NodeJS.Signals) => void) => void;
  /**
   * Has a signal end the process at once, for work that can't look whether one came, and leaves nothing half done.
   *
   * @returns what has them heard again.
   */
  readonly letSignalsEnd: () => () => void;
}

/** Flags without a value. */
const SWITCHES = [
  ...([
    "quiet",
    "verbose",
    "json",
    "allowEmpty",
    "again",
    "dryRun",
    "reportVanished",
    "force",
    "safeCsv",
    "yes",
  ] as const),
  ...(["sent", "notSent", "abandon", "trust", "rebind", "forgetLost", "reset"] as const),
] as const;

type TextFlag =
  | ("env" | "config" | "stateDir" | "source" | "inputFormat" | "encoding" | "output" | "import" | "reason")
  | ("chunkSize" | "lanes" | "rate" | "timeout" | "retries" | "maxDuration" | "waitLock" | "maxAge" | "olderThan")
  | ("faults" | "keyEnv");

type CountFlag = "limit" | "maxProblems" | "maxInputBytes" | "chunk" | "first" | "port";

/** What commander makes of the flags of all commands, by their names. */
export interface Flags
  extends Partial<Record<(typeof SWITCHES)[number], true>>,
    Partial<Record<TextFlag, string>>,
    Partial<Record<CountFlag, number>> {
  readonly color: boolean;
  readonly logFormat: "pretty" | "json";
  /** This and the next ones belong to commands that read input. */
  readonly order: Order;
  readonly action?: ActionName;
  readonly maxInvalid?: Allowance;
  readonly preview?: number | true;
}

/** What a command is given: its flags, with a switch that is not given false, and durations in milliseconds. */
export type Options = ReturnType<typeof toOptions>;

/**
 * Calls a command and resolves with its exit code. A `Failure` is reported; anything else is thrown on once the terminal is
 * at rest.
 *
 * @param args what was typed, for the trace.
 */
export async function runCommand(
  { verb, flags, args }: { readonly verb: string; readonly flags: Flags; readonly args: readonly string[] },
  { stop, abort, onFirstSignal, letSignalsEnd }: Process,
  command: (options: Options, context: Context) => Promise<number>,
): Promise<number> {
  const [startedAt, started] = [new Date(), performance.now()];
  const { stdin, stdout, stderr, env } = process;
  const { quiet = false, verbose = false, json = false, color, logFormat } = flags;
  const trace = newTrace();
  const terminal = await openTerminal({
    ...{ quiet, verbose, color, logFormat, stdin, stdout, stderr, env },
    isOutputText: LISTING.has(verb) && !json,
    isOutputJson: json,
  });
  onFirstSignal((signal) => {
    if (SENDING.has(verb))
      terminal.warn(
        `${signal}: stopping after the request in flight; a second signal gives it up and leaves it in doubt.`,
      );
  });
  const hearSignals = ENDED_BY_SIGNALS.has(verb) ? letSignalsEnd() : () => undefined;
  let failure: unknown;
  let exitCode: number = EXIT_CODES.internal;
  try {
    const surroundings = { cwd: process.cwd(), env, stdin, stdout, isStdoutTaken: json, verbose };
    const signals = { stop, abort, hearSignals };
    exitCode = await command(toOptions(flags), { ...surroundings, ...signals, reporter: terminal, trace });
  } catch (thrown) {
    const error = firstThrown(thrown);
    failure = error;
    exitCode = exitCodeOfError(error, stop);
    if (!(error instanceof Failure)) throw error;
    const { code, message, hint } = error;
    terminal.progress(undefined);
    terminal.error(hint === undefined ? message : `${message}\n${hint}`);
    // A program that reads the document should find one, whatever happened.
    if (json) terminal.out(`${JSON.stringify({ error: { code, message, hint: hint ?? null }, exitCode })}\n`);
  } finally {
    terminal.end(exitCode);
    const { warnings } = terminal;
    const ended = { startedAt, durationMs: performance.now() - started, exitCode, error: whyFailed(failure, stop) };
    // Last of all: what it says has been said by then.
    if (leavesTrace(verb, flags))
      keepTrace(trace, { command: verb, args, env, ...ended, warnings, version: version() });
  }
  return exitCode;
}

/** Commands that let the request in flight end when a signal comes. */
const SENDING: ReadonlySet<string> = new Set(["stream", "resume"]);

/** While SQLite looks for the next row of a query, no signal is heard. */
const ENDED_BY_SIGNALS: ReadonlySet<string> = new Set(["query"]);

/** Commands of which standard output is for people. */
const LISTING: ReadonlySet<string> = new Set(["status", "env", "find"]);

function toOptions(flags: Flags) {
  const { maxDuration, waitLock, maxAge, olderThan } = flags;
  return {
    ...(Object.fromEntries(SWITCHES.map((name) => [name, false])) as Record<(typeof SWITCHES)[number], boolean>),
    ...flags,
    /** Those that say what the environment is used with. */
    flags,
    maxDuration: maxDuration === undefined ? undefined : parseDuration(maxDuration),
    waitLock: waitLock === undefined ? 0 : parseDuration(waitLock),
    maxAge: maxAge === undefined ? undefined : parseAge(maxAge),
    olderThan: olderThan === undefined ? 0 : parseAge(olderThan),
  };
}

function whyFailed(failure: unknown, stop: AbortSignal): string | undefined {
  if (isStop(failure, stop)) return `stopped by ${stop.reason}`;
  return failure instanceof Error ? failure.message : undefined;
}

/** Commands that send, check or change something; those that only look leave nothing, so that a monitor may call them often. */
function leavesTrace(verb: string, flags: Flags): boolean {
  if (verb === "results") return flags.import !== undefined;
  if (verb === "env") return flags.rebind === true || flags.forgetLost === true;
  if (verb === "prune") return flags.dryRun !== true;
  return ["stream", "validate", "plan", "resume", "settle"].includes(verb);
}

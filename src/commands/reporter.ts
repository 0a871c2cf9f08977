/** How a command speaks: to people on stderr, to programs on stdout, and in lines of a log. */

import { EXIT_CODES, type Failure } from "../failure.ts";
import type { WorkUnderWay } from "../run/context.ts";

/** Prints a text; `about` is what a log has of it. */
type Say = (text: string, about?: LogEvent) => void;

/** Lines for people, by their weight. */
export interface Messages {
  /** Something that happened. */
  readonly info: Say;
  readonly warn: Say;
  /** A warning that an earlier run has printed: `--quiet` is silent about it. */
  readonly warnAgain: Say;
  readonly error: Say;
}

export interface Reporter extends Messages {
  /** The same on standard output, for a command whose result is what it finds. */
  readonly found: Messages;
  /** Printed with `--quiet`, too. */
  readonly notice: Say;
  /** For logs only: what people see otherwise, or need not know. */
  readonly log: (text: string, about: LogEvent) => void;
  /** For logs, and with `--verbose` for people. */
  readonly detail: (text: string, about: LogEvent) => void;
  /** Replaces what is shown of the work under way; undefined ends it. */
  readonly progress: (work: WorkUnderWay | undefined) => void;
  /** Asks a yes-or-no question, until `signal` ends it with an AbortError; undefined where nobody can answer. */
  readonly ask: ((question: string, signal: AbortSignal) => Promise<boolean>) | undefined;
  /** A result for people, on standard output, laid out for its width already. */
  readonly show: (text: string) => void;
  /** The document of `--json`. */
  readonly document: (result: object | null) => void;
  /** Any other data for programs. */
  readonly out: (text: string) => void;
}

/** What is wrong, and below it what to do. */
export const failureText = ({ message, hint }: Pick<Failure, "message" | "hint">): string =>
  hint === undefined ? message : `${message}\n${hint}`;

/** Says what is wrong beside a result that is shown nevertheless. @returns the exit code. */
export function sayFailure(problem: Failure | undefined, { error }: Messages): number {
  if (problem === undefined) return EXIT_CODES.ok;
  error(failureText(problem));
  return EXIT_CODES[problem.code];
}

interface LogEventSpec {
  readonly when: string;
  /** Beside those that every line has. */
  readonly fields: readonly string[];
}

/** The names are stable: programs and alerts depend on them. */
export const LOG_EVENTS = {
  "command.started": { when: "first of all", fields: ["command", "version"] },
  "ledger.opened": { when: "the environment and its ledger are known", fields: [] },
  "lock.waiting": { when: "another run holds the ledger", fields: [] },
  "input.read": { when: "it is known how a file is read", fields: ["file", "action"] },
  problem: {
    when: "a check found something: once for each rule and field, with the first place",
    fields: ["rule", "file", "line", "field", "action", "count"],
  },
  "plan.made": { when: "the input is checked, and something is to be sent", fields: ["counts", "actions"] },
  "run.published": { when: "a run is in the ledger, for workers to send", fields: ["actions", "chunks"] },
  "run.first": { when: "an unfinished run is finished before the input is read", fields: [] },
  "run.started": { when: "a run is about to be sent, or its rest", fields: ["resumed", "actions", "chunks"] },
  "chunk.sent": {
    when: "a request is about to leave; its intent is on disk",
    fields: ["chunk", "lane", "attempt", "actions"],
  },
  "chunk.settled": { when: "the answer decided about a chunk", fields: ["chunk", "lane", "counts"] },
  wait: {
    when: "a chunk was certainly not taken, and is tried again",
    fields: ["chunk", "lane", "waitMs", "detail"],
  },
  progress: { when: "every half minute of work", fields: ["doing", "done", "total"] },
  doubt: {
    when: "a chunk is in doubt, or a run has doubts: a person decides",
    fields: ["chunk", "lane", "actions", "detail"],
  },
  rejection: { when: "one of the first actions that the service rejected", fields: ["file", "line", "action"] },
  "run.stopped": { when: "why a run stopped before its end", fields: ["reason", "chunk", "lane", "detail"] },
  "run.ended": { when: "a run ended, for now or for good", fields: ["counts", "next", "exitCode", "durationMs"] },
  question: { when: "a person at the terminal is asked", fields: [] },
  failure: { when: "why the command failed; also before there is a run", fields: ["code", "exitCode"] },
  warning: { when: "any other warning", fields: [] },
  error: { when: "any other error", fields: [] },
  note: { when: "any other message", fields: [] },
  "command.ended": { when: "last of all", fields: ["command", "counts", "next", "exitCode", "durationMs"] },
} as const satisfies Record<string, LogEventSpec>;

type LogEventName = keyof typeof LOG_EVENTS;

/** What a line of the log has beside its text; undefined is left out. */
export type LogEvent = {
  readonly [Name in LogEventName]: { readonly event: Name } & {
    readonly [Field in (typeof LOG_EVENTS)[Name]["fields"][number]]?: string | number | boolean | object | undefined;
  };
}[LogEventName];

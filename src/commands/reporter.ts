/** How a command speaks: to people on stderr, to programs on stdout. The terminal, `--json` and tests each bring their own. */

import { EXIT_CODES, type Failure } from "../failure.ts";
import type { WorkUnderWay } from "../run/progress.ts";
import type { LogEvent } from "./log-events.ts";

/** Says a text; `about` is what a program reads of it. */
type Say = (text: string, about?: LogEvent) => void;

/** What a check finds, and all else that has a weight. */
export interface Messages {
  /** Something that happened. */
  readonly info: Say;
  readonly warn: Say;
  /** A warning that an earlier run has printed: no reason to break the silence of `--quiet`. */
  readonly warnAgain: Say;
  readonly error: Say;
}

export interface Reporter extends Messages {
  /** The same on standard output, for the command whose result is what it finds. */
  readonly found: Messages;
  /** What is said even where `--quiet` has nothing to say. */
  readonly notice: Say;
  /** For people only with `--verbose`. */
  readonly detail: Say;
  /** For logs only: what people see otherwise, or need not know. */
  readonly log: (text: string, about: LogEvent) => void;
  /** Replaces what is shown of the work under way; undefined ends it. */
  readonly progress: (work: WorkUnderWay | undefined) => void;
  /** Asks a yes-or-no question, until `signal` ends it with an AbortError; undefined where nobody can answer. */
  readonly ask: ((question: string, signal: AbortSignal) => Promise<boolean>) | undefined;
  /** A result for people, on standard output. */
  readonly show: (text: string) => void;
  /** The document of `--json`. */
  readonly document: (result: object | null) => void;
  /** Any other data for programs. */
  readonly out: (text: string) => void;
}

/** What is wrong, and below it what to do. */
export const failureText = ({ message, hint }: Pick<Failure, "message" | "hint">): string =>
  hint === undefined ? message : `${message}\n${hint}`;

/** Says what is wrong beside a result that is shown all the same. @returns the exit code. */
export function sayFailure(problem: Failure | undefined, { error }: Messages): number {
  if (problem === undefined) return EXIT_CODES.ok;
  error(failureText(problem));
  return EXIT_CODES[problem.code];
}

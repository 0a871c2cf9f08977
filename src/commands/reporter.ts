/** How a command speaks: to people on stderr, to programs on stdout. The terminal, `--json` and tests each bring their own. */

import type { WorkUnderWay } from "../run/progress.ts";

export interface Reporter {
  /** Something that happened. */
  readonly info: (text: string) => void;
  readonly warn: (text: string) => void;
  /** A warning that an earlier run has told: no reason to break the silence of `--quiet`. */
  readonly warnAgain: (text: string) => void;
  /** What is said even where `--quiet` has nothing to say. */
  readonly notice: (text: string) => void;
  readonly error: (text: string) => void;
  /** Only with `--verbose`. */
  readonly detail: (text: string) => void;
  /** Replaces what is shown of the work under way; undefined ends it. */
  readonly progress: (state: ProgressState | undefined) => void;
  /** Asks a yes-or-no question, until `signal` ends it with an AbortError; undefined where nobody can answer. */
  readonly ask: ((question: string, signal: AbortSignal) => Promise<boolean>) | undefined;
  /** Data for programs. */
  readonly out: (text: string) => void;
}

/** The work under way, with what holds it up in words. */
export interface ProgressState extends Omit<WorkUnderWay, "doing" | "waiting"> {
  /** What is going on, such as `checking` or `sending`. */
  readonly doing: string;
  /** Something that holds the work up, such as a wait before a retry. */
  readonly note?: string;
}

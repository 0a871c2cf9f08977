/** What every command gets: what was typed for it, its surroundings, and a trace to fill in. */

import type { Writable } from "node:stream";
import type { Environment } from "../config/environment.ts";
import type { UnderstoodInput } from "../plan/rows.ts";
import type { CheckedInput, RunContext } from "../run/context.ts";
import type { Limits } from "../run/open.ts";
import type { EnvironmentOptions } from "../run/settings.ts";
import type { RunEnd, Summary } from "../run/summary.ts";
import type { InputOptions as RunInputOptions } from "../run/validate.ts";
import type { Reporter } from "./reporter.ts";

/** Flags without a value. */
type Switch =
  | ("quiet" | "verbose" | "json" | "dryRun" | "resend" | "adopt" | "publish" | "moveAside" | "yes")
  | ("untilIdle" | "sent" | "notSent" | "abandon" | "pause" | "follow" | "trust" | "reset")
  | ("remote" | "check" | "all");

type Text = "output" | "reason" | "report" | "metrics" | "log" | "faults";

type Whole = "chunk" | "first" | "port";

/** Each flag and argument by its name, as src/cli/ declares it. */
export interface AllOptions
  extends EnvironmentOptions,
    RunInputOptions,
    Limits,
    Readonly<Partial<Record<Switch, boolean | undefined>>>,
    Readonly<Partial<Record<Text, string | undefined>>>,
    Readonly<Partial<Record<Whole, number | undefined>>> {
  /** The arguments, by their names; `files` is one, too. */
  readonly run: string | undefined;
  readonly name: string | undefined;
  readonly id: string;
  /** `true`: as many rows as is usual. */
  readonly preview?: number | true | undefined;
  readonly import?: readonly string[] | undefined;
  /** In milliseconds. */
  readonly maxAge?: number | undefined;
  readonly olderThan: number;
}

/** What one command reads of it. */
export type Options<Name extends keyof AllOptions> = Pick<AllOptions, Name | keyof EnvironmentOptions>;

/** The options of a command that checks input. */
export type InputOptions = Options<keyof RunInputOptions | "json">;

/** The surroundings of a command. */
export interface Context extends Pick<RunContext, "cwd" | "env" | "stdin" | "now" | "stop" | "abort"> {
  readonly stdout: Writable;
  readonly reporter: Reporter;
  /** Standard output is for one JSON document, and nothing else goes there. */
  readonly isStdoutTaken: boolean;
  /** Show values that name a person as they are. */
  readonly verbose: boolean;
  readonly trace: Trace;
  /** The program's version. */
  readonly version: () => string;
}

/** What a command did, filled in as it goes. Once its exit code is known, the ledger's note and the report are made of it. */
export interface Trace {
  /** Whether the ledger remembers the command. Those that only look leave nothing, so that a monitor may call them often. */
  isKept: boolean;
  /** Undefined as long as no environment is named or used. */
  environment?: Environment;
  files: readonly string[];
  /** The run that the command is about, or sends just now. */
  run?: string | undefined;
  /** The result of a command that sends. */
  summary?: Summary;
  /** Where a page about it is to be written. */
  report?: string;
  /** How the files were understood, and what was found in them. */
  understood: readonly UnderstoodInput[];
  checked?: CheckedInput;
  /** How the last run ended that was carried out. */
  end?: RunEnd;
  /** Digests of warnings that the ledger is to remember once they are printed. */
  readonly reported: string[];
}

export const newTrace = (): Trace => ({ isKept: false, files: [], understood: [], reported: [] });

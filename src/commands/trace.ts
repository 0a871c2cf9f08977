/** What a command leaves behind of itself in the ledger of the environment that it used. */

import { hostname } from "node:os";
import type { Environment } from "../config/environment.ts";
import type { Invocation } from "../ledger/ledger.ts";
import { noteInvocationOf } from "../run/ledger-of.ts";
import type { CheckedInput } from "../run/progress.ts";
import { userName } from "../run/session.ts";
import type { RunEnd, Summary } from "../run/summary.ts";
import type { UnderstoodInput } from "../run/understood.ts";
import { cleanText } from "../text.ts";
import type { Given } from "./options.ts";
import type { Reporter } from "./reporter.ts";

/** Filled in by the command as it goes; written when its exit code is known. A report is made of it too. */
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

/** What a command that sends leaves behind. Returns its exit code. */
export function endSending(
  summary: Summary,
  environment: Environment,
  { json }: Pick<Given, "json">,
  { reporter, trace }: { readonly reporter: Reporter; readonly trace: Trace },
): number {
  trace.summary = summary;
  trace.run = summary.run ?? undefined;
  if (json) reporter.document(summary);
  if (environment.kind === "sandbox") reporter.notice("SANDBOX: nothing left this machine.");
  return summary.exitCode;
}

type Ended = Pick<Invocation, "command" | "startedAt" | "durationMs" | "exitCode" | "error" | "version">;

/** Writes the trace, where there is a ledger that takes it. Never throws. */
export async function keepTrace(
  { environment, files, run, summary, isKept, reported }: Trace,
  { error, ...ended }: Ended,
): Promise<void> {
  if (environment === undefined || !isKept) return;
  const invocation: Invocation = {
    ...ended,
    files: files.map((file) => cleanText(file, 1000)),
    error: error === undefined ? undefined : cleanText(error, 1000),
    ...{ run, counts: summary && countsOf(summary), host: hostname(), who: userName() },
  };
  // A command that broke off may not have printed them.
  await noteInvocationOf(environment, invocation, error === undefined ? reported : []);
}

const countsOf = ({ rows, actions, problems }: Summary) => ({
  ...{ rows: { ...rows }, actions: { ...actions }, problems: { ...problems } },
});

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
import type { Reporter } from "./reporter.ts";

/** Filled in by the command as it goes; written when its exit code is known. A report is made of it too. */
export interface Trace {
  /** Undefined as long as no environment is named or used. */
  environment: Environment | undefined;
  files: readonly string[];
  run: string | undefined;
  /** The run that is being sent, or was the last. */
  sending: string | undefined;
  /** The result of a command that sends. */
  summary: Summary | undefined;
  counts: Invocation["counts"];
  /** False for what must leave the ledger as it is. */
  isKept: boolean;
  /** How the files were understood, and what was found in them. */
  understood: readonly UnderstoodInput[];
  checked: CheckedInput | undefined;
  /** How the last run ended that was carried out. */
  end: RunEnd | undefined;
  /** Digests of warnings that the ledger is to remember once they are printed. */
  reported: string[];
}

export const newTrace = (): Trace => ({
  environment: undefined,
  files: [],
  run: undefined,
  sending: undefined,
  summary: undefined,
  counts: undefined,
  isKept: true,
  understood: [],
  checked: undefined,
  end: undefined,
  reported: [],
});

/** What a command that sends leaves behind. Returns its exit code. */
export function endSending(
  summary: Summary,
  environment: Environment,
  isJson: boolean,
  { reporter, trace }: { readonly reporter: Reporter; readonly trace: Trace },
): number {
  const { run, rows, actions, problems, exitCode } = summary;
  trace.summary = summary;
  trace.run = run ?? undefined;
  trace.counts = { rows: { ...rows }, actions: { ...actions }, problems: { ...problems } };
  if (isJson) reporter.out(`${JSON.stringify(summary)}\n`);
  if (environment.kind === "sandbox") reporter.notice("SANDBOX: nothing left this machine.");
  return exitCode;
}

/** What a check says for the trace. */
export function traceChecked(trace: Trace, checked: CheckedInput): void {
  const { plan, problems } = checked;
  const { rows, actions } = plan;
  const { errors, warnings } = problems;
  trace.checked = checked;
  trace.counts = { rows: { ...rows }, actions: { ...actions }, problems: { errors, warnings } };
}

type Ended = Pick<Invocation, "command" | "startedAt" | "durationMs" | "exitCode" | "error" | "version">;

/** Writes the trace, where there is a ledger that takes it. Never throws. */
export async function keepTrace(
  { environment, files, run, counts, isKept, reported }: Trace,
  { error, ...ended }: Ended,
): Promise<void> {
  if (environment === undefined || !isKept) return;
  const invocation: Invocation = {
    ...ended,
    files: files.map((file) => cleanText(file, 1000)),
    error: error === undefined ? undefined : cleanText(error, 1000),
    ...{ run, counts, host: hostname(), who: userName() },
  };
  // A command that broke off may not have printed them.
  await noteInvocationOf(environment, invocation, error === undefined ? reported : []);
}

/** What a command leaves behind of itself in the ledger of the environment that it used. */

import { hostname } from "node:os";
import { cleanText } from "../actions/text.ts";
import type { Environment } from "../config/environment.ts";
import type { Invocation } from "../ledger/ledger.ts";
import { noteInvocationOf } from "../run/ledger-of.ts";
import type { CheckedInput } from "../run/progress.ts";
import { userName } from "../run/session.ts";
import type { Summary } from "../run/summary.ts";

/** Filled in by the command as it goes; written when its exit code is known. */
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
  reported: [],
});

/** What a summary says for the trace. */
export function traceSummary(trace: Trace, summary: Summary): void {
  const { run, rows, actions, problems } = summary;
  trace.summary = summary;
  trace.run = run ?? undefined;
  trace.counts = { rows: { ...rows }, actions: { ...actions }, problems: { ...problems } };
}

/** What a check says for the trace. */
export function traceChecked(
  trace: Trace,
  { plan: { rows, actions }, problems: { errors, warnings } }: CheckedInput,
): void {
  trace.counts = { rows: { ...rows }, actions: { ...actions }, problems: { errors, warnings } };
}

/** Writes the trace, where there is a ledger that takes it. Never throws. */
export async function keepTrace(
  trace: Trace,
  ended: {
    readonly command: string;
    readonly args: readonly string[];
    readonly env: NodeJS.ProcessEnv;
    readonly startedAt: Date;
    readonly durationMs: number;
    readonly exitCode: number;
    readonly error: string | undefined;
    readonly warnings: number;
    readonly version: string;
  },
): Promise<void> {
  const { environment, files, run, counts, isKept, reported } = trace;
  if (environment === undefined || !isKept) return;
  const { command, args, env, startedAt, durationMs, exitCode, error, warnings, version } = ended;
  await noteInvocationOf(
    environment,
    {
      startedAt: startedAt.toISOString(),
      durationMs,
      command,
      arguments: withoutSecrets(args, env),
      files: files.map((file) => cleanText(file, 1000)),
      exitCode,
      error: error === undefined ? undefined : withoutSecrets([cleanText(error, 1000)], env).join(""),
      run,
      counts,
      warnings,
      host: hostname(),
      who: userName(),
      version,
    },
    // A command that broke off may not have printed them.
    error === undefined ? reported : [],
  );
}

const HIDDEN = "…";

/**
 * No flag takes a key, but a person may have typed one: values of variables that hold keys, what stands after a word such
 * as token or password, and passwords in URLs are hidden.
 */
function withoutSecrets(words: readonly string[], env: NodeJS.ProcessEnv): readonly string[] {
  const secrets = Object.entries(env).flatMap(([name, value]) =>
    /key|token|secret|password/i.test(name) && value !== undefined && value.length >= 8 ? [value] : [],
  );
  let isNext = false;
  return words.map((word) => {
    const isHidden = isNext;
    isNext = /^--?[\w-]*(key|token|secret|password|auth)$/i.test(word);
    if (isHidden) return HIDDEN;
    const known = secrets.reduce((text, secret) => text.replaceAll(secret, HIDDEN), word);
    return cleanText(
      known
        .replace(/^(--?[\w-]*(?:key|token|secret|password|auth)=).*/i, `$1${HIDDEN}`)
        .replaceAll(/(\w+:\/\/)[^\s/@]+@/g, `$1${HIDDEN}@`),
      1000,
    );
  });
}

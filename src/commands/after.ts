/**
 * What follows a command once its exit code is known: its note in the ledger, its report, metrics, and the user's own
 * program. None of it changes how the command ended.
 */

import { hostname } from "node:os";
import { describeProgram } from "../config/declared.ts";
import type { Environment } from "../config/environment.ts";
import { Failure } from "../failure.ts";
import type { Invocation } from "../ledger/ledger.ts";
import { noteInvocationOf, userName } from "../run/open.ts";
import { status } from "../run/runs.ts";
import type { Summary } from "../run/summary.ts";
import { cleanText } from "../text.ts";
import type { Context } from "./context.ts";

/** How a command ended. */
export interface Ended extends Pick<Invocation, "command" | "startedAt" | "durationMs" | "error"> {
  readonly exitCode: number;
  /** The exit code that the ledger notes: not 0 where the reader of the output is gone. */
  readonly noted: number;
  readonly failure: Pick<Failure, "message" | "hint"> | undefined;
}

/** Writes the note and the report of a command. Never throws. */
export async function noteEnd(ended: Ended, context: Context): Promise<void> {
  const { environment, files, run, summary, isKept, reported, report } = context.trace;
  const { command, startedAt, durationMs, noted, error } = ended;
  if (environment !== undefined && isKept) {
    const invocation: Invocation = {
      ...{ command, startedAt, durationMs, run, exitCode: noted, version: context.version() },
      files: files.map((file) => cleanText(file, 1000)),
      error: error === undefined ? undefined : cleanText(error, 1000),
      counts: summary && {
        ...{ rows: { ...summary.rows }, actions: { ...summary.actions }, problems: { ...summary.problems } },
      },
      ...{ host: hostname(), who: userName() },
    };
    // A command that broke off may not have printed them.
    await noteInvocationOf(environment, invocation, error === undefined ? reported : []);
  }
  if (report === undefined) return;
  const { writeStreamReport } = await import("./report.ts");
  await writeStreamReport(report, ended, context);
}

/** What is known of a run that ended. */
interface RunEnded {
  readonly environment?: Environment | undefined;
  readonly summary?: Summary | undefined;
  readonly exitCode: number;
  /** What `--json` prints; undefined if there was nothing to do. */
  readonly document: object | undefined;
}

/** Writes the metrics and runs `onEnd`. Never throws: what goes wrong is a warning. */
export async function afterRun(
  { environment, summary, exitCode, document }: RunEnded,
  { reporter, cwd, env, abort }: Pick<Context, "reporter" | "cwd" | "env" | "abort">,
  metricsFile: string | undefined,
): Promise<void> {
  if (metricsFile !== undefined && environment === undefined)
    reporter.warn("The metrics were not written, because no environment was chosen.");
  if (environment === undefined) return;
  if (metricsFile !== undefined) {
    const endedAt = new Date().toISOString();
    const { metricsOf, writeMetrics } = await import("./metrics-file.ts");
    // A ledger that can't be read gives no metrics.
    const found = await status({ cwd }, environment, 0).catch((cause: unknown) => {
      if (cause instanceof Failure) return undefined;
      throw cause;
    });
    const last = { endedAt, exitCode, counts: summary && { actions: { ...summary.actions } } };
    try {
      await writeMetrics(metricsFile, cwd, metricsOf(environment.name, found, last));
    } catch (cause) {
      if (!(cause instanceof Failure)) throw cause;
      reporter.warn(cause.message);
    }
  }
  if (document === undefined) return;
  const failed = await runOnEnd(environment, { document, exitCode, env }, abort);
  if (failed !== undefined) reporter.warn(failed);
}

/** Long enough to send a message. More would delay the next run. */
const LIMIT_MS = 60_000;

/**
 * Runs the program without a shell, with `document` on its standard input and TICKETS_EXIT_CODE in its environment. What it
 * prints goes nowhere: standard output is for data. Never throws.
 *
 * @param signal ends it at once.
 * @returns why it failed, in a sentence; undefined where it did not, or there is none.
 */
export async function runOnEnd(
  environment: Pick<Environment, "onEnd" | "keySource" | "ledgerServer">,
  {
    document,
    exitCode,
    env,
  }: { readonly document: object; readonly exitCode: number; readonly env: NodeJS.ProcessEnv },
  signal: AbortSignal,
  limitMs = LIMIT_MS,
): Promise<string | undefined> {
  const { onEnd } = environment;
  if (onEnd === undefined) return undefined;
  const { runProgram } = await import("../config/program.ts");
  const ended = await runProgram(onEnd, {
    env: { ...withoutKeys(env, environment), TICKETS_EXIT_CODE: String(exitCode) },
    input: `${JSON.stringify(document)}\n`,
    ...{ mostBytes: 0, limitMs, signal },
  });
  if ("printed" in ended) return undefined;
  const program = cleanText(describeProgram(onEnd.command), 300);
  return `onEnd: ${program} ${ended.failed}. The run's result is not affected.`;
}

/** The variables for the program, without any environment's key and without the ledger's URL: it talks to others. */
export function withoutKeys(
  env: NodeJS.ProcessEnv,
  { keySource, ledgerServer }: Pick<Environment, "keySource" | "ledgerServer">,
): NodeJS.ProcessEnv {
  const sources = [keySource, ledgerServer?.urlSource];
  const own = new Set(sources.map((source) => source?.env));
  const isKey = (name: string): boolean => own.has(name) || /^TICKETS_.*_API_KEY$/.test(name);
  const keys = new Set(Object.entries(env).flatMap(([name, value]) => (isKey(name) && value ? [value] : [])));
  // A second variable may hold the same key.
  return Object.fromEntries(Object.entries(env).filter(([name, value]) => !isKey(name) && !keys.has(value ?? "")));
}

/** The library: the core for other programs. It prints nothing, handles no signals and sets no exit code. */

import { Readable, type Writable } from "node:stream";
import type { EnvironmentFlags } from "./config/environment.ts";
import { type ResumeSettings, resume as resumeRun } from "./run/carry-out.ts";
import type { CheckedInput, Progress, RunContext } from "./run/context.ts";
import { knownLedgerOf } from "./run/open.ts";
import { detailsOf, namedRun, type RunDetails, type Status, status as statusOf } from "./run/runs.ts";
import { type EnvironmentOptions, loadSettings, loadSettingsToCheck } from "./run/settings.ts";
import { type SettleResult, type SettleSettings, settle as settleRun } from "./run/settle.ts";
import { type StreamResult, type StreamSettings, stream as streamInput } from "./run/stream.ts";
import type { RunEnd } from "./run/summary.ts";
import { type InputOptions, type PlanSettings, plan as planInput } from "./run/validate.ts";

/** The environment, and what the core works with. Everything has a default. */
export interface Surroundings {
  /** Name of an environment; without it `TICKETS_ENV`, the config's `env`, or the sandbox. */
  readonly environment?: string;
  /** Path of the config; without it, the one in `cwd` and the user's own. */
  readonly config?: string;
  /** Settings in place of those of the config. */
  readonly flags?: EnvironmentFlags;
  /** Folder that relative paths are of, and that rejects are written to. Default: that of the process. */
  readonly cwd?: string;
  /** Variables that may hold keys, proxies and `TICKETS_…`. Default: those of the process. */
  readonly env?: NodeJS.ProcessEnv;
  /** What the input `-` is read from. Default: nothing. */
  readonly stdin?: Readable;
  /** Where the promises of the output `-` go. Default: a file of `cwd`. */
  readonly promisesTo?: Writable;
  /** Aborted when no further request should start: the run stops at a chunk's border, as by SIGTERM, and can be resumed. */
  readonly stop?: AbortSignal;
  /** Aborted when even the request in flight should be given up; its chunk is in doubt then. */
  readonly abort?: AbortSignal;
  readonly progress?: Partial<Progress>;
}

export interface CheckOptions extends Surroundings, InputOptions, Pick<PlanSettings, "onRow"> {}
export interface StreamOptions extends Surroundings, Omit<StreamSettings, "settings"> {}
export interface ResumeOptions extends Surroundings, Omit<ResumeSettings, "environment"> {}
export interface SettleOptions extends Surroundings, Omit<SettleSettings, "environment"> {}

/**
 * Checks an input, and with an `environment` also against what that one was sent.
 *
 * @throws Failure when the input can't be read at all, or the config can't be carried out.
 */
export async function validate(options: CheckOptions): Promise<CheckedInput> {
  using checked = await plan(options);
  return checked;
}

/** The same, with the actions that would be sent, for as long as the result is not disposed: `using planned = await plan(…)`. */
export async function plan(options: CheckOptions): Promise<CheckedInput> {
  const context = contextOf(options);
  return planInput(context, { ...options, settings: await loadSettingsToCheck(context, choiceOf(options)) });
}

/**
 * Checks, plans and sends. After it resolves, what the service answered is in the ledger, and promises and rejects are written.
 *
 * @throws Failure when it can't begin. What is wrong with rows, and what a run stopped for, is in the result.
 */
export async function stream(options: StreamOptions): Promise<StreamResult> {
  const context = contextOf(options);
  const settings = await loadSettings(context, choiceOf(options));
  return streamInput(context, { ...options, settings, output: options.output ?? settings.environment.output });
}

/** Goes on with a run; undefined where nothing is left to send. */
export async function resume(options: ResumeOptions = {}): Promise<RunEnd | undefined> {
  const context = contextOf(options);
  const { environment } = await loadSettings(context, choiceOf(options));
  return resumeRun(context, { ...options, environment });
}

/** Says what became of chunks in doubt, or closes a run; undefined where `confirmClose` was answered with no. */
export async function settle(options: SettleOptions): Promise<SettleResult | undefined> {
  const context = contextOf(options);
  const { environment } = await loadSettings(context, choiceOf(options), "any");
  return settleRun(context, { ...options, environment });
}

/** What the ledger knows of an environment's runs: those that are open, and the last 20. No lock is taken. */
export async function status(options: Surroundings = {}): Promise<Status> {
  const context = contextOf(options);
  return statusOf(context, (await loadSettings(context, choiceOf(options), "any")).environment, 20);
}

/** What it knows of one run. */
export async function statusOfRun(options: Surroundings & { readonly run: string }): Promise<RunDetails> {
  const context = contextOf(options);
  const { environment } = await loadSettings(context, choiceOf(options), "any");
  await using ledger = await knownLedgerOf(environment, context.cwd);
  return detailsOf(ledger, await namedRun(ledger, options.run, environment), environment);
}

const choiceOf = ({ environment, config, flags = {} }: Surroundings): EnvironmentOptions => ({
  env: environment,
  config,
  flags,
});

const NEVER = new AbortController().signal;

function contextOf(options: Surroundings): RunContext {
  const { cwd = process.cwd(), env = process.env, stdin = Readable.from([]), stop, abort = NEVER, progress } = options;
  return {
    cwd,
    env,
    stdin,
    promisesTo: options.promisesTo,
    stop: stop === undefined ? NEVER : asStopRequest(stop),
    abort,
    progress: { happened: () => undefined, advanced: () => undefined, ...progress },
  };
}

/** The core knows only signals of the system as reasons to stop. */
function asStopRequest(signal: AbortSignal): AbortSignal {
  const controller = new AbortController();
  const stop = (): void => controller.abort("SIGTERM");
  if (signal.aborted) stop();
  else signal.addEventListener("abort", stop, { once: true });
  return controller.signal;
}

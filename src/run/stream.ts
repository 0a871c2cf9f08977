/** Check, plan, enter, send, and keep every promise. */

import { constants } from "node:fs";
import { access } from "node:fs/promises";
import { resolve } from "node:path";
import type { Environment } from "../config/environment.ts";
import { EXIT_CODES, Failure } from "../failure.ts";
import type { Run } from "../ledger/ledger.ts";
import { resultsCommand, settleCommand, streamCommand, streamOfRejects, validateCommand } from "../next-command.ts";
import { inShell } from "../text.ts";
import { makeWayForOutput } from "../write/promise-file.ts";
import { defaultOutput } from "../write/promises.ts";
import { afterEarlier, carryOut, finishEarlierRuns, writeLeft } from "./carry-out.ts";
import type { CheckedInput, RunContext } from "./context.ts";
import { adoptRun, enterRun, writeNotSent } from "./enter.ts";
import { agreeToNewLedger, type NewLedgerWord, noteInJournal } from "./lost-ledger.ts";
import { findLedgerOf, type Limits, type OpenEnvironment, openEnvironment } from "./open.ts";
import { doubtedOf } from "./runs.ts";
import type { Settings } from "./settings.ts";
import { exitCodeOfDone, type RunEnd, type Summary, summarise } from "./summary.ts";
import { checkInput, type InputOptions, inputFlags, plan as planInput } from "./validate.ts";

export interface StreamSettings extends InputOptions, Limits {
  readonly settings: Settings;
  /** File for the promises; `-`: where `RunContext.promisesTo` says; absent: one of the environment. */
  readonly output?: string | undefined;
  /** `resend`: also what was sent before. `adopt`: record as sent, and send nothing. Default: `judge`. */
  readonly mode?: "judge" | "resend" | "adopt" | undefined;
  /** Kept with what is adopted. */
  readonly reason?: string | undefined;
  /** Do everything but send: the ledger is only read, and the plan is thrown away. */
  readonly dryRun?: boolean | undefined;
  /** Leave the sending to workers. */
  readonly publishes?: boolean | undefined;
  /** Set aside a file that is in the way of the promises. */
  readonly moveAside?: boolean | undefined;
  /** See `openEnvironment`. */
  readonly newLedger?: NewLedgerWord;
  /** Asked before anything is sent to an environment with `confirm`; without it, sending starts unasked. */
  readonly confirm?:
    | ((asked: { readonly actions: number; readonly environment: string; readonly host: string }) => Promise<boolean>)
    | undefined;
}

export interface StreamResult {
  readonly summary: Summary;
  readonly ending: StreamEnding;
}

type StreamEnding =
  /** A run that came first did not finish; the input was not read. */
  | { readonly kind: "earlier run stopped" }
  /** The same command was interrupted before; its run's result is reported. */
  | { readonly kind: "same input" }
  | { readonly kind: "resend waits" }
  /** The input is invalid, nothing in it is new, or this is a dry run. */
  | { readonly kind: "nothing sent"; readonly checked: CheckedInput }
  | { readonly kind: "not confirmed" }
  | { readonly kind: "adopted"; readonly actions: number }
  /** `ahead`: open runs that come first. */
  | { readonly kind: "published"; readonly chunks: number; readonly ahead: number }
  | { readonly kind: "sent" };

/** After it resolves, what the service answered is in the ledger, and promises and rejects are written. */
export async function stream(context: RunContext, options: StreamSettings): Promise<StreamResult> {
  const { files, settings, publishes = false } = options;
  const { environment } = settings;
  if (options.dryRun === true) return await dryRun(context, options);
  if (publishes) refuseToPublish(options);
  await using opened = await openEnvironment(context, environment, {
    ...options,
    command: `tickets stream ${files.map(inShell).join(" ")}`,
    sends: !publishes && options.mode !== "adopt",
  });
  const runs = (await opened.ledger.runs()).length;
  context.progress.happened({ kind: "ledger opened", environment, runs, isToSend: true });
  await writeLeft(context, opened);
  const earlier = publishes ? undefined : await finishEarlierRuns(context, opened);
  if (earlier !== undefined && earlier.summary.state !== "finished")
    return { summary: earlier.summary, ending: { kind: "earlier run stopped" } };
  try {
    const { summary, ending } = await streamInput(context, options, opened, earlier);
    return { summary: afterEarlier(summary, earlier?.summary), ending };
  } catch (cause) {
    // Something was already sent, for the earlier run.
    const isOfInput = earlier !== undefined && cause instanceof Failure && cause.nothingSent;
    throw isOfInput ? cause.with({ nothingSent: files }) : cause;
  }
}

/** Reads and checks the input, and sends what is new of it. */
async function streamInput(
  context: RunContext,
  options: StreamSettings,
  opened: OpenEnvironment,
  earlier: RunEnd | undefined,
): Promise<StreamResult> {
  const { ledger, environment, startedAt } = opened;
  const { mode = "judge", publishes = false, moveAside = false } = options;
  // Promises and rejects have to have a place to go; without a path, promises go to standard output.
  const named = options.output ?? defaultOutput(environment.name);
  const output = named === "-" ? undefined : resolve(context.cwd, named);
  await refuseReadOnlyFolder(context.cwd);
  if (output !== undefined && mode !== "adopt") await makeWayForOutput(context, ledger, output, environment, moveAside);
  using checked = await checkInput(context, { ...options, lanes: environment.lanes }, ledger);
  const { plan } = checked;
  const repeated = earlier && endOfRepeated(earlier, plan, mode);
  if (repeated !== undefined) return repeated;

  context.progress.happened({ kind: "input checked", ...checked });
  if (plan.isRefused) return endInvalid(options, checked, startedAt);
  if (plan.actions.new === 0) return await endNothingNew(context, options, checked, opened, output);
  if (mode === "adopt") {
    const run = await adoptRun(context, opened, options, checked);
    const summary = summaryOf(checked, { environment, startedAt, state: "adopted", exitCode: EXIT_CODES.ok, run });
    return { summary, ending: { kind: "adopted", actions: plan.actions.new } };
  }
  context.progress.happened({ kind: "sending planned", ...checked });
  const { name, confirm } = environment;
  const asked = { actions: plan.actions.new, environment: name, host: new URL(opened.baseUrl).host };
  if (confirm && (await options.confirm?.(asked)) === false) {
    const summary = summaryOf(checked, { environment, startedAt, state: "stopped", exitCode: EXIT_CODES.usage });
    return { summary, ending: { kind: "not confirmed" } };
  }
  if (!publishes) await opened.key();
  const run = await enterRun(context, opened, options, checked, output);
  if (publishes) return await endPublished(checked, opened, run);
  const { summary } = await carryOut(context, opened, run, "new");
  return { summary, ending: { kind: "sent" } };
}

async function refuseReadOnlyFolder(cwd: string): Promise<void> {
  await access(cwd, constants.W_OK).catch((cause: unknown) => {
    throw new Failure("usage", `The working folder ${cwd} is not writable, and rejects files are written there.`, {
      nothingSent: true,
      cause,
      hint: "Run the command in a folder that it may write to; inputs may be named by their paths.",
    });
  });
}

async function dryRun(context: RunContext, options: StreamSettings): Promise<StreamResult> {
  const { environment } = options.settings;
  const startedAt = performance.now();
  {
    await using ledger = await findLedgerOf(environment);
    // Nobody is asked: the dry run reports what the command would end with.
    await agreeToNewLedger(environment, ledger, options.newLedger === true || undefined, context.cwd);
  }
  using checked = await planInput(context, { ...options, lanes: environment.lanes });
  const { plan, isNews } = checked;
  context.progress.happened({ kind: "input checked", ...checked });
  if (plan.isRefused) return endInvalid(options, checked, startedAt);
  const [held] = plan.held.heldBy.keys();
  const next = held === undefined ? null : settleCommand(held, environment);
  const exitCode = exitCodeOfDone(plan, { isNews, doubt: undefined });
  const summary = summaryOf(checked, { environment, startedAt, state: "dry run", exitCode, next });
  return { summary, ending: { kind: "nothing sent", checked } };
}

function refuseToPublish({ files, output, settings: { environment } }: StreamSettings): void {
  const { ledgerServer, ledgerPath, name, named } = environment;
  if (ledgerServer === undefined)
    throw new Failure(
      "usage",
      `The ledger of ${name} is a file of this machine (${ledgerPath}), which workers elsewhere can't reach. Nothing was published.`,
      {
        hint: `Send it from here: ${streamCommand(files, [], { named })}\nOr put the ledger into PostgreSQL: ledger: {postgres: {url: {env: TICKETS_LEDGER_URL}}} in the environment`,
      },
    );
  if (output === "-")
    throw new Failure(
      "usage",
      "A run that is published has no promises for standard output yet. Nothing was published.",
      { hint: "Name a file for them, or leave --output out." },
    );
}

/** The same command after an interruption reports that run's result: what was just rejected or resent is not sent again at once. */
function endOfRepeated(
  { run, summary }: RunEnd,
  { inputs, actions }: CheckedInput["plan"],
  mode: StreamSettings["mode"],
): StreamResult | undefined {
  const isSameInput =
    run.inputs.length === inputs.length && inputs.every(({ sha256 }, at) => run.inputs[at]?.sha256 === sha256);
  // That run sent but the first rows, or was mapped otherwise.
  const isMoreNew = actions.new > summary.actions.rejected + summary.actions.notSent;
  if (isSameInput && (mode === "resend" || !isMoreNew)) return { summary, ending: { kind: "same input" } };
  if (mode !== "resend") return undefined;
  // The earlier run may have sent some of it just now.
  return { summary: { ...summary, exitCode: EXIT_CODES["stopped-early"] }, ending: { kind: "resend waits" } };
}

function endInvalid(options: StreamSettings, checked: CheckedInput, startedAt: number): StreamResult {
  const { environment } = options.settings;
  const next = validateCommand(options.files, inputFlags(options), environment);
  const exitCode = EXIT_CODES["input-invalid"];
  const summary = summaryOf(checked, { environment, startedAt, state: "invalid", exitCode, next });
  return { summary, ending: { kind: "nothing sent", checked } };
}

/** What the input taught is noted, and its rejects are written. */
async function endNothingNew(
  context: RunContext,
  options: StreamSettings,
  checked: CheckedInput,
  opened: OpenEnvironment,
  output: string | undefined,
): Promise<StreamResult> {
  const { ledger, environment, startedAt } = opened;
  const { plan } = checked;
  const rejects = options.mode === "adopt" ? [] : await writeNotSent(context, opened, plan, output);
  await ledger.noteLearnt({ guard: plan.guard, corrected: plan.corrected() });
  const ofRejects = rejects.length === 0 ? null : streamOfRejects(rejects, inputFlags(options), context, environment);
  const end = { environment, startedAt, rejects, ...(await endOfDone(opened, checked, ofRejects)) };
  const summary = summaryOf(checked, { ...end, state: "nothing new" });
  return { summary, ending: { kind: "nothing sent", checked } };
}

async function endPublished(checked: CheckedInput, opened: OpenEnvironment, entered: Run): Promise<StreamResult> {
  const { ledger, environment, startedAt } = opened;
  const { run, number, output = null } = entered;
  await noteInJournal(environment, ledger, entered, checked.plan.actions.new);
  const next = resultsCommand(environment, run, "--follow");
  const end = { environment, startedAt, run, output, ...(await endOfDone(opened, checked, next)) };
  const chunks = (await ledger.chunks(number)).length;
  const ahead = (await ledger.runs({ states: ["open"] })).filter((each) => each.number < number).length;
  return { summary: summaryOf(checked, { ...end, state: "published" }), ending: { kind: "published", chunks, ahead } };
}

/** The exit code of what is sent no further here, and what comes next: a doubt that some of it waits for comes first. */
async function endOfDone(
  { ledger, environment }: OpenEnvironment,
  { plan, isNews }: CheckedInput,
  next: string | null,
): Promise<Pick<Summary, "exitCode" | "next">> {
  const doubt = await doubtedOf(ledger, [...plan.held.heldBy.keys()]);
  const exitCode = exitCodeOfDone(plan, { isNews, doubt });
  return { exitCode, next: doubt === undefined ? next : settleCommand(doubt, environment) };
}

type EndOfInput = Pick<Summary, "state" | "exitCode"> &
  Partial<Pick<Summary, "run" | "next" | "rejects" | "output">> & {
    readonly environment: Environment;
    readonly startedAt: number;
  };

function summaryOf({ plan, problems }: CheckedInput, { environment, startedAt, ...end }: EndOfInput): Summary {
  const durationMs = performance.now() - startedAt;
  return summarise({ run: null, ...end, environment: environment.name, of: { ...plan, problems }, durationMs });
}

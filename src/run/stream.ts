/** Check, plan, enter, send, and keep every promise. */

import { EXIT_CODES, Failure } from "../failure.ts";
import type { Run } from "../ledger/ledger.ts";
import { resultsCommand, settleCommand, streamCommand, streamOfRejects, validateCommand } from "../next-command.ts";
import { inShell } from "../text.ts";
import type { RunContext } from "./context.ts";
import { adoptRun, emptyPlanFolder, enterRun, toRun } from "./enter.ts";
import { findLedgerOf } from "./ledger-of.ts";
import { agreeToNewLedger, type NewLedgerWord, noteInJournal } from "./lost-ledger.ts";
import { makeWayForOutput, outputPath, refuseReadOnlyFolder } from "./outputs.ts";
import type { CheckedInput } from "./progress.ts";
import { writeNotSent } from "./rejects.ts";
import { afterEarlier, type EarlierRun, finishEarlierRuns, writeLeft } from "./resume.ts";
import { doubtedOf } from "./runs.ts";
import { deadlineOf, openSession, type Patience, type Session, type Timing } from "./session.ts";
import type { Settings } from "./settings.ts";
import { exitCodeOfDone, type RunEnd, type Summary, summarise } from "./summary.ts";
import { checkInput, type InputOptions, inputFlags, plan as planInput } from "./validate.ts";

export interface StreamSettings extends InputOptions, Timing, Patience {
  readonly settings: Settings;
  /** File for the promises; `-`: where `RunContext.promisesTo` says; absent: one of the environment. */
  readonly output?: string | undefined;
  /** `resend`: also what was sent before. `adopt`: record as sent, and send nothing. */
  readonly mode: "judge" | "resend" | "adopt";
  /** Kept with what is adopted. */
  readonly reason?: string | undefined;
  /** Leave the sending to workers. */
  readonly publishes?: boolean | undefined;
  /** Set aside a file that is in the way of the promises. */
  readonly moveAside: boolean;
  /** See `openSession`. */
  readonly newLedger?: NewLedgerWord;
  /** Asked before anything is sent to an environment with `confirm`; without it, sending starts unasked. */
  readonly confirm?: ((asked: Confirmation) => Promise<boolean>) | undefined;
}

interface Confirmation {
  readonly actions: number;
  readonly environment: string;
  readonly host: string;
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
  | { readonly kind: "sent"; readonly end: RunEnd };

/** After it resolves, what the service answered is in the ledger, and promises and rejects are written. */
export async function stream(context: RunContext, options: StreamSettings): Promise<StreamResult> {
  const { files, settings, publishes = false, mode } = options;
  const { environment } = settings;
  if (publishes) refuseToPublish(options);
  await using session = await openSession(context, environment, {
    command: `tickets stream ${files.map(inShell).join(" ")}`,
    waitLockMs: options.waitLock,
    sends: !publishes && mode !== "adopt",
    newLedger: options.newLedger,
  });
  const runs = (await session.ledger.runs()).length;
  context.progress.happened({ kind: "ledger opened", environment, runs, isToSend: true });
  await writeLeft(context, session);
  const earlier = publishes ? undefined : await finishEarlierRuns(context, session, deadlineOf(options));
  if (earlier !== undefined && earlier.summary.state !== "finished")
    return { summary: earlier.summary, ending: { kind: "earlier run stopped" } };
  try {
    const { summary, ending } = await streamInput(context, options, session, earlier);
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
  session: Session,
  earlier: EarlierRun | undefined,
): Promise<StreamResult> {
  const { ledger, environment } = session;
  const { mode, publishes = false, startedAt } = options;
  // Promises and rejects have to have a place to go; without a path, promises go to standard output.
  const output = outputPath(options.output, environment.name, context.cwd);
  await refuseReadOnlyFolder(context.cwd);
  if (output !== undefined && mode !== "adopt") await makeWayForOutput(context, session, output, options.moveAside);
  const directory = await emptyPlanFolder(environment);
  const checked = await checkInput(context, { ...options, ledger, directory, lanes: environment.lanes });
  using plan = checked.plan;
  const repeated = earlier && endOfRepeated(earlier, plan, mode);
  if (repeated !== undefined) return repeated;

  context.progress.happened({ kind: "input checked", ...checked });
  if (plan.isRefused || plan.actions.new === 0) return await endUnsent(context, options, checked, session);
  const run = await toRun(context, options, checked, ledger, output);
  if (mode === "adopt") {
    await adoptRun(session, run, plan, options.reason);
    const summary = summaryOf(options, checked, "adopted", EXIT_CODES.ok, { run: run.run });
    return { summary, ending: { kind: "adopted", actions: plan.actions.new } };
  }
  context.progress.happened({ kind: "sending planned", ...checked });
  const { name, confirm } = environment;
  const asked = { actions: plan.actions.new, environment: name, host: new URL(session.baseUrl).host };
  if (confirm && (await options.confirm?.(asked)) === false)
    return { summary: summaryOf(options, checked, "stopped", EXIT_CODES.usage), ending: { kind: "not confirmed" } };
  if (!publishes) await session.key();
  const entered = await enterRun(context, session, run, plan);
  if (publishes) return await endPublished(options, checked, session, entered);
  // Loaded only here: many nights, nothing is sent.
  const { carryOut } = await import("./carry-out.ts");
  const deadline = deadlineOf(options);
  const end = await carryOut(context, { session, run: entered, isResumed: false, deadline, startedAt });
  return { summary: end.summary, ending: { kind: "sent", end } };
}

/** Everything but sending: the ledger is only read, and the plan is thrown away. */
export async function dryRun(context: RunContext, options: StreamSettings): Promise<StreamResult> {
  const { environment } = options.settings;
  {
    await using ledger = await findLedgerOf(environment);
    // Nobody is asked: the dry run reports what the command would end with.
    await agreeToNewLedger(environment, ledger, options.newLedger === true || undefined, context.cwd);
  }
  await using planned = await planInput(context, { ...options, lanes: environment.lanes });
  context.progress.happened({ kind: "input checked", ...planned });
  return await endUnsent(context, options, planned);
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
  { run, summary }: EarlierRun,
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

/** The end of a command that sends nothing. What it learnt is noted, unless this is a dry run, which has no session. */
async function endUnsent(
  context: RunContext,
  options: StreamSettings,
  checked: CheckedInput,
  session?: Session,
): Promise<StreamResult> {
  const { plan, isNews } = checked;
  const { environment } = options.settings;
  const ending = { kind: "nothing sent", checked } as const;
  const flags = inputFlags(options);
  if (plan.isRefused) {
    const next = validateCommand(options.files, flags, environment);
    return { summary: summaryOf(options, checked, "invalid", EXIT_CODES["input-invalid"], { next }), ending };
  }
  if (session === undefined) {
    const [held] = plan.held.heldBy.keys();
    const next = held === undefined ? null : settleCommand(held, environment);
    const exitCode = exitCodeOfDone(plan, { isNews, doubt: undefined });
    return { summary: summaryOf(options, checked, "dry run", exitCode, { next }), ending };
  }
  const { ledger } = session;
  const output = outputPath(options.output, environment.name, context.cwd);
  const { safeCsv } = environment;
  const rejects = options.mode === "adopt" ? [] : await writeNotSent(context, ledger, plan, { output, safeCsv });
  await ledger.noteLearnt({ guard: plan.guard, corrected: plan.corrected() });
  const doubt = await doubtedOf(ledger, [...plan.held.heldBy.keys()]);
  const ofRejects = rejects.length === 0 ? null : streamOfRejects(rejects, flags, context, environment);
  const next = doubt === undefined ? ofRejects : settleCommand(doubt, environment);
  const exitCode = exitCodeOfDone(plan, { isNews, doubt });
  return { summary: summaryOf(options, checked, "nothing new", exitCode, { next, rejects }), ending };
}

async function endPublished(
  options: StreamSettings,
  checked: CheckedInput,
  { ledger, environment }: Session,
  entered: Run,
): Promise<StreamResult> {
  const { plan, isNews } = checked;
  const { run, number, output = null } = entered;
  await noteInJournal(environment, ledger, entered, plan.actions.new);
  const doubt = await doubtedOf(ledger, [...plan.held.heldBy.keys()]);
  const exitCode = exitCodeOfDone(plan, { isNews, doubt });
  const next = doubt === undefined ? resultsCommand(environment, run, "--follow") : settleCommand(doubt, environment);
  const chunks = (await ledger.chunks(number)).length;
  const ahead = (await ledger.runs({ states: ["open"] })).filter((each) => each.number < number).length;
  const summary = summaryOf(options, checked, "published", exitCode, { run, next, output });
  return { summary, ending: { kind: "published", chunks, ahead } };
}

function summaryOf(
  { startedAt, settings: { environment } }: StreamSettings,
  { plan, problems }: CheckedInput,
  state: Summary["state"],
  exitCode: number,
  more: Partial<Pick<Summary, "run" | "next" | "rejects" | "output">> = {},
): Summary {
  return summarise({
    ...{ run: null, environment: environment.name, state, exitCode, of: { ...plan, problems }, ...more },
    durationMs: performance.now() - startedAt,
  });
}

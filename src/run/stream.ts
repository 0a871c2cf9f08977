/** Check, plan, send, and keep every promise. */

import { randomBytes } from "node:crypto";
import { rm } from "node:fs/promises";
import { commandForDoubts, validateCommand } from "../actions/next-command.ts";
import { inShell } from "../actions/text.ts";
import type { Environment } from "../config/environment.ts";
import { crashPoint } from "../disk/crash-points.ts";
import { EXIT_CODES, Failure } from "../failure.ts";
import { wasTold } from "../ledger/invocations.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { mergeOutcomes } from "../ledger/merge.ts";
import { noteMended } from "../ledger/rejected-rows.ts";
import { enterRun, type RunRecord, runsWithDoubts } from "../ledger/runs.ts";
import { hasSameInput, type Manifest, sharesInput, waitsForAnotherRun } from "../plan/files/manifest.ts";
import { pendingIdentities } from "../plan/identity/pending-deeds.ts";
import { carryOut } from "./carry-out.ts";
import { checkInput, type InputOptions, inputFlags } from "./check-input.ts";
import type { CheckedInput } from "./checked-input.ts";
import type { RunContext } from "./context.ts";
import { afterResumed, finishEarlierRuns, type Resumed } from "./earlier-runs.ts";
import { openLedgerToPlan } from "./ledger-to-read.ts";
import { writeLeft } from "./left-unwritten.ts";
import { makeWayForOutput, outputPath, refuseReadOnlyFolder } from "./output-place.ts";
import { planDirectory } from "./places.ts";
import type { RunEnd } from "./run-end.ts";
import { plansOf, sharePlan } from "./run-plan.ts";
import { agreeToNewLedger, type NewLedgerWord } from "./second-ledger.ts";
import { openSession, type Session, tellOpened } from "./session.ts";
import type { Settings } from "./settings.ts";
import { hasUnsentRows, type Summary, summarise } from "./summary.ts";
import { planAside } from "./validate.ts";

export interface StreamSettings extends InputOptions {
  readonly settings: Settings;
  /** File for the promises; `-`: where `RunContext.promisesTo` says; absent: a file named after the input. */
  readonly output?: string | undefined;
  readonly again: boolean;
  /** Set aside a file that is in the way of the promises. */
  readonly force: boolean;
  readonly safeCsv: boolean;
  /** Milliseconds after which nothing new is begun. */
  readonly maxDuration?: number | undefined;
  /** Milliseconds to wait while another run holds the ledger. */
  readonly waitLock: number;
  /** When it began, by `performance.now()`. */
  readonly startedAt: number;
  /** Asked before anything is sent to an environment with `confirm`; without it, sending starts unasked. */
  readonly confirm?: ((asked: Confirmation) => Promise<boolean>) | undefined;
  readonly newLedger?: NewLedgerWord;
}

interface Confirmation {
  readonly actions: number;
  readonly environment: string;
  readonly host: string;
}

/** The result of a stream. */
export interface StreamResult {
  readonly summary: Summary;
  readonly ending: StreamEnding;
}

type StreamEnding =
  /** A run that came first did not finish; the input was not read. */
  | { readonly kind: "earlier run stopped" }
  /** The same command was interrupted before; its run's result is reported. */
  | { readonly kind: "same input"; readonly isAgain: boolean }
  /** An interrupted `--again` run with some of this input is done. Whether this command asks for yet another can't be told. */
  | { readonly kind: "interrupted again" }
  | PlanEnding
  | { readonly kind: "not confirmed" }
  | { readonly kind: "sent"; readonly end: RunEnd };

/** Nothing is sent: the input is invalid, nothing in it is new, or this is a dry run. */
export interface PlanEnding extends CheckedInput {
  readonly kind: "nothing sent";
  readonly otherwise: "nothing new" | "dry run";
  readonly environment: Environment;
  /** Runs with doubts that the input waits for, oldest first. */
  readonly doubts: readonly string[];
}

/** Everything but sending: the ledger is only read, and the plan is thrown away. */
export async function dryRun(context: RunContext, options: StreamSettings): Promise<StreamResult> {
  const { config, environment } = options.settings;
  using ledger = await openLedgerToPlan(context, environment);
  tellOpened(context, { environment, ledger }, false);
  const { lanes } = environment;
  await using checked = await planAside(context, { ...options, config, environment, ledger, run: "dry-run", lanes });
  const { files, plan, problems } = checked;
  return endOfPlan(context, options, { files, plan, problems }, { environment, ledger }, "dry run");
}

/** After it resolves, what the service answered is in the ledger, and promises and rejects are written. */
export async function stream(context: RunContext, options: StreamSettings): Promise<StreamResult> {
  const { startedAt, maxDuration, files, settings } = options;
  const deadline = maxDuration === undefined ? Number.POSITIVE_INFINITY : startedAt + maxDuration;
  await using session = await openSession(context, settings, {
    command: `tickets stream ${files.map(inShell).join(" ")}`,
    waitLockMs: options.waitLock,
    sends: true,
  });
  tellOpened(context, session, true);
  await agreeToNewLedger(session, options.newLedger, context.cwd);
  await writeLeft(context, session);

  const resumed = await finishEarlierRuns(context, session, deadline);
  if (resumed !== null && resumed.summary.state !== "finished")
    return { summary: resumed.summary, ending: { kind: "earlier run stopped" } };
  mergeOutcomes(session.ledger);
  try {
    const planned = await planInput(context, options, { session, resumed });
    return "ending" in planned ? planned : await sendPlanned(context, options, { ...planned, deadline });
  } catch (cause) {
    throw resumed === null ? cause : saidOfInput(cause, files);
  }
}

/** Rewords a failure for a command that has already sent something for an earlier run. */
function saidOfInput(cause: unknown, files: readonly string[]): unknown {
  if (!(cause instanceof Failure)) return cause;
  const { code, message, hint } = cause;
  const ofInput = (text: string): string =>
    text.replaceAll("Nothing was sent.", `Nothing of ${files.join(", ")} was sent.`);
  return new Failure(code, ofInput(message), { hint: hint && ofInput(hint), cause: cause.cause });
}

/** What is known before the input is read. */
interface Before {
  readonly session: Session;
  readonly resumed: Resumed | null;
}

/** What is new of an input, about to become a run. */
export interface PlannedInput extends Before {
  readonly run: string;
  readonly output: string | undefined;
  readonly checked: CheckedInput;
  readonly manifest: Manifest;
  readonly discard: () => Promise<void>;
}

/**
 * Checks the input and plans what is new in it. Earlier runs are done, or are sent by others first.
 *
 * @returns how the command ends where nothing of it is to be sent.
 */
export async function planInput(
  context: RunContext,
  options: StreamSettings,
  before: Before,
): Promise<PlannedInput | StreamResult> {
  const { session, resumed } = before;
  const { ledger, environment } = session;
  const output = outputPath(options, environment.name, context.cwd);
  await refuseReadOnlyFolder(context.cwd, "Nothing was sent.");
  if (output !== undefined) await makeWayForOutput(context, session, output, options);

  const run = newRunId();
  const directory = planDirectory(environment, run);
  const discard = (): Promise<void> => rm(directory, { recursive: true, force: true });
  const checked = await checkInput(context, {
    ...options,
    config: options.settings.config,
    directory,
    run,
    environment: { environment, boundTo: session.boundTo },
    ledger,
    pending: await pendingIdentities(ledger, plansOf(session, context)),
    lanes: environment.lanes,
    copyInputs: true,
    rereadFlags: inputFlags(options),
  }).catch(async (cause: unknown) => {
    // The unfinished plan may be what filled the disk.
    await discard().catch(() => undefined);
    throw cause;
  });
  const { plan } = checked;
  const isNothingNew = plan.manifest !== undefined && plan.actions.planned === 0 && !hasUnsentRows(plan.rows);
  if (resumed !== null && !isNothingNew && hasSameInput(resumed.manifest, plan)) {
    // The same command after an interruption reports that run's result. What the service has just rejected is not sent again.
    await discard();
    const isAgain = options.again && resumed.manifest.again;
    return { summary: resumed.summary, ending: { kind: "same input", isAgain } };
  }
  if (plan.manifest === undefined || isNothingNew) {
    if (plan.manifest !== undefined) noteMended(ledger, plan.mendings);
    await discard();
    const ended = endOfPlan(context, options, checked, session, "nothing new");
    return { ...ended, summary: afterResumed(ended.summary, resumed?.summary) };
  }
  if (options.again && resumed?.manifest.again === true && sharesInput(resumed.manifest, plan)) {
    // Whether this repeats the interrupted command or asks to send once more can't be told otherwise.
    await discard();
    const summary = { ...resumed.summary, exitCode: EXIT_CODES["stopped-early"] };
    return { summary, ending: { kind: "interrupted again" } };
  }
  return { ...before, run, output, checked, manifest: plan.manifest, discard };
}

async function sendPlanned(
  context: RunContext,
  options: StreamSettings,
  planned: PlannedInput & { readonly deadline: number },
): Promise<StreamResult> {
  const { session, resumed, deadline, checked } = planned;
  const { startedAt } = options;
  const entered = await enterPlanned(context, options, planned, async () => {
    if (checked.plan.actions.planned > 0) await session.key();
  });
  if ("ending" in entered) return entered;
  const end = await carryOut(context, { session, run: entered, isResumed: false, deadline, startedAt });
  const { vanished } = checked.plan;
  const summary = { ...end.summary, ...(vanished !== undefined && { vanished }) };
  return { summary: afterResumed(summary, resumed?.summary), ending: { kind: "sent", end } };
}

/**
 * Enters what is new in the input, once a person who has to be asked agrees.
 *
 * @param prepare called before.
 */
export async function enterPlanned(
  context: RunContext,
  options: StreamSettings,
  planned: PlannedInput,
  prepare: () => Promise<void>,
): Promise<RunRecord | StreamResult> {
  const { session, resumed, run, output, checked, manifest } = planned;
  const { ledger, environment } = session;
  const { plan, problems } = checked;
  const { startedAt, maxProblems } = options;
  const { progress } = context;
  progress.happened({ kind: "input checked", checked, maxProblems, wasTold: (digest) => wasTold(ledger, digest) });
  progress.happened({ kind: "sending planned", plan, manifest });
  if (!(await isConfirmed(options, session, plan.actions.planned))) {
    await planned.discard();
    const summary = summarise({
      run: null,
      environment: environment.name,
      state: "stopped",
      exitCode: EXIT_CODES.usage,
      plan,
      problems,
      durationMs: performance.now() - startedAt,
      resumed: resumed?.summary ?? null,
      vanished: plan.vanished,
    });
    return { summary, ending: { kind: "not confirmed" } };
  }
  await prepare();
  crashPoint("planned");
  await sharePlan(context, session, run, plan.actions.planned);
  crashPoint("plan shared");
  const record = enterRun(ledger, {
    run,
    manifest: JSON.stringify(manifest),
    output,
    chunks: manifest.chunks,
    at: manifest.createdAt,
    mendings: plan.mendings,
  });
  crashPoint("entered");
  return record;
}

async function isConfirmed({ confirm }: StreamSettings, session: Session, actions: number): Promise<boolean> {
  const { environment, baseUrl } = session;
  if (!environment.confirm || confirm === undefined || actions === 0) return true;
  return confirm({ actions, environment: environment.name, host: new URL(baseUrl).host });
}

/** Eight hexadecimal digits: short enough to type, and the ledger refuses a second one of the same name. */
function newRunId(): string {
  return randomBytes(4).toString("hex");
}

/** The end of a command that sends nothing. */
function endOfPlan(
  context: RunContext,
  options: StreamSettings,
  checked: CheckedInput,
  { environment, ledger }: { readonly environment: Environment; readonly ledger: Ledger | undefined },
  otherwise: PlanEnding["otherwise"],
): StreamResult {
  const { plan, problems } = checked;
  const isInvalid = plan.manifest === undefined;
  const isRemembered = otherwise === "nothing new" && !isInvalid && ledger !== undefined;
  context.progress.happened({
    kind: "input checked",
    checked,
    maxProblems: options.maxProblems,
    wasTold: isRemembered ? (digest) => wasTold(ledger, digest) : undefined,
  });
  const waits = waitsForAnotherRun(plan.actions);
  const doubts = waits && ledger !== undefined ? runsWithDoubts(ledger).map(({ run }) => run) : [];
  const exitCode = isInvalid
    ? EXIT_CODES["input-invalid"]
    : waits && otherwise === "nothing new"
      ? EXIT_CODES["in-doubt"]
      : hasUnsentRows(plan.rows)
        ? EXIT_CODES["finished-with-rejects"]
        : EXIT_CODES.ok;
  const summary = summarise({
    run: null,
    environment: environment.name,
    state: isInvalid ? "invalid" : otherwise,
    exitCode,
    plan,
    problems,
    durationMs: performance.now() - options.startedAt,
    vanished: plan.vanished,
    next: isInvalid
      ? validateCommand(options.files, inputFlags(options), environment)
      : waits
        ? commandForDoubts(doubts, environment)
        : null,
  });
  return { summary, ending: { kind: "nothing sent", otherwise, environment, doubts, ...checked } };
}

/** Check, plan, enter, send, and keep every promise. */

import { createHash, randomBytes } from "node:crypto";
import {
  resultsCommand,
  settleCommand,
  streamCommand,
  streamOfRejects,
  validateCommand,
} from "../actions/next-command.ts";
import { inShell } from "../actions/text.ts";
import type { Environment } from "../config/environment.ts";
import { crashPoint } from "../disk/crash-points.ts";
import { EXIT_CODES, Failure } from "../failure.ts";
import type { Ledger, NewRun, Run } from "../ledger/ledger.ts";
import { machineOf } from "../write/output-file.ts";
import { carryOut, deadlineOf } from "./carry-out.ts";
import { checkInput, type InputOptions, inputFlags, toldBefore } from "./check-input.ts";
import type { RunContext } from "./context.ts";
import { agreeToNewLedger, findLedgerOf, type NewLedgerWord } from "./ledger-of.ts";
import { isEnteredHere, makeWayForOutput, openPromises, outputPath, refuseReadOnlyFolder } from "./outputs.ts";
import { planFolder, removeLeftPlans } from "./places.ts";
import type { CheckedInput } from "./progress.ts";
import { toRejectsInput, writeNotSent } from "./rejects.ts";
import { doubtedOf, whyItWaits } from "./runs.ts";
import { byUser, noteInJournal, openSession, type Session } from "./session.ts";
import type { Settings } from "./settings.ts";
import { exitCodeOfDone, type RunEnd, type Summary, summarise } from "./summary.ts";
import { plan } from "./validate.ts";

export interface StreamSettings extends InputOptions {
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
  readonly safeCsv: boolean;
  /** Milliseconds after which nothing new is begun. */
  readonly maxDuration?: number | undefined;
  /** Milliseconds to wait while another command holds the ledger. */
  readonly waitLock: number;
  /** When it began, by `performance.now()`. */
  readonly startedAt: number;
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
  | ({ readonly kind: "nothing sent" } & NothingSent)
  | { readonly kind: "not confirmed" }
  | { readonly kind: "adopted"; readonly actions: number }
  | {
      readonly kind: "published";
      readonly run: string;
      readonly environment: Environment;
      readonly chunks: number;
      readonly output: string | undefined;
      readonly ahead: number;
    }
  | { readonly kind: "sent"; readonly end: RunEnd };

/** The input is invalid, nothing in it is new, or this is a dry run. */
export interface NothingSent {
  readonly of: Pick<CheckedInput["plan"], "rows" | "actions" | "isRefused" | "isUnfit" | "lanes" | "held" | "byAction">;
  readonly problems: CheckedInput["problems"];
  readonly otherwise: "nothing new" | "dry run";
  readonly mode: StreamSettings["mode"];
  readonly environment: Environment;
}

/** An input that was checked for this command. */
interface Checked extends CheckedInput {
  /** Something changed of which no earlier command told. */
  readonly isNews: boolean;
}

/** Everything but sending: the ledger is only read, and the plan is thrown away. */
export async function dryRun(context: RunContext, options: StreamSettings): Promise<StreamResult> {
  const { environment } = options.settings;
  {
    await using ledger = await findLedgerOf(environment);
    // It asks nothing: it tells what the command would end with.
    await agreeToNewLedger(environment, ledger, options.newLedger === true || undefined, context.cwd);
  }
  await using planned = await plan(context, { ...options, lanes: environment.lanes });
  const checked = await tellChecked(context, options, planned, planned.told);
  const [doubt] = planned.plan.held.heldBy.keys();
  return endOfPlan(context, options, checked, { otherwise: "dry run", rejects: [], doubt });
}

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
  const { ledger } = session;
  const runs = (await ledger.runs()).length;
  context.progress.happened({ kind: "ledger opened", environment, runs, isToSend: true });
  await removeLeftPlans(environment);
  await writeLeft(context, session);
  const resumed = publishes ? undefined : await finishEarlierRuns(context, session, deadlineOf(options));
  if (resumed !== undefined && resumed.summary.state !== "finished")
    return { summary: resumed.summary, ending: { kind: "earlier run stopped" } };
  try {
    const ended = await streamInput(context, options, session, resumed);
    return { ...ended, summary: afterResumed(ended.summary, resumed?.summary) };
  } catch (cause) {
    throw resumed === undefined ? cause : saidOfInput(cause, files);
  }
}

function refuseToPublish({ files, output, settings: { environment } }: StreamSettings): void {
  const { ledgerServer, ledgerPath, name, named } = environment;
  if (ledgerServer === undefined)
    throw new Failure(
      "usage",
      `The ledger of ${name} is a file of this machine (${ledgerPath}), which workers elsewhere can't reach. Nothing was published.`,
      {
        hint: `Send it from here: ${streamCommand(files, { named })}\nOr put the ledger into PostgreSQL: ledger: {postgres: {url: {env: TICKETS_LEDGER_URL}}} in the environment`,
      },
    );
  if (output === "-")
    throw new Failure(
      "usage",
      "A run that is published has no promises for standard output yet. Nothing was published.",
      { hint: "Name a file for them, or leave --output out." },
    );
}

/** Promises that a command which was killed did not write, of runs that have ended since. */
async function writeLeft(context: RunContext, { ledger, environment }: Session): Promise<void> {
  for (const run of await ledger.runs({ unwritten: true })) {
    if (run.state === "open" || run.state === "closing" || !isEnteredHere(ledger, run)) continue;
    await using promises = await openPromises(context, ledger, run, environment);
    const files = promises.path === undefined ? [] : [promises.path];
    context.progress.happened({ kind: "left written", run: run.run, files });
  }
}

/** The last of the earlier runs; its summary holds those of the others. */
interface Resumed {
  readonly summary: Summary;
  readonly run: Run;
}

/** The exit code of an earlier run must not be hidden by a quiet end of this one. */
function afterResumed(summary: Summary, resumed: Summary | undefined): Summary {
  if (resumed === undefined || summary === resumed) return summary;
  const exitCode = summary.exitCode === EXIT_CODES.ok ? resumed.exitCode : summary.exitCode;
  return { ...summary, exitCode, resumed };
}

/** Unfinished runs come first. One that a person stopped, or that is in doubt, waits for a person. */
async function finishEarlierRuns(
  context: RunContext,
  session: Session,
  deadline: number,
): Promise<Resumed | undefined> {
  const { ledger, environment } = session;
  let last: Resumed | undefined;
  for (const run of await ledger.runs({ states: ["open", "closing"] })) {
    const waits = await whyItWaits(ledger, run, environment);
    if (waits !== undefined) throw waits;
    context.progress.happened({ kind: "earlier run comes first", run: run.run, createdAt: run.createdAt });
    const startedAt = performance.now();
    const end = await carryOut(context, { session, run, isResumed: true, deadline, startedAt });
    last = { summary: afterResumed(end.summary, last?.summary), run };
    if (end.summary.state !== "finished") break;
  }
  return last;
}

/** Rewords a failure for a command that has already sent something for an earlier run. */
function saidOfInput(cause: unknown, files: readonly string[]): unknown {
  if (!(cause instanceof Failure)) return cause;
  const { code, message, hint } = cause;
  const ofInput = (text: string): string =>
    text.replaceAll("Nothing was sent.", `Nothing of ${files.join(", ")} was sent.`);
  return new Failure(code, ofInput(message), { hint: hint && ofInput(hint), cause: cause.cause });
}

async function streamInput(
  context: RunContext,
  options: StreamSettings,
  session: Session,
  resumed: Resumed | undefined,
): Promise<StreamResult> {
  const { ledger, environment } = session;
  const { mode, safeCsv } = options;
  const { config } = options.settings;
  const output = outputPath(options.output, environment.name, context.cwd);
  await refuseReadOnlyFolder(context.cwd);
  if (output !== undefined && mode !== "adopt") await makeWayForOutput(context, ledger, environment, output, options);
  const directory = planFolder(environment, randomBytes(4).toString("hex"));
  const where = { config, environment, ledger, directory, lanes: environment.lanes };
  const found = await checkInput(context, { ...options, ...where });
  using planned = found.plan;
  if (
    resumed !== undefined &&
    isSameInput(resumed.run, planned) &&
    (mode === "resend" || !isMoreThan(resumed, planned))
  )
    // The same command after an interruption reports that run's result. What was just rejected is not sent again at once.
    return { summary: resumed.summary, ending: { kind: "same input" } };
  if (resumed !== undefined && mode === "resend") {
    // The earlier run may have sent some of it just now.
    const summary = { ...resumed.summary, exitCode: EXIT_CODES["stopped-early"] };
    return { summary, ending: { kind: "resend waits" } };
  }
  const checked = await tellChecked(context, options, found, (marks) => ledger.told(marks));
  if (planned.isRefused) return endOfPlan(context, options, checked, { otherwise: "nothing new", rejects: [] });
  if (mode === "judge") await ledger.noteCorrected(planned.corrected());
  const last = (await ledger.runs({ last: 1 })).at(-1);
  const rows = { output, safeCsv, last };
  if (planned.actions.new === 0) {
    const rejects = mode === "adopt" ? [] : await writeNotSent(context, ledger, planned, rows);
    await ledger.noteGuard(planned.guard);
    const doubt = await doubtedOf(ledger, [...planned.held.heldBy.keys()]);
    return endOfPlan(context, options, checked, { otherwise: "nothing new", rejects, doubt });
  }
  const run = toRun(context, options, checked, ledger, { id: idOfRun(ledger, last, planned), output });
  if (mode === "adopt") return await adopt(options, checked, session, run);
  context.progress.happened({ kind: "sending planned", ...found });
  if (!(await isConfirmed(options, session, planned.actions.new)))
    return { summary: summaryOf(options, checked, "stopped", EXIT_CODES.usage), ending: { kind: "not confirmed" } };
  if (options.publishes !== true) await session.key();
  const rejects = await writeNotSent(context, ledger, planned, { ...rows, id: run.run });
  crashPoint("planned");
  const ahead = (await ledger.runs({ states: ["open"] })).length;
  await ledger.enterRun({ ...run, options: { ...run.options, rejects } }, planned.chunks(), planned.byKey());
  const entered = await ledger.run(run.run);
  if (entered === undefined) throw new Error(`run ${run.run} vanished while it was entered`);
  planned[Symbol.dispose]();
  if (options.publishes === true) return await published(options, checked, session, entered, ahead);
  const { startedAt } = options;
  const deadline = deadlineOf(options);
  const end = await carryOut(context, { session, run: entered, isResumed: false, deadline, startedAt });
  return { summary: end.summary, ending: { kind: "sent", end } };
}

async function adopt(
  options: StreamSettings,
  checked: Checked,
  { environment, ledger }: Session,
  run: NewRun,
): Promise<StreamResult> {
  const { plan: planned } = checked;
  const actions = planned.actions.new;
  const by = { ...byUser(options.reason), at: run.createdAt };
  await ledger.adopt({ ...run, output: undefined }, planned.byKey(), by);
  await ledger.noteCorrected(planned.corrected());
  const adopted = await ledger.run(run.run);
  if (adopted !== undefined) await noteInJournal(environment, ledger, adopted, actions);
  const summary = summaryOf(options, checked, "adopted", EXIT_CODES.ok, { run: run.run });
  return { summary, ending: { kind: "adopted", actions } };
}

/** The same for a command that is given once more, so that rejects which a killed one wrote are known as this run's. */
function idOfRun({ instance }: Ledger, last: Run | undefined, { inputs }: CheckedInput["plan"]): string {
  const of = [instance, last?.run, inputs.map(({ name, sha256 }) => [name, sha256])];
  return createHash("sha256").update(JSON.stringify(of)).digest("hex").slice(0, 8);
}

const isSameInput = (run: Run, { inputs }: CheckedInput["plan"]): boolean =>
  run.inputs.length === inputs.length && inputs.every(({ sha256 }, at) => run.inputs[at]?.sha256 === sha256);

/** Whether more is new than what the run has left: it sent but the first rows, or was mapped otherwise. */
const isMoreThan = ({ summary: { actions } }: Resumed, planned: CheckedInput["plan"]): boolean =>
  planned.actions.new > actions.rejected + actions.notSent;

async function tellChecked(
  { progress }: RunContext,
  { maxProblems }: StreamSettings,
  { files, plan: planned, problems }: CheckedInput,
  told: Ledger["told"],
): Promise<Checked> {
  const { known, isNews } = await toldBefore(problems, told);
  const checked = { files, plan: planned, problems };
  progress.happened({ kind: "input checked", checked, maxProblems, told: known });
  return { ...checked, isNews };
}

function toRun(
  { cwd, now }: RunContext,
  options: StreamSettings,
  { plan: planned, problems, isNews }: Checked,
  ledger: Ledger,
  { id, output }: { readonly id: string; readonly output: string | undefined },
): NewRun {
  const { errors, warnings } = problems;
  return {
    run: id,
    createdAt: (now?.() ?? new Date()).toISOString(),
    environment: options.settings.environment.name,
    output,
    inputs: planned.inputs.map((input) => {
      const { readAs: source, sha256, rows } = input;
      return { ...toRejectsInput(input), source, sha256, rows };
    }),
    rows: { ...planned.rows },
    actions: { ...planned.actions },
    byAction: planned.byAction,
    problems: { errors, warnings },
    options: {
      directory: cwd,
      machine: machineOf(ledger) ?? null,
      safeCsv: options.safeCsv,
      flags: [...inputFlags(options)],
      order: options.order ?? "input",
      tellsChange: isNews,
      heldBy: [...planned.held.heldBy.keys()],
    },
    guard: planned.guard,
  };
}

async function isConfirmed({ confirm }: StreamSettings, session: Session, actions: number): Promise<boolean> {
  const { environment, baseUrl } = session;
  if (!environment.confirm || confirm === undefined) return true;
  return confirm({ actions, environment: environment.name, host: new URL(baseUrl).host });
}

function summaryOf(
  { startedAt, settings: { environment } }: StreamSettings,
  { plan: planned, problems }: CheckedInput,
  state: Summary["state"],
  exitCode: number,
  more: Partial<Pick<Summary, "run" | "next" | "rejects" | "output">> = {},
): Summary {
  const { run = null, ...rest } = more;
  return summarise({
    ...{ run, environment: environment.name, state, exitCode, of: { ...planned, problems }, ...rest },
    durationMs: performance.now() - startedAt,
  });
}

async function published(
  options: StreamSettings,
  checked: Checked,
  { ledger, environment }: Session,
  entered: Run,
  ahead: number,
): Promise<StreamResult> {
  const { plan: planned, isNews } = checked;
  const { run, number, output } = entered;
  await noteInJournal(environment, ledger, entered, planned.actions.new);
  const doubt = await doubtedOf(ledger, [...planned.held.heldBy.keys()]);
  const exitCode = exitCodeOfDone(planned, { isNews, doubt });
  const next = doubt === undefined ? resultsCommand(environment, run, "--follow") : settleCommand(doubt, environment);
  const chunks = (await ledger.chunks(number)).length;
  return {
    summary: summaryOf(options, checked, "published", exitCode, { run, next, output: output ?? null }),
    ending: { kind: "published", run, environment, chunks, output, ahead },
  };
}

/** The end of a command that sends nothing. */
function endOfPlan(
  context: Pick<RunContext, "cwd">,
  options: StreamSettings,
  checked: Checked,
  {
    otherwise,
    rejects,
    doubt,
  }: Pick<NothingSent, "otherwise"> & {
    readonly rejects: readonly string[];
    /** A run with a doubt that holds something back. */
    readonly doubt?: string | undefined;
  },
): StreamResult {
  const { plan: planned, problems, isNews } = checked;
  const { environment } = options.settings;
  const { rows, actions, isRefused, isUnfit, lanes, held, byAction } = planned;
  const of = { rows, actions, isRefused, isUnfit, lanes, held, byAction };
  const ending = { kind: "nothing sent", of, problems, otherwise, mode: options.mode, environment } as const;
  const flags = inputFlags(options);
  if (isRefused) {
    const next = validateCommand(options.files, flags, environment);
    return { summary: summaryOf(options, checked, "invalid", EXIT_CODES["input-invalid"], { next }), ending };
  }
  const exitCode = exitCodeOfDone(planned, { isNews, doubt: otherwise === "dry run" ? undefined : doubt });
  const ofRejects = rejects.length === 0 ? null : streamOfRejects(rejects, flags, context, environment);
  const next = doubt === undefined ? ofRejects : settleCommand(doubt, environment);
  return { summary: summaryOf(options, checked, otherwise, exitCode, { next, rejects }), ending };
}

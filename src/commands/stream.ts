/** `tickets stream`: check, plan, send, and keep every promise. */

import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { access, open, rm } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { count, fileInShell, inShell, number } from "../actions/text.ts";
import type { CrossActionRule } from "../checks/rules.ts";
import { displayPath } from "../config/config.ts";
import type { Environment } from "../config/environment.ts";
import { crashPoint } from "../disk/crash-points.ts";
import { EXIT_CODES, Failure } from "../failure.ts";
import { noteKnownIdRules } from "../ledger/id-rules.ts";
import { wasTold } from "../ledger/invocations.ts";
import { mergeOutcomes } from "../ledger/known-state.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { NOTHING_PENDING } from "../ledger/pending.ts";
import { noteMended } from "../ledger/rejected-rows.ts";
import { chunksOf, countRun, enterRun, openRuns, type RunRecord } from "../ledger/runs.ts";
import { adoptMoved, inspectOutput, makeOutputFolder, type OutputState, setAside } from "../outputs/output-file.ts";
import { promiseFormat, promisesHeader } from "../outputs/promise-lines.ts";
import {
  hasSameInput,
  lanesOf,
  type Manifest,
  parseManifest,
  sharesInput,
  waitsForAnotherRun,
} from "../plan/manifest.ts";
import { pendingIdentities } from "../plan/pending.ts";
import type { ToldWarnings } from "../plan/told-warnings.ts";
import { type CheckedInput, checkInput, type InputOptions, inputFlags } from "../run/check-input.ts";
import { openLedgerToPlan } from "../run/ledger-to-read.ts";
import { environmentFlags } from "../run/next-command.ts";
import { planDirectory } from "../run/places.ts";
import { openSession, type Session, tellOpened } from "../run/session.ts";
import { type EnvironmentOptions, loadSettings, type Settings } from "../run/settings.ts";
import { hasUnsentRows, type Summary, summarise } from "../run/summary.ts";
import { makeTemporaryFolder } from "../run/temporary.ts";
import type { Context } from "./context.ts";
import { writeLeft } from "./left-unwritten.ts";
import { tellProblems, tellSkipped } from "./problems.ts";
import {
  carryOut,
  commandForDoubts,
  hasLostRuns,
  isOfResetSandbox,
  lockOutput,
  refuseClosing,
  refuseStrangeOutput,
  tellRunsWithDoubts,
} from "./run.ts";
import { runContextOf } from "./run-context.ts";
import { describeActions, describeRows, describeSent, tellChanged, tellVanished } from "./summary.ts";
import { traceSummary } from "./trace.ts";

export interface StreamOptions extends InputOptions, EnvironmentOptions {
  readonly output?: string | undefined;
  readonly again: boolean;
  readonly dryRun: boolean;
  readonly force: boolean;
  readonly json: boolean;
  readonly yes: boolean;
  readonly safeCsv: boolean;
  /** Milliseconds. */
  readonly maxDuration?: number | undefined;
  readonly waitLock: number;
}

export async function stream(options: StreamOptions, context: Context): Promise<number> {
  const startedAt = performance.now();
  const { reporter, trace } = context;
  trace.files = options.files;
  trace.isKept = !options.dryRun;
  const settings = await loadSettings(runContextOf(context), options, options.dryRun ? "one" : "to send");
  const output = options.output ?? settings.environment.output;
  if (options.json && output === "-")
    throw new Failure("usage", "--json and --output - would both write to standard output. Nothing was sent.", {
      hint: "Name a file for the promises.",
    });
  const summary = options.dryRun
    ? await dryRun(options, context, settings, startedAt)
    : await send({ ...options, output }, context, settings, startedAt);
  traceSummary(trace, summary);
  if (options.json) reporter.out(`${JSON.stringify(summary)}\n`);
  if (settings.environment.kind === "sandbox") reporter.notice("SANDBOX: nothing left this machine.");
  return summary.exitCode;
}

/** Everything but sending: the ledger is only looked into, and the plan is thrown away. */
async function dryRun(
  options: StreamOptions,
  context: Context,
  { config, environment, neighbours }: Settings,
  startedAt: number,
): Promise<Summary> {
  using ledger = openLedgerToPlan(context, environment);
  tellOpened(runContextOf(context), { environment, neighbours, ledger }, false);
  const directory = await makeTemporaryFolder();
  try {
    const checked = await checkInput(runContextOf(context), {
      ...options,
      config,
      directory: join(directory, "plan"),
      run: "dry-run",
      environment: { environment, boundTo: "" },
      ledger,
      pending:
        ledger === undefined
          ? NOTHING_PENDING
          : await pendingIdentities(ledger, (id) => planDirectory(environment, id)),
      lanes: environment.lanes,
      copyInputs: false,
      rereadFlags: [],
    });
    return tellPlan(context, options, checked, { environment, ledger }, startedAt, "dry run", undefined);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function send(options: StreamOptions, context: Context, settings: Settings, startedAt: number): Promise<Summary> {
  const { reporter } = context;
  const { config } = settings;
  const deadline = options.maxDuration === undefined ? Number.POSITIVE_INFINITY : startedAt + options.maxDuration;
  await using session = await openSession(runContextOf(context), settings, {
    command: `tickets stream ${options.files.map(inShell).join(" ")}`,
    waitLockMs: options.waitLock,
    sends: true,
  });
  const { ledger } = session;
  tellOpened(runContextOf(context), session, true);
  await writeLeft(context, session);

  const resumed = await finishEarlierRuns(context, session, deadline);
  if (resumed !== null && resumed.summary.state !== "finished") {
    reporter.error(`${options.files.join(", ")} ${options.files.length === 1 ? "was" : "were"} not read.`);
    return resumed.summary;
  }
  mergeOutcomes(ledger);
  try {
    return await sendInput(options, context, { config, session, resumed, deadline, startedAt });
  } catch (cause) {
    throw resumed === null ? cause : saidOfInput(cause, options.files);
  }
}

/** What a failure says of a command that has sent something already, for a run that came first. */
function saidOfInput(cause: unknown, files: readonly string[]): unknown {
  if (!(cause instanceof Failure)) return cause;
  const { code, message, hint } = cause;
  const ofInput = (text: string): string =>
    text.replaceAll("Nothing was sent.", `Nothing of ${files.join(", ")} was sent.`);
  return new Failure(code, ofInput(message), {
    ...(hint !== undefined && { hint: ofInput(hint) }),
    cause: cause.cause,
  });
}

/** Checks the input, and sends what is new of it. Earlier runs are done. */
async function sendInput(
  options: StreamOptions,
  context: Context,
  {
    config,
    session,
    resumed,
    deadline,
    startedAt,
  }: Pick<Settings, "config"> & {
    readonly session: Session;
    readonly resumed: Resumed | null;
    readonly deadline: number;
    readonly startedAt: number;
  },
): Promise<Summary> {
  const { reporter, cwd } = context;
  const { ledger, environment } = session;
  const output = outputPath(options, environment.name, cwd);
  if (output !== undefined) await makeWayForOutput(context, session, output, options);

  const run = newRunId();
  const directory = planDirectory(environment, run);
  const checked = await checkInput(runContextOf(context), {
    ...options,
    config,
    directory,
    run,
    environment: { environment, boundTo: session.boundTo },
    ledger,
    pending: await pendingIdentities(ledger, (id) => planDirectory(environment, id)),
    lanes: environment.lanes,
    copyInputs: true,
    rereadFlags: inputFlags(options),
  }).catch(async (cause: unknown) => {
    // What was written of the plan may be what filled the disk.
    await rm(directory, { recursive: true, force: true }).catch(() => undefined);
    throw cause;
  });
  const { plan, problems } = checked;
  const isNothingNew = plan.manifest !== undefined && plan.actions.planned === 0 && !hasUnsentRows(plan.rows);
  if (resumed !== null && !isNothingNew && hasSameInput(resumed.manifest, plan)) {
    // The same command after an interruption: what the run came to is its answer. What the service has just rejected is
    // not sent once more, and what can't be told from a repetition is none.
    await rm(directory, { recursive: true, force: true });
    reporter.info(
      options.again && resumed.manifest.again
        ? "That was an interrupted --again, and is done now. To send once more, run the command once more."
        : "That was this very input, and is done now; to send what is still open, run the command once more.",
    );
    return resumed.summary;
  }
  if (plan.manifest === undefined || isNothingNew) {
    if (plan.manifest !== undefined) {
      noteMended(ledger, plan.mendings);
      noteKnownIdRules(ledger, plan.ids);
    }
    await rm(directory, { recursive: true, force: true });
    const told = isNothingNew ? toldWarnings(context, session) : undefined;
    return afterResumed(tellPlan(context, options, checked, session, startedAt, "nothing new", told), resumed?.summary);
  }
  if (options.again && resumed?.manifest.again === true && sharesInput(resumed.manifest, plan)) {
    // Nothing but this tells a repetition of the interrupted command from a wish to send once more.
    await rm(directory, { recursive: true, force: true });
    reporter.error(
      `That was an interrupted --again of some of this input, and is done now. ${options.files.join(", ")} ${options.files.length === 1 ? "was" : "were"} not sent: since the interruption the files, or the way they are read, have changed. To send all of it once more, run the command once more.`,
    );
    return { ...resumed.summary, exitCode: EXIT_CODES["stopped-early"] };
  }
  tellChecked(context, options, checked, toldWarnings(context, session));
  reporter.info(
    `${describeRows(plan.rows)} → ${count(plan.actions.total, "action")}, ${plan.actions.alreadySent === 0 ? "" : `${describeSent(plan)}, `}${describeWaiting(plan)}${number(plan.actions.planned)} to send in ${describeChunks(plan.manifest)}.`,
  );
  if (!(await confirmed(context, session, options, plan.actions.planned))) {
    await rm(directory, { recursive: true, force: true });
    reporter.error("Not confirmed; nothing was sent.");
    context.trace.told.length = 0;
    return summarise({
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
  }
  if (plan.actions.planned > 0) await session.key();
  crashPoint("planned");
  const record = enterRun(ledger, {
    run,
    manifest: JSON.stringify(plan.manifest),
    output,
    chunks: plan.manifest.chunks,
    at: plan.manifest.createdAt,
    mendings: plan.mendings,
    ids: plan.ids,
  });
  crashPoint("entered");
  const summary = await carryOut(context, { session, run: record, deadline, startedAt });
  return afterResumed(
    { ...summary, ...(plan.vanished !== undefined && { vanished: plan.vanished }) },
    resumed?.summary,
  );
}

/** `2 waiting in another run, 3 waiting for those, `, where there are any. */
function describeWaiting({ actions: { pending, waiting } }: CheckedInput["plan"]): string {
  const parts = [
    ...(pending > 0 ? [`${number(pending)} waiting in another run, `] : []),
    ...(waiting > 0 ? [`${number(waiting)} waiting for what another run holds, `] : []),
  ];
  return parts.join("");
}

/** `12 chunks`, `12 chunks, over 4 lanes` */
function describeChunks(manifest: Manifest): string {
  const lanes = lanesOf(manifest);
  return `${count(manifest.chunks.length, "chunk")}${lanes > 1 ? `, over ${lanes} lanes` : ""}`;
}

/** What an earlier run ended with must not be covered by a quiet end of this one. */
function afterResumed(summary: Summary, resumed: Summary | undefined): Summary {
  const exitCode = summary.exitCode === EXIT_CODES.ok && resumed !== undefined ? resumed.exitCode : summary.exitCode;
  return { ...summary, exitCode, resumed: resumed ?? null };
}

/** Eight hexadecimal digits: short enough to type, and the ledger refuses a second one of the same name. */
function newRunId(): string {
  return randomBytes(4).toString("hex");
}

/** The last of the runs that came first; its summary holds those before it. */
interface Resumed {
  readonly summary: Summary;
  readonly manifest: Manifest;
}

/**
 * Unfinished runs come first: what they hold is older than what this command brings. One that a person stopped, or that
 * is in doubt, waits for a person.
 */
async function finishEarlierRuns(context: Context, session: Session, deadline: number): Promise<Resumed | null> {
  let last = null as Resumed | null; // narrowed to null otherwise
  for (const run of openRuns(session.ledger)) {
    refuseClosing(session, run);
    refuseStoppedByPerson(session, run);
    refuseTooManyRejections(session, run);
    context.reporter.info(`The run ${run.run} of ${run.createdAt} is not finished; it comes first.`);
    const summary = await carryOut(context, { session, run, deadline, startedAt: performance.now() });
    last = { summary: afterResumed(summary, last?.summary), manifest: parseManifest(run.manifest) };
    if (summary.state !== "finished") return last;
  }
  return last;
}

function refuseStoppedByPerson(
  { environment, ledger }: Session,
  { run, runNo, stoppedByPerson, createdAt }: RunRecord,
): void {
  const waits = ["in doubt", "refused"] as const;
  if (!stoppedByPerson || waits.some((state) => chunksOf(ledger, runNo, state).length > 0)) return;
  throw new Failure(
    "busy",
    `The run ${run} of ${createdAt} was stopped by a person and comes first. Nothing was sent.`,
    {
      hint: `Go on with it: tickets resume ${run} ${environmentFlags(environment)}\nOr close it: tickets settle ${run} --abandon ${environmentFlags(environment)}`,
    },
  );
}

/** A run that stopped for its rejections waits for someone to look at them; `resume` says that they did. */
function refuseTooManyRejections({ environment, ledger }: Session, { run, runNo, exitCode }: RunRecord): void {
  if (exitCode !== EXIT_CODES.refused || environment.refusalsAreWhole) return;
  if (chunksOf(ledger, runNo, "refused").length > 0 || countRun(ledger, runNo).rejected <= environment.maxRejected)
    return;
  throw new Failure(
    "refused",
    `The run ${run} stopped because the service rejected too many of its actions, and comes first. Nothing was sent.`,
    {
      hint: `Look at them: tickets status ${run} ${environmentFlags(environment)}\nThen go on: tickets resume ${run} ${environmentFlags(environment)}`,
    },
  );
}

function outputPath({ output, files }: StreamOptions, environment: string, cwd: string): string | undefined {
  if (output === "-") return undefined;
  if (output !== undefined) return resolve(cwd, output);
  const first = files[0] ?? "-";
  const stem =
    first === "-"
      ? "stdin"
      : basename(first)
          .replace(/\.(csv|tsv|ndjson|jsonl|json)(\.(gz|zst))?$/i, "")
          .replace(/[*?[\]{}!]+/g, "_");
  return join(cwd, `${stem}.${environment}.promises.ndjson`);
}

/** Sees to it, before anything is sent, that the promises have a place to go. */
async function makeWayForOutput(
  context: Context,
  session: Session,
  path: string,
  { force, safeCsv }: Pick<StreamOptions, "force" | "safeCsv">,
): Promise<void> {
  const { ledger, environment } = session;
  const folder = dirname(path);
  makeOutputFolder(path);
  try {
    await access(folder, constants.W_OK);
  } catch (cause) {
    throw new Failure(
      "usage",
      `${displayPath(path, context.cwd)} can't be written: the folder ${displayPath(folder, context.cwd)} is not writable. Nothing was sent.`,
      { cause, hint: "Name another file with --output." },
    );
  }
  // Whoever else writes this file is told now rather than when the first answer comes.
  using _lock = await lockOutput(context, path, "tickets stream");
  const found = await inspectOutput(ledger, path);
  if (found.state === "ours" && found.movedFrom !== undefined) {
    adoptMoved(ledger, path, found.movedFrom);
    const [was, is] = [found.movedFrom, path].map((each) => displayPath(each, context.cwd));
    context.reporter.info(`${is} was moved here from ${was}, and is appended to.`);
  }
  const state = found.state === "ours" ? await guardedAs(path, found, safeCsv) : found;
  const isOfReset = isOfResetSandbox(state, environment);
  // What the ledger has forgotten would be sent again, and that is more than a file being in the way.
  if (state.state === "strange" && (force || isOfReset) && !hasLostRuns(state, environment)) {
    const aside = await setAside(path, new Date());
    const whose = isOfReset ? " is of the sandbox before its reset, and" : "";
    context.reporter.warn(
      `${displayPath(path, context.cwd)}${whose} was set aside as ${displayPath(aside, context.cwd)}.`,
    );
  } else {
    refuseForgottenOutput(path, state, context, session);
    refuseStrangeOutput(path, state, context, environment);
  }
}

/** A run has written the file, and the ledger has forgotten that; all that the file's end tells it knows again. */
function refuseForgottenOutput(path: string, state: OutputState, { cwd }: Context, session: Session): void {
  const { ledger, runList, environment } = session;
  if (state.state !== "strange" || hasLostRuns(state, environment)) return;
  const isListed = [...runList.content.runs.values()].some(({ outputs }) => outputs.includes(path));
  if (!isListed || ledger.get("SELECT 1 AS one FROM outputs WHERE path = ?", path) !== undefined) return;
  const name = displayPath(path, cwd);
  throw new Failure(
    "usage",
    `${name} is not appended to: a run has written it, and the ledger does not know it any more. Nothing was sent.`,
    {
      hint: `If it is as tickets left it: tickets results --import ${fileInShell(name)} ${environmentFlags(environment)}\nElse name another file with --output, or set this one aside with --force (it is renamed, never deleted).`,
    },
  );
}

/** A CSV file is guarded whole or not at all, so that it says by itself what its cells were. */
async function guardedAs(
  path: string,
  state: Extract<OutputState, { state: "ours" }>,
  safeCsv: boolean,
): Promise<OutputState> {
  const format = promiseFormat(path);
  const header = promisesHeader(format, safeCsv);
  if (format !== "csv" || state.length === 0 || (await readBeginning(path, header.length)) === header) return state;
  const why = `it was begun ${safeCsv ? "without" : "with"} --safe-csv, or by another version`;
  return { state: "strange", why, lostRun: undefined };
}

async function readBeginning(path: string, length: number): Promise<string> {
  await using file = await open(path, "r");
  const bytes = Buffer.alloc(length);
  const { bytesRead } = await file.read(bytes, 0, length, 0);
  return bytes.toString("utf8", 0, bytesRead);
}

async function confirmed(
  { reporter, stop }: Context,
  session: Session,
  { yes }: StreamOptions,
  actions: number,
): Promise<boolean> {
  if (!session.environment.confirm || yes || reporter.ask === undefined || actions === 0) return true;
  return reporter.ask(
    `Send ${count(actions, "action")} to ${session.environment.name} (${new URL(session.baseUrl).host})?`,
    stop,
  );
}

/**
 * What was found in the input: problems, changed actions, skipped rows.
 *
 * @param told undefined where nothing is sent and nothing remembered.
 */
function tellChecked(
  { reporter, verbose }: Context,
  options: InputOptions,
  { plan, problems }: CheckedInput,
  told: ToldWarnings | undefined,
): void {
  const most = options.maxProblems ?? 50;
  const toldElsewhere = "changed" satisfies CrossActionRule;
  tellProblems(reporter, problems, { most, verbose, form: "line", heldFor: plan.heldFor, told, toldElsewhere });
  const isTold = problems.tallies.some(({ rule, severity }) => rule === toldElsewhere && severity === "warn");
  if (isTold) tellChanged(reporter, plan, verbose, told);
  if (plan.vanished !== undefined) tellVanished(reporter, plan.vanished, plan.rows, told);
  tellSkipped(reporter, plan);
}

/** The ledger's memory of warnings. What this run tells is remembered once it has ended and said so. */
function toldWarnings({ trace }: Context, { ledger }: Session): ToldWarnings {
  return {
    was: (digest) => wasTold(ledger, digest),
    note: (digest) => {
      trace.told.push(digest);
    },
  };
}

/** The end of a command that sends nothing: because the input is invalid, because nothing is new, or on purpose. */
function tellPlan(
  context: Context,
  options: StreamOptions,
  checked: CheckedInput,
  { environment, ledger }: { readonly environment: Environment; readonly ledger: Ledger | undefined },
  startedAt: number,
  otherwise: "nothing new" | "dry run",
  told: ToldWarnings | undefined,
): Summary {
  const { reporter } = context;
  const { plan, problems } = checked;
  tellChecked(context, options, checked, told);
  const invalid = plan.manifest === undefined;
  const exitCode = invalid
    ? EXIT_CODES["input-invalid"]
    : waitsForAnotherRun(plan.actions) && otherwise === "nothing new"
      ? EXIT_CODES["in-doubt"]
      : hasUnsentRows(plan.rows)
        ? EXIT_CODES["finished-with-rejects"]
        : EXIT_CODES.ok;
  if (invalid) {
    reporter.error(
      `${describeRows(plan.rows)}. Nothing was sent. Mend the ${plan.rows.invalid > 0 ? "rows" : plan.rows.read === 0 ? "input" : "mapping"}${plan.rows.mapped > 0 && !plan.isUnreadable ? `, or send the valid ones with --max-invalid ${plan.rows.invalid}` : ""}.`,
    );
  } else if (plan.rows.read === 0) reporter.info("The input has no rows: 0 actions, nothing to send.");
  else if (otherwise === "nothing new")
    reporter.info(
      plan.rows.read === plan.rows.mapped && plan.actions.alreadySent === plan.actions.total
        ? `Nothing new: ${plan.actions.total === 1 ? "the one action was" : `all ${number(plan.actions.total)} actions were`} sent before.`
        : `Nothing new: ${describeRows(plan.rows)}; ${describeActions(summaryActions(plan), { repeated: plan.repeated })}.${plan.actions.waiting > 0 ? ` ${describeWaiting(plan).replace(/, $/, "")}.` : ""}`,
    );
  else
    reporter.info(
      `Dry run: ${describeRows(plan.rows)}; ${number(plan.actions.planned)} of ${count(plan.actions.total, "action")} would be sent${plan.manifest !== undefined && lanesOf(plan.manifest) > 1 ? ` in ${describeChunks(plan.manifest)}` : ""}.`,
    );
  if (!invalid && waitsForAnotherRun(plan.actions))
    tellRunsWithDoubts(context, { environment, ledger }, otherwise === "dry run" ? reporter.warn : reporter.error);
  return summarise({
    run: null,
    environment: environment.name,
    state: invalid ? "invalid" : otherwise,
    exitCode,
    plan,
    problems,
    durationMs: performance.now() - startedAt,
    vanished: plan.vanished,
    next: invalid
      ? `tickets validate ${[...options.files.map(fileInShell), ...inputFlags(options).map(inShell)].join(" ")} ${environmentFlags(environment)}`
      : waitsForAnotherRun(plan.actions)
        ? commandForDoubts(ledger, environment)
        : null,
  });
}

function summaryActions(plan: CheckedInput["plan"]): Summary["actions"] {
  return summarise({
    run: null,
    environment: null,
    state: "nothing new",
    exitCode: 0,
    plan,
    problems: { errors: 0, warnings: 0 },
    durationMs: 0,
  }).actions;
}

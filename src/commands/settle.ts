/** `tickets settle`: a person says what became of a chunk, or closes a run. Also `tickets resume`. */

import { existsSync } from "node:fs";
import { type Action, actionSpec } from "../actions/actions.ts";
import { cleanText, count, number } from "../actions/text.ts";
import { displayPath } from "../config/config.ts";
import { crashPoint } from "../disk/crash-points.ts";
import { EXIT_CODES, Failure } from "../failure.ts";
import { mergeOutcomes } from "../ledger/known-state.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { leftToOthers } from "../ledger/left-to-others.ts";
import type { LostRun } from "../ledger/run-list.ts";
import {
  type ChunkRecord,
  chunksOf,
  countRun,
  findRun,
  noteStop,
  openRuns,
  type RunRecord,
  UNDECIDED_STATES,
  wholeOf,
} from "../ledger/runs.ts";
import { canWriteRejects, type RowsOfFile, writeRejects } from "../outputs/rejects.ts";
import { type Manifest, parseManifest } from "../plan/manifest.ts";
import { openPlan, type Plan } from "../plan/plan.ts";
import { carryOut, noteInList, rejectsDirectory, tellSuperseded } from "../run/carry-out.ts";
import { refuseClosing } from "../run/earlier-runs.ts";
import { writeLeft } from "../run/left-unwritten.ts";
import { lostRunsFailure } from "../run/lost-runs.ts";
import { mendLost } from "../run/mend-lost.ts";
import { closeCommand, environmentFlags, streamOfRejects } from "../run/next-command.ts";
import { planDirectory } from "../run/places.ts";
import { openPromises, openPromisesLate } from "../run/promises.ts";
import { whyNotImported } from "../run/promises-file.ts";
import { openSession, type Session, tellOpened } from "../run/session.ts";
import { type EnvironmentOptions, loadSettings } from "../run/settings.ts";
import { type Summary, summarise } from "../run/summary.ts";
import { userName } from "../run/user-name.ts";
import {
  closePlanned,
  closeWithoutPlan,
  type Decision,
  endClosed,
  openQuestions,
  type Settlement,
  settleNotSent,
  settleNotSentWithoutPlan,
  settleSent,
  wasSettledByHand,
} from "../sending/by-hand.ts";
import { isPromisedElsewhere } from "../sending/mend-lost.ts";
import { actionsOf, projectUnwritten, recover } from "../sending/settle.ts";
import { closeSuperseded, findSuperseded } from "../sending/superseded.ts";
import type { Context } from "./context.ts";
import { shown } from "./problems.ts";
import type { Reporter } from "./reporter.ts";
import { runContextOf } from "./run-context.ts";
import { describeActions, describeNothingOpen } from "./summary.ts";
import { traceSummary } from "./trace.ts";

export interface ResumeOptions extends EnvironmentOptions {
  readonly run: string | undefined;
  readonly json: boolean;
  readonly maxDuration: number | undefined;
  readonly waitLock: number;
}

/** Goes on with a run from its plan; the input is not read. */
export async function resume(options: ResumeOptions, context: Context): Promise<number> {
  const startedAt = performance.now();
  const settings = await loadSettings(runContextOf(context), options, "to send");
  const { environment } = settings;
  await using session = await openSession(runContextOf(context), settings, {
    command: "tickets resume",
    waitLockMs: options.waitLock,
    sends: true,
  });
  tellOpened(runContextOf(context), session, true);
  await writeLeft(runContextOf(context), session);
  const run = chooseRun(session, options.run);
  if (run === undefined) {
    context.reporter.info("There is no unfinished run.");
    return EXIT_CODES.ok;
  }
  refuseClosing(session, run);
  // Whoever stopped it wants it to go on: should this process die, the next command finishes it unasked.
  if (run.stoppedByPerson) noteStop(session.ledger, run.runNo, run.exitCode ?? EXIT_CODES["stopped-early"], false);
  const deadline = options.maxDuration === undefined ? Number.POSITIVE_INFINITY : startedAt + options.maxDuration;
  const { summary } = await carryOut(runContextOf(context), { session, run, deadline, startedAt });
  if (options.json) context.reporter.out(`${JSON.stringify(summary)}\n`);
  traceSummary(context.trace, summary);
  if (environment.kind === "sandbox") context.reporter.notice("SANDBOX: nothing left this machine.");
  return summary.exitCode;
}

/** The named run, or the oldest unfinished one. A finished one has nothing left to do. */
function chooseRun({ ledger, environment }: Session, name: string | undefined): RunRecord | undefined {
  if (name === undefined) return openRuns(ledger)[0];
  const run = findRun(ledger, name);
  if (run === undefined) throw unknownRun(name, environment);
  if (run.state === "abandoned")
    throw new Failure("usage", `The run ${name} was closed on ${run.endedAt}; it is not gone on with.`);
  return run.state === "open" ? run : undefined;
}

export function unknownRun(name: string, environment: Session["environment"]): Failure {
  return new Failure("usage", `There is no run ${cleanText(name)} in the ledger of ${environment.name}.`, {
    hint: `Its runs are listed by: tickets status ${environmentFlags(environment)}`,
  });
}

export interface SettleOptions extends EnvironmentOptions {
  readonly run: string;
  readonly decision: Decision | undefined;
  readonly chunk: number | undefined;
  /** Only so many actions, from the chunk's beginning. */
  readonly first: number | undefined;
  readonly reason: string | undefined;
  /** Don't ask before a run is closed. */
  readonly yes?: boolean;
  readonly json: boolean;
  readonly waitLock: number;
}

/** Without a decision it only shows what has to be decided. */
export async function settle(options: SettleOptions, context: Context): Promise<number> {
  const startedAt = performance.now();
  const { reporter } = context;
  const settings = await loadSettings(runContextOf(context), options, "any");
  const { environment } = settings;
  await using session = await openSession(runContextOf(context), settings, {
    command: "tickets settle",
    waitLockMs: options.waitLock,
    mayLackRuns: true,
  });
  const { ledger } = session;
  context.trace.run = options.run;
  await refuseLost(options, context, session);
  // While runs are lost, files may tell more than the ledger knows; that is put right first.
  if (session.lost().length === 0) await writeLeft(runContextOf(context), session);
  const found = findRun(ledger, options.run);
  const lost = session.lost().find(({ run }) => run === options.run);
  const run = lost === undefined ? found : await mendLost(runContextOf(context), session, found, lost);
  if (run === undefined) throw unknownRun(options.run, environment);
  if (options.decision !== undefined) session.runList.changing(ledger, run);
  const closes = options.decision === "abandon";
  if ((closes || run.state !== "open") && !(await isPlanWhole(session, run, closes)))
    return closes && !(await mayClose(options, context, session, run, false))
      ? EXIT_CODES.ok
      : settleWithoutPlan(options, context, session, run, startedAt);
  await using plan = await openPlan(planDirectory(environment, run.run), run.manifest);
  // Who only looks leaves no file behind, unless there is something to write.
  await using promises =
    options.decision === undefined
      ? openPromisesLate(runContextOf(context), session, run)
      : await openPromises(runContextOf(context), session, run);
  const settling = { ledger, plan, runNo: run.runNo, promises };
  await recover(settling);
  const chunks = chosenChunks(session, run, options.chunk);
  refuseTooMany(options, chunks);
  const settlement = settlementOf(options.decision ?? "sent", options.reason);

  switch (options.decision) {
    case undefined:
      await showQuestions(context, ledger, plan, chunks, run, environmentFlags(environment));
      break;
    case "sent":
    case "not-sent":
      if (chunks.length === 0)
        reporter.info(
          options.chunk === undefined
            ? `Nothing of run ${run.run} waits to be settled.`
            : `Chunk ${options.chunk} of run ${run.run} was settled before.`,
        );
      for (const chunk of chunks) {
        // Said of all at once, it would count one deed twice unseen.
        if (options.decision === "sent" && options.chunk === undefined && isPromisedElsewhere(chunk)) {
          reporter.warn(
            `Chunk ${chunk.chunk} waits on: ${cleanText(chunk.detail ?? "", 300)}. If the service has ${count(chunk.count, "action")} more than that promise tells: tickets settle ${run.run} --chunk ${chunk.chunk} --sent ${environmentFlags(environment)} --reason "…". If not: the same with --not-sent.`,
          );
          continue;
        }
        const first = options.first ?? chunk.count;
        if (options.decision === "sent") await settleSent(ledger, plan, chunk, settlement, first);
        else await settleNotSent(ledger, plan, run, chunk, settlement, first);
        reporter.info(
          `Chunk ${chunk.chunk}: ${first < chunk.count ? `the first ${number(first)} of ${count(chunk.count, "action")}` : count(chunk.count, "action")} settled as ${options.decision}.`,
        );
        if (first < chunk.count)
          reporter.info(`The other ${number(chunk.count - first)} wait on as chunk ${restOf(session, chunk, first)}.`);
      }
      await projectUnwritten(settling);
      if (run.state === "open" && !run.isClosing)
        tellSuperseded(runContextOf(context), await closeSuperseded(ledger, plan, run.runNo));
      // A run that a person has put right is theirs to go on with, not theirs to wait for.
      if (run.state === "open" && chunks.length > 0)
        noteStop(ledger, run.runNo, run.exitCode ?? EXIT_CODES["in-doubt"], false);
      break;
    case "abandon":
      if (!(await mayClose(options, context, session, run, true))) return EXIT_CODES.ok;
      if (run.state === "open") await closePlanned(ledger, plan, run, settlement);
      break;
  }
  const rejects =
    options.decision === undefined
      ? undefined
      : await writeRejects({
          ledger,
          run,
          plan,
          directory: rejectsDirectory(runContextOf(context), plan.manifest),
          encoding: plan.manifest.options.encoding,
        });
  crashPoint("rejects written");
  mergeOutcomes(ledger);
  crashPoint("merged");
  if (closes && run.state === "open") endClosed(ledger, run, EXIT_CODES["finished-with-rejects"]);
  crashPoint("ended");
  if (closes) reporter.info(`The run ${run.run} is closed.`);
  if (options.decision !== undefined) noteInList(runContextOf(context), session, run);
  const summary = summaryOf(
    context,
    session,
    findRun(ledger, run.run) ?? run,
    plan.manifest,
    rejects?.paths ?? [],
    promises.path ?? null,
    startedAt,
  );
  reporter.info(`${describeActions(summary.actions, { repeated: plan.manifest.repeated })}.`);
  for (const path of rejects?.paths ?? []) {
    const rows = rejects?.written.get(path);
    // What stands there since an earlier command is named again when the run is closed.
    if (rows === undefined && options.decision !== "abandon") continue;
    reporter.info(`Rejects: ${displayPath(path, context.cwd)}${rows === undefined ? "" : describeRejects(rows)}.`);
  }
  if (rejects !== undefined && rejects.accepted > 0) reporter.info(describeNothingOpen(rejects.accepted));
  if (summary.next !== null && options.decision !== undefined) reporter.info(`Next: ${summary.next}`);
  if (options.json) reporter.out(`${JSON.stringify(summary)}\n`);
  return summary.exitCode;
}

/** ` holds 3 rows that are still open`, ` holds 4 rows, of which 2 were added` or, where all stood there, ` holds 4 rows` */
function describeRejects({ added, held }: RowsOfFile): string {
  if (added === 0) return ` holds ${count(held, "row")}`;
  if (added < held)
    return ` holds ${count(held, "row")}, of which ${number(added)} ${added === 1 ? "was" : "were"} added`;
  return ` holds ${count(held, "row")} that ${held === 1 ? "is" : "are"} still open`;
}

/** A decision about what the ledger only half remembers would be about something else than the person thinks. */
async function refuseLost(
  { decision, run: name }: SettleOptions,
  { cwd, reporter }: Context,
  session: Session,
): Promise<void> {
  const lost = session.lost();
  if (lost.length === 0) return;
  const failure = lostRunsFailure(lost, session.environment, cwd, "Nothing was settled.");
  if (decision !== undefined) throw failure;
  const ofRun = lost.find(({ run }) => run === name);
  if (ofRun === undefined) reporter.warn(failure.message);
  if (ofRun === undefined || ofRun.isDecided) return;
  // What a later run was promised is no doubt of this one.
  const telling = lost.filter(({ run, createdAt }) => run === name || createdAt > ofRun.createdAt);
  for (const each of telling) if (await hasMoreToImport(each, reporter)) throw failure;
}

/** What is known of a run is taken from its promises first; only what they don't tell is a doubt. */
async function hasMoreToImport({ unread }: LostRun, reporter: Reporter): Promise<boolean> {
  for (const path of unread) {
    if (!existsSync(path)) continue;
    const why = await whyNotImported(path);
    if (why === undefined) return true;
    reporter.warn(`What it tells can't be used: ${why}`);
  }
  return false;
}

/** Says what closing the run leaves, and on a terminal asks; not where that was decided before. */
async function mayClose(
  { yes }: SettleOptions,
  { reporter, stop }: Context,
  { ledger }: Session,
  { run, runNo, state, isClosing }: RunRecord,
  hasPlan: boolean,
): Promise<boolean> {
  if (state !== "open" || isClosing) return true;
  const { accepted, rejected, settledByHand, notSent, inDoubt, refused } = countRun(ledger, runNo);
  const [open, done] = [inDoubt + refused, accepted + rejected + settledByHand];
  const parts = [
    ...(done === 0 ? [] : [`${count(done, "action")} ${done === 1 ? "stays" : "stay"} as answered`]),
    ...(notSent === 0
      ? []
      : [
          `${count(notSent, "action")} ${notSent === 1 ? "was" : "were"} not sent and ${hasPlan ? `${notSent === 1 ? "goes" : "go"} into rejects` : "can't be listed, since the plan is lost"}`,
        ]),
    ...(open === 0
      ? []
      : [
          `${count(open, "action")} ${open === 1 ? "stays" : "stay"} in doubt, so no other run sends ${open === 1 ? "it" : "them"}`,
        ]),
  ];
  reporter.info(`Closing run ${run}, which can't be resumed then: ${parts.join("; ")}.`);
  if (yes || reporter.ask === undefined) return true;
  if (await reporter.ask("Close it?", stop)) return true;
  reporter.info("The run stays open.");
  return false;
}

function settlementOf(decision: Decision, reason: string | undefined): Settlement {
  return { decision, who: userName(), reason, at: new Date().toISOString() };
}

const undecidedChunks = ({ ledger }: Session, { runNo }: RunRecord): readonly ChunkRecord[] =>
  UNDECIDED_STATES.flatMap((state) => chunksOf(ledger, runNo, state));

/** Whether the plan still holds every action that nothing is known of, and what `withRejects` are written from. */
async function isPlanWhole(session: Session, run: RunRecord, withRejects: boolean): Promise<boolean> {
  try {
    await using plan = await openPlan(planDirectory(session.environment, run.run), run.manifest);
    for (const chunk of undecidedChunks(session, run)) await plan.chunk(chunk);
    return !withRejects || canWriteRejects(plan);
  } catch {
    return false;
  }
}

/**
 * A run that is closed, or to be closed, when its plan is lost. How many actions it holds is known, and not which: so they
 * can't be remembered as sent, and as long as they are in doubt nothing can be told from them.
 */
function settleWithoutPlan(
  { decision, chunk: only, first, reason, json }: SettleOptions,
  context: Context,
  session: Session,
  run: RunRecord,
  startedAt: number,
): number {
  const { reporter } = context;
  const { ledger, environment } = session;
  const command = `tickets settle ${run.run} ${environmentFlags(environment)}`;
  const isSettled = run.state !== "open" && undecidedChunks(session, run).length === 0;
  if (!isSettled && (decision === "sent" || first !== undefined))
    throw new Failure(
      "usage",
      `The plan of run ${run.run} is lost, so it is not known which actions that would be about. Nothing was settled.`,
      {
        hint: `Restore the folder ${planDirectory(environment, run.run)} from a backup. What can be done without it: ${command}`,
      },
    );
  if (decision === "abandon" && run.state === "open")
    closeWithoutPlan(ledger, run, settlementOf(decision, reason), EXIT_CODES["finished-with-rejects"]);
  if (decision === "not-sent")
    for (const chunk of undecidedChunks(session, run)) {
      if (only !== undefined && only !== chunk.chunk) continue;
      settleNotSentWithoutPlan(ledger, chunk, settlementOf(decision, reason));
      reporter.info(`Chunk ${chunk.chunk}: ${count(chunk.count, "action")} settled as ${decision}.`);
    }
  if (isSettled) reporter.info(`Nothing of run ${run.run} waits to be settled.`);
  else
    reporter.warn(
      `The plan of run ${run.run} is lost, so its rows can't be listed. The run is closed; what it had accepted is remembered.`,
    );
  if (decision !== undefined) noteInList(runContextOf(context), session, run);
  const closed = findRun(ledger, run.run) ?? run;
  const manifest = parseManifest(run.manifest);
  const summary = summaryOf(context, session, closed, manifest, [], run.output ?? null, startedAt);
  const { inDoubt, refused } = summary.actions;
  reporter.info(`${describeActions(summary.actions, { repeated: manifest.repeated })}.`);
  if (summary.next !== null) {
    reporter.error(
      `Whether the service has ${count(inDoubt + refused, "action")} of it is not known, nor which they are. Until that is settled nothing that could be one of them is sent to ${environment.name}.`,
    );
    reporter.info(`Restore the folder ${planDirectory(environment, run.run)} from a backup, then: ${command}`);
    reporter.info(
      `If it is lost: find out what the service has, and take that out of what you stream from now on, since nothing else holds it back. Then: ${command} --not-sent --reason "…"`,
    );
  }
  if (json) reporter.out(`${JSON.stringify(summary)}\n`);
  return summary.exitCode;
}

/** What a chunk's first actions left behind when they were settled without it. */
function restOf({ ledger }: Session, chunk: ChunkRecord, first: number): number | undefined {
  return openQuestions(ledger, chunk.runNo).find((each) => each.first === chunk.first + first)?.chunk;
}

function refuseTooMany({ first, decision, chunk }: SettleOptions, chunks: readonly ChunkRecord[]): void {
  if (first === undefined) return;
  if (chunk === undefined || (decision !== "sent" && decision !== "not-sent"))
    throw new Failure("usage", "--first says how many actions of one chunk a decision is about.", {
      hint: "Name the chunk with --chunk, and say --sent or --not-sent.",
    });
  if (first === 0) throw new Failure("usage", "--first 0 is about no action. Nothing was settled.");
  const most = chunks[0]?.count ?? Number.POSITIVE_INFINITY;
  if (first > most)
    throw new Failure("usage", `Chunk ${chunk} has only ${count(most, "action")}, not ${number(first)}.`);
}

function chosenChunks(
  { ledger, environment }: Session,
  run: RunRecord,
  number_: number | undefined,
): readonly ChunkRecord[] {
  const open = openQuestions(ledger, run.runNo);
  if (number_ === undefined) return open;
  const chosen = open.filter(({ chunk }) => chunk === number_);
  if (chosen.length > 0 || wasSettledByHand(ledger, run.runNo, number_)) return chosen;
  throw new Failure("usage", `Chunk ${number_} of run ${run.run} does not wait to be settled.`, {
    hint:
      open.length === 0
        ? "Nothing of this run does."
        : `These do: ${open.map(({ chunk }) => chunk).join(", ")}. They are shown by: tickets settle ${run.run} ${environmentFlags(environment)}`,
  });
}

function summaryOf(
  context: Context,
  { ledger, environment }: Session,
  run: RunRecord,
  manifest: Manifest,
  rejects: readonly string[],
  output: string | null,
  startedAt: number,
): Summary {
  const counts = countRun(ledger, run.runNo);
  const waiting = counts.inDoubt + counts.refused > 0;
  const env = environmentFlags(environment);
  return summarise({
    run: run.run,
    environment: environment.name,
    state: run.state === "open" ? "stopped" : run.state,
    exitCode: counts.inDoubt > 0 ? EXIT_CODES["in-doubt"] : counts.refused > 0 ? EXIT_CODES.refused : EXIT_CODES.ok,
    plan: manifest,
    problems: manifest.problems,
    counts,
    left: leftToOthers(ledger, run, manifest.actions),
    output,
    rejects,
    durationMs: performance.now() - startedAt,
    next: waiting
      ? `tickets settle ${run.run} ${env}`
      : run.state === "open"
        ? run.isClosing
          ? closeCommand(run, environment)
          : `tickets resume ${run.run} ${env}`
        : rejects.length > 0
          ? streamOfRejects(rejects, manifest.options.flags ?? [], context, env)
          : null,
  });
}

/** How many actions of a doubt are shown one by one. */
const SHOWN = 10;

/** The doubtful actions, and what would happen if they were sent twice. */
async function showQuestions(
  { reporter, verbose }: Context,
  ledger: Ledger,
  plan: Plan,
  chunks: readonly ChunkRecord[],
  run: RunRecord,
  env: string,
): Promise<void> {
  if (chunks.length === 0) reporter.info(`Nothing of run ${run.run} waits to be settled.`);
  for (const chunk of chunks) {
    const actions = await actionsOf(plan, chunk);
    const records = await plan.records(chunk);
    const whole = wholeOf(ledger, chunk);
    reporter.info(
      `Chunk ${chunk.chunk}${whole === undefined ? "" : ` (a part of chunk ${whole})`} is ${chunk.state}: ${count(chunk.count, "action")}, ${number(chunk.first)} to ${number(chunk.first + chunk.count - 1)} of the run. ${cleanText(chunk.detail ?? "", 300)}`,
    );
    for (const [at, action] of actions.slice(0, SHOWN).entries()) {
      const record = records[at];
      const source = plan.manifest.inputs[record?.input ?? 0]?.name ?? "";
      reporter.info(`  ${cleanText(source, 200)}:${record?.line} ${action.action} ${describeIds(action, verbose)}`);
    }
    if (actions.length > SHOWN)
      reporter.info(
        `  … and ${number(actions.length - SHOWN)} more; all of them: tickets status ${run.run} --chunk ${chunk.chunk} ${env}`,
      );
    // A deed that happens once is refused a second time by any service that keeps tickets; the others would be taken again.
    const refusedTwice = actions.filter(({ action }) => actionSpec(action).identity !== "history").length;
    if (refusedTwice > 0)
      reporter.info(
        `  ${number(refusedTwice)} of them the service would probably refuse a second time (${kinds(actions, true)}).`,
      );
    if (refusedTwice < actions.length)
      reporter.info(
        `  ${number(actions.length - refusedTwice)} of them it would take a second time, and register twice (${kinds(actions, false)}).`,
      );
  }
  const superseded = await findSuperseded(ledger, plan, chunks);
  const isClosed = run.state !== "open" || run.isClosing;
  if (superseded.size > 0 && !isClosed)
    reporter.info(
      `Of ${count(superseded.size, "action")} something later of the same history was accepted: sent now, ${superseded.size === 1 ? "it" : "they"} would undo it. With --not-sent ${superseded.size === 1 ? "it is" : "they are"} not sent again, and ${superseded.size === 1 ? "goes" : "go"} into rejects.`,
    );
  if (chunks.length > 0) {
    const command = `tickets settle ${run.run} ${env}`;
    const ways: readonly (readonly [string, string])[] = [
      ["If the service has them:", "--sent"],
      [`If it does not (they ${isClosed ? "go into rejects" : "are sent again"}):`, "--not-sent"],
      ...(run.state === "open" ? [["To close the run, its doubt unsettled:", "--abandon"] as const] : []),
    ];
    const width = Math.max(...ways.map(([words]) => words.length)) + 1;
    for (const [words, flag] of ways) reporter.info(`${words.padEnd(width)}${command} ${flag} --reason "…"`);
  }
}

function kinds(actions: readonly Action[], once: boolean): string {
  return [...new Set(actions.map(({ action }) => action))]
    .filter((action) => (actionSpec(action).identity !== "history") === once)
    .join(", ");
}

function describeIds({ data }: Action, verbose: boolean): string {
  const { eventId, ticketId, nftId, userId } = data;
  return [eventId, ticketId, nftId, userId == null ? undefined : shown("userId", userId, verbose)]
    .filter((id) => id != null)
    .map((id) => cleanText(String(id)))
    .join(" ");
}

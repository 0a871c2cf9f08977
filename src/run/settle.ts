/** A person says what became of a chunk, or closes a run. */

import { closeCommand, resumeCommand, settleCommand, streamOfRejects } from "../actions/next-command.ts";
import { count, number } from "../actions/text.ts";
import type { Environment } from "../config/environment.ts";
import { crashPoint } from "../disk/crash-points.ts";
import { EXIT_CODES, errorCode, Failure } from "../failure.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { leftToOthers } from "../ledger/left-to-others.ts";
import { mergeOutcomes } from "../ledger/merge.ts";
import { isDiskFull, sqliteErrorKind, storageFailure } from "../ledger/open-ledger.ts";
import { ServerError } from "../ledger/postgres/connection.ts";
import {
  type ChunkRecord,
  countRun,
  findRun,
  noteStop,
  openQuestions,
  type RunRecord,
  undecidedChunks,
} from "../ledger/runs.ts";
import { type NotedSettlement, settlementOfChunk, settlementsOf } from "../ledger/settlements.ts";
import { canWriteRejects, type WrittenRejects } from "../outputs/rejects.ts";
import { type Manifest, parseManifest } from "../plan/files/manifest.ts";
import {
  beginClosing,
  closePlanned,
  closeWithoutPlan,
  type Decision,
  endClosed,
  type Settlement,
  settleNotSent,
  settleNotSentWithoutPlan,
  settleSent,
} from "../sending/by-hand.ts";
import { projectUnwritten, type RecordContext, recover } from "../sending/record-answer.ts";
import { closeSuperseded } from "../sending/superseded.ts";
import { noteInList, rejectsOf, tellSuperseded } from "./carry-out.ts";
import type { RunContext } from "./context.ts";
import { writeLeft } from "./left-unwritten.ts";
import { planDirectory } from "./places.ts";
import type { NothingToSettle } from "./progress.ts";
import { openPromises, openPromisesLate } from "./promises.ts";
import { unknownRun } from "./resume.ts";
import { type Questions, questionsOf } from "./run-details.ts";
import { areRejectsElsewhere, openRunPlan } from "./run-plan.ts";
import { openSession, type Session } from "./session.ts";
import type { Settings } from "./settings.ts";
import { type Summary, summarise } from "./summary.ts";
import { userName } from "./user-name.ts";
import { claimRun, isShared, startWorker } from "./worker.ts";

export interface SettleSettings {
  readonly settings: Settings;
  readonly run: string;
  /** Without one, only what has to be decided is reported. */
  readonly decision: Decision | undefined;
  /** Only this chunk. */
  readonly chunk?: number | undefined;
  /** Only this many actions, from the chunk's first. */
  readonly first?: number | undefined;
  /** Kept with the decision. */
  readonly reason?: string | undefined;
  /** Asked before a run is closed; without it, the run is closed unasked. */
  readonly confirmClose?: (() => Promise<boolean>) | undefined;
  /** Milliseconds to wait while another run holds the ledger. */
  readonly waitLock: number;
  /** When it began, by `performance.now()`. */
  readonly startedAt: number;
}

/** The result of a settlement. */
export type SettleResult =
  /** The person who was asked did not want to close the run. */
  | { readonly kind: "stays open" }
  | SettledRun
  | {
      /** The plan is lost, so its actions can't be listed. */
      readonly kind: "without plan";
      readonly environment: Environment;
      readonly summary: Summary;
      readonly manifest: Manifest;
    };

export interface SettledRun {
  readonly kind: "settled";
  readonly summary: Summary;
  readonly manifest: Manifest;
  /** What has to be decided; undefined where something was. */
  readonly questions: Questions | undefined;
  /** Undefined where nothing was decided. */
  readonly rejects: WrittenRejects | undefined;
}

/** After it resolves, the decision is in the ledger, and promises and rejects are written. */
export async function settle(context: RunContext, options: SettleSettings): Promise<SettleResult> {
  const { settings, decision } = options;
  const { environment } = settings;
  refuseFirstAlone(options);
  await using session = await openSession(context, settings, {
    command: "tickets settle",
    waitLockMs: options.waitLock,
  });
  const { ledger } = session;
  await writeLeft(context, session);
  const run = findRun(ledger, options.run);
  if (run === undefined) throw unknownRun(options.run, environment);
  const closes = decision === "abandon";
  if ((closes || run.state !== "open") && !(await isPlanWhole(session, run, closes))) {
    if (closes && !(await mayClose(context, options, session, run, false))) return { kind: "stays open" };
    return await settleWithoutPlan(context, session, run, options);
  }
  return await settleByPlan(context, session, run, options);
}

/** Settles a run whose plan is whole. */
async function settleByPlan(
  context: RunContext,
  session: Session,
  run: RunRecord,
  options: SettleSettings,
): Promise<SettleResult> {
  const { decision } = options;
  const { ledger, environment } = session;
  const closes = decision === "abandon";
  await using plan = await openRunPlan(session, run, context);
  // A command that decides nothing leaves no file behind, unless there is something to write.
  await using promises =
    decision === undefined ? openPromisesLate(context, session, run) : await openPromises(context, session, run);
  const settling = { ledger, plan, runNo: run.runNo, promises };
  const asked = new Set(openQuestions(ledger, run.runNo).map(({ chunk }) => chunk));
  await recover(settling);
  using worker =
    decision !== undefined && isShared(ledger) ? startWorker(ledger, environment, "tickets settle") : undefined;
  const waitMs = Math.max(options.waitLock, LANES_WAIT_MS);
  // What is settled must not be sent before all of the decision is carried out.
  const claimAll = async (): Promise<void> => {
    if (worker !== undefined) await claimRun(worker, ledger, run, waitMs, context.stop);
  };
  if (!closes) await claimAll();
  const open = openQuestions(ledger, run.runNo);
  // Nobody has looked yet whether the service has what was on its way from a worker until now. Whoever names it has.
  const isLate = ({ chunk }: ChunkRecord): boolean =>
    worker !== undefined && options.chunk === undefined && !asked.has(chunk);
  const chosen = chosenChunks(session, run, options.chunk, open);
  const chunks = chosen.filter((chunk) => !isLate(chunk));
  refuseTooMany(options, chunks);
  if (closes) {
    if (!(await mayClose(context, options, session, run, true))) return { kind: "stays open" };
    if (run.state === "open") await closePlanned(ledger, plan, run, settlementOf(decision, options.reason), claimAll);
  } else if (decision !== undefined)
    await decide(context, session, run, { ...options, decision, chunks, late: chosen.filter(isLate), settling });
  const { manifest } = plan;
  const questions = decision === undefined ? await questionsOf(ledger, environment, plan, chunks, run) : undefined;
  const rejects = decision === undefined ? undefined : await rejectsOf(context, session, run, plan);
  crashPoint("rejects written");
  mergeOutcomes(ledger);
  crashPoint("merged");
  if (closes && run.state === "open") endClosed(ledger, run, EXIT_CODES["finished-with-rejects"]);
  crashPoint("ended");
  if (closes) context.progress.happened({ kind: "run closed", run: run.run });
  if (decision !== undefined) noteInList(context, session, run);
  const summary = summaryOf(context, session, findRun(ledger, run.run) ?? run, manifest, {
    rejects: rejects?.paths ?? [],
    output: promises?.path ?? null,
    startedAt: options.startedAt,
  });
  return { kind: "settled", summary, manifest, questions, rejects };
}

/** How long a worker may need to let go of a run that waits: until the request on its way is answered. */
const LANES_WAIT_MS = 10_000;

/** Reports what closing the run means, and asks; unless that was decided before. */
async function mayClose(
  { progress }: RunContext,
  { confirmClose }: SettleSettings,
  { ledger }: Session,
  { run, runNo, state, isClosing }: RunRecord,
  hasPlan: boolean,
): Promise<boolean> {
  if (state !== "open" || isClosing) return true;
  progress.happened({ kind: "closing run", run, counts: countRun(ledger, runNo), hasPlan });
  return confirmClose === undefined || (await confirmClose());
}

/** Carries out a decision about chunks. */
async function decide(
  context: RunContext,
  session: Session,
  run: RunRecord,
  options: Pick<SettleSettings, "chunk" | "first" | "reason"> & {
    readonly decision: "sent" | "not-sent";
    readonly chunks: readonly ChunkRecord[];
    /** In doubt only since the command looked: they still wait. */
    readonly late: readonly ChunkRecord[];
    readonly settling: RecordContext;
  },
): Promise<void> {
  const { progress } = context;
  const { ledger, environment } = session;
  const { decision, chunks, late, settling } = options;
  const { plan } = settling;
  const settlement = settlementOf(decision, options.reason);
  if (late.length > 0) progress.happened({ kind: "doubts found late", run: run.run, chunks: late, environment });
  else if (chunks.length === 0)
    progress.happened({ kind: "nothing to settle", ...whatIsSettled(ledger, run, options) });
  for (const chunk of chunks) {
    const first = options.first ?? chunk.count;
    if (decision === "sent") await settleSent(ledger, plan, chunk, settlement, first);
    else await settleNotSent(ledger, plan, run, chunk, settlement, first);
    const rest = first < chunk.count ? restOf(session, chunk, first) : undefined;
    progress.happened({ kind: "chunk settled by hand", chunk, decision, first, rest });
  }
  await projectUnwritten(settling);
  if (run.state === "open" && !run.isClosing) tellSuperseded(context, await closeSuperseded(ledger, plan, run.runNo));
  // A run that a person has settled may go on unasked, and does not wait as one with too many rejections does.
  if (run.state === "open" && chunks.length > 0) noteStop(ledger, run.runNo, codeOfSettled(run), false);
}

const codeOfSettled = ({ exitCode = EXIT_CODES["in-doubt"] }: RunRecord): number =>
  exitCode === EXIT_CODES.refused ? EXIT_CODES["stopped-early"] : exitCode;

function settlementOf(decision: Decision, reason: string | undefined): Settlement {
  return { decision, who: userName(), reason, at: new Date().toISOString() };
}

/** Whether the plan still holds every action without an outcome and, with `withRejects`, the rows of its rejects. */
async function isPlanWhole(session: Session, run: RunRecord, withRejects: boolean): Promise<boolean> {
  try {
    await using plan = await openRunPlan(session, run);
    for (const chunk of undecidedChunks(session.ledger, run.runNo)) await plan.chunk(chunk);
    return !withRejects || areRejectsElsewhere(session.ledger, run, plan) || (await canWriteRejects(plan));
  } catch (cause) {
    if (isOfPlan(cause)) return false;
    throw cause instanceof Failure ? cause : storageFailure(planDirectory(session.environment, run.run), cause);
  }
}

/** What a machine lacks for a while: a right, a file descriptor, memory. */
const LACKS: readonly (string | undefined)[] = ["EACCES", "EPERM", "EROFS", "EMFILE", "ENFILE", "ENOMEM"];

/** Whether it is the plan itself that is missing or damaged. It may be whole where there is no room, no right or no server to fetch it. */
function isOfPlan(thrown: unknown): boolean {
  if (thrown instanceof Failure && thrown.code !== "storage") return false;
  const cause = thrown instanceof Failure ? thrown.cause : thrown;
  const isOfLedger = cause instanceof ServerError || sqliteErrorKind(cause) !== undefined;
  return !(isOfLedger || isDiskFull(cause) || LACKS.includes(errorCode(cause)));
}

/**
 * Settles a run that is closed, or is to be closed, when its plan is lost. The number of its actions is known, but not which
 * they are. So they can't be noted as sent, and while they are in doubt no other action can be told from them.
 */
async function settleWithoutPlan(
  context: RunContext,
  session: Session,
  run: RunRecord,
  options: SettleSettings,
): Promise<SettleResult> {
  const { decision, chunk: only, first, reason, startedAt } = options;
  const { progress } = context;
  const { ledger, environment } = session;
  const closes = decision === "abandon" && run.state === "open";
  const asked = new Set(openQuestions(ledger, run.runNo).map(({ chunk }) => chunk));
  // That something was sent can't be noted: it is refused below, and waits for nobody.
  const decides = decision === "abandon" || decision === "not-sent";
  using worker = decides && isShared(ledger) ? startWorker(ledger, environment, "tickets settle") : undefined;
  if (worker !== undefined) {
    if (closes) beginClosing(ledger, run, settlementOf(decision, reason));
    await claimRun(worker, ledger, run, Math.max(options.waitLock, LANES_WAIT_MS), context.stop);
  }
  const undecided = undecidedChunks(ledger, run.runNo);
  // Nobody has looked yet whether the service has what was on its way from a worker until now. Whoever names it has.
  const isLate = ({ chunk, state }: ChunkRecord): boolean =>
    worker !== undefined && only === undefined && state === "in doubt" && !asked.has(chunk);
  const chosen = chosenChunks(session, run, only, undecided);
  const chunks = chosen.filter((chunk) => !isLate(chunk));
  const late = chosen.filter(isLate);
  const isSettled = run.state !== "open" && undecided.length === 0;
  if (!isSettled && (decision === "sent" || first !== undefined))
    throw new Failure(
      "usage",
      `The plan of run ${run.run} is lost, so it is not known which actions those are. Nothing was settled.`,
      {
        hint: `Restore the folder ${planDirectory(environment, run.run)} from a backup. What can be done without it: ${settleCommand(run.run, environment)}`,
      },
    );
  if (closes) {
    const closing = findRun(ledger, run.run) ?? run;
    closeWithoutPlan(ledger, closing, settlementOf(decision, reason), EXIT_CODES["finished-with-rejects"]);
  }
  if (decision === "not-sent") {
    if (late.length > 0) progress.happened({ kind: "doubts found late", run: run.run, chunks: late, environment });
    for (const chunk of chunks) {
      settleNotSentWithoutPlan(ledger, chunk, settlementOf(decision, reason));
      progress.happened({ kind: "chunk settled by hand", chunk, decision, first: chunk.count, rest: undefined });
    }
  }
  if (isSettled || (decision === "not-sent" && chunks.length === 0))
    progress.happened({ kind: "nothing to settle", ...whatIsSettled(ledger, run, { chunk: only, decision }) });
  if (!isSettled) progress.happened({ kind: "plan lost", run: run.run });
  if (decision !== undefined) noteInList(context, session, run);
  const manifest = parseManifest(run.manifest);
  const output = run.output ?? null;
  const closed = findRun(ledger, run.run) ?? run;
  const summary = summaryOf(context, session, closed, manifest, { rejects: [], output, startedAt });
  return { kind: "without plan", environment, summary, manifest };
}

function whatIsSettled(
  ledger: Ledger,
  { run, runNo }: RunRecord,
  { chunk, decision }: Pick<SettleSettings, "chunk" | "decision">,
): NothingToSettle {
  const isOther = (made: NotedSettlement | undefined): boolean =>
    made !== undefined && decision !== undefined && made.decision !== decision;
  const before = chunk === undefined ? lastOfChunks(ledger, runNo) : settlementOfChunk(ledger, runNo, chunk);
  return { run, before, isOtherwise: isOther(before) };
}

/** What was decided last about a chunk, whichever: the same word a second time repeats that one. */
const lastOfChunks = (ledger: Ledger, runNo: number): NotedSettlement | undefined =>
  settlementsOf(ledger, runNo).findLast(({ chunk }) => chunk !== undefined);

/** Number of the chunk that holds the rest, when only a chunk's first actions were settled. */
function restOf({ ledger }: Session, chunk: ChunkRecord, first: number): number | undefined {
  return openQuestions(ledger, chunk.runNo).find((each) => each.first === chunk.first + first)?.chunk;
}

/** Before anything is opened: a number of actions says nothing without its chunk and a decision. */
function refuseFirstAlone({ first, decision, chunk }: SettleSettings): void {
  if (first === undefined) return;
  if (chunk === undefined || (decision !== "sent" && decision !== "not-sent"))
    throw new Failure("usage", "--first says how many actions of one chunk are decided about.", {
      hint: "Name the chunk with --chunk, and say --sent or --not-sent.",
    });
  if (first === 0)
    throw new Failure("usage", "--first 0 covers no action. Nothing was settled.", {
      hint: "Say how many of the chunk's first actions the service has; leave --first out to decide about the whole chunk.",
    });
}

function refuseTooMany({ first, chunk }: SettleSettings, chunks: readonly ChunkRecord[]): void {
  const most = chunks[0]?.count ?? Number.POSITIVE_INFINITY;
  if (first !== undefined && first > most)
    throw new Failure("usage", `Chunk ${chunk} has only ${count(most, "action")}, not ${number(first)}.`, {
      hint: "Leave --first out to decide about the whole chunk.",
    });
}

/**
 * Those that a decision is about: all that are open, or the one that was named. None, if a person has settled that one before.
 *
 * @throws Failure `usage` where the one that was named does not wait for a person.
 */
function chosenChunks(
  { ledger, environment }: Session,
  run: RunRecord,
  number_: number | undefined,
  open: readonly ChunkRecord[],
): readonly ChunkRecord[] {
  if (number_ === undefined) return open;
  const chosen = open.filter(({ chunk }) => chunk === number_);
  if (chosen.length > 0 || settlementOfChunk(ledger, run.runNo, number_) !== undefined) return chosen;
  throw new Failure("usage", `Chunk ${number_} of run ${run.run} is not waiting to be settled.`, {
    hint:
      open.length === 0
        ? "No chunk of this run is."
        : `These are: ${open.map(({ chunk }) => chunk).join(", ")}. To see them: ${settleCommand(run.run, environment)}`,
  });
}

function summaryOf(
  context: RunContext,
  { ledger, environment }: Session,
  run: RunRecord,
  manifest: Manifest,
  { rejects, output, startedAt }: { readonly startedAt: number } & Pick<Summary, "rejects" | "output">,
): Summary {
  const counts = countRun(ledger, run.runNo);
  const waiting = counts.inDoubt + counts.refused > 0;
  return summarise({
    run: run.run,
    environment: environment.name,
    state: run.state === "open" ? "stopped" : run.state,
    exitCode: counts.inDoubt > 0 ? EXIT_CODES["in-doubt"] : counts.refused > 0 ? EXIT_CODES.refused : EXIT_CODES.ok,
    plan: manifest,
    problems: manifest.problems,
    counts,
    left: leftToOthers(ledger, run, manifest),
    output,
    rejects,
    durationMs: performance.now() - startedAt,
    next: waiting
      ? settleCommand(run.run, environment)
      : run.state === "open"
        ? run.isClosing
          ? closeCommand(run, environment)
          : resumeCommand(run.run, environment)
        : rejects.length > 0
          ? streamOfRejects(rejects, manifest.options.flags ?? [], context, environment)
          : null,
  });
}

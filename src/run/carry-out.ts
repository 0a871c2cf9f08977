/** Carries a run out from wherever it stands, whether it is new or was interrupted. */

import { crashPoint } from "../disk/crash-points.ts";
import { EXIT_CODES } from "../failure.ts";
import type { Item, Ledger, Run, RunCounts } from "../ledger/ledger.ts";
import { settleCommand } from "../next-command.ts";
import { type LaneSource, plannedLanes, sendLanes } from "../send/lanes.ts";
import { openSeenPromises } from "../send/seen.ts";
import type { SendEvent } from "../send/send.ts";
import type { Stop, StopRequest } from "../send/stop.ts";
import type { RunContext } from "./context.ts";
import { noteInJournal } from "./lost-ledger.ts";
import { openPromises } from "./outputs.ts";
import type { WorkUnderWay } from "./progress.ts";
import { writeRejectsOf } from "./rejects.ts";
import { countsOf, doubtedOf, openQuestions, statusAfter } from "./runs.ts";
import { byUser, connectorTo, type Session } from "./session.ts";
import { exitCodeOf, exitCodeOfDone, type RunEnd, type Summary } from "./summary.ts";
import { claimedLanes, startWorker } from "./worker.ts";

/**
 * Sends what is left of a run, and writes promises and rejects. The exit code is in the summary.
 *
 * @throws Failure when it can't even begin.
 */
export async function carryOut(
  context: RunContext,
  session: Session,
  run: Run,
  how: "new" | "resumed",
): Promise<RunEnd> {
  const { ledger, environment } = session;
  const { progress } = context;
  await ledger.doubtVanished(run.number, new Date().toISOString());
  await using promises = await openPromises(context, session, run);
  const before = await ledger.counts(run.number);
  const beganAt = performance.now();
  const chunks = before.chunks - before.decidedChunks;
  const isResumed = how === "resumed";
  progress.happened({ kind: "run started", run: run.run, actions: before.notSent, chunks, isResumed });
  const own = { ...context, stop: stopAfter(session.deadline, context.stop) };
  const { stops, ...sent } = await sendUntilStopped(own, session, run, promises.write);
  // Others may have sent some of it.
  for (const { chunk } of await ledger.chunks(run.number, { unwritten: true })) await promises.write(chunk);
  progress.advanced(undefined);
  const summary = await endFor(context, session, run, stops[0] ?? FINISHED);
  const end: RunEnd = {
    ...{ environment, run, stops, summary },
    lanes: new Set((await ledger.chunks(run.number)).map(({ lane }) => lane)).size,
    sent: { actions: sent.accepted + sent.rejected, ms: performance.now() - beganAt },
    rejected: await firstRejected(ledger, run),
  };
  progress.happened({ kind: "run ended", end });
  return end;
}

/** Stores why the run ended, for now or for good, and writes its rejects. */
async function endFor(context: RunContext, session: Session, run: Run, stop: Stop): Promise<Summary> {
  const { ledger, environment, startedAt } = session;
  const isDone = stop.kind === "finished";
  if (!isDone && !isElsewhere(stop)) {
    const isByPerson = context.stop.aborted && context.stop.reason === "SIGINT";
    await ledger.noteStop(run.number, { exitCode: exitCodeOf(stop), ...(isByPerson && { paused: byUser() }) });
  }
  await writeRejectsOf(context, ledger, run);
  crashPoint("rejects written");
  const { exitCode, doubt } = isDone ? await endOf(ledger, run) : { exitCode: exitCodeOf(stop), doubt: undefined };
  if (isDone) await ledger.endRun(run.number, { exitCode, at: new Date().toISOString() });
  const { summary } = await statusAfter(session, run, context);
  return {
    ...{ ...summary, exitCode, durationMs: Math.round(performance.now() - startedAt) },
    next: doubt === undefined ? summary.next : settleCommand(doubt, environment),
  };
}

/** What a run ends with of which nothing is left to send; `doubt`: a run for which some of the same input waits. */
export async function endOf(ledger: Ledger, run: Run) {
  const counts = await ledger.counts(run.number);
  const doubt = await doubtedOf(ledger, run.options.heldBy);
  const left = { isNews: run.options.reportsChange === true, doubt, unsent: counts.rejected + counts.notSent };
  return { exitCode: exitCodeOfDone(countsOf(run, counts), left), doubt };
}

const FINISHED: Stop = { kind: "finished" };
const isElsewhere = (stop: Stop): boolean => stop.kind === "stopped" && stop.by === "elsewhere";

/** What this process has sent of a run, and why it sends no more: the first reason decides. */
interface Sent {
  readonly stops: readonly Stop[];
  readonly accepted: number;
  readonly rejected: number;
}

const NOTHING_SENT = { accepted: 0, rejected: 0 };

/** Nothing is sent of a run with chunks that a person has to decide about. */
async function sendUntilStopped(
  context: RunContext,
  session: Session,
  run: Run,
  writePromises: WritePromises,
): Promise<Sent> {
  const { ledger } = session;
  const isLeft = async (): Promise<boolean> =>
    (await ledger.chunks(run.number, { states: ["planned", "sending"] })).length > 0;
  const waiting = await questionsOf(session, run);
  if (waiting.length > 0) return { stops: waiting, ...NOTHING_SENT };
  if (!(await isLeft())) return { stops: [FINISHED], ...NOTHING_SENT };
  await using worker = await startWorker(session);
  const planned = await plannedLanes(ledger, run.number);
  // The person who started this has looked at what was refused.
  if (worker !== undefined && run.exitCode === EXIT_CODES.refused)
    await ledger.noteStop(run.number, { exitCode: EXIT_CODES["stopped-early"] });
  const lanes = worker === undefined ? planned : claimedLanes(ledger, worker, run, Math.max(1, planned.atOnce));
  const sent = await sendFrom(context, session, run, lanes, writePromises);
  // Others may have found what a person has to decide about; an answer may leave several doubts.
  const isKnown = (number: number): boolean =>
    sent.stops.some((stop) => "chunk" in stop && stop.chunk.chunk === number);
  const found = (await questionsOf(session, run)).filter(({ chunk }) => !isKnown(chunk.chunk));
  const isOpen = await isLeft();
  // A stop that came behind the last answer stopped nothing.
  const own = sent.stops.filter(({ kind }) => kind !== "finished" && (isOpen || kind !== "stopped"));
  if (found.length > 0) return { ...sent, stops: [...own.filter((stop) => !isElsewhere(stop)), ...found] };
  if (own.length > 0) return { ...sent, stops: own };
  return { ...sent, stops: [isOpen ? { kind: "stopped", by: "elsewhere" } : FINISHED] };
}

type Asked = Extract<Stop, { readonly kind: "in doubt" | "refused" }>;

/** Chunks that a person decides about before anything more is sent; what the environment vouches for is sent again. */
async function questionsOf({ ledger, environment }: Session, run: Run): Promise<readonly Asked[]> {
  const stops: Asked[] = [];
  for (const chunk of await openQuestions(ledger, run)) {
    const said = { chunk, detail: chunk.detail ?? "", body: "" };
    if (chunk.state === "in doubt") stops.push({ kind: "in doubt", ...said });
    else if (!environment.refusalsAreWhole) stops.push({ kind: "refused", whole: false, ...said });
    else await ledger.settle(run.number, chunk.chunk, "not-sent", { ...byUser(), who: "refusalsAreWhole" });
  }
  return stops;
}

/** Those of an answered chunk. */
type WritePromises = (chunk: number) => Promise<void>;

/** Sends lanes of a run. @param writePromises without it, somebody else writes them. */
export async function sendFrom(
  context: RunContext,
  session: Session,
  run: Run,
  lanes: LaneSource,
  writePromises: WritePromises = async () => undefined,
): Promise<Sent> {
  const { ledger, environment, deadline } = session;
  const connect = await connectorTo(session, context);
  const actions = Number(run.actions.new);
  await noteInJournal(environment, ledger, run, actions);
  crashPoint("listed");
  using promises = openSeenPromises();
  for await (const given of ledger.promises(run.number)) promises.note(given);
  const before = await ledger.counts(run.number);
  const sent = { ...NOTHING_SENT };
  const sending = {
    ...{ ledger, run: run.number, environment, promises, writePromises, deadline, mostActions: run.mostActions },
    ...{ stop: context.stop, abort: context.abort, rejectedBefore: before.rejected },
    happened: counted(context, before, sent),
  };
  const stops = await sendLanes(sending, lanes, connect);
  const { notSent } = await ledger.counts(run.number);
  // On a full disk there is room for nothing more.
  if (notSent !== before.notSent && ledger.exhausted === undefined)
    await noteInJournal(environment, ledger, run, actions);
  return { stops, ...sent };
}

/** Timers of Node hold 31 bits of milliseconds: 24 days. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** A signal that also stops when the time is up. */
export function stopAfter(deadline: number, stop: AbortSignal): AbortSignal {
  if (deadline === Number.POSITIVE_INFINITY) return stop;
  const over = new AbortController();
  const leftMs = Math.min(Math.max(0, deadline - performance.now()), LONGEST_TIMER_MS);
  setTimeout(() => over.abort("max-duration" satisfies StopRequest), leftMs).unref();
  return AbortSignal.any([stop, over.signal]);
}

/** Counts what is answered, and reports what happens to the chunks and how much of the run is done. */
function counted({ progress }: RunContext, before: RunCounts, sent: Record<"accepted" | "rejected", number>) {
  const doneBefore = before.accepted + before.rejected + before.settled;
  const show = (waiting?: WorkUnderWay["waiting"]): void =>
    progress.advanced({
      ...{ doing: "sending", unit: "action", total: before.total },
      ...{ done: doneBefore + sent.accepted + sent.rejected, rejected: before.rejected + sent.rejected },
      ...(waiting && { waiting }),
    });
  show();
  return (event: SendEvent): void => {
    progress.happened(event);
    if (event.kind === "chunk answered") {
      sent.accepted += event.accepted;
      sent.rejected += event.rejected;
    }
    if (event.kind === "chunk sent" || event.kind === "chunk answered") show();
    if (event.kind === "chunk waits") show({ detail: event.detail, waitMs: event.waitMs });
  };
}

/** How many rejected actions are listed one by one. */
const REJECTED_SHOWN = 5;

async function firstRejected(ledger: Ledger, run: Run): Promise<readonly Item[]> {
  const first: Item[] = [];
  for (const { chunk, rejected } of await ledger.chunks(run.number, { states: ["answered"] })) {
    if (rejected === 0) continue;
    const { items } = await ledger.outcomes(run.number, chunk);
    first.push(...items.filter(({ outcome }) => outcome === "rejected"));
    if (first.length >= REJECTED_SHOWN) break;
  }
  return first.slice(0, REJECTED_SHOWN);
}

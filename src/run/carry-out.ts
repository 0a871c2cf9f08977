/** Carries runs out from wherever they stand: a new one, one that a person resumes, and those that come before anything new. */

import type { Environment } from "../config/environment.ts";
import { crashPoint } from "../disk/crash-points.ts";
import { EXIT_CODES, Failure } from "../failure.ts";
import type { Item, Ledger, Run, RunCounts } from "../ledger/ledger.ts";
import { settleCommand, statusCommand } from "../next-command.ts";
import { claimedLanes, type LaneSource, plannedLanes, sendLanes, startWorker } from "../send/lanes.ts";
import { openSeenPromises } from "../send/seen.ts";
import type { SendEvent, Sending } from "../send/send.ts";
import type { Stop, StopRequest } from "../send/stop.ts";
import { openPromises, type PromiseWriter } from "../write/promise-file.ts";
import { writeRejectsOf } from "../write/rejects.ts";
import type { RunContext, WorkUnderWay } from "./context.ts";
import { noteInJournal } from "./lost-ledger.ts";
import { byUser, connectorTo, type Limits, type OpenEnvironment, openEnvironment } from "./open.ts";
import {
  countsOf,
  doubtedOf,
  failureIfBlocked,
  isEnteredHere,
  namedRun,
  openQuestions,
  statusAfter,
  unfinishedRuns,
} from "./runs.ts";
import { exitCodeOf, exitCodeOfDone, type RunEnd, type Summary } from "./summary.ts";

export interface ResumeSettings extends Limits {
  readonly environment: Environment;
  /** Its id; without one, the oldest that is open. */
  readonly run?: string | undefined;
}

/**
 * Goes on with the run that a person names. Undefined where nothing is left to send: a `resume` that was killed at its end can
 * be repeated.
 *
 * @throws Failure `usage` where there is no such run, or a person has closed it.
 */
export async function resume(context: RunContext, options: ResumeSettings): Promise<RunEnd | undefined> {
  const { environment } = options;
  const how = { ...options, command: "tickets resume", sends: true };
  await using opened = await openEnvironment(context, environment, how);
  const { ledger } = opened;
  const [oldest] = await unfinishedRuns(ledger);
  const run = options.run === undefined ? oldest : await namedRun(ledger, options.run, environment);
  if (run === undefined || run.state === "finished") return undefined;
  if (run.state === "abandoned")
    throw new Failure("usage", `Run ${run.run} was closed; it can't be resumed.`, {
      nothingSent: true,
      hint: `See its outcome: ${statusCommand(environment, run.run)}`,
    });
  if (oldest !== undefined && oldest.number < run.number)
    throw new Failure("busy", `Run ${oldest.run} is older and comes first.`, {
      nothingSent: true,
      hint: `See where it stands: ${statusCommand(environment, oldest.run)}`,
    });
  if (run.state === "closing") throw await failureIfBlocked(ledger, run, environment);
  // The person who resumes it has looked.
  await ledger.noteStop(run.number, { exitCode: EXIT_CODES["stopped-early"], paused: null });
  return await carryOut(context, opened, run, "resumed");
}

/**
 * Finishes runs that were interrupted; one that a person stopped, or that is in doubt, waits for a person.
 *
 * @returns how the last of them ended; its summary holds those of the others.
 */
export async function finishEarlierRuns(context: RunContext, opened: OpenEnvironment): Promise<RunEnd | undefined> {
  const { ledger, environment } = opened;
  let last: RunEnd | undefined;
  for (const run of await unfinishedRuns(ledger)) {
    const waits = await failureIfBlocked(ledger, run, environment);
    if (waits !== undefined) throw waits;
    context.progress.happened({ kind: "earlier run comes first", run: run.run });
    const end = await carryOut(context, { ...opened, startedAt: performance.now() }, run, "resumed");
    last = { ...end, summary: afterEarlier(end.summary, last?.summary) };
    if (end.summary.state !== "finished") break;
  }
  return last;
}

/** A quiet end does not hide the exit code of an earlier run. */
export function afterEarlier(summary: Summary, resumed: Summary | undefined): Summary {
  if (resumed === undefined || summary === resumed) return summary;
  const exitCode = summary.exitCode === EXIT_CODES.ok ? resumed.exitCode : summary.exitCode;
  return { ...summary, exitCode, resumed };
}

/** Writes the promises that a killed command did not write, of runs that have ended since. */
export async function writeLeft(context: RunContext, { ledger }: OpenEnvironment): Promise<void> {
  for (const run of await ledger.runs({ unwritten: true })) {
    if (run.state === "open" || run.state === "closing" || !isEnteredHere(ledger, run)) continue;
    await using promises = await openPromises(context, ledger, run);
    await writeUnwritten(ledger, run, promises);
    const files = promises.path === undefined ? [] : [promises.path];
    context.progress.happened({ kind: "left written", run: run.run, files });
  }
}

async function writeUnwritten(ledger: Ledger, run: Run, promises: { write(chunk: number): Promise<void> }) {
  for (const { chunk } of await ledger.chunks(run.number, { unwritten: true })) await promises.write(chunk);
}

/**
 * Sends what is left of a run, and writes promises and rejects. The exit code is in the summary.
 *
 * @throws Failure when it can't even begin.
 */
export async function carryOut(
  context: RunContext,
  opened: OpenEnvironment,
  run: Run,
  how: "new" | "resumed",
): Promise<RunEnd> {
  const { ledger, environment } = opened;
  const { progress } = context;
  await ledger.doubtVanished(run.number, new Date().toISOString());
  await using promises = await openPromises(context, ledger, run);
  const before = await ledger.counts(run.number);
  const beganAt = performance.now();
  progress.happened({
    ...{ kind: "run started", run: run.run, isResumed: how === "resumed" },
    ...{ actions: before.notSent, chunks: before.chunks - before.decidedChunks },
  });
  const { stops, accepted, rejected } = await sendUntilStopped(context, opened, run, promises);
  // Others may have sent some of it.
  await writeUnwritten(ledger, run, promises);
  progress.advanced(undefined);
  const summary = await endFor(context, opened, run, stops[0]);
  const end: RunEnd = {
    ...{ environment, run, stops, summary },
    lanes: new Set((await ledger.chunks(run.number)).map(({ lane }) => lane)).size,
    sent: { actions: accepted + rejected, ms: performance.now() - beganAt },
    rejected: await firstRejected(ledger, run),
  };
  progress.happened({ kind: "run ended", end });
  return end;
}

/** Stores why the run ended, for now or for good, and writes its rejects. */
async function endFor(
  context: RunContext,
  opened: OpenEnvironment,
  run: Run,
  stop: Stop | undefined,
): Promise<Summary> {
  const { ledger, environment, startedAt } = opened;
  if (stop !== undefined && !isElsewhere(stop)) {
    const isByPerson = context.stop.aborted && context.stop.reason === "SIGINT";
    await ledger.noteStop(run.number, { exitCode: exitCodeOf(stop), ...(isByPerson && { paused: byUser() }) });
  }
  await writeRejectsOf(context, ledger, run);
  crashPoint("rejects written");
  const { exitCode, doubt } =
    stop === undefined ? await endRun(ledger, run) : { exitCode: exitCodeOf(stop), doubt: undefined };
  const { summary } = await statusAfter(opened, run, context);
  return {
    ...{ ...summary, exitCode, durationMs: Math.round(performance.now() - startedAt) },
    next: doubt === undefined ? summary.next : settleCommand(doubt, environment),
  };
}

/**
 * Ends a run of which nothing is left to send. Takes no lock.
 *
 * @returns what it ends with; `doubt`: a run for which some of the same input waits; `hasEnded` false where another command has
 * ended it.
 */
export async function endRun(ledger: Ledger, run: Run) {
  const counts = await ledger.counts(run.number);
  const doubt = await doubtedOf(ledger, run.options.heldBy);
  const left = { isNews: run.options.reportsChange ?? false, doubt, unsent: counts.rejected + counts.notSent };
  const exitCode = exitCodeOfDone(countsOf(run, counts), left);
  const hasEnded = await ledger.endRun(run.number, { exitCode, at: new Date().toISOString() });
  return { exitCode, doubt, hasEnded };
}

const isElsewhere = (stop: Stop): boolean => stop.kind === "stopped" && stop.by === "elsewhere";

/** What this process has sent of a run, and what stopped it, if anything. */
interface Sent {
  readonly stops: readonly Stop[];
  readonly accepted: number;
  readonly rejected: number;
}

/** Nothing is sent of a run with chunks that a person has to decide about. */
async function sendUntilStopped(
  context: RunContext,
  opened: OpenEnvironment,
  run: Run,
  promises: PromiseWriter,
): Promise<Sent> {
  const { ledger, environment, command, stop } = opened;
  const isLeft = async (): Promise<boolean> =>
    (await ledger.chunks(run.number, { states: ["planned", "sending"] })).length > 0;
  let sent: Sent = { stops: [], accepted: 0, rejected: 0 };
  if ((await questionsOf(opened, run)).length === 0 && (await isLeft())) {
    let lanes = await plannedLanes(ledger, run.number);
    await using worker = await startWorker(ledger, command, environment.timeoutMs);
    if (worker !== undefined) {
      // The person who started this has looked at what was refused.
      if (run.exitCode === EXIT_CODES.refused)
        await ledger.noteStop(run.number, { exitCode: EXIT_CODES["stopped-early"] });
      lanes = claimedLanes(ledger, worker, run.number, Math.max(1, lanes.atOnce));
    }
    sent = await sendFrom(context, opened, run, lanes, (chunk) => promises.write(chunk));
  }
  // Others may have found what a person has to decide about; an answer may leave several doubts.
  const known = new Set(sent.stops.map((stop) => ("chunk" in stop ? stop.chunk.chunk : undefined)));
  const asked = (await questionsOf(opened, run)).filter(({ chunk }) => !known.has(chunk.chunk));
  const isOpen = await isLeft();
  // A stop that came behind the last answer stopped nothing.
  const own = sent.stops.filter(({ kind }) => isOpen || kind !== "stopped");
  const stops = asked.length === 0 ? own : [...own.filter((stop) => !isElsewhere(stop)), ...asked];
  if (stops.length > 0 || !isOpen) return { ...sent, stops };
  // Lanes that wait for a stage to begin were not even taken. What no signal has stopped, others send.
  return { ...sent, stops: [{ kind: "stopped", by: stop.aborted ? (stop.reason as StopRequest) : "elsewhere" }] }; // see Sending.stop
}

type Asked = Extract<Stop, { readonly kind: "in doubt" | "refused" }>;

/** Chunks that a person decides about before anything more is sent; what the environment vouches for is sent again. */
async function questionsOf({ ledger, environment }: OpenEnvironment, run: Run): Promise<readonly Asked[]> {
  const stops: Asked[] = [];
  for (const chunk of await openQuestions(ledger, run)) {
    const said = { chunk, detail: chunk.detail ?? "", body: "" };
    if (chunk.state === "in doubt") stops.push({ kind: "in doubt", ...said });
    else if (!environment.refusalsAreWhole) stops.push({ kind: "refused", whole: false, ...said });
    else await ledger.settle(run.number, chunk.chunk, "not-sent", { ...byUser(), who: "refusalsAreWhole" });
  }
  return stops;
}

/** Sends lanes of a run. @param writePromises without it, somebody else writes them. */
export async function sendFrom(
  context: RunContext,
  opened: OpenEnvironment,
  run: Run,
  lanes: LaneSource,
  writePromises: Sending["writePromises"] = async () => undefined,
): Promise<Sent> {
  const { ledger, environment, deadline, stop } = opened;
  const connect = await connectorTo(opened, context);
  const actions = Number(run.actions.new);
  await noteInJournal(environment, ledger, run, actions);
  crashPoint("listed");
  using promises = openSeenPromises();
  for await (const given of ledger.promises(run.number)) promises.note(given);
  const before = await ledger.counts(run.number);
  const sent = { accepted: 0, rejected: 0 };
  const sending = {
    ...{ ledger, run: run.number, environment, promises, writePromises, mostActions: run.mostActions },
    ...{ stop, deadline, abort: context.abort, rejectedBefore: before.rejected },
    happened: counted(context, before, sent),
  };
  const stops = await sendLanes(sending, lanes, connect);
  const { notSent } = await ledger.counts(run.number);
  // On a full disk there is room for nothing more.
  if (notSent !== before.notSent && ledger.exhausted === undefined)
    await noteInJournal(environment, ledger, run, actions);
  return { stops, ...sent };
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

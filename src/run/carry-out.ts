/** Carries a run out from wherever it stands, whether it is new or was interrupted. */

import { existsSync } from "node:fs";
import { parseJson } from "../actions/json.ts";
import { resumeCommand, settleCommand, streamOfRejects } from "../actions/next-command.ts";
import { rowKeyText } from "../actions/rejects-columns.ts";
import { crashPoint } from "../disk/crash-points.ts";
import { EXIT_CODES, Failure } from "../failure.ts";
import type { Item, Ledger, Run, RunCounts } from "../ledger/ledger.ts";
import type { RowCounts } from "../plan/plan.ts";
import { type LaneSource, plannedLanes, sendLanes } from "../send/lanes.ts";
import { pause } from "../send/pause.ts";
import { openSeenPromises, type SeenPromises } from "../send/seen.ts";
import type { Sending, SendProgress } from "../send/send.ts";
import type { Stop, StopRequest } from "../send/stop.ts";
import { rejectionText } from "../write/rejection-text.ts";
import { type OpenRow, rejectsOf, writeRejects } from "../write/rejects.ts";
import type { RunContext } from "./context.ts";
import { openPromises } from "./outputs.ts";
import type { Wait } from "./progress.ts";
import { exitCodeOf, type RunEnd } from "./run-end.ts";
import { noteInJournal, type Session } from "./session.ts";
import { hasUnsentRows, holdsBack, summarise } from "./summary.ts";
import { userName } from "./user-name.ts";
import { claimedLanes, startWorker } from "./worker.ts";

export interface CarryOutOptions {
  readonly session: Session;
  readonly run: Run;
  /** An earlier command began it. */
  readonly isResumed: boolean;
  /** `performance.now()` after which nothing is begun. */
  readonly deadline: number;
  readonly startedAt: number;
}

/** What a plan noted in its run, as it entered it. */
const NO_ROWS: RowCounts = { read: 0, mapped: 0, skipped: 0, invalid: 0, held: 0 };
const NO_ACTIONS = { new: 0, alreadySent: 0, changed: 0, late: 0, unclear: 0, held: 0 };

/** What its plan counted. Of a run that was imported, it is only known what was sent. */
export const countsOf = (run: Run, { total }: Pick<RunCounts, "total">) => ({
  rows: { ...NO_ROWS, ...run.rows },
  actions: { ...NO_ACTIONS, total, ...run.actions },
  byAction: run.byAction,
  problems: { errors: 0, warnings: 0, ...run.problems },
});

/**
 * Sends what is left of a run, and writes promises and rejects. The exit code is in the summary.
 *
 * @throws Failure when it can't even begin.
 */
export async function carryOut(context: RunContext, options: CarryOutOptions): Promise<RunEnd> {
  const { session, run } = options;
  const { ledger, environment } = session;
  const { progress, stop: stopping } = context;
  await ledger.doubtVanished(run.number, new Date().toISOString());
  await using promises = await openPromises(context, { ledger, environment, safeCsv: isSafe(run) }, run);
  const before = { ...(await ledger.counts(run.number)), at: performance.now() };
  progress.happened({
    kind: "run started",
    run: run.run,
    actions: before.notSent,
    chunks: before.chunks - before.decidedChunks,
    isResumed: options.isResumed,
  });
  const stops = await sendUntilStopped(context, options, promises.write);
  // Others may have sent some of it.
  for (const { chunk } of await ledger.chunks(run.number, { unwritten: true })) await promises.write(chunk);
  progress.advanced(undefined);
  const [stop = { kind: "finished" }] = stops;
  const counts = await ledger.counts(run.number);
  const isDone = stop.kind === "finished";
  if (!isDone && !isElsewhere(stop)) {
    const isByPerson = stopping.aborted && stopping.reason === "SIGINT";
    const by = { who: userName(), at: new Date().toISOString(), reason: undefined };
    await ledger.noteStop(run.number, { exitCode: exitCodeOf(stop), ...(isByPerson && { paused: by }) });
  }
  const rejects = await writeRejectsOf(context, ledger, run);
  crashPoint("rejects written");
  const doubted = isDone ? await doubtedOf(ledger, run.options.heldBy) : undefined;
  const codeOfDone = doubted === undefined ? exitCodeOfDone(run, counts) : EXIT_CODES["in-doubt"];
  const exitCode = isDone ? codeOfDone : exitCodeOf(stop);
  if (isDone) await ledger.endRun(run.number, { exitCode, at: new Date().toISOString() });
  const summary = summarise({
    run: run.run,
    environment: environment.name,
    state: isDone ? "finished" : "stopped",
    exitCode,
    of: countsOf(run, counts),
    counts,
    output: promises.path ?? null,
    rejects,
    durationMs: performance.now() - options.startedAt,
    next:
      doubted === undefined
        ? nextCommand(stop, run, rejects, context, session)
        : settleCommand(doubted.run, environment),
  });
  const sent = {
    actions: counts.accepted + counts.rejected - before.accepted - before.rejected,
    ms: performance.now() - before.at,
  };
  const rejected = await firstRejected(ledger, run);
  const lanes = new Set((await ledger.chunks(run.number)).map(({ lane }) => lane)).size;
  const end = { environment, summary, run, lanes, stops, sent, rejected };
  progress.happened({ kind: "run ended", end });
  return end;
}

/** Which say how its input was read. */
export const flagsOf = ({ options }: Run): readonly string[] =>
  Array.isArray(options.flags) ? options.flags.map(String) : [];

const isSafe = ({ options }: Run): boolean => options.safeCsv === true;

/** Nothing is sent of a run with chunks that a person has to decide about. */
async function sendUntilStopped(
  context: RunContext,
  options: CarryOutOptions,
  writePromises: (chunk: number) => Promise<void>,
): Promise<readonly Stop[]> {
  const { session, run } = options;
  const waiting = await questionsOf(session, run);
  if (waiting.length > 0) return waiting;
  await using lanes = await lanesOf(session, run);
  if (lanes === undefined) return [{ kind: "finished" }];
  const stops = await sendFrom(context, { ...options, lanes }, writePromises);
  // Others may have found what a person has to decide about; an answer may leave several doubts.
  const isTold = (chunk: number): boolean => stops.some((stop) => "chunk" in stop && stop.chunk.chunk === chunk);
  const open = (await questionsOf(session, run)).filter((stop) => "chunk" in stop && !isTold(stop.chunk.chunk));
  const isLeft = (await session.ledger.chunks(run.number, { states: ["planned", "sending"] })).length > 0;
  // A stop that came behind the last answer stopped nothing.
  const own = stops.filter(({ kind }) => kind !== "finished" && (isLeft || kind !== "stopped"));
  const others = open.length === 0 && own.length === 0 && isLeft ? [STOPPED_ELSEWHERE] : open;
  const all = [...own.filter((stop) => open.length === 0 || !isElsewhere(stop)), ...others];
  return all.length === 0 ? [{ kind: "finished" }] : all;
}

const STOPPED_ELSEWHERE: Stop = { kind: "stopped", by: "elsewhere" };
const isElsewhere = (stop: Stop): boolean => stop.kind === "stopped" && stop.by === "elsewhere";

/** What is left of a run, shared with workers where others may send it; undefined where nothing is. */
async function lanesOf(
  { ledger, environment, command }: Session,
  run: Run,
): Promise<(LaneSource & AsyncDisposable) | undefined> {
  const planned = await plannedLanes(ledger, run.number);
  const { workers } = ledger;
  if (workers === undefined)
    return planned.atOnce === 0 ? undefined : { ...planned, [Symbol.asyncDispose]: async () => undefined };
  if ((await workers.openLanes(run.number)).length === 0) return undefined;
  // Whoever carries it out has looked at what was refused.
  if (run.exitCode === EXIT_CODES.refused) await ledger.noteStop(run.number, { exitCode: EXIT_CODES["stopped-early"] });
  const worker = await startWorker(workers, environment, command);
  const { timeoutMs } = environment;
  const lanes = Math.max(1, planned.atOnce);
  return {
    ...claimedLanes(ledger, workers, run, worker.number, { lanes, timeoutMs }),
    [Symbol.asyncDispose]: () => worker[Symbol.asyncDispose](),
  };
}

/** Chunks that a person decides about before anything more is sent; what the environment vouches for is sent again. */
async function questionsOf({ ledger, environment }: Session, run: Run): Promise<readonly Stop[]> {
  const stops: Stop[] = [];
  for (const chunk of await ledger.chunks(run.number, { states: ["in doubt", "refused"] })) {
    const detail = chunk.detail ?? "";
    if (chunk.state === "in doubt") stops.push({ kind: "in doubt", chunk, detail, body: "" });
    else if (!environment.refusalsAreWhole) stops.push({ kind: "refused", whole: false, chunk, detail, body: "" });
    else {
      const by = { who: "refusalsAreWhole", at: new Date().toISOString(), reason: undefined };
      await ledger.settle(run.number, chunk.chunk, "not-sent", by);
    }
  }
  return stops;
}

/**
 * Sends lanes of a run.
 *
 * @param writePromises of an answered chunk; by default somebody else writes them.
 */
export async function sendFrom(
  context: RunContext,
  options: Pick<CarryOutOptions, "run" | "deadline"> & {
    readonly session: Omit<Session, typeof Symbol.asyncDispose>;
    readonly lanes: LaneSource;
  },
  writePromises: (chunk: number) => Promise<void> = async () => undefined,
): Promise<readonly Stop[]> {
  const { session, run, deadline, lanes } = options;
  const { ledger, environment } = session;
  const key = await session.key();
  await noteInJournal(environment, ledger, run, Number(run.actions.new));
  crashPoint("listed");
  using timer = stopAfter(deadline, context.stop);
  using promises = await promisesOf(ledger, run);
  const before = await ledger.counts(run.number);
  const sending: Omit<Sending, "halt"> = {
    ledger,
    run: run.number,
    environment,
    promises,
    writePromises,
    progress: sendProgress(context, before, lanes.atOnce),
    stop: timer.signal,
    abort: context.abort,
    rejectedBefore: before.rejected,
    deadline,
    common: {
      rejected: 0,
      answers: 0,
      notBefore: 0,
      hasToldWithoutStatus: false,
      mostActions: run.mostActions ?? Number.POSITIVE_INFINITY,
    },
  };
  // Loaded only here: most commands send nothing, and the HTTP client would be a large part of their start.
  const { openClient } = await import("../send/client.ts");
  const { timeoutMs, freshConnection } = environment;
  // Awaited: what it needs is open until it ends.
  return await sendLanes(sending, lanes, () =>
    openClient({ baseUrl: session.baseUrl, key, timeoutMs, freshConnection, tls: session.tls, env: context.env }),
  );
}

/** The promises that earlier commands were given for this run. */
async function promisesOf(ledger: Ledger, run: Run): Promise<SeenPromises> {
  const given = openSeenPromises();
  for await (const promises of ledger.promises(run.number, [])) given.add(promises.map(({ promise }) => promise));
  // Beside what left a doubt that a person has settled.
  for (const { chunk } of await ledger.chunks(run.number, { states: ["settled"] }))
    for (const { response = "{}" } of (await ledger.outcomes(run.number, chunk)).items) {
      const { actionPromise } = parseJson(response) as { readonly actionPromise?: unknown }; // an item, which is an object
      if (typeof actionPromise === "string") given.add([actionPromise]);
    }
  return given;
}

/** A signal that also stops when the time is up. */
export function stopAfter(deadline: number, stop: AbortSignal): Disposable & { readonly signal: AbortSignal } {
  if (deadline === Number.POSITIVE_INFINITY) return { signal: stop, [Symbol.dispose]: () => undefined };
  const [over, done] = [new AbortController(), new AbortController()];
  void pause(deadline - performance.now(), done.signal).then(() => {
    if (!done.signal.aborted) over.abort("max-duration" satisfies StopRequest);
  });
  return { signal: AbortSignal.any([stop, over.signal]), [Symbol.dispose]: () => done.abort() };
}

function sendProgress({ progress }: RunContext, before: RunCounts, lanes: number): SendProgress {
  let done = before.accepted + before.rejected + before.settled;
  let { rejected, decidedChunks: decided, chunks: of } = before;
  const show = (more: { readonly attempts?: number; readonly waiting?: Wait } = {}): void =>
    progress.advanced({
      ...{ doing: "sending", unit: "action", done, total: before.total, lanes, rejected, ...more },
      chunk: { number: Math.min(decided + 1, of), of },
    });
  show();
  return {
    sending: (chunk, attempt) => {
      progress.happened({ kind: "chunk sent", chunk, attempt });
      show({ attempts: attempt });
    },
    answered: (chunk, counts) => {
      done += counts.accepted + counts.rejected;
      rejected += counts.rejected;
      decided += 1;
      of = Math.max(of, decided);
      progress.happened({ kind: "chunk answered", chunk, ...counts });
      show();
    },
    late: (chunk, said) => progress.happened({ kind: "answer came late", chunk, said }),
    withoutStatus: () => progress.happened({ kind: "answers without status" }),
    waiting: (chunk, detail, waitMs) => {
      progress.happened({ kind: "chunk waits", chunk, detail, waitMs });
      show({ waiting: { detail, waitMs } });
    },
  };
}

/** Writes what of the run was rejected, or closed unsent, into rejects. @returns the run's rejects files. */
export async function writeRejectsOf(
  { cwd }: Pick<RunContext, "cwd">,
  ledger: Ledger,
  run: Run,
): Promise<readonly string[]> {
  // Another machine may have entered the run.
  const { directory: entered } = run.options;
  const directory = typeof entered === "string" && existsSync(entered) ? entered : cwd;
  const { inputs, number, output } = run;
  await writeRejects({
    ...{ ledger, run: number, inputs, directory, output, safeCsv: isSafe(run) },
    rows: () => openRowsOf(ledger, run),
  });
  return rejectsOf(ledger, run);
}

/** The rows of which something was rejected or closed unsent, each with all that is open of it. */
async function* openRowsOf(ledger: Ledger, run: Run): AsyncGenerator<OpenRow> {
  for (const { chunk, rejected, state, detail } of await ledger.chunks(run.number, {
    states: ["answered", "abandoned"],
  })) {
    if (rejected === 0 && state === "answered") continue;
    const { items, rows } = await ledger.outcomes(run.number, chunk);
    for (const ofRow of Map.groupBy(items.filter(isOpen), ({ origin }) => origin.row).values()) {
      const [first] = ofRow;
      const text = first && rows?.[first.origin.row];
      if (first === undefined || text === undefined) continue;
      yield {
        input: first.origin.input,
        line: first.origin.line,
        text,
        reason: [...new Set(ofRow.map((item) => reasonOf(item, detail)))].join(" | "),
        key: keyOf(first, run),
      };
    }
  }
}

const isOpen = ({ outcome }: Item): boolean => outcome === "rejected" || outcome === "not sent";

const reasonOf = (item: Item, detail = "the run was closed."): string =>
  item.outcome === "rejected"
    ? `${item.origin.kind} ${rejectionText(item)}`
    : `${item.origin.kind} was not sent: ${detail}`;

/** `tickets:row`: the digest of a bad row that it corrects, and where it was first read. */
const keyOf = ({ origin: { digest, position, seq } }: Item, { run }: Run): string =>
  rowKeyText({ digest, ...(position ?? { run, seq }) });

/** How many rejected actions are listed one by one. */
const REJECTED_TOLD = 5;

async function firstRejected(ledger: Ledger, run: Run): Promise<readonly Item[]> {
  const first: Item[] = [];
  for (const { chunk, rejected } of await ledger.chunks(run.number, { states: ["answered"] })) {
    if (rejected === 0) continue;
    const { items } = await ledger.outcomes(run.number, chunk);
    first.push(...items.filter(({ outcome }) => outcome === "rejected"));
    if (first.length >= REJECTED_TOLD) break;
  }
  return first.slice(0, REJECTED_TOLD);
}

/** Of a run of which nothing is left to send. */
export function exitCodeOfDone(run: Run, counts: RunCounts): number {
  const { rows, actions } = countsOf(run, counts);
  const isOpen =
    counts.rejected + counts.notSent > 0 || hasUnsentRows(rows) || holdsBack(actions, run.options.tellsChange === true);
  return isOpen ? EXIT_CODES["finished-with-rejects"] : EXIT_CODES.ok;
}

/** Of runs for which an input's actions wait, one with a doubt. */
export async function doubtedOf(ledger: Ledger, heldBy: unknown): Promise<Run | undefined> {
  if (!Array.isArray(heldBy) || heldBy.length === 0) return undefined;
  return (await ledger.runs({ ids: heldBy.map(String), chunks: ["in doubt", "refused"] }))[0];
}

function nextCommand(
  stop: Stop,
  run: Run,
  rejects: readonly string[],
  context: RunContext,
  { environment }: Session,
): string | null {
  switch (stop.kind) {
    case "finished":
      return rejects.length === 0 ? null : streamOfRejects(rejects, flagsOf(run), context, environment);
    case "in doubt":
      return settleCommand(run.run, environment);
    case "refused":
      return stop.whole ? resumeCommand(run.run, environment) : settleCommand(run.run, environment);
    default:
      return resumeCommand(run.run, environment);
  }
}

/** Why nothing more of a run is sent before a person has done something; undefined where nothing holds it up. */
export async function whyItWaits(
  { environment, ledger }: Pick<Session, "environment" | "ledger">,
  run: Run,
): Promise<Failure | undefined> {
  const of = `Run ${run.run} of ${run.createdAt}`;
  const open = await ledger.chunks(run.number, { states: ["in doubt", "refused"] });
  if (run.state === "closing")
    return new Failure(
      "busy",
      `The closing of run ${run.run} of ${run.createdAt} was interrupted, and comes first. Nothing was sent.`,
      { hint: `Finish closing it: ${settleCommand(run.run, environment, "--abandon")}` },
    );
  if (open.length > 0) return undefined;
  if (run.paused !== undefined)
    return new Failure("busy", `${of} was stopped by a person and comes first. Nothing was sent.`, {
      hint: `Resume it: ${resumeCommand(run.run, environment)}\nOr close it: ${settleCommand(run.run, environment, "--abandon")}`,
    });
  const { rejected } = await ledger.counts(run.number);
  if (run.exitCode === EXIT_CODES.refused && rejected > environment.maxRejected)
    return new Failure(
      "refused",
      `Run ${run.run} stopped because the service rejected too many of its actions, and comes first. Nothing was sent.`,
      { hint: `Look at its rejects, then go on: ${resumeCommand(run.run, environment)}` },
    );
  return undefined;
}

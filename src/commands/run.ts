/** Carries a run out, from wherever it stands: the same for a new run and for one that was interrupted. */

import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { cleanText, count, fileInShell, inShell, number } from "../actions/text.ts";
import { displayPath } from "../config/config.ts";
import { describeKeySource } from "../config/environment.ts";
import { crashPoint } from "../disk/crash-points.ts";
import { EXIT_CODES, Failure } from "../failure.ts";
import { mergeOutcomes } from "../ledger/known-state.ts";
import { type Ledger, runListPath } from "../ledger/ledger.ts";
import { type LeftToOthers, leftToOthers } from "../ledger/left-to-others.ts";
import { acquireLock } from "../ledger/lock.ts";
import { firstOutcomes, leavesOpen } from "../ledger/outcomes.ts";
import { wasReset } from "../ledger/run-list.ts";
import {
  type ChunkRecord,
  chunksOf,
  countRun,
  endRun,
  findRun,
  noteStop,
  plannedLanes,
  type RunRecord,
  reopenRefused,
  runsWithDoubts,
  wholeOf,
} from "../ledger/runs.ts";
import { freeName, inspectOutput, type OutputState } from "../outputs/output-file.ts";
import { promiseFormat, type RunLabel } from "../outputs/promise-lines.ts";
import {
  hasPromisesIn,
  openPromiseFile,
  openPromiseStream,
  type PromiseSink,
  unrecordedPromises,
} from "../outputs/promise-sink.ts";
import { rejectionText } from "../outputs/rejection-text.ts";
import { type WrittenRejects, writeRejects } from "../outputs/rejects.ts";
import { lanesOf, type Manifest, parseManifest, waitsForAnotherRun } from "../plan/manifest.ts";
import { openPlan } from "../plan/plan.ts";
import { endedPlans } from "../run/ended-plans.ts";
import { environmentFlags } from "../run/next-command.ts";
import { PLAN_KEPT_MS, planDirectory } from "../run/places.ts";
import type { Session } from "../run/session.ts";
import { hasUnsentRows, type Summary, summarise } from "../run/summary.ts";
import { sharedTemporaryFolder } from "../run/temporary.ts";
import { ITEM_DOUBTS } from "../sending/answer.ts";
import type { ServiceClient } from "../sending/client.ts";
import { sendLanes } from "../sending/lanes.ts";
import { isProxyAsking } from "../sending/proxy.ts";
import type { SendContext, SendProgress, Stop, StopRequest } from "../sending/send.ts";
import { closeSentElsewhere } from "../sending/sent-elsewhere.ts";
import { recover, type SettleContext } from "../sending/settle.ts";
import { closeSuperseded } from "../sending/superseded.ts";
import type { Context } from "./context.ts";
import { proxyOf } from "./first-line.ts";
import type { Reporter } from "./reporter.ts";
import { describeActions, describeNothingOpen, describeUnsentRows } from "./summary.ts";

export interface CarryOutOptions {
  readonly session: Session;
  readonly run: RunRecord;
  /** `performance.now()` after which nothing is begun. */
  readonly deadline: number;
  readonly startedAt: number;
}

/**
 * Sends what is left of a run and writes what it led to. The exit code is in the summary.
 *
 * @throws Failure when it can't even begin: a lost plan, an output file that someone changed, no key.
 */
export async function carryOut(context: Context, options: CarryOutOptions): Promise<Summary> {
  const { session, run } = options;
  const { ledger, environment } = session;
  const { reporter } = context;
  await using plan = await openPlan(planDirectory(environment, run.run), run.manifest);
  await using promises = await openPromises(context, session, run);
  const settling: SettleContext = { ledger, plan, runNo: run.runNo, promises };
  await recover(settling);
  if (environment.refusalsAreWhole) reopenRefused(ledger, run.runNo);
  tellSuperseded(context, await closeSuperseded(ledger, plan, run.runNo));
  tellSentElsewhere(context, run, await closeSentElsewhere(ledger, plan, run.runNo));
  const stops = inDoubtOrRefused(session, run);
  const before = { ...countRun(ledger, run.runNo), at: performance.now() };
  if (stops.length === 0) {
    stops.push(...(await send(context, options, settling)));
    // Of an answer that lacks promises here and there, each gap is a doubt of its own.
    const isTold = (chunk: number): boolean => stops.some((stop) => "chunk" in stop && stop.chunk.chunk === chunk);
    stops.push(...inDoubtOrRefused(session, run).filter((stop) => "chunk" in stop && !isTold(stop.chunk.chunk)));
  }
  reporter.progress(undefined);
  const [stop = { kind: "finished" }] = stops;

  const counts = countRun(ledger, run.runNo);
  const sent = {
    actions: counts.accepted + counts.rejected - before.accepted - before.rejected,
    ms: performance.now() - before.at,
  };
  const done = stop.kind === "finished";
  if (!done) noteStop(ledger, run.runNo, exitCodeOf(stop, false), stop.kind === "stopped" && stop.by === "SIGINT");
  const rejects = await writeRejects({
    ledger,
    run,
    plan,
    directory: rejectsDirectory(context, plan.manifest),
    encoding: plan.manifest.options.encoding,
  });
  crashPoint("rejects written");
  // A run that was interrupted may end long after it was planned, when what it waited for is decided.
  const left = leftToOthers(ledger, run, plan.manifest.actions);
  const exitCode =
    done && waitsForAnotherRun(left)
      ? EXIT_CODES["in-doubt"]
      : exitCodeOf(stop, leavesOpen(ledger, run.runNo) || hasUnsentRows(plan.manifest.rows) || left.open > 0);
  mergeOutcomes(ledger);
  crashPoint("merged");
  if (done) await prunePlans(session);
  // Last of all: until then the same command goes on with this run, and an --again is not begun anew.
  if (done) endRun(ledger, run.runNo, "finished", exitCode, new Date().toISOString());
  crashPoint("ended");
  noteInList(context, session, run);
  const summary = summarise({
    run: run.run,
    environment: environment.name,
    state: done ? "finished" : "stopped",
    exitCode,
    plan: plan.manifest,
    problems: plan.manifest.problems,
    counts,
    left,
    output: promises.path ?? null,
    rejects: rejects.paths,
    durationMs: performance.now() - options.startedAt,
    next: nextCommand(stop, run, rejects, left, context, session, plan.manifest),
  });
  tellEnd(context, session, plan.manifest, stops, left, summary, sent);
  if (done && rejects.areUnclear) reporter.info(NOTHING_TO_MEND);
  if (rejects.accepted > 0) reporter.info(describeNothingOpen(rejects.accepted));
  return summary;
}

/** What ends the closing of a run. */
export const closeCommand = ({ run }: RunRecord, environment: Session["environment"]): string =>
  `tickets settle ${run} --abandon ${environmentFlags(environment)}`;

/** @throws Failure `busy` for a run that a person has begun to close: what stands behind the closed part would be sent without it. */
export function refuseClosing({ environment }: Session, run: RunRecord): void {
  if (!run.isClosing) return;
  throw new Failure(
    "busy",
    `The run ${run.run} of ${run.createdAt} is being closed, which was interrupted, and comes first. Nothing was sent.`,
    { hint: `Finish closing it: ${closeCommand(run, environment)}` },
  );
}

/** Tells what `closeSuperseded` has closed. */
export function tellSuperseded({ reporter }: Context, actions: number): void {
  if (actions === 0) return;
  const [were, they] = actions === 1 ? ["was", "it"] : ["were", "they"];
  reporter.warn(
    `${count(actions, "action")} of which it was in doubt whether the service has ${actions === 1 ? "it" : "them"} ${were} not sent: something later of the same history was accepted meanwhile, and ${they} would undo it. To send ${actions === 1 ? "it" : "them"} all the same, stream the rows in the rejects with --again.`,
  );
}

function tellSentElsewhere({ reporter }: Context, { run }: RunRecord, actions: number): void {
  if (actions === 0) return;
  reporter.warn(
    `${count(actions, "action")} of run ${run} ${actions === 1 ? "is" : "are"} not sent: since it was planned, another run has sent ${actions === 1 ? "it, or something of the same history" : "them, or something of the same histories"}. What can't be told apart goes into rejects.`,
  );
}

/** Tells the list of runs what the ledger holds. Without it a lost ledger is noticed all the same, only less is known of it. */
export function noteInList({ reporter }: Context, { runList, ledger }: Session, run: RunRecord): void {
  try {
    runList.stopped(ledger, run);
  } catch (cause) {
    if (!(cause instanceof Failure)) throw cause;
    reporter.warn(cause.message);
  }
}

/** Where a run's rejects go: to where it was begun, or, should that be gone, to where it is gone on with. */
export function rejectsDirectory({ cwd }: Context, { options }: Manifest): string {
  return existsSync(options.directory) ? options.directory : cwd;
}

/** Nothing is sent after chunks whose fate a person must say first. */
function inDoubtOrRefused({ ledger }: Session, run: RunRecord): Stop[] {
  return [
    ...chunksOf(ledger, run.runNo, "in doubt").map(
      (chunk): Stop => ({ kind: "in doubt", chunk, detail: chunk.detail ?? "", body: "" }),
    ),
    ...chunksOf(ledger, run.runNo, "refused").map(
      (chunk): Stop => ({ kind: "refused", whole: false, chunk, detail: chunk.detail ?? "", body: "" }),
    ),
  ];
}

async function send(
  context: Context,
  { session, run, deadline }: CarryOutOptions,
  settling: SettleContext,
): Promise<readonly Stop[]> {
  const { environment, ledger } = session;
  const lanes = plannedLanes(ledger, run.runNo);
  if (lanes.length === 0) return [{ kind: "finished" }];
  const key = await session.key();
  const { path: output } = settling.promises;
  session.runList.sending(ledger, { ...run, output }, settling.plan.manifest);
  crashPoint("listed");
  using timer = stopAfter(deadline, context.stop);
  const sending: SendContext = {
    ...settling,
    environment,
    progress: progressOf(context, session, run, lanes.length),
    stop: timer.signal,
    abort: context.abort,
    deadline,
  };
  // Most commands send nothing, and an HTTP client is a large part of their start.
  const { openClient } = await import("../sending/client.ts");
  const connect = (): ServiceClient =>
    openClient({
      baseUrl: session.baseUrl,
      key,
      timeoutMs: environment.timeoutMs,
      freshConnection: environment.freshConnection,
      env: context.env,
    });
  return await sendLanes(sending, lanes, connect);
}

/** The signal that also stops when time is up. */
function stopAfter(deadline: number, stop: AbortSignal): Disposable & { readonly signal: AbortSignal } {
  if (deadline === Number.POSITIVE_INFINITY) return { signal: stop, [Symbol.dispose]: () => undefined };
  const controller = new AbortController();
  const timer = setTimeout(
    () => controller.abort("max-duration" satisfies StopRequest),
    Math.max(0, deadline - performance.now()),
  );
  return { signal: AbortSignal.any([stop, controller.signal]), [Symbol.dispose]: () => clearTimeout(timer) };
}

function progressOf({ reporter }: Context, { ledger }: Session, run: RunRecord, lanes: number): SendProgress {
  const before = countRun(ledger, run.runNo);
  const manifest = parseManifest(run.manifest);
  let done = before.accepted + before.rejected + before.settledByHand;
  let rejected = before.rejected;
  let settled = before.chunks.settled;
  let of = before.chunks.total;
  const show = (more: { readonly attempts?: number; readonly note?: string } = {}): void =>
    reporter.progress({
      doing: "sending",
      unit: "actions",
      done,
      total: manifest.actions.planned,
      chunk: { number: Math.min(settled + 1, of), of },
      lanes,
      rejected,
      ...more,
    });
  show();
  return {
    sending: (_chunk, attempt) => show({ attempts: attempt }),
    settled: (chunk, counts) => {
      done += counts.accepted + counts.rejected;
      rejected += counts.rejected;
      settled += 1;
      of = Math.max(of, settled);
      reporter.detail(`chunk ${chunk.chunk}: ${number(counts.accepted)} accepted, ${number(counts.rejected)} rejected`);
      show();
    },
    withoutStatus: () =>
      reporter.warn(
        'The answers have no "status" of their own, which the specification has. Each of their items is judged by what it says.',
      ),
    waiting: (chunk, detail, waitMs) => {
      reporter.detail(`chunk ${chunk.chunk}: ${cleanText(detail, 200)}; trying again in ${seconds(waitMs)}`);
      show({ note: `${cleanText(detail, 60)}; trying again in ${seconds(waitMs)}` });
    },
  };
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

function exitCodeOf(stop: Stop, rejects: boolean): number {
  switch (stop.kind) {
    case "finished":
      return rejects ? EXIT_CODES["finished-with-rejects"] : EXIT_CODES.ok;
    case "in doubt":
      return EXIT_CODES["in-doubt"];
    case "refused":
    case "too many rejections":
      return EXIT_CODES.refused;
    case "not let in":
      return EXIT_CODES["not-let-in"];
    case "not reachable":
      return EXIT_CODES["stopped-early"];
    case "stopped":
      return STOP_CODES[stop.by];
  }
}

/** 128 and the signal's number, as shells have it. */
const STOP_CODES: Readonly<Record<StopRequest, number>> = {
  SIGHUP: 129,
  SIGINT: 130,
  SIGTERM: 143,
  "max-duration": EXIT_CODES["stopped-early"],
};

function nextCommand(
  stop: Stop,
  run: RunRecord,
  { paths, areUnclear }: WrittenRejects,
  left: LeftToOthers,
  context: Context,
  { ledger, environment }: Session,
  { options: { flags = [] } }: Manifest,
): string | null {
  const env = environmentFlags(environment);
  switch (stop.kind) {
    case "finished":
      // What another run may still bring to the service is decided there, and first.
      if (waitsForAnotherRun(left)) return commandForDoubts(ledger, environment);
      return paths.length === 0 || areUnclear ? null : streamOfRejects(paths, flags, context, env);
    case "in doubt":
      return settleCommand(run.run, environment);
    case "refused":
      return `tickets ${stop.whole ? "resume" : "settle"} ${run.run} ${env}`;
    default:
      return `tickets resume ${run.run} ${env}`;
  }
}

/** The command that sends rejects once they are mended. */
export function streamOfRejects(
  paths: readonly string[],
  flags: readonly string[],
  { cwd }: Pick<Context, "cwd">,
  env: string,
): string {
  const files = paths.map((path) => fileInShell(displayPath(path, cwd)));
  return `tickets stream ${[...files, ...flagsOfRejects(flags).map(inShell)].join(" ")} ${env}`;
}

/** Rejects are CSV, TSV or NDJSON by their names, whatever the inputs were. */
function flagsOfRejects(flags: readonly string[]): readonly string[] {
  const at = flags.indexOf("--input-format");
  return at === -1 ? flags : flags.toSpliced(at, 2);
}

function tellEnd(
  context: Context,
  session: Session,
  manifest: Manifest,
  stops: readonly Stop[],
  left: LeftToOthers,
  summary: Summary,
  sent: { readonly actions: number; readonly ms: number },
): void {
  const { reporter, cwd, verbose } = context;
  const { ledger } = session;
  const [stop = { kind: "finished" }] = stops;
  // What a person has to decide about is told of every lane; what ends all of them alike is told once.
  const told = new Set<Stop["kind"]>();
  for (const each of stops) {
    if (each.kind === "in doubt" || each.kind === "refused" || !told.has(each.kind))
      tellStop(context, session, each, lanesOf(manifest) > 1, stop);
    told.add(each.kind);
  }
  const runNo = findRun(ledger, summary.run ?? "")?.runNo;
  if (runNo !== undefined) {
    for (const row of firstOutcomes(ledger, runNo, ["rejected"], 5)) {
      reporter.error(
        `${cleanText(row.source, 200)}:${row.line} ${row.action} ${cleanText(row.ticketId ?? row.nftId ?? row.eventId ?? "")} ${verbose ? `rejected: ${cleanText(row.response ?? "", 300)}` : rejectionText(row)}`,
      );
    }
  }
  reporter.info(
    `${describeActions(summary.actions, { waiting: left.waiting, repeated: manifest.repeated })}.${hasUnsentRows(manifest.rows) ? ` ${describeUnsentRows(manifest.rows)}.` : ""}${describePace(summary.durationMs, sent)}`,
  );
  const written = summary.actions.accepted + summary.actions.rejected + summary.actions.settledByHand;
  if (summary.output !== null && written > 0) reporter.info(`Promises: ${displayPath(summary.output, cwd)}`);
  if (summary.rejects.length > 0)
    reporter.info(`Rejects: ${summary.rejects.map((path) => displayPath(path, cwd)).join(", ")}`);
  const isOtherRun = stop.kind === "finished" && waitsForAnotherRun(left);
  if (stop.kind === "finished" && left.open > 0)
    reporter.warn(
      `${count(left.open, "action")} waited for another run when run ${summary.run} was planned. Nothing is in doubt there any more: stream the input again, and what is open of it is sent.`,
    );
  if (isOtherRun) tellRunsWithDoubts(context, session);
  else if (summary.next !== null) reporter.info(`${NEXT[stop.kind]}: ${summary.next}`);
}

/** What decides about the doubts of other runs, which this one waits for: the oldest of them first. */
export function commandForDoubts(ledger: Ledger | undefined, environment: Session["environment"]): string {
  const [run] = ledger === undefined ? [] : runsWithDoubts(ledger);
  // It may wait for a run that is only planned, or was settled meanwhile.
  return run === undefined ? `tickets status ${environmentFlags(environment)}` : settleCommand(run.run, environment);
}

/** How many runs with doubts are told of one by one. */
const DOUBTS_TOLD = 5;

/** Without this a night with nothing else to send would end with 6 and not say how that ends. */
export function tellRunsWithDoubts(
  { reporter }: Context,
  { ledger, environment }: { readonly ledger: Ledger | undefined; readonly environment: Session["environment"] },
  tell: Reporter["error"] = reporter.error,
): void {
  const runs = ledger === undefined ? [] : runsWithDoubts(ledger).map(({ run }) => run);
  if (runs.length === 0) {
    reporter.info(`What is in doubt is of another run; see which: ${commandForDoubts(ledger, environment)}`);
    return;
  }
  const shown = runs.slice(0, DOUBTS_TOLD);
  const more = runs.length > shown.length ? ` and ${runs.length - shown.length} more` : "";
  tell(
    `${runs.length === 1 ? "Run" : "The runs"} ${shown.join(", ")}${more} ${runs.length === 1 ? "has" : "have"} actions in doubt. Until someone decides, no other run sends them or what depends on them.`,
  );
  for (const run of shown) reporter.info(`${NEXT["in doubt"]}: ${settleCommand(run, environment)}`);
}

export const settleCommand = (run: string, environment: Session["environment"]): string =>
  `tickets settle ${run} ${environmentFlags(environment)}`;

/** ` In 3.2 s, 6,004 actions/s while sending.`; nothing where this command sent nothing. */
function describePace(ms: number, sent: { readonly actions: number; readonly ms: number }): string {
  if (sent.actions === 0) return "";
  const rate = Math.round((1000 * sent.actions) / Math.max(1, sent.ms));
  return ` In ${(ms / 1000).toFixed(1)} s, ${number(rate)} actions/s while sending.`;
}

/** `chunk 4 (a part of chunk 2, actions 5 to 8)`: a run is first told in the chunks that were planned. */
function chunkAndActions({ chunk, first, count: actions }: ChunkRecord, whole: number | undefined): string {
  const part = whole === undefined ? "" : `a part of chunk ${whole}, `;
  const range =
    actions === 1 ? `action ${number(first)}` : `actions ${number(first)} to ${number(first + actions - 1)}`;
  return `chunk ${chunk} (${part}${range})`;
}

/** @param first of the stops that are told. */
function tellStop(
  context: Context,
  { environment, ledger }: Session,
  stop: Stop,
  hasLanes: boolean,
  first: Stop,
): void {
  const { reporter } = context;
  const serviceName = environment.kind === "sandbox" ? "the sandbox" : environment.baseUrl;
  const throughProxy = proxyOf(environment, context.env)?.shown;
  const said = stop === first ? "Stopped:" : "Also:";
  const nameOf = (chunk: ChunkRecord): string => {
    const whole = wholeOf(ledger, chunk);
    return whole === undefined ? `chunk ${chunk.chunk}` : `chunk ${chunk.chunk} (a part of chunk ${whole})`;
  };
  const after = (chunk: ChunkRecord): string => `${nameOf(chunk)} or after it${hasLanes ? " in its lane" : ""}`;
  switch (stop.kind) {
    case "finished":
      break;
    case "in doubt":
      reporter.error(
        `${said} ${chunkAndActions(stop.chunk, wholeOf(ledger, stop.chunk))} is in doubt: ${cleanText(stop.detail, 300)}. ${isAnswered(stop) ? "" : "Its answer is not known. "}Nothing after it${hasLanes ? " in its lane" : ""} was sent.`,
      );
      if (stop.body !== "") reporter.error(`The service said: ${cleanText(stop.body, 500)}`);
      break;
    case "refused":
      reporter.error(
        `${said} the service refused ${nameOf(stop.chunk)}: ${cleanText(stop.detail, 300)}. ${stop.whole ? "By refusalsAreWhole nothing of it was taken." : "Part of it may have been taken."}`,
      );
      if (stop.body !== "") reporter.error(`The service said: ${cleanText(stop.body, 500)}`);
      break;
    case "not let in": {
      const plain = /^\s*\{\s*"message"\s*:\s*"Forbidden"\s*\}\s*$/.test(stop.body);
      reporter.error(
        plain
          ? `${environment.name} did not let the key in (${stop.detail}). The key came from ${describeKeySource(environment.keySource)}. Nothing of ${after(stop.chunk)} was sent.`
          : `${environment.name} did not let the request in (${stop.detail}); the key came from ${describeKeySource(environment.keySource)}. The answer was: ${cleanText(stop.body, 500) || "(empty)"}`,
      );
      break;
    }
    case "not reachable":
      if (isProxyAsking(stop.detail)) {
        reporter.error(
          `The proxy ${throughProxy ?? ""} asks for a user name and password (407), and was not tried again. Nothing of ${after(stop.chunk)} was sent. Put them into HTTPS_PROXY (http://user:password@host:port), or leave the service out with NO_PROXY.`,
        );
        break;
      }
      reporter.error(
        `${stop.reached ? `${serviceName} took nothing` : `Could not reach ${serviceName}`}${throughProxy === undefined ? "" : ` through the proxy ${throughProxy}`} after ${count(stop.attempts, "attempt")} (${cleanText(stop.detail, 200)})${stop.waitMs === undefined ? "" : `; the next one would come ${seconds(stop.waitMs)} later, past --max-duration`}. Nothing of ${after(stop.chunk)} was sent.`,
      );
      break;
    case "too many rejections":
      reporter.error(
        `Stopped: ${count(stop.rejected, "action")} rejected, more than maxRejected (${environment.maxRejected}).`,
      );
      break;
    case "stopped":
      // A doubt of another lane is told before it.
      if (stop !== first) break;
      reporter.error(
        stop.by === "max-duration"
          ? "Stopped: --max-duration is over. Nothing is in doubt."
          : `Stopped by ${stop.by}. Nothing is in doubt.`,
      );
      break;
  }
}

/** Whether an answer came that says too little, or something else than it may. */
function isAnswered({ detail }: Extract<Stop, { kind: "in doubt" }>): boolean {
  return /^HTTP 2\d\d, but/.test(detail) || Object.values(ITEM_DOUBTS).some((why) => detail.startsWith(why));
}

/** What leads to the next command. */
export const NEXT: Readonly<Record<Stop["kind"], string>> = {
  finished: "Mend the rejects, then",
  "in doubt": "Look, then decide",
  refused: "Look, then decide",
  "not let in": "Mend the key, then",
  "not reachable": "Later",
  "too many rejections": "Look at the rejects, then",
  stopped: "Continue",
};

const NOTHING_TO_MEND =
  "No value in these rejects is wrong. Do what is said of each row; to send one as it is, stream it alone with --again.";

export async function openPromises(
  context: Context,
  { ledger, environment, runList }: Session,
  run: RunRecord,
): Promise<PromiseSink> {
  const label = labelOf(run);
  const safeCsv = parseManifest(run.manifest).options.safeCsv;
  const moveTo = (path: string, why: string): void => {
    ledger.run("UPDATE runs SET output = ? WHERE run_no = ?", path, run.runNo);
    runList.moved(run.run, path);
    context.reporter.warn(`${why} The rest goes to ${displayPath(path, context.cwd)}.`);
  };
  const openFile = async (path: string): Promise<PromiseSink> => {
    const lock = await lockOutput(context, path, `run ${run.run}`);
    try {
      const state = await inspectOutput(ledger, path, (length) =>
        unrecordedPromises(ledger, run.runNo, path, label, length, safeCsv),
      );
      // What the file tells and the ledger does not know has been sent; going on would send it again.
      if (hasLostRuns(state, environment)) refuseStrangeOutput(path, state, context, environment, run.run);
      const isFolderGone = !existsSync(dirname(path));
      const why = isFolderGone
        ? "its folder is gone"
        : state.state === "strange"
          ? state.why
          : state.state === "fresh" && hasPromisesIn(ledger, run.runNo, path)
            ? "what the run wrote into it is gone"
            : undefined;
      if (why !== undefined) {
        // The run is under way, and its promises need a place whatever became of the first one.
        const stem = isFolderGone ? join(context.cwd, basename(path)) : path;
        const elsewhere = await freeName(ledger, `${stem}.${run.run}`, promiseFormat(path));
        lock[Symbol.dispose]();
        moveTo(elsewhere, `${displayPath(path, context.cwd)} is not appended to: ${why}.`);
        return await openFile(elsewhere);
      }
      const sink = await openPromiseFile({
        ledger,
        path,
        state,
        label,
        safeCsv,
        onMoved: (moved) =>
          moveTo(moved, `${displayPath(path, context.cwd)} was changed by someone else while the run wrote it.`),
      });
      return {
        get path() {
          return sink.path;
        },
        write: sink.write,
        style: sink.style,
        [Symbol.asyncDispose]: async () => {
          await sink[Symbol.asyncDispose]();
          lock[Symbol.dispose]();
        },
      };
    } catch (cause) {
      lock[Symbol.dispose]();
      throw cause;
    }
  };
  if (run.output !== undefined) return openFile(run.output);
  const toFile = (why: string): Promise<PromiseSink> => {
    const path = join(context.cwd, `stdout.${environment.name}.${run.run}.ndjson`);
    moveTo(path, why);
    return openFile(path);
  };
  if (context.isStdoutTaken) return toFile("Standard output is for the JSON document of this command.");
  return openPromiseStream(context.stdout, label, () =>
    toFile("Whoever read the promises from standard output went away."),
  );
}

/** The same, opened when the first line is written. */
export function openPromisesLate(context: Context, session: Session, run: RunRecord): PromiseSink {
  const safeCsv = parseManifest(run.manifest).options.safeCsv;
  const format = run.output === undefined ? "ndjson" : promiseFormat(run.output);
  let sink: PromiseSink | undefined;
  return {
    get path() {
      return sink === undefined ? run.output : sink.path;
    },
    style: { label: labelOf(run), format, safeCsv: format === "csv" && safeCsv },
    async write(lines) {
      sink ??= await openPromises(context, session, run);
      return sink.write(lines);
    },
    [Symbol.asyncDispose]: async () => sink?.[Symbol.asyncDispose](),
  };
}

/** @throws Failure `busy` while another run writes the file. */
export function lockOutput(context: Context, path: string, command: string): Promise<Disposable> {
  return acquireLock({
    what: displayPath(path, context.cwd),
    path: outputLockPath(path),
    command,
    waitMs: 0,
    signal: context.abort,
  });
}

/** Two ledgers could be told to write the same file, so its lock lies where both look. */
function outputLockPath(path: string): string {
  const name = createHash("sha256").update(path).digest("hex").slice(0, 32);
  return join(sharedTemporaryFolder(), `${name}.lock`);
}

/** How a run's promises name it. Of environments that share a ledger, another one may finish it. */
export function labelOf({ run, manifest }: RunRecord): RunLabel {
  return { environment: parseManifest(manifest).environment, run };
}

/** Whether the file shows that the environment's ledger was lost, or restored from an older backup. */
export const hasLostRuns = (state: OutputState, environment: Session["environment"]): boolean =>
  hasUnknownRuns(state, environment) && !isOfResetSandbox(state, environment);

/** Whether the file is of a sandbox that was reset since, so that nothing in it is lost. */
export const isOfResetSandbox = (state: OutputState, environment: Session["environment"]): boolean =>
  hasUnknownRuns(state, environment) && wasReset(runListPath(environment.ledgerPath), state.lostRun.run);

type WithUnknownRuns = Extract<OutputState, { state: "strange" }> & { readonly lostRun: RunLabel };

const hasUnknownRuns = (state: OutputState, { ledgerNames }: Session["environment"]): state is WithUnknownRuns =>
  state.state === "strange" && state.lostRun !== undefined && ledgerNames.includes(state.lostRun.environment);

/**
 * @param ofRun the run that has begun to write into it and goes on, so that no flag names another one.
 * @throws Failure `usage` for a file that must not be written into.
 */
export function refuseStrangeOutput(
  path: string,
  state: OutputState,
  { cwd }: Context,
  environment: Session["environment"],
  ofRun?: string,
): void {
  if (state.state !== "strange") return;
  if (hasLostRuns(state, environment)) {
    throw new Failure(
      "usage",
      `${displayPath(path, cwd)} holds runs of this environment that its ledger does not know: the ledger was lost, or put back from an older copy, or a copy of its folder is used elsewhere. Nothing was sent.`,
      {
        hint: `Give it back its memory: tickets results --import ${fileInShell(displayPath(path, cwd))} ${environmentFlags(environment)}\n${ofRun === undefined ? "If the file is of another ledger, name another one with --output." : `If what it ends in is of another ledger, move it away: the rest of run ${ofRun} then goes into a file beside it.`}`,
      },
    );
  }
  throw new Failure("usage", `${displayPath(path, cwd)} is not appended to: ${state.why}. Nothing was sent.`, {
    hint: "Name another file with --output, or set this one aside with --force (it is renamed, never deleted).",
  });
}

/** Plans that nothing needs any more. */
async function prunePlans({ ledger, environment }: Session): Promise<void> {
  for (const path of endedPlans(environment, ledger, Date.now() - PLAN_KEPT_MS))
    await rm(path, { recursive: true, force: true });
}

/** `tickets status --remote`: asks the service what has become of its promises, and keeps the answers in the ledger. It takes no lock. */

import { placeText } from "../actions/problem.ts";
import type { Environment } from "../config/environment.ts";
import { EXIT_CODES, Failure, SIGNAL_CODES, type StopSignal } from "../failure.ts";
import type { Ledger, Run } from "../ledger/ledger.ts";
import type { RunContext } from "../run/context.ts";
import { findLedgerOf, openLedgerOf } from "../run/ledger-of.ts";
import { knownLedgerOf, lostRunsOf } from "../run/lost-ledger.ts";
import { namedRun } from "../run/runs.ts";
import { connectorTo, openService } from "../run/session.ts";
import { type AskContext, type AskStop, askStatuses, type OpenPromise } from "../send/ask-statuses.ts";
import type { Wait } from "../send/send.ts";
import { FAILED_STATUSES, FINAL_STATUSES, isFinal, NOT_FOUND, OPEN_STATUSES } from "../send/status-answer.ts";
import { cleanText, count, number } from "../text.ts";
import type { Context } from "./context.ts";
import type { Options } from "./options.ts";
import { failureText } from "./reporter.ts";
import { openSettings } from "./run-context.ts";
import { describeAnswer, describeAuthentication, describeUnreachable } from "./service-words.ts";
import { inColumns, widthsOf } from "./table.ts";
import { sayNeverSent } from "./words.ts";

/**
 * Asks once about every promise that is not final. What is learnt is in the ledger by the time this resolves, whatever ended
 * it, and within a second of each answer should the process die. Exit 4 where a promise ended without reaching the blockchain,
 * is not known to the service, or was answered with nothing.
 *
 * @throws Failure `usage` where the environment has no `statusPath` or the run is not known, `authentication-failed` without a key.
 */
export async function remoteStatus(options: Options<"run" | "json">, context: Context): Promise<number> {
  const { reporter, cwd } = context;
  const { run } = options;
  const { core, environment } = await openSettings(context, options, "any");
  const { name } = environment;
  const statusPath = statusPathOf(environment);
  const { hasLedger, problem } = await lookAtLedger(environment, cwd, run !== undefined);
  const found = hasLedger ? await askAbout(core, environment, statusPath, run) : NOTHING;
  const exitCode = problem === undefined ? exitCodeOf(found) : EXIT_CODES.usage;
  if (problem !== undefined) reporter.error(failureText(problem));
  if (options.json) {
    const { stop, unreadable, ...counted } = found;
    const rest = { unreadable: unreadable.answers, stopped: stop?.kind ?? null, exitCode };
    reporter.out(`${JSON.stringify({ environment: name, run: run ?? null, ...counted, ...rest })}\n`);
  } else if (found.promises > 0) sayCounts(found, context);
  if (!hasLedger && problem === undefined) sayNeverSent(environment, context);
  else if (hasLedger && found.promises === 0)
    reporter.info(run === undefined ? `${name} has given no promises yet.` : `Run ${run} was given no promises.`);
  sayFailed(found, environment, context);
  if (found.stop !== undefined) sayStop(found.stop, found, environment, context);
  return exitCode;
}

/** @throws Failure `usage` where there is none. */
function statusPathOf({ name, statusPath }: Environment): string {
  if (statusPath !== undefined) return statusPath;
  throw new Failure("usage", `${name} has no statusPath, so nobody can be asked about its promises.`, {
    hint: `Set it in the config, with the path that the service's documentation gives: environments: {${name}: {statusPath: "/actions/{actionPromise}"}}`,
  });
}

/** Whether there is one, and why it does not know everything that was sent. */
async function lookAtLedger(environment: Environment, cwd: string, isNeeded: boolean) {
  await using ledger = await (isNeeded ? knownLedgerOf(environment, cwd) : findLedgerOf(environment));
  return { hasLedger: ledger !== undefined, problem: await lostRunsOf(environment, ledger, cwd) };
}

interface Asked {
  /** How many answers came. */
  readonly answers: number;
  /** Answers that say nothing about their promise, and why the first of them. */
  readonly unreadable: { readonly answers: number; readonly detail: string };
  /** Why not every promise was asked about. */
  readonly stop: AskStop | { readonly kind: StopSignal } | undefined;
}

interface RemoteStatus extends Awaited<ReturnType<typeof countAll>>, Asked {
  readonly runs: number;
  /** The first promises that did not reach the blockchain. */
  readonly failures: Awaited<ReturnType<typeof failuresOf>>;
}

const NOTHING: RemoteStatus = {
  ...{ runs: 0, promises: 0, statuses: {}, unknown: 0, final: 0, failed: 0, notFound: 0, answers: 0 },
  ...{ unreadable: { answers: 0, detail: "" }, failures: [], stop: undefined },
};

/** What it ends with that asks no more. */
const STOP_CODES: Readonly<Record<AskStop["kind"] | StopSignal, number>> = {
  "authentication failed": EXIT_CODES["authentication-failed"],
  "not reachable": EXIT_CODES["stopped-early"],
  refused: EXIT_CODES.refused,
  unreadable: EXIT_CODES.refused,
  ...SIGNAL_CODES,
};

function exitCodeOf({ stop, failed, notFound, unreadable }: RemoteStatus): number {
  if (stop !== undefined) return STOP_CODES[stop.kind];
  return failed + notFound + unreadable.answers > 0 ? EXIT_CODES["finished-with-rejects"] : EXIT_CODES.ok;
}

async function askAbout(
  context: RunContext,
  environment: Environment,
  statusPath: string,
  run: string | undefined,
): Promise<RemoteStatus> {
  await using service = await openService(context, environment);
  await service.key();
  await using ledger = await openLedgerOf(environment, service.boundTo, context);
  const runs = run === undefined ? await ledger.runs() : [await namedRun(ledger, run, environment)];
  const connect = await connectorTo(service, context, { maxAnswerBytes: MAX_STATUS_BYTES });
  const asked = await ask(context, { ...environment, statusPath, connect }, ledger, runs);
  const counts = await countAll(ledger, runs);
  // A signal that came behind the last answer ended nothing.
  const isCut = context.stop.aborted && counts.final < counts.promises;
  const stop = asked.stop ?? (isCut ? { kind: context.stop.reason as StopSignal } : undefined); // no deadline is set here
  return { runs: runs.length, ...counts, ...asked, stop, failures: await failuresOf(ledger, runs) };
}

/** An answer about one promise is a few hundred bytes. */
const MAX_STATUS_BYTES = 1024 * 1024;

async function ask(
  { progress, stop, abort }: RunContext,
  { statusPath, retries, rate, connect }: Pick<AskContext, "statusPath" | "retries" | "rate" | "connect">,
  ledger: Ledger,
  runs: readonly Run[],
): Promise<Asked> {
  const { promises: all, final } = await countAll(ledger, runs);
  const notes = notesIn(ledger);
  let [answers, hasWaited] = [0, false];
  const unreadable = { answers: 0, detail: "" };
  const show = (waiting?: Wait): void => {
    const work = { doing: "asking about", done: answers, total: all - final, unit: "promise" } as const;
    progress.advanced({ ...work, ...(waiting && { waiting }) });
  };
  const asking: AskContext = {
    ...{ statusPath, retries, rate, connect, stop: AbortSignal.any([stop, abort]) },
    async answered(promise, answer) {
      answers += 1;
      if (answer.kind === "status") await notes.add(promise, answer.status);
      else {
        unreadable.answers += 1;
        unreadable.detail ||= answer.detail;
      }
      show();
    },
    waiting(detail, waitMs) {
      progress.happened({ kind: "question waits", detail, waitMs, isFirst: !hasWaited });
      hasWaited = true;
      show({ detail, waitMs });
    },
  };
  try {
    const stopped = await askStatuses(asking, openPromises(ledger, runs));
    return { answers, unreadable, stop: stopped };
  } finally {
    await notes.store();
    progress.advanced(undefined);
  }
}

async function* openPromises(ledger: Ledger, runs: readonly Run[]): AsyncGenerator<OpenPromise> {
  for (const run of runs)
    for await (const promise of promisesOf(ledger, run))
      if (promise.status === undefined || !isFinal(promise.status)) yield promise;
}

/** All promises of a run, each with its action's origin and what the service last said of it. */
async function* promisesOf(ledger: Ledger, { number: run }: Run) {
  for (const { chunk, accepted } of await ledger.chunks(run)) {
    if (accepted === 0) continue;
    const statuses = await ledger.statuses(run, chunk);
    for (const { place, promise, origin } of (await ledger.outcomes(run, chunk)).items)
      if (promise !== undefined) yield { run, chunk, place, promise, origin, status: statuses.get(place) };
  }
}

/** Answers are stored so many at a time, or after so long. */
const [NOTED_AT_ONCE, NOTED_EVERY_MS] = [500, 1_000];

/** Keeps what was learnt, some answers at a time. */
function notesIn(ledger: Ledger) {
  let [waiting, storedAt]: [(OpenPromise & { readonly status: string })[], number] = [[], performance.now()];
  const store = async (): Promise<void> => {
    const byRun = Map.groupBy(waiting, ({ run }) => run);
    [waiting, storedAt] = [[], performance.now()];
    const at = new Date().toISOString();
    for (const [run, statuses] of byRun) await ledger.noteStatuses(run, statuses, at);
  };
  const add = async (promise: OpenPromise, status: string): Promise<void> => {
    if (status === promise.status) return;
    waiting.push({ ...promise, status });
    if (performance.now() - storedAt > NOTED_EVERY_MS || waiting.length >= NOTED_AT_ONCE) await store();
  };
  return { add, store };
}

async function countAll(ledger: Ledger, runs: readonly Run[]) {
  const found = new Map<string, number>();
  let promises = 0;
  for (const { number: run } of runs) {
    promises += (await ledger.counts(run)).accepted;
    for (const [status, n] of await ledger.countStatuses(run)) found.set(status, (found.get(status) ?? 0) + n);
  }
  const statuses = [...found].toSorted(([one, n], [other, m]) => m - n || (one < other ? -1 : 1));
  const sumOf = (isMeant: (status: string) => boolean): number =>
    statuses.reduce((sum, [status, n]) => sum + (isMeant(status) ? n : 0), 0);
  return {
    promises,
    /** By what the service said last, the most frequent first. */
    statuses: Object.fromEntries(statuses),
    /** Those that were never answered, and those that will not change any more. */
    unknown: promises - sumOf(() => true),
    final: sumOf(isFinal),
    /** Of the final ones, those that did not reach the blockchain; and those that the service does not know. */
    failed: sumOf((status) => FAILED_STATUSES.includes(status)),
    notFound: sumOf((status) => status === NOT_FOUND),
  };
}

/** How many failures are listed one by one. */
const FAILURES_SHOWN = 5;

async function failuresOf(ledger: Ledger, runs: readonly Run[]) {
  const failures = [];
  for (const run of runs)
    for await (const { origin, promise: actionPromise, status } of promisesOf(ledger, run)) {
      if (status === undefined || !FAILED_STATUSES.includes(status)) continue;
      const { seq, line, kind: action } = origin;
      const source = run.inputs[origin.input]?.name ?? null;
      failures.push({ run: run.run, seq, status, source, line, action, actionPromise });
      if (failures.length >= FAILURES_SHOWN) return failures;
    }
  return failures;
}

const UNANSWERED = "not answered yet";

/** What a person should know of a status, beside its word. */
const NOTES: Readonly<Record<string, string>> = {
  [UNANSWERED]: "",
  [NOT_FOUND]: "the service does not know these promises",
  ...Object.fromEntries(OPEN_STATUSES.map((status) => [status, "on its way"])),
  ...Object.fromEntries(FINAL_STATUSES.map((status) => [status, "final"])),
  ...Object.fromEntries(FAILED_STATUSES.map((status) => [status, "did not reach the blockchain"])),
};
const OTHER_NOTE = "not a status that tickets knows: counts as not final";

function sayCounts({ statuses, unknown, promises, runs }: RemoteStatus, { reporter }: Context): void {
  const all = [...Object.entries(statuses), ...(unknown === 0 ? [] : [[UNANSWERED, unknown] as const])];
  const width = Math.max(...all.map(([, n]) => number(n).length));
  const rows = all.map(([status, n]) => [cleanText(status), number(n).padStart(width), NOTES[status] ?? OTHER_NOTE]);
  const widths = widthsOf(rows);
  const lines = rows.map((row) => `  ${inColumns(row, widths)}\n`);
  reporter.out(`${count(promises, "promise")} of ${count(runs, "run")}\n${lines.join("")}`);
}

const isRight = ({ statusPath }: Environment): string => `Is statusPath (${statusPath}) right?`;

function sayFailed(found: RemoteStatus, environment: Environment, { reporter }: Context): void {
  const { failures, failed, notFound, unreadable } = found;
  for (const { source, line, action, actionPromise, status } of failures) {
    const from = source === null ? "" : `${placeText({ source, line: line ?? undefined })} `;
    const promise = cleanText(actionPromise ?? "", 255);
    reporter.error(`${from}${action ?? "action"} ${status}: its promise ${promise} did not reach the blockchain.`);
  }
  if (failed > failures.length)
    reporter.error(
      `${number(failed - failures.length)} more did not. All of them are in the ledger's table statuses (docs/design/ledger.md).`,
    );
  if (notFound > 0)
    reporter.warn(
      `${environment.name} does not know ${count(notFound, "promise")} (HTTP 404), or has forgotten them. ${isRight(environment)}`,
    );
  if (unreadable.answers > 0)
    reporter.warn(
      `${count(unreadable.answers, "answer")} did not say what became of ${unreadable.answers === 1 ? "its promise" : "their promises"}: ${cleanText(unreadable.detail, 200)}. ${isRight(environment)}`,
    );
}

function sayStop(
  stop: NonNullable<RemoteStatus["stop"]>,
  { final, promises }: RemoteStatus,
  environment: Environment,
  { env, reporter }: Context,
): void {
  const are = final === 1 ? "is" : "are";
  const kept = `${number(final)} of ${count(promises, "promise")} ${are} final. What was answered is kept.`;
  switch (stop.kind) {
    case "authentication failed":
      reporter.error(`${describeAuthentication(environment, stop)} ${kept}`);
      break;
    case "not reachable":
      reporter.error(
        `${describeUnreachable(environment, env, stop, "gave no answer about a promise")} ${kept}\nLater, the same command asks about the rest.`,
      );
      break;
    case "refused":
      reporter.error(
        `${environment.name} refused to give the status of a promise: ${cleanText(stop.detail, 300)}. ${isRight(environment)} ${describeAnswer(stop.body)} ${kept}`,
      );
      break;
    case "unreadable":
      reporter.error(
        `No answer said what became of a promise, so the rest was not asked about. ${isRight(environment)}`,
      );
      break;
    default:
      reporter.info(`Stopped by ${stop.kind}. What was answered is kept; the same command asks about the rest.`);
  }
}

/** `tickets status --remote`: asks the service what has become of its promises, and keeps the answers in the ledger. It takes no lock. */

import type { Environment } from "../config/environment.ts";
import { EXIT_CODES, Failure } from "../failure.ts";
import type { Ledger, Run } from "../ledger/ledger.ts";
import type { RunContext } from "../run/context.ts";
import { openLedgerOf } from "../run/ledger-of.ts";
import { knownLedgerOf, refuseLostRuns } from "../run/lost-ledger.ts";
import { namedRun } from "../run/runs.ts";
import { connectorTo, openService } from "../run/session.ts";
import { type AskContext, type AskStop, askStatuses, type OpenPromise } from "../send/ask-statuses.ts";
import type { Wait } from "../send/send.ts";
import { FAILED_STATUSES, isFinal, NOT_FOUND, OPEN_STATUSES } from "../send/status-answer.ts";
import { cleanText, count, number } from "../text.ts";
import type { Context } from "./context.ts";
import type { Options } from "./options.ts";
import { openSettings } from "./run-context.ts";
import { describeAnswer, describeAuthentication, describeUnreachable } from "./service-words.ts";
import { columnsOf, layOut } from "./table.ts";

/**
 * Asks once about every promise that is not final. What is learnt is in the ledger by the time this resolves, whatever ended
 * it. Exit 4 where a promise ended without reaching the blockchain, is not known to the service, or was answered with nothing.
 *
 * @throws Failure `usage` where the environment has no `statusPath`, the run is not known, or the ledger lacks runs that were
 *   sent; `authentication-failed` without a key.
 */
export async function remoteStatus(options: Options<"run" | "json">, context: Context): Promise<number> {
  const { reporter, cwd } = context;
  const { run } = options;
  const { core, environment } = await openSettings(context, options, "any");
  const statusPath = statusPathOf(environment);
  await refuseLost(environment, cwd);
  const found = await askAbout(core, environment, statusPath, run);
  const exitCode = exitCodeOf(found);
  if (options.json) {
    const { stop, unreadable, ...counted } = found;
    const rest = { unreadable: unreadable.answers, stopped: stop?.kind ?? null, exitCode };
    reporter.out(`${JSON.stringify({ environment: environment.name, run: run ?? null, ...counted, ...rest })}\n`);
  } else sayCounts(found, context);
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

/** @throws Failure `usage` where there is no ledger, or it does not know everything that was sent. */
async function refuseLost(environment: Environment, cwd: string): Promise<void> {
  await using ledger = await knownLedgerOf(environment, cwd);
  await refuseLostRuns(environment, ledger, cwd);
}

interface RemoteStatus extends Awaited<ReturnType<typeof countAll>> {
  readonly runs: number;
  /** How many answers came. */
  readonly answers: number;
  /** Answers that say nothing about their promise, and why the first of them. */
  readonly unreadable: { readonly answers: number; readonly detail: string };
  /** Why not every promise was asked about. */
  readonly stop: AskStop | undefined;
}

/** What it ends with that asks no more. */
const STOP_CODES = {
  "authentication failed": EXIT_CODES["authentication-failed"],
  "not reachable": EXIT_CODES["stopped-early"],
  refused: EXIT_CODES.refused,
  unreadable: EXIT_CODES.refused,
} as const satisfies Record<AskStop["kind"], number>;

function exitCodeOf({ stop, failed, notFound, unreadable }: RemoteStatus): number {
  if (stop !== undefined) return STOP_CODES[stop.kind];
  return failed + notFound + unreadable.answers > 0 ? EXIT_CODES["finished-with-rejects"] : EXIT_CODES.ok;
}

/** An answer about one promise is a few hundred bytes. */
const MAX_STATUS_BYTES = 1024 * 1024;

/** @throws what a signal makes of `stop`, once what was answered is kept. */
async function askAbout(
  context: RunContext,
  environment: Environment,
  statusPath: string,
  run: string | undefined,
): Promise<RemoteStatus> {
  const { progress, stop, abort } = context;
  await using service = await openService(context, environment);
  await service.key();
  await using ledger = await openLedgerOf(environment, service.boundTo, context);
  const runs = run === undefined ? await ledger.runs() : [await namedRun(ledger, run, environment)];
  const before = await countAll(ledger, runs);
  const learnt = noteIn(ledger);
  let answers = 0;
  const unreadable = { answers: 0, detail: "" };
  const show = (waiting?: Wait): void => {
    const total = before.promises - before.final;
    const work = { doing: "asking about", done: answers, total, unit: "promise" } as const;
    progress.advanced({ ...work, ...(waiting && { waiting }) });
  };
  const asking: AskContext = {
    ...{ statusPath, retries: environment.retries, rate: environment.rate },
    connect: await connectorTo(service, context, { maxAnswerBytes: MAX_STATUS_BYTES }),
    stop: AbortSignal.any([stop, abort]),
    async answered(promise, answer) {
      answers += 1;
      if (answer.kind === "unreadable") {
        unreadable.answers += 1;
        unreadable.detail ||= answer.detail;
      } else if (answer.status !== promise.status) await learnt.add({ ...promise, status: answer.status });
      show();
    },
    waiting: (detail, waitMs) => show({ detail, waitMs }),
  };
  let ended: AskStop | undefined;
  try {
    ended = await askStatuses(asking, openPromises(ledger, runs));
  } finally {
    await learnt.store();
    progress.advanced(undefined);
  }
  stop.throwIfAborted();
  return { runs: runs.length, ...(await countAll(ledger, runs)), answers, unreadable, stop: ended };
}

/** Answers are stored so many at a time: what a killed process had not stored is asked about again. */
const NOTED_AT_ONCE = 100;

function noteIn(ledger: Ledger) {
  let waiting: (OpenPromise & { readonly status: string })[] = [];
  const store = async (): Promise<void> => {
    const byRun = Map.groupBy(waiting, ({ run }) => run);
    waiting = [];
    for (const [run, statuses] of byRun) await ledger.noteStatuses(run, statuses, new Date().toISOString());
  };
  const add = async (answered: (typeof waiting)[number]): Promise<void> => {
    waiting.push(answered);
    if (waiting.length >= NOTED_AT_ONCE) await store();
  };
  return { add, store };
}

/** The promises of which the service has not said that they are final. */
async function* openPromises(ledger: Ledger, runs: readonly Run[]): AsyncGenerator<OpenPromise> {
  for (const { number: run } of runs)
    for (const { chunk, accepted } of await ledger.chunks(run)) {
      if (accepted === 0) continue;
      const statuses = await ledger.statuses(run, chunk);
      for (const { place, promise } of (await ledger.outcomes(run, chunk)).items) {
        const status = statuses.get(place);
        if (promise !== undefined && (status === undefined || !isFinal(status)))
          yield { run, chunk, place, promise, status };
      }
    }
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

/** What a person should know of a status, beside its word. */
function meaningOf(status: string): string {
  if (status === NOT_FOUND) return "the service does not know these promises";
  if (FAILED_STATUSES.includes(status)) return "did not reach the blockchain";
  if (isFinal(status)) return "final";
  return OPEN_STATUSES.some((open) => open === status) ? "on its way" : "not a status that tickets knows";
}

function sayCounts({ statuses, unknown, promises, runs }: RemoteStatus, { reporter, stdout }: Context): void {
  const rows = Object.entries(statuses).map(([status, n]) => [cleanText(status), number(n), meaningOf(status)]);
  if (unknown > 0) rows.push(["", number(unknown), "not answered yet"]);
  reporter.out(`${count(promises, "promise")} of ${count(runs, "run")}\n`);
  if (rows.length > 0) reporter.out(layOut(["status", "promises", "meaning"], rows, columnsOf(stdout)));
}

const isRight = ({ statusPath }: Environment): string => `Is statusPath (${statusPath}) right?`;

function sayFailed({ failed, notFound, unreadable }: RemoteStatus, environment: Environment, { reporter }: Context) {
  if (failed > 0)
    reporter.error(
      `${count(failed, "promise")} did not reach the blockchain. docs/design/ledger.md has the query that lists them.`,
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
  stop: AskStop,
  { final, promises }: RemoteStatus,
  environment: Environment,
  { env, reporter }: Context,
): void {
  const kept = `${number(final)} of ${count(promises, "promise")} ${final === 1 ? "is" : "are"} final. What was answered is kept; the same command asks about the rest.`;
  reporter.error(`${describeStop(stop, environment, env)} ${kept}`);
}

function describeStop(stop: AskStop, environment: Environment, env: Context["env"]): string {
  switch (stop.kind) {
    case "authentication failed":
      return describeAuthentication(environment, stop);
    case "not reachable":
      return describeUnreachable(environment, env, stop, "gave no answer about a promise");
    case "refused":
      return `${environment.name} refused to give the status of a promise: ${cleanText(stop.detail, 300)}. ${isRight(environment)} ${describeAnswer(stop.body)}`;
    case "unreadable":
      return `No answer said what became of a promise. ${isRight(environment)}`;
  }
}

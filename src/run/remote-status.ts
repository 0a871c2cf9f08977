/** What has become of promises: asks the service, and keeps its answers in the ledger. Takes no lock. */

import type { Environment } from "../config/environment.ts";
import { Failure } from "../failure.ts";
import type { Ledger, Run } from "../ledger/ledger.ts";
import { type AskContext, type AskStop, askStatuses, type OpenPromise } from "../send/ask-statuses.ts";
import type { Wait } from "../send/send.ts";
import { FAILED_STATUSES, isFinal, NOT_FOUND } from "../send/status-answer.ts";
import type { RunContext } from "./context.ts";
import { refuseLostRuns } from "./lost-ledger.ts";
import { connectorTo, knownLedgerOf, openLedgerOf, openService } from "./open.ts";
import { namedRun } from "./runs.ts";

export interface RemoteStatus extends Awaited<ReturnType<typeof countAll>> {
  readonly runs: number;
  /** How many answers came. */
  readonly answers: number;
  /** Answers that say nothing about their promise, and why the first of them. */
  readonly unreadable: { readonly answers: number; readonly detail: string };
  /** Why not every promise was asked about. */
  readonly stop: AskStop | undefined;
}

/** An answer about one promise is a few hundred bytes. */
const MAX_STATUS_BYTES = 1024 * 1024;

/**
 * Asks once about every promise that is not final. What is learnt is in the ledger by the time this resolves, whatever ended it.
 *
 * @param run undefined: all runs.
 * @throws Failure `usage` where the environment has no `statusPath`, the run is not known, or the ledger lacks runs that were
 *   sent; `authentication-failed` without a key; what a signal makes of `stop`.
 */
export async function askAboutPromises(
  context: RunContext,
  environment: Environment,
  run: string | undefined,
): Promise<RemoteStatus> {
  const { cwd, progress, stop, abort } = context;
  const { name, statusPath } = environment;
  if (statusPath === undefined)
    throw new Failure("usage", `${name} has no statusPath, so nobody can be asked about its promises.`, {
      hint: `Set it in the config, with the path that the service's documentation gives: environments: {${name}: {statusPath: "/actions/{actionPromise}"}}`,
    });
  {
    await using known = await knownLedgerOf(environment, cwd);
    await refuseLostRuns(environment, known, cwd);
  }
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

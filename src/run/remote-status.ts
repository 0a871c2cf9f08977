/** What has become of the promises that an environment gave: asks its `statusPath`, and keeps the answers in the ledger. */

import type { Environment } from "../config/environment.ts";
import { EXIT_CODES, Failure, SIGNAL_CODES, type StopSignal } from "../failure.ts";
import type { Ledger, Run } from "../ledger/ledger.ts";
import { type AskStop, askStatuses, type OpenPromise } from "../send/ask-statuses.ts";
import type { Wait } from "../send/send.ts";
import { FAILED_STATUSES, FINAL_STATUSES, isFinal, NOT_FOUND } from "../send/status-answer.ts";
import type { RunContext } from "./context.ts";
import { findLedgerOf, openLedgerOf } from "./ledger-of.ts";
import { lostRunsOf } from "./lost-ledger.ts";
import { namedRun } from "./runs.ts";
import { connectorTo, openService, type Service } from "./session.ts";

export interface RemoteStatusSettings {
  readonly environment: Environment;
  /** Only the promises of this run. */
  readonly run?: string | undefined;
}

export interface RemoteCounts {
  /** How many promises there are. */
  readonly promises: number;
  /** By what the service said last, the most frequent first. */
  readonly statuses: Readonly<Record<string, number>>;
  /** Those that were never answered. */
  readonly unknown: number;
  /** Those that will not change any more. */
  readonly final: number;
  /** Of these, those that did not reach the blockchain. */
  readonly failed: number;
  /** Those that the service does not know. */
  readonly notFound: number;
}

interface Asked {
  /** How many answers came. */
  readonly answers: number;
  /** Answers that say nothing about their promise, and why the first of them. */
  readonly unreadable: { readonly answers: number; readonly detail: string };
  /** Why not every promise was asked about. */
  readonly stop: AskStop | { readonly kind: StopSignal } | undefined;
}

export interface RemoteStatus extends RemoteCounts, Asked {
  /** Why the ledger does not know everything that was sent. */
  readonly problem: Failure | undefined;
  readonly hasLedger: boolean;
  readonly runs: number;
  /** The first promises that did not reach the blockchain. */
  readonly failures: readonly FailedPromise[];
  readonly exitCode: number;
}

interface FailedPromise {
  readonly run: string;
  readonly seq: number;
  readonly source: string | undefined;
  readonly line: number | undefined;
  readonly action: string | undefined;
  readonly actionPromise: string | undefined;
  readonly status: string;
}

/** How many failures are listed one by one. */
const FAILURES_SHOWN = 5;
/** Answers are stored so many at a time, or after so long. */
const [NOTED_AT_ONCE, NOTED_EVERY_MS] = [500, 1_000];
/** An answer about one promise is a few hundred bytes. */
const MAX_STATUS_BYTES = 1024 * 1024;

/** What it ends with that asks no more. */
const STOP_CODES: Readonly<Record<AskStop["kind"] | StopSignal, number>> = {
  "authentication failed": EXIT_CODES["authentication-failed"],
  "not reachable": EXIT_CODES["stopped-early"],
  refused: EXIT_CODES.refused,
  unreadable: EXIT_CODES.refused,
  ...SIGNAL_CODES,
};

/**
 * Asks once about every promise that is not final. What is learnt is in the ledger by the time this resolves, whatever ended
 * it, and within a second of each answer should the process die.
 *
 * @throws Failure `usage` where the environment has no `statusPath` or the run is not known, `authentication-failed` without a key.
 */
export async function remoteStatus(
  context: RunContext,
  { environment, run: name }: RemoteStatusSettings,
): Promise<RemoteStatus> {
  const statusPath = statusPathOf(environment);
  let problem: Failure | undefined;
  {
    await using found = await findLedgerOf(environment);
    problem = await lostRunsOf(environment, found, context.cwd);
    if (found === undefined)
      return { ...NOTHING, problem, exitCode: problem === undefined ? EXIT_CODES.ok : EXIT_CODES.usage };
  }
  await using service = await openService(context, environment);
  await service.key();
  await service.tls();
  await using ledger = await openLedgerOf(environment, service.boundTo, context);
  const runs = name === undefined ? await ledger.runs() : [await namedRun(ledger, name, environment)];
  const asked = await ask(context, { statusPath, service, ledger, runs });
  const counts = await countAll(ledger, runs);
  const failures = await failuresOf(ledger, runs);
  // A signal that came behind the last answer ended nothing.
  const isCut = context.stop.aborted && counts.final < counts.promises;
  const stop = asked.stop ?? (isCut ? { kind: context.stop.reason as StopSignal } : undefined); // no deadline is set here
  const isDoubtful = counts.failed + counts.notFound + asked.unreadable.answers > 0;
  const ended = isDoubtful ? EXIT_CODES["finished-with-rejects"] : EXIT_CODES.ok;
  return {
    ...{ ...counts, ...asked, stop, problem, hasLedger: true, runs: runs.length, failures },
    exitCode: problem !== undefined ? EXIT_CODES.usage : stop === undefined ? ended : STOP_CODES[stop.kind],
  };
}

const NOTHING: Omit<RemoteStatus, "problem" | "exitCode"> = {
  ...{ hasLedger: false, runs: 0, promises: 0, statuses: {}, unknown: 0, final: 0, failed: 0, notFound: 0, answers: 0 },
  ...{ unreadable: { answers: 0, detail: "" }, failures: [], stop: undefined },
};

/** @throws Failure `usage` where there is none. */
function statusPathOf({ name, statusPath }: Environment): string {
  if (statusPath !== undefined) return statusPath;
  throw new Failure(
    "usage",
    `Nothing says where ${name} answers the status of a promise: it has no statusPath. Nothing was asked.`,
    {
      hint: `Set it in the config, with the path that the service's documentation gives: environments: {${name}: {statusPath: "/actions/{actionPromise}"}}`,
    },
  );
}

interface Asking {
  readonly statusPath: string;
  readonly service: Service;
  readonly ledger: Ledger;
  readonly runs: readonly Run[];
}

async function ask(context: RunContext, { statusPath, service, ledger, runs }: Asking): Promise<Asked> {
  const { progress } = context;
  const { retries, rate } = service.environment;
  const { promises: all, final } = await countAll(ledger, runs);
  const notes = notesIn(ledger);
  let [answers, hasWaited] = [0, false];
  const unreadable = { answers: 0, detail: "" };
  const show = (waiting?: Wait): void =>
    progress.advanced({
      ...{ doing: "asking about", done: answers, total: all - final, unit: "promise" },
      ...(waiting && { waiting }),
    });
  const connect = await connectorTo(service, context, { maxAnswerBytes: MAX_STATUS_BYTES });
  const stop = AbortSignal.any([context.stop, context.abort]);
  try {
    const asking = {
      ...{ statusPath, retries, rate, connect, stop },
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
    } satisfies Parameters<typeof askStatuses>[0];
    const stopped = await askStatuses(asking, openPromises(ledger, runs));
    return { answers, unreadable, stop: stopped };
  } finally {
    await notes.store();
    progress.advanced(undefined);
  }
}

async function* openPromises(ledger: Ledger, runs: readonly Run[]): AsyncGenerator<OpenPromise> {
  for (const { number: run } of runs)
    for await (const promises of ledger.promises(run, FINAL_STATUSES))
      for (const each of promises) yield { ...each, run };
}

/** Keeps what was learnt, some answers at a time. */
function notesIn(ledger: Ledger) {
  let [waiting, storedAt]: [OpenPromise[], number] = [[], performance.now()];
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

async function countAll(ledger: Ledger, runs: readonly Run[]): Promise<RemoteCounts> {
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
    statuses: Object.fromEntries(statuses),
    unknown: promises - sumOf(() => true),
    final: sumOf(isFinal),
    failed: sumOf((status) => FAILED_STATUSES.includes(status)),
    notFound: sumOf((status) => status === NOT_FOUND),
  };
}

async function failuresOf(ledger: Ledger, runs: readonly Run[]): Promise<readonly FailedPromise[]> {
  const failures: FailedPromise[] = [];
  for (const run of runs)
    for await (const promises of ledger.promises(run.number, [])) {
      for (const { chunk, place, seq, promise, status } of promises) {
        if (status === undefined || !FAILED_STATUSES.includes(status)) continue;
        const { items } = await ledger.outcomes(run.number, chunk);
        const origin = items.find((item) => item.place === place)?.origin;
        const source = origin && run.inputs[origin.input]?.name;
        failures.push({
          ...{ run: run.run, seq, source, line: origin?.line, action: origin?.kind },
          ...{ actionPromise: promise, status },
        });
        if (failures.length >= FAILURES_SHOWN) return failures;
      }
    }
  return failures;
}

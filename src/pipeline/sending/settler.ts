/** Settles chunks on a thread of its own, so that this one is free for the answer that comes next. */

import { Worker } from "node:worker_threads";
import { Failure, type FailureCode } from "../../failure.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { LineStyle } from "../projections/promise-lines.ts";
import type { ItemOutcome } from "./answer.ts";
import type { ChunkFacts, RunFacts } from "./settling.ts";

export interface Settler extends AsyncDisposable {
  /** As `settleInLedger`, one chunk after the other; gives the chunk's lines of the promises file. */
  settle(facts: ChunkFacts, items: readonly ItemOutcome[], at: string): Promise<Uint8Array>;
}

/** What the thread is started with. */
export interface SettlerStart {
  readonly ledgerPath: string;
  readonly run: RunFacts;
  readonly style: LineStyle;
}

/** Items are told apart, since a list of texts crosses to the thread several times as fast as a list of objects. */
export interface SettlerTask {
  readonly facts: ChunkFacts;
  /** The promise of each accepted action; empty where `others` tells more. */
  readonly promises: readonly string[];
  readonly others: readonly (readonly [at: number, item: ItemOutcome])[];
  readonly at: string;
}

export type SettlerResult = { readonly isExhausted: boolean } & (
  | { readonly lines: Uint8Array }
  | { readonly failure: { readonly code: FailureCode; readonly message: string; readonly hint: string | undefined } }
  | { readonly fault: Error }
);

const THREAD = import.meta.url.endsWith(".ts")
  ? new URL("./settler-thread.ts", import.meta.url)
  : new URL("./settler-thread.js", import.meta.url);

/** The thread starts with the first chunk. */
export function openSettler(ledger: Ledger, start: Omit<SettlerStart, "ledgerPath">): Settler {
  let worker: Worker | undefined;
  let last: Promise<unknown> = Promise.resolve();
  let waiting = Promise.withResolvers<SettlerResult>();
  const begin = (): Worker => {
    const thread = new Worker(THREAD, { workerData: { ...start, ledgerPath: ledger.path } satisfies SettlerStart });
    thread.on("message", (result: SettlerResult) => waiting.resolve(result));
    thread.on("error", (fault) => waiting.reject(fault));
    thread.on("exit", (code) => waiting.reject(new Error(`the settling thread ended with ${code}`)));
    return thread;
  };
  const ask = (task: SettlerTask): Promise<SettlerResult> => {
    worker ??= begin();
    waiting = Promise.withResolvers();
    worker.postMessage(task);
    return waiting.promise;
  };
  const settle: Settler["settle"] = async (facts, items, at) => {
    const result = await ask({ facts, ...split(items), at });
    if (result.isExhausted) ledger.noteExhausted();
    if ("fault" in result) throw result.fault;
    if ("failure" in result) {
      const { code, message, hint } = result.failure;
      throw new Failure(code, message, { ...(hint !== undefined && { hint }) });
    }
    return result.lines;
  };
  return {
    settle: (...chunk) => {
      const next = last.then(() => settle(...chunk));
      last = next.catch(() => undefined);
      return next;
    },
    [Symbol.asyncDispose]: async () => {
      await last;
      waiting.promise.catch(() => undefined);
      await worker?.terminate();
    },
  };
}

function split(items: readonly ItemOutcome[]): Pick<SettlerTask, "promises" | "others"> {
  const others: [number, ItemOutcome][] = [];
  const promises = items.map((item, at) => {
    if (item.outcome === "accepted" && item.status === "success") return item.actionPromise;
    others.push([at, item]);
    return "";
  });
  return { promises, others };
}

/**
 * Stands between a program and a PostgreSQL, and ends their connections where a test wants it. It runs in a thread of its own,
 * since the program under test waits for each reply; whatever is asked of it has happened when the call returns.
 */

import { MessageChannel, receiveMessageOnPort, Worker } from "node:worker_threads";
import { onTestFinished } from "vitest";

/** Where in the exchange of a statement and its reply something happens. */
export type Moment =
  /** The server gets none of it. */
  | "before"
  /** The server gets half of it. */
  | "in the request"
  /** The server carries it out, and the reply is lost. */
  | "in the reply"
  /** Half of the reply comes back. */
  | "half the reply"
  /** The reply comes back whole. */
  | "after"
  /** The connection stays, and the server gets none of it. */
  | "held back"
  /** The program loses its connection, and the server gets the statement when the test calls `deliver`. */
  | "late";

interface Cut {
  /** Statements that it fits, as PostgreSQL gets them; any. */
  readonly statement?: RegExp;
  /** Which of these, from 1 (1). */
  readonly nth?: number;
  readonly moment: Moment;
}

export interface CuttingProxy {
  readonly port: number;
  /** Once, over whichever connection the statement comes. */
  readonly cut: (cut: Cut) => void;
  /** Ends every connection now, and answers nothing that is under way. */
  readonly cutAll: () => void;
  /** Takes no connection until it is told to. */
  readonly refuse: (refuses: boolean) => void;
  /** Lets nothing pass, in either direction, until it is told to. */
  readonly holdBack: (holds: boolean) => void;
  /** To whom new connections go. */
  readonly lead: (port: number) => void;
  /** Has the server get what is late, and waits until it has answered. */
  readonly deliver: () => void;
  /** The statements that came since this was asked last. */
  readonly statements: () => readonly string[];
}

/** What the thread gets. */
export type Order =
  | { readonly kind: "cut"; readonly statement: string | undefined; readonly nth: number; readonly moment: Moment }
  | { readonly kind: "cut all" | "deliver" | "statements" | "end" }
  | { readonly kind: "refuse" | "hold back"; readonly isSo: boolean }
  | { readonly kind: "lead"; readonly port: number };

/** The proxy ends with the test. */
export function startProxy(to: number): CuttingProxy {
  const state = new Int32Array(new SharedArrayBuffer(4));
  const { port1: orders, port2: theirs } = new MessageChannel();
  const worker = new Worker(new URL("./proxy-worker.ts", import.meta.url), {
    workerData: { orders: theirs, state, to },
    transferList: [theirs],
  });
  worker.unref();
  orders.unref();
  const answer = (): unknown => {
    Atomics.wait(state, 0, 0);
    Atomics.store(state, 0, 0);
    return receiveMessageOnPort(orders)?.message;
  };
  const order = (what: Order): unknown => {
    orders.postMessage(what);
    return answer();
  };
  const port = Number(answer());
  onTestFinished(async () => {
    order({ kind: "end" });
    await worker.terminate();
  });
  return {
    port,
    cut: ({ statement, nth = 1, moment }) => void order({ kind: "cut", statement: statement?.source, nth, moment }),
    cutAll: () => void order({ kind: "cut all" }),
    refuse: (isSo) => void order({ kind: "refuse", isSo }),
    holdBack: (isSo) => void order({ kind: "hold back", isSo }),
    lead: (to) => void order({ kind: "lead", port: to }),
    deliver: () => void order({ kind: "deliver" }),
    statements: () => order({ kind: "statements" }) as readonly string[], // as proxy-worker.ts sends it
  };
}

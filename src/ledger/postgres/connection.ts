/**
 * A session with PostgreSQL that answers as SQLite does: the program waits for each reply. A ledger's statements decide what may
 * be sent next, and nothing may come between those of one transaction; so there is one way to write them for both ledgers. The
 * driver, which is asynchronous, runs in a thread of its own.
 */

import { MessageChannel, receiveMessageOnPort, Worker } from "node:worker_threads";
import type { SqlRow } from "../ledger.ts";
import type { Numbered, Reply, Request, ServerAddress, SqlValue, WorkerSetup } from "./exchange.ts";
import { withoutNul } from "./nul.ts";

/** An error of the server, or of the connection to it. */
export class ServerError extends Error {
  /** SQLSTATE, or what the system calls the error. */
  readonly code: string | undefined;
  /** The session is gone, and with it its locks. Whether the statement was carried out is not known. */
  readonly isLost: boolean;

  constructor({ message, code, isLost }: Omit<Extract<Reply, { readonly kind: "error" }>, "kind">) {
    super(message);
    this.name = "ServerError";
    this.code = code;
    this.isLost = isLost;
  }
}

type Rows = Extract<Reply, { readonly kind: "rows" }>;

export interface Connection extends Disposable {
  /** Begins a session, in place of one that was lost. What the server says of it: see `HELLO` in connection-worker.ts. */
  connect(): SqlRow;
  /** @param sql as PostgreSQL takes it. */
  ask(sql: string, values: readonly SqlValue[]): Rows;
}

/**
 * How long a reply may take while the server says that it is at work (connection-worker.ts). Its own limit for a statement is
 * shorter.
 */
const MOST_MS = 60 * 60_000;
const MOST_TO_END_MS = 5_000;

export function openConnection(address: ServerAddress): Connection {
  const answered = new SharedArrayBuffer(4);
  const state = new Int32Array(answered);
  const { port1: port, port2: theirs } = new MessageChannel();
  const setup: WorkerSetup = { address, answered };
  const worker = new Worker(workerPath(), { workerData: { port: theirs, setup }, transferList: [theirs] });
  worker.unref();
  port.unref();
  let number = 0;
  /** The reply to the request that was made last; those to earlier ones are passed over. */
  const replyInPort = (): Reply | undefined => {
    for (;;) {
      const found = receiveMessageOnPort(port)?.message as Numbered<Reply> | undefined; // written by connection-worker.ts
      if (found === undefined || found.number === number) return found;
    }
  };
  const exchange = (request: Request, mostMs = MOST_MS): Rows => {
    number += 1;
    port.postMessage({ ...request, number } satisfies Numbered<Request>);
    const deadline = performance.now() + mostMs;
    for (;;) {
      const before = Atomics.load(state, 0);
      const reply = replyInPort();
      if (reply?.kind === "error") throw new ServerError(reply);
      if (reply !== undefined) return reply;
      if (Atomics.wait(state, 0, before, Math.max(0, deadline - performance.now())) === "timed-out") throw noReply();
    }
  };
  let isOpen = true;
  return {
    connect: () => exchange({ kind: "connect" }).rows[0] ?? {},
    ask: (sql, values) => exchange({ kind: "ask", sql, values: values.map(toSend) }),
    [Symbol.dispose]: () => {
      if (!isOpen) return;
      isOpen = false;
      try {
        exchange({ kind: "end" }, MOST_TO_END_MS);
      } catch {
        // The session ends with the thread in any case.
      }
      void worker.terminate();
    },
  };
}

// The build makes .js of .ts.
const workerPath = (): URL =>
  new URL(`./connection-worker${import.meta.url.endsWith(".ts") ? ".ts" : ".js"}`, import.meta.url);

const noReply = (): ServerError => new ServerError({ message: "no reply", code: "ETIMEDOUT", isLost: true });

/** Bytes in a memory of their own: what is sent to another thread takes all of its memory along. */
function toSend(value: SqlValue): SqlValue {
  if (typeof value === "string") return withoutNul(value);
  if (!ArrayBuffer.isView(value)) return value;
  return Uint8Array.from(new Uint8Array(value.buffer, value.byteOffset, value.byteLength));
}

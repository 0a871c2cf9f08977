/**
 * A session with PostgreSQL that answers as SQLite does: the program waits for each reply. A ledger's statements decide what may
 * be sent next, and nothing may come between those of one transaction; so there is one way to write them for both ledgers. The
 * driver, which is asynchronous, runs in a thread of its own.
 */

import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from "node:worker_threads";
import type { Reply, Request, ServerAddress, SqlValue, TextTable, WorkerSetup } from "./exchange.ts";
import { withoutNul } from "./nul.ts";

/** An error of the server, or of the connection to it. */
export class ServerError extends Error {
  /** SQLSTATE, or what the system calls the error. */
  readonly code: string | undefined;
  /** The session is gone, and with it its locks. Whether the statement was carried out is not known. */
  readonly isLost: boolean;

  constructor({ message, code, isLost }: Extract<Reply, { readonly kind: "error" }>) {
    super(message);
    this.name = "ServerError";
    this.code = code;
    this.isLost = isLost;
  }
}

type Rows = Extract<Reply, { readonly kind: "rows" }>;

export interface Connection extends Disposable {
  /** Begins a session, in place of one that was lost. */
  connect(): void;
  /** @param sql as PostgreSQL takes it. */
  ask(sql: string, values: readonly SqlValue[]): Rows;
  /** One statement, with its columns and every cell as the server writes it. */
  look(sql: string): TextTable;
}

/** How long a statement may take, with what the server waits for before it begins. */
const MOST_MS = 15 * 60_000;

export function openConnection(address: ServerAddress): Connection {
  const answered = new SharedArrayBuffer(4);
  const state = new Int32Array(answered);
  const { port1: port, port2: theirs } = new MessageChannel();
  const setup: WorkerSetup = { address, answered };
  const worker = new Worker(workerPath(), { workerData: { port: theirs, setup }, transferList: [theirs] });
  worker.unref();
  port.unref();
  const exchange = (request: Request): Exclude<Reply, { readonly kind: "error" }> => {
    Atomics.store(state, 0, 0);
    port.postMessage(request);
    const reply = Atomics.wait(state, 0, 0, MOST_MS) === "timed-out" ? undefined : replyIn(port);
    if (reply === undefined) throw new ServerError(noReply());
    if (reply.kind === "error") throw new ServerError(reply);
    return reply;
  };
  let isOpen = true;
  return {
    connect: () => void exchange({ kind: "connect" }),
    ask: (sql, values) => exchange({ kind: "ask", sql, values: values.map(toSend) }) as Rows, // answers this kind of request
    look: (sql) => exchange({ kind: "look", sql }) as Extract<Reply, { readonly kind: "table" }>, // likewise
    [Symbol.dispose]: () => {
      if (!isOpen) return;
      isOpen = false;
      try {
        exchange({ kind: "end" });
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

const replyIn = (port: MessagePort): Reply | undefined => receiveMessageOnPort(port)?.message as Reply | undefined; // written by connection-worker.ts

const noReply = (): Extract<Reply, { readonly kind: "error" }> => ({
  kind: "error",
  message: `no reply within ${MOST_MS / 60_000} minutes`,
  code: "ETIMEDOUT",
  isLost: true,
});

/** Bytes in a memory of their own: what is sent to another thread takes all of its memory along. */
function toSend(value: SqlValue): SqlValue {
  if (typeof value === "string") return withoutNul(value);
  if (!ArrayBuffer.isView(value)) return value;
  return Uint8Array.from(new Uint8Array(value.buffer, value.byteOffset, value.byteLength));
}

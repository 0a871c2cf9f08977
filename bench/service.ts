/**
 * The other side of every measurement: reads a request whole and answers one item per action, as quickly as that can
 * honestly be done on one core. A process of its own, talked to over its channel.
 *
 * It takes no JSON apart: it finds the keys that the answer echoes, and copies their values as they stand. A key can't be
 * mistaken for text, since a quote within a JSON string has a backslash before it and a colon follows only a key.
 */

import { randomBytes } from "node:crypto";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";

export interface ServiceOptions {
  /** From the end of a request to the start of its answer. */
  readonly latencyMs: number;
  /** The request, from 1, whose answer waits for `go on`; 0 for none. */
  readonly holdAt: number;
  /** Tells once so many actions are answered; 0 for never. */
  readonly tellAfter: number;
}

/** What it was asked since it last told. */
export interface Served {
  readonly requests: number;
  readonly actions: number;
  readonly connections: number;
  /** Milliseconds between reading a request and having its answer, summed. */
  readonly busyMs: number;
}

/** From the parent. */
export type Order = { readonly kind: "be"; readonly options: ServiceOptions } | { readonly kind: "tell" | "go on" };

/** To the parent. `at` is in milliseconds since 1970. */
export type Report =
  | { readonly kind: "listening"; readonly port: number }
  | { readonly kind: "ready" }
  | { readonly kind: "first request"; readonly at: number }
  | { readonly kind: "held" | "all answered" }
  | { readonly kind: "served"; readonly served: Served };

const ECHOED = ["action", "eventId", "ticketId", "nftId"] as const;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;

/** Where a key's value stands, quotes included. */
interface Found {
  from: number;
  to: number;
}

/** Finds the values of one key, one after the other. */
function finder(text: string, key: string): (from: number) => Found | undefined {
  const wanted = `"${key}"`;
  const found: Found = { from: -1, to: -1 };
  let isOver = false;
  return (from) => {
    if (isOver) return undefined;
    if (found.from >= from) return found;
    for (let at = from; ; ) {
      at = text.indexOf(wanted, at);
      if (at === -1) {
        isOver = true;
        return undefined;
      }
      at += wanted.length;
      while (text.charCodeAt(at) <= 0x20) at += 1;
      if (text.charCodeAt(at) !== COLON) continue;
      at += 1;
      while (text.charCodeAt(at) <= 0x20) at += 1;
      if (text.charCodeAt(at) !== QUOTE) continue;
      found.from = at;
      found.to = endOfString(text, at);
      return found;
    }
  };
}

/** The place behind the closing quote of the string that starts at `from`. */
function endOfString(text: string, from: number): number {
  for (let at = from + 1; ; ) {
    at = text.indexOf('"', at);
    if (at === -1) throw new Error("the request ends within a string");
    let backslashes = 0;
    while (text.charCodeAt(at - 1 - backslashes) === BACKSLASH) backslashes += 1;
    at += 1;
    if (backslashes % 2 === 0) return at;
  }
}

const PROMISES = `${randomBytes(4).toString("hex")}-0000-4000-8000-`;
let promises = 0;

/** The answer to a body, and how many actions it has. Bytes are read as Latin-1 and written so, which leaves UTF-8 as it is. */
export function answerTo(body: Buffer): { readonly answer: Buffer; readonly actions: number } {
  const text = body.toString("latin1");
  const [action, ...ids] = ECHOED.map((key) => finder(text, key)) as [
    ReturnType<typeof finder>,
    ...ReturnType<typeof finder>[],
  ]; // as many as keys
  let answer = '{"status":"success","data":[';
  let actions = 0;
  for (let from = action(0)?.from; from !== undefined; ) {
    const { to } = action(from) as Found; // it starts there
    const name = text.slice(from, to);
    const next = action(to)?.from;
    answer += `${actions === 0 ? "" : ","}{"status":"success","action":${name}`;
    for (const [at, find] of ids.entries()) {
      const id = find(to);
      if (id !== undefined && (next === undefined || id.from < next))
        answer += `,"${ECHOED[at + 1]}":${text.slice(id.from, id.to)}`;
    }
    promises += 1;
    actions += 1;
    answer += `,"actionPromise":"${PROMISES}${promises.toString(16).padStart(12, "0")}"}`;
    from = next;
  }
  return { answer: Buffer.from(`${answer}]}`, "latin1"), actions };
}

function serve(): void {
  let options: ServiceOptions = { latencyMs: 0, holdAt: 0, tellAfter: 0 };
  let held: (() => void) | undefined;
  let requests = 0;
  let actions = 0;
  let connections = 0;
  let busyMs = 0;
  const report = (message: Report): void => {
    process.send?.(message);
  };

  const reply = (response: ServerResponse, parts: readonly Buffer[], number: number): void => {
    const from = performance.now();
    const { answer, actions: found } = answerTo(Buffer.concat(parts));
    actions += found;
    const tookMs = performance.now() - from;
    busyMs += tookMs;
    const isLast = actions === options.tellAfter;
    const send = (): void => {
      if (isLast) response.on("finish", () => report({ kind: "all answered" }));
      response.writeHead(200, { "content-type": "application/json", "content-length": answer.length }).end(answer);
    };
    if (number === options.holdAt) {
      held = send;
      report({ kind: "held" });
    } else if (options.latencyMs === 0) send();
    else setTimeout(send, Math.max(0, options.latencyMs - tookMs));
  };

  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    requests += 1;
    const number = requests;
    if (number === 1) report({ kind: "first request", at: performance.timeOrigin + performance.now() });
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => reply(response, parts, number));
  });
  server.on("connection", () => {
    connections += 1;
  });
  server.listen(0, "127.0.0.1", () => report({ kind: "listening", port: (server.address() as AddressInfo).port })); // of a TCP server

  process.on("message", (order: Order) => {
    if (order.kind === "go on") {
      held?.();
      held = undefined;
      return;
    }
    if (order.kind === "be") {
      options = order.options;
      report({ kind: "ready" });
    } else report({ kind: "served", served: { requests, actions, connections, busyMs } });
    requests = 0;
    actions = 0;
    connections = 0;
    busyMs = 0;
  });
  process.on("disconnect", () => process.exit());
}

if (process.argv[1] === fileURLToPath(import.meta.url)) serve();

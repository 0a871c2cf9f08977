/** Answers that go wrong on purpose, byte by byte where it must be. */

import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { stringifyJson } from "../actions/json.ts";
import type { Engine, ResultItem } from "./engine.ts";
import { denialBy, type Fault, httpDate, type LateFault, type Processed, selectItems, tamper } from "./faults.ts";
import { STATUS_CODES } from "./http.ts";

/** A request whose body is in, and what can be done with it. */
export interface Exchange {
  readonly response: ServerResponse;
  readonly items: readonly unknown[];
  readonly process: (items: readonly unknown[], withhold?: ReadonlySet<number>) => readonly ResultItem[];
  readonly random: () => number;
  readonly setStatus: Engine["setStatus"];
  /** A promise that was given before this request. */
  readonly earlierPromise: () => string | undefined;
  readonly signal: AbortSignal;
}

const MEBIBYTE = 1024 * 1024;

/** Answers as the fault says. Resolves when all has been written, or the client is gone. */
export async function answerBadly(fault: LateFault, exchange: Exchange): Promise<void> {
  const { response, items, process, random, signal } = exchange;
  const whole = (): string => stringifyJson({ status: "success", data: process(items) });
  switch (fault.fault) {
    case "status":
      return answerStatus(fault, exchange);
    case "redirect":
      processSome(exchange, fault.processed ?? "none");
      response.setHeader("Location", fault.location ?? "/elsewhere/stream");
      return sendJson(response, fault.status ?? 307, { message: "Moved" });
    case "drop":
      processSome(exchange, fault.processed ?? (fault.when === "after" ? "all" : "none"));
      if (fault.reset) response.socket?.resetAndDestroy();
      else response.socket?.destroy();
      return;
    case "hang":
      processSome(exchange, fault.processed ?? "none");
      // Until the client or the sandbox ends.
      await once(response, "close", { signal }).catch(() => undefined);
      return;
    case "cut":
      return cut(response, whole(), fault.share ?? 0.5, fault.framing ?? "length");
    case "failure-items": {
      const withhold = selectItems(fault.items, items.length, random);
      const results = process(items, withhold);
      return sendJson(response, 200, {
        status: "success",
        data: tamper({ ...fault, items: [...withhold] }, results, random),
      });
    }
    case "count":
    case "shuffle":
    case "replaced-items":
    case "contradiction":
    case "denial":
    case "promise-value":
    case "missing-promise":
    case "duplicate-promise":
    case "echo-mismatch":
    case "extra-keys": {
      const earlier = exchange.earlierPromise();
      const data = tamper(fault, process(items), random, earlier);
      return sendJson(response, 200, { status: "success", data, ...besideItems(fault) });
    }
    case "duplicate-key":
      return send(response, 200, withKeyTwice(whole(), fault.where ?? "item"));
    case "promise-status": {
      const data = process(items);
      for (const at of selectItems(fault.items, data.length, random)) {
        const item = data[at];
        if (item?.status === "success") exchange.setStatus(item.actionPromise, fault.status ?? "error");
      }
      return sendJson(response, 200, { status: "success", data });
    }
    case "answer-status": {
      const data = process(items);
      return sendJson(response, 200, "status" in fault ? { status: fault.status, data } : { data });
    }
    case "interim":
      return sayInterim(response, fault.statuses ?? [100], whole());
    case "encoding":
      return sendEncoded(response, whole(), fault.encoding ?? "gzip", fault.announce);
    case "framing":
      return sendFramed(response, whole(), fault.as, signal);
    case "endless":
      process(items);
      return flood(response, fault.mebibytes ?? 1024);
    case "drip":
      return drip(response, Buffer.from(whole()), fault.bytes ?? 1, fault.everyMs ?? 1000, signal);
    case "not-json":
      process(items);
      response.writeHead(200, { "Content-Type": "text/html" });
      response.end(fault.body ?? "<html><body>It works!</body></html>");
      return;
    case "close": {
      const { socket } = response;
      if (fault.announce) response.setHeader("Connection", "close");
      const sent = once(response, "finish");
      send(response, 200, whole());
      await sent;
      if (fault.afterMs !== undefined) await delay(fault.afterMs, undefined, { signal });
      socket?.end();
      return;
    }
  }
}

/** What the answer as a whole says beyond the specification. */
function besideItems(fault: Fault): Readonly<Record<string, unknown>> {
  if (fault.fault === "extra-keys") return { requestId: "4711", version: 2 };
  return fault.fault === "denial" && fault.where === "top" ? denialBy(fault) : {};
}

function processSome({ items, process }: Exchange, processed: Processed): readonly ResultItem[] {
  const count = processed === "all" ? items.length : processed === "none" ? 0 : processed;
  return count === 0 ? [] : process(items.slice(0, count));
}

function answerStatus(fault: Extract<Fault, { fault: "status" }>, exchange: Exchange): void {
  const { response } = exchange;
  const { status, retryAfter, headers = {}, clockSkewSeconds } = fault;
  const good = status < 300;
  const data = processSome(exchange, fault.processed ?? (good ? "all" : "none"));
  const now = Date.now() + (clockSkewSeconds ?? 0) * 1000;
  if (clockSkewSeconds !== undefined) response.setHeader("Date", httpDate(new Date(now)));
  if (typeof retryAfter === "number") response.setHeader("Retry-After", retryAfter);
  else if (retryAfter !== undefined)
    response.setHeader("Retry-After", httpDate(new Date(now + retryAfter.inSeconds * 1000), retryAfter.form));
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  const ordinary = good ? { status: "success", data } : { message: MESSAGES[status] ?? `Status ${status}` };
  if (typeof fault.body === "string") {
    if (!response.hasHeader("Content-Type")) response.setHeader("Content-Type", "text/plain; charset=utf-8");
    response.writeHead(status);
    response.end(fault.body);
  } else sendJson(response, status, fault.body ?? ordinary);
}

/** What gateways commonly say. */
const MESSAGES: Readonly<Record<number, string>> = {
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  408: "Request Timeout",
  413: "Request Too Long",
  429: "Too Many Requests",
  500: "Internal Server Error",
  502: "Bad Gateway",
  503: "Service Unavailable",
  504: "Endpoint request timed out",
};

/** `status` once more, before the one that counts for most readers: the last one. */
function withKeyTwice(json: string, where: "top" | "item"): string {
  return where === "top" ? json.replace("{", '{"status":"error",') : json.replace('[{"', '[{"status":"error","');
}

/** Informational responses, 103 among them, and then the answer. */
function sayInterim(response: ServerResponse, statuses: readonly number[], body: string): void {
  for (const status of statuses) {
    const header = status === 103 ? "Link: </style.css>; rel=preload; as=style\r\n" : "";
    response.socket?.write(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? "Interim"}\r\n${header}\r\n`);
  }
  send(response, 200, body);
}

const ENCODERS = {
  identity: (bytes: Buffer) => bytes,
  gzip: gzipSync,
  deflate: deflateSync,
  br: brotliCompressSync,
  zstd: zstdCompressSync,
} as const;

function sendEncoded(
  response: ServerResponse,
  body: string,
  encoding: keyof typeof ENCODERS,
  announce: string = encoding,
): void {
  const bytes = ENCODERS[encoding](Buffer.from(body));
  if (announce !== "") response.setHeader("Content-Encoding", announce);
  response.setHeader("Content-Type", "application/json");
  response.setHeader("Content-Length", bytes.length);
  response.end(bytes);
}

const TOO_MANY = "HTTP/1.1 429 Too Many Requests\r\nContent-Length: 0\r\n\r\n";
/** Time enough for the next request to be on its way. */
const LATE_MS = 20;

/** Writes the answer on the bare connection, since Node's own responses are always in order. */
async function sendFramed(
  response: ServerResponse,
  body: string,
  as: Extract<Fault, { fault: "framing" }>["as"],
  signal: AbortSignal,
): Promise<void> {
  const { socket } = response;
  if (socket === null) return;
  const head = (more: string, version = "1.1"): string =>
    `HTTP/${version} 200 OK\r\nContent-Type: application/json\r\n${more}\r\n`;
  const whole = (text: string, length = Buffer.byteLength(text)): string =>
    `${head(`Content-Length: ${length}\r\n`)}${text}`;
  const length = Buffer.byteLength(body);
  switch (as) {
    case "bom":
      return void socket.end(whole(`\ufeff${body}`));
    case "trailers": {
      const half = Math.floor(body.length / 2);
      const chunks = [body.slice(0, half), body.slice(half)]
        .map((part) => `${Buffer.byteLength(part).toString(16)};note=1\r\n${part}\r\n`)
        .join("");
      return void socket.end(
        `${head("Transfer-Encoding: chunked\r\nTrailer: X-Sum\r\n")}${chunks}0\r\nX-Sum: 4711\r\n\r\n`,
      );
    }
    case "http-1.0":
      return void socket.end(`${head("", "1.0")}${body}`);
    case "length-short":
      return void socket.end(whole(body, length - 5));
    case "length-long":
      return void socket.end(whole(body, length + 5));
    case "twice":
      return void socket.write(whole(body) + whole(body));
    case "then-429":
      return void socket.write(`${whole(body)}${TOO_MANY}`);
    case "late-429":
    case "late-twice":
      socket.write(whole(body));
      await delay(LATE_MS, undefined, { signal });
      if (!socket.destroyed) socket.write(as === "late-429" ? TOO_MANY : whole(body));
  }
}

function cut(response: ServerResponse, body: string, share: number, framing: "length" | "chunked" | "clean"): void {
  const bytes = Buffer.from(body);
  const part = bytes.subarray(0, Math.floor(bytes.length * share));
  response.setHeader("Content-Type", "application/json");
  if (framing === "clean") {
    response.end(part);
    return;
  }
  if (framing === "length") response.setHeader("Content-Length", bytes.length);
  response.flushHeaders();
  response.write(part, () => response.socket?.destroy());
}

async function flood(response: ServerResponse, mebibytes: number): Promise<void> {
  response.writeHead(200, { "Content-Type": "application/json" });
  response.write('{"status":"success","data":[');
  const blanks = Buffer.alloc(MEBIBYTE, " ");
  for (let written = 0; written < mebibytes && !response.destroyed; written += 1)
    if (!response.write(blanks)) await drainedOrGone(response);
  if (!response.destroyed) response.end("]}");
}

async function drip(
  response: ServerResponse,
  body: Buffer,
  bytes: number,
  everyMs: number,
  signal: AbortSignal,
): Promise<void> {
  response.writeHead(200, { "Content-Type": "application/json", "Content-Length": body.length });
  const end = AbortSignal.any([signal, closing(response)]);
  try {
    for (let at = 0; at < body.length; at += bytes) {
      response.write(body.subarray(at, at + bytes));
      await delay(everyMs, undefined, { signal: end });
    }
    response.end();
  } catch (error) {
    if (!end.aborted) throw error;
  }
}

function closing(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  response.once("close", () => controller.abort());
  return controller.signal;
}

export function drainedOrGone(response: ServerResponse): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const end = (): void => {
    response.off("drain", end).off("close", end);
    resolve();
  };
  response.once("drain", end).once("close", end);
  return promise;
}

export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  send(response, status, stringifyJson(body));
}

function send(response: ServerResponse, status: number, json: string): void {
  const bytes = Buffer.from(json);
  response.statusCode = status;
  if (!response.hasHeader("Content-Type")) response.setHeader("Content-Type", "application/json");
  response.setHeader("Content-Length", bytes.length);
  response.end(bytes);
}

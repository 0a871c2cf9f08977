/** Answers that go wrong on purpose, byte by byte where it must be. */

import type { ServerResponse } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { stringifyJson } from "../actions/json.ts";
import type { ResultItem } from "./engine.ts";
import { type Fault, httpDate, type Processed, selectItems, tamper } from "./faults.ts";

/** A request whose body is in, and what can be done with it. */
export interface Exchange {
  readonly response: ServerResponse;
  readonly items: readonly unknown[];
  readonly process: (items: readonly unknown[], withhold?: ReadonlySet<number>) => readonly ResultItem[];
  readonly random: () => number;
  readonly signal: AbortSignal;
}

const MEBIBYTE = 1024 * 1024;

/** Answers as the fault says. Resolves when all has been written, or the client is gone. */
export async function answerBadly(fault: Fault, exchange: Exchange): Promise<void> {
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
      return gone(response, signal);
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
    case "missing-promise":
    case "duplicate-promise":
    case "echo-mismatch":
    case "extra-keys": {
      const data = tamper(fault, process(items), random);
      const more = fault.fault === "extra-keys" ? { requestId: "4711", version: 2 } : {};
      return sendJson(response, 200, { status: "success", data, ...more });
    }
    case "endless":
      process(items);
      return flood(response, fault.mebibytes ?? 1024);
    case "drip":
      return drip(response, Buffer.from(whole()), fault.bytes ?? 1, fault.everyMs ?? 1000, signal);
    case "too-large": // strikes before the body is read; here only so that no fault is forgotten
      return sendJson(response, 413, { message: "Request Too Long" });
    case "not-json":
      process(items);
      response.writeHead(200, { "Content-Type": "text/html" });
      response.end(fault.body ?? "<html><body>It works!</body></html>");
      return;
    case "close": {
      const { socket } = response;
      if (fault.announce) response.setHeader("Connection", "close");
      const sent = new Promise<void>((resolve) => response.once("finish", resolve));
      send(response, 200, whole());
      await sent;
      if (fault.afterMs !== undefined) await delay(fault.afterMs, undefined, { signal });
      socket?.end();
      return;
    }
  }
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

function gone(response: ServerResponse, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  response.once("close", resolve);
  signal.addEventListener("abort", () => resolve(), { once: true });
  return promise;
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

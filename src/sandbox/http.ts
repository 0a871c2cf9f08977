/**
 * Node's HTTP, asked for by name: an import of it makes Node load all that it exports, `fetch` and its WebSocket too, which takes
 * longer than everything else that a small run against the sandbox does. And how the sandbox writes answers with it.
 */

import type { ServerResponse } from "node:http";
import { stringifyJson } from "../actions/json.ts";

const http = process.getBuiltinModule("node:http");

export const { createServer, request: requestHttp, STATUS_CODES } = http;
export const { request: requestHttps } = process.getBuiltinModule("node:https");

export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  sendText(response, status, stringifyJson(body));
}

/** Sends a text as it is, as JSON where no header says otherwise. */
export function sendText(response: ServerResponse, status: number, text: string): void {
  response.statusCode = status;
  if (!response.hasHeader("Content-Type")) response.setHeader("Content-Type", "application/json");
  response.setHeader("Content-Length", Buffer.byteLength(text));
  response.end(text);
}

/** Resolves when the response can take more, or nobody is left to take it. */
export function drainedOrGone(response: ServerResponse): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const end = (): void => {
    response.off("drain", end).off("close", end);
    resolve();
  };
  response.once("drain", end).once("close", end);
  return promise;
}

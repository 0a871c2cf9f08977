/**
 * Node's HTTP, asked for by name: an import of it makes Node load all that it exports, `fetch` and its WebSocket too, which takes
 * longer than everything else that a small run against the sandbox does. And how the sandbox reads bodies and writes answers with it.
 */

import type { IncomingMessage, ServerResponse } from "node:http";
import { parseJson, surveyJson } from "../actions/json.ts";

const http = process.getBuiltinModule("node:http");

export const { createServer, request: requestHttp, STATUS_CODES } = http;
export const { request: requestHttps } = process.getBuiltinModule("node:https");

export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  sendText(response, status, JSON.stringify(body));
}

/** Sends a text or bytes as they are, as JSON where no header says otherwise. */
export function sendText(response: ServerResponse, status: number, text: string | Buffer): void {
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

/** A request that is answered with why not, thrown where that is found. */
export class Refused extends Error {
  readonly status: number;
  /** Said beside the message. */
  readonly more: object;
  constructor(status: number, message: string, more: object = {}) {
    super(message);
    this.status = status;
    this.more = more;
  }
}

export const notFound = () => new Refused(404, "Not Found");

/** What a common gateway takes. */
const MAX_BODY_BYTES = 10_000_000;

/**
 * The request's body as JSON, its integers exact, and its length.
 *
 * @throws Refused for one that is too long, of another type or no JSON.
 */
export async function readJson(request: IncomingMessage) {
  if (!/^application\/json\s*(;|$)/i.test(request.headers["content-type"] ?? ""))
    throw new Refused(415, "The Content-Type is not application/json.");
  const chunks: Buffer[] = [];
  let bytes = 0;
  // Read to its end even when it is too long, so that the client gets the answer; the fault `too-large` is less kind.
  for await (const chunk of request) {
    bytes += chunk.length;
    if (bytes <= MAX_BODY_BYTES) chunks.push(chunk);
  }
  if (bytes > MAX_BODY_BYTES) throw new Refused(413, "Request Too Long");
  let text: string;
  let value: unknown;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Buffer.concat(chunks));
    value = parseJson(text);
  } catch {
    throw new Refused(400, "The body is not JSON in UTF-8.");
  }
  const pointer = surveyJson(text).duplicate;
  if (pointer !== undefined)
    throw new Refused(400, `The key ${pointer} stands twice in its object.`, { rule: "json-duplicate-key", pointer });
  return { value, bytes };
}

/** The sandbox over HTTP: `POST /stream` as specified, the state to look at, and faults on demand. Loopback only. */

import { hash, randomBytes, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as delay, setImmediate } from "node:timers/promises";
import { z } from "zod";
import type { MetadataAttribute } from "../actions/fields.ts";
import { duplicateKey, parseJson } from "../actions/json.ts";
import { errorCode, Failure } from "../failure.ts";
import { type CallbackCounts, type Callbacks, isLoopbackHost, startCallbacks } from "./callbacks.ts";
import { type Engine, openEngine } from "./engine.ts";
import { type FaultScript, type Faults, misbehave, openFaults, parseFaultScript } from "./faults.ts";
import { createServer, drainedOrGone, sendJson } from "./http.ts";
import { isPageFile, sendPageFile } from "./page.ts";
import { PROMISE_STATUSES } from "./view.ts";

const HOST = "127.0.0.1";
/** "at most 5000 actions per request" (specification, Limits). */
const MAX_ACTIONS = 5000;
/** What a common gateway takes. */
const MAX_BODY_BYTES = 10_000_000;
const KEEP_ALIVE_MS = 5_000;

export interface SandboxOptions {
  /** The service's state, kept open by the caller; or the path of one to open and close here. */
  readonly engine:
    | Engine
    | { readonly path: string; readonly accept?: readonly string[]; readonly integratorName?: string };
  /** 0, the default, takes a free one. */
  readonly port?: number;
  /** A random one by default. */
  readonly apiKey?: string;
  readonly faults?: FaultScript;
  /** Longest request body; longer ones are answered with 413. Default 10 MB. */
  readonly maxBodyBytes?: number;
  /** Wait before a callback is tried again, in milliseconds; it doubles each time. Default 500. */
  readonly callbackWaitMs?: number;
  /** Stops the sandbox, like its disposal. */
  readonly signal?: AbortSignal;
  /** Told what went wrong inside; the client saw a 500. */
  readonly onError?: (error: unknown) => void;
}

export interface Sandbox extends AsyncDisposable {
  /** The base URL, without a slash at the end. */
  readonly url: string;
  /** The page, with what lets it look: a token of this process, behind a #, which no browser sends. */
  readonly pageUrl: string;
  readonly port: number;
  readonly apiKey: string;
  readonly instanceId: string;
  readonly engine: Engine;
  setFaults(script: FaultScript): void;
  callbacks(): CallbackCounts;
  /** Resolves when no callback is waiting. */
  callbacksDone(): Promise<void>;
}

/**
 * Starts the sandbox on this machine's loopback address. Disposal ends every connection, and what was being waited for.
 *
 * @throws Failure `usage` when the port is taken or none.
 */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  const { apiKey = randomBytes(24).toString("base64url"), port = 0, maxBodyBytes = MAX_BODY_BYTES, signal } = options;
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new Failure("usage", `${port} is not a port.`, { hint: "Ports are 0 to 65535; 0 takes any free one." });
  const ownEngine = "path" in options.engine ? openEngine(options.engine) : undefined;
  const engine = ownEngine ?? (options.engine as Engine); // without a path it is an engine
  const faults = openFaults(options.faults);
  const callbacks = startCallbacks(options.callbackWaitMs);
  const end = new AbortController();
  const pageToken = randomBytes(24).toString("base64url");
  const context: Context = {
    ...{ engine, faults, callbacks, maxBodyBytes, signal: end.signal, turn: openTurns() },
    ...{ keyDigest: digest(apiKey), pageDigest: digest(pageToken) },
  };

  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS, requireHostHeader: true }, (request, response) => {
    handle(context, request, response).catch((error: unknown) => {
      if (end.signal.aborted || request.socket.destroyed) return;
      options.onError?.(error);
      if (response.headersSent) response.destroy();
      else sendJson(response, 500, { message: "Internal Server Error" });
    });
  });

  let disposal: Promise<void> | undefined;
  const dispose = (): Promise<void> => {
    disposal ??= (async () => {
      signal?.removeEventListener("abort", dispose);
      end.abort();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await callbacks[Symbol.asyncDispose]();
      await closed;
      ownEngine?.close();
    })();
    return disposal;
  };

  try {
    await listen(server, port);
  } catch (error) {
    await dispose();
    throw error;
  }
  signal?.addEventListener("abort", dispose);
  if (signal?.aborted) await dispose();
  // The bound address of a TCP server that listens, or has listened, is an object.
  const bound = (server.address() as AddressInfo | null)?.port ?? port;
  return {
    url: `http://${HOST}:${bound}`,
    pageUrl: `http://${HOST}:${bound}/#${pageToken}`,
    port: bound,
    apiKey,
    instanceId: engine.instanceId,
    engine,
    setFaults: faults.set,
    callbacks: callbacks.counts,
    callbacksDone: callbacks.idle,
    [Symbol.asyncDispose]: dispose,
  };
}

async function listen(server: ReturnType<typeof createServer>, port: number): Promise<void> {
  server.listen({ host: HOST, port });
  try {
    await once(server, "listening");
  } catch (cause) {
    const code = errorCode(cause);
    const why =
      code === "EADDRINUSE" ? `Port ${port} is taken.` : `The sandbox can't listen on port ${port} (${code}).`;
    throw new Failure("usage", why, { hint: "Choose another with --port; 0 takes any free one.", cause });
  }
}

interface Context {
  readonly engine: Engine;
  readonly faults: Faults;
  readonly callbacks: Callbacks;
  readonly keyDigest: Buffer;
  readonly pageDigest: Buffer;
  readonly maxBodyBytes: number;
  readonly signal: AbortSignal;
  /** Waits until a request may be processed, which takes the thread for as long as it lasts. */
  readonly turn: () => Promise<void>;
}

/** First come, first served, one in each turn of the event loop: what the page asks for is answered between two of them. */
function openTurns(): () => Promise<void> {
  let last = Promise.resolve();
  return () => {
    last = last.then(() => setImmediate());
    return last;
  };
}

async function handle(context: Context, request: IncomingMessage, response: ServerResponse): Promise<void> {
  // A page of another site must not reach the sandbox through its visitor's browser, by whatever name.
  const host = request.headers.host ?? "";
  if (!isOwnHost(host)) return sendJson(response, 421, { message: "The sandbox answers to loopback names only." });
  if (comesFromElsewhere(request, host))
    return sendJson(response, 403, { message: "The sandbox answers no other site." });

  const { pathname, searchParams } = new URL(request.url ?? "/", `http://${HOST}`);
  if (request.method === "GET" && isPageFile(pathname)) return sendPageFile(pathname, response);
  const route = routeOf(pathname);
  if (route === undefined) return sendJson(response, 404, { message: "Not Found" });
  const isPage = pathname.startsWith("/control/") && holds(context.pageDigest, request.headers["x-page-token"]);
  if (!isPage && !holds(context.keyDigest, request.headers["x-api-key"]))
    return sendJson(response, 403, { message: "Forbidden" });
  const answer = route[request.method ?? ""];
  if (answer === undefined) {
    response.setHeader("Allow", Object.keys(route).join(", "));
    return sendJson(response, 405, { message: "Method Not Allowed" });
  }
  const last = decodedOr(pathname.slice(pathname.lastIndexOf("/") + 1));
  return answer({ context, request, response, last, query: searchParams });
}

interface Visit {
  readonly context: Context;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Last step of the path. */
  readonly last: string;
  readonly query: URLSearchParams;
}

type Methods = { readonly [method: string]: (visit: Visit) => void | Promise<void> };

const ROUTES: readonly (readonly [RegExp, Methods])[] = [
  [/^\/stream$/, { POST: stream }],
  [/^\/actions\/[^/]+$/, { GET: showStatus }],
  [/^\/control\/faults$/, { GET: showFaults, PUT: setFaults, DELETE: clearFaults }],
  [/^\/control\/processed$/, { GET: dumpProcessed }],
  [/^\/control\/state$/, { GET: showState }],
  [/^\/control\/(actions|requests|request|ticket|event|search)$/, { GET: look }],
  [/^\/control\/changes$/, { GET: tellChanges }],
  [/^\/control\/status$/, { PUT: setStatus }],
  [/^\/control\/templates\/[^/]+$/, { PUT: setTemplate }],
];

function routeOf(pathname: string): Methods | undefined {
  return ROUTES.find(([path]) => path.test(pathname))?.[1];
}

function isOwnHost(host: string): boolean {
  const parsed = URL.parse(`http://${host}`);
  return parsed !== null && isLoopbackHost(parsed.hostname);
}

function comesFromElsewhere({ headers, method }: IncomingMessage, host: string): boolean {
  if (headers.origin !== undefined) return headers.origin !== `http://${host}`;
  const site = headers["sec-fetch-site"];
  // A link to the page from elsewhere is harmless; nothing else is reached by one.
  return (
    site !== undefined &&
    site !== "same-origin" &&
    site !== "none" &&
    !(method === "GET" && headers["sec-fetch-mode"] === "navigate")
  );
}

/** Compares digests, so that neither the time nor the length says anything of the secret. */
function holds(secret: Buffer, given: string | readonly string[] | undefined): boolean {
  return typeof given === "string" && timingSafeEqual(digest(given), secret);
}

function digest(text: string): Buffer {
  return hash("sha256", text, "buffer");
}

function decodedOr(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return step;
  }
}

// ---- the service ----

async function stream({ context, request, response }: Visit): Promise<void> {
  const { engine, faults, callbacks, signal } = context;
  const number = faults.countRequest();
  const process = (items: readonly unknown[], withhold?: ReadonlySet<number>) =>
    engine.process(items, { onCallback: callbacks.enqueue, ...(withhold && { withhold }) });
  const earlierPromise = (): string | undefined => {
    for (const { actionPromise } of engine.processed()) if (actionPromise !== null) return actionPromise;
    return undefined;
  };
  const exchange = { request, response, items: [], process, earlierPromise, setStatus: engine.setStatus, signal };
  const early = faults.choose({ request: number, bytes: Number(request.headers["content-length"] ?? 0) });
  if (early.fault) return misbehave(early.fault.rule, { ...exchange, random: early.fault.random });

  const body = await readJson(context, request, response);
  if (body === undefined) return;
  const { value: items, bytes } = body;
  if (!Array.isArray(items)) return sendJson(response, 400, { message: "The body is not a JSON array of actions." });
  if (items.length > MAX_ACTIONS)
    return sendJson(response, 400, {
      message: `At most ${MAX_ACTIONS} actions per request are accepted; this one has ${items.length}. None was processed.`,
    });

  const { latencyMs, fault } = faults.choose({ request: number, bytes, items });
  if (latencyMs > 0) await delay(latencyMs, undefined, { signal });
  await context.turn();
  if (fault) return misbehave(fault.rule, { ...exchange, items, random: fault.random });
  sendJson(response, 200, { status: "success", data: process(items) });
}

function showStatus({ context, response, last }: Visit): void {
  sendFound(response, context.engine.status(last));
}

/** The request's body as JSON, its integers exact; undefined when the request has been answered with what is wrong. */
async function readJson(
  { maxBodyBytes }: Context,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<{ readonly value: unknown; readonly bytes: number } | undefined> {
  const refuse = (status: number, message: string, more: object = {}): undefined => {
    sendJson(response, status, { message, ...more });
  };
  if (!/^application\/json\s*(;|$)/i.test(request.headers["content-type"] ?? ""))
    return refuse(415, "The Content-Type is not application/json.");
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    if (bytes <= maxBodyBytes) chunks.push(chunk);
  }
  // Read to its end all the same, so that the client gets the answer; the fault `too-large` is less kind.
  if (bytes > maxBodyBytes) return refuse(413, "Request Too Long");
  let text: string;
  let value: unknown;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Buffer.concat(chunks));
    value = parseJson(text);
  } catch {
    return refuse(400, "The body is not JSON in UTF-8.");
  }
  const duplicate = duplicateKey(text, value);
  if (duplicate !== undefined)
    return refuse(400, `The key ${duplicate} stands twice in its object.`, {
      rule: "json-duplicate-key",
      pointer: duplicate,
    });
  return { value, bytes };
}

// ---- to look at and to rehearse with ----

/** What the page asks for, a page at a time: `before` and `from` say where it begins. */
function look({ context: { engine }, response, last, query }: Visit): void {
  const numberOf = (name: string, otherwise: number): number => {
    const given = query.get(name);
    return given === null || !/^\d{1,15}$/.test(given) ? otherwise : Number(given);
  };
  const [before, id] = [numberOf("before", Number.MAX_SAFE_INTEGER), query.get("id") ?? ""];
  const nftId = query.get("nftId");
  const looks: Readonly<Record<string, () => object | undefined>> = {
    actions: () => engine.actions(before),
    requests: () => engine.requests(before),
    request: () => engine.request(numberOf("seq", 0), numberOf("from", 0)),
    ticket: () => engine.ticketHistory(nftId === null ? { ticketId: id } : { nftId }, before),
    event: () => engine.eventHistory(id, before),
    search: () => engine.search(id),
  };
  sendFound(response, looks[last]?.());
}

const LOOKED_EVERY_MS = 500;

/**
 * Server-sent events: the totals, now and whenever they have changed, whoever changed them. It looks twice a second, as long as
 * someone listens.
 */
async function tellChanges({ context: { engine, callbacks, faults, signal }, response }: Visit): Promise<void> {
  response.writeHead(200, { "Content-Type": "text/event-stream", "Cache-Control": "no-store" });
  const gone = new AbortController();
  response.on("close", () => gone.abort());
  const end = AbortSignal.any([signal, gone.signal]);
  let told = "";
  while (!end.aborted) {
    const { instanceId, createdAt } = engine;
    const now = { instanceId, createdAt, ...engine.counts(), callbacks: callbacks.counts() };
    const { script, requests } = faults.current();
    const text = JSON.stringify({ ...now, faults: script.rules.length, faultRequests: requests });
    if (text !== told && !response.writableNeedDrain) {
      response.write(`data: ${text}\n\n`);
      told = text;
    }
    await delay(LOOKED_EVERY_MS, undefined, { signal: end }).catch(() => undefined);
  }
  response.end();
}

function showFaults({ context: { faults }, response }: Visit): void {
  sendJson(response, 200, faults.current());
}

async function setFaults(visit: Visit): Promise<void> {
  const { context, request, response } = visit;
  const body = await readJson(context, request, response);
  if (body === undefined) return;
  try {
    context.faults.set(parseFaultScript(body.value, "sent"));
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return sendJson(response, 400, { message: error.message });
  }
  showFaults(visit);
}

function clearFaults(visit: Visit): void {
  visit.context.faults.set({ rules: [] });
  showFaults(visit);
}

/** The whole record as NDJSON, or what follows `?after=SEQ`. */
async function dumpProcessed({ context, response, query }: Visit): Promise<void> {
  const after = Number(query.get("after") ?? 0);
  if (!Number.isSafeInteger(after)) return sendJson(response, 400, { message: "after is not a whole number." });
  response.writeHead(200, { "Content-Type": "application/x-ndjson" });
  let lines: string[] = [];
  for (const action of context.engine.processed({ after })) {
    lines.push(JSON.stringify(action));
    if (lines.length < 1000) continue;
    if (!response.write(`${lines.join("\n")}\n`)) await drainedOrGone(response);
    lines = [];
    if (response.destroyed) return;
  }
  response.end(lines.length === 0 ? undefined : `${lines.join("\n")}\n`);
}

/** One event (`?eventId=`) or ticket (`?ticketId=`, `?nftId=`), or the counts. */
function showState({ context: { engine, callbacks }, response, query }: Visit): void {
  const [eventId, ticketId, nftId] = ["eventId", "ticketId", "nftId"].map((name) => query.get(name));
  if (ticketId != null) sendFound(response, engine.ticket({ ticketId }));
  else if (nftId != null) sendFound(response, engine.ticket({ nftId }));
  else if (eventId != null) sendFound(response, engine.event(eventId));
  else {
    const { instanceId, createdAt } = engine;
    sendJson(response, 200, { instanceId, createdAt, ...engine.counts(), callbacks: callbacks.counts() });
  }
}

function sendFound(response: ServerResponse, found: object | undefined): void {
  sendJson(response, found === undefined ? 404 : 200, found ?? { message: "Not Found" });
}

const statusSchema = z.strictObject({ actionPromise: z.string(), status: z.enum(PROMISE_STATUSES) });

async function setStatus({ context, request, response }: Visit): Promise<void> {
  const body = await readJson(context, request, response);
  if (body === undefined) return;
  const wanted = statusSchema.safeParse(body.value);
  if (!wanted.success)
    return sendJson(response, 400, {
      message: `Send actionPromise, and status: one of ${PROMISE_STATUSES.join(", ")}.`,
    });
  const { actionPromise, status } = wanted.data;
  if (!context.engine.setStatus(actionPromise, status)) return sendJson(response, 404, { message: "Not Found" });
  sendJson(response, 200, wanted.data);
}

const attributesSchema = z.array(
  z.strictObject({
    trait_type: z.string(),
    value: z.union([z.string(), z.number(), z.bigint(), z.boolean()]),
    display_type: z.string().exactOptional(),
  }),
);

async function setTemplate({ context, request, response, last }: Visit): Promise<void> {
  const body = await readJson(context, request, response);
  if (body === undefined) return;
  const attributes = attributesSchema.safeParse(body.value);
  if (!z.guid().safeParse(last).success || !attributes.success)
    return sendJson(response, 400, { message: "Send a list of {trait_type, value, display_type?} to a UUID." });
  const list: readonly MetadataAttribute[] = attributes.data;
  context.engine.setTemplate(last, list);
  sendJson(response, 200, list);
}

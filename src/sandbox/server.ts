/** The sandbox over HTTP: `POST /stream` as specified, on the loopback address, to those who have its key. */

import { hash, randomBytes, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as delay, setImmediate } from "node:timers/promises";
import { MAX_ACTIONS_PER_REQUEST } from "../actions/actions.ts";
import { errorCode, Failure } from "../failure.ts";
import { type CallbackCounts, isLoopbackHost, startCallbacks } from "./callbacks.ts";
import { CONTROL, type Methods, type Service, sendFound, type Visit } from "./control.ts";
import { type Engine, openEngine } from "./engine.ts";
import { type FaultScript, misbehave, openFaults } from "./faults.ts";
import { createServer, notFound, Refused, readJson, sendJson } from "./http.ts";
import { isPageFile, sendPageFile } from "./page.ts";

const HOST = "127.0.0.1";
const KEEP_ALIVE_MS = 5_000;

export interface SandboxOptions {
  /** The service's state, kept open by the caller; or the path of one to open and close here. */
  readonly engine: Engine | { readonly path: string; readonly accept?: readonly string[] };
  /** 0, the default, takes a free one. */
  readonly port?: number;
  /** A random one by default. */
  readonly apiKey?: string;
  readonly faults?: FaultScript;
  /** Wait before a callback is tried again, in milliseconds; it doubles each time. Default 500. */
  readonly callbackWaitMs?: number;
  /** Stops the sandbox, like its disposal. */
  readonly signal?: AbortSignal;
  /** Called with what went wrong inside; the client saw a 500. */
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
  const { apiKey = newSecret(), port = 0, signal } = options;
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new Failure("usage", `${port} is not a port.`, { hint: "Ports are 0 to 65535; 0 takes any free one." });
  const ownEngine = "path" in options.engine ? openEngine(options.engine) : undefined;
  const engine = ownEngine ?? (options.engine as Engine); // without a path it is an engine
  const faults = openFaults(options.faults);
  const callbacks = startCallbacks(options.callbackWaitMs);
  const end = new AbortController();
  const pageToken = newSecret();
  const { onError } = options;
  const service: Service = { engine, faults, callbacks, onError, signal: end.signal };
  const answer = answering(service, { key: digest(apiKey), page: digest(pageToken) });

  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS, requireHostHeader: true }, (request, response) => {
    answer(request, response).catch((error: unknown) => {
      if (error instanceof Refused) return sendJson(response, error.status, { message: error.message, ...error.more });
      if (end.signal.aborted || request.socket.destroyed) return;
      onError?.(error);
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
  const bound = (server.address() as AddressInfo).port; // it listens on TCP
  const url = `http://${HOST}:${bound}`;
  signal?.addEventListener("abort", dispose);
  if (signal?.aborted) await dispose();
  return {
    ...{ url, pageUrl: `${url}/#${pageToken}`, port: bound, apiKey, instanceId: engine.instanceId, engine },
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

// ---- who may ask, and what ----

/** Digests of what opens the sandbox; the page's token opens what is below `/control/`. */
interface Locks {
  readonly key: Buffer;
  readonly page: Buffer;
}

function answering(service: Service, locks: Locks) {
  const routes: Readonly<Record<string, Methods>> = {
    "/stream": { POST: streaming() },
    "/actions/*": { GET: ({ service: { engine }, response, last }) => sendFound(response, engine.status(last)) },
    ...CONTROL,
  };
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    refuseOtherSites(request);
    const { pathname, searchParams: query } = new URL(request.url ?? "/", `http://${HOST}`);
    const method = request.method ?? "";
    if (method === "GET" && isPageFile(pathname)) return sendPageFile(pathname, response);
    const methods = routes[pathname] ?? routes[pathname.replace(/[^/]+$/, "*")];
    if (methods === undefined) throw notFound();
    const isPage = pathname.startsWith("/control/") && holds(locks.page, request.headers["x-page-token"]);
    if (!isPage && !holds(locks.key, request.headers["x-api-key"])) throw new Refused(403, "Forbidden");
    const route = methods[method];
    if (route === undefined) {
      response.setHeader("Allow", Object.keys(methods).join(", "));
      throw new Refused(405, "Method Not Allowed");
    }
    await route({ service, request, response, last: decoded(pathname.slice(pathname.lastIndexOf("/") + 1)), query });
  };
}

/** A page of another site must not reach the sandbox through its visitor's browser, by whatever name. */
function refuseOtherSites({ headers, method }: IncomingMessage): void {
  const { host = "", origin, "sec-fetch-site": site = "none", "sec-fetch-mode": mode } = headers;
  const isOwnHost = isLoopbackHost(URL.parse(`http://${host}`)?.hostname ?? "");
  if (!isOwnHost) throw new Refused(421, "The sandbox answers to loopback names only.");
  // A link to the page from elsewhere is harmless; nothing else is reached by one.
  const isOwn = site === "same-origin" || site === "none" || (method === "GET" && mode === "navigate");
  if (origin === undefined ? !isOwn : origin !== `http://${host}`)
    throw new Refused(403, "The sandbox answers no other site.");
}

const newSecret = (): string => randomBytes(24).toString("base64url");
const digest = (text: string): Buffer => hash("sha256", text, "buffer");

/** Compares digests, so that neither the time nor the length says anything of the secret. */
function holds(secret: Buffer, given: string | readonly string[] | undefined): boolean {
  return typeof given === "string" && timingSafeEqual(digest(given), secret);
}

function decoded(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return step;
  }
}

// ---- the service ----

/** First come, first served, one in each turn of the event loop: what the page asks for is answered between two of them. */
function streaming() {
  let turn = Promise.resolve();
  return async ({ service, request, response }: Visit): Promise<void> => {
    const { engine, faults, callbacks, signal } = service;
    const note = noting(service, request, response);
    const number = faults.countRequest();
    const process = (items: readonly unknown[], withhold?: ReadonlySet<number>) =>
      engine.process(items, { request: note.number, onCallback: callbacks.enqueue, ...(withhold && { withhold }) });
    const exchange = { request, response, items: [], process, signal };

    const early = faults.choose({ request: number, bytes: Number(request.headers["content-length"] ?? 0) });
    note.faults = early.names;
    if (early.fault) return misbehave(early.fault.rule, { ...exchange, random: early.fault.random });

    const { value: items, bytes } = await readJson(request);
    if (!Array.isArray(items)) throw new Refused(400, "The body is not a JSON array of actions.");
    if (items.length > MAX_ACTIONS_PER_REQUEST)
      throw new Refused(
        400,
        `At most ${MAX_ACTIONS_PER_REQUEST} actions per request are accepted; this one has ${items.length}. None was processed.`,
      );

    const { latencyMs, fault, names } = faults.choose({ request: number, bytes, items });
    note.faults = names;
    if (latencyMs > 0) await delay(latencyMs, undefined, { signal });
    // Processing takes the thread for as long as it lasts.
    turn = turn.then(() => setImmediate());
    await turn;
    if (fault) return misbehave(fault.rule, { ...exchange, items, random: fault.random });
    sendJson(response, 200, { status: "success", data: process(items) });
  };
}

/** Notes a request in the record: when it came, and once it has ended, how long it took and what was sent back. */
function noting({ engine, onError }: Service, { socket }: IncomingMessage, response: ServerResponse) {
  const note = { number: engine.openRequest(), faults: [] as readonly string[] };
  const [began, before] = [performance.now(), socket.bytesWritten];
  const answer = (): string => {
    if (response.headersSent) return `HTTP ${response.statusCode}${response.writableFinished ? "" : ", cut off"}`;
    return socket.bytesWritten > before ? "other bytes" : "no answer";
  };
  response.once("close", () => {
    try {
      const { number, faults } = note;
      const ms = Math.round(performance.now() - began);
      engine.endRequest({ number, ms, answer: answer(), fault: faults.join(", ") || null });
    } catch (error) {
      onError?.(error);
    }
  });
  return note;
}

/** One connection to the service: posts request bodies and asks for statuses, and says exactly how far each request got. */

import { setImmediate as turn } from "node:timers/promises";
import { buildConnector, Client, type Dispatcher, EnvHttpProxyAgent } from "undici";
import type { Exchange } from "./answer.ts";
import { openAnswerBody } from "./answer-body.ts";
import { type Connections, openConnections } from "./connection.ts";
import { decoded, MAX_ANSWER_BYTES } from "./content-codings.ts";
import { type Instant, instant, msSince } from "./instant.ts";
import { proxyFor } from "./proxy.ts";
import { createKeyRemover } from "./without-key.ts";

/** A connection that was idle longer may be closing at the other end, and a request on it would be in doubt for nothing. */
const MAX_IDLE_MS = 2000;

/** The longest that connecting may take, with handshakes and a proxy. Nothing is sent before, so it is tried again. */
const MAX_CONNECT_MS = 15_000;

interface Secret {
  reveal(): string;
}

/** In PEM. */
interface Tls {
  readonly cert?: string;
  readonly key?: string;
  readonly ca?: string;
  readonly passphrase?: string;
}

export interface ServiceClient extends AsyncDisposable {
  /**
   * Posts a body to `{baseUrl}/stream`. Never throws: whatever happens is an `Exchange`.
   *
   * @param onLeaving called when writing the request begins, if it does.
   * @param leftMs how long the request may still take, where others wait for its end. Once that is nothing, no request
   *   becomes whole, even if the process was frozen in the middle of it.
   */
  post(body: Uint8Array, signal: AbortSignal, onLeaving?: () => void, leftMs?: () => number): Promise<Exchange>;
  /** Gets what stands at `{baseUrl}{path}`. Never throws either, and follows no redirect. */
  get(path: string, signal: AbortSignal): Promise<Exchange>;
}

/** @throws Failure `usage` when the environment variables name something that can't be a proxy. */
export function openClient(options: {
  readonly baseUrl: string;
  /** The integrator's key at the service; shown nowhere. */
  readonly key: Secret;
  /** For the whole request, from connecting to the answer's last byte. */
  readonly timeoutMs: number;
  /** A new connection for every request. */
  readonly freshConnection: boolean;
  /** Client certificate, and authorities in place of the usual ones. */
  readonly tls?: Tls | undefined;
  readonly env: NodeJS.ProcessEnv;
  /** A longer answer counts as cut off. 64 MiB by default. */
  readonly maxAnswerBytes?: number;
}): ServiceClient {
  const { baseUrl, key, timeoutMs, freshConnection, tls, env, maxAnswerBytes = MAX_ANSWER_BYTES } = options;
  const { origin, pathname } = new URL(baseUrl);
  const base = pathname.replace(/\/$/, "");
  const withoutKey = createKeyRemover(key.reveal());
  const connections = openConnections();
  const isProxied = proxyFor(origin, env) !== undefined;
  const open = (): Dispatcher => openDispatcher(origin, env, tls, connections, maxAnswerBytes);
  let dispatcher = open();
  let idleSince: Instant | undefined;
  const renew = async (): Promise<void> => {
    idleSince = undefined;
    await dispatcher.destroy();
    dispatcher = open();
  };
  const request = async (
    what: Pick<Dispatcher.DispatchOptions, "method" | "path"> & { readonly body?: Uint8Array },
    signal: AbortSignal,
    onLeaving?: () => void,
    leftMs?: () => number,
  ): Promise<Exchange> => {
    if (idleSince !== undefined && msSince(idleSince) > MAX_IDLE_MS) await renew();
    // The other side may have closed the connection, and that may not have been read yet. Within two turns of the event
    // loop all sockets are polled, after which the request takes a new connection.
    if (idleSince !== undefined) {
      await turn();
      await turn();
    }
    const result = await exchange(
      { dispatcher, connections, isProxied, signal, timeoutMs, maxAnswerBytes, onLeaving, leftMs },
      {
        ...what,
        origin,
        reset: freshConnection,
        headers: {
          "x-api-key": key.reveal(),
          ...(what.body !== undefined && { "content-type": "application/json" }),
          // Of a body that leaves in pieces, nothing else tells the length.
          ...(what.body !== undefined && leftMs !== undefined && { "content-length": String(what.body.length) }),
          accept: "application/json",
          // Without this header, any encoding would be acceptable (RFC 9110, 12.5.3).
          "accept-encoding": "identity",
          "user-agent": "tickets",
        },
      },
    );
    idleSince = instant();
    // The rest of a request that was already answered must not reach the service, nor must one whose connection opens too
    // late.
    if (result.kind === "not sent" || (result.kind === "answer" && result.early)) await renew();
    return withoutKey(decoded(result));
  };

  return {
    post: (body, signal, onLeaving, leftMs) =>
      request({ method: "POST", path: `${base}/stream`, body }, signal, onLeaving, leftMs),
    get: (path, signal) => request({ method: "GET", path: `${base}${path}` }, signal),
    [Symbol.asyncDispose]: () => dispatcher.destroy(),
  };
}

function openDispatcher(
  origin: string,
  env: NodeJS.ProcessEnv,
  tls: Tls | undefined,
  connections: Connections,
  maxAnswerBytes: number,
): Dispatcher {
  const settings: Client.Options = {
    pipelining: 1,
    keepAliveTimeout: MAX_IDLE_MS,
    keepAliveMaxTimeout: MAX_IDLE_MS,
    maxResponseSize: maxAnswerBytes,
    // One request in flight needs no HTTP/2, over which undici repeats requests by itself.
    allowH2: false,
    // `exchange` keeps the time of the whole request.
    headersTimeout: 0,
    bodyTimeout: 0,
    connectTimeout: 0,
  };
  const proxy = proxyFor(origin, env);
  if (proxy === undefined)
    return new Client(origin, { ...settings, connect: connector({ connect: { ...tls } }, connections) });
  return new EnvHttpProxyAgent({
    ...settings,
    connections: 1,
    clientFactory: (proxyUrl: URL, options: object) => {
      const { connect } = options as { readonly connect: buildConnector.connector }; // undici's own
      return new Client(proxyUrl, { connect: connections.ofProxy(connect) });
    },
    // The connection to the service, through the proxy.
    factory: (target: string | URL, options: Client.Options) =>
      new Client(target, { ...options, connect: connector(options, connections) }),
    requestTls: { allowH2: false, timeout: 0, ...tls },
    proxyTls: { timeout: 0 },
    httpProxy: "",
    httpsProxy: proxy.url,
    noProxy: "", // decided already
  });
}

/** Connects as undici would. `exchange` keeps the time. */
function connector({ connect }: Client.Options, connections: Connections): buildConnector.connector {
  const open = typeof connect === "function" ? connect : buildConnector({ allowH2: false, timeout: 0, ...connect });
  return connections.watched(open);
}

interface Way {
  readonly dispatcher: Dispatcher;
  readonly connections: Connections;
  readonly isProxied: boolean;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  readonly maxAnswerBytes: number;
  readonly onLeaving: (() => void) | undefined;
  readonly leftMs: (() => number) | undefined;
}

/** A timer that is later than this was not looked at in time, and what lies there may need so long to be read. */
const [AWAY_MS, READ_MS] = [250, 500];

/**
 * Calls back once the time is over.
 *
 * @param mayHaveAnswer where that is so and the process was frozen, or waited for its ledger, an answer that has come
 *   meanwhile is read first.
 * @returns what stops it.
 */
function startTimer(ms: number, mayHaveAnswer: () => boolean, onOver: () => void): () => void {
  const due = performance.now() + ms;
  let timer = setTimeout(() => {
    if (mayHaveAnswer() && performance.now() - due > AWAY_MS) timer = setTimeout(onOver, READ_MS);
    else onOver();
  }, ms);
  return () => clearTimeout(timer);
}

/** Bytes of a request that leave last. */
const LAST_BYTES = 1024;

interface InTime {
  readonly request: Dispatcher.DispatchOptions;
  /** All of it has been handed over, as far as that is up to this. */
  readonly isWhole: () => boolean;
}

/** A request whose body leaves in two pieces, the second one only while there is time. */
function inTime(request: Dispatcher.DispatchOptions, leftMs: (() => number) | undefined): InTime {
  const { body } = request;
  if (leftMs === undefined || !(body instanceof Uint8Array)) return { request, isWhole: () => true };
  let isWhole = false;
  function* pieces(whole: Uint8Array, left: () => number): Generator<Uint8Array> {
    const at = Math.max(1, whole.length - LAST_BYTES);
    yield whole.subarray(0, at);
    if (left() <= 0) throw timeoutError("the time for the request was over before all of it had left");
    isWhole = true;
    yield whole.subarray(at);
  }
  // undici takes iterables (its docs, Dispatcher.request), which its types leave out.
  const given = pieces(body, leftMs) as unknown as NonNullable<Dispatcher.DispatchOptions["body"]>;
  return { request: { ...request, body: given }, isWhole: () => isWhole };
}

function exchange(way: Way, asked: Dispatcher.DispatchOptions): Promise<Exchange> {
  const { dispatcher, connections, signal, onLeaving, maxAnswerBytes } = way;
  const { leftMs = () => Number.POSITIVE_INFINITY } = way;
  const timeoutMs = Math.min(way.timeoutMs, Math.max(0, leftMs()));
  const { request, isWhole } = inTime(asked, way.leftMs);
  return new Promise((resolve) => {
    let started = false;
    let ended = false;
    let status: number | undefined;
    let early = false;
    let headers: Headers = {};
    let body = openAnswerBody(undefined, maxAnswerBytes);
    let abort: ((reason: Error) => void) | undefined;

    const end = (error?: Error): void => {
      if (ended) return;
      ended = true;
      stopClocks();
      if (status !== undefined) {
        resolve({
          kind: "answer",
          status,
          headers: answerHeaders(headers),
          body: body.taken(),
          whole: error === undefined,
          early,
          ...(error !== undefined && { error }),
        });
      } else if (started) resolve({ kind: "lost", error: connections.fault() ?? error ?? new Error("no answer") });
      else resolve({ kind: "not sent", error: error ?? new Error("no answer") });
    };
    /** Ends the exchange, and what undici still does for it. */
    const giveUp = (error: Error): void => {
      end(error);
      abort?.(error);
      // What is still connecting would hold the process for as long as the other side is silent.
      if (!started) connections.stopConnecting();
    };
    const onAbort = (): void => giveUp(toError(signal.reason));
    const connectMs = Math.min(timeoutMs, MAX_CONNECT_MS);
    const onUnconnected = (): void => giveUp(notConnected(way, connectMs));
    const onTimeout = (): void =>
      started ? giveUp(timeoutError(`no whole answer within ${seconds(timeoutMs)}`)) : onUnconnected();
    const stopTimer = startTimer(timeoutMs, () => started && isWhole(), onTimeout);
    const connecting = setTimeout(onUnconnected, connectMs);
    const stopClocks = (): void => {
      stopTimer(); // or they would hold the process for as long as an answer may take
      clearTimeout(connecting);
      signal.removeEventListener("abort", onAbort);
    };

    if (signal.aborted) return onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      dispatcher.dispatch(request, {
        onRequestStart(controller) {
          // Called before the first byte is written; from here on the service may have the request. It must never be written
          // twice, nor after it was given up.
          if (ended || started || leftMs() <= 0) controller.abort(new Error("given up"));
          else {
            started = true;
            clearTimeout(connecting);
            abort = (reason) => controller.abort(reason);
            connections.awaitAnswer();
            onLeaving?.();
          }
        },
        onResponseStart(controller, statusCode, responseHeaders) {
          if (statusCode < 200) return;
          status = statusCode;
          headers = responseHeaders as typeof headers; // undici: lower-case names to text or lists of text
          body = openAnswerBody(text(headers["content-length"]), maxAnswerBytes);
          const isEarly = isWhole() ? connections.isEarly() : true;
          early = isEarly !== false;
          // Only an answer that would be believed waits for a second look: a server that refuses early may be about to reset.
          if (typeof isEarly === "boolean" || statusCode >= 300) return;
          controller.pause();
          void isEarly.then((stillEarly) => {
            early = stillEarly;
            controller.resume();
          });
        },
        onResponseData(_controller, chunk) {
          body.add(chunk);
        },
        onResponseEnd() {
          end();
        },
        onResponseError(_controller, error) {
          end(error);
        },
      });
    } catch (fault) {
      stopClocks();
      throw fault;
    }
  });
}

/** Gives up connecting, and says how far it had come. */
function notConnected({ connections, isProxied }: Way, ms: number): Error {
  const cause = UNCONNECTED[connections.stopConnecting() ?? (isProxied ? "no tunnel" : "no connection")];
  return timeoutError(`${cause} within ${seconds(ms)}`);
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** Those that tell how an answer is to be read. */
const answerHeaders = (headers: Headers) => ({
  retryAfter: text(headers["retry-after"]),
  date: text(headers.date),
  location: text(headers.location),
  contentEncoding: text(headers["content-encoding"]),
});

function text(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}

/** How far connecting came, for people. */
const UNCONNECTED = {
  "no connection": "no connection",
  "no handshake": "a connection, but no TLS handshake",
  "no tunnel": "no connection through the proxy",
} as const;

const seconds = (ms: number): string => `${ms / 1000} s`;

function timeoutError(message: string): Error {
  return Object.assign(new Error(message), { code: "ETIMEDOUT" });
}

function toError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error("interrupted");
}

/** One connection to the service: posts request bodies and asks for statuses, and says exactly how far each request got. */

import { setImmediate as turn } from "node:timers/promises";
import { buildConnector, Client, type Dispatcher, EnvHttpProxyAgent } from "undici";
import { type Connections, openConnections } from "./connection.ts";
import { decoded, MAX_ANSWER_BYTES } from "./content-codings.ts";
import { type Exchange, exchange } from "./exchange.ts";
import { proxyFor } from "./proxy.ts";
import { type Instant, instant, msSince } from "./waiting.ts";
import { createKeyRemover } from "./without-key.ts";

/** A connection that was idle longer may be closing at the other end, and a request on it would be in doubt for nothing. */
const MAX_IDLE_MS = 2000;

interface Secret {
  reveal(): string;
}

export interface ServiceClient extends AsyncDisposable {
  /**
   * Posts a body to `{baseUrl}/stream`. Never throws: whatever happens is an `Exchange`.
   *
   * @param leftMs how long the request may still take, where others wait for its end. Once that is nothing, no request
   *   becomes whole, even if the process was frozen in the middle of it.
   */
  post(body: Uint8Array, signal: AbortSignal, leftMs?: () => number): Promise<Exchange>;
  /** Gets what stands at `{baseUrl}{path}`. Never throws either, and follows no redirect. */
  get(path: string, signal: AbortSignal): Promise<Exchange>;
}

export interface ClientOptions {
  readonly baseUrl: string;
  /** The integrator's key at the service; shown nowhere. Undefined: requests carry none. */
  readonly key: Secret | undefined;
  /** For the whole request, from connecting to the answer's last byte. */
  readonly timeoutMs: number;
  /** A new connection for every request. */
  readonly freshConnection: boolean;
  readonly env: NodeJS.ProcessEnv;
  /** A longer answer counts as cut off. 64 MiB by default. */
  readonly maxAnswerBytes?: number;
}

/** @throws Failure `usage` when the environment variables name something that can't be a proxy. */
export function openClient(options: ClientOptions): ServiceClient {
  const { baseUrl, key, timeoutMs, freshConnection, env, maxAnswerBytes = MAX_ANSWER_BYTES } = options;
  const { origin, pathname } = new URL(baseUrl);
  const base = pathname.replace(/\/$/, "");
  const withoutKey = key === undefined ? (exchange: Exchange): Exchange => exchange : createKeyRemover(key.reveal());
  const connections = openConnections();
  const isProxied = proxyFor(origin, env) !== undefined;
  const open = (): Dispatcher => openDispatcher(origin, env, connections, maxAnswerBytes);
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
    leftMs?: () => number,
  ): Promise<Exchange> => {
    if (idleSince !== undefined && msSince(idleSince) > MAX_IDLE_MS) await renew();
    // The other side may have closed the connection, and that may not have been read yet. Within two turns of the event
    // loop all sockets are polled, after which the request takes a new connection.
    if (idleSince !== undefined) {
      await turn();
      await turn();
    }
    const headers = {
      ...(key !== undefined && { "x-api-key": key.reveal() }),
      ...(what.body !== undefined && { "content-type": "application/json" }),
      // Of a body that leaves in pieces, nothing else tells the length.
      ...(what.body !== undefined && leftMs !== undefined && { "content-length": String(what.body.length) }),
      accept: "application/json",
      // Without this header, any encoding would be acceptable (RFC 9110, 12.5.3).
      "accept-encoding": "identity",
      "user-agent": "tickets",
    };
    const result = await exchange(
      { dispatcher, connections, isProxied, signal, timeoutMs, leftMs },
      { ...what, origin, headers, reset: freshConnection },
    );
    idleSince = instant();
    // The rest of a request that was already answered must not reach the service, nor must one whose connection opens too
    // late.
    if (result.kind === "not sent" || (result.kind === "answer" && result.early)) await renew();
    return withoutKey(decoded(result));
  };

  return {
    post: (body, signal, leftMs) => request({ method: "POST", path: `${base}/stream`, body }, signal, leftMs),
    get: (path, signal) => request({ method: "GET", path: `${base}${path}` }, signal),
    [Symbol.asyncDispose]: () => dispatcher.destroy(),
  };
}

function openDispatcher(
  origin: string,
  env: NodeJS.ProcessEnv,
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
  if (proxy === undefined) return new Client(origin, { ...settings, connect: connector({}, connections) });
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
    requestTls: { allowH2: false, timeout: 0 },
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

/** Whether an environment's service can be reached, and lets the key in, as far as that shows without sending an action. */

import { lookup } from "node:dns/promises";
import { once } from "node:events";
import { request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { connect as connectTcp, isIP, type Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { connect as connectTls, type TLSSocket } from "node:tls";
import { describeOwnCertificate, type Environment } from "../config/environment.ts";
import type { ClientTls } from "../config/tls.ts";
import { EXIT_CODES } from "../failure.ts";
import { describe, type Exchange, isCertificateRefused, saysCertificateRefused } from "../send/answer.ts";
import { pathOf } from "../send/ask-statuses.ts";
import { proxyFor } from "../send/proxy.ts";
import { readStatus, type StatusReading } from "../send/status-answer.ts";
import type { RunContext } from "./context.ts";
import { connectorTo, openService } from "./service.ts";
import type { Settings } from "./settings.ts";

/** What is tried, in this order; what follows a failure is not tried. */
type CheckName = "name" | "proxy" | "connection" | "TLS" | "key";

export interface Check {
  readonly check: CheckName;
  readonly result: "ok" | "failed" | "not known";
  /** What was seen. */
  readonly detail: string;
}

export interface Checked {
  readonly checks: readonly Check[];
  readonly exitCode: number;
}

/** For each step. */
const MOST_MS = 15_000;

/** How long a service of TLS 1.3 has for refusing our certificate. */
const MOST_JUDGING_MS = 2000;

/** Asks about no promise that any service gave. */
const NO_PROMISE = "00000000-0000-0000-0000-000000000000";

/** @throws Failure `not-let-in` where the key is needed, and not there. */
export async function checkEnvironment(
  context: RunContext,
  { environment }: Pick<Settings, "environment">,
): Promise<Checked> {
  const { statusPath, timeoutMs } = environment;
  const isSandbox = environment.kind === "sandbox";
  const checks: Check[] = [];
  if (isSandbox && statusPath === undefined) return { checks: [NOT_ASKED], exitCode: EXIT_CODES.ok };
  await using service = await openService(context, environment);
  const failed = isSandbox ? undefined : await reach(context, environment, await service.tls(), checks);
  if (failed !== undefined) return { checks, exitCode: EXIT_CODES[failed] };
  if (statusPath === undefined) return { checks: [...checks, NOT_ASKED], exitCode: EXIT_CODES.ok };
  const connect = await connectorTo(service, context, {
    ...{ timeoutMs: Math.min(timeoutMs, MOST_MS), freshConnection: true, maxAnswerBytes: 1024 * 1024 },
  });
  await using client = connect();
  const exchange = await client.get(pathOf(statusPath, NO_PROMISE), AbortSignal.any([context.stop, context.abort]));
  context.stop.throwIfAborted();
  const { exitCode, ...check } = judgeKey(readStatus(exchange, NO_PROMISE), exchange, environment);
  return { checks: [...checks, { check: "key", ...check }], exitCode };
}

const NOT_ASKED: Check = {
  check: "key",
  result: "not known",
  detail: "without a statusPath, only sending an action would show whether it is let in",
};

function judgeKey(
  reading: StatusReading,
  exchange: Exchange,
  { tls }: Environment,
): Omit<Check, "check"> & { readonly exitCode: number } {
  switch (reading.kind) {
    case "status":
    case "unreadable":
      return {
        result: "ok",
        detail: `let in; a made-up promise was answered with HTTP ${exchange.kind === "answer" ? exchange.status : ""}`,
        exitCode: EXIT_CODES.ok,
      };
    case "authentication failed":
      return {
        result: "failed",
        detail: saysCertificateRefused(reading.detail)
          ? describeRefusal(tls, reading.detail)
          : `not let in (${reading.detail}): ${reading.body || "(empty)"}`,
        exitCode: EXIT_CODES["not-let-in"],
      };
    case "later":
      return {
        result: "not known",
        detail: `no answer about a promise (${reading.detail})`,
        exitCode: EXIT_CODES["stopped-early"],
      };
    case "refused":
      return {
        result: "not known",
        detail: `the request was refused (${reading.detail}), which may be about statusPath rather than the key: ${reading.body || "(empty)"}`,
        exitCode: EXIT_CODES.refused,
      };
  }
}

/** What a step that failed means. */
type Meaning = "stopped-early" | "not-let-in";

/** Connects as a request would, and says how far it came. Returns what a step that failed means; undefined where none did. */
async function reach(
  { env, stop }: RunContext,
  { baseUrl, tls: places }: Environment,
  tls: ClientTls | undefined,
  checks: Check[],
): Promise<Meaning | undefined> {
  const { protocol, hostname, port } = new URL(baseUrl);
  const host = hostname.replace(/^\[(.+)\]$/, "$1");
  const target = { host, port: Number(port || (protocol === "https:" ? 443 : 80)) };
  const proxy = proxyFor(baseUrl, env);
  let meaning: Meaning | undefined;
  const step = async <T>(check: CheckName, work: (signal: AbortSignal) => Promise<T>, say: (value: T) => string) => {
    const signal = AbortSignal.any([stop, AbortSignal.timeout(MOST_MS)]);
    const value = await work(signal).catch((cause: unknown) => {
      stop.throwIfAborted();
      const error = toError(cause);
      const why = signal.aborted ? `no answer within ${MOST_MS / 1000} s` : describe(error);
      const isRefused = isCertificateRefused(error);
      checks.push({ check, result: "failed", detail: isRefused ? describeRefusal(places, why) : why });
      meaning = isRefused ? "not-let-in" : "stopped-early";
      throw error;
    });
    checks.push({ check, result: "ok", detail: say(value) });
    return value;
  };
  let socket: Socket | undefined;
  try {
    if (proxy === undefined && isIP(host) === 0)
      await step(
        "name",
        (signal) => inTime(lookup(host, { all: true }), signal),
        (addresses) => `${host} is ${addresses.map(({ address }) => address).join(", ")}`,
      );
    const plain =
      proxy === undefined
        ? await step(
            "connection",
            (signal) => opened(connectTcp(target), "connect", signal),
            (open) => `${placeOf(open)} takes connections`,
          )
        : await step(
            "proxy",
            (signal) => tunnel(proxy.url, target, signal),
            () => `${proxy.shown} leads to ${host}`,
          );
    socket = plain;
    if (protocol !== "https:") return undefined;
    const secure = await step("TLS", (signal) => handshake(plain, host, tls, signal), describeTls);
    secure.destroy();
    return undefined;
  } catch (cause) {
    if (meaning === undefined) throw cause;
    return meaning;
  } finally {
    socket?.destroy();
  }
}

const describeRefusal = (tls: Environment["tls"], why: string): string =>
  `${describeOwnCertificate(tls)} is not accepted (${why})`;

interface Target {
  readonly host: string;
  readonly port: number;
}

/** A connection to the service through the proxy. */
function tunnel(proxyUrl: string, { host, port }: Target, signal: AbortSignal): Promise<Socket> {
  const { protocol, hostname, port: proxyPort, username, password } = new URL(proxyUrl);
  const place = `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
  const login = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const request = (protocol === "https:" ? requestHttps : requestHttp)({
    ...{ method: "CONNECT", host: hostname, path: place, signal, agent: false },
    ...(proxyPort !== "" && { port: proxyPort }),
    headers: {
      host: place,
      ...(login !== ":" && { "proxy-authorization": `Basic ${Buffer.from(login).toString("base64")}` }),
    },
  });
  request.on("error", reject);
  request.on("connect", ({ statusCode }, socket) => {
    if (statusCode === 200) return resolve(socket as Socket); // what `node:http` connects with
    socket.destroy();
    reject(
      new Error(
        statusCode === 407 ? "it asks for a user name and password (HTTP 407)" : `it answered HTTP ${statusCode}`,
      ),
    );
  });
  request.on("response", (response) => {
    response.resume();
    reject(new Error(`it answered HTTP ${response.statusCode}`));
  });
  request.end();
  return promise;
}

async function handshake(
  socket: Socket,
  host: string,
  tls: ClientTls | undefined,
  signal: AbortSignal,
): Promise<TLSSocket> {
  const secure = connectTls({
    ...tls,
    socket,
    ALPNProtocols: ["http/1.1"],
    ...(isIP(host) === 0 ? { servername: host } : { host }),
  });
  await opened(secure, "secureConnect", signal);
  // In TLS 1.3 the service looks at our certificate only now.
  if (secure.getProtocol() === "TLSv1.3") await untilJudged(secure);
  return secure;
}

/**
 * Resolves once the service gives a session, as most do that are content with our certificate, or has said nothing for a while.
 *
 * @throws Error when it ends the connection.
 */
async function untilJudged(secure: TLSSocket): Promise<void> {
  const judged = new AbortController();
  const { signal } = judged;
  const hungUp = async (): Promise<never> => {
    await once(secure, "end", { signal });
    throw new Error(HUNG_UP);
  };
  try {
    await Promise.race([once(secure, "session", { signal }), hungUp(), wait(MOST_JUDGING_MS, undefined, { signal })]);
  } finally {
    judged.abort();
  }
}

const HUNG_UP =
  "the service hung up right after the handshake, as one does that does not accept the client certificate, or asks for one";

async function opened<T extends Socket>(socket: T, event: string, signal: AbortSignal): Promise<T> {
  try {
    await once(socket, event, { signal });
    socket.on("error", () => undefined); // it has served
    return socket;
  } catch (cause) {
    socket.on("error", () => undefined);
    socket.destroy();
    throw cause;
  }
}

/** A lookup can't be ended, only left. */
function inTime<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  signal.addEventListener("abort", () => reject(toError(signal.reason)), { once: true });
  return Promise.race([work, promise]);
}

const placeOf = ({ remoteAddress = "", remotePort }: Socket): string =>
  `${isIP(remoteAddress) === 6 ? `[${remoteAddress}]` : remoteAddress}:${remotePort}`;

function describeTls(secure: TLSSocket): string {
  const certificate = secure.getPeerCertificate();
  return `${secure.getProtocol()}, certificate of ${certificate.subject.CN ?? certificate.subjectaltname ?? "a nameless subject"}, valid until ${new Date(certificate.valid_to).toISOString().slice(0, 10)}`;
}

const toError = (cause: unknown): Error => (cause instanceof Error ? cause : new Error(String(cause)));

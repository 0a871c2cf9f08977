/** One request over a connection, and how far it got. */

import type { Dispatcher } from "undici";
import type { Connections } from "./connection.ts";

/** What the client saw of one request. */
export type Exchange =
  /** No byte of the request was written. */
  | { readonly kind: "not sent"; readonly error: Error }
  /** Bytes left, but not even the status of an answer came. */
  | { readonly kind: "lost"; readonly error: Error }
  | {
      readonly kind: "answer";
      readonly status: number;
      readonly headers: AnswerHeaders;
      /** As far as it came. */
      readonly body: Buffer;
      /** The body came to its end. */
      readonly whole: boolean;
      /** It began before the whole request had been handed over. */
      readonly early: boolean;
      /** Why the body did not come to its end. */
      readonly error?: Error;
      /** Why the body could not be decoded by its Content-Encoding. It is as it came, which may be plain text all the same. */
      readonly undecoded?: string;
    };

export interface AnswerHeaders {
  readonly retryAfter?: string | undefined;
  readonly date?: string | undefined;
  readonly location?: string | undefined;
  readonly contentEncoding?: string | undefined;
}

/** The longest that connecting may take, with handshakes and a proxy. Nothing is sent before, so it is tried again. */
const MAX_CONNECT_MS = 15_000;

export interface Route {
  readonly dispatcher: Dispatcher;
  readonly connections: Connections;
  readonly isProxied: boolean;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  /** How long the request may still take, where others wait for its end. */
  readonly leftMs: (() => number) | undefined;
}

/** Never throws for what happens on the route. The dispatcher sends it once; it keeps no time. */
export async function exchange(route: Route, asked: Dispatcher.DispatchOptions): Promise<Exchange> {
  const { dispatcher, connections, isProxied, signal, leftMs = () => Number.POSITIVE_INFINITY } = route;
  const timeoutMs = Math.min(route.timeoutMs, Math.max(0, leftMs()));
  const connectMs = Math.min(timeoutMs, MAX_CONNECT_MS);
  const { request, isWhole } = inTime(asked, route.leftMs);
  const underWay = new UnderWay(connections, leftMs, isWhole);
  const onAbort = (): void => underWay.giveUp(toError(signal.reason));
  const onUnconnected = (): void => {
    if (underWay.hasLeft) return;
    const how = connections.stopConnecting() ?? (isProxied ? "no tunnel" : "no connection");
    underWay.giveUp(timeoutError(`${UNCONNECTED[how]} within ${seconds(connectMs)}`));
  };
  const onTimeout = (): void => {
    if (underWay.hasLeft) underWay.giveUp(timeoutError(`no whole answer within ${seconds(timeoutMs)}`));
    else onUnconnected();
  };
  const stopTimer = startTimer(timeoutMs, () => underWay.hasLeft && isWhole(), onTimeout);
  const connecting = setTimeout(onUnconnected, connectMs);
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    if (signal.aborted) onAbort();
    else dispatcher.dispatch(request, underWay);
    return await underWay.ended;
  } finally {
    // Or they would hold the process for as long as an answer may take.
    stopTimer();
    clearTimeout(connecting);
    signal.removeEventListener("abort", onAbort);
  }
}

type Controller = Parameters<NonNullable<Dispatcher.DispatchHandler["onRequestStart"]>>[0];

/** A request that undici sends, as it tells of it. */
class UnderWay implements Dispatcher.DispatchHandler {
  readonly ended: Promise<Exchange>;
  readonly #resolve: (exchange: Exchange) => void;
  readonly #connections: Connections;
  readonly #leftMs: () => number;
  readonly #isWhole: () => boolean;
  readonly #pieces: Buffer[] = [];
  /** Undefined until the first byte leaves: from then on the service may have the request. */
  #leaving: Controller | undefined;
  #head: { readonly status: number; readonly headers: Headers; early: boolean } | undefined;
  #hasEnded = false;

  constructor(connections: Connections, leftMs: () => number, isWhole: () => boolean) {
    const { promise, resolve } = Promise.withResolvers<Exchange>();
    this.ended = promise;
    this.#resolve = resolve;
    this.#connections = connections;
    this.#leftMs = leftMs;
    this.#isWhole = isWhole;
  }

  get hasLeft(): boolean {
    return this.#leaving !== undefined;
  }

  /** Ends the exchange, and what undici still does for it. */
  giveUp(error: Error): void {
    this.#end(error);
    this.#leaving?.abort(error);
    // What is still connecting would hold the process for as long as the other side is silent.
    if (!this.hasLeft) this.#connections.stopConnecting();
  }

  /** Called before the first byte is written. The request must never be written twice, nor after it was given up. */
  onRequestStart(controller: Controller): void {
    if (this.#hasEnded || this.hasLeft || this.#leftMs() <= 0) {
      controller.abort(new Error("given up"));
      return;
    }
    this.#leaving = controller;
    this.#connections.awaitAnswer();
  }

  onResponseStart(controller: Controller, status: number, headers: object): void {
    if (status < 200) return;
    const isEarly = this.#isWhole() ? this.#connections.isEarly() : true;
    const head = { status, headers: headers as Headers, early: isEarly !== false }; // undici: names in small letters
    this.#head = head;
    // Only an answer that would be believed waits for a second look: a server that refuses early may be about to reset.
    if (typeof isEarly === "boolean" || status >= 300) return;
    controller.pause();
    void isEarly.then((stillEarly) => {
      head.early = stillEarly;
      controller.resume();
    });
  }

  onResponseData(_: Controller, piece: Buffer): void {
    this.#pieces.push(piece);
  }

  onResponseEnd(): void {
    this.#end();
  }

  onResponseError(_: Controller, error: Error): void {
    this.#end(error);
  }

  #end(error?: Error): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    const fault = error ?? new Error("no answer");
    if (this.#head !== undefined) {
      const { status, early, headers } = this.#head;
      this.#resolve({
        ...{ kind: "answer", status, early, headers: answerHeaders(headers) },
        ...{ body: Buffer.concat(this.#pieces), whole: error === undefined },
        ...(error !== undefined && { error }),
      });
    } else if (this.hasLeft) this.#resolve({ kind: "lost", error: this.#connections.fault() ?? fault });
    else this.#resolve({ kind: "not sent", error: fault });
  }
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

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** Those that tell how an answer is to be read. */
function answerHeaders(headers: Headers) {
  const text = (name: string): string | undefined => [headers[name]].flat()[0];
  return {
    ...{ retryAfter: text("retry-after"), date: text("date") },
    ...{ location: text("location"), contentEncoding: text("content-encoding") },
  };
}

/** How far connecting came, for people. */
const UNCONNECTED = {
  "no connection": "no connection",
  "no handshake": "a connection, but no TLS handshake",
  "no tunnel": "no connection through the proxy",
} as const;

const seconds = (ms: number): string => `${ms / 1000} s`;

const timeoutError = (message: string): Error => Object.assign(new Error(message), { code: "ETIMEDOUT" });

const toError = (reason: unknown): Error => (reason instanceof Error ? reason : new Error("interrupted"));

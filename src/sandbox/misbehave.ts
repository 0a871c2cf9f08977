/** The faults: what each takes from a script, and what it makes of the answer, byte by byte where it must be. */

import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { z } from "zod";
import { parseJson } from "../actions/json.ts";
import type { ResultItem } from "./engine.ts";
import { drainedOrGone, STATUS_CODES, sendJson, sendText } from "./http.ts";

/** A request that a fault strikes, and what can be done with it. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** None before the body is read. */
  readonly items: readonly unknown[];
  readonly process: (items: readonly unknown[], withhold?: ReadonlySet<number>) => readonly ResultItem[];
  /** Numbers from 0 to below 1, the same ones for the same seed, request and rule. */
  readonly random: () => number;
  readonly signal: AbortSignal;
}

type Answer = void | Promise<void>;

/** A fault by the shape of its parameters and by what it does, which ends when all is written or the client is gone. */
const kind = <Shape extends z.ZodRawShape>(
  shape: Shape,
  answer: (fault: z.output<z.ZodObject<Shape>>, exchange: Exchange) => Answer,
) => ({ shape, answer });

const count = z.int().nonnegative();
const milliseconds = count.max(3_600_000);
const anything = z.unknown().optional();
const whichItems = z.union([
  z.array(count),
  z.strictObject({ every: z.int().positive() }),
  z.strictObject({ count: z.int().positive() }),
  z.strictObject({ probability: z.number().min(0).max(1) }),
]);
/** The items that a fault touches: by 0-based place, every n-th, some at random, or a share of them at random. */
const items = whichItems.optional();
/** How many items are processed before the fault, the first N of them for a number. */
const processed = z.union([z.literal("none"), z.literal("all"), count]).optional();
/** Keys that something has beyond its own, or instead of them; and those that it lacks. */
const keys = {
  with: z.record(z.string(), z.unknown()).optional(),
  without: z.array(z.string()).optional(),
};
const dateForm = z.enum(["imf", "rfc850", "asctime"]);

const TOO_MANY = "HTTP/1.1 429 Too Many Requests\r\nContent-Length: 0\r\n\r\n";
/** Time enough for the next request to be on its way. */
const LATE_MS = 20;

const head = (more: string, version = "1.1"): string =>
  `HTTP/${version} 200 OK\r\nContent-Type: application/json\r\n${more}\r\n`;
const whole = (text: string, lengthOff = 0): string =>
  `${head(`Content-Length: ${Buffer.byteLength(text) + lengthOff}\r\n`)}${text}`;
const chunk = (text: string): string => `${Buffer.byteLength(text).toString(16)};note=1\r\n${text}\r\n`;
const trailed = (text: string, half = Math.floor(text.length / 2)): string =>
  [
    head("Transfer-Encoding: chunked\r\nTrailer: X-Sum\r\n"),
    ...[chunk(text.slice(0, half)), chunk(text.slice(half))],
    "0\r\nX-Sum: 4711\r\n\r\n",
  ].join("");

/** The bytes of an answer; those of another one that follows late; and whether the connection ends. */
type Framed = (body: string) => { readonly now: string; readonly late?: string; readonly ends?: boolean };
const FRAMINGS = {
  bom: (body) => ({ now: whole(`\ufeff${body}`), ends: true }),
  trailers: (body) => ({ now: trailed(body), ends: true }),
  "http-1.0": (body) => ({ now: `${head("", "1.0")}${body}`, ends: true }),
  "length-short": (body) => ({ now: whole(body, -5), ends: true }),
  "length-long": (body) => ({ now: whole(body, +5), ends: true }),
  twice: (body) => ({ now: whole(body).repeat(2) }),
  "then-429": (body) => ({ now: whole(body) + TOO_MANY }),
  "late-429": (body) => ({ now: whole(body), late: TOO_MANY }),
  "late-twice": (body) => ({ now: whole(body), late: whole(body) }),
} satisfies Record<string, Framed>;
const framings = Object.keys(FRAMINGS) as (keyof typeof FRAMINGS)[]; // the keys of a constant object literal

export const FAULT_KINDS = {
  /** Adds to whatever else happens to the request, so it has no answer of its own. */
  latency: kind({ ms: z.union([milliseconds, z.tuple([milliseconds, milliseconds])]) }, () => undefined),

  // ---- no answer, or another one ----

  status: kind(
    {
      status: z.int().min(200).max(599),
      processed,
      body: anything,
      headers: z.record(z.string().regex(/^[\w-]+$/), z.string().regex(/^[ -~]*$/)).optional(),
      /** In seconds, or as a date so many seconds ahead. */
      retryAfter: z.union([count, z.strictObject({ inSeconds: z.int(), form: dateForm.optional() })]).optional(),
      /** Shifts the answer's Date, and a Retry-After date with it. */
      clockSkewSeconds: z.int().optional(),
    },
    (fault, exchange) => {
      const { response } = exchange;
      const { status, retryAfter, headers = {}, clockSkewSeconds: skew = 0 } = fault;
      const isGood = status < 300;
      const data = processSome(exchange, fault.processed ?? (isGood ? "all" : "none"));
      const now = Date.now() + skew * 1000;
      if (skew !== 0) response.setHeader("Date", httpDate(new Date(now)));
      if (typeof retryAfter === "number") response.setHeader("Retry-After", retryAfter);
      else if (retryAfter !== undefined)
        response.setHeader("Retry-After", httpDate(new Date(now + retryAfter.inSeconds * 1000), retryAfter.form));
      for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
      const ordinary = isGood ? { status: "success", data } : messageOf(status);
      if (typeof fault.body !== "string") return sendJson(response, status, fault.body ?? ordinary);
      if (!response.hasHeader("Content-Type")) response.setHeader("Content-Type", "text/plain; charset=utf-8");
      sendText(response, status, fault.body);
    },
  ),
  drop: kind(
    { when: z.enum(["at-headers", "before", "after"]), processed, reset: z.boolean().optional() },
    (fault, exchange) => {
      processSome(exchange, fault.processed ?? (fault.when === "after" ? "all" : "none"));
      const { socket } = exchange.request;
      if (fault.reset) socket.resetAndDestroy();
      else socket.destroy();
    },
  ),
  hang: kind({ processed }, async (fault, exchange) => {
    processSome(exchange, fault.processed ?? "none");
    const { response, signal } = exchange;
    await once(response, "close", { signal }).catch(() => undefined);
  }),
  cut: kind(
    {
      share: z.number().min(0).max(0.999).optional(),
      framing: z.enum(["length", "chunked", "clean"]).optional(),
    },
    ({ share = 0.5, framing = "length" }, exchange) => {
      const { response } = exchange;
      const bytes = Buffer.from(ordinary(exchange));
      const part = bytes.subarray(0, Math.floor(bytes.length * share));
      response.setHeader("Content-Type", "application/json");
      if (framing === "clean") return void response.end(part);
      if (framing === "length") response.setHeader("Content-Length", bytes.length);
      response.flushHeaders();
      response.write(part, () => response.socket?.destroy());
    },
  ),

  // ---- other items ----

  count: kind({ by: z.int().refine((by) => by !== 0, "is 0, which changes nothing") }, ({ by }, exchange) => {
    const results = exchange.process(exchange.items);
    const more = Array.from({ length: by }, () => results.at(-1) ?? {});
    sendItems(exchange, by < 0 ? results.slice(0, by) : [...results, ...more]);
  }),
  shuffle: kind({}, (_fault, exchange) => {
    const results = exchange.process(exchange.items);
    const [first, ...others] = shuffled(results, exchange.random);
    // Something stands elsewhere afterwards, where that can be.
    const isMixed = first !== results[0] || others.some((item, at) => item !== results[at + 1]);
    sendItems(exchange, first === undefined ? [] : isMixed ? [first, ...others] : [...others, first]);
  }),
  /** They are not processed; `body` is what stands in their place. */
  "failure-items": kind({ items, body: anything }, (fault, exchange) => {
    const withheld = placesOf(fault.items, exchange);
    const results = exchange.process(exchange.items, withheld);
    const failure = "body" in fault ? fault.body : { status: "error" };
    sendItems(
      exchange,
      results.map((item, at) => (withheld.has(at) ? failure : item)),
    );
  }),
  /** They are processed, and changed: other keys, or something else in their place. `top` changes the answer around them. */
  changed: kind({ items, body: anything, ...keys, top: z.strictObject(keys).optional() }, (fault, exchange) => {
    const touched = placesOf(fault.items, exchange);
    const change = (item: ResultItem): unknown => ("body" in fault ? fault.body : withKeys(item, fault));
    const data = exchange.process(exchange.items).map((item, at) => (touched.has(at) ? change(item) : item));
    sendJson(exchange.response, 200, withKeys({ status: "success", data }, fault.top ?? {}));
  }),
  // ---- the ordinary items in another answer ----

  /** `status` once more, before the one that counts for most readers: the last one. */
  "duplicate-key": kind({ where: z.enum(["top", "item"]).optional() }, ({ where }, exchange) => {
    const start = where === "top" ? '{"' : '[{"';
    sendText(exchange.response, 200, ordinary(exchange).replace(start, `${start}status":"error","`));
  }),
  /** 1xx before the ordinary answer. */
  interim: kind({ statuses: z.array(z.int().min(100).max(199)).optional() }, ({ statuses = [100] }, exchange) => {
    for (const status of statuses) {
      const header = status === 103 ? "Link: </style.css>; rel=preload; as=style\r\n" : "";
      exchange.request.socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? "Interim"}\r\n${header}\r\n`);
    }
    sendText(exchange.response, 200, ordinary(exchange));
  }),
  /** `announce` is what the Content-Encoding says. */
  encoding: kind(
    {
      encoding: z.enum(["identity", "gzip", "deflate", "br", "zstd"]).optional(),
      announce: z
        .string()
        .regex(/^[\w, -]*$/)
        .optional(),
    },
    ({ encoding = "gzip", announce = encoding }, exchange) => {
      const { response } = exchange;
      if (announce !== "") response.setHeader("Content-Encoding", announce);
      sendText(response, 200, ENCODERS[encoding](Buffer.from(ordinary(exchange))));
    },
  ),
  /** Other bytes on the bare connection, since Node's own responses are always in order. */
  framing: kind({ as: z.enum(framings) }, async ({ as }, exchange) => {
    const { socket } = exchange.request;
    const { now, late, ends }: ReturnType<Framed> = FRAMINGS[as](ordinary(exchange));
    if (ends) return void socket.end(now);
    socket.write(now);
    if (late === undefined) return;
    await delay(LATE_MS, undefined, { signal: exchange.signal });
    if (!socket.destroyed) socket.write(late);
  }),
  /**
   * Another status before the body is read; the connection stays. A 2xx has `items` bare failure items, which only a guess can
   * give. What comes of the body then may be processed all the same.
   */
  "early-answer": kind(
    {
      status: z.int().min(200).max(599).optional(),
      items: z.int().nonnegative().max(5000).optional(),
      processed: z.enum(["none", "all"]).optional(),
    },
    async ({ status = 403, items = 1, processed = "none" }, { request, response, process }) => {
      const isGood = status < 300;
      const data = Array.from({ length: items }, () => ({ status: "error" }));
      response.shouldKeepAlive = true; // or Node would close on the rest
      const coming = processed === "all" ? buffer(request) : undefined;
      sendJson(response, status, isGood ? { status: "success", data } : messageOf(status));
      try {
        const late = coming && parseJson((await coming).toString());
        if (Array.isArray(late)) process(late);
      } catch {
        // It never came whole: nothing is processed.
      }
    },
  ),
  /** A body that does not end before the client goes, or `mebibytes` are written. */
  endless: kind(
    { mebibytes: z.int().positive().max(65_536).optional() },
    async ({ mebibytes = 1024 }, { response, process, items }) => {
      process(items);
      response.writeHead(200, { "Content-Type": "application/json" });
      response.write('{"status":"success","data":[');
      const blanks = Buffer.alloc(MEBIBYTE, " ");
      for (let written = 0; written < mebibytes && !response.destroyed; written += 1)
        if (!response.write(blanks)) await drainedOrGone(response);
      if (!response.destroyed) response.end("]}");
    },
  ),
  drip: kind(
    { bytes: z.int().positive().optional(), everyMs: milliseconds.optional() },
    async ({ bytes = 1, everyMs = 1000 }, exchange) => {
      const { response } = exchange;
      const body = Buffer.from(ordinary(exchange));
      response.writeHead(200, { "Content-Type": "application/json", "Content-Length": body.length });
      const gone = new AbortController();
      response.once("close", () => gone.abort());
      const signal = AbortSignal.any([exchange.signal, gone.signal]);
      for (let at = 0; at < body.length && !signal.aborted; at += bytes) {
        response.write(body.subarray(at, at + bytes));
        await delay(everyMs, undefined, { signal }).catch(() => undefined);
      }
      response.end();
    },
  ),
  /** 413 before the body is read; then the connection is closed on whatever the client is still writing. */
  "too-large": kind({}, (_fault, { request, response }) => {
    response.setHeader("Connection", "close");
    response.on("finish", () => request.socket.destroy());
    sendJson(response, 413, messageOf(413));
  }),
  /** The ordinary answer; then the kept-alive connection is closed, announced or not. */
  close: kind(
    { announce: z.boolean().optional(), afterMs: milliseconds.optional() },
    async ({ announce, afterMs }, exchange) => {
      const { request, response, signal } = exchange;
      if (announce) response.setHeader("Connection", "close");
      const sent = once(response, "finish");
      sendText(response, 200, ordinary(exchange));
      await sent;
      if (afterMs !== undefined) await delay(afterMs, undefined, { signal });
      request.socket.end();
    },
  ),
};

const MEBIBYTE = 1024 * 1024;

const ENCODERS = {
  identity: (bytes: Buffer) => bytes,
  gzip: gzipSync,
  deflate: deflateSync,
  br: brotliCompressSync,
  zstd: zstdCompressSync,
} as const;

/** What gateways commonly say in other words. */
const MESSAGES: Readonly<Record<number, string>> = { 413: "Request Too Long", 504: "Endpoint request timed out" };
const messageOf = (status: number) => ({ message: MESSAGES[status] ?? STATUS_CODES[status] ?? `Status ${status}` });

/** Processes all items; gives the ordinary answer. */
const ordinary = ({ items, process }: Exchange): string => JSON.stringify({ status: "success", data: process(items) });

function processSome({ items, process }: Exchange, processed: "none" | "all" | number): readonly ResultItem[] {
  const some = items.slice(0, processed === "all" ? items.length : processed === "none" ? 0 : processed);
  return some.length === 0 ? [] : process(some);
}

function sendItems({ response }: Exchange, data: readonly unknown[]): void {
  sendJson(response, 200, { status: "success", data });
}

function withKeys(object: object, { with: more = {}, without = [] }: z.infer<z.ZodObject<typeof keys>>): object {
  return Object.fromEntries(Object.entries({ ...object, ...more }).filter(([name]) => !without.includes(name)));
}

/** The 0-based places that are meant; one at random where nothing says so. */
function placesOf(which: z.infer<typeof whichItems> = { count: 1 }, { items, random }: Exchange): ReadonlySet<number> {
  const places = Array.from(items.keys());
  if (Array.isArray(which)) return new Set(which.filter((place) => place < places.length));
  if ("count" in which) return new Set(shuffled(places, random).slice(0, which.count));
  return new Set(
    places.filter((place) => ("every" in which ? (place + 1) % which.every === 0 : random() < which.probability)),
  );
}

function shuffled<T>(values: readonly T[], random: () => number): readonly T[] {
  return values
    .map((value) => ({ value, by: random() }))
    .sort((a, b) => a.by - b.by)
    .map(({ value }) => value);
}

/** The three date forms of HTTP, all of which a receiver must understand. */
export function httpDate(at: Date, form: z.infer<typeof dateForm> = "imf"): string {
  const imf = at.toUTCString();
  const [, day = "", month = "", year = "", time = ""] = imf.split(" ");
  if (form === "imf") return imf;
  const weekday = at.toLocaleDateString("en-US", { weekday: "long", timeZone: "UTC" });
  if (form === "rfc850") return `${weekday}, ${day}-${month}-${year.slice(-2)} ${time} GMT`;
  return `${weekday.slice(0, 3)} ${month} ${String(Number(day)).padStart(2)} ${time} ${year}`;
}

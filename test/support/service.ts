/**
 * A small server that speaks the specification, written from its text alone and sharing no code with the product: what
 * both got wrong together would otherwise pass. It leaves open whatever the specification leaves open.
 */

import { randomUUID } from "node:crypto";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { setImmediate } from "node:timers/promises";
import { expect, onTestFinished } from "vitest";
import { openWorkplace } from "./bin.ts";
import type { Certificate } from "./certificate.ts";
import { salesTable } from "./tables.ts";

export interface Item {
  readonly action: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface ServiceRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly items: readonly Item[];
  /** Of the connection, at the client's end. */
  readonly clientPort: number;
  /** Where the arrival of its headers stands among all that happened on the service: 1, 2, ... */
  readonly startedAt: number;
  /** Likewise the moment before the first byte of its answer. */
  answeredAt: number;
}

export interface ServiceOptions {
  readonly tls?: Certificate;
  /** The key that is accepted. */
  readonly key?: string;
  /** The item of an action that is not accepted; undefined for one that is. */
  readonly failureOf?: (item: Item) => unknown;
  /** The whole answer in place of the usual one. */
  readonly answer?: (request: ServiceRequest) => Answer | undefined | Promise<Answer | undefined>;
}

interface Answer {
  readonly status: number;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Service {
  readonly baseUrl: string;
  readonly key: string;
  /** In the order in which they had come whole. */
  readonly requests: ServiceRequest[];
  /** Connections, even those over which nothing was asked. */
  readonly connections: () => number;
  /** Everything that was ever sent, in order. */
  readonly sent: () => readonly Item[];
  /** What an environment called playground needs. */
  readonly env: Readonly<Record<string, string>>;
  readonly behave: (options: ServiceOptions) => void;
}

/** Turns of the event loop before an answer, so that a client that does not wait for it has its chance to show. */
const TURNS = 200;

/** Starts the service on a free port of the loopback address; it ends with the test. */
export async function startService(given: ServiceOptions = {}): Promise<Service> {
  let options = given;
  const key = given.key ?? `pk_${randomUUID()}`;
  const requests: ServiceRequest[] = [];
  let moment = 0;
  let connections = 0;

  const handle = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    moment += 1;
    const startedAt = moment;
    const body = Buffer.concat(await Array.fromAsync<Buffer>(incoming));
    const { method = "", url: path = "", headers } = incoming;
    const clientPort = incoming.socket.remotePort ?? 0;
    const request = { method, path, headers, body, items: itemsOf(body), clientPort, startedAt, answeredAt: 0 };
    requests.push(request);
    for (let turn = 0; turn < TURNS; turn += 1) await setImmediate();
    const answer: Answer = (await options.answer?.(request)) ?? answerTo(request, key, options);
    moment += 1;
    request.answeredAt = moment;
    response.writeHead(answer.status, { "Content-Type": "application/json", ...answer.headers }).end(answer.body);
  };
  const serve = (incoming: IncomingMessage, response: ServerResponse): void => {
    handle(incoming, response).catch(() => response.destroy());
  };
  const { tls } = given;
  const server = tls === undefined ? createServer(serve) : createTlsServer({ ...tls, minVersion: "TLSv1.2" }, serve);
  server.on("connection", () => {
    connections += 1;
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const baseUrl = `${tls === undefined ? "http" : "https"}://127.0.0.1:${(server.address() as AddressInfo).port}`; // a TCP server that listens
  return {
    baseUrl,
    key,
    requests,
    connections: () => connections,
    sent: () => requests.flatMap(({ items }) => items),
    env: { TICKETS_PLAYGROUND_BASE_URL: baseUrl, TICKETS_PLAYGROUND_API_KEY: key },
    behave: (next) => {
      options = next;
    },
  };
}

function itemsOf(body: Buffer): readonly Item[] {
  try {
    const items: unknown = JSON.parse(body.toString());
    return Array.isArray(items) ? items : [];
  } catch {
    return [];
  }
}

function answerTo({ method, path, headers, items }: ServiceRequest, key: string, options: ServiceOptions) {
  if (headers["x-api-key"] !== key) return { status: 403, body: JSON.stringify({ message: "Forbidden" }) };
  if (method !== "POST" || !path.endsWith("/stream")) return { status: 404, body: "{}" };
  const data = items.map((item) => options.failureOf?.(item) ?? acceptedItem(item));
  return { status: 200, body: JSON.stringify({ status: "success", data }) };
}

/** A workplace, and a service for what is streamed from it to the environment called playground. */
export async function openPlayground(options: ServiceOptions = {}) {
  return { place: openWorkplace(), service: await startService(options) };
}

/** The same, with that many sales in `sales.csv`. */
export async function openSales(rows: number, options?: ServiceOptions) {
  const opened = await openPlayground(options);
  opened.place.write("sales.csv", salesTable(rows));
  return opened;
}

/** The result item of an accepted action ("Response body" in the specification). */
export function acceptedItem({ action, data: { eventId, ticketId, nftId } }: Item) {
  const ofEvent = action === "newEvent" || action === "updateEvent" || action === "soldTicket";
  return {
    status: "success",
    action,
    ...(ofEvent && { eventId }),
    ...(ticketId !== undefined && { ticketId }),
    ...(nftId !== undefined && { nftId }),
    actionPromise: randomUUID(),
  };
}

/** Every request as the specification wants it, and never more of them at a time than there are lanes. */
export function expectSpokenAsSpecified({ requests, key }: Service, lanes = 1): void {
  for (const { method, path, headers, body, items, startedAt } of requests) {
    expect(method).toBe("POST");
    expect(path).toMatch(/\/stream$/);
    expect(headers["x-api-key"]).toBe(key);
    expect(headers["content-type"]).toBe("application/json");
    expect(Array.isArray(JSON.parse(body.toString()))).toBe(true);
    expect(items.length).toBeGreaterThan(0);
    expect(items.length).toBeLessThanOrEqual(5000);
    for (const item of items) {
      if (Object.keys(item).toSorted().join() !== "action,data" || typeof item.data !== "object")
        expect.unreachable(`${JSON.stringify(item)} is not {action, data}`);
    }
    const onTheirWay = requests.filter((each) => each.startedAt <= startedAt && each.answeredAt > startedAt);
    expect(onTheirWay.length, "requests at a time").toBeLessThanOrEqual(lanes);
  }
}

/**
 * The other side of every measurement: reads a request whole and answers one item per action, as quickly as that can
 * honestly be done on one core.
 */

import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** How it answers from now on. */
export interface Manner {
  /** From the end of a request to the start of its answer. */
  readonly latencyMs?: number;
  /** The request, from 1, that is reported; its answer takes a while longer. */
  readonly reportAt?: number;
}

export interface Service extends AsyncDisposable {
  readonly baseUrl: string;
  /** Actions answered since it last learnt how to be. */
  readonly actions: number;
  /** Counts start again. @returns when `reportAt` came, in milliseconds since 1970. */
  be(manner: Manner): Promise<number>;
}

const LONGER_MS = 500;

export async function startService(): Promise<Service> {
  let manner: Manner = {};
  let report: (at: number) => void = () => undefined;
  let requests = 0;
  let actions = 0;

  const reply = (response: ServerResponse, body: Buffer, { latencyMs = 0, reportAt }: Manner, number: number): void => {
    const from = performance.now();
    const { answer, count } = answerTo(body);
    actions += count;
    const waitMs = latencyMs - (performance.now() - from) + (number === reportAt ? LONGER_MS : 0);
    const send = (): void => {
      response.writeHead(200, { "content-type": "application/json", "content-length": answer.length }).end(answer);
    };
    if (waitMs > 0) setTimeout(send, waitMs);
    else send();
  };

  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    requests += 1;
    const number = requests;
    if (number === manner.reportAt) report(performance.timeOrigin + performance.now());
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => reply(response, Buffer.concat(parts), manner, number));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, // of a TCP server
    get actions() {
      return actions;
    },
    be(next) {
      manner = next;
      requests = 0;
      actions = 0;
      return new Promise((resolve) => {
        report = resolve;
      });
    },
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/**
 * The keys that an answer echoes, with their values as they stand. A key can't be mistaken for text: a quote within a
 * JSON string has a backslash before it, and a colon follows only a key.
 */
const ECHOED = /"(action|eventId|ticketId|nftId)":\s*("(?:[^"\\]|\\.)*")/g;

let promises = 0;

/** Bytes are read as Latin-1 and written so, which leaves UTF-8 as it is. */
function answerTo(body: Buffer): { readonly answer: Buffer; readonly count: number } {
  let answer = '{"status":"success","data":[';
  let count = 0;
  for (const [, key, value] of body.toString("latin1").matchAll(ECHOED)) {
    if (key === "action") {
      promises += 1;
      const promise = `${process.pid.toString(16).padStart(8, "0")}-0000-4000-8000-${promises.toString(16).padStart(12, "0")}`;
      answer += `${count === 0 ? "" : "},"}{"status":"success","actionPromise":"${promise}"`;
      count += 1;
    }
    answer += `,"${key}":${value}`;
  }
  return { answer: Buffer.from(`${answer}${count === 0 ? "" : "}"}]}`, "latin1"), count };
}

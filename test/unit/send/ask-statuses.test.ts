import type { Socket } from "node:net";
import { describe, expect, test } from "vitest";
import { Key } from "../../../src/config/key.ts";
import { ASKED_AT_ONCE, type AskContext, askStatuses, type OpenPromise } from "../../../src/send/ask-statuses.ts";
import { openClient } from "../../../src/send/client.ts";
import { type RawServer, startRaw } from "../../support/raw-server.ts";

const KEY = "k3y-of-the-test-0123";
const NEVER = new AbortController().signal;

function contextOf({ port }: RawServer, more: Partial<AskContext> = {}): AskContext & { readonly seen: string[] } {
  const seen: string[] = [];
  return {
    seen,
    statusPath: "/actions/{actionPromise}",
    retries: 2,
    stop: NEVER,
    connect: () =>
      openClient({
        ...{ baseUrl: `http://127.0.0.1:${port}/v1`, key: new Key(KEY), timeoutMs: 600_000 },
        ...{ freshConnection: false, env: {}, maxAnswerBytes: 1000 },
      }),
    answered: ({ promise }, answer) => {
      seen.push(`${promise} ${answer.kind === "status" ? answer.status : answer.detail}`);
    },
    waiting: (detail) => {
      seen.push(`wait ${detail}`);
    },
    ...more,
  };
}

async function* promises(count: number): AsyncGenerator<OpenPromise> {
  for (let at = 1; at <= count; at += 1)
    yield { run: 1, chunk: 1, place: at - 1, promise: `p${at}`, status: undefined };
}

const reply = (socket: Socket, status: number, body: string, head = ""): void => {
  socket.write(`HTTP/1.1 ${status} Some\r\n${head}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
};

const requestsTo = ({ connections }: RawServer): readonly string[] =>
  connections.flatMap(({ received }) => received.split(/(?=GET )/));

describe("asking for statuses", () => {
  test("asks about each promise once, below the base URL, with the key, without a body", async () => {
    const server = await startRaw({ onRequest: (socket) => reply(socket, 200, '{"status":"confirmed"}') });
    const context = contextOf(server);
    expect(await askStatuses(context, promises(30))).toBeUndefined();
    expect(context.seen.toSorted()).toEqual(Array.from({ length: 30 }, (_, at) => `p${at + 1} confirmed`).toSorted());
    const requests = requestsTo(server);
    expect(requests).toHaveLength(30);
    for (const request of requests) {
      expect(request).toMatch(/^GET \/v1\/actions\/p\d+ HTTP\/1.1\r\n/);
      expect(request).toContain(`x-api-key: ${KEY}`);
      expect(request).not.toMatch(/content-(type|length)/i);
    }
    expect(server.connections.length).toBeLessThanOrEqual(ASKED_AT_ONCE);
  });

  test("reads no more of an answer than it may have", async () => {
    const server = await startRaw({ onRequest: (socket) => reply(socket, 200, `{"status":"${"x".repeat(5000)}"}`) });
    const context = contextOf(server);
    expect(await askStatuses(context, promises(1))).toBeUndefined();
    expect(context.seen).toEqual([expect.stringContaining("is too long")]);
  });

  test("a rate is for all requests together", async () => {
    const server = await startRaw({ onRequest: (socket) => reply(socket, 200, '{"status":"confirmed"}') });
    const stopping = new AbortController();
    // One in a quarter of an hour: the second would come long after the first was answered.
    const context = contextOf(server, { rate: 0.001, stop: stopping.signal, answered: () => stopping.abort("SIGINT") });
    await askStatuses(context, promises(100));
    expect(requestsTo(server)).toHaveLength(1);
  });
});

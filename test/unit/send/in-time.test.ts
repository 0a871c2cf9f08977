/** A request whose end others wait for: once its time is over, it never becomes whole. */

import type { Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { Key } from "../../../src/config/key.ts";
import { openClient, type ServiceClient } from "../../../src/send/client.ts";
import { type RawServer, startRaw } from "../../support/raw-server.ts";
import { until } from "../../support/until.ts";

const BODY = Buffer.from('[{"action":"newEvent","data":{"eventId":"E1","currency":"EUR"}}]');
/** More than any system takes at once. */
const LARGE = Buffer.alloc(24 * 1024 * 1024, " ");
const NEVER = new AbortController().signal;
const LONG_MS = 600_000;
const ANSWER = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}";

function open({ port }: RawServer): ServiceClient {
  const baseUrl = `http://127.0.0.1:${port}`;
  const client = openClient({ baseUrl, key: new Key("k"), timeoutMs: LONG_MS, freshConnection: false, env: {} });
  onTestFinished(() => client[Symbol.asyncDispose]());
  return client;
}

test.each([
  ["of one byte", Buffer.from("x")],
  ["small", BODY],
  ["of several pieces", Buffer.alloc(300_000, "a")],
])("in good time, a body that is %s comes as it is, with its length", async (_, body) => {
  const server = await startRaw({ onRequest: (socket) => socket.write(ANSWER) });
  const client = open(server);
  for (let nth = 1; nth <= 2; nth += 1) {
    const exchange = await client.post(body, NEVER, () => LONG_MS);
    expect(exchange).toMatchObject({ kind: "answer", status: 200, whole: true, early: false });
  }
  const [first = ""] = server.connections.map(({ received }) => received);
  expect(server.connections).toHaveLength(1);
  expect(first.match(/content-length: (\d+)/gi)).toEqual(Array(2).fill(`content-length: ${body.length}`));
  expect(first.endsWith(`\r\n\r\n${body}`)).toBe(true);
});

test("time that is over in the middle of it: its last bytes stay here, however long the rest takes", async () => {
  const held: Socket[] = [];
  const server = await startRaw({
    onConnection: (socket) => {
      held.push(socket);
      socket.pause();
    },
  });
  let isOver = false;
  const posted = open(server).post(LARGE, NEVER, () => (isOver ? 0 : LONG_MS));
  await until(() => held.length > 0);
  isOver = true;
  held[0]?.resume();
  expect(await posted).toMatchObject({ kind: "lost", error: { message: expect.stringContaining("time") } });
  await until(() => server.connections[0]?.closed === true);
  const [{ received } = { received: "" }] = server.connections;
  expect(received.length - received.indexOf("\r\n\r\n") - 4).toBeLessThan(LARGE.length);
});

test("time that was over before its first byte: nothing is sent", async () => {
  const server = await startRaw({});
  let looked = 0;
  const exchange = await open(server).post(BODY, NEVER, () => {
    looked += 1;
    return looked === 1 ? LONG_MS : 0;
  });
  expect(exchange.kind).toBe("not sent");
  expect(server.connections.map(({ received }) => received).join("")).toBe("");
  expect(await open(server).post(BODY, NEVER, () => 0)).toMatchObject({ kind: "not sent" });
  expect(server.connections.map(({ received }) => received).join("")).toBe("");
});

test("an answer before its last bytes is early", async () => {
  const server = await startRaw({
    onConnection: (socket) => {
      socket.pause();
      socket.write(ANSWER);
    },
  });
  expect(await open(server).post(LARGE, NEVER, () => LONG_MS)).toMatchObject({
    kind: "answer",
    early: true,
  });
});

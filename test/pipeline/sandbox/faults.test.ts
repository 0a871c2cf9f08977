/** What the sandbox does to a connection, seen by itself; what each fault does to a run: test/pipeline/send/answer.test.ts. */

import { connect } from "node:net";
import { describe, expect, test } from "vitest";
import { parseFaultScript } from "../../../src/sandbox/faults.ts";
import type { Sandbox } from "../../../src/sandbox/server.ts";
import type { RequestOptions } from "../../support/requests.ts";
import { call, newEvent, said, sold, start, stream } from "../../support/sandbox.ts";

const ITEMS = [newEvent(), sold("T1"), sold("T2"), sold("T3")];

const startWith = (...rules: readonly object[]) => start({ faults: parseFaultScript({ seed: 1, rules }, "test") });
const send = (sandbox: Sandbox, more?: RequestOptions) => stream(sandbox, ITEMS, more);

/** Writes a request as it stands and gives all that comes back before the sandbox closes the connection. */
function rawAnswer(sandbox: Sandbox, length: number, body: string): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const socket = connect(sandbox.port, "127.0.0.1");
  let received = "";
  socket.setEncoding("utf8");
  socket.on("data", (text) => {
    received += text;
  });
  socket.on("error", () => {}); // a reset is one of the ways to be closed on
  socket.on("close", () => resolve(received));
  const head = [`X-Api-Key: ${sandbox.apiKey}`, "Content-Type: application/json", `Content-Length: ${length}`];
  socket.write(`POST /stream HTTP/1.1\r\nHost: 127.0.0.1\r\n${head.join("\r\n")}\r\n\r\n${body}`);
  return promise;
}

const processed = (sandbox: Sandbox): number => Array.from(sandbox.engine.processed()).length;

test("a request that hangs holds until the client or the sandbox ends it", async () => {
  const sandbox = await startWith({ fault: "hang", processed: "all" });
  const held = expect(send(sandbox)).rejects.toMatchObject({ code: "ECONNRESET" });
  for (let tries = 0; tries < 100_000 && processed(sandbox) === 0; tries += 1) await new Promise(setImmediate);
  await sandbox[Symbol.asyncDispose]();
  await held;
});

test("an endless body goes on until the client leaves, or has an end where one is asked for", async () => {
  const endless = await startWith({ fault: "endless" });
  const { status, whole, text } = await send(endless, { stopAfterBytes: 5_000_000 });
  expect([status, whole, text.length >= 5_000_000, processed(endless)]).toEqual([200, false, true, 4]);
  const ended = await send(await startWith({ fault: "endless", mebibytes: 3 }));
  expect([ended.whole, ended.text.length > 3 * 1024 * 1024]).toEqual([true, true]);
});

test("a slow drip ends with the client", async () => {
  const sandbox = await startWith({ fault: "drip", bytes: 1, everyMs: 3_600_000 });
  const answer = await send(sandbox, { stopAfterBytes: 1 });
  expect([answer.text, answer.whole]).toEqual(["{", false]);
  await sandbox[Symbol.asyncDispose]();
});

test("413 comes before the body has been sent, and the connection is closed on the rest", async () => {
  const sandbox = await startWith({ fault: "too-large", on: { bytesOver: 1000 } });
  expect((await send(sandbox)).status).toBe(200);
  // Of the 5 MB announced only the beginning is ever written.
  const answer = await rawAnswer(sandbox, 5_000_000, "[");
  expect(answer).toMatch(/^HTTP\/1\.1 413 /);
  expect(answer).toMatch(/connection: close/i);
  expect(processed(sandbox)).toBe(4);
});

describe("the control endpoint", () => {
  const control = (sandbox: Sandbox, method: string, body?: unknown) => call(sandbox, method, "/control/faults", body);

  test("sets and clears faults; requests are counted from there", async () => {
    const sandbox = await startWith();
    await send(sandbox);
    const script = { seed: 3, rules: [{ fault: "status", status: 503, on: { request: 2 } }] };
    expect(said(await control(sandbox, "PUT", script))).toEqual({ requests: 0, script });
    const statuses = [];
    for (let n = 0; n < 3; n += 1) statuses.push((await send(sandbox)).status);
    expect(statuses).toEqual([200, 503, 200]);
    expect(said(await control(sandbox, "GET"))).toEqual({ requests: 3, script });
    await control(sandbox, "DELETE");
    expect(said(await control(sandbox, "GET"))).toEqual({ requests: 0, script: { rules: [] } });
  });

  test("says what is wrong with a script and keeps the old one", async () => {
    const sandbox = await startWith({ fault: "status", status: 503 });
    const refused = await control(sandbox, "PUT", { rules: [{ fault: "expolde" }] });
    expect([refused.status, said(refused).message]).toEqual([400, expect.stringContaining("rules[0].fault")]);
    expect((await send(sandbox)).status).toBe(503);
  });
});

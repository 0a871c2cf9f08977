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

describe("the answer's items", () => {
  const actionPromise = expect.any(String);
  const E = { status: "success", action: "newEvent", eventId: "E1", actionPromise };
  const ticket = (ticketId: string) => ({ ...E, action: "soldTicket", ticketId });
  const fine: readonly Record<string, unknown>[] = [E, ticket("T1"), ticket("T2"), ticket("T3")];
  const places = (at: readonly number[], other: object | null) =>
    fine.map((item, n) => (at.includes(n) ? other : item));

  /** The items of an answer, and how many have been processed. */
  async function itemsBy(rule: object) {
    const sandbox = await startWith(rule);
    const { data } = said(await send(sandbox));
    return { data: data as { actionPromise?: string }[], accepted: sandbox.engine.counts().accepted };
  }

  test.each<[object, readonly unknown[], number?]>([
    [{ fault: "count", by: -2 }, fine.slice(0, 2)],
    [{ fault: "count", by: 1 }, [...fine, fine[3]]],
    [{ fault: "failure-items", items: [3, 9] }, places([3], { status: "error" }), 3],
    [{ fault: "failure-items", items: { every: 2 }, body: null }, places([1, 3], null), 2],
    [{ fault: "changed", items: { probability: 1 }, body: 7 }, [7, 7, 7, 7]],
    [{ fault: "changed", items: [2], with: { status: "error" } }, places([2], { ...fine[2], status: "error" })],
    [
      { fault: "changed", items: [0], with: { success: false }, without: ["eventId"] },
      places([0], { status: "success", action: "newEvent", actionPromise, success: false }),
    ],
    [{ fault: "changed", top: { with: { error: "none of it" }, without: ["status"] } }, fine],
    [{ fault: "missing-promise", items: [2], empty: true }, places([2], { ...fine[2], actionPromise: "" })],
    [{ fault: "echo-mismatch", items: [3] }, places([3], { ...fine[3], ticketId: "T3-other" })],
    [{ fault: "echo-mismatch", items: [3], field: "action" }, places([3], { ...fine[3], action: "newEvent" })],
  ])("by %j", async (rule, expected, accepted = ITEMS.length) => {
    expect(await itemsBy(rule)).toEqual({ data: expected, accepted });
  });

  test("lose a promise, have their neighbour's, are touched at random, and are shuffled", async () => {
    const promises = async (rule: object) => (await itemsBy(rule)).data.map((item) => item?.actionPromise);
    expect(await promises({ fault: "missing-promise", items: [2] })).toEqual([
      ...Array(2).fill(actionPromise),
      undefined,
      actionPromise,
    ]);
    const [one, two, three, four] = await promises({ fault: "duplicate-promise", items: [0, 3] });
    expect([one, four]).toEqual([two, three]);
    const lost = async (items?: object) =>
      (await promises({ fault: "missing-promise", items })).filter((promise) => promise === undefined).length;
    expect([await lost(), await lost({ count: 3 })]).toEqual([1, 3]);
    const { data } = await itemsBy({ fault: "shuffle" });
    expect(data).not.toEqual(fine);
    expect(data).toEqual(expect.arrayContaining([...fine]));
  });
});

test("a status has whatever body and headers it is given, a redirect leads elsewhere", async () => {
  const page = "<h1>Bad gateway</h1>";
  const location = "http://127.0.0.1:1/stream";
  const sandbox = await startWith(
    { fault: "status", status: 403, body: { reason: "quota" }, times: 1 },
    { fault: "status", status: 502, body: page, headers: { "Content-Type": "text/html", Server: "x" }, times: 1 },
    { fault: "redirect", location },
  );
  expect(await send(sandbox)).toMatchObject({ status: 403, text: '{"reason":"quota"}' });
  const headers = { "content-type": "text/html", server: "x" };
  expect(await send(sandbox)).toMatchObject({ status: 502, text: page, headers });
  expect(await send(sandbox)).toMatchObject({ status: 307, headers: { location } });
});

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

test("a kept-alive connection ends without a word", async () => {
  const sandbox = await startWith({ fault: "close" });
  const body = JSON.stringify(ITEMS);
  const answer = await rawAnswer(sandbox, body.length, body);
  expect(answer).toMatch(/^HTTP\/1\.1 200 /);
  expect(answer).toMatch(/connection: keep-alive/i);
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

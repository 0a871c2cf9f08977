import { Agent } from "node:http";
import { connect } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { parseFaultScript } from "../../../src/sandbox/faults.ts";
import { type Sandbox, startSandbox } from "../../../src/sandbox/server.ts";
import { type Answer, type RequestOptions, send } from "../../support/requests.ts";

const ITEMS = [
  { action: "newEvent", data: { eventId: "E1", currency: "EUR" } },
  ...["T1", "T2", "T3"].map((ticketId) => ({
    action: "soldTicket",
    data: { eventId: "E1", ticketId, userId: "ann", price: "1" },
  })),
];

async function startWith(...rules: readonly object[]): Promise<Sandbox> {
  const sandbox = await startSandbox({
    engine: { path: ":memory:" },
    faults: parseFaultScript({ seed: 1, rules }, "test"),
  });
  onTestFinished(() => sandbox[Symbol.asyncDispose]());
  return sandbox;
}

function stream(sandbox: Sandbox, items: readonly unknown[] = ITEMS, more: RequestOptions = {}): Promise<Answer> {
  return send(`${sandbox.url}/stream`, {
    method: "POST",
    headers: { "X-Api-Key": sandbox.apiKey, "Content-Type": "application/json" },
    body: JSON.stringify(items),
    ...more,
  });
}

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
const dataOf = (answer: Answer): readonly Record<string, unknown>[] => JSON.parse(answer.text).data;

describe("a status", () => {
  test.each([
    [{ status: 500 }, 0],
    [{ status: 503, processed: "all" }, 4],
    [{ status: 400, processed: 2 }, 2],
    [{ status: 504, processed: 99 }, 4],
    [{ status: 401 }, 0],
    [{ status: 201 }, 4],
    [{ status: 202 }, 4],
    [{ status: 202, processed: "none" }, 0],
  ])("%j", async (fault, count) => {
    const sandbox = await startWith({ fault: "status", ...fault });
    const answer = await stream(sandbox);
    expect([answer.status, processed(sandbox)]).toEqual([fault.status, count]);
    if (fault.status < 300) expect(dataOf(answer)).toHaveLength(count);
    else expect(JSON.parse(answer.text)).toEqual({ message: expect.any(String) });
  });

  test("has whatever body and headers it is given", async () => {
    const sandbox = await startWith(
      { fault: "status", status: 403, body: { reason: "quota" }, times: 1 },
      {
        fault: "status",
        status: 502,
        body: "<h1>Bad gateway</h1>",
        headers: { "Content-Type": "text/html", Server: "x" },
      },
    );
    const first = await stream(sandbox);
    expect([first.status, first.text]).toEqual([403, '{"reason":"quota"}']);
    const second = await stream(sandbox);
    expect(second).toMatchObject({
      status: 502,
      text: "<h1>Bad gateway</h1>",
      headers: { "content-type": "text/html", server: "x" },
    });
  });

  test("429 says when to come again, in seconds or in any form of date, by its own clock", async () => {
    const rules = [7, { inSeconds: 60 }, { inSeconds: 60, form: "rfc850" }, { inSeconds: 60, form: "asctime" }].map(
      (retryAfter, at) => ({
        fault: "status",
        status: 429,
        retryAfter,
        clockSkewSeconds: -86_400,
        on: { request: at + 1 },
      }),
    );
    const sandbox = await startWith(...rules);
    const seen: string[] = [];
    for (const _ of rules) {
      const { headers } = await stream(sandbox);
      const after = headers["retry-after"] ?? "";
      const date = Date.parse(headers.date ?? "");
      // The asctime form names no zone; it is always UTC.
      seen.push(
        after.length < 4 ? after : String((Date.parse(/GMT$/.test(after) ? after : `${after} GMT`) - date) / 1000),
      );
      expect(Date.now() - date).toBeGreaterThan(86_000_000);
    }
    expect(seen).toEqual(["7", "60", "60", "60"]);
    expect(processed(sandbox)).toBe(0);
    expect((await stream(sandbox)).status).toBe(200);
  });
});

test("a redirect leads elsewhere", async () => {
  const sandbox = await startWith({ fault: "redirect", location: "http://127.0.0.1:1/stream" });
  expect(await stream(sandbox)).toMatchObject({ status: 307, headers: { location: "http://127.0.0.1:1/stream" } });
  expect(processed(sandbox)).toBe(0);
});

describe("a connection that ends without an answer", () => {
  test.each([
    [{ when: "at-headers" }, 0],
    [{ when: "before" }, 0],
    [{ when: "before", reset: true }, 0],
    [{ when: "after" }, 4],
    [{ when: "after", reset: true }, 4],
    [{ when: "after", processed: 3 }, 3],
  ])("%j", async (fault, count) => {
    const sandbox = await startWith({ fault: "drop", ...fault, times: 1 });
    await expect(stream(sandbox)).rejects.toMatchObject({ code: expect.stringMatching(/^(ECONNRESET|EPIPE)$/) });
    expect(processed(sandbox)).toBe(count);
    expect((await stream(sandbox)).status).toBe(200);
  });
});

test("a request that hangs holds until the client or the sandbox ends it", async () => {
  const sandbox = await startWith({ fault: "hang", processed: "all" });
  const held = expect(stream(sandbox)).rejects.toMatchObject({ code: "ECONNRESET" });
  for (let tries = 0; tries < 100_000 && processed(sandbox) === 0; tries += 1) await new Promise(setImmediate);
  await sandbox[Symbol.asyncDispose]();
  await held;
});

describe("a body that is cut", () => {
  test.each<[{ readonly framing?: string; readonly share?: number }, boolean]>([
    [{ framing: "length" }, false],
    [{ framing: "chunked" }, false],
    [{ framing: "clean" }, true],
    [{ share: 0, framing: "length" }, false],
    [{ share: 0.9 }, false],
  ])("%j", async (fault, whole) => {
    const sandbox = await startWith({ fault: "cut", ...fault });
    const answer = await stream(sandbox);
    expect([answer.status, answer.whole, processed(sandbox)]).toEqual([200, whole, 4]);
    expect(() => JSON.parse(answer.text)).toThrow();
    if (fault.share !== 0) expect(answer.text.startsWith('{"status":"success","data":[')).toBe(true);
  });
});

describe("items that do not fit", () => {
  const answerTo = async (fault: object) => {
    const sandbox = await startWith(fault);
    const items = dataOf(await stream(sandbox));
    return { items, sandbox };
  };
  const ids = (items: readonly Record<string, unknown>[]) => items.map(({ ticketId }) => ticketId);

  test("too few or too many", async () => {
    expect((await answerTo({ fault: "count", by: -1 })).items).toHaveLength(3);
    const { items, sandbox } = await answerTo({ fault: "count", by: 2 });
    expect(items).toHaveLength(6);
    expect(processed(sandbox)).toBe(4);
  });

  test("in another order", async () => {
    const { items } = await answerTo({ fault: "shuffle" });
    expect(ids(items)).not.toEqual([undefined, "T1", "T2", "T3"]);
    expect(ids(items).sort()).toEqual(["T1", "T2", "T3", undefined]);
  });

  test("bare failures, which are not processed, though what depends on them is refused", async () => {
    const { items, sandbox } = await answerTo({ fault: "failure-items", items: [0, 2] });
    expect([items[0], items[2]]).toEqual([{ status: "error" }, { status: "error" }]);
    expect(items[1]).toMatchObject({ status: "error", error: { code: "event_not_found" } });
    expect(sandbox.engine.counts()).toMatchObject({ events: 0, tickets: 0, accepted: 0 });
  });

  test("promises missing, empty or twice", async () => {
    expect((await answerTo({ fault: "missing-promise", items: [1] })).items[1]).not.toHaveProperty("actionPromise");
    expect((await answerTo({ fault: "missing-promise", items: [1], empty: true })).items[1]?.actionPromise).toBe("");
    const { items } = await answerTo({ fault: "duplicate-promise", items: [3] });
    expect(items[3]?.actionPromise).toBe(items[2]?.actionPromise);
  });

  test("echoes of something else", async () => {
    expect((await answerTo({ fault: "echo-mismatch", items: [1] })).items[1]?.ticketId).toBe("T1-other");
    expect((await answerTo({ fault: "echo-mismatch", items: [1], field: "action" })).items[1]?.action).toBe("newEvent");
  });

  test("extra keys", async () => {
    const { items } = await answerTo({ fault: "extra-keys" });
    expect(items[1]).toMatchObject({ status: "success", ticketId: "T1", details: { queued: true } });
  });
});

test("an endless body goes on until the client leaves", async () => {
  const sandbox = await startWith({ fault: "endless" });
  const answer = await stream(sandbox, ITEMS, { stopAfterBytes: 5_000_000 });
  expect([answer.status, answer.whole]).toEqual([200, false]);
  expect(answer.text.length).toBeGreaterThan(5_000_000 - 1);
  expect(processed(sandbox)).toBe(4);
});

test("an endless body has an end, where one is asked for", async () => {
  const sandbox = await startWith({ fault: "endless", mebibytes: 3 });
  const answer = await stream(sandbox);
  expect([answer.whole, answer.text.length > 3 * 1024 * 1024]).toEqual([true, true]);
});

test("a slow drip brings the ordinary answer byte by byte", async () => {
  const sandbox = await startWith({ fault: "drip", bytes: 40, everyMs: 1 });
  const answer = await stream(sandbox);
  expect([answer.whole, dataOf(answer).length]).toEqual([true, 4]);
});

test("a slow drip ends with the client", async () => {
  const sandbox = await startWith({ fault: "drip", bytes: 1, everyMs: 3_600_000 });
  const answer = await stream(sandbox, ITEMS, { stopAfterBytes: 1 });
  expect([answer.text, answer.whole]).toEqual(["{", false]);
  await sandbox[Symbol.asyncDispose]();
});

test("413 comes before the body has been sent, and the connection is closed on the rest", async () => {
  const sandbox = await startWith({ fault: "too-large", on: { bytesOver: 1000 } });
  expect((await stream(sandbox)).status).toBe(200);
  // Of the 5 MB announced only the beginning is ever written.
  const answer = await rawAnswer(sandbox, 5_000_000, "[");
  expect(answer).toMatch(/^HTTP\/1\.1 413 /);
  expect(answer).toMatch(/connection: close/i);
  expect(processed(sandbox)).toBe(4);
});

test("413 for more than so many items lets the halves through", async () => {
  const sandbox = await startWith({ fault: "status", status: 413, on: { itemsOver: 2 } });
  expect((await stream(sandbox)).status).toBe(413);
  expect((await stream(sandbox, ITEMS.slice(0, 2))).status).toBe(200);
  expect((await stream(sandbox, ITEMS.slice(2))).status).toBe(200);
});

test("what is not JSON", async () => {
  const sandbox = await startWith({ fault: "not-json" });
  const answer = await stream(sandbox);
  expect([answer.status, answer.headers["content-type"], processed(sandbox)]).toEqual([200, "text/html", 4]);
});

describe("a kept-alive connection", () => {
  async function two(sandbox: Sandbox): Promise<boolean> {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    onTestFinished(() => agent.destroy());
    const ports: unknown[] = [];
    agent.on("free", (socket: { readonly localPort?: number }) => ports.push(socket.localPort));
    await stream(sandbox, ITEMS.slice(0, 1), { agent });
    await stream(sandbox, ITEMS.slice(1, 2), { agent });
    return new Set(ports).size < 2 && ports.length === 2;
  }

  test("is used again", async () => {
    expect(await two(await startWith())).toBe(true);
  });

  test("is not when its end was announced", async () => {
    expect(await two(await startWith({ fault: "close", announce: true }))).toBe(false);
  });

  test("ends without a word", async () => {
    const sandbox = await startWith({ fault: "close" });
    const body = JSON.stringify(ITEMS);
    const answer = await rawAnswer(sandbox, body.length, body);
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
    expect(answer).toMatch(/connection: keep-alive/i);
  });
});

describe("the control endpoint", () => {
  const control = (sandbox: Sandbox, method: string, body?: unknown) =>
    send(`${sandbox.url}/control/faults`, {
      method,
      headers: { "X-Api-Key": sandbox.apiKey, "Content-Type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });

  test("sets and clears faults; requests are counted from there", async () => {
    const sandbox = await startWith();
    await stream(sandbox);
    const script = { seed: 3, rules: [{ fault: "status", status: 503, on: { request: 2 } }] };
    expect(JSON.parse((await control(sandbox, "PUT", script)).text)).toEqual({ requests: 0, script });
    const statuses = [];
    for (let n = 0; n < 3; n += 1) statuses.push((await stream(sandbox)).status);
    expect(statuses).toEqual([200, 503, 200]);
    expect(JSON.parse((await control(sandbox, "GET")).text)).toEqual({ requests: 3, script });
    await control(sandbox, "DELETE");
    expect(JSON.parse((await control(sandbox, "GET")).text)).toEqual({ requests: 0, script: { rules: [] } });
  });

  test("says what is wrong with a script and keeps the old one", async () => {
    const sandbox = await startWith({ fault: "status", status: 503 });
    const refused = await control(sandbox, "PUT", { rules: [{ fault: "expolde" }] });
    expect([refused.status, JSON.parse(refused.text).message]).toEqual([
      400,
      expect.stringContaining("rules[0].fault"),
    ]);
    expect((await stream(sandbox)).status).toBe(503);
  });
});

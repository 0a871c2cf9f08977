import { createHash } from "node:crypto";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { parseJson, stringifyJson } from "../../../src/actions/json.ts";
import { type Engine, openEngine } from "../../../src/sandbox/engine.ts";
import { type Sandbox, type SandboxOptions, startSandbox } from "../../../src/sandbox/server.ts";
import { type Answer, type RequestOptions, send } from "../../support/requests.ts";

const FIXTURES = new URL("../../../fixtures/service/", import.meta.url);
const fixture = (path: string): string => readFileSync(new URL(path, FIXTURES), "utf8");

async function start(options: Partial<SandboxOptions> = {}): Promise<Sandbox> {
  const sandbox = await startSandbox({ engine: { path: ":memory:" }, ...options });
  onTestFinished(() => sandbox[Symbol.asyncDispose]());
  return sandbox;
}

const JSON_TYPE = { "Content-Type": "application/json" };

function call(
  sandbox: Sandbox,
  method: string,
  path: string,
  body?: unknown,
  more: RequestOptions = {},
): Promise<Answer> {
  return send(sandbox.url + path, {
    method,
    ...more,
    headers: { "X-Api-Key": sandbox.apiKey, ...JSON_TYPE, ...more.headers },
    ...(body !== undefined && { body: typeof body === "string" || Buffer.isBuffer(body) ? body : stringifyJson(body) }),
  });
}

const stream = (sandbox: Sandbox, body: unknown, more: RequestOptions = {}) =>
  call(sandbox, "POST", "/stream", body, more);
const newEvent = (data: object = {}) => ({ action: "newEvent", data: { eventId: "E1", currency: "EUR", ...data } });
const sold = (ticketId: string) => ({
  action: "soldTicket",
  data: { eventId: "E1", ticketId, userId: "ann", price: "1" },
});

describe("the literal bodies of fixtures/service", () => {
  interface Entry {
    readonly file: string;
    readonly nftIdOf?: string;
    readonly after?: {
      readonly events?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
      readonly tickets?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
    };
  }

  /** A ticket or event in the words of the fixtures. */
  function shown(engine: Engine, kind: "events" | "tickets", id: string): Record<string, unknown> {
    if (kind === "events") return { ...engine.event(id)?.fields };
    const ticket = engine.ticket({ ticketId: id });
    const { imageUrl, mediaUrl } = ticket?.fields ?? {};
    return { ...ticket?.fields, ticketIdSha256: ticket?.onChain.ticketId, imageShown: imageUrl, mediaShown: mediaUrl };
  }

  const withoutPromises = (body: string): unknown =>
    JSON.parse(body.replaceAll(/"actionPromise":\s*"[0-9a-f-]{36}"/g, '"actionPromise": "promise"'));

  test("are accepted in their order, answered as written down, and leave the state they name", async () => {
    const sandbox = await start();
    const entries = parseJson(fixture("requests/index.json")) as readonly Entry[]; // fixtures/service/README.md
    expect(entries.length).toBeGreaterThan(20);
    for (const { file, nftIdOf, after = {} } of entries) {
      const nftId = nftIdOf === undefined ? "" : (sandbox.engine.ticket({ ticketId: nftIdOf })?.nftId ?? "");
      const own = (body: string) => (nftIdOf === undefined ? body : body.replaceAll(/SANDBOX-\d+-\d+/g, nftId));
      const answer = await stream(sandbox, own(fixture(`requests/${file}`)));
      expect(answer, file).toMatchObject({ status: 200, headers: { "content-type": "application/json" } });
      expect(withoutPromises(answer.text), file).toEqual(withoutPromises(own(fixture(`responses/accepted/${file}`))));
      for (const kind of ["events", "tickets"] as const)
        for (const [id, fields] of Object.entries(after[kind] ?? {}))
          expect(shown(sandbox.engine, kind, id), `${file} ${id}`).toMatchObject(fields);
    }
  });

  const invalid = JSON.parse(fixture("invalid/index.json")) as readonly { file: string; rule: string; item: number }[]; // fixtures/service/README.md

  test.each(invalid)("$file is refused for $rule", async ({ file, rule, item }) => {
    const sandbox = await start();
    const answer = await stream(sandbox, fixture(`invalid/${file}`));
    const body = JSON.parse(answer.text);
    if (rule === "json-duplicate-key") expect({ status: answer.status, ...body }).toMatchObject({ status: 400, rule });
    else if (rule === "uuid-invalid") {
      // Which actions take the field is not shown, so another rule is broken first.
      await using lax = await startSandbox({ engine: { path: ":memory:", accept: ["metadata-template-id"] } });
      const again = JSON.parse((await stream(lax, fixture(`invalid/${file}`))).text);
      expect(again.data[item].error.rule).toBe(rule);
    } else expect(body.data[item].error.rule).toBe(rule);
    expect(sandbox.engine.counts().accepted).toBe(
      rule === "json-duplicate-key"
        ? 0
        : body.data.filter((each: { status: string }) => each.status === "success").length,
    );
  });

  test("cover every file of the folder", () => {
    const files = (folder: string) =>
      readdirSync(new URL(`${folder}/`, FIXTURES)).filter((name) => name !== "index.json");
    expect(files("invalid").sort()).toEqual(invalid.map(({ file }) => file).sort());
  });
});

describe("a request", () => {
  test("without the right key is answered 403 Forbidden, whatever it is, and processes nothing", async () => {
    const sandbox = await start({ apiKey: "right" });
    const forbidden = JSON.parse(fixture("responses/other/forbidden.json"));
    for (const key of ["", "wrong", "RIGHT", "rightright"]) {
      for (const [method, path] of [
        ["POST", "/stream"],
        ["GET", "/actions/x"],
        ["GET", "/control/processed"],
        ["PUT", "/control/faults"],
        ["DELETE", "/stream"],
      ] as const) {
        const answer = await call(sandbox, method, path, method === "GET" ? undefined : [newEvent()], {
          headers: { "X-Api-Key": key },
        });
        expect([answer.status, JSON.parse(answer.text)]).toEqual([403, forbidden]);
      }
    }
    const bare = await send(`${sandbox.url}/stream`, { method: "POST", headers: JSON_TYPE, body: "[]" });
    expect([bare.status, JSON.parse(bare.text)]).toEqual([403, forbidden]);
    expect(sandbox.engine.counts().requests).toBe(0);
  });

  test("of 5000 actions is processed, of 5001 refused whole", async () => {
    const sandbox = await start();
    const items = [newEvent(), ...Array.from({ length: 5000 }, (_, at) => sold(`T${at}`))];
    const refused = await stream(sandbox, items);
    expect(refused.status).toBe(400);
    expect(JSON.parse(refused.text).message).toMatch(/5000.*5001/);
    expect(sandbox.engine.counts().requests).toBe(0);
    const answer = await stream(sandbox, items.slice(0, 5000));
    const { status, data } = JSON.parse(answer.text);
    expect([status, data.length]).toEqual(["success", 5000]);
    expect(data.map((item: { ticketId?: string }) => item.ticketId)).toEqual([
      undefined,
      ...Array.from({ length: 4999 }, (_, at) => `T${at}`),
    ]);
    expect(new Set(data.map((item: { actionPromise: string }) => item.actionPromise)).size).toBe(5000);
  });

  test.each([
    ["another content type", 415, "[]", { "Content-Type": "text/plain" }],
    ["not JSON", 400, "[", {}],
    ["empty", 400, "", {}],
    ["not UTF-8", 400, Buffer.from([0x5b, 0x22, 0xff, 0x22, 0x5d]), {}],
    ["with a byte order mark", 400, "\ufeff[]", {}],
    ["not a list", 400, "{}", {}],
    ["null", 400, "null", {}],
    ["too long", 413, `[${" ".repeat(2000)}]`, {}],
    ["an empty list", 200, "[]", {}],
    ["with a charset", 200, "[]", { "Content-Type": "application/json; charset=utf-8" }],
  ])("%s: %i", async (_name, status, body, headers) => {
    const sandbox = await start({ maxBodyBytes: 1000 });
    const answer = await stream(sandbox, body, { headers });
    expect([answer.status, answer.whole]).toEqual([status, true]);
    if (status !== 200) expect(JSON.parse(answer.text)).toHaveProperty("message");
  });

  test("that come at once are processed in different turns, so that others are answered between them", async () => {
    const engine = openEngine({ path: ":memory:" });
    onTestFinished(() => engine.close());
    const order: string[] = [];
    const watched: Engine = {
      ...engine,
      process(items, options) {
        order.push("processed");
        setImmediate(() => order.push("turn"));
        return engine.process(items, options);
      },
    };
    const sandbox = await start({ engine: watched });
    const head = (line: string): string => `${line} HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Api-Key: ${sandbox.apiKey}\r\n`;
    const sockets = await Promise.all(
      ["E1", "E2", "E3", "E4"].map(async (eventId) => {
        const socket = connect(sandbox.port, "127.0.0.1", () => socket.write(`${head("GET /control/state")}\r\n`));
        onTestFinished(() => void socket.destroy());
        await once(socket, "data");
        return { socket, body: stringifyJson([newEvent({ eventId })]) };
      }),
    );
    // Over connections that are open, all are there by the time the sandbox looks.
    for (const { socket, body } of sockets)
      socket.write(
        `${head("POST /stream")}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      );
    const answers = await Promise.all(sockets.map(({ socket }) => once(socket, "data")));
    for (const [answer] of answers) expect(String(answer)).toMatch(/^HTTP\/1\.1 200 /);
    expect(order.slice(0, 7)).toEqual(
      Array.from({ length: 4 }, () => ["processed", "turn"])
        .flat()
        .slice(0, 7),
    );
  });

  test("to elsewhere is 404, with another method 405", async () => {
    const sandbox = await start();
    expect((await call(sandbox, "GET", "/nowhere")).status).toBe(404);
    expect((await call(sandbox, "GET", "/control")).status).toBe(404);
    const wrong = await call(sandbox, "GET", "/stream");
    expect([wrong.status, wrong.headers.allow]).toEqual([405, "POST"]);
  });

  test("keeps large integers to the last digit", async () => {
    const sandbox = await start();
    const data = '{"eventId":"E1","currency":"EUR","startTime":9007199254740993,"endTime":18446744073709551615}';
    await stream(sandbox, `[{"action":"newEvent","data":${data}}]`);
    const state = await call(sandbox, "GET", "/control/state?eventId=E1");
    expect(state.text).toContain('"startTime":9007199254740993,"endTime":18446744073709551615');
    expect(Array.from(sandbox.engine.processed())[0]?.data).toBe(data);
  });

  test("is answered 500 when the state fails, and the failure is told", async () => {
    const errors: unknown[] = [];
    const sandbox = await start({ onError: (error) => errors.push(error) });
    sandbox.engine.close();
    const answer = await stream(sandbox, [newEvent()]);
    expect([answer.status, answer.text]).toEqual([500, '{"message":"Internal Server Error"}']);
    expect(errors).toHaveLength(1);
  });
});

describe("who may ask", () => {
  test.each([
    ["a foreign name of this machine", { Host: "evil.example" }, 421],
    ["a name that only begins like one", { Host: "127.0.0.1.evil.example" }, 421],
    ["another site's page", { Origin: "https://evil.example" }, 403],
    ["a page of another port", { Origin: "http://127.0.0.1:1" }, 403],
    ["a sandboxed page", { Origin: "null" }, 403],
    ["another site without Origin", { "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors" }, 403],
    ["localhost", { Host: "localhost" }, 200],
    ["the IPv6 loopback", { Host: "[::1]:4010" }, 200],
  ])("%s", async (_name, headers, status) => {
    const sandbox = await start();
    for (const path of ["/", "/page.js", "/control/state", "/control/processed"])
      expect((await call(sandbox, "GET", path, undefined, { headers: headers as Record<string, string> })).status).toBe(
        status,
      ); // one or two headers each
  });
});

describe("the page", () => {
  const look = (sandbox: Sandbox, path: string, headers: Record<string, string> = tokenOf(sandbox)) =>
    send(`${sandbox.url}/control/${path}`, { headers });
  const tokenOf = ({ pageUrl }: Sandbox) => ({ "X-Page-Token": pageUrl.slice(pageUrl.indexOf("#") + 1) });
  const looked = async (sandbox: Sandbox, path: string): Promise<Record<string, unknown>> => {
    const answer = await look(sandbox, path);
    expect(answer.status, path).toBe(200);
    return parseJson(answer.text) as Record<string, unknown>; // the sandbox answers in objects
  };

  test("is three files without any data, under a policy that allows nothing else", async () => {
    const sandbox = await start();
    await stream(sandbox, [newEvent({ eventName: "Wave" }), sold("T1")]);
    for (const [path, type] of [
      ["/", "text/html"],
      ["/page.css", "text/css"],
      ["/page.js", "text/javascript"],
    ] as const) {
      const { status, headers, text } = await send(sandbox.url + path);
      expect([status, headers["content-type"]]).toEqual([200, `${type}; charset=utf-8`]);
      const policy = headers["content-security-policy"];
      expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'");
      expect(policy).toContain("require-trusted-types-for 'script'; trusted-types 'none'");
      expect(policy).not.toContain("unsafe");
      expect(text).not.toMatch(/T1|ann|Wave/);
      expect(text).not.toMatch(/innerHTML|insertAdjacentHTML|<script>|style=|https?:\/\//);
    }
  });

  test("is let in by the token of its link, which sends nothing; others are not", async () => {
    const [sandbox, other] = [await start(), await start()];
    expect(sandbox.pageUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#[\w-]{32}$/);
    expect((await look(sandbox, "actions")).status).toBe(200);
    expect((await look(sandbox, "actions", { "X-Api-Key": sandbox.apiKey })).status).toBe(200);
    for (const headers of [{}, tokenOf(other), { "X-Page-Token": sandbox.apiKey }, { "X-Page-Token": "" }])
      for (const path of ["actions", "changes", "state", "faults"])
        expect((await look(sandbox, path, headers as Record<string, string>)).status).toBe(403); // one header each
    const sent = await send(`${sandbox.url}/stream`, {
      ...{ method: "POST", body: "[]", headers: { ...JSON_TYPE, ...tokenOf(sandbox) } },
    });
    expect(sent.status).toBe(403);
  });

  test("gets what was processed page by page, the newest first", async () => {
    const sandbox = await start();
    await stream(sandbox, [newEvent(), ...Array.from({ length: 120 }, (_, at) => sold(`T${at + 1}`))]);
    const first = (await looked(sandbox, "actions")) as { actions: { seq: number; data?: string }[]; hasMore: boolean };
    expect([first.actions.length, first.actions[0]?.seq, first.hasMore]).toEqual([50, 121, true]);
    expect(first.actions[0]).toMatchObject({ ticketId: "T120", promiseStatus: expect.any(String) });
    expect(first.actions[0]).not.toHaveProperty("data");
    const last = (await looked(sandbox, "actions?before=22")) as { actions: unknown[]; hasMore: boolean };
    expect([last.actions.length, last.hasMore]).toEqual([21, false]);
    expect(await looked(sandbox, "actions?before=x")).toMatchObject({ hasMore: true });
  });

  test("gets requests with their items", async () => {
    const sandbox = await start();
    await stream(sandbox, [newEvent(), sold("T1")]);
    await stream(
      sandbox,
      Array.from({ length: 60 }, (_, at) => sold(`U${at}`)),
    );
    const { requests } = await looked(sandbox, "requests");
    expect(requests).toMatchObject([
      { request: 2, seq: 3, items: 60, lastAction: "soldTicket" },
      { request: 1, seq: 1, items: 2 },
    ]);
    expect(await looked(sandbox, "requests?before=3")).toMatchObject({ requests: [{ request: 1 }], hasMore: false });
    const one = (await looked(sandbox, "request?seq=1")) as { items: { data: string }[]; hasMore: boolean };
    expect(one.items.map(({ data }) => JSON.parse(data).ticketId)).toEqual([undefined, "T1"]);
    const rest = (await looked(sandbox, "request?seq=3&from=50")) as { items: { item: number }[]; hasMore: boolean };
    expect(rest.items.map(({ item }) => item)).toEqual([50, 51, 52, 53, 54, 55, 56, 57, 58, 59]);
    expect(await looked(sandbox, "request?seq=2")).toEqual({ items: [], hasMore: false });
  });

  test("gets a ticket's history by whichever id its actions named it, with holder and what is on-chain", async () => {
    const sandbox = await start();
    const on = (action: string, data: object) => ({ action, data });
    await stream(sandbox, [
      ...[newEvent(), sold("T1"), sold("T2"), sold("T1")],
      on("resoldTicket", { nftId: "SANDBOX-1-1", userId: "bob", price: "2" }),
      on("scannedTicket", { ticketId: "T2" }),
      on("checkedInTicket", { ticketId: "T1" }),
    ]);
    const byId = await looked(sandbox, "ticket?id=T1");
    expect(byId).toMatchObject({
      view: { nftId: "SANDBOX-1-1", state: "checked-in", fields: { userId: "bob" }, onChain: { price: "2" } },
      actions: [{ seq: 7 }, { seq: 5, data: expect.stringContaining("bob") }, { seq: 4, status: "error" }, { seq: 2 }],
      hasMore: false,
    });
    expect(await looked(sandbox, "ticket?nftId=SANDBOX-1-1")).toEqual(byId);
    expect(await looked(sandbox, "ticket?id=T1&before=5")).toMatchObject({ actions: [{ seq: 4 }, { seq: 2 }] });
    expect(await looked(sandbox, "event?id=E1")).toMatchObject({ view: { tickets: 2 }, actions: [{ seq: 1 }] });
    expect((await look(sandbox, "ticket?id=T9")).status).toBe(404);
    expect((await look(sandbox, "event?id=E9")).status).toBe(404);
  });

  test("cuts what is very long, and says so", async () => {
    const sandbox = await start();
    await stream(sandbox, [{ action: "newEvent", data: { eventId: "E1", currency: "EUR", junk: "x".repeat(30_000) } }]);
    const { items } = await looked(sandbox, "request?seq=1");
    expect(items).toMatchObject([{ isCut: true, data: expect.stringMatching(/^.{20000}$/) }]);
  });

  test("finds by ticket, event, nftId and promise, and by how ids begin", async () => {
    const sandbox = await start();
    await stream(sandbox, [newEvent(), ...Array.from({ length: 12 }, (_, at) => sold(`T${at}`))]);
    const [first] = sandbox.engine.processed();
    expect(await looked(sandbox, "search?id=T1")).toMatchObject({
      ticketId: "T1",
      eventId: null,
      tickets: ["T1", "T10", "T11"],
    });
    expect(await looked(sandbox, "search?id=E1")).toMatchObject({ ticketId: null, eventId: "E1", events: ["E1"] });
    expect(await looked(sandbox, "search?id=SANDBOX-1-1")).toMatchObject({ ticketId: "T0" });
    expect(await looked(sandbox, `search?id=${first?.actionPromise}`)).toMatchObject({
      promise: { seq: 1, action: "newEvent", actionPromise: first?.actionPromise },
    });
    const { tickets } = await looked(sandbox, "search?id=T");
    expect(tickets).toHaveLength(8);
    expect(await looked(sandbox, "search?id=t")).toMatchObject({ ticketId: null, tickets: [] });
  });

  test("hears of what changes, also by others who have the state open", async () => {
    const sandbox = await start();
    const end = new AbortController();
    const answer = await fetch(`${sandbox.url}/control/changes`, { headers: tokenOf(sandbox), signal: end.signal });
    expect(answer.headers.get("content-type")).toBe("text/event-stream");
    const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
    const next = async () => JSON.parse((await reader?.read())?.value?.replace(/^data: /, "") ?? "{}");
    expect(await next()).toMatchObject({ requests: 0, accepted: 0, faults: 0, instanceId: sandbox.instanceId });
    sandbox.engine.process([newEvent(), sold("T1"), sold("T1")]);
    expect(await next()).toMatchObject({ requests: 1, accepted: 2, refused: 1, events: 1, tickets: 1 });
    expect(sandbox.engine.counts()).toMatchObject({ requests: 1, accepted: 2, refused: 1, events: 1, tickets: 1 });
    end.abort();
  });
});

describe("control", () => {
  test("dumps what was processed, line by line", { tags: ["long"] }, async () => {
    const sandbox = await start();
    await stream(sandbox, [newEvent(), ...Array.from({ length: 2500 }, (_, at) => sold(`T${at}`)), sold("T0")]);
    const dump = await call(sandbox, "GET", "/control/processed");
    const lines = dump.text
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines).toEqual(Array.from(sandbox.engine.processed(), (action) => ({ ...action })));
    expect(lines.at(-1)).toMatchObject({ seq: 2502, request: 1, item: 2501, status: "error", code: "ticket_exists" });
    expect((await call(sandbox, "GET", "/control/processed?after=2501")).text.trimEnd().split("\n")).toHaveLength(1);
    expect((await call(sandbox, "GET", "/control/processed?after=2502")).text).toBe("");
    expect((await call(sandbox, "GET", "/control/processed?after=x")).status).toBe(400);
  });

  test("shows counts, events and tickets", async () => {
    const sandbox = await start();
    await stream(sandbox, [newEvent(), sold("T/1 ä")]);
    const get = async (path: string) => JSON.parse((await call(sandbox, "GET", path)).text);
    expect(await get("/control/state")).toMatchObject({
      instanceId: sandbox.instanceId,
      accepted: 2,
      events: 1,
      tickets: 1,
    });
    expect(await get(`/control/state?ticketId=${encodeURIComponent("T/1 ä")}`)).toMatchObject({
      nftId: "SANDBOX-1-1",
      onChain: { ticketId: createHash("sha256").update("T/1 ä").digest("hex") },
    });
    expect(await get("/control/state?nftId=SANDBOX-1-1")).toMatchObject({ ticketId: "T/1 ä" });
    expect(await get("/control/state?eventId=E9")).toEqual({ message: "Not Found" });
  });

  test("sets a promise's status, which the status endpoint gives", async () => {
    const sandbox = await start();
    const { actionPromise } = JSON.parse((await stream(sandbox, [newEvent()])).text).data[0];
    const status = async (of = actionPromise) => JSON.parse((await call(sandbox, "GET", `/actions/${of}`)).text);
    expect(await status()).toEqual({
      actionPromise,
      action: "newEvent",
      eventId: "E1",
      status: expect.stringMatching(/^(waiting_broadcast|pending)$/),
    });
    expect((await call(sandbox, "PUT", "/control/status", { actionPromise, status: "error" })).status).toBe(200);
    expect(await status()).toMatchObject({ status: "error" });
    expect((await call(sandbox, "PUT", "/control/status", { actionPromise, status: "fine" })).status).toBe(400);
    expect((await call(sandbox, "PUT", "/control/status", { actionPromise: "x", status: "error" })).status).toBe(404);
    expect(await status("x")).toEqual({ message: "Not Found" });
  });

  test("takes metadata templates", async () => {
    const sandbox = await start({ engine: { path: ":memory:", accept: ["metadata-template-id"] } });
    const id = "5b2c3d4e-0000-4000-8000-000000000001";
    const list = [{ trait_type: "Hall", value: "North" }];
    expect((await call(sandbox, "PUT", `/control/templates/${id}`, list)).status).toBe(200);
    expect((await call(sandbox, "PUT", "/control/templates/x", list)).status).toBe(400);
    expect((await call(sandbox, "PUT", `/control/templates/${id}`, [{ trait: 1 }])).status).toBe(400);
    await stream(sandbox, [newEvent({ metadataTemplateId: id }), sold("T1")]);
    expect(sandbox.engine.ticket({ ticketId: "T1" })?.fields.metadataAttributes).toEqual(list);
  });
});

describe("callbacks", () => {
  /** A receiver that answers with the given statuses, then 200. */
  async function receiver(...statuses: readonly number[]) {
    const received: { readonly headers: IncomingMessage["headers"]; readonly body: unknown }[] = [];
    const server = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      received.push({ headers: request.headers, body: JSON.parse(Buffer.concat(chunks).toString()) });
      response.writeHead(statuses[received.length - 1] ?? 200, { Location: "http://127.0.0.1:1/" }).end();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    });
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, received }; // it listens on TCP
  }

  test("carry ids only, for accepted actions of events that ask for them", async () => {
    const { url, received } = await receiver();
    const sandbox = await start();
    const quiet = { action: "newEvent", data: { eventId: "E2", currency: "EUR" } };
    const answer = await stream(sandbox, [newEvent({ callbackUrl: url }), quiet, sold("T1"), sold("T1")]);
    await sandbox.callbacksDone();
    const { data } = JSON.parse(answer.text);
    const byAction = (a: { action: string }, b: { action: string }) => (a.action < b.action ? -1 : 1);
    expect(received.map(({ body }) => body as { action: string }).sort(byAction)).toEqual([
      { actionPromise: data[0].actionPromise, action: "newEvent", eventId: "E1" },
      { actionPromise: data[2].actionPromise, action: "soldTicket", eventId: "E1", ticketId: "T1" },
    ]);
    expect(received[0]?.headers).not.toHaveProperty("x-api-key");
    expect(sandbox.callbacks()).toEqual({ delivered: 2, failed: 0, dropped: 0 });
  });

  test("are tried again up to five times, and redirects are not followed", async () => {
    const { url, received } = await receiver(500, 204, 307, 404);
    const sandbox = await start({ callbackWaitMs: 1 });
    await stream(sandbox, [newEvent({ callbackUrl: url })]);
    await sandbox.callbacksDone();
    expect(received).toHaveLength(5);
    expect(sandbox.callbacks()).toEqual({ delivered: 1, failed: 0, dropped: 0 });
  });

  test("are given up after the sixth try", async () => {
    const { url, received } = await receiver(...Array(6).fill(500));
    const sandbox = await start({ callbackWaitMs: 1 });
    await stream(sandbox, [newEvent({ callbackUrl: url })]);
    await sandbox.callbacksDone();
    expect(received).toHaveLength(6);
    expect(sandbox.callbacks()).toEqual({ delivered: 0, failed: 1, dropped: 0 });
  });

  test.each([
    "https://hooks.example.com/",
    "http://10.0.0.1/",
    "http://127.0.0.1.example.com/",
    "http://user@example.com/",
    "http://[::2]/",
  ])("never leave this machine: %s", async (callbackUrl) => {
    const sandbox = await start();
    await stream(sandbox, [newEvent({ callbackUrl })]);
    await sandbox.callbacksDone();
    expect(sandbox.callbacks()).toEqual({ delivered: 0, failed: 0, dropped: 1 });
  });

  test.each([
    ["refuses", 1, []],
    ["hangs", 0, []],
    ["answers 500 for ever", 0, Array(10_000).fill(500)],
  ] as const)("of an address that %s don't delay those of others", async (_name, port, statuses) => {
    const silent = createServer((_request, response) => {
      if (statuses.length > 0) response.writeHead(500).end();
    });
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => {
      silent.closeAllConnections();
      return new Promise((resolve) => silent.close(() => resolve()));
    });
    const dead = `http://127.0.0.1:${port === 0 ? (silent.address() as AddressInfo).port : port}/`; // it listens on TCP
    const { url, received } = await receiver();
    const sandbox = await start({ callbackWaitMs: 3_600_000 });
    const events = [
      newEvent({ callbackUrl: dead }),
      { action: "newEvent", data: { eventId: "E2", currency: "EUR", callbackUrl: url } },
    ];
    const deadSales = Array.from({ length: 20 }, (_, at) => sold(`D${at}`));
    const sales = Array.from({ length: 20 }, (_, at) => ({
      ...sold(`T${at}`),
      data: { ...sold(`T${at}`).data, eventId: "E2" },
    }));
    await stream(sandbox, [...events, ...deadSales, ...sales]);
    await vi.waitUntil(() => received.length === 21, { interval: 1, timeout: 20_000 });
    await vi.waitUntil(() => sandbox.callbacks().delivered === 21, { interval: 1 });
    expect(sandbox.callbacks()).toEqual({ delivered: 21, failed: 0, dropped: 0 });
  });

  test("that wait are dropped at the end, which does not wait for them", async () => {
    const { url } = await receiver(...Array(6).fill(500));
    const sandbox = await startSandbox({ engine: { path: ":memory:" }, callbackWaitMs: 3_600_000 });
    await stream(sandbox, [newEvent({ callbackUrl: url }), ...Array.from({ length: 50 }, (_, at) => sold(`T${at}`))]);
    await sandbox[Symbol.asyncDispose]();
    const { delivered, failed, dropped } = sandbox.callbacks();
    expect([delivered, failed + dropped]).toEqual([0, 51]);
  });
});

describe("start and end", () => {
  test("a taken port is a usage failure", async () => {
    const { port } = await start();
    await expect(start({ port })).rejects.toMatchObject({
      code: "usage",
      message: expect.stringContaining(String(port)),
    });
  });

  test.each([-1, 65_536, 1.5])("%d is no port", async (port) => {
    await expect(start({ port })).rejects.toMatchObject({ code: "usage" });
  });

  test("an engine of the caller stays open, one of its own is closed", async () => {
    using engine = openEngine({ path: ":memory:" });
    const borrowed = await startSandbox({ engine });
    await borrowed[Symbol.asyncDispose]();
    expect(engine.counts().requests).toBe(0);
    const owned = await startSandbox({ engine: { path: ":memory:" } });
    await owned[Symbol.asyncDispose]();
    expect(() => owned.engine.counts()).toThrow();
  });

  test("a signal ends it, with requests that are being held", async () => {
    const stop = new AbortController();
    const sandbox = await start({ signal: stop.signal, faults: { rules: [{ fault: "latency", ms: 3_600_000 }] } });
    const held = expect(stream(sandbox, [newEvent()])).rejects.toMatchObject({ code: "ECONNRESET" });
    // The request is counted once it is there; only then is there something to end.
    for (
      let tries = 0;
      tries < 1000 && JSON.parse((await call(sandbox, "GET", "/control/faults")).text).requests === 0;
      tries += 1
    );
    stop.abort();
    await held;
    await sandbox[Symbol.asyncDispose]();
  });
});

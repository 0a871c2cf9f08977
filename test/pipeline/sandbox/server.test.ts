import { readdirSync, readFileSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { networkInterfaces } from "node:os";
import { json } from "node:stream/consumers";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { parseJson } from "../../../src/actions/json.ts";
import type { Engine } from "../../../src/sandbox/engine.ts";
import { parseFaultScript } from "../../../src/sandbox/faults.ts";
import type { Sandbox } from "../../../src/sandbox/server.ts";
import { send } from "../../support/requests.ts";
import { call, JSON_TYPE, newEvent, said, sales, sold, start, stream } from "../../support/sandbox.ts";
import { LONG } from "../../support/walks.ts";

const FIXTURES = new URL("../../../fixtures/service/", import.meta.url);
const fixture = (path: string): string => readFileSync(new URL(path, FIXTURES), "utf8");

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
    // Which actions take a template is not shown, so another rule is broken before that of its form.
    const accept = rule === "uuid-invalid" ? ["metadata-template-id"] : [];
    const sandbox = await start({ engine: { path: ":memory:", accept } });
    const answer = await stream(sandbox, fixture(`invalid/${file}`));
    const { data = [], ...body } = said(answer);
    const isWhole = rule === "json-duplicate-key";
    expect([answer.status, isWhole ? body.rule : data[item].error.rule]).toEqual([isWhole ? 400 : 200, rule]);
    const accepted = data.filter((each: { status: string }) => each.status === "success");
    expect(sandbox.engine.counts().accepted).toBe(accepted.length);
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
    for (const key of ["", "wrong", "RIGHT", "rightright"])
      for (const [method, path] of [
        ["POST", "/stream"],
        ["GET", "/actions/x"],
        ["GET", "/control/processed"],
        ["PUT", "/control/faults"],
        ["DELETE", "/stream"],
      ] as const) {
        const body = method === "GET" ? undefined : [newEvent()];
        const answer = await call(sandbox, method, path, body, { headers: { "X-Api-Key": key } });
        expect([answer.status, said(answer)]).toEqual([403, forbidden]);
      }
    const bare = await send(`${sandbox.url}/stream`, { method: "POST", headers: JSON_TYPE, body: "[]" });
    expect([bare.status, said(bare)]).toEqual([403, forbidden]);
    expect(sandbox.engine.counts().requests).toBe(0);
  });

  test("of 5000 actions is processed, of 5001 refused whole", async () => {
    const sandbox = await start();
    const items = [newEvent(), ...sales(5000)];
    const refused = await stream(sandbox, items);
    expect([refused.status, said(refused).message]).toEqual([400, expect.stringMatching(/5000.*5001/)]);
    expect(sandbox.engine.counts()).toMatchObject({ requests: 1, accepted: 0, refused: 0 });
    const { status, data } = said(await stream(sandbox, items.slice(0, 5000)));
    const [, ...ids] = data.map((item: { ticketId?: string }) => item.ticketId);
    expect([status, ids]).toEqual(["success", sales(4999).map((item) => item.data.ticketId)]);
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
    ["too long", 413, `[${" ".repeat(10_000_000)}]`, {}],
    ["an empty list", 200, "[]", {}],
    ["with a charset", 200, "[]", { "Content-Type": "application/json; charset=utf-8" }],
  ])("%s: %i", async (_name, status, body, headers) => {
    const sandbox = await start();
    const answer = await stream(sandbox, body, { headers });
    expect([answer.status, answer.whole]).toEqual([status, true]);
    if (status !== 200) expect(JSON.parse(answer.text)).toHaveProperty("message");
  });
});

describe("who may ask", () => {
  test.each<[string, Record<string, string>, number]>([
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
      expect((await call(sandbox, "GET", path, undefined, { headers })).status).toBe(status);
  });

  test("nobody at another address of this machine: it listens on 127.0.0.1 alone", async () => {
    const sandbox = await start();
    const outside = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
    const others = outside.filter(({ family, internal }) => family === "IPv4" && !internal);
    for (const address of ["127.0.0.2", ...others.map((each) => each.address)])
      await expect(send(sandbox.url.replace("127.0.0.1", address))).rejects.toMatchObject({ code: "ECONNREFUSED" });
  });
});

describe("the page", () => {
  const tokenOf = ({ pageUrl }: Sandbox) => ({ "X-Page-Token": pageUrl.slice(pageUrl.indexOf("#") + 1) });
  const statusOf = async (sandbox: Sandbox, path: string, headers: Record<string, string> = tokenOf(sandbox)) =>
    (await send(`${sandbox.url}/control/${path}`, { headers })).status;
  const look = async (sandbox: Sandbox, path: string) =>
    said(await send(`${sandbox.url}/control/${path}`, { headers: tokenOf(sandbox) }));

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

  test("opens with the token of its link, which sends nothing, and with no other", async () => {
    const [sandbox, other] = [await start(), await start()];
    expect(sandbox.pageUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#[\w-]{32}$/);
    expect(await statusOf(sandbox, "requests")).toBe(200);
    expect(await statusOf(sandbox, "requests", { "X-Api-Key": sandbox.apiKey })).toBe(200);
    const strange = [{}, tokenOf(other), { "X-Page-Token": sandbox.apiKey }, { "X-Page-Token": "" }];
    for (const headers of strange as readonly Record<string, string>[]) // one header each
      for (const path of ["requests", "changes", "state", "faults"])
        expect(await statusOf(sandbox, path, headers)).toBe(403);
    const headers = { ...JSON_TYPE, ...tokenOf(sandbox) };
    expect(await send(`${sandbox.url}/stream`, { method: "POST", body: "[]", headers })).toMatchObject({ status: 403 });
  });

  test("shows requests, the newest first, with what they came to, and those that were dropped", async () => {
    const sandbox = await start();
    await stream(sandbox, [newEvent(), sold("T0")]);
    await stream(sandbox, [...sales(60, "U"), sold("T0")]);
    sandbox.setFaults({
      rules: [
        { fault: "latency", ms: 1 },
        { fault: "drop", when: "before", times: 1 },
      ],
    });
    await expect(stream(sandbox, [sold("T1")])).rejects.toThrow();
    expect((await stream(sandbox, "no list")).status).toBe(400);
    const requests = [
      { number: 4, firstSeq: null, accepted: 0, refused: 0, kinds: "", answer: "HTTP 400", fault: null },
      { number: 3, firstSeq: null, accepted: 0, refused: 0, kinds: "", answer: "no answer", fault: "latency, drop" },
      { number: 2, firstSeq: 3, accepted: 60, refused: 1, kinds: "61 soldTicket", answer: "HTTP 200", fault: null },
      { number: 1, firstSeq: 1, accepted: 2, refused: 0, kinds: "1 newEvent, 1 soldTicket", ms: expect.any(Number) },
    ];
    expect(await look(sandbox, "requests")).toMatchObject({ items: requests, hasMore: false });
    expect(await look(sandbox, "requests?before=3")).toMatchObject({ items: requests.slice(2), hasMore: false });
    expect(await look(sandbox, "requests?before=x")).toMatchObject({ items: requests });

    const { items } = await look(sandbox, "request?number=1");
    expect(items.map(({ data }: { data: string }) => JSON.parse(data).ticketId)).toEqual([undefined, "T0"]);
    expect(await look(sandbox, "request?number=2")).toMatchObject({ request: requests[2], hasMore: true });
    const rest = await look(sandbox, "request?number=2&from=50");
    expect(rest.items.map(({ item }: { item: number }) => item)).toEqual([50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60]);
    expect(await look(sandbox, "request?number=3")).toMatchObject({ items: [], hasMore: false });
    expect(await statusOf(sandbox, "request?number=9")).toBe(404);
  });

  test("gets a ticket's history by whichever id its actions named it, with holder and what is on-chain", async () => {
    const sandbox = await start();
    await stream(sandbox, [
      ...[newEvent(), sold("T1"), sold("T2"), sold("T1")],
      { action: "resoldTicket", data: { nftId: "SANDBOX-1-1", userId: "bob", price: "2" } },
      { action: "scannedTicket", data: { ticketId: "T2" } },
      { action: "checkedInTicket", data: { ticketId: "T1" } },
    ]);
    const byId = await look(sandbox, "ticket?id=T1");
    expect(byId).toMatchObject({
      view: { nftId: "SANDBOX-1-1", state: "checked-in", fields: { userId: "bob" }, onChain: { price: "2" } },
      items: [{ seq: 7 }, { seq: 5, data: expect.stringContaining("bob") }, { seq: 4, status: "error" }, { seq: 2 }],
      hasMore: false,
    });
    expect(await look(sandbox, "ticket?nftId=SANDBOX-1-1")).toEqual(byId);
    expect(await look(sandbox, "ticket?id=T1&before=5")).toMatchObject({ items: [{ seq: 4 }, { seq: 2 }] });
    expect(await look(sandbox, "event?id=E1")).toMatchObject({
      view: { tickets: 2 },
      items: [{ seq: 4, status: "error" }, { seq: 1 }],
    });
    expect([await statusOf(sandbox, "ticket?id=T9"), await statusOf(sandbox, "event?id=E9")]).toEqual([404, 404]);

    // What was refused is found although nothing of that id is registered.
    await stream(sandbox, [sold("T9", { eventId: "E9" })]);
    for (const path of ["ticket?id=T9", "event?id=E9"])
      expect(await look(sandbox, path)).toMatchObject({ items: [{ seq: 8, rule: "event-not-registered" }] });
  });

  test("finds by ticket, event, nftId and promise, and by how ids begin", async () => {
    const sandbox = await start();
    await stream(sandbox, [newEvent(), ...sales(12)]);
    const actionPromise = sandbox.engine.processed().next().value?.actionPromise;
    const found = (id: unknown) => look(sandbox, `search?id=${id}`);
    expect(await found("T1")).toMatchObject({ ticketId: "T1", eventId: null, tickets: ["T1", "T10", "T11"] });
    expect(await found("E1")).toMatchObject({ ticketId: null, eventId: "E1", events: ["E1"] });
    expect(await found("SANDBOX-1-1")).toMatchObject({ ticketId: "T0" });
    expect(await found(actionPromise)).toMatchObject({ promise: { seq: 1, action: "newEvent", actionPromise } });
    expect((await found("T")).tickets).toHaveLength(8);
    expect(await found("t")).toMatchObject({ ticketId: null, tickets: [] });
    await stream(sandbox, [sold("refused", { eventId: "nowhere" })]);
    expect(await found("refused")).toMatchObject({ ticketId: "refused", tickets: ["refused"] });
    expect(await found("now")).toMatchObject({ eventId: null, events: ["nowhere"] });
  });
});

describe("control", () => {
  test("dumps what was processed, line by line", LONG, async () => {
    const sandbox = await start();
    await stream(sandbox, [newEvent(), ...sales(2500), sold("T0")]);
    const dump = async (query = "") => (await call(sandbox, "GET", `/control/processed${query}`)).text.split("\n");
    const lines = (await dump()).slice(0, -1).map((line) => JSON.parse(line));
    expect(lines).toEqual(Array.from(sandbox.engine.processed(), (action) => ({ ...action })));
    expect(lines.at(-1)).toMatchObject({ seq: 2502, request: 1, item: 2501, status: "error", code: "ticket_exists" });
    expect([(await dump("?after=2501")).length, await dump("?after=2502")]).toEqual([2, [""]]);
    expect((await call(sandbox, "GET", "/control/processed?after=x")).status).toBe(400);
  });

  test("sets a promise's status, which the status endpoint gives", async () => {
    const sandbox = await start();
    const { actionPromise } = said(await stream(sandbox, [newEvent()])).data[0];
    const shown = async (of = actionPromise) => said(await call(sandbox, "GET", `/actions/${of}`));
    const set = async (body: object) => (await call(sandbox, "PUT", "/control/status", body)).status;
    const status = expect.stringMatching(/^(waiting_broadcast|pending)$/);
    expect(await shown()).toEqual({ actionPromise, action: "newEvent", eventId: "E1", status });
    expect(await set({ actionPromise, status: "error" })).toBe(200);
    expect(await shown()).toMatchObject({ status: "error" });
    expect(await set({ actionPromise, status: "fine" })).toBe(400);
    expect(await set({ actionPromise: "x", status: "error" })).toBe(404);
    expect(await shown("x")).toEqual({ message: "Not Found" });
  });

  test("takes metadata templates", async () => {
    const sandbox = await start({ engine: { path: ":memory:", accept: ["metadata-template-id"] } });
    const metadataTemplateId = "5b2c3d4e-0000-4000-8000-000000000001";
    const list = [{ trait_type: "Hall", value: "North" }];
    const put = async (id: string, body: object) =>
      (await call(sandbox, "PUT", `/control/templates/${id}`, body)).status;
    expect([await put(metadataTemplateId, list), await put("x", list)]).toEqual([200, 400]);
    expect(await put(metadataTemplateId, [{ trait: 1 }])).toBe(400);
    await stream(sandbox, [newEvent({ metadataTemplateId }), sold("T1")]);
    expect(sandbox.engine.ticket({ ticketId: "T1" })?.fields.metadataAttributes).toEqual(list);
  });
});

describe("the faults", () => {
  const ITEMS = [newEvent(), sold("T1")];
  const startWith = (...rules: readonly object[]) => start({ faults: parseFaultScript({ seed: 1, rules }, "test") });
  const control = (sandbox: Sandbox, method: string, body?: unknown) => call(sandbox, method, "/control/faults", body);

  test("sets and clears faults; requests are counted from there", async () => {
    const sandbox = await startWith();
    await stream(sandbox, ITEMS);
    const script = { seed: 3, rules: [{ fault: "status", status: 503, on: { request: 2 } }] };
    expect(said(await control(sandbox, "PUT", script))).toEqual({ requests: 0, script });
    const statuses = [];
    for (let n = 0; n < 3; n += 1) statuses.push((await stream(sandbox, ITEMS)).status);
    expect(statuses).toEqual([200, 503, 200]);
    expect(said(await control(sandbox, "GET"))).toEqual({ requests: 3, script });
    await control(sandbox, "DELETE");
    expect(said(await control(sandbox, "GET"))).toEqual({ requests: 0, script: { rules: [] } });
  });

  test("says what is wrong with a script and keeps the old one", async () => {
    const sandbox = await startWith({ fault: "status", status: 503 });
    const refused = await control(sandbox, "PUT", { rules: [{ fault: "expolde" }] });
    expect([refused.status, said(refused).message]).toEqual([400, expect.stringContaining("rules[0].fault")]);
    expect((await stream(sandbox, ITEMS)).status).toBe(503);
  });
});

describe("callbacks", () => {
  /** A receiver that answers with the given statuses, then 200; never, where one is 0. */
  async function receiver(...statuses: readonly number[]) {
    const received: { readonly headers: IncomingMessage["headers"]; readonly body: unknown }[] = [];
    const server = createServer(async (request, response) => {
      const body = await json(request);
      received.push({ headers: request.headers, body });
      const status = statuses[received.length - 1] ?? 200;
      if (status !== 0) response.writeHead(status, { Location: "http://127.0.0.1:1/" }).end();
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
    const items = [newEvent({ callbackUrl: url }), newEvent({ eventId: "E2" }), sold("T1"), sold("T1")];
    const [event, , sale] = said(await stream(sandbox, items)).data;
    await sandbox.callbacksDone();
    expect(received.map(({ body }) => body)).toHaveLength(2);
    expect(received.map(({ body }) => body)).toEqual(
      expect.arrayContaining([
        { actionPromise: event.actionPromise, action: "newEvent", eventId: "E1" },
        { actionPromise: sale.actionPromise, action: "soldTicket", eventId: "E1", ticketId: "T1" },
      ]),
    );
    expect(received[0]?.headers).not.toHaveProperty("x-api-key");
    expect(sandbox.callbacks()).toEqual({ delivered: 2, failed: 0, dropped: 0 });
  });

  test.each([
    ["are tried again up to five times, and redirects are not followed", [500, 204, 307, 404], 5, 1],
    ["are given up after the sixth try", Array(6).fill(500), 6, 0],
  ] as const)("%s", async (_name, statuses, tries, delivered) => {
    const { url, received } = await receiver(...statuses);
    const sandbox = await start({ callbackWaitMs: 1 });
    await stream(sandbox, [newEvent({ callbackUrl: url })]);
    await sandbox.callbacksDone();
    expect(received).toHaveLength(tries);
    expect(sandbox.callbacks()).toEqual({ delivered, failed: 1 - delivered, dropped: 0 });
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
    ["refuses", async () => "http://127.0.0.1:1/"],
    ["hangs", async () => (await receiver(...Array(100).fill(0))).url],
    ["answers 500 for ever", async () => (await receiver(...Array(100).fill(500))).url],
  ])("of an address that %s don't delay those of others", async (_name, dead) => {
    const { url, received } = await receiver();
    const sandbox = await start({ callbackWaitMs: 3_600_000 });
    const events = [newEvent({ callbackUrl: await dead() }), newEvent({ eventId: "E2", callbackUrl: url })];
    await stream(sandbox, [...events, ...sales(20, "D"), ...sales(20, "T", { eventId: "E2" })]);
    await vi.waitUntil(() => received.length === 21, { interval: 1, timeout: 20_000 });
    await vi.waitUntil(() => sandbox.callbacks().delivered === 21, { interval: 1 });
    expect(sandbox.callbacks()).toEqual({ delivered: 21, failed: 0, dropped: 0 });
  });

  test("that wait are dropped at the end, which does not wait for them", async () => {
    const { url } = await receiver(...Array(6).fill(500));
    const sandbox = await start({ callbackWaitMs: 3_600_000 });
    await stream(sandbox, [newEvent({ callbackUrl: url }), ...sales(50)]);
    await sandbox[Symbol.asyncDispose]();
    const { delivered, failed, dropped } = sandbox.callbacks();
    expect([delivered, failed + dropped]).toEqual([0, 51]);
  });
});

describe("start and end", () => {
  test("a port that is taken or none is a usage failure", async () => {
    const { port } = await start();
    const message = expect.stringContaining(String(port));
    await expect(start({ port })).rejects.toMatchObject({ code: "usage", message });
    for (const none of [-1, 65_536, 1.5]) await expect(start({ port: none })).rejects.toMatchObject({ code: "usage" });
  });

  test("a signal ends it, with requests that are being held", async () => {
    const stop = new AbortController();
    const sandbox = await start({ signal: stop.signal, faults: { rules: [{ fault: "latency", ms: 3_600_000 }] } });
    const held = expect(stream(sandbox, [newEvent()])).rejects.toMatchObject({ code: "ECONNRESET" });
    // The request is counted once it is there; only then is there something to end.
    const counted = async () => said(await call(sandbox, "GET", "/control/faults")).requests;
    for (let tries = 0; tries < 1000 && (await counted()) === 0; tries += 1);
    stop.abort();
    await held;
    await sandbox[Symbol.asyncDispose]();
  });
});

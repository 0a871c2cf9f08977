import type { Socket } from "node:net";
import { setImmediate as turn } from "node:timers/promises";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { Key } from "../../../src/config/key.ts";
import { Failure } from "../../../src/failure.ts";
import { readExchange } from "../../../src/send/answer.ts";
import { openClient, type ServiceClient } from "../../../src/send/client.ts";
import { MAX_ANSWER_BYTES } from "../../../src/send/content-codings.ts";
import type { Exchange } from "../../../src/send/exchange.ts";
import { proxyFor } from "../../../src/send/proxy.ts";
import { openSeenPromises } from "../../../src/send/seen.ts";
import { selfSigned } from "../../support/certificate.ts";
import { freePort, type RawServer, startProxy, startRaw } from "../../support/raw-server.ts";
import { until } from "../../support/until.ts";

const BODY = Buffer.from('[{"action":"newEvent","data":{"eventId":"E1","currency":"EUR"}}]');
/** More than any system takes at once. */
const LARGE = Buffer.alloc(24 * 1024 * 1024, " ");
/** More than is written at once, and read to its end in good time. */
const WHOLE = Buffer.alloc(4 * 1024 * 1024, " ");
const NEVER = new AbortController().signal;
/** Ends what would hang; nothing asserts it. */
const LONG_MS = 600_000;
/** For what never comes. A timeout that may strike the other side before it has come is not a test of it. */
const ENOUGH_MS = 2_000;

function open(baseUrl: string, more: Partial<Parameters<typeof openClient>[0]> = {}): ServiceClient {
  const client = openClient({
    baseUrl,
    key: new Key("k3y-of-the-test"),
    timeoutMs: LONG_MS,
    freshConnection: false,
    env: {},
    ...more,
  });
  onTestFinished(() => client[Symbol.asyncDispose]());
  return client;
}

const at = ({ port }: { readonly port: number }): string => `http://127.0.0.1:${port}`;
const answerText = (json: string, head = ""): string =>
  `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n${head}Content-Length: ${Buffer.byteLength(json)}\r\n\r\n${json}`;

function shape(exchange: Exchange): object {
  return exchange.kind === "answer"
    ? { kind: exchange.kind, status: exchange.status, whole: exchange.whole, body: exchange.body.toString() }
    : { kind: exchange.kind };
}

const requestBytes = ({ connections }: RawServer): number =>
  connections.reduce((sum, { received }) => sum + received.length, 0);

type Serve = (socket: Socket) => unknown;
const writes =
  (text: string | Buffer): Serve =>
  (socket) =>
    socket.write(text);
const ends =
  (text: string): Serve =>
  (socket) =>
    socket.end(text);

const encoded = (coding: string, body: Buffer): Buffer =>
  Buffer.concat([
    Buffer.from(`HTTP/1.1 200 OK\r\nContent-Encoding: ${coding}\r\nContent-Length: ${body.length}\r\n\r\n`),
    body,
  ]);

function bytewise(text: string): Serve {
  return async (socket) => {
    socket.setNoDelay();
    for (const byte of text) {
      await new Promise<void>((written) => socket.write(byte, () => written()));
      await turn();
    }
  };
}

describe("an answer that can't be decoded", () => {
  const [status, items] = ["success", Array.from({ length: 50 }, (_, at) => ({ status: `no ${at}` }))];
  const whole = Buffer.from(JSON.stringify({ status, data: items }));
  const gzipped = gzipSync(whole);
  const damaged = Buffer.from(gzipped);
  damaged[damaged.length - 6] = (damaged.at(-6) ?? 0) ^ 1; // of the checksum

  /** What the answer comes to, as a person reads it. */
  async function readingOf(coding: string, body: Buffer, code = 200, length = body.length): Promise<object> {
    const head = coding === "" ? "" : `Content-Encoding: ${coding}\r\n`;
    const server = await startRaw({
      onRequest(socket) {
        socket.write(`HTTP/1.1 ${code} OK\r\n${head}Content-Length: ${length}\r\n\r\n`);
        socket.end(body);
      },
    });
    using seen = openSeenPromises();
    return readExchange(await open(at(server)).post(BODY, NEVER), [], [], seen);
  }

  test.each([
    ["gzip", damaged, "gzip: incorrect data check"],
    ["deflate", deflateSync(whole).subarray(0, -10), "deflate: unexpected end of file"],
    ["br", gzipped, "br: Decompression failed"],
    ["compress", gzipped, "compress: not known here"],
    ["constructor", gzipped, "constructor: not known here"],
  ])("says so of %s, and shows none of its bytes", async (coding, body, why) => {
    expect(await readingOf(coding, body)).toEqual({
      kind: "in doubt",
      detail: `HTTP 200, but the answer's content encoding is broken (${why})`,
      body: "",
    });
    expect(await readingOf(coding, body, 500)).toEqual({ kind: "in doubt", detail: "HTTP 500", body: "" });
  });

  test("shows none of its bytes where it was cut off, or where no header tells how it is coded", async () => {
    expect(await readingOf("gzip", gzipped.subarray(0, -10), 200, gzipped.length)).toMatchObject({ body: "" });
    const unreported = { kind: "in doubt", detail: "HTTP 200, but the answer is not JSON", body: "" };
    expect(await readingOf("", gzipped)).toEqual(unreported);
  });

  test("is shown where it is plain text", async () => {
    const detail = "HTTP 200, but the answer's content encoding is broken (gzip: incorrect header check)";
    expect(await readingOf("gzip", Buffer.from("Größe: ok"))).toEqual({ kind: "in doubt", detail, body: "Größe: ok" });
    expect(await readingOf("identity", Buffer.from("no"))).toMatchObject({ body: "no" });
  });

  test("since it is too large is reported as a plain one is", async () => {
    const large = Buffer.alloc(MAX_ANSWER_BYTES + 1, " ");
    const plain = await readingOf("", large);
    expect(plain).toMatchObject({ detail: expect.stringContaining("exceeded max size") });
    expect(await readingOf("gzip", gzipSync(large))).toEqual({ ...plain, body: "" });
  });
});

describe("an answer", () => {
  /** What a server does with a whole request; more by the sandbox's faults (test/pipeline/send/answer.test.ts). */
  test.each<[string, Serve]>([
    ["behind 100 Continue, byte by byte", bytewise(`HTTP/1.1 100 Continue\r\nX-Note: 1\r\n\r\n${answerText("{}")}`)],
    ["behind 103, byte by byte", bytewise(`HTTP/1.1 103 Early Hints\r\nX-Note: 1\r\n\r\n${answerText("{}")}`)],
    ["in two codings", writes(encoded("deflate, GZIP", gzipSync(deflateRawSync("{}"))))],
    ["in x-gzip", writes(encoded("x-gzip", gzipSync("{}")))],
  ])("%s is read", async (_name, serve) => {
    const server = await startRaw({ onRequest: serve });
    const exchange = await open(at(server)).post(BODY, NEVER);
    expect(exchange).toMatchObject({ ...{ kind: "answer", status: 200, whole: true }, body: Buffer.from("{}") });
  });

  test("that is reset within its body is not whole", async () => {
    const server = await startRaw({
      onRequest: (socket) =>
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"a":', () =>
          socket.once("drain", () => {}).resetAndDestroy(),
        ),
    });
    const exchange = await open(at(server)).post(BODY, NEVER);
    expect(exchange).toMatchObject({ kind: "answer", status: 200, whole: false, error: expect.any(Error) });
  });

  test.each(["with a kind end", "with a reset"])("413 is read before the request is whole, %s", async (how) => {
    const server = await startRaw({
      onConnection: (socket) =>
        socket.once("data", () => {
          socket.pause();
          const answer = "HTTP/1.1 413 Too Large\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}";
          if (how === "with a reset") socket.write(answer, () => socket.destroy());
          else socket.end(answer);
        }),
    });
    const exchange = await open(at(server)).post(LARGE, NEVER);
    expect(shape(exchange)).toEqual({ kind: "answer", status: 413, whole: true, body: "{}" });
    expect(requestBytes(server)).toBeLessThan(LARGE.length);
  });

  test.each([
    ["200", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", 200],
    ["200 with a reset", "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}", 200],
    ["200 behind 103", `HTTP/1.1 103 Hints\r\n\r\n${answerText("{}")}`, 200],
    ["403", "HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\n{}", 403],
  ])("%s that came while the request was being written is recognised", async (name, answer, status) => {
    const certificate = selfSigned("localhost");
    trust(certificate.cert);
    for (const tls of [undefined, certificate]) {
      const server = await startRaw({
        ...(tls !== undefined && { tls }),
        onConnection: (socket) =>
          socket.once("data", () => {
            socket.pause();
            socket.write(answer, () => {
              if (name.endsWith("reset")) socket.destroy();
            });
          }),
      });
      const client = open(tls === undefined ? at(server) : `https://localhost:${server.port}`);
      const exchange = await client.post(LARGE, NEVER);
      // Behind TLS the reset may be there before the answer has been looked at twice.
      if (name.endsWith("reset") && exchange.kind === "lost") continue;
      expect(exchange).toMatchObject({ kind: "answer", status, early: true });
    }
  });

  test("whose first bytes came while the request was being written is recognised", async () => {
    const text = answerText("{}");
    const server = await startRaw({
      onConnection: (socket) =>
        socket.once("data", () => {
          socket.pause();
          socket.write(text.slice(0, 6), () => socket.resume());
        }),
      onRequest: (socket) => socket.write(text.slice(6)),
    });
    expect(await open(at(server)).post(Buffer.alloc(12 * 1024 * 1024, " "), NEVER)).toMatchObject({
      kind: "answer",
      status: 200,
      early: true,
    });
  });

  test("to a whole large request is not called early, nor one behind an early 103", { tags: ["long"] }, async () => {
    const certificate = selfSigned("localhost");
    trust(certificate.cert);
    for (const tls of [undefined, certificate]) {
      const server = await startRaw({
        ...(tls !== undefined && { tls }),
        onConnection: (socket) => socket.once("data", () => socket.write("HTTP/1.1 103 Early Hints\r\n\r\n")),
        onRequest: (socket) => socket.write(answerText("{}")),
      });
      const client = open(tls === undefined ? at(server) : `https://localhost:${server.port}`);
      for (const body of [WHOLE, BODY, BODY])
        expect(await client.post(body, NEVER)).toMatchObject({ kind: "answer", status: 200, early: false });
    }
  });

  test.each([200, 403, 429])("after an early %i the rest of the request never reaches the service", async (status) => {
    const held: Socket[] = [];
    const server = await startRaw({
      onConnection: (socket, number) => {
        if (number > 1) return;
        socket.once("data", () => {
          socket.pause();
          held.push(socket);
          socket.write(`HTTP/1.1 ${status} X\r\nContent-Length: 2\r\n\r\n{}`);
        });
      },
      onRequest: (socket) => socket.write(answerText("{}")),
    });
    const client = open(at(server));
    expect(await client.post(LARGE, NEVER)).toMatchObject({ kind: "answer", status, early: true });
    held[0]?.resume();
    expect(await client.post(BODY, NEVER)).toMatchObject({ kind: "answer", status: 200, early: false });
    await until(() => server.connections[0]?.closed === true);
    expect(server.connections[0]?.received.length).toBeLessThan(LARGE.length);
    expect(server.connections).toHaveLength(2);
  });

  test("that does not end is given up after 64 MiB", async () => {
    const block = Buffer.alloc(1024 * 1024, " ");
    let written = 0;
    const server = await startRaw({
      onRequest(socket) {
        socket.write("HTTP/1.1 200 OK\r\n\r\n");
        const pour = (): void => {
          while (!socket.destroyed && written < 1024) {
            written += 1;
            if (!socket.write(block)) {
              socket.once("drain", pour);
              return;
            }
          }
        };
        pour();
      },
    });
    const exchange = await open(at(server)).post(BODY, NEVER);
    expect(exchange).toMatchObject({ kind: "answer", status: 200, whole: false });
    if (exchange.kind === "answer") expect(exchange.body.length).toBeLessThanOrEqual(MAX_ANSWER_BYTES);
    expect(written).toBeLessThan(1024);
  });

  test("that was begun when the run was interrupted is not whole", async () => {
    const interrupt = new AbortController();
    const server = await startRaw({ onRequest: (socket) => socket.write(`${answerText("{}").slice(0, -1)}`) });
    const client = open(at(server));
    const flying = client.post(BODY, interrupt.signal);
    await until(() => requestBytes(server) > BODY.length);
    interrupt.abort(new Error("interrupted by a second SIGINT"));
    const exchange = await flying;
    // How much of it was in is chance; that it was taken for a whole one must not be.
    expect(exchange.kind === "lost" || (exchange.kind === "answer" && !exchange.whole)).toBe(true);
  });
});

/** The request was written, in part at least, and no status came. */
const LOST: readonly (readonly [name: string, serve: Serve])[] = [
  ["something that is not HTTP", ends("220 mail.example.com ESMTP\r\n")],
  ["a head without end", ends(`HTTP/1.1 200 OK\r\nX: ${"x".repeat(200_000)}\r\n\r\n`)],
  ["half of 100 Continue, and then nothing", ends("HTTP/1.1 10")],
  ["an interim answer whose head does not end", writes(`HTTP/1.1 100 Continue\r\nX: ${"x".repeat(20_000)}`)],
];

describe("a request whose answer never came is lost, not unsent", () => {
  test.each(LOST)("%s", async (_name, serve) => {
    const server = await startRaw({ onRequest: serve });
    const exchange = await open(at(server)).post(BODY, NEVER);
    expect(shape(exchange)).toEqual({ kind: "lost" });
    expect(server.connections).toHaveLength(1);
  });

  test("closed as soon as it was connected", async () => {
    const server = await startRaw({ onConnection: (socket) => socket.destroy() });
    expect(shape(await open(at(server)).post(BODY, NEVER))).toEqual({ kind: "lost" });
    expect(server.connections).toHaveLength(1);
  });

  test("closed within a request that is still being written", async () => {
    const server = await startRaw({ onConnection: (socket) => socket.once("data", () => socket.destroy()) });
    expect(shape(await open(at(server)).post(LARGE, NEVER))).toEqual({ kind: "lost" });
    expect(server.connections).toHaveLength(1);
  });

  test("a request that nobody reads, within the timeout", { tags: ["long"] }, async () => {
    const server = await startRaw({ onConnection: (socket) => socket.pause() });
    expect(shape(await open(at(server), { timeoutMs: ENOUGH_MS }).post(LARGE, NEVER))).toEqual({ kind: "lost" });
  });
});

describe("a request of which no byte was written is not sent", () => {
  test("the name does not resolve", async () => {
    const exchange = await open("https://tickets.invalid").post(BODY, NEVER);
    expect(exchange).toMatchObject({ kind: "not sent", error: { code: expect.stringMatching(/^(ENOTFOUND|EAI_)/) } });
  });

  test.each([
    ["the certificate is nobody's that we know", selfSigned("localhost"), "DEPTH_ZERO_SELF_SIGNED_CERT"],
    ["the certificate is for another host", selfSigned("other.example"), "ERR_TLS_CERT_ALTNAME_INVALID"],
  ])("%s", async (_, tls, code) => {
    if (code === "ERR_TLS_CERT_ALTNAME_INVALID") trust(tls.cert);
    const server = await startRaw({ tls });
    const exchange = await open(`https://localhost:${server.port}`).post(BODY, NEVER);
    expect(exchange).toMatchObject({ kind: "not sent", error: { code } });
    expect(requestBytes(server)).toBe(0);
  });

  test("the other side does not speak TLS", async () => {
    const server = await startRaw({ onConnection: (socket) => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n") });
    expect(shape(await open(`https://127.0.0.1:${server.port}`).post(BODY, NEVER))).toEqual({ kind: "not sent" });
    expect(server.connections[0]?.received).not.toContain("x-api-key");
  });

  test("a proxy opens the way, and what is behind it never speaks TLS: the connection is closed", async () => {
    const proxy = await startRaw({
      onRequest: (socket) => socket.write("HTTP/1.1 200 Connection established\r\n\r\n"),
    });
    const env = { HTTPS_PROXY: at(proxy) };
    const exchange = await open("https://service.example", { timeoutMs: ENOUGH_MS, env }).post(BODY, NEVER);
    expect(exchange).toMatchObject({
      kind: "not sent",
      error: { code: "ETIMEDOUT", message: expect.stringMatching(/^no connection through the proxy within /) },
    });
    expect(proxy.connections[0]?.received).toMatch(/^CONNECT service\.example:443 /);
    await until(() => proxy.connections[0]?.closed === true);
  });

  test("the other side takes the connection and never speaks TLS: given up long before the timeout, and tried anew", async () => {
    const server = await startRaw({});
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => {
      vi.useRealTimers();
    });
    const client = open(`https://127.0.0.1:${server.port}`);
    for (let round = 1; round <= 2; round += 1) {
      const posted = client.post(BODY, NEVER);
      await until(() => (server.connections[round - 1]?.received ?? "") !== "");
      vi.advanceTimersByTime(15_000);
      expect(await posted).toMatchObject({
        kind: "not sent",
        error: { code: "ETIMEDOUT", message: "a connection, but no TLS handshake within 15 s" },
      });
      await until(() => server.connections[round - 1]?.closed === true);
      expect(server.connections).toHaveLength(round);
    }
  });

  test("interrupted during the handshake", async () => {
    const interrupt = new AbortController();
    const server = await startRaw({ onConnection: () => interrupt.abort(new Error("interrupted")) });
    const exchange = await open(`https://127.0.0.1:${server.port}`).post(BODY, interrupt.signal);
    expect(shape(exchange)).toEqual({ kind: "not sent" });
    await until(() => server.connections[0]?.closed === true);
  });

  test("interrupted while it connects; the next request goes alone", async () => {
    const interrupt = new AbortController();
    const server = await startRaw({ onRequest: (socket) => socket.write(answerText("{}")) });
    const client = open(at(server));
    const first = client.post(Buffer.from("[1]"), interrupt.signal);
    interrupt.abort(new Error("interrupted"));
    expect(shape(await first)).toEqual({ kind: "not sent" });
    expect(shape(await client.post(Buffer.from("[2]"), NEVER))).toMatchObject({ kind: "answer", status: 200 });
    expect(server.connections.map(({ received }) => received.includes("[1]"))).not.toContain(true);
  });
});

describe("a kept-alive connection", () => {
  const echo = (head = ""): Parameters<typeof startRaw>[0] => ({
    onRequest: (socket, request) => socket.write(answerText(`${request}`, head)),
  });
  const two = async (client: ServiceClient): Promise<void> => {
    for (const _ of [1, 2])
      expect(shape(await client.post(BODY, NEVER))).toMatchObject({ kind: "answer", whole: true });
  };

  test("is used again", async () => {
    const server = await startRaw(echo());
    await two(open(at(server)));
    expect(server.connections).toHaveLength(1);
  });

  test.each([
    ["its end was announced", "Connection: close\r\n"],
    ["it would be kept for a second only", "Keep-Alive: timeout=1\r\n"],
  ])("is not when %s", async (_when, head) => {
    const server = await startRaw(echo(head));
    await two(open(at(server)));
    expect(server.connections).toHaveLength(2);
  });

  afterEach(() => {
    vi.useRealTimers();
  });

  // Only one of the two clocks goes on: the other stood still (a machine that slept), or was set back.
  test.each(["Date", "performance"] as const)("is not after more than two seconds by %s", async (clock) => {
    vi.useFakeTimers({ toFake: [clock], now: Date.now() });
    const server = await startRaw(echo());
    const client = open(at(server));
    await client.post(BODY, NEVER);
    vi.advanceTimersByTime(1900);
    await client.post(BODY, NEVER);
    expect(server.connections).toHaveLength(1);
    vi.advanceTimersByTime(2100);
    await client.post(BODY, NEVER);
    expect(server.connections).toHaveLength(2);
  });

  test.each([
    ["with a kind end", (socket: Socket) => void socket.end(answerText("{}"))],
    ["with a reset", (socket: Socket) => void socket.write(answerText("{}"), () => socket.resetAndDestroy())],
  ])("that the server closed in silence costs no doubt, %s", async (_how, onRequest) => {
    const server = await startRaw({ onRequest });
    const client = open(at(server));
    for (let round = 1; round <= 50; round += 1) {
      expect(shape(await client.post(BODY, NEVER))).toMatchObject({ kind: "answer", whole: true });
      expect(server.connections).toHaveLength(round);
    }
  });

  test("that the server closes on the next request is a doubt all the same", async () => {
    const server = await startRaw({
      onRequest: (socket, request) => (request === 1 ? socket.write(answerText("{}")) : socket.destroy()),
    });
    const client = open(at(server));
    await client.post(BODY, NEVER);
    expect(shape(await client.post(BODY, NEVER))).toEqual({ kind: "lost" });
    expect(server.connections).toHaveLength(1);
  });
});

/** Trusts a certificate until the test ends, as NODE_EXTRA_CA_CERTS would for a process. */
function trust(cert: string): void {
  const before = getCACertificates("default");
  onTestFinished(() => setDefaultCACertificates(before));
  setDefaultCACertificates([...before, cert]);
}

describe("through a proxy", () => {
  const HOST = "tickets.invalid";
  const OK = { kind: "answer", status: 200, whole: true };
  async function service(onRequest: Serve = writes(answerText("{}"))): Promise<RawServer> {
    const certificate = selfSigned(HOST, "localhost");
    trust(certificate.cert);
    return startRaw({ tls: certificate, onRequest });
  }
  const through = ({ port }: { readonly port: number }, more: object = {}): ServiceClient =>
    open(`https://${HOST}/v1`, { env: { HTTPS_PROXY: `http://127.0.0.1:${port}` }, ...more });

  test.each([
    ["HTTPS_PROXY", "http://"],
    ["https_proxy", "http://"],
    ["HTTPS_PROXY", ""], // without a scheme it is an http one
  ])("the request goes by %s, with the scheme %j, and the proxy sees none of it", async (variable, scheme) => {
    const server = await service();
    const proxy = await startProxy({ leadsTo: server.port });
    const client = through(proxy, { env: { [variable]: `${scheme}127.0.0.1:${proxy.port}` } });
    expect(shape(await client.post(BODY, NEVER))).toMatchObject(OK);
    expect(proxy.asked).toEqual([`${HOST}:443`]);
    expect(server.connections[0]?.received).toMatch(/^POST \/v1\/stream HTTP\/1\.1\r\nhost: tickets\.invalid\r\n/i);
    expect(proxy.connections[0]?.received).not.toContain("k3y-of-the-test");
  });

  test("NO_PROXY goes past it", async () => {
    const server = await service();
    const proxy = await startProxy({ leadsTo: server.port });
    const env = { HTTPS_PROXY: at(proxy), NO_PROXY: "example.com,localhost" };
    const client = open(`https://localhost:${server.port}`, { env });
    expect(shape(await client.post(BODY, NEVER))).toMatchObject(OK);
    expect(proxy.asked).toEqual([]);
  });

  const LIVE = "https://api.example.com";
  test.each([
    ...["*", "example.com", ".example.com:443", "x, *.example.com", "api.example.com."].map(
      (NO_PROXY) => [LIVE, { HTTPS_PROXY: "http://p", NO_PROXY }, false] as const,
    ),
    [LIVE, { HTTPS_PROXY: "http://p", no_proxy: "example.com" }, false],
    [LIVE, { HTTPS_PROXY: "http://p", NO_PROXY: "example.com:80,xample.com" }, true],
    ["http://127.0.0.1:1", { HTTPS_PROXY: "http://p", HTTP_PROXY: "http://p", http_proxy: "http://p" }, false],
    [LIVE, { ALL_PROXY: "http://p" }, false],
  ] as const)("%s by %j goes through one: %s", (baseUrl, env, isUsed) => {
    expect(proxyFor(baseUrl, env) !== undefined).toBe(isUsed);
  });

  test.each<[string, () => Promise<{ readonly port: number }>, object]>([
    ...[407, 403, 502].map((status): [string, () => Promise<{ readonly port: number }>, object] => [
      `answers ${status}`,
      () => startProxy({ status }),
      { message: expect.stringContaining(String(status)) },
    ]),
    ["is not there", async () => ({ port: await freePort() }), { code: "ECONNREFUSED" }],
    ["hangs up", () => startRaw({ onRequest: (socket) => socket.destroy() }), {}],
  ])("a proxy that %s has sent nothing", async (_, start, error) => {
    expect(await through(await start()).post(BODY, NEVER)).toMatchObject({ kind: "not sent", error });
  });

  test("a proxy that never answers has sent nothing", async () => {
    const proxy = await startRaw({});
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => {
      vi.useRealTimers();
    });
    const posted = through(proxy).post(BODY, NEVER);
    await until(() => (proxy.connections[0]?.received ?? "") !== "");
    vi.advanceTimersByTime(15_000);
    expect(await posted).toMatchObject({
      kind: "not sent",
      error: { code: "ETIMEDOUT", message: "no connection through the proxy within 15 s" },
    });
    await until(() => proxy.connections[0]?.closed === true);
  });

  test("a service behind it that is cut off is a doubt", async () => {
    const server = await service((socket) => socket.destroy());
    expect(shape(await through(await startProxy({ leadsTo: server.port })).post(BODY, NEVER))).toEqual({
      kind: "lost",
    });
    expect(server.connections).toHaveLength(1);
  });

  test.each(["socks5://user:s3cret@127.0.0.1:1080", "http://user:s3cret@:x", "ftp://s3cret"])(
    "%s is no proxy, and is not repeated",
    (proxy) => {
      const opening = (): unknown => open(`https://${HOST}`, { env: { HTTPS_PROXY: proxy } });
      expect(opening).toThrow(Failure);
      expect(opening).toThrow(/HTTPS_PROXY/);
      expect(opening).not.toThrow(/s3cret/);
    },
  );
});

/** Others wait for the end of such a request: once its time is over, it never becomes whole. */
describe("a request with a time by which it must be whole", () => {
  test.each([
    ["of one byte", Buffer.from("x")],
    ["small", BODY],
    ["of several pieces", Buffer.alloc(300_000, "a")],
  ])("in good time, a body that is %s comes as it is, with its length", async (_, body) => {
    const server = await startRaw({ onRequest: (socket) => socket.write(answerText("{}")) });
    const client = open(at(server));
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
    const posted = open(at(server)).post(LARGE, NEVER, () => (isOver ? 0 : LONG_MS));
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
    const exchange = await open(at(server)).post(BODY, NEVER, () => {
      looked += 1;
      return looked === 1 ? LONG_MS : 0;
    });
    expect(exchange.kind).toBe("not sent");
    expect(server.connections.map(({ received }) => received).join("")).toBe("");
    expect(await open(at(server)).post(BODY, NEVER, () => 0)).toMatchObject({ kind: "not sent" });
    expect(server.connections.map(({ received }) => received).join("")).toBe("");
  });

  test("an answer before its last bytes is early", async () => {
    const server = await startRaw({
      onConnection: (socket) => {
        socket.pause();
        socket.write(answerText("{}"));
      },
    });
    expect(await open(at(server)).post(LARGE, NEVER, () => LONG_MS)).toMatchObject({
      kind: "answer",
      early: true,
    });
  });
});

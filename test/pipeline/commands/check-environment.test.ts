import { expect, test } from "vitest";
import { selfSigned } from "../../support/certificate.ts";
import { type Field, openField } from "../../support/context.ts";
import { freePort, startProxy, startRaw } from "../../support/raw-server.ts";

const WITH_PATH = "statusPath: /actions/{actionPromise}";

const check = (field: Field, env?: NodeJS.ProcessEnv, json = false) => field.ask("checkEnvironment", { json }, env);

test("env --check: reaches the service, and has the key tried where there is a statusPath", async () => {
  const field = await openField(WITH_PATH);
  const { port } = field.sandbox;
  expect(await check(field)).toEqual({
    exitCode: 0,
    out: `local  http://127.0.0.1:${port}  (TICKETS_LOCAL_BASE_URL)
  service  ok: answered HTTP 404
  key      ok: accepted; the question was about a made-up promise
`,
    said: "",
  });
  expect(field.sandbox.engine.counts()).toMatchObject({ requests: 0, accepted: 0, refused: 0 });
});

test("env --check: sends no key without one, and says that nothing can be known of it", async () => {
  const field = await openField("retries: 0");
  const server = await startRaw({
    onRequest: (socket) => socket.end("HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n"),
  });
  const { exitCode, out, said } = await check(field, { TICKETS_LOCAL_BASE_URL: `http://127.0.0.1:${server.port}` });
  expect(exitCode).toBe(0);
  expect(server.connections[0]?.received).toMatch(/^GET \/ /);
  expect(server.connections[0]?.received).not.toMatch(/x-api-key/i);
  expect(out).toContain(
    "  key      not known: without a statusPath, only sending an action would show whether it is accepted\n",
  );
  expect(said).toBe("The key of local comes from environment variable TICKETS_LOCAL_API_KEY.");
});

test("env --check: a key that is not accepted is 5", async () => {
  const field = await openField(WITH_PATH);
  const { exitCode, out } = await check(field, { TICKETS_LOCAL_API_KEY: "another-key-altogether" });
  expect(exitCode).toBe(5);
  expect(out).toContain('  key      FAILED: authentication failed (HTTP 403): {"message":"Forbidden"}\n');
  const none = await check(field, { TICKETS_LOCAL_API_KEY: "" });
  expect([none.exitCode, none.said]).toEqual([5, expect.stringContaining("No key for local")]);
});

test("env --check: an address that takes no connection is 7, also as JSON", async () => {
  const field = await openField(WITH_PATH);
  const baseUrl = `http://127.0.0.1:${await freePort()}`;
  const { exitCode, out } = await check(field, { TICKETS_LOCAL_BASE_URL: baseUrl }, true);
  expect(exitCode).toBe(7);
  expect(JSON.parse(out)).toEqual({
    ...{ environment: "local", baseUrl, exitCode: 7 },
    checks: [{ check: "service", result: "failed", detail: expect.stringContaining("ECONNREFUSED") }],
  });
});

test.each([
  [{ status: 407 }, /service {2}FAILED: .*407/],
  [{ status: 502 }, /service {2}FAILED: .*502/],
])("env --check: a proxy that answers %j is 7", async (answers, said) => {
  const field = await openField(WITH_PATH);
  const proxy = await startProxy(answers);
  const { exitCode, out } = await check(field, {
    TICKETS_LOCAL_BASE_URL: "https://api.example.com",
    HTTPS_PROXY: `http://us%20er:secret@127.0.0.1:${proxy.port}`,
  });
  expect(exitCode).toBe(7);
  expect(out).toMatch(said);
  expect(out).not.toContain("secret");
  expect(proxy.asked).toEqual(["api.example.com:443"]);
  expect(proxy.connections[0]?.received).toContain(`proxy-authorization: Basic ${btoa("us er:secret")}`);
});

test("env --check: a proxy leads to the service, whose certificate is looked at", async () => {
  const field = await openField(WITH_PATH);
  const server = await startRaw({ tls: selfSigned("api.example.com") });
  const proxy = await startProxy({ leadsTo: server.port });
  const { exitCode, out } = await check(field, {
    TICKETS_LOCAL_BASE_URL: "https://api.example.com",
    HTTPS_PROXY: `http://127.0.0.1:${proxy.port}`,
  });
  expect(exitCode).toBe(7);
  expect(out).toMatch(/ {2}service {2}FAILED: DEPTH_ZERO_SELF_SIGNED_CERT/);
});

test.each([
  ["HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n", 7, "not known: no answer about a promise (HTTP 503)"],
  [
    "HTTP/1.1 400 Bad\r\nContent-Length: 2\r\n\r\nNo",
    9,
    "not known: the question was refused (HTTP 400), perhaps because",
  ],
  ['HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n{"status":"pending"}', 0, "ok: accepted; the question was"],
])("env --check: an answer %j is %i", async (answer, code, said) => {
  const field = await openField(WITH_PATH);
  const server = await startRaw({ onRequest: (socket) => socket.end(answer) });
  const { exitCode, out } = await check(field, { TICKETS_LOCAL_BASE_URL: `http://127.0.0.1:${server.port}` });
  expect(out).toContain(said);
  expect(exitCode).toBe(code);
});

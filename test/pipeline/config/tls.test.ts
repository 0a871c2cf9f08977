/** Client certificates and authorities of an environment: read before anything is sent, and used for every connection. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { describe, expect, onTestFinished, test } from "vitest";
import { issuedBy, selfSigned } from "../../support/certificate.ts";
import { failureOf } from "../../support/config-files.ts";
import { type Asked, makeContext, verbs } from "../../support/context.ts";
import { startRaw } from "../../support/raw-server.ts";
import { startService } from "../../support/service.ts";
import { salesTable } from "../../support/tables.ts";

const AUTHORITY = selfSigned("localhost");
const CLIENT = issuedBy(AUTHORITY);
const STRANGER = selfSigned();
const EXPIRED = issuedBy(AUTHORITY, [-3, -1]);

async function openFolder(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "tickets-tls-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text, { mode: 0o600 });
  return folder;
}

describe("a service that asks for certificates", () => {
  const FILES = {
    "client.pem": CLIENT.cert,
    "client.key": CLIENT.key,
    "stranger.pem": STRANGER.cert,
    "stranger.key": STRANGER.key,
    "expired.pem": EXPIRED.cert,
    "expired.key": EXPIRED.key,
    "ca.pem": AUTHORITY.cert,
  };
  const OWN = "cert: {file: client.pem}, key: {file: client.key}";
  const CA = "ca: {file: ca.pem}";

  /** A folder with these certificates; each command is run with the `tls` that it is given. */
  async function openCertified(baseUrl: string, key: string) {
    const folder = await openFolder({ ...FILES, "sales.csv": salesTable(3) });
    const env = { HOME: folder, TICKETS_LIVE_API_KEY: key, TICKETS_ENV: "live" };
    const typed = (command: (context: Asked["context"]) => Promise<number>) => async (tls: string) => {
      const lines = [
        `baseUrl: ${baseUrl}`,
        "statusPath: /actions/{actionPromise}",
        ...(tls === "" ? [] : [`tls: ${tls}`]),
      ];
      await writeFile(join(folder, "tickets.config.yaml"), `environments:\n  live:\n    ${lines.join("\n    ")}\n`);
      const { context, said, out } = makeContext(folder, env);
      return { said, out, command: command(context) };
    };
    const flags = { retries: 0 };
    return {
      stream: typed((context) => verbs.stream({ files: ["sales.csv"], json: true, flags }, context)),
      check: typed((context) => verbs.checkEnvironment({ flags }, context)),
      askRemote: typed((context) => verbs.remoteStatus({ flags }, context)),
    };
  }

  const streamTo = async (baseUrl: string, key: string, tls: string) => (await openCertified(baseUrl, key)).stream(tls);

  async function streamWith(tls: string) {
    const service = await startService({ tls: { ...AUTHORITY, ca: AUTHORITY.cert } });
    return { service, ...(await streamTo(service.baseUrl, service.key, tls)) };
  }

  test("is sent to with the certificate, known by its own authority", async () => {
    const { service, command } = await streamWith(
      "{cert: {file: client.pem}, key: {file: client.key}, ca: {file: ca.pem}}",
    );
    expect(await command).toBe(0);
    expect(service.sent()).toHaveLength(3);
  });

  /** The alerts of TLS as bytes: that no certificate came, and that its authority is not known. */
  test.each([
    ["without a certificate", "{ca: {file: ca.pem}}", 116, "a connection without a client certificate (ERR_SSL_"],
    [
      "with one that it does not know",
      "{cert: {file: client.pem}, key: {file: client.key}}",
      48,
      "the client certificate /",
    ],
  ])("lets nobody in %s: exit 5 after one try, and nothing in doubt", async (_, tls, alert, message) => {
    const hangUp = (socket: Socket): unknown =>
      socket.once("data", () => socket.end(Buffer.from([0x15, 0x03, 0x03, 0x00, 0x02, 0x02, alert])));
    const server = await startRaw({ onConnection: hangUp });
    const { command, said, out } = await streamTo(`https://127.0.0.1:${server.port}`, "key-of-the-test", tls);
    expect(await command, said()).toBe(5);
    expect(said()).toContain(`live did not accept ${message}`);
    expect(said()).toContain("Nothing of chunk 1 or after it was sent.");
    expect(server.connections).toHaveLength(1);
    expect(JSON.parse(out())).toMatchObject({ actions: { notSent: 3, inDoubt: 0 } });
  });

  /** In TLS 1.3 a client has done its part, and sends its request, before the service looks at the certificate. */
  describe("only after the handshake", () => {
    test.each([
      [
        "without a certificate",
        `{${CA}}`,
        "the service ended the connection over the client certificate, or for want of one, after the request had begun (ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED",
      ],
      [
        "with one of another authority, and hangs up",
        `{cert: {file: stranger.pem}, key: {file: stranger.key}, ${CA}}`,
        "",
      ],
    ])("has the chunk in doubt %s", async (_, tls, why) => {
      const service = await startService({ tls: { ...AUTHORITY, ca: AUTHORITY.cert } });
      const { command, said, out } = await streamTo(service.baseUrl, service.key, tls);
      expect(await command, said()).toBe(6);
      expect(said()).toContain(`Stopped: chunk 1 (3 actions) is in doubt: ${why}`);
      expect(said()).toMatch(/Look, then decide: tickets settle \w+ --env live$/);
      expect(JSON.parse(out())).toMatchObject({ actions: { accepted: 0, inDoubt: 3 } });
      expect(service.sent()).toEqual([]);
    });

    test.each([
      ["of another authority", "stranger", "ERR_SSL_TLSV1_ALERT_UNKNOWN_CA"],
      ["that has expired", "expired", "ERR_SSL_SSL/TLS_ALERT_CERTIFICATE_EXPIRED"],
    ])("names the alert about a certificate %s (needs openssl)", { tags: ["long"] }, async (_, own, alert) => {
      const baseUrl = await startOpenssl();
      const tls = `{cert: {file: ${own}.pem}, key: {file: ${own}.key}, ${CA}}`;
      const certified = await openCertified(baseUrl, "key-of-the-test");
      const checked = await certified.check(tls);
      expect(await checked.command, checked.out()).toBe(5);
      expect(checked.out()).toMatch(/ {2}service {5}FAILED: the client certificate \S+\.pem is not accepted \(/);
      expect(checked.out()).toContain(alert);
      const sent = await certified.stream(tls);
      expect(await sent.command, sent.said()).toBe(6);
      expect(sent.said()).toContain(`after the request had begun (${alert}`);
      expect(sent.said().includes("expired on")).toBe(own === "expired");
    });
  });

  describe("is checked and asked with them", () => {
    test("by env --check and status --remote", async () => {
      const service = await startService({ tls: { ...AUTHORITY, ca: AUTHORITY.cert } });
      const certified = await openCertified(service.baseUrl, service.key);
      const checked = await certified.check(`{${OWN}, ${CA}}`);
      expect(await checked.command, checked.out()).toBe(0);
      expect(checked.out()).toMatch(/ {2}service {5}ok: answered HTTP 404\n {2}key {9}ok: accepted/);
      const sent = await certified.stream(`{${OWN}, ${CA}}`);
      expect(await sent.command, sent.said()).toBe(0);
      service.behave({ answer: () => ({ status: 200, body: '{"status":"confirmed"}' }) });
      const asked = await certified.askRemote(`{${OWN}, ${CA}}`);
      expect(await asked.command, asked.said()).toBe(0);
      expect(asked.out()).toMatch(/^3 promises of 1 run\n {2}confirmed {2}3 {2}final\n$/);
    });

    test("and says which of them is refused, or missing", async () => {
      const service = await startService({ tls: { ...AUTHORITY, ca: AUTHORITY.cert } });
      const certified = await openCertified(service.baseUrl, service.key);
      const sent = await certified.stream(`{${OWN}, ${CA}}`);
      expect(await sent.command, sent.said()).toBe(0);
      const stranger = `cert: {file: stranger.pem}, key: {file: stranger.key}, ${CA}`;

      const unchecked = await certified.check(`{${CA}}`);
      expect(await unchecked.command).toBe(5);
      expect(unchecked.out()).toMatch(
        / {2}service {5}FAILED: a connection without a client certificate is not accepted \(ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED/,
      );
      const hungUp = await certified.check(`{${stranger}}`);
      expect(await hungUp.command).toBe(7);
      expect(hungUp.out()).toMatch(/ {2}service {5}FAILED: /);
      const untrusted = await certified.check(`{${OWN}}`);
      expect(await untrusted.command).toBe(7);
      expect(untrusted.out()).toMatch(/ {2}service {5}FAILED: DEPTH_ZERO_SELF_SIGNED_CERT/);

      const unasked = await certified.askRemote(`{${CA}}`);
      expect(await unasked.command).toBe(5);
      expect(unasked.said()).toContain(
        "live did not accept a connection without a client certificate (ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED",
      );
      const refused = await certified.askRemote(`{${stranger}}`);
      expect(await refused.command).toBe(7);
      expect(refused.said()).toMatch(/gave no answer about a promise after 1 attempt \(/);
      const strange = await certified.askRemote(`{${OWN}}`);
      expect(await strange.command).toBe(7);
      expect(strange.said()).toMatch(/Could not reach \S+ after 1 attempt \(DEPTH_ZERO_SELF_SIGNED_CERT/);
      for (const ask of [certified.check, certified.askRemote]) {
        const { command } = await ask("{cert: {file: none.pem}, key: {file: client.key}}");
        expect(await failureOf(command)).toMatchObject({
          code: "authentication-failed",
          message: expect.stringMatching(/the certificate \S+none\.pem does not exist\. Nothing was sent\.$/),
        });
      }
    });
  });

  test("is not believed without its authority: exit 7, and nothing sent", async () => {
    const { service, command, said } = await streamWith("");
    expect(await command).toBe(7);
    expect(said()).toMatch(/SELF_SIGNED|UNABLE_TO_VERIFY|self-signed/);
    expect(service.sent()).toEqual([]);
  });

  test("is not asked where the key does not fit: exit 5", async () => {
    const { service, command } = await streamWith("{cert: {file: client.pem}, key: {file: stranger.key}}");
    expect(await failureOf(command)).toMatchObject({ code: "authentication-failed" });
    expect(service.connections()).toBe(0);
  });
});

/** A server of OpenSSL, which says with an alert what it thinks of a certificate. */
async function startOpenssl(): Promise<string> {
  const folder = await openFolder({ "cert.pem": AUTHORITY.cert, "key.pem": AUTHORITY.key });
  const options = "-accept 127.0.0.1:0 -naccept 20 -tls1_3 -cert cert.pem -key key.pem -CAfile cert.pem -Verify 1";
  const server = spawn("openssl", ["s_server", ...options.split(" "), "-verify_return_error"], {
    cwd: folder,
    stdio: ["pipe", "pipe", "ignore"], // it ends with its standard input
  });
  await once(server, "spawn");
  const ended = once(server, "exit");
  onTestFinished(async () => {
    server.kill();
    await ended;
  });
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  createInterface(server.stdout)
    .on("line", (line) => {
      const place = /^ACCEPT (\S+)$/.exec(line)?.[1];
      if (place !== undefined) resolve(`https://${place}`);
    })
    .on("close", () => reject(new Error("openssl s_server ended")));
  return promise;
}

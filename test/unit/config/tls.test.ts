/** Client certificates and authorities of an environment: read before anything is sent, and used for every connection. */

import { createPrivateKey } from "node:crypto";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { readTls } from "../../../src/config/tls.ts";
import { Failure } from "../../../src/failure.ts";
import { issuedBy, selfSigned } from "../../support/certificate.ts";

const AUTHORITY = selfSigned("localhost");
const CLIENT = issuedBy(AUTHORITY);
const STRANGER = selfSigned();
const EXPIRED = issuedBy(AUTHORITY, [-3, -1]);

const encrypted = createPrivateKey(CLIENT.key)
  .export({ type: "pkcs8", format: "pem", cipher: "aes-256-cbc", passphrase: "open sesame" })
  .toString();

async function openFolder(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "tickets-tls-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text, { mode: 0o600 });
  return folder;
}

describe("what is read", () => {
  const files = {
    cert: CLIENT.cert,
    key: CLIENT.key,
    locked: encrypted,
    ca: AUTHORITY.cert,
    word: "open sesame\n",
    other: STRANGER.key,
  };

  async function read(named: Readonly<Record<string, string>>, passphrase?: { env: string } | { file: string }) {
    const folder = await openFolder({ ...files, text: "no certificate" });
    const at = Object.fromEntries(Object.entries(named).map(([part, file]) => [part, { file: join(folder, file) }]));
    const warnings: string[] = [];
    const place = passphrase && ("env" in passphrase ? passphrase : { file: join(folder, passphrase.file) });
    const tls = { ...at, ...(place && { passphrase: place }) };
    const result = readTls({ name: "live", tls }, { WORD: "open sesame", WRONG: "x" }, (text) => warnings.push(text));
    return { folder, warnings, result: await result.catch((cause: unknown) => cause) };
  }

  test("is the certificate, its key and the authorities", async () => {
    expect(await read({ cert: "cert", key: "key", ca: "ca" })).toMatchObject({
      ...{ warnings: [], result: { cert: CLIENT.cert, key: CLIENT.key, ca: AUTHORITY.cert } },
    });
    expect((await read({ ca: "ca" })).result).toEqual({ ca: AUTHORITY.cert });
  });

  test.each([{ env: "WORD" }, { file: "word" }])("is a key that %j opens", async (passphrase) => {
    const { result } = await read({ cert: "cert", key: "locked" }, passphrase);
    expect(result).toMatchObject({ key: encrypted, passphrase: "open sesame" });
  });

  test.each<[string, Record<string, string>, { env: string } | { file: string } | undefined, string, RegExp]>([
    [
      "a missing certificate",
      { cert: "none", key: "key" },
      undefined,
      "authentication-failed",
      /the certificate \S+none does not exist/,
    ],
    [
      "another key",
      { cert: "cert", key: "other" },
      undefined,
      "authentication-failed",
      /the key \S+other does not belong to the certificate/,
    ],
    [
      "no certificate",
      { cert: "text", key: "key" },
      undefined,
      "authentication-failed",
      /text holds no certificate in PEM/,
    ],
    [
      "an encrypted key",
      { cert: "cert", key: "locked" },
      undefined,
      "authentication-failed",
      /locked is encrypted, and the config names no passphrase/,
    ],
    [
      "a wrong passphrase",
      { cert: "cert", key: "locked" },
      { env: "WRONG" },
      "authentication-failed",
      /the passphrase does not open the key/,
    ],
    [
      "a variable that is not set",
      { cert: "cert", key: "locked" },
      { env: "NONE" },
      "authentication-failed",
      /the passphrase in environment variable NONE is not set/,
    ],
    ["authorities that are none", { ca: "text" }, undefined, "usage", /text holds no certificate in PEM/],
  ])("refuses %s", async (_, named, passphrase, code, message) => {
    const { result } = await read(named, passphrase);
    if (!(result instanceof Failure)) throw new Error("it was taken");
    expect(result).toMatchObject({ code, message: expect.stringMatching(message) });
    expect(result.message).toMatch(/ Nothing was sent\.$/);
    expect(JSON.stringify([result.message, result.hint])).not.toContain("sesame");
  });

  test("warns of a certificate that has expired", async () => {
    const folder = await openFolder({ key: CLIENT.key, cert: CLIENT.cert });
    await writeFile(join(folder, "cert"), EXPIRED.cert);
    await writeFile(join(folder, "key"), EXPIRED.key);
    await chmod(join(folder, "key"), 0o644);
    const warnings: string[] = [];
    const tls = { cert: { file: join(folder, "cert") }, key: { file: join(folder, "key") } };
    await readTls({ name: "live", tls }, {}, (text) => warnings.push(text));
    expect(warnings).toEqual([
      expect.stringMatching(/^The client certificate \S+cert expired on \d{4}-01-01\.$/),
      expect.stringMatching(/^The key file \S+key is readable by others; chmod 600 keeps it private\.$/),
    ]);
  });
});

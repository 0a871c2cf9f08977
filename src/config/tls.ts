/** The client certificate of an environment, and the authorities that it trusts: read and checked before anything is sent. */

import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { createSecureContext } from "node:tls";
import { cleanText } from "../actions/text.ts";
import { errorCode, Failure } from "../failure.ts";
import type { Environment, TlsSource } from "./environment.ts";

/** What a connection is opened with. Holds a private key: shown nowhere. */
export interface ClientTls {
  readonly cert?: string;
  readonly key?: string;
  /** Replaces the authorities that are trusted otherwise. */
  readonly ca?: string;
  readonly passphrase?: string;
}

/** Far above any chain of certificates. */
const MOST_BYTES = 1024 * 1024;

/**
 * What `tls` of an environment names; undefined where it names nothing.
 *
 * @param onWarning what is doubtful, but no reason to stop.
 * @throws Failure `not-let-in` for a certificate, key or passphrase that can't be used, `usage` for such authorities.
 */
export async function readTls(
  { name, tls }: Pick<Environment, "name" | "tls">,
  env: NodeJS.ProcessEnv,
  onWarning: (warning: string) => void,
): Promise<ClientTls | undefined> {
  if (tls === undefined) return undefined;
  const own = tls.cert === undefined || tls.key === undefined ? {} : await readPair(name, tls, tls, env, onWarning);
  const ca = tls.ca === undefined ? {} : { ca: await readAuthorities(name, tls.ca) };
  return { ...own, ...ca };
}

async function readPair(
  name: string,
  { cert: certPath = "", key: keyPath = "" }: TlsSource,
  { passphrase: source }: TlsSource,
  env: NodeJS.ProcessEnv,
  onWarning: (warning: string) => void,
): Promise<ClientTls> {
  const refuse = (what: string, hint: string, cause?: unknown): Failure =>
    new Failure("not-let-in", `No client certificate for ${name}: ${what}. Nothing was sent.`, { hint, cause });
  const ofFile = async (path: string, what: string): Promise<string> =>
    readText(path, (why, cause) => refuse(`${what} ${cleanText(path, 300)} ${why}`, HINTS[what] ?? "", cause));
  const cert = await ofFile(certPath, CERT);
  const key = await ofFile(keyPath, KEY);
  const passphrase = await readPassphrase(source, env, (what, cause) => refuse(what, PASSPHRASE_HINT, cause));
  const certificate = parsed(
    () => new X509Certificate(cert),
    () => refuse(`${CERT} ${certPath} holds no certificate in PEM`, HINTS[CERT] ?? ""),
  );
  const privateKey = parsed<KeyObject>(
    () => createPrivateKey({ key, ...(passphrase !== undefined && { passphrase }) }),
    () =>
      /ENCRYPTED/.test(key)
        ? refuse(
            passphrase === undefined
              ? `${KEY} ${keyPath} is encrypted, and the config names no passphrase`
              : `the passphrase does not open ${KEY} ${keyPath}`,
            PASSPHRASE_HINT,
          )
        : refuse(`${KEY} ${keyPath} holds no private key in PEM`, HINTS[KEY] ?? ""),
  );
  if (!certificate.checkPrivateKey(privateKey))
    throw refuse(
      `${KEY} ${keyPath} does not belong to the certificate ${certPath}`,
      "The two must have been issued together; where the file holds a chain, the certificate of the key comes first.",
    );
  const own = { cert, key, ...(passphrase !== undefined && { passphrase }) };
  // What the two can't tell, such as a key that is too short for today.
  parsed(
    () => createSecureContext(own),
    (cause) => refuse(`${CERT} ${certPath} can't be used (${errorCode(cause) ?? "unknown reason"})`, HINTS[CERT] ?? ""),
  );
  const until = new Date(certificate.validTo);
  if (until.getTime() < Date.now())
    onWarning(`The client certificate ${certPath} expired on ${until.toISOString().slice(0, 10)}.`);
  if (((await stat(keyPath)).mode & 0o077) !== 0)
    onWarning(`The key file ${keyPath} is readable by others; chmod 600 keeps it private.`);
  return own;
}

const CERT = "the certificate";
const KEY = "the key";
const HINTS: Readonly<Record<string, string>> = {
  [CERT]:
    "tls.cert in the config names the certificate that you were given, in PEM, with those that vouch for it below.",
  [KEY]: "tls.key in the config names the private key of that certificate, in PEM.",
};
const PASSPHRASE_HINT =
  "tls.passphrase in the config names where the passphrase of the key is: {env: NAME} or {file: PATH}.";

async function readPassphrase(
  source: TlsSource["passphrase"],
  env: NodeJS.ProcessEnv,
  refuse: (what: string, cause?: unknown) => Failure,
): Promise<string | undefined> {
  if (source === undefined) return undefined;
  const text =
    source.kind === "variable"
      ? env[source.name]
      : await readText(source.path, (why, cause) => refuse(`the passphrase file ${source.path} ${why}`, cause));
  const passphrase = text?.replace(/\r?\n$/, "");
  if (!passphrase)
    throw refuse(
      source.kind === "variable"
        ? `the variable ${source.name} is not set`
        : `the passphrase file ${source.path} is empty`,
    );
  return passphrase;
}

async function readAuthorities(name: string, path: string): Promise<string> {
  const refuse = (why: string, cause?: unknown): Failure =>
    new Failure(
      "usage",
      `The authorities of ${name}, tls.ca ${cleanText(path, 300)}, can't be used: it ${why}. Nothing was sent.`,
      {
        hint: "tls.ca names a file with one or more certificates in PEM. Only what they vouch for is trusted then.",
        cause,
      },
    );
  const ca = await readText(path, refuse);
  const blocks = ca.match(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g) ?? [];
  if (blocks.length === 0) throw refuse("holds no certificate in PEM");
  for (const block of blocks)
    parsed(
      () => new X509Certificate(block),
      () => refuse("holds a damaged certificate"),
    );
  return ca;
}

async function readText(path: string, refuse: (why: string, cause?: unknown) => Failure): Promise<string> {
  try {
    const found = await stat(path);
    if (found.isFile() && found.size <= MOST_BYTES) return await readFile(path, "utf8");
    throw refuse(found.isFile() ? "is too large" : found.isDirectory() ? "is a folder" : "is not a plain file");
  } catch (cause) {
    if (cause instanceof Failure) throw cause;
    const code = errorCode(cause) ?? "";
    throw refuse(WHY[code] ?? `can't be read (${code || "unknown reason"})`, cause);
  }
}

const WHY: Readonly<Record<string, string>> = {
  ENOENT: "does not exist",
  EACCES: "can't be read: permission denied",
};

/** The errors of OpenSSL may repeat what they could not read, so none becomes a cause. */
function parsed<T>(parse: () => T, refuse: (cause: unknown) => Failure): T {
  try {
    return parse();
  } catch (cause) {
    throw refuse(cause);
  }
}

/** What is used, in words, by its places alone. */
export function describeTls({ cert, key, ca, passphrase }: TlsSource): string {
  return [
    ...(cert === undefined ? [] : [`cert ${cert}`]),
    ...(key === undefined ? [] : [`key ${key}`]),
    ...(ca === undefined ? [] : [`ca ${ca}`]),
    ...(passphrase === undefined
      ? []
      : [
          `passphrase in ${passphrase.kind === "variable" ? `environment variable ${passphrase.name}` : passphrase.path}`,
        ]),
  ].join(", ");
}

/** Client certificates and the authorities that are trusted, of a service or a database: read and checked before anything is sent. */

import { createPrivateKey, X509Certificate } from "node:crypto";
import { cleanText } from "../actions/text.ts";
import { errorCode, Failure } from "../failure.ts";
import { describeKeySource } from "./declared.ts";
import type { Settings } from "./settings.ts";
import { readSmallSync, warningOfMode } from "./small-file.ts";

/** Where certificate, key and authorities are; paths are absolute. */
export type TlsSource = NonNullable<Settings["tls"]>;

/** What a connection is opened with, as PEM texts. Holds a private key: shown nowhere. */
export interface ClientTls {
  readonly cert?: string;
  readonly key?: string;
  /** Replaces the authorities that are trusted otherwise. */
  readonly ca?: string;
  readonly passphrase?: string;
}

/** Far above any chain of certificates. */
const MOST_BYTES = 1024 * 1024;

const HINTS = {
  cert: "tls.cert in the config names the certificate that you were given, in PEM, with those that vouch for it below.",
  key: "tls.key in the config names the private key of that certificate, in PEM.",
  passphrase: "tls.passphrase in the config names where the passphrase of the key is: {env: NAME} or {file: PATH}.",
  ca: "tls.ca names a file with one or more certificates in PEM. Only what they vouch for is trusted then.",
} as const;

type Part = keyof typeof HINTS;

/** How certificates are read: for whom, and who hears what is wrong with them. */
interface Reading {
  readonly env: NodeJS.ProcessEnv;
  /** Hears what is doubtful, but no reason to stop. */
  readonly onWarning: (warning: string) => void;
  readonly refuse: (part: Part, what: string, cause?: unknown) => Failure;
}

/**
 * What `tls` of an environment names; undefined where it names nothing.
 *
 * @throws Failure `authentication-failed` for a certificate, key or passphrase that can't be used, `usage` for such authorities.
 */
export async function readTls(
  { name, tls }: { readonly name: string; readonly tls?: TlsSource | undefined },
  env: NodeJS.ProcessEnv,
  onWarning: (warning: string) => void,
): Promise<ClientTls | undefined> {
  if (tls === undefined) return undefined;
  const refuse = (part: Part, what: string, cause?: unknown): Failure => {
    const [code, start] =
      part === "ca"
        ? (["usage", `Can't connect to ${name}`] as const)
        : (["authentication-failed", `No client certificate for ${name}`] as const);
    return new Failure(code, `${start}: ${cleanText(what, 600)}.`, { nothingSent: true, hint: HINTS[part], cause });
  };
  return readCertificates(tls, { env, onWarning, refuse });
}

/** Reads the files that `tls` names, and checks each for what it is said to be. */
export function readCertificates({ cert, key, ca, passphrase }: TlsSource, reading: Reading): ClientTls {
  const phrase = readPassphrase(passphrase, reading);
  return {
    ...(cert && key && readPair(cert.file, key.file, phrase, reading)),
    ...(ca && { ca: readAuthorities(ca.file, reading) }),
  };
}

function readPair(
  certPath: string,
  keyPath: string,
  phrase: { readonly passphrase?: string },
  reading: Reading,
): ClientTls {
  const { refuse, onWarning } = reading;
  const [certName, keyName] = [`the certificate ${certPath}`, `the key ${keyPath}`];
  const cert = textOf("cert", certName, certPath, reading);
  const key = textOf("key", keyName, keyPath, reading);
  const own = { cert, key, ...phrase };
  const certificate = parsed(
    () => new X509Certificate(cert),
    (why) => refuse("cert", `${certName} holds no certificate in PEM (${why})`),
  );
  const privateKey = parsed(
    () => createPrivateKey({ key, ...phrase }),
    (why) => {
      if (!/ENCRYPTED/.test(key)) return refuse("key", `${keyName} holds no private key in PEM (${why})`);
      return phrase.passphrase === undefined
        ? refuse("passphrase", `${keyName} is encrypted, and the config names no passphrase`)
        : refuse("passphrase", `the passphrase does not open ${keyName}`);
    },
  );
  if (!certificate.checkPrivateKey(privateKey)) throw refuse("key", `${keyName} does not belong to ${certName}`);
  // What the two don't show, such as a key that is too short for today.
  const { createSecureContext } = process.getBuiltinModule("node:tls"); // most commands do without it
  parsed(
    () => createSecureContext(own),
    (why) => refuse("cert", `${certName} can't be used (${why})`),
  );
  const until = new Date(certificate.validTo);
  if (until.getTime() < Date.now())
    onWarning(`The client certificate ${certPath} expired on ${until.toISOString().slice(0, 10)}.`);
  const warning = warningOfMode(keyPath);
  if (warning !== undefined) onWarning(warning);
  return own;
}

function readPassphrase(place: TlsSource["passphrase"], reading: Reading): { readonly passphrase?: string } {
  if (place === undefined) return {};
  const { env, file = "" } = place;
  const name = `the passphrase in ${describeKeySource(place)}`;
  const text = env === undefined ? textOf("passphrase", name, file, reading) : reading.env[env];
  const passphrase = text?.replace(/\r?\n$/, "");
  if (passphrase) return { passphrase };
  throw reading.refuse("passphrase", `${name} ${text === undefined ? "is not set" : "is empty"}`);
}

function readAuthorities(path: string, reading: Reading): string {
  const name = `the file of authorities ${path}`;
  const text = textOf("ca", name, path, reading);
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g) ?? [];
  if (blocks.length === 0) throw reading.refuse("ca", `${name} holds no certificate in PEM`);
  for (const block of blocks)
    parsed(
      () => new X509Certificate(block),
      (why) => reading.refuse("ca", `${name} holds a damaged certificate (${why})`),
    );
  return text;
}

const textOf = (part: Part, name: string, path: string, { refuse }: Reading): string =>
  readSmallSync(path, MOST_BYTES, (why, cause) => refuse(part, `${name} ${why}`, cause));

/** The errors of OpenSSL may repeat what they could not read, so none becomes a cause; its code is shown. */
function parsed<T>(parse: () => T, refuse: (why: string) => Failure): T {
  try {
    return parse();
  } catch (cause) {
    throw refuse(errorCode(cause) ?? "unknown reason");
  }
}

/** What a service refuses when it ends a connection over the client's certificate. */
export const describeOwnCertificate = (tls: TlsSource | undefined): string =>
  tls?.cert === undefined ? "a connection without a client certificate" : `the client certificate ${tls.cert.file}`;

/** What is used, in words, by its places alone. */
export function describeTls({ passphrase, ...files }: TlsSource): string {
  const places = Object.entries(files).map(([part, place]) => `${part} ${place?.file}`);
  return [...places, ...(passphrase ? [`passphrase in ${describeKeySource(passphrase)}`] : [])].join(", ");
}

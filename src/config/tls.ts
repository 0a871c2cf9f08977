/** Client certificates and the authorities that are trusted, of a service or a database: read and checked before anything is sent. */

import { createPrivateKey, X509Certificate } from "node:crypto";
import { cleanText } from "../actions/text.ts";
import { errorCode, Failure } from "../failure.ts";
import { describeKeySource, secretSource } from "./declared.ts";
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

/**
 * What `tls` of an environment names; undefined where it names nothing.
 *
 * @param onWarning what is doubtful, but no reason to stop.
 * @throws Failure `not-let-in` for a certificate, key or passphrase that can't be used, `usage` for such authorities.
 */
export async function readTls(
  { name, tls }: { readonly name: string; readonly tls?: TlsSource | undefined },
  env: NodeJS.ProcessEnv,
  onWarning: (warning: string) => void,
): Promise<ClientTls | undefined> {
  return (
    tls &&
    new CertificateReader(env, onWarning, (part, what, options) => {
      const [code, start] =
        part === "ca"
          ? (["usage", `Can't connect to ${name}`] as const)
          : (["not-let-in", `No client certificate for ${name}`] as const);
      return new Failure(code, `${start}: ${what}. Nothing was sent.`, options);
    }).read(tls)
  );
}

/** Reads the files that `tls` names, and checks each for what it is said to be. */
export class CertificateReader {
  readonly #env: NodeJS.ProcessEnv;
  readonly #onWarning: (warning: string) => void;
  readonly #toFailure: (
    part: Part,
    what: string,
    options: { readonly hint: string; readonly cause: unknown },
  ) => Failure;

  constructor(
    env: NodeJS.ProcessEnv,
    onWarning: (warning: string) => void,
    toFailure: (part: Part, what: string, options: { readonly hint: string; readonly cause: unknown }) => Failure,
  ) {
    this.#env = env;
    this.#onWarning = onWarning;
    this.#toFailure = toFailure;
  }

  read({ cert, key, ca, passphrase }: TlsSource): ClientTls {
    const pair = cert && key && this.#readPair(cert.file, key.file, this.#readPassphrase(passphrase));
    return { ...pair, ...(ca && { ca: this.#readAuthorities(ca.file) }) };
  }

  #readPair(certPath: string, keyPath: string, passphrase: { readonly passphrase?: string }): ClientTls {
    const [certName, keyName] = [`the certificate ${certPath}`, `the key ${keyPath}`];
    const pair = { cert: this.#text("cert", certName, certPath), key: this.#text("key", keyName, keyPath) };
    const own = { ...pair, ...passphrase };
    const certificate = this.#parsed(
      "cert",
      `${certName} holds no certificate in PEM`,
      () => new X509Certificate(own.cert),
    );
    const isLocked = /ENCRYPTED/.test(own.key);
    const why = !isLocked
      ? `${keyName} holds no private key in PEM`
      : own.passphrase === undefined
        ? `${keyName} is encrypted, and the config names no passphrase`
        : `the passphrase does not open ${keyName}`;
    const key = this.#parsed(isLocked ? "passphrase" : "key", why, () =>
      createPrivateKey({ key: own.key, ...passphrase }),
    );
    if (!certificate.checkPrivateKey(key)) throw this.#refuse("key", `${keyName} does not belong to ${certName}`);
    // What the two can't tell, such as a key that is too short for today.
    const { createSecureContext } = process.getBuiltinModule("node:tls"); // most commands do without it
    this.#parsed("cert", `${certName} can't be used`, () => createSecureContext(own));
    const until = new Date(certificate.validTo);
    if (until.getTime() < Date.now())
      this.#onWarning(`The client certificate ${certPath} expired on ${until.toISOString().slice(0, 10)}.`);
    const warning = warningOfMode(keyPath);
    if (warning !== undefined) this.#onWarning(warning);
    return own;
  }

  #readPassphrase(place: TlsSource["passphrase"]): { readonly passphrase?: string } {
    const source = place && secretSource(place);
    if (source === undefined) return {};
    const name = `the passphrase in ${describeKeySource(source)}`;
    const text = source.kind === "variable" ? this.#env[source.name] : this.#text("passphrase", name, source.path);
    const passphrase = text?.replace(/\r?\n$/, "");
    if (!passphrase) throw this.#refuse("passphrase", `${name} ${text === undefined ? "is not set" : "is empty"}`);
    return { passphrase };
  }

  #readAuthorities(path: string): string {
    const name = `the file of authorities ${path}`;
    const text = this.#text("ca", name, path);
    const blocks = text.match(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g) ?? [];
    if (blocks.length === 0) throw this.#refuse("ca", `${name} holds no certificate in PEM`);
    for (const block of blocks)
      this.#parsed("ca", `${name} holds a damaged certificate`, () => new X509Certificate(block));
    return text;
  }

  #text(part: Part, name: string, path: string): string {
    return readSmallSync(path, MOST_BYTES, (why, cause) => this.#refuse(part, `${name} ${why}`, cause));
  }

  /** The errors of OpenSSL may repeat what they could not read, so none becomes a cause; its code is shown. */
  #parsed<T>(part: Part, what: string, parse: () => T): T {
    try {
      return parse();
    } catch (cause) {
      throw this.#refuse(part, `${what} (${errorCode(cause) ?? "unknown reason"})`);
    }
  }

  #refuse(part: Part, what: string, cause?: unknown): Failure {
    return this.#toFailure(part, cleanText(what, 600), { hint: HINTS[part], cause });
  }
}

/** What a service refuses when it ends a connection over the client's certificate. */
export const describeOwnCertificate = (tls: TlsSource | undefined): string =>
  tls?.cert === undefined ? "a connection without a client certificate" : `the client certificate ${tls.cert.file}`;

/** What is used, in words, by its places alone. */
export function describeTls({ passphrase, ...files }: TlsSource): string {
  const places = Object.entries(files).map(([part, place]) => `${part} ${place?.file}`);
  const source = passphrase && secretSource(passphrase);
  return [...places, ...(source === undefined ? [] : [`passphrase in ${describeKeySource(source)}`])].join(", ");
}

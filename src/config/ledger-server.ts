/** Where the ledger of an environment is when a database server holds it, and how its address is read and checked. */

import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { cleanText, displayPath } from "../actions/text.ts";
import { errorCode, Failure } from "../failure.ts";
import type { Config, EnvironmentConfig } from "./config.ts";
import { LEDGER_SCHEMA } from "./schema.ts";

/** Holds no secret, and shows none: the address is read when it is asked for. */
export interface LedgerServer {
  readonly schema: string;
  /** Where the URL is; never the URL. */
  readonly urlSource: UrlSource;
  /** Paths of certificates; absolute. */
  readonly tls: {
    readonly ca?: string | undefined;
    readonly cert?: string | undefined;
    readonly key?: string | undefined;
  };
  /** The user's word that the server may forget what it has confirmed. */
  readonly isUnsafe: boolean;
  /**
   * Reads the URL and the certificates.
   *
   * @throws Failure `usage` for what is missing or can't be used. It names the source, never the URL.
   */
  readonly address: () => LedgerAddress;
}

type UrlSource =
  | { readonly kind: "variable"; readonly name: string }
  | { readonly kind: "file"; readonly path: string };

/** How a database is spoken to. Holds a password. */
interface LedgerAddress {
  /** Without what says whether TLS is used. */
  readonly url: string;
  /** PEM texts; undefined for a connection without TLS. */
  readonly tls: { readonly ca?: string; readonly cert?: string; readonly key?: string } | undefined;
}

/** Where the ledger is, without who asks and with which password: host and database, if the URL can be read; the schema. */
export function describeLedgerServer({ address, schema, urlSource }: LedgerServer): string {
  try {
    return `${withoutUser(address().url)} (schema ${schema})`;
  } catch (cause) {
    if (!(cause instanceof Failure)) throw cause;
    return `PostgreSQL by ${describeUrlSource(urlSource)} (schema ${schema})`;
  }
}

/** What the config names, by its places alone. */
export function describeLedgerSource({ urlSource, schema, tls, isUnsafe }: LedgerServer): string {
  const files = Object.entries(tls).flatMap(([part, path]) => (path === undefined ? [] : [`${part} ${path}`]));
  const unsafe = isUnsafe ? ["unsafeLedger"] : [];
  return [`PostgreSQL by ${describeUrlSource(urlSource)}`, `schema ${schema}`, ...files, ...unsafe].join(", ");
}

/** Of a URL that `parseServerUrl` has checked. */
function withoutUser(url: string): string {
  const [, hosts = "", database = ""] = /^[a-z]+:\/\/(?:[^@/]*@)?([^/?]*)\/([^?]*)/.exec(url) ?? [];
  return `postgres://${hosts}/${database}`;
}

/** The place of an environment's ledger, for messages. */
export const ledgerPlace = (
  { ledgerPath, ledgerServer }: { readonly ledgerPath: string; readonly ledgerServer?: LedgerServer },
  cwd: string,
): string => (ledgerServer === undefined ? displayPath(ledgerPath, cwd) : describeLedgerServer(ledgerServer));

type Declared = NonNullable<EnvironmentConfig["ledger"]>["postgres"];

interface Settings extends Declared {
  /** The environment whose ledger it is. */
  readonly owner: string;
  readonly isUnsafe: boolean;
  /** Where it is declared, for messages. */
  readonly origin: string;
  readonly env: NodeJS.ProcessEnv;
}

/** @throws Failure `usage` where the environment's name makes no name of a schema. */
export function toLedgerServer({ url, schema, tls, owner, isUnsafe, origin, env }: Settings): LedgerServer {
  const usual = usualSchema(owner);
  if (schema === undefined && !LEDGER_SCHEMA.test(usual))
    throw new Failure("usage", `The schema ${usual} would have more than 63 characters (${origin}).`, {
      hint: "Name a shorter one: ledger: {postgres: {schema: …}}. Nothing was sent.",
    });
  const urlSource: UrlSource =
    url.env === undefined ? { kind: "file", path: url.file ?? "" } : { kind: "variable", name: url.env };
  const places = { ca: tls?.ca?.file, cert: tls?.cert?.file, key: tls?.key?.file };
  const refuse = (what: string, hint: string): Failure =>
    new Failure("usage", `The ledger of ${owner} (${origin}): ${cleanText(what, 600)}. Nothing was sent.`, { hint });
  return {
    schema: schema ?? usual,
    urlSource,
    tls: places,
    isUnsafe,
    address() {
      const { address, mode } = parseServerUrl(readUrl(urlSource, env, refuse), (what) =>
        refuse(`the URL in ${describeUrlSource(urlSource)} ${what}`, URL_HINT),
      );
      return { url: address, tls: readTls(places, mode, refuse) };
    },
  };
}

const usualSchema = (owner: string): string => `tickets_${owner.replaceAll("-", "_")}`;

/** The schema of an environment that keeps its own ledger, wherever that is. */
export const schemaOfOwner = ({ environments }: Pick<Config, "environments">, owner: string): string =>
  environments.get(owner)?.ledger?.postgres.schema ?? usualSchema(owner);

type Refuse = (what: string, hint: string) => Failure;

const URL_HINT =
  "It has the form postgres://USER:PASSWORD@HOST:5432/DATABASE; in user and password, characters such as @ : / # are written as %40 %3A %2F %23.";

const describeUrlSource = (source: UrlSource): string =>
  source.kind === "variable" ? `environment variable ${source.name}` : `file ${source.path}`;

/** Far above any URL. */
const MOST_BYTES = 16 * 1024;

function readUrl(source: UrlSource, env: NodeJS.ProcessEnv, refuse: Refuse): string {
  const text =
    source.kind === "variable"
      ? env[source.name]
      : readText(source.path, MOST_BYTES, (why) => refuse(`the file ${source.path} ${why}`, URL_HINT));
  const url = text?.trim();
  if (!url)
    throw refuse(
      source.kind === "variable" ? `the variable ${source.name} is not set` : `the file ${source.path} is empty`,
      `Put the database's URL there. ${URL_HINT}`,
    );
  return url;
}

/** What is on this machine needs no TLS. */
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\]|)(?::\d+)?$/i;
const HOST = /^(?:[A-Za-z0-9_.-]+|\[[0-9A-Fa-f:.]+\])?(?::\d{1,5})?$/;

/** `disabled`: by the word of whoever wrote the URL. */
type TlsMode = "on" | "off" | "disabled";

/**
 * Takes a URL apart that nothing of may be shown.
 *
 * @returns the URL without the parameter `sslmode`, and what that says; where it says nothing, TLS is used beyond this machine.
 */
function parseServerUrl(
  text: string,
  refuse: (what: string) => Failure,
): { readonly address: string; readonly mode: TlsMode } {
  const parts = /^(postgres(?:ql)?):\/\/(?:([^@/?#]*)@)?([^/?#]*)(?:\/([^/?#@]*))?(?:\?([^#]*))?$/.exec(text);
  if (parts === null || /[\s\0]/.test(text)) throw refuse("is not the URL of a PostgreSQL database");
  const [, , user, hosts = "", database = "", query = ""] = parts;
  const all = hosts.split(",");
  if (!all.every((host) => HOST.test(host))) throw refuse("names no host that there can be");
  if (database === "") throw refuse("names no database");
  if ([user ?? "", database].some(hasBrokenCharacter)) throw refuse("has a % that begins no character");
  const parameters = new URLSearchParams(query);
  const mode = parameters.get("sslmode");
  parameters.delete("sslmode");
  const certificate = [...parameters.keys()].find((name) => /^ssl|^uselibpqcompat$/i.test(name));
  if (certificate !== undefined)
    throw refuse(
      `says ${cleanText(certificate, 40)}, which the config says: ledger: {postgres: {tls: {ca, cert, key}}}`,
    );
  if (mode !== null && !["disable", "require", "verify-ca", "verify-full"].includes(mode))
    throw refuse("has an sslmode that leaves open whether TLS is used; there are disable, require and verify-full");
  const rest = parameters.toString();
  const isNear = all.every((host) => LOOPBACK.test(host)) && !(parameters.get("host") ?? "/").match(/^[^/]/);
  return {
    address: `${text.slice(0, text.includes("?") ? text.indexOf("?") : undefined)}${rest === "" ? "" : `?${rest}`}`,
    mode: mode === null ? (isNear ? "off" : "on") : mode === "disable" ? "disabled" : "on",
  };
}

/** Whether a part of a URL can't be read, or holds a character that no name has. */
function hasBrokenCharacter(part: string): boolean {
  try {
    return decodeURIComponent(part).includes("\0");
  } catch {
    return true;
  }
}

/** Far above any chain of certificates. */
const MOST_PEM_BYTES = 1024 * 1024;
const TLS_HINT =
  "ledger.postgres.tls in the config names files in PEM: ca, and where the server asks for them cert and key.";

function readTls({ ca, cert, key }: LedgerServer["tls"], mode: TlsMode, refuse: Refuse): LedgerAddress["tls"] {
  const isNamed = ca !== undefined || cert !== undefined;
  if (mode === "disabled" && isNamed)
    throw refuse("its URL says sslmode=disable, but certificates are named", "Remove one of the two.");
  if (mode !== "on" && !isNamed) return undefined;
  const read = (part: string, path: string | undefined, check: (text: string) => unknown) => {
    if (path === undefined) return {};
    const text = readText(path, MOST_PEM_BYTES, (why) => refuse(`tls.${part} ${path} ${why}`, TLS_HINT));
    try {
      check(text);
    } catch {
      // What OpenSSL could not read it may repeat, so that is no cause.
      throw refuse(
        `tls.${part} ${path} can't be used: it holds no ${part === "key" ? "private key" : "certificate"} in PEM that can be read`,
        TLS_HINT,
      );
    }
    return { [part]: text };
  };
  const certificate = (text: string): X509Certificate => new X509Certificate(text);
  return {
    ...read("ca", ca, certificate),
    ...read("cert", cert, certificate),
    ...read("key", key, (text) => createPrivateKey(text)),
  };
}

function readText(path: string, most: number, refuse: (why: string) => Failure): string {
  try {
    const found = statSync(path);
    if (found.isDirectory()) throw refuse("is a folder");
    if (found.size > most) throw refuse("is too large");
    return readFileSync(path, "utf8");
  } catch (cause) {
    if (cause instanceof Failure) throw cause;
    const code = errorCode(cause) ?? "unknown reason";
    throw refuse(
      { ENOENT: "does not exist", EACCES: "can't be read: permission denied" }[code] ?? `can't be read (${code})`,
    );
  }
}

/** Where the ledger of an environment is when a database server holds it, and how its address is read and checked. */

import { Failure } from "../failure.ts";
import { cleanText, displayPath } from "../text.ts";
import type { Config } from "./config.ts";
import { describeKeySource, ledgerOwnerOf, originIn, placeIn, type SecretSource } from "./declared.ts";
import { readSmallSync } from "./files.ts";
import { LEDGER_SCHEMA } from "./settings.ts";
import { LOOPBACK } from "./values.ts";

/** It holds no secret: the URL is read when it is needed. */
export interface LedgerServer {
  readonly schema: string;
  readonly urlSource: SecretSource;
  /** Where the config names it: `FILE:LINE`. */
  readonly origin: string;
  /**
   * Reads the URL.
   *
   * @throws Failure `usage` for what is missing or can't be used. It names the source, never the URL.
   */
  readonly address: () => LedgerAddress;
}

/** It holds a password. */
interface LedgerAddress {
  /** Without the parameter `sslmode`. */
  readonly url: string;
  readonly isTls: boolean;
}

/** Where the ledger is: the schema, with host and database if the URL can be read. Never the user or the password. */
export function describeLedgerServer(server: LedgerServer): string {
  try {
    return `${withoutUser(server.address().url)} (schema ${server.schema})`;
  } catch (cause) {
    if (!(cause instanceof Failure)) throw cause;
    return describeLedgerSource(server);
  }
}

/** Where the config says the ledger is. */
export const describeLedgerSource = ({ urlSource, schema }: LedgerServer): string =>
  `PostgreSQL by ${describeKeySource(urlSource)}, schema ${schema}`;

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

/**
 * The database that holds the ledger of `owner`; undefined where a file does.
 *
 * @throws Failure `usage` where its schema can't be named, or is that of another environment.
 */
export function ledgerServerOf(config: Config, owner: string, env: NodeJS.ProcessEnv): LedgerServer | undefined {
  const declared = config.environments.get(owner)?.ledger?.postgres;
  if (declared === undefined) return undefined;
  const place = placeIn(config, owner, "ledger");
  const schema = schemaOf(config, owner);
  if (!LEDGER_SCHEMA.test(schema))
    throw new Failure("usage", `The schema ${schema} would have more than 63 characters (${place}).`, {
      hint: "Name a shorter one: ledger: {postgres: {schema: …}}. Nothing was sent.",
    });
  refuseSharedSchema(config, owner, place);
  const urlSource = declared.url;
  const refuse = (what: string, hint: string, cause?: unknown): Failure =>
    new Failure("usage", `The ledger of ${owner} (${place}): ${cleanText(what, 600)}.`, {
      nothingSent: true,
      hint,
      cause,
    });
  return {
    ...{ schema, urlSource, origin: originIn(config, owner, "ledger") },
    address: () =>
      parseServerUrl(readUrl(urlSource, env, refuse), (what) =>
        refuse(`the URL in ${describeKeySource(urlSource)} ${what}`, URL_HINT),
      ),
  };
}

const schemaOf = ({ environments }: Config, owner: string): string =>
  environments.get(owner)?.ledger?.postgres.schema ?? `tickets_${owner.replaceAll("-", "_")}`;

/** Two environments in one schema would be one ledger: each would take the other's actions for its own. */
function refuseSharedSchema(config: Config, owner: string, place: string): void {
  const databaseOf = (name: string): string | undefined => {
    const url = config.environments.get(name)?.ledger?.postgres.url;
    return url && [url.env, url.file, schemaOf(config, name)].join("\0");
  };
  const other = [...config.environments.keys()].find(
    (name) => name !== owner && ledgerOwnerOf(config, name) === name && databaseOf(name) === databaseOf(owner),
  );
  if (other === undefined) return;
  throw new Failure("usage", `${owner} (${place}) and ${other} keep their ledgers in one schema of one database`, {
    hint: `Give each a schema of its own; or, if they are one service, give one of them sameServiceAs: ${other} in place of its ledger. Nothing was sent.`,
  });
}

const URL_HINT =
  "It has the form postgres://USER:PASSWORD@HOST:5432/DATABASE; in user and password, characters such as @ : / # are written as %40 %3A %2F %23.";

/** Far above any URL. */
const MOST_BYTES = 16 * 1024;

function readUrl(
  { env: variable, file = "" }: SecretSource,
  env: NodeJS.ProcessEnv,
  refuse: (what: string, hint: string) => Failure,
): string {
  const name = variable === undefined ? `the file ${file}` : `the variable ${variable}`;
  const text =
    variable === undefined
      ? readSmallSync(file, MOST_BYTES, (why) => refuse(`${name} ${why}`, URL_HINT))
      : env[variable];
  const url = text?.trim();
  if (!url)
    throw refuse(`${name} is ${text === undefined ? "not set" : "empty"}`, `Put the database's URL there. ${URL_HINT}`);
  return url;
}

/** Reads a URL of which nothing may be shown. Its `sslmode` says whether TLS is used; without one, it is used beyond this machine. */
function parseServerUrl(text: string, refuse: (what: string) => Failure): LedgerAddress {
  const url = URL.parse(text);
  const parts = /^postgres(?:ql)?:\/\/(?:([^@/?#]*)@)?[^@/?#]*(?:\/([^/?#@]*))?(?:\?[^#]*)?$/.exec(text);
  if (url === null || parts === null || /[\s\0]/.test(text)) throw refuse("is not the URL of a PostgreSQL database");
  const [, user = "", database = ""] = parts;
  if (database === "") throw refuse("names no database");
  if ([user, database].some(hasBrokenCharacter)) throw refuse("has a %-escape that can't be decoded");
  const parameters = url.searchParams;
  const said = parameters.get("sslmode");
  parameters.delete("sslmode");
  const certificate = [...parameters.keys()].find((name) => /^ssl|^uselibpqcompat$/i.test(name));
  if (certificate !== undefined)
    throw refuse(
      `says ${cleanText(certificate, 40)}; NODE_EXTRA_CA_CERTS adds certificate authorities to the usual ones`,
    );
  if (said !== null && !["disable", "require", "verify-ca", "verify-full"].includes(said))
    throw refuse("has an sslmode that leaves TLS optional; use disable, require or verify-full");
  // A loopback address or a socket's folder is on this machine and needs no TLS.
  const host = parameters.get("host") ?? "/";
  const isNear = (url.hostname === "" || LOOPBACK.test(url.hostname)) && host.startsWith("/");
  const [before] = text.split("?");
  return {
    url: parameters.size === 0 ? `${before}` : `${before}?${parameters}`,
    isTls: said === null ? !isNear : said !== "disable",
  };
}

/** Whether a part of a URL can't be decoded, or holds a NUL. */
function hasBrokenCharacter(part: string): boolean {
  try {
    return decodeURIComponent(part).includes("\0");
  } catch {
    return true;
  }
}

/** What a database server says, or the connection to it, in words that tell what to do. */

import { cleanText } from "../../actions/text.ts";
import { Failure } from "../../failure.ts";
import { ServerError } from "./connection.ts";

interface Words {
  /** A SQLSTATE (PostgreSQL, Appendix A), or what the system or OpenSSL calls the error. */
  readonly code: RegExp;
  readonly what: (cause: ServerError) => string;
  readonly hint: string;
  /** The config or the server is set up wrongly, and trying again is in vain. */
  readonly isSettled?: boolean;
}

const said = ({ message }: ServerError): string => cleanText(message, 300);

const ADDRESS = "The URL names host, port, user, password and database; tickets env says where it is read from.";
const AGAIN = "Run the same command again once it is there.";

/** The first that fits counts. */
const WORDS: readonly Words[] = [
  {
    code: /^28/,
    what: (cause) => `the server does not let it in: ${said(cause)}`,
    hint: `Check the user and the password in the URL, and what pg_hba.conf allows. ${ADDRESS}`,
    isSettled: true,
  },
  {
    code: /^NO_PASSWORD$/,
    what: () => "the server asks for a password, and the URL has none",
    hint: ADDRESS,
    isSettled: true,
  },
  {
    code: /^3D000/,
    what: (cause) => `there is no such database: ${said(cause)}`,
    hint: `Create it, or name another. ${ADDRESS}`,
    isSettled: true,
  },
  {
    code: /^42501/,
    what: (cause) => `its user may not do that: ${said(cause)}`,
    hint: "Who creates the tables needs CREATE on the database or owns the schema, and who works with them needs to read and write them: docs/ledger.md, In PostgreSQL",
  },
  {
    code: /^25006/,
    what: () => "the server takes no writes: it is a standby, or was set to read only",
    hint: "Have the URL name the primary, or all servers of the cluster, with commas between them.",
  },
  {
    code: /^53100/,
    what: () => "the disk of the database server is full",
    hint: "Make room there, then run the same command again.",
  },
  {
    code: /^53300/,
    what: () => "the server has no connection left",
    hint: "Raise max_connections there, or run fewer commands at a time.",
  },
  {
    code: /^XX00[12]/,
    what: (cause) => `the database is damaged: ${said(cause)}`,
    hint: "Restore it from a backup; what it then lacks is noticed before anything is sent.",
  },
  {
    code: /^NO_TLS$/,
    what: () => "the server has no TLS",
    hint: "Give it a certificate. Or, where nobody else can listen, end the URL with ?sslmode=disable.",
    isSettled: true,
  },
  {
    code: /^(?:CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|ERR_TLS|ERR_SSL|ERR_OSSL|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE)/,
    what: (cause) => `TLS with the server fails: ${said(cause)} (${cause.code})`,
    hint: "ledger.postgres.tls.ca in the config names the authority that vouches for the server's certificate, which has to name the host of the URL.",
    isSettled: true,
  },
  {
    code: /^(?:ENOTFOUND|EAI_)/,
    what: (cause) => `there is no such host (${cause.code})`,
    hint: `Check the URL. ${ADDRESS}`,
  },
  {
    code: /^(?:08|57P0|ECONN|ETIMEDOUT|EHOST|ENET|EPIPE)/,
    what: (cause) => `the server can't be reached: ${said(cause)}`,
    hint: `Check that it runs and that this machine may connect to it. ${AGAIN}`,
  },
];

const wordsOf = ({ code = "" }: ServerError): Words | undefined => WORDS.find((each) => each.code.test(code));

/** Whether waiting can't help. */
export const isSettled = (cause: ServerError): boolean => wordsOf(cause)?.isSettled === true;

/** What a server or its connection has said, as a failure; others pass. */
export function serverFailure(path: string, cause: unknown): unknown {
  if (!(cause instanceof ServerError)) return cause;
  const words = wordsOf(cause);
  const what = words === undefined ? said(cause) : words.what(cause);
  const hint = words?.hint ?? "Look at the database server, then run the same command again.";
  return new Failure(words?.isSettled === true ? "usage" : "storage", `The ledger ${path}: ${what}.`, { hint, cause });
}

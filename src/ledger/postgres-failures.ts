/** What a database server says, or the connection to it, in words that tell what to do. */

import { cleanText } from "../actions/text.ts";
import { Failure } from "../failure.ts";

/** An error of the server, or of the connection to it. */
export class ServerError extends Error {
  /** SQLSTATE, or what the system calls the error. */
  readonly code: string | undefined;
  /** The session is gone, and with it its locks. Whether the statement was carried out is not known. */
  readonly isLost: boolean;

  constructor(message: string, code: string | undefined, isLost: boolean, cause?: unknown) {
    super(message, { cause });
    this.name = "ServerError";
    this.code = code;
    this.isLost = isLost;
  }
}

/** Codes of SQLSTATE after which the session is gone (PostgreSQL, Appendix A). */
const LOST = /^(?:08|57P0|25P0[34])/;

/** What the server said of a statement has a severity; without one the connection itself has failed. */
const isFromServer = (cause: Error): boolean => "severity" in cause && cause.severity !== undefined;

/** The driver gives these no code. */
const NAMED: readonly (readonly [RegExp, string])[] = [
  [/does not support SSL/, "NO_TLS"],
  [/client password must be/, "NO_PASSWORD"],
  [/Connection terminated|Client was closed|not queryable/i, "08006"],
];

/** What the driver threw. */
export function toServerError(thrown: unknown): unknown {
  // All addresses of a host, each with an error of its own.
  const cause: unknown = thrown instanceof AggregateError ? thrown.errors[0] : thrown;
  if (cause instanceof ServerError || cause instanceof Failure || !(cause instanceof Error)) return cause;
  // A value that can't be read: the session goes on.
  if (cause instanceof RangeError && !("code" in cause)) return cause;
  const named = NAMED.find(([words]) => words.test(cause.message))?.[1];
  const code = "code" in cause && typeof cause.code === "string" ? cause.code : named;
  return new ServerError(cause.message, code, !isFromServer(cause) || LOST.test(code ?? ""), cause);
}

export const isLost = (cause: unknown): boolean => cause instanceof ServerError && cause.isLost;
/** Two transactions wait for each other, and this one made way. */
export const isDeadlock = (cause: unknown): boolean => cause instanceof ServerError && cause.code === "40P01";
/** A key that is there. */
export const isTaken = (cause: unknown): boolean => cause instanceof ServerError && cause.code === "23505";

/** Whether it may be over in a while: a server that can't be reached, that starts, or that takes no writes yet. */
export const isPassing = (cause: unknown): boolean =>
  cause instanceof ServerError &&
  !isSettled(cause) &&
  (cause.isLost || /^(?:25006|53300|57P03)/.test(cause.code ?? ""));

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
const isSettled = (cause: ServerError): boolean => wordsOf(cause)?.isSettled === true;

/** What a server or its connection has said, as a failure; others pass. */
export function serverFailure(path: string, cause: unknown): unknown {
  if (!(cause instanceof ServerError)) return cause;
  const words = wordsOf(cause);
  const what = words === undefined ? said(cause) : words.what(cause);
  const hint = words?.hint ?? "Look at the database server, then run the same command again.";
  return new Failure(words?.isSettled === true ? "usage" : "storage", `The ledger ${path}: ${what}.`, { hint, cause });
}

export const forgotten = (place: string): Failure =>
  new Failure(
    "storage",
    `${place} lacks what it had confirmed before the connection was lost. Nothing more was sent.`,
    {
      hint: "Another server took its place without having everything. What was sent last may be in the first one alone: look there, and in docs/ledger.md, before anything is sent again.",
    },
  );

/** A server that nobody waited for may lack what the one before had confirmed to others. */
export const unwaited = (place: string): Failure =>
  new Failure(
    "storage",
    `Another server took the place of the one at ${place}, and commits had not waited for it: it may lack what was confirmed last. Nothing more was sent.`,
    {
      hint: "Stop all workers, look at what the first server has, and settle before they start again: docs/scale-out.md, Fail-over",
    },
  );

/** Locks belong to sessions: through such a pooler they would exclude nobody. */
export const pooled = (place: string): Failure =>
  new Failure("usage", `Between this machine and ${place} is a pooler that gives each transaction another session.`, {
    hint: "Let the URL name the server itself, or a pooler in session mode: docs/scale-out.md, Fail-over",
  });

/** What a process has decided by the ledger counts no more. */
export const takenMeanwhile = (place: string): Failure =>
  new Failure(
    "busy",
    `The connection to ${place} was lost, and meanwhile another process took what this one had locked. Nothing more was sent.`,
    { hint: "Run the command again: it goes on where this one stopped." },
  );

/** The oldest that is tried. */
const OLDEST_SERVER = 15;

const FACTS = `SELECT current_setting('server_version') AS version, current_setting('server_encoding') AS encoding,
  (SELECT string_agg(name || ' = ' || setting, ', ' ORDER BY name) FROM pg_settings
    WHERE name IN ('fsync', 'full_page_writes') AND setting <> 'on') AS forgetful`;

/** @throws Failure `usage` for a server with which a ledger is not safe. */
export async function refuseServer(
  place: string,
  ask: (text: string) => Promise<readonly Readonly<Record<string, unknown>>[]>,
): Promise<void> {
  const [facts] = await ask(FACTS);
  const refuse = (what: string, hint: string): Failure =>
    new Failure("usage", `${place} ${what} Nothing was sent.`, { hint });
  if (Number.parseInt(String(facts?.version), 10) < OLDEST_SERVER)
    throw refuse(
      `is on PostgreSQL ${facts?.version}.`,
      `A ledger needs version ${OLDEST_SERVER} or a later one: earlier ones were never tried with it.`,
    );
  // An answer, or what a person says, could not be kept in it, and would leave a doubt.
  if (facts?.encoding !== "UTF8")
    throw refuse(
      `is in a database whose encoding is ${facts?.encoding}.`,
      "A ledger needs one that holds every character: CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0",
    );
  if (facts.forgetful != null)
    throw refuse(
      `runs with ${facts.forgetful}: after a power cut it may have forgotten what was sent.`,
      "Have the server set it to on.",
    );
}

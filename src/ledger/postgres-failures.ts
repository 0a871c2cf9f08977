/** What a database server says, or the connection to it, in words that say what to do. */

import { Failure } from "../failure.ts";
import { cleanText } from "../text.ts";

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
  [/does not support SSL|client password must be/, "NOLOGIN"],
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
  wordsOf(cause)?.isUsage !== true &&
  (cause.isLost || /^(?:25006|53300|57P03)/.test(cause.code ?? ""));

interface Words {
  /** A SQLSTATE (PostgreSQL, Appendix A), or what the system or OpenSSL calls the error. */
  readonly code: RegExp;
  /** `…` stands for what the server says. */
  readonly what: string;
  readonly hint: string;
  /** The config or the server is set up wrongly, and trying again is in vain. */
  readonly isUsage?: true;
}

/** The first that fits counts. */
const WORDS: readonly Words[] = [
  {
    // No such user, password or database; no TLS, or a certificate that nobody vouches for.
    code: /^(?:28|3D000|NOLOGIN|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|ERR_TLS|ERR_SSL|ERR_OSSL|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE)/,
    what: "…",
    hint: "Check user, password and database in the URL (tickets env says where it is read from), and what pg_hba.conf allows. NODE_EXTRA_CA_CERTS names a file with the authority of the server's certificate, which has to name the host of the URL; where nobody else can listen, ?sslmode=disable does without TLS.",
    isUsage: true,
  },
  {
    code: /^42501/,
    what: "its user may not do that: …",
    hint: "Who creates the tables needs CREATE on the database or owns the schema, and who works with them needs to read and write them: docs/design/ledger.md, In PostgreSQL",
  },
  {
    code: /^25006/,
    what: "the server takes no writes: it is a standby, or was set to read only",
    hint: "Have the URL name the primary, or all servers of the cluster, with commas between them.",
  },
  {
    code: /^(?:08|57P0|E[A-Z])/,
    what: "the server can't be reached: …",
    hint: "Check that it runs and that this machine may connect to it. Run the same command again once it is there.",
  },
];

const OTHER: Omit<Words, "code"> = {
  what: "…",
  hint: "Look at the database server, then run the same command again.",
};

const wordsOf = ({ code = "" }: ServerError): Words | undefined => WORDS.find((each) => each.code.test(code));

/** What a server or its connection has said, as a failure; others pass. */
export function serverFailure(path: string, cause: unknown): unknown {
  if (!(cause instanceof ServerError)) return cause;
  const { what, hint, isUsage } = wordsOf(cause) ?? OTHER;
  // OpenSSL's own words say less than its codes.
  const code = cause.code?.includes("_") === true ? ` (${cause.code})` : "";
  const words = what.replace("…", () => `${cleanText(cause.message, 300)}${code}`);
  return new Failure(isUsage === true ? "usage" : "storage", `The ledger ${path}: ${words}.`, { hint, cause });
}

/** A server that took the place of another may lack what that had confirmed, to this program or to others. */
export const replaced = (place: string): Failure =>
  new Failure(
    "storage",
    `Another server took over from the one at ${place}, and lacks, or may lack, commits that were confirmed last. Nothing more was sent.`,
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

/** What a person wants to know of the server that holds a ledger. */
export interface ServerFacts {
  /** Such as `15.18`. */
  readonly version: string;
  /** Standbys that have each commit before it is confirmed, as the server names them; empty for none. */
  readonly standbys: string;
}

/** What the server is, as `FACTS` finds it. */
export interface Facts extends ServerFacts {
  readonly encoding: string;
  /** Settings by which it may forget what it has confirmed, such as `fsync = off`; empty for none. */
  readonly forgetful: string;
  /** A server that is made the primary begins another one; null while it is a standby. */
  readonly timeline: string | null;
}

export const FACTS = `SELECT current_setting('server_version') AS version, current_setting('server_encoding') AS encoding,
  (SELECT coalesce(string_agg(name || ' = ' || setting, ', ' ORDER BY name), '') FROM pg_settings
    WHERE name IN ('fsync', 'full_page_writes') AND setting <> 'on') AS forgetful,
  current_setting('synchronous_standby_names') AS standbys,
  CASE WHEN NOT pg_is_in_recovery() THEN left(pg_walfile_name(pg_current_wal_lsn()), 8) END AS timeline`;

/** The oldest that is tried. */
const OLDEST_SERVER = 15;

/** @throws Failure `usage` for a server with which a ledger is not safe. */
export function refuseServer(place: string, { version, encoding, forgetful }: Facts): void {
  const refuse = (what: string, hint: string): Failure =>
    new Failure("usage", `${place} ${what}`, { nothingSent: true, hint });
  if (Number.parseInt(version, 10) < OLDEST_SERVER)
    throw refuse(`is on PostgreSQL ${version}.`, `A ledger needs version ${OLDEST_SERVER} or a later one.`);
  // An answer, or what a person says, could not be kept in it, and would leave a doubt.
  if (encoding !== "UTF8")
    throw refuse(
      `is in a database whose encoding is ${encoding}.`,
      "A ledger needs one that holds every character: CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0",
    );
  if (forgetful !== "")
    throw refuse(
      `runs with ${forgetful}: after a power cut it may have forgotten what was sent.`,
      "Have the server set it to on.",
    );
}

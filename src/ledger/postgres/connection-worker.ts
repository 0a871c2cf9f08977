/** A thread that speaks with PostgreSQL for the program, which waits for each reply (connection.ts). */

import { Socket } from "node:net";
import { type MessagePort, workerData } from "node:worker_threads";
import pg from "pg";
import type { SqlRow } from "../ledger.ts";
import type { Numbered, Reply, Request, WorkerSetup } from "./exchange.ts";
import { urlsByHost } from "./hosts.ts";
import { withNul } from "./nul.ts";

const { port, setup } = workerData as { readonly port: MessagePort; readonly setup: WorkerSetup };
const answered = new Int32Array(setup.answered);
const { address } = setup;

/** OIDs of PostgreSQL's types (pg_type.dat), each with how a value of it is read. */
const READERS = new Map<number, (text: string) => unknown>([
  [16, (text) => (text === "t" ? 1 : 0)], // boolean, as SQLite has it
  [17, toBytes],
  [20, toInteger], // bigint
  [21, Number],
  [23, Number],
  [700, Number],
  [701, Number],
  [1700, (text) => (/^-?\d+$/.test(text) ? toInteger(text) : Number(text))], // numeric: sums of bigint
]);

const types = { getTypeParser: (oid: number) => READERS.get(oid) ?? withNul };

/** In a memory of its own: what is sent to another thread takes all of its memory along. */
function toBytes(text: string): Uint8Array {
  return Uint8Array.from(Buffer.from(text.slice(2), "hex"));
}

/** As `node:sqlite` does, it refuses what it would have to round. */
function toInteger(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`${text} is too large for a number`);
  return value;
}

/** What the session does not leave to the server's settings. Those that a version does not know are passed over. */
const SETTINGS: Readonly<Record<string, string>> = {
  search_path: `${pg.escapeIdentifier(address.schema)}, pg_catalog`,
  TimeZone: "UTC",
  DateStyle: "ISO, YMD",
  bytea_output: "hex",
  standard_conforming_strings: "on",
  array_nulls: "on",
  client_min_messages: "warning",
  default_transaction_isolation: "read committed",
  default_transaction_read_only: "off",
  default_transaction_deferrable: "off",
  // A statement of the ledger takes less time than compiling it does, whatever the server expects.
  jit: "off",
  // A session that holds locks may wait long for its next statement, but not while it keeps others from rows.
  idle_session_timeout: "0",
  idle_in_transaction_session_timeout: "60s",
  transaction_timeout: "0",
  lock_timeout: "5min",
  statement_timeout: "15min",
  // A machine that has vanished holds its locks no longer than this.
  tcp_keepalives_idle: "20",
  tcp_keepalives_interval: "10",
  tcp_keepalives_count: "3",
  tcp_user_timeout: "60s",
  client_connection_check_interval: "10s",
};

const literals = Object.entries(SETTINGS)
  .map((each) => `(${each.map(pg.escapeLiteral).join(", ")})`)
  .join(", ");

/** A standby counts, where the server has one: another program may have less at heart. */
const WAIT_FOR_STANDBY =
  "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') IN ('local', 'remote_write')";

/** Who the session is. */
const HELLO = `SELECT set_config(pg_settings.name, wanted.value, false) FROM pg_settings
  JOIN (VALUES ${literals}) AS wanted (name, value) USING (name);
${WAIT_FOR_STANDBY};
SELECT pg_is_in_recovery() AS is_standby, pg_backend_pid() AS pid, current_setting('server_version') AS version,
  current_setting('server_encoding') AS encoding,
  (SELECT backend_start::text FROM pg_stat_activity WHERE pid = pg_backend_pid()) AS started_at`;

interface Session {
  readonly url: string;
  readonly client: pg.Client;
  readonly socket: Socket;
  isLost: boolean;
  /** Warnings that have come. */
  warnings: number;
  /** By statement, the name that the server has prepared it under. */
  readonly names: Map<string, string>;
  hello: SqlRow;
}

let session: Session | undefined;

/** The first host that takes writes. */
async function connect(): Promise<SqlRow> {
  session?.socket.destroy();
  session = undefined;
  let first: unknown;
  for (const url of urlsByHost(address.url)) {
    try {
      const made = await connectTo(url);
      if (made.hello.is_standby === 0) {
        session = made;
        return made.hello;
      }
      made.socket.destroy();
      first ??= withCode(new Error("the server takes no writes yet"), "25006");
    } catch (cause) {
      first ??= cause;
    }
  }
  throw first;
}

const withCode = (error: Error, code: string): Error => Object.assign(error, { code });

async function connectTo(url: string): Promise<Session> {
  const socket = new Socket();
  const client = new pg.Client({
    connectionString: url,
    application_name: address.application,
    keepAlive: true,
    keepAliveInitialDelayMillis: 20_000,
    types,
    stream: () => socket,
    // Said in any case: the driver would look into its own variables.
    ssl: address.tls ?? false,
  });
  const made: Session = { url, client, socket, isLost: false, warnings: 0, names: new Map(), hello: {} };
  // Told by the statement that is under way, or by the next one.
  client.on("error", () => {
    made.isLost = true;
  });
  client.on("notice", () => {
    made.warnings += 1;
  });
  const limit = setTimeout(
    () => socket.destroy(withCode(new Error("timeout expired"), "ETIMEDOUT")),
    address.connectTimeoutMs,
  );
  try {
    await client.connect();
    const results: unknown = await client.query(HELLO);
    made.hello = (results as readonly pg.QueryResult<SqlRow>[]).at(-1)?.rows[0] ?? {}; // several statements, several results
    return made;
  } catch (cause) {
    socket.destroy();
    throw cause;
  } finally {
    clearTimeout(limit);
  }
}

/** With more, their names would fill the server's memory. */
const MOST_NAMES = 1000;

/** Asks over the session, as long as the server is at work on the answer. */
async function during<T>(ask: (session: Session) => Promise<T>): Promise<T> {
  if (session === undefined || session.isLost) throw withCode(new Error("the connection was lost"), "08003");
  const watch = startWatch(session);
  try {
    return await ask(session);
  } finally {
    watch[Symbol.dispose]();
  }
}

const ask = (sql: string, values: readonly unknown[]): Promise<Reply> =>
  during(async (of) => {
    const { client, names, warnings } = of;
    if (values.length === 0 && !sql.startsWith("SELECT")) {
      const result = await client.query(sql);
      return toReply(Array.isArray(result) ? result.at(-1) : result, of.warnings > warnings);
    }
    let name = names.get(sql);
    if (name === undefined && names.size < MOST_NAMES) {
      name = `s${names.size}`;
      names.set(sql, name);
    }
    const query = { text: sql, values: [...values], ...(name !== undefined && { name }) };
    return toReply(await client.query(query), of.warnings > warnings);
  });

const toReply = ({ rows, rowCount }: pg.QueryResult, isWarned: boolean): Reply => ({
  kind: "rows",
  rows: rows as readonly SqlRow[],
  changes: rowCount ?? 0,
  isWarned,
});

const SILENCE_MS = 10_000;

/**
 * Looks, while a reply does not come, whether the server is still at work on it. A machine that lost its power says nothing, and
 * the system would wait for it a quarter of an hour.
 */
function startWatch(of: Session): Disposable {
  const silenceMs = address.silenceMs ?? SILENCE_MS;
  let isOver = false;
  let misses = 0;
  const look = async (): Promise<void> => {
    const found = await workOf(of);
    if (isOver) return;
    misses = found === "at work" ? 0 : misses + 1;
    // A reply may have been on its way when it was asked for.
    if (found === "unreachable" || misses > 1) of.socket.destroy(withCode(new Error("no reply"), "ETIMEDOUT"));
    else timer = setTimeout(look, silenceMs);
  };
  let timer = setTimeout(look, silenceMs);
  return {
    [Symbol.dispose]() {
      isOver = true;
      clearTimeout(timer);
    },
  };
}

const AT_WORK = "SELECT 1 FROM pg_stat_activity WHERE pid = $1 AND backend_start::text = $2 AND state = 'active'";

async function workOf({ url, hello }: Session): Promise<"at work" | "idle" | "unreachable"> {
  let asked: Session | undefined;
  try {
    asked = await connectTo(url);
    const { rows } = await asked.client.query(AT_WORK, [hello.pid, hello.started_at]);
    return rows.length > 0 ? "at work" : "idle";
  } catch (cause) {
    // A server that is there may have no place for another session.
    return isFromServer(cause) && !LOST.test(codeOf(cause) ?? "") ? "at work" : "unreachable";
  } finally {
    asked?.socket.destroy();
  }
}

/**
 * Codes of SQLSTATE after which the session is gone: connection exceptions, the server's own end, and its limits for a session
 * (PostgreSQL, Appendix A).
 */
const LOST = /^(?:08|57P0|25P0[34])/;

/** What the server said of a statement has a severity; without one the connection itself has failed. */
const isFromServer = (cause: unknown): boolean =>
  cause instanceof Error && "severity" in cause && cause.severity !== undefined;

/** The driver gives these no code. */
const NAMED: readonly (readonly [RegExp, string])[] = [
  [/does not support SSL/, "NO_TLS"],
  [/client password must be/, "NO_PASSWORD"],
  [/Connection terminated/i, "08006"],
];

function codeOf(cause: unknown): string | undefined {
  if (!(cause instanceof Error)) return undefined;
  if ("code" in cause && typeof cause.code === "string") return cause.code;
  return NAMED.find(([words]) => words.test(cause.message))?.[1];
}

function toError(thrown: unknown): Reply {
  // All addresses of a host, each with an error of its own.
  const cause: unknown = thrown instanceof AggregateError ? thrown.errors[0] : thrown;
  const message = cause instanceof Error ? cause.message : String(cause);
  // A value that can't be read: the session goes on.
  if (cause instanceof RangeError && !("code" in cause))
    return { kind: "error", message, code: "22003", isLost: false };
  const code = codeOf(cause);
  const isLost = session === undefined || session.isLost || !isFromServer(cause) || LOST.test(code ?? "");
  if (session !== undefined) session.isLost ||= isLost;
  return { kind: "error", message, code, isLost };
}

const NOTHING = { kind: "rows" as const, rows: [], changes: 0, isWarned: false } satisfies Reply;
const MOST_TO_END_MS = 1000;

async function answer(request: Request): Promise<Reply> {
  try {
    switch (request.kind) {
      case "connect":
        return { ...NOTHING, rows: [await connect()] };
      case "ask":
        return await ask(request.sql, request.values);
      case "end":
        await end();
        return NOTHING;
    }
  } catch (cause) {
    return toError(cause);
  }
}

/** The server is told, if it still listens. */
async function end(): Promise<void> {
  if (session === undefined) return;
  const { client, socket } = session;
  const limit = setTimeout(() => socket.destroy(), MOST_TO_END_MS);
  await client.end();
  clearTimeout(limit);
}

port.on("message", ({ number, ...request }: Numbered<Request>) => {
  void answer(request).then((reply) => {
    port.postMessage({ ...reply, number } satisfies Numbered<Reply>);
    Atomics.add(answered, 0, 1);
    Atomics.notify(answered, 0);
    if (request.kind === "end") port.close();
  });
});

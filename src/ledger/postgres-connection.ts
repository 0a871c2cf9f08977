/** One connection to PostgreSQL as a ledger needs it: to the first host that takes writes, with its settings, and a watch over its silence. */

import { Socket } from "node:net";
import pg from "pg";
import { withNul } from "../actions/nul.ts";
import { ServerError, toServerError } from "./postgres-failures.ts";
import type { Value } from "./sql.ts";

export interface ServerOptions {
  /** Holds a password. Hosts stand with commas between them: the first that takes writes is used. */
  readonly url: string;
  readonly tls: { readonly ca?: string; readonly cert?: string; readonly key?: string } | undefined;
  readonly schema: string;
  /** For people, without user and password. */
  readonly shown: string;
  /** What the server calls the session. */
  readonly application: string;
  readonly connectTimeoutMs?: number | undefined;
  /** How long a server that is away is waited for, whatever is asked of it meanwhile. */
  readonly patienceMs?: number | undefined;
  /** Once it comes, a server that is away is waited for a few seconds and no longer. */
  readonly signal?: AbortSignal | undefined;
  /** Told within 5 s that a server does not answer, and when it is back. */
  readonly onAway?: ((isAway: boolean) => void) | undefined;
}

export type Bound = Value | string;
type Row = Readonly<Record<string, unknown>>;

export interface Reply {
  readonly rows: readonly Row[];
  readonly changes: number;
  readonly isWarned: boolean;
}

/** What a session does not leave to the server's settings. Those that a version does not know are passed over. */
const SETTINGS: Readonly<Record<string, string>> = {
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
  // Everything is looked up by its key; a server that does not know yet how much was entered would rather read all of it.
  enable_hashjoin: "off",
  enable_mergejoin: "off",
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

const hello = (schema: string): string => {
  const wanted = { ...SETTINGS, search_path: `${pg.escapeIdentifier(schema)}, pg_catalog` };
  const literals = Object.entries(wanted).map((each) => `(${each.map(pg.escapeLiteral).join(", ")})`);
  // Whatever the server or the role says, a commit waits for the disk, and for a standby where there is one.
  return `SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') <> 'remote_apply';
SELECT set_config(pg_settings.name, wanted.value, false) FROM pg_settings JOIN (VALUES ${literals.join(", ")}) AS wanted (name, value) USING (name);
SELECT pg_is_in_recovery() AS is_standby, pg_backend_pid() AS pid,
  (SELECT backend_start::text FROM pg_stat_activity WHERE pid = pg_backend_pid()) AS started_at`;
};

/** OIDs of PostgreSQL's types (pg_type.dat), each with how a value of it is read. */
const READERS = new Map<number, (text: string) => unknown>([
  [16, (text) => text === "t"],
  [17, (text) => Buffer.from(text.slice(2), "hex")],
  [20, toInteger],
  [21, Number],
  [23, Number],
  [701, Number],
  [1700, Number],
]);
const types = { getTypeParser: (oid: number) => READERS.get(oid) ?? withNul };

/** As `node:sqlite` does, it refuses what it would have to round. */
function toInteger(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`${text} is too large for a number`);
  return value;
}

/** `postgres://user@one:1,two:2/db`: the same for each host, in their order. */
function urlsByHost(url: string): readonly string[] {
  const [, before = "", hosts = "", behind = ""] = /^([a-z]+:\/\/(?:[^@/?#]*@)?)([^/?#]*)(.*)$/s.exec(url) ?? [];
  return hosts.split(",").map((host) => `${before}${host}${behind}`);
}

/** The first host that takes writes. */
export async function connectToPrimary(options: ServerOptions, watch: Watch): Promise<Connection> {
  let failed: unknown;
  for (const url of urlsByHost(options.url)) {
    try {
      const connection = await connect(url, options, watch);
      if (!connection.isStandby) return connection;
      connection.end();
      failed ??= new ServerError("the server takes no writes yet", "25006", false);
    } catch (cause) {
      failed ??= cause;
    }
  }
  throw failed;
}

async function connect(url: string, options: ServerOptions, watch: Watch): Promise<Connection> {
  if (watch.closing?.aborted === true) throw new ServerError("the ledger is closed", "08003", true);
  const connection = new Connection(url, options, watch);
  await connection.begin();
  return connection;
}

interface Watch {
  /** Told of a server that does not answer. */
  readonly onSilent?: (() => void) | undefined;
  /** Told of a notification. */
  readonly onNotified?: (() => void) | undefined;
  /** Ends an attempt to connect. */
  readonly closing?: AbortSignal | undefined;
}

/** With more, the names of prepared statements would fill the server's memory. */
const MOST_NAMES = 500;
const CONNECT_MS = 10_000;
/** A statement may take longer, if the server says that it is at work on it. */
const SILENCE_MS = 4_000;
/** How soon a server says so that is there. */
const LOOK_ANSWER_MS = 800;

export class Connection {
  /** By which the server knows its session: the process, and since when. */
  id: readonly [pid: number, startedAt: string] = [0, ""];
  isStandby = false;
  isLost = false;
  readonly #url: string;
  readonly #options: ServerOptions;
  readonly #watch: Watch;
  readonly #socket = new Socket();
  readonly #client: pg.Client;
  readonly #names = new Map<string, string>();
  #warnings = 0;

  constructor(url: string, options: ServerOptions, watch: Watch) {
    [this.#url, this.#options, this.#watch] = [url, options, watch];
    this.#client = new pg.Client({
      connectionString: url,
      application_name: options.application,
      keepAlive: true,
      keepAliveInitialDelayMillis: 20_000,
      types,
      stream: () => this.#socket,
      // Said in any case: the driver would look into its own variables.
      ssl: options.tls ?? false,
    });
    // Told by the statement that is under way, or by the next one.
    for (const event of ["error", "end"] as const)
      this.#client.on(event, () => {
        this.isLost = true;
      });
    this.#client.on("notice", () => {
      this.#warnings += 1;
    });
    this.#client.on("notification", () => watch.onNotified?.());
  }

  async begin(): Promise<void> {
    const limit = setTimeout(
      () => this.end(new ServerError("timeout expired", "ETIMEDOUT", true)),
      this.#options.connectTimeoutMs ?? CONNECT_MS,
    );
    const onClosing = (): void => this.end();
    this.#watch.closing?.addEventListener("abort", onClosing, { once: true });
    try {
      await this.#client.connect();
      const results: unknown = await this.#client.query(hello(this.#options.schema));
      const found = (results as readonly pg.QueryResult<Row>[]).at(-1)?.rows[0]; // several statements, several results
      this.id = [Number(found?.pid), String(found?.started_at)];
      this.isStandby = found?.is_standby === true;
    } catch (cause) {
      this.end();
      throw toServerError(cause);
    } finally {
      clearTimeout(limit);
      this.#watch.closing?.removeEventListener("abort", onClosing);
    }
  }

  async ask(text: string, values: readonly Bound[] = []): Promise<Reply> {
    using _ = this.#watchOver();
    try {
      if (this.isLost) throw new ServerError("the connection was lost", "08003", true);
      const before = this.#warnings;
      const name = values.length === 0 ? undefined : this.#nameOf(text);
      const query = values.length === 0 ? text : { text, values: [...values], ...(name !== undefined && { name }) };
      const result: pg.QueryResult<Row> | pg.QueryResult<Row>[] = await this.#client.query<Row>(query);
      const last = Array.isArray(result) ? result.at(-1) : result;
      return { rows: last?.rows ?? [], changes: last?.rowCount ?? 0, isWarned: this.#warnings > before };
    } catch (cause) {
      const error = toServerError(cause);
      if (error instanceof ServerError && error.isLost) this.end();
      throw error;
    }
  }

  #nameOf(text: string): string | undefined {
    if (!this.#names.has(text) && this.#names.size < MOST_NAMES) this.#names.set(text, `s${this.#names.size}`);
    return this.#names.get(text);
  }

  /**
   * Looks, while a reply does not come, whether the server is still at work on it. A machine that lost its power says nothing, and
   * the system would wait for it a quarter of an hour.
   */
  #watchOver(): Disposable {
    const onSilent = (): void => this.#watch.onSilent?.();
    let [isOver, misses] = [false, 0];
    const look = async (): Promise<void> => {
      const telling = setTimeout(() => !isOver && onSilent(), LOOK_ANSWER_MS);
      const found = await this.#isAtWork();
      clearTimeout(telling);
      if (isOver) return;
      if (found === undefined) onSilent();
      misses = found === true ? 0 : misses + 1;
      // A reply may have been on its way when it was asked for.
      if (found === undefined || misses > 1) this.end(new ServerError("no reply", "ETIMEDOUT", true));
      else timer = setTimeout(look, SILENCE_MS);
    };
    let timer = setTimeout(look, SILENCE_MS);
    return {
      [Symbol.dispose]() {
        isOver = true;
        clearTimeout(timer);
      },
    };
  }

  /** Asked on another connection. Undefined where the server can't be reached. */
  async #isAtWork(): Promise<boolean | undefined> {
    const other = new Connection(this.#url, this.#options, {});
    try {
      await other.begin();
      return ((await other.#client.query(AT_WORK, [...this.id])).rowCount ?? 0) > 0;
    } catch (cause) {
      // A server that is there may have no place for another session.
      const error = toServerError(cause);
      return error instanceof ServerError && error.isLost ? undefined : true;
    } finally {
      other.end();
    }
  }

  /** At once. */
  end(why = new ServerError("the connection was lost", "08006", true)): void {
    this.isLost = true;
    this.#socket.destroy(why);
  }

  /** The server is told, if it still listens. */
  async close(): Promise<void> {
    if (this.isLost) return;
    const longest = setTimeout(() => this.end(), 1000);
    await this.#client.end().catch(() => undefined);
    clearTimeout(longest);
  }
}

const AT_WORK = "SELECT 1 FROM pg_stat_activity WHERE pid = $1 AND backend_start::text = $2 AND state = 'active'";

/** One connection to PostgreSQL: to the first host that takes writes, with a ledger's settings, and a watch over its silence. */

import { Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import pg from "pg";
import { withNul } from "../actions/marks.ts";
import type { Value } from "./database.ts";
import { ServerError, toServerError } from "./postgres-failures.ts";

export interface ServerOptions {
  /** Holds a password. Hosts stand with commas between them: the first that takes writes is used. */
  readonly url: string;
  readonly isTls: boolean;
  readonly schema: string;
  /** For people, without user and password. */
  readonly shown: string;
  /** What the server calls its sessions, and the id of this program behind it. */
  readonly application: string;
  readonly connectTimeoutMs?: number | undefined;
  /** How long a server that is away is waited for, whatever is asked of it meanwhile. */
  readonly patienceMs?: number | undefined;
  /** Once it comes, a server that is away is waited for a few seconds and no longer. */
  readonly signal?: AbortSignal | undefined;
  /** Called within 5 s once a server does not answer, and when it is back. */
  readonly onAway?: ((isAway: boolean) => void) | undefined;
}

export type Bound = Value | readonly Value[];

export interface Reply {
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  readonly changes: number;
  readonly isWarned: boolean;
}

/** What a session does not leave to the server's settings. Those that a version does not know are passed over. */
const SETTINGS = {
  TimeZone: "UTC",
  // Otherwise a NULL among many rows would be a text, and a backslash in a statement would mean something.
  array_nulls: "on",
  standard_conforming_strings: "on",
  client_min_messages: "warning",
  default_transaction_isolation: "read committed",
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

const hello = (settings: Readonly<Record<string, string>>): string => {
  const literals = Object.entries(settings).map((each) => `(${each.map(pg.escapeLiteral).join(", ")})`);
  // Whatever the server or the role says, a commit waits for the disk, and for a standby where there is one.
  return `SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') <> 'remote_apply';
SELECT set_config(pg_settings.name, wanted.value, false) FROM pg_settings JOIN (VALUES ${literals.join(", ")}) AS wanted (name, value) USING (name);
SELECT pg_is_in_recovery() AS is_standby`;
};

/** OIDs of PostgreSQL's types (pg_type.dat): int8 and numeric, text. */
const [INT8, NUMERIC, TEXT] = [20, 1700, 25];
const types = {
  getTypeParser(oid: number): (text: string) => unknown {
    if (oid === TEXT) return withNul;
    return oid === INT8 || oid === NUMERIC ? toInteger : pg.types.getTypeParser(oid, "text");
  },
};

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
    if (watch.closing.aborted) throw new ServerError("the ledger is closed", "08003", true);
    const connection = new Connection(url, options, watch);
    try {
      if (!(await connection.begin()).isStandby) return connection;
      connection.end();
      failed ??= new ServerError("the server takes no writes yet", "25006", false);
    } catch (cause) {
      failed ??= cause;
    }
  }
  throw failed;
}

interface Watch {
  /** What the server calls this program's sessions. */
  readonly name: string;
  /** Settings beside those of each session. */
  readonly settings: Readonly<Record<string, string>>;
  /** Called once a server does not answer. */
  readonly onSilent: () => void;
  readonly onNotified: () => void;
  /** Ends an attempt to connect. */
  readonly closing: AbortSignal;
}

const CONNECT_MS = 10_000;
/** A statement may take longer, if the server says that it is at work on it. */
const SILENCE_MS = 2_000;
/** How soon a server says so that is there. */
const LOOK_ANSWER_MS = 800;

export class Connection {
  isLost = false;
  readonly #url: string;
  readonly #options: ServerOptions;
  readonly #watch: Watch;
  readonly #socket = new Socket();
  readonly #client: pg.Client;
  /** Of statements that the server keeps prepared. */
  readonly #names = new Map<string, string>();
  #warnings = 0;

  constructor(url: string, options: ServerOptions, watch: Watch) {
    [this.#url, this.#options, this.#watch] = [url, options, watch];
    this.#client = new pg.Client({
      connectionString: url,
      keepAlive: true,
      keepAliveInitialDelayMillis: 20_000,
      types,
      stream: () => this.#socket,
      // Given in any case: the driver would look into its own variables.
      ssl: options.isTls,
    });
    const onLost = (): void => {
      this.isLost = true;
    };
    // Thrown by the statement that is under way, or by the next one.
    this.#client.on("error", onLost).on("end", onLost);
    this.#client.on("notice", () => {
      this.#warnings += 1;
    });
    this.#client.on("notification", watch.onNotified);
  }

  async begin(): Promise<{ readonly isStandby: boolean }> {
    const { connectTimeoutMs = CONNECT_MS, schema } = this.#options;
    const { closing, settings, name } = this.#watch;
    const limit = setTimeout(() => this.end(new ServerError("timeout expired", "ETIMEDOUT", true)), connectTimeoutMs);
    const onClosing = (): void => this.end();
    closing.addEventListener("abort", onClosing, { once: true });
    try {
      await this.#client.connect();
      const own = { application_name: name, search_path: `${pg.escapeIdentifier(schema)}, pg_catalog` };
      const last = [await this.#client.query(hello({ ...SETTINGS, ...settings, ...own }))].flat().at(-1);
      return { isStandby: last?.rows[0]?.is_standby === true };
    } catch (cause) {
      this.end();
      throw toServerError(cause);
    } finally {
      clearTimeout(limit);
      closing.removeEventListener("abort", onClosing);
    }
  }

  async ask(text: string, values: readonly Bound[] = []): Promise<Reply> {
    const over = new AbortController();
    try {
      if (this.isLost) throw new ServerError("the connection was lost", "08003", true);
      this.#endIfSilent(over.signal).catch(() => undefined);
      const before = this.#warnings;
      const query = values.length === 0 ? { text } : { text, values: [...values], name: this.#nameOf(text) };
      // Several statements, several results.
      const result = [await this.#client.query(query)].flat().at(-1);
      return { rows: result?.rows ?? [], changes: result?.rowCount ?? 0, isWarned: this.#warnings > before };
    } catch (cause) {
      const error = toServerError(cause);
      if (error instanceof ServerError && error.isLost) this.end();
      throw error;
    } finally {
      over.abort();
    }
  }

  #nameOf(text: string): string {
    const name = this.#names.get(text) ?? `s${this.#names.size}`;
    this.#names.set(text, name);
    return name;
  }

  /**
   * Looks, while a reply does not come, whether the server is still at work on it. A machine that lost its power says nothing, and
   * the system would wait for it a quarter of an hour.
   *
   * @throws AbortError once the reply has come.
   */
  async #endIfSilent(over: AbortSignal): Promise<void> {
    // A reply may have been on its way when it was asked for.
    for (let misses = 0; misses < 2; ) {
      await wait(SILENCE_MS, undefined, { signal: over });
      const isAtWork = await this.#isAtWork(over);
      if (isAtWork === undefined) break;
      misses = isAtWork ? 0 : misses + 1;
    }
    if (!over.aborted) this.end(new ServerError("no reply", "ETIMEDOUT", true));
  }

  /** Asked on another connection. Undefined where the server can't be reached. */
  async #isAtWork(over: AbortSignal): Promise<boolean | undefined> {
    const silent = setTimeout(() => !over.aborted && this.#watch.onSilent(), LOOK_ANSWER_MS);
    const other = new Connection(this.#url, this.#options, this.#watch);
    try {
      await other.begin();
      return ((await other.#client.query(AT_WORK, [this.#watch.name])).rowCount ?? 0) > 0;
    } catch (cause) {
      // A server that is there may have no place for another session.
      const error = toServerError(cause);
      return error instanceof ServerError && error.isLost ? undefined : true;
    } finally {
      clearTimeout(silent);
      other.end();
    }
  }

  /** At once. */
  end(why = new ServerError("the connection was lost", "08006", true)): void {
    this.isLost = true;
    this.#socket.destroy(why);
  }

  /** Says goodbye to the server, if it still listens. */
  async close(): Promise<void> {
    if (this.isLost) return;
    const longest = setTimeout(() => this.end(), 1000);
    await this.#client.end().catch(() => undefined);
    clearTimeout(longest);
  }
}

const AT_WORK =
  "SELECT 1 FROM pg_stat_activity WHERE application_name = $1 AND state = 'active' AND pid <> pg_backend_pid()";

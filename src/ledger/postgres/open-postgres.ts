/** Opening a ledger in PostgreSQL: creating its tables, and refusing those of another form and a server that may forget. */

import { randomUUID } from "node:crypto";
import { Failure } from "../../failure.ts";
import { bind } from "../bound.ts";
import type { Ledger, SqlRow } from "../ledger.ts";
import { refuseOtherForm } from "../schema.ts";
import { type Connection, openConnection, ServerError } from "./connection.ts";
import { toPostgres } from "./dialect.ts";
import type { ServerAddress, SqlValue } from "./exchange.ts";
import { isSettled, serverFailure } from "./failures.ts";
import { withoutUser } from "./hosts.ts";
import { forgetfulSettings } from "./server-facts.ts";
import { SCHEMA } from "./tables.ts";

export interface PostgresOptions {
  readonly address: ServerAddress;
  /** As `openLedger` has it. */
  readonly boundTo: string | undefined;
  /** The user's word that a server may be used which does not wait for its disk. */
  readonly unsafe?: boolean;
  /** Creates nothing. */
  readonly readOnly?: boolean;
  /** How long a server that can't be reached is waited for, milliseconds (60,000). */
  readonly patienceMs?: number;
}

/** A ledger whose session can hold locks, which end with it. */
export interface PostgresLedger extends Ledger {
  readonly kind: "postgres";
  /**
   * Takes a lock for as long as the session lives; false where another session holds it. After a session was lost it is taken
   * again; then `onAgain` throws where it counts what others may have done meanwhile.
   */
  readonly tryLock: (name: string, onAgain?: () => void) => boolean;
  /** The same, of a lock whose purpose a fence guards: where a new session can't have it again, that is no failure. */
  readonly tryFenced: (name: string) => boolean;
  readonly unlock: (name: string) => void;
  /**
   * Ends the session that holds a lock, if it has asked nothing for so long: its process is frozen, or the server has not
   * noticed yet that it is gone.
   *
   * @returns whether there was one.
   */
  readonly endSilentHolder: (name: string, silentMs: number) => boolean;
  /** How large its tables are, with their indexes. */
  readonly bytes: () => number;
  /** How often the session was lost and begun again. What was locked before was locked again by then. */
  readonly sessions: () => number;
}

/**
 * @throws Failure `storage` when the server can't be reached or the tables are of a newer version, `usage` when they have an
 * earlier form or the server may forget what it has confirmed.
 */
export function openPostgres(options: PostgresOptions): PostgresLedger {
  const ledger = open(options);
  if (ledger === undefined) throw new Failure("storage", `There is no ledger at ${shownAddress(options.address)}.`);
  return ledger;
}

/** The same, read-only; undefined where the database holds no such ledger. */
export const findPostgres = (options: Omit<PostgresOptions, "readOnly">): PostgresLedger | undefined =>
  open({ ...options, readOnly: true });

function open(options: PostgresOptions): PostgresLedger | undefined {
  const { address } = options;
  const path = shownAddress(address);
  const connection = openConnection(address);
  try {
    const ledger = new Session(connection, path, options);
    ledger.begin();
    const readOnly = options.readOnly === true;
    if (!prepareTables(ledger, path, address.schema, readOnly)) {
      ledger[Symbol.dispose]();
      return undefined;
    }
    if (options.boundTo !== undefined) bind(ledger, options.boundTo, readOnly);
    return ledger;
  } catch (cause) {
    connection[Symbol.dispose]();
    throw cause;
  }
}

/** Where it is, without who asks and with which password. */
export const shownAddress = ({ url, schema }: Pick<ServerAddress, "url" | "schema">): string =>
  `${withoutUser(url)} (schema ${schema})`;

/** What a statement is asked as, by how it is written. */
const TRANSLATED = new Map<string, string>();

function translated(sql: string): string {
  let text = TRANSLATED.get(sql);
  if (text === undefined) {
    text = toPostgres(sql);
    TRANSLATED.set(sql, text);
  }
  return text;
}

/** Rows that are fetched at a time. */
const PAGE = 1000;
const PATIENCE_MS = 60_000;
/** What a try to connect takes at most, with several hosts, on a busy machine. */
const LONGEST_TRY_MS = 30_000;
/** So many sessions in a row are lost before a server is given up, however long that took: the process may have been stopped meanwhile. */
const MOST_LOSSES = 3;
const [FIRST_WAIT_MS, LONGEST_WAIT_MS] = [50, 1000];

/**
 * Sessions come and go; what was committed stays. Each transaction of a ledger that is open has a number, and its last statement
 * notes that in the ledger's row of `commits`. So the row says of every transaction whether it was committed, and no number is
 * used twice. (PostgreSQL's own numbers are: one that no commit has brought to the disk is given out again after a crash.)
 */
class Session implements PostgresLedger {
  readonly kind = "postgres";
  readonly path: string;
  readonly exhaustedBy = undefined;
  readonly #connection: Connection;
  readonly #patienceMs: number;
  readonly #isUnsafe: boolean;
  readonly #locks = new Map<string, (() => void) | undefined>();
  /** Of the locks that a fence guards, those that this session holds. */
  readonly #fenced = new Set<string>();
  /** Key of the row of `commits`. */
  readonly #id = randomUUID();
  /** Number of the transaction that was committed last; 0 where there is no row yet. */
  #committed = 0;
  #lastNumber = 0;
  /** The session that is under way, and those that were lost and may not know it yet. */
  #server: ServerSession | undefined;
  #lost: ServerSession[] = [];
  #timeline: Timeline | undefined;
  #isInTransaction = false;
  /** The session has what the one before it had. */
  #isWhole = false;
  /** Why there is no going on, whoever was told of it: what was decided so far counts no more. */
  #over: Failure | undefined;
  #sessions = 0;
  #cursors = 0;

  constructor(connection: Connection, path: string, { patienceMs = PATIENCE_MS, unsafe = false }: PostgresOptions) {
    this.#connection = connection;
    this.#patienceMs = patienceMs;
    this.#isUnsafe = unsafe;
    this.path = path;
  }

  sessions(): number {
    return this.#sessions;
  }

  /** Begins a session with the locks of the one before, and tries for as long as patience lasts. */
  begin(): void {
    if (this.#over !== undefined) throw this.#over;
    this.#isWhole = false;
    try {
      this.#beginAnew();
    } catch (cause) {
      // A server that can't be reached may be there again for the next statement.
      if (cause instanceof Failure && !(cause.cause instanceof ServerError)) this.#over = cause;
      this.#isWhole = false;
      throw cause;
    }
  }

  #beginAnew(): void {
    let since = performance.now();
    let deadline = since + this.#patienceMs;
    const fenced = [...this.#fenced];
    for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(2 * waitMs, LONGEST_WAIT_MS)) {
      try {
        this.#connect();
        this.#fenced.clear();
        for (const name of this.#locks.keys()) this.#lockAgain(name, deadline);
        for (const name of fenced) if (this.#tryLock(name)) this.#fenced.add(name);
        break;
      } catch (cause) {
        const now = performance.now();
        // A process that was stopped for a while, or whose machine slept, has not tried meanwhile.
        deadline += Math.max(0, now - since - LONGEST_TRY_MS);
        since = now;
        if (!isPassing(cause) || now + waitMs > deadline) throw this.#failure(cause);
        sleep(waitMs);
      }
    }
    this.#sessions += 1;
    this.#isWhole = true;
    for (const onAgain of this.#locks.values()) onAgain?.();
  }

  #connect(): void {
    if (this.#server !== undefined) this.#lost.push(this.#server);
    this.#server = undefined;
    const hello = this.#connection.connect();
    this.#server = { pid: Number(hello.pid), startedAt: String(hello.started_at) };
    refuseOld(String(hello.version), this.path);
    refuseNarrow(String(hello.encoding), this.path);
    if (!this.#isUnsafe) refuseForgetful({ all: (sql) => [...this.#connection.ask(sql, []).rows] }, this.path);
    for (const { pid, startedAt } of this.#lost) this.#connection.ask(END_SESSION, [pid, startedAt]);
    this.#lost = [];
    this.#refuseForgotten();
    this.#refuseUnwaited();
    this.#connection.ask(SIGN_SESSION, [this.#id]);
  }

  /** A server that took the place of another may lack what that had confirmed. */
  #refuseForgotten(): void {
    if (this.#committed === 0) return;
    const [row] = this.#connection.ask("SELECT number FROM commits WHERE session = $1", [this.#id]).rows;
    if (row === undefined || Number(row.number) < this.#committed) throw forgotten(this.path);
  }

  /**
   * A server that nobody waited for may lack what the one before had confirmed to others, though it has all of this one's own. A
   * server that is made the primary begins a timeline.
   */
  #refuseUnwaited(): void {
    const server = this.#askTimeline();
    const before = this.#timeline;
    this.#timeline = server ?? before;
    if (before === undefined || server === undefined || before.id === server.id || before.isWaitedFor) return;
    throw new Failure(
      "storage",
      `Another server took the place of the one at ${this.path}, and commits had not waited for it: it may lack what was confirmed last. Nothing more was sent.`,
      {
        hint: "Stop all workers, look at what the first server has, and settle before they start again: docs/scale-out.md, Fail-over",
      },
    );
  }

  /** Undefined where the server does not say it, as one that keeps no log of its own. */
  #askTimeline(): Timeline | undefined {
    try {
      const [row] = this.#connection.ask(TIMELINE, []).rows;
      return { id: String(row?.id), isWaitedFor: row?.standbys !== "" };
    } catch (cause) {
      if (!(cause instanceof ServerError) || cause.isLost) throw cause;
      return undefined;
    }
  }

  /** Before anything is asked outside of a transaction. */
  #ready(): void {
    if (!this.#isWhole) this.begin();
  }

  /** The server may hold the lock for the session that was lost until it notices. */
  #lockAgain(name: string, deadline: number): void {
    while (!this.#tryLock(name)) {
      if (performance.now() > deadline) throw takenMeanwhile(this.path);
      sleep(FIRST_WAIT_MS);
    }
  }

  run(sql: string, ...values: SqlValue[]): number {
    if (!this.#isInTransaction) return this.transaction(() => this.#ask(sql, values).changes);
    return this.#ask(sql, values).changes;
  }

  get(sql: string, ...values: SqlValue[]): SqlRow | undefined {
    return this.all(sql, ...values)[0];
  }

  all(sql: string, ...values: SqlValue[]): SqlRow[] {
    return this.#read(() => [...this.#ask(sql, values).rows]);
  }

  /**
   * A cursor that outlives its transaction: the server keeps the rows, and each page is fetched when it is wanted. Where the
   * session is lost after the first page, it fails: another session may see other rows.
   */
  *iterate(sql: string, ...values: SqlValue[]): Generator<SqlRow> {
    this.#cursors += 1;
    const name = `rows_${this.#cursors}`;
    const fetch = `FETCH ${PAGE} FROM ${name}`;
    const hold = this.#isInTransaction ? "" : " WITH HOLD";
    let { rows } = this.#read(() => {
      this.#ask(`DECLARE ${name} CURSOR${hold} FOR ${sql}`, values);
      return this.#connection.ask(fetch, []);
    });
    const session = this.#sessions;
    try {
      for (;;) {
        yield* rows;
        if (rows.length < PAGE) return;
        rows = this.#ofSession(session, () => this.#connection.ask(fetch, []).rows);
      }
    } finally {
      this.#close(name, session);
    }
  }

  #ofSession<T>(session: number, ask: () => T): T {
    try {
      if (session !== this.#sessions || !this.#isWhole)
        throw new ServerError({ message: "the connection was lost while rows were read", code: "08003", isLost: true });
      return ask();
    } catch (cause) {
      throw this.#isInTransaction ? cause : this.#failure(cause);
    }
  }

  /** What can't be closed has gone with its session or its transaction. */
  #close(name: string, session: number): void {
    if (session !== this.#sessions || !this.#isWhole) return;
    try {
      this.#connection.ask(`CLOSE ${name}`, []);
    } catch (cause) {
      if (!(cause instanceof ServerError)) throw cause;
    }
  }

  hasTable(name: string): boolean {
    return (
      this.get("SELECT 1 AS one FROM pg_tables WHERE schemaname = current_schema() AND tablename = ?", name) !==
      undefined
    );
  }

  bytes(): number {
    const sql =
      "SELECT coalesce(sum(pg_total_relation_size(oid)), 0) AS bytes FROM pg_class WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace";
    return Number(this.get(sql)?.bytes);
  }

  /**
   * All or nothing. Where the session is lost before the end, all of it is done again on a new one; where it is lost in the
   * commit, the server is first asked what became of that.
   */
  transaction<T>(change: () => T): T {
    if (this.#isInTransaction) throw new Error("a transaction within another");
    const patience = this.#startPatience();
    for (;;) {
      try {
        const done = this.#once(change);
        if (done !== undefined) return done.result;
      } catch (cause) {
        if (!isLost(cause) && !isDeadlock(cause)) throw this.#failure(cause);
        patience.use(cause);
        if (isLost(cause)) this.begin();
      }
    }
  }

  /** Undefined where the commit was lost, and nothing was changed. */
  #once<T>(change: () => T): { readonly result: T } | undefined {
    let result: T;
    this.#ready();
    this.#connection.ask("BEGIN", []);
    this.#isInTransaction = true;
    try {
      result = change();
    } catch (cause) {
      this.#isInTransaction = false;
      if (!isLost(cause)) this.#rollBack();
      throw cause;
    }
    this.#isInTransaction = false;
    return this.#commit() ? { result } : undefined;
  }

  #rollBack(): void {
    try {
      this.#connection.ask("ROLLBACK", []);
    } catch (cause) {
      // A session that is gone has taken its transaction along.
      if (!isLost(cause)) throw this.#failure(cause);
    }
  }

  /** False where it was not committed, and never will be. */
  #commit(): boolean {
    this.#lastNumber += 1;
    const number = this.#lastNumber;
    try {
      // A server that warns may have committed what its standby does not have.
      if (!this.#connection.ask(commit(this.#id, this.#committed, number), []).isWarned) {
        this.#committed = number;
        return true;
      }
    } catch (cause) {
      if (!isLost(cause)) {
        this.#rollBack();
        this.#over = isRowMissing(cause) ? forgotten(this.path) : isOtherSession(cause) ? pooled(this.path) : undefined;
        throw this.#over ?? cause;
      }
      this.begin();
    }
    return this.#wasCommitted(number);
  }

  /**
   * Only the server knows what became of a commit. The question puts another number in the row, unless the commit was there
   * before: then it can't come any more, even if its bytes are still on the way.
   */
  #wasCommitted(number: number): boolean {
    this.#lastNumber += 1;
    const patience = this.#startPatience();
    for (;;) {
      try {
        this.#ready();
        const { rows, isWarned } = this.#connection.ask(DECIDE, [this.#id, number, this.#lastNumber]);
        if (isWarned) continue;
        this.#committed = Number(rows[0]?.number);
        return this.#committed === number;
      } catch (cause) {
        // The first transaction of all makes the tables.
        if (cause instanceof ServerError && cause.code === NO_SUCH_TABLE && this.#committed === 0) return false;
        if (!isLost(cause)) throw this.#failure(cause);
        patience.use(cause);
        this.begin();
      }
    }
  }

  async snapshot<T>(look: () => Promise<T>): Promise<T> {
    this.#read(() => this.#connection.ask(BEGIN_SNAPSHOT, []));
    this.#isInTransaction = true;
    try {
      return await look();
    } catch (cause) {
      throw this.#failure(cause);
    } finally {
      this.#isInTransaction = false;
      this.#rollBack();
    }
  }

  tryLock(name: string, onAgain?: () => void): boolean {
    const isHeld = this.#read(() => this.#tryLock(name));
    if (isHeld) this.#locks.set(name, onAgain);
    return isHeld;
  }

  tryFenced(name: string): boolean {
    // Taken twice, it would have to be given back twice.
    if (this.#fenced.has(name)) return true;
    const isHeld = this.#read(() => this.#tryLock(name));
    if (isHeld) this.#fenced.add(name);
    return isHeld;
  }

  #tryLock(name: string): boolean {
    const [row] = this.#connection.ask(TRY_LOCK, [name]).rows;
    if (row?.session === this.#id) return Number(row.held) === 1;
    this.#over = pooled(this.path);
    throw this.#over;
  }

  unlock(name: string): void {
    const wasHeld = this.#fenced.delete(name) || this.#locks.delete(name);
    // Where there is no going on, all of them end with the session.
    if (wasHeld && this.#over === undefined)
      this.#read(() => this.#connection.ask(`SELECT pg_advisory_unlock(${LOCK_KEY})`, [name]));
  }

  endSilentHolder(name: string, silentMs: number): boolean {
    return this.#read(() => this.#connection.ask(END_SILENT, [name, silentMs]).rows.length > 0);
  }

  /** Part of a transaction: what is written for PostgreSQL alone. */
  define(sql: string): void {
    this.#connection.ask(sql, []);
  }

  #ask(sql: string, values: readonly SqlValue[]): ReturnType<Connection["ask"]> {
    return this.#connection.ask(translated(sql), values);
  }

  /** What changes nothing may be asked again on a new session. */
  #read<T>(ask: () => T): T {
    const patience = this.#startPatience();
    for (;;) {
      try {
        if (!this.#isInTransaction) this.#ready();
        return ask();
      } catch (cause) {
        if (this.#isInTransaction) throw cause;
        if (!isLost(cause)) throw this.#failure(cause);
        patience.use(cause);
        this.begin();
      }
    }
  }

  /** A server that lets sessions in and loses each of them is not waited for without end. */
  #startPatience(): { readonly use: (cause: unknown) => void } {
    let deadline: number | undefined;
    let losses = 0;
    return {
      use: (cause) => {
        losses += 1;
        deadline ??= performance.now() + this.#patienceMs;
        if (performance.now() > deadline && losses >= MOST_LOSSES) throw this.#failure(cause);
      },
    };
  }

  #failure(cause: unknown): unknown {
    return serverFailure(this.path, cause);
  }

  [Symbol.dispose](): void {
    // The server notices the end of a session a moment after it, when the next command may have begun.
    if (this.#locks.size + this.#fenced.size > 0)
      try {
        this.#connection.ask("SELECT pg_advisory_unlock_all()", []);
      } catch {
        // They end with the session.
      }
    this.#locks.clear();
    this.#fenced.clear();
    this.#connection[Symbol.dispose]();
  }
}

const forgotten = (path: string): Failure =>
  new Failure("storage", `${path} lacks what it had confirmed before the connection was lost. Nothing more was sent.`, {
    hint: "Another server took its place without having everything. What was sent last may be in the first one alone: look there, and in docs/ledger.md, before anything is sent again.",
  });

/** Locks belong to sessions: through such a pooler they would exclude nobody. */
const pooled = (path: string): Failure =>
  new Failure("usage", `Between this machine and ${path} is a pooler that gives each transaction another session.`, {
    hint: "Let the URL name the server itself, or a pooler in session mode: docs/scale-out.md, Fail-over",
  });

/** What a process has decided by the ledger counts no more. */
export const takenMeanwhile = (path: string): Failure =>
  new Failure(
    "busy",
    `The connection to ${path} was lost, and meanwhile another process took what this one had locked. Nothing more was sent.`,
    { hint: "Run the command again: it goes on where this one stopped." },
  );

/** A process of the server; others may have its number later. */
interface ServerSession {
  readonly pid: number;
  readonly startedAt: string;
}

/** A server's since it was made the primary. */
interface Timeline {
  readonly id: string;
  /** A commit is confirmed once a standby has it. */
  readonly isWaitedFor: boolean;
}

const TIMELINE =
  "SELECT left(pg_walfile_name(pg_current_wal_lsn()), 8) AS id, current_setting('synchronous_standby_names') AS standbys";

/** What it was still to get can't come any more, and its locks are free. */
const END_SESSION =
  "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = $1 AND backend_start::text = $2";

/** No rows are kept from others by it. */
const BEGIN_SNAPSHOT =
  "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL idle_in_transaction_session_timeout TO '1h'";

/** Rows of ledgers that were open long ago. */
const FORGET_COMMITS = `DELETE FROM commits WHERE session IN (
  SELECT session FROM commits WHERE at < now() - interval '90 days' LIMIT 100 FOR UPDATE SKIP LOCKED)`;

/**
 * The end of a transaction. It fails in a session that is not this one's, and where the row has another number than this session
 * knows, or is gone.
 */
function commit(id: string, before: number, number: number): string {
  return `${note(id, before, number)}; SELECT 1 / (current_setting('${SIGNATURE}', true) = '${id}')::int; COMMIT`;
}

function note(id: string, before: number, number: number): string {
  if (before === 0)
    return `${FORGET_COMMITS}; INSERT INTO commits (session, number, at) VALUES ('${id}', ${number}, now())`;
  return `INSERT INTO commits (session, number, at)
      SELECT '${id}', NULL, now() WHERE NOT EXISTS (SELECT FROM commits WHERE session = '${id}');
    UPDATE commits SET number = CASE number WHEN ${before} THEN ${number} END, at = now() WHERE session = '${id}'`;
}

const DECIDE = `INSERT INTO commits AS had (session, number, at) VALUES ($1, $3, now())
  ON CONFLICT (session) DO UPDATE SET number = CASE had.number WHEN $2 THEN had.number ELSE excluded.number END, at = excluded.at
  RETURNING number`;

/** SQLSTATEs. */
const [NO_SUCH_TABLE, NOT_NULL_VIOLATION, DIVISION_BY_ZERO] = ["42P01", "23502", "22012"];

/** By `commit`. */
const isRowMissing = (cause: unknown): boolean => cause instanceof ServerError && cause.code === NOT_NULL_VIOLATION;
const isOtherSession = (cause: unknown): boolean => cause instanceof ServerError && cause.code === DIVISION_BY_ZERO;

const isLost = (cause: unknown): boolean => cause instanceof ServerError && cause.isLost;

/** Two transactions that wait for each other: the server has undone one of them. */
const isDeadlock = (cause: unknown): boolean =>
  cause instanceof ServerError && ["40P01", "40001"].includes(cause.code ?? "");

/** What a server says that is starting, stopping, full or a standby still, or a system of one that is not there. */
const isPassing = (cause: unknown): boolean =>
  cause instanceof ServerError && !isSettled(cause) && (cause.isLost || /^(?:08|53300|57P0)/.test(cause.code ?? ""));

/** A setting that says whose the session is. */
const SIGNATURE = "tickets.session";
const SIGN_SESSION = `SELECT set_config('${SIGNATURE}', $1, false)`;

const LOCK_KEY = "hashtextextended(current_schema() || ' ' || $1, 0)";

const TRY_LOCK = `SELECT pg_try_advisory_lock(${LOCK_KEY}) AS held, current_setting('${SIGNATURE}', true) AS session`;

/** A session that waits for its next statement, or for someone to read what it has answered. */
const END_SILENT = `SELECT pg_terminate_backend(pid) FROM pg_locks JOIN pg_stat_activity USING (pid)
  WHERE locktype = 'advisory' AND granted AND objsubid = 1 AND pid <> pg_backend_pid()
    AND pg_locks.database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND ((classid::bigint << 32) | objid::bigint) = ${LOCK_KEY}
    AND (state <> 'active' OR wait_event = 'ClientWrite')
    AND state_change < clock_timestamp() - $2 * interval '1 millisecond'`;

function sleep(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/** The oldest that is tried. */
const OLDEST_SERVER = 15;

/**
 * @param version as the server says it, such as `15.18 (Debian 15.18-0+deb12u1)`.
 * @throws Failure `usage` for a server with which nobody has tried that a ledger is safe.
 */
export function refuseOld(version: string, path: string): void {
  if (Number.parseInt(version, 10) >= OLDEST_SERVER) return;
  throw new Failure("usage", `${path} is on PostgreSQL ${version}. Nothing was sent.`, {
    hint: `A ledger needs version ${OLDEST_SERVER} or a later one: earlier ones were never tried with it.`,
  });
}

/**
 * @throws Failure `usage` for a database that can't hold every character: an answer, or what a person says, could not be kept in
 * it, and would leave a doubt.
 */
export function refuseNarrow(encoding: string, path: string): void {
  if (encoding === "UTF8") return;
  throw new Failure("usage", `${path} is in a database whose encoding is ${encoding}. Nothing was sent.`, {
    hint: "A ledger needs one that holds every character: CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0",
  });
}

function refuseForgetful(ledger: Pick<Ledger, "all">, path: string): void {
  const [setting] = forgetfulSettings(ledger);
  if (setting === undefined) return;
  throw new Failure(
    "usage",
    `${path} runs with ${setting}: after a power cut it may have forgotten what was sent. Nothing was sent.`,
    {
      hint: "Have the server set it to on. Only for tests: unsafeLedger: true in the environment",
    },
  );
}

/** Two processes may find that there are no tables yet. */
const TABLES_LOCK = "tables";

/** False where there are none, and none are to be made. */
function prepareTables(ledger: Session, path: string, schema: string, readOnly: boolean): boolean {
  if (hasTables(ledger, path)) return true;
  if (readOnly) return false;
  ledger.transaction(() => {
    ledger.get("SELECT pg_advisory_xact_lock(hashtextextended(?, 0))", `${schema} ${TABLES_LOCK}`);
    // Even of a schema that there is, CREATE asks for a right on the whole database.
    if (ledger.get("SELECT 1 AS one FROM pg_namespace WHERE nspname = ?", schema) === undefined)
      ledger.define(`CREATE SCHEMA "${schema.replaceAll('"', '""')}"`);
    // Another program may have been quicker.
    if (!hasTables(ledger, path)) ledger.define(SCHEMA);
  });
  return true;
}

/** @throws Failure as `refuseOtherForm`. */
function hasTables(ledger: Session, path: string): boolean {
  const version = readVersion(ledger);
  refuseOtherForm(path, version);
  return version > 0;
}

function readVersion(ledger: Session): number {
  if (ledger.get("SELECT current_schema() AS name")?.name == null || !ledger.hasTable("ledger_version")) return 0;
  return Number(ledger.get("SELECT max(version) AS version FROM ledger_version")?.version ?? 0);
}

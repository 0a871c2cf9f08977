/**
 * A ledger's sessions with PostgreSQL, one after another. Where one is lost, the next begins with all that it had: its locks, its
 * name, what it listens to. Where that can't be, or the server is another one that may lack what was confirmed, there is no going on.
 */

import { randomUUID } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import pg from "pg";
import { Failure } from "../failure.ts";
import {
  type Bound,
  type Connection,
  connectToPrimary,
  type Reply,
  type ServerOptions,
} from "./postgres-connection.ts";
import {
  forgotten,
  isLost,
  isPassing,
  pooled,
  refuseServer,
  ServerError,
  serverFailure,
  takenMeanwhile,
  unwaited,
} from "./postgres-failures.ts";

const [PATIENCE_MS, STOP_PATIENCE_MS, AWAY_MS, CLOSE_MS] = [60_000, 5_000, 3_000, 1_000];
const [FIRST_WAIT_MS, LONGEST_WAIT_MS] = [50, 1000];
/** The server's settings are looked at again after so long. */
const LOOK_MS = 60_000;

export class Sessions {
  /** The signature of each session, and the key of the row of `commits`. */
  readonly id = randomUUID();
  readonly place: string;
  /** Number of the transaction that was committed last, from 1. */
  committed = 0;
  /** Notifications that came so far, and who waits for the next. */
  notifications = 0;
  readonly wakers = new Set<() => void>();
  readonly #options: ServerOptions;
  readonly #isToRead: boolean;
  #connection: Connection | undefined;
  /** Those that were lost, which the server may not know yet. */
  #lost: Connection[] = [];
  #timeline: Timeline | undefined;
  /** Names of locks with the fence that they were taken by; without one, a fence elsewhere guards them. */
  readonly #locks = new Map<string, number | undefined>();
  #silentMs = 0;
  /** Why there is no going on: what was decided so far counts no more. */
  #over: Failure | undefined;
  #lookedAt = Number.NEGATIVE_INFINITY;
  /** Since when nothing that was asked was answered; undefined where all is well. */
  #lostAt: number | undefined;
  #isAway = false;
  readonly #closing = new AbortController();

  constructor(options: ServerOptions, isToRead: boolean) {
    this.#options = options;
    this.#isToRead = isToRead;
    this.place = options.shown;
  }

  get isLost(): boolean {
    return this.#connection?.isLost !== false;
  }

  get isOver(): boolean {
    return this.#over !== undefined;
  }

  /** There is no going on. */
  giveUp(why: Failure): never {
    this.#over = why;
    throw why;
  }

  async ask(text: string, values?: readonly Bound[]): Promise<Reply> {
    if (this.#connection === undefined) throw new ServerError("the connection was lost", "08003", true);
    return await this.#connection.ask(text, values);
  }

  /** The first. */
  async row(text: string, values?: readonly Bound[]): Promise<Reply["rows"][number] | undefined> {
    return (await this.ask(text, values)).rows[0];
  }

  /** After it resolves, there is a session that is whole, with a server that is safe. */
  async ready(): Promise<void> {
    if (this.#over !== undefined) throw this.#over;
    if (this.isLost)
      await this.#begin().catch((cause: unknown) => {
        throw serverFailure(this.place, cause);
      });
    if (performance.now() - this.#lookedAt < LOOK_MS) return;
    await refuseServer(this.place, async (text) => (await this.ask(text)).rows);
    this.#lookedAt = performance.now();
  }

  /** Begins a session with all that the one before had, for as long as patience lasts. */
  async #begin(): Promise<void> {
    const { patienceMs = PATIENCE_MS, signal } = this.#options;
    this.#lostAt ??= performance.now();
    const deadline = this.#lostAt + patienceMs;
    let stopBy = Number.POSITIVE_INFINITY;
    const telling = setTimeout(() => this.tellAway(true), AWAY_MS);
    try {
      for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(2 * waitMs, LONGEST_WAIT_MS)) {
        try {
          await this.#connect();
          for (const [name, fence] of this.#locks) await this.#lockAgain(name, fence, deadline);
          return;
        } catch (cause) {
          this.#drop();
          if (this.#over !== undefined) throw this.#over;
          const now = performance.now();
          if (signal?.aborted === true) stopBy = Math.min(stopBy, now + STOP_PATIENCE_MS);
          const isOver = this.#closing.signal.aborted || now > deadline || now > stopBy;
          if (!isPassing(cause) || isOver) throw cause;
          await wait(waitMs, undefined, { signal: this.#closing.signal }).catch(() => undefined);
        }
      }
    } finally {
      clearTimeout(telling);
    }
  }

  /** Tells whether the server answers. */
  tellAway(isAway: boolean): void {
    if (!isAway) this.#lostAt = undefined;
    if (this.#isAway === isAway) return;
    this.#isAway = isAway;
    this.#options.onAway?.(isAway);
  }

  #drop(): void {
    const connection = this.#connection;
    this.#connection = undefined;
    if (connection === undefined) return;
    connection.end();
    this.#lost.push(connection);
  }

  async #connect(): Promise<void> {
    this.#drop();
    this.#connection = await connectToPrimary(this.#options, {
      onSilent: () => this.tellAway(true),
      onNotified: () => {
        this.notifications += 1;
        for (const wake of this.wakers) wake();
      },
      closing: this.#closing.signal,
    });
    if (this.#isToRead) await this.ask("SET default_transaction_read_only = on");
    this.#lookedAt = Number.NEGATIVE_INFINITY;
    // What they were still to do can't come any more, and their locks are free.
    for (const { id } of this.#lost) await this.ask(END_SESSION, id);
    this.#lost = [];
    await this.ask("SELECT set_config('tickets.session', $1, false)", [this.id]);
    if (this.#silentMs > 0) await this.endWhenSilent(this.#silentMs);
    await this.ask(`LISTEN ${pg.escapeIdentifier(this.#options.schema)}`);
    await this.#refuseOther();
  }

  /** A server that took the place of another may lack what that had confirmed, to this program or to others. */
  async #refuseOther(): Promise<void> {
    const before = this.#timeline;
    const now = await this.row(TIMELINE);
    this.#timeline = { id: String(now?.id), isWaitedFor: now?.standbys !== "" };
    if (this.#isToRead) return;
    if (this.committed > 0) {
      const noted = await this.row("SELECT number FROM commits WHERE session = $1", [this.id]);
      if (noted === undefined || Number(noted.number) < this.committed) this.giveUp(forgotten(this.place));
    }
    if (before !== undefined && before.id !== this.#timeline.id && !before.isWaitedFor)
      this.giveUp(unwaited(this.place));
  }

  /** The server may hold a lock for the session that was lost until it notices. */
  async #lockAgain(name: string, fence: number | undefined, deadline: number): Promise<void> {
    while (!(await this.tryLock(name))) {
      if (fence === undefined) {
        this.#locks.delete(name);
        return;
      }
      if (performance.now() > deadline) this.giveUp(takenMeanwhile(this.place));
      await wait(FIRST_WAIT_MS);
    }
    if (fence === undefined) return;
    // Whoever held it meanwhile may have changed what this process has read.
    const held = await this.row("SELECT fence FROM locks WHERE name = $1", [name]);
    if (held?.fence !== fence) this.giveUp(takenMeanwhile(this.place));
  }

  /** Keeps it in later sessions once `holds` says so. */
  async tryLock(name: string): Promise<boolean> {
    const row = await this.row(TRY_LOCK, [name]);
    if (row?.session !== this.id) this.giveUp(pooled(this.place));
    return row.held === true;
  }

  /** @param fence by which it was taken; without one, it is no failure that a later session can't have it again. */
  holds(name: string, fence?: number): void {
    this.#locks.set(name, fence);
  }

  /** Whether it was held. */
  letGo(name: string): boolean {
    return this.#locks.delete(name);
  }

  async unlock(name: string): Promise<void> {
    // It has ended with a session that is lost.
    if (this.isLost) return;
    await this.ask(`SELECT pg_advisory_unlock(${KEY})`, [name]).catch((cause) => {
      if (!isLost(cause)) throw cause;
    });
  }

  /** Has the server end a session once it has asked nothing for so long: its process is frozen then. */
  async endWhenSilent(ms: number): Promise<void> {
    this.#silentMs = ms;
    const sides =
      "set_config('idle_session_timeout', $1, false), set_config('idle_in_transaction_session_timeout', $1, false)";
    await this.ask(`SELECT ${sides}`, [String(ms)]);
  }

  /** Before what is still asked has ended. */
  stop(): Disposable {
    this.#closing.abort();
    // What nobody waits for any more is not waited for here either.
    const limit = setTimeout(() => this.#connection?.end(), CLOSE_MS);
    return { [Symbol.dispose]: () => clearTimeout(limit) };
  }

  async close(): Promise<void> {
    this.#over ??= new Failure("internal", "The ledger is closed.");
    await this.#connection?.close();
    this.#connection = undefined;
  }
}

interface Timeline {
  readonly id: string;
  readonly isWaitedFor: boolean;
}

const KEY = "hashtextextended(current_schema() || ' ' || $1, 0)";

/** Sessions with the lock; the server shows its number in two halves (PostgreSQL, pg_locks). */
export const HELD = `pg_locks WHERE locktype = 'advisory' AND objsubid = 1 AND granted
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
  AND ((classid::bigint << 32) | objid::bigint) = ${KEY}`;
/** Taken twice by one session, it would have to be given back twice. */
const TRY_LOCK = `SELECT current_setting('tickets.session', true) AS session,
  CASE WHEN EXISTS (SELECT 1 FROM ${HELD} AND pid = pg_backend_pid()) THEN true ELSE pg_try_advisory_lock(${KEY}) END AS held`;
const END_SESSION =
  "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = $1 AND backend_start::text = $2";

/** A server that is made the primary begins a timeline. */
const TIMELINE = `SELECT CASE WHEN NOT pg_is_in_recovery() THEN left(pg_walfile_name(pg_current_wal_lsn()), 8) END AS id,
  current_setting('synchronous_standby_names') AS standbys`;

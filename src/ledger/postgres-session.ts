/**
 * A program's session with PostgreSQL. Where it is lost, the next begins with all that it had: its locks, its name, what it
 * listens to. Where that can't be, or the server is another one that may lack what was confirmed, there is no going on.
 */

import { randomUUID } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import pg from "pg";
import { Failure } from "../failure.ts";
import { oneAtATime } from "./database.ts";
import {
  type Bound,
  type Connection,
  connectToPrimary,
  type Reply,
  type ServerOptions,
} from "./postgres-connection.ts";
import {
  FACTS,
  type Facts,
  isDeadlock,
  isLost,
  isPassing,
  isTaken,
  pooled,
  refuseServer,
  replaced,
  ServerError,
  type ServerFacts,
  serverFailure,
  takenMeanwhile,
} from "./postgres-failures.ts";
import { taken } from "./sqlite-failures.ts";

const [PATIENCE_MS, STOP_PATIENCE_MS, AWAY_MS, CLOSE_MS] = [60_000, 5_000, 3_000, 1_000];
const [FIRST_WAIT_MS, LONGEST_WAIT_MS] = [50, 1000];
/** The server's settings are looked at again after so long. */
const LOOK_MS = 60_000;
/** A server is given up after so many lost sessions in a row, however long that took. */
const MOST_LOSSES = 3;

export class Session {
  /** The signature of each of its connections, and the key of the row of `commits`. */
  readonly id = randomUUID();
  /** Number of the transaction that was committed last, from 1. */
  committed = 0;
  /** Names of locks that the next connection has to have again, with the fence that they were taken by. */
  readonly locks = new Map<string, number>();
  readonly #inOrder = oneAtATime();
  readonly #options: ServerOptions;
  readonly #isToRead: boolean;
  #connection: Connection | undefined;
  #facts: Facts | undefined;
  #lookedAt = Number.NEGATIVE_INFINITY;
  /** Settings by which the server ends a session of a process that is frozen. */
  #silence: Readonly<Record<string, string>> = {};
  /** Why there is no going on: what was decided so far counts no more. */
  #over: Failure | undefined;
  /** Since when nothing that was asked was answered; undefined where all is well. */
  #lostAt: number | undefined;
  #isAway = false;
  /** Aborted by a notification. Whoever has heard of it puts another one in its place. */
  #notified = new AbortController();
  readonly #closing = new AbortController();

  constructor(options: ServerOptions, isToRead: boolean) {
    this.#options = options;
    this.#isToRead = isToRead;
  }

  get isLost(): boolean {
    return this.#connection?.isLost !== false;
  }

  /** There is no going on. */
  giveUp(why: (place: string) => Failure): never {
    this.#over = why(this.#options.shown);
    throw this.#over;
  }

  async ask(text: string, values?: readonly Bound[]): Promise<Reply> {
    if (this.#connection === undefined) throw new ServerError("the connection was lost", "08003", true);
    return await this.#connection.ask(text, values);
  }

  /** The first. */
  async row(text: string, values?: readonly Bound[]): Promise<Reply["rows"][number] | undefined> {
    return (await this.ask(text, values)).rows[0];
  }

  /** Asks, on a session that is whole; where it is lost, again on another one, unless that can be done only once. */
  inTurn<T>(work: (facts: Facts) => Promise<T>, how?: "once"): Promise<T> {
    return this.#inOrder(async () => {
      for (let losses = 0; ; ) {
        try {
          const result = await work(await this.ready());
          this.#setAway(false);
          return result;
        } catch (cause) {
          if (isTaken(cause)) throw taken(cause);
          const isOver = this.#over !== undefined || how === "once" || losses >= MOST_LOSSES;
          if (isOver || (!isLost(cause) && !isDeadlock(cause))) throw serverFailure(this.#options.shown, cause);
          if (isLost(cause)) losses += 1;
        }
      }
    });
  }

  /** After it resolves, there is a session that is whole, with a server that is safe. */
  async ready(): Promise<Facts> {
    if (this.#over !== undefined) throw this.#over;
    if (this.isLost)
      await this.#reconnect().catch((cause: unknown) => {
        throw serverFailure(this.#options.shown, cause);
      });
    if (this.#facts === undefined || performance.now() - this.#lookedAt >= LOOK_MS) return await this.#look();
    return this.#facts;
  }

  /** Begins a session with all that the one before had, for as long as patience lasts. */
  async #reconnect(): Promise<void> {
    const { patienceMs = PATIENCE_MS, signal } = this.#options;
    this.#lostAt ??= performance.now();
    let deadline = this.#lostAt + patienceMs;
    const away = setTimeout(() => this.#setAway(true), AWAY_MS);
    try {
      for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(2 * waitMs, LONGEST_WAIT_MS)) {
        try {
          await this.#connect();
          for (const [name, fence] of this.locks) await this.#lockAgain(name, fence, deadline);
          return;
        } catch (cause) {
          this.#connection?.end();
          if (this.#over !== undefined) throw this.#over;
          const now = performance.now();
          if (signal?.aborted === true) deadline = Math.min(deadline, now + STOP_PATIENCE_MS);
          if (!isPassing(cause) || this.#closing.signal.aborted || now > deadline) throw cause;
          await wait(waitMs, undefined, { signal: this.#closing.signal }).catch(() => undefined);
        }
      }
    } finally {
      clearTimeout(away);
    }
  }

  /** Has the user see whether the server answers. */
  #setAway(isAway: boolean): void {
    if (!isAway) this.#lostAt = undefined;
    if (this.#isAway === isAway) return;
    this.#isAway = isAway;
    this.#options.onAway?.(isAway);
  }

  async #connect(): Promise<void> {
    const { application, schema } = this.#options;
    this.#connection?.end();
    this.#connection = await connectToPrimary(this.#options, {
      name: `${application} ${this.id}`,
      settings: { default_transaction_read_only: this.#isToRead ? "on" : "off", ...this.#silence },
      onSilent: () => this.#setAway(true),
      onNotified: () => this.#notified.abort(),
      closing: this.#closing.signal,
    });
    // What earlier sessions were still to do can't come any more, and their locks are free.
    await this.ask(END_EARLIER);
    await this.ask("SELECT set_config('tickets.session', $1, false)", [this.id]);
    await this.ask(`LISTEN ${pg.escapeIdentifier(schema)}`);
    await this.#look();
  }

  /** A server that took the place of another may lack what that had confirmed, to this program or to others. */
  async #look(): Promise<Facts> {
    const before = this.#facts;
    const facts = (await this.row(FACTS)) as unknown as Facts; // what FACTS selects
    refuseServer(this.#options.shown, facts);
    [this.#facts, this.#lookedAt] = [facts, performance.now()];
    if (this.#isToRead) return facts;
    if (before !== undefined && before.timeline !== facts.timeline && before.standbys === "") this.giveUp(replaced);
    if (this.committed > 0) {
      const noted = await this.row("SELECT number FROM commits WHERE session = $1", [this.id]);
      if (noted === undefined || Number(noted.number) < this.committed) this.giveUp(replaced);
    }
    return facts;
  }

  /** The server may hold a lock for the session that was lost until it notices. */
  async #lockAgain(name: string, fence: number, deadline: number): Promise<void> {
    while (!(await this.tryLock(name))) {
      if (performance.now() > deadline) this.giveUp(takenMeanwhile);
      await wait(FIRST_WAIT_MS);
    }
    // Whoever held it meanwhile may have changed what this process has read.
    const held = await this.row("SELECT fence FROM locks WHERE name = $1", [name]);
    if (held?.fence !== fence) this.giveUp(takenMeanwhile);
  }

  /** Whether the session has the lock now. */
  async tryLock(name: string): Promise<boolean> {
    const row = await this.row(TRY_LOCK, [name]);
    if (row?.session !== this.id) this.giveUp(pooled);
    return row.held === true;
  }

  /** Has the server end a session of this program once it has asked nothing for so long: its process is frozen then. */
  endWhenSilent(ms: number): Promise<void> {
    return this.inTurn(async () => {
      this.#silence = { idle_session_timeout: String(ms), idle_in_transaction_session_timeout: String(ms) };
      for (const setting of Object.entries(this.#silence)) await this.ask("SELECT set_config($1, $2, false)", setting);
    });
  }

  /** Looked at within the last minute. */
  facts(): Promise<ServerFacts> {
    return this.inTurn(async ({ version, standbys }) => ({ version, standbys }));
  }

  /** Resolves when somebody notifies, or has since this was asked last, or after so long, or when the signal comes. */
  async woken(waitMs: number, signal: AbortSignal): Promise<void> {
    const wake = AbortSignal.any([signal, this.#notified.signal]);
    await wait(waitMs, undefined, { signal: wake }).catch(() => undefined);
    this.#notified = new AbortController();
  }

  /** Takes a lock that ends with the connection: the next one does without, since a fence guards what it is for. */
  tryFenced(name: string): Promise<boolean> {
    return this.inTurn(() => this.tryLock(name));
  }

  async unlock(name: string): Promise<void> {
    this.locks.delete(name);
    await this.#inOrder(async () => {
      // It has ended with a session that is lost.
      if (this.isLost || this.#over !== undefined) return;
      await this.ask(UNLOCK, [name]).catch((cause) => {
        if (!isLost(cause)) throw cause;
      });
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    // What nobody waits for any more is not waited for here either.
    const limit = setTimeout(() => this.#connection?.end(), CLOSE_MS);
    await this.#inOrder(async () => {
      this.#over ??= new Failure("internal", "The ledger is closed.");
      await this.#connection?.close();
      this.#connection = undefined;
    });
    clearTimeout(limit);
  }
}

/** Of `$1`, the name of a lock. */
const KEY = "hashtextextended(current_schema() || ' ' || $1, 0)";

/** Sessions with the lock; the server shows its number in two halves (PostgreSQL, pg_locks). */
export const HELD = `pg_locks WHERE locktype = 'advisory' AND objsubid = 1 AND granted
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
  AND ((classid::bigint << 32) | objid::bigint) = ${KEY}`;
/** Taken twice by one session, it would have to be given back twice. */
const TRY_LOCK = `SELECT current_setting('tickets.session', true) AS session,
  CASE WHEN EXISTS (SELECT 1 FROM ${HELD} AND pid = pg_backend_pid()) THEN true ELSE pg_try_advisory_lock(${KEY}) END AS held`;
const UNLOCK = `SELECT pg_advisory_unlock(${KEY})`;
const END_EARLIER = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE application_name = current_setting('application_name') AND pid <> pg_backend_pid()`;

/** The plan while it is made: one temporary SQLite file, so that nothing in memory grows with the input. */

import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import { errorCode, Failure } from "../failure.ts";

/**
 * A line for each action, and one without an action for a bad row that gives none. `row` is the `seq` of the row's first line,
 * which has its `text`; what is special of a row stands in the table `row`. `place` is where an action stands in the order that
 * counts (its `seq` in the input, unless `--order time` moved it), and `run`, `at` the position where its row was first read,
 * where that was an earlier run; `clock`: the last time that the input gave, of those that `--order time` sorts. `verdict` is one
 * of `verdicts.ts`, or `bad`: an action that an invalid row would have given. `why` says more of it, `cause` is the row or the
 * run that it is held for, `reason` what its rejects say.
 *
 * What is long stands last, behind what is changed. `spot`: in which chunk an action is, and where there.
 */
const TABLES = `
CREATE TABLE action (
  seq INTEGER PRIMARY KEY, row INTEGER NOT NULL, input INTEGER NOT NULL, line INTEGER NOT NULL, kind TEXT, subject TEXT,
  mark TEXT, content TEXT, time INTEGER, event TEXT, owner TEXT, decimals INTEGER, place INTEGER NOT NULL, clock INTEGER,
  verdict TEXT NOT NULL DEFAULT 'new', why TEXT, run INTEGER, at INTEGER, cause TEXT, reason TEXT, json TEXT, text TEXT
) STRICT;
CREATE TABLE row (row INTEGER PRIMARY KEY, state TEXT, reason TEXT, digest TEXT) STRICT;
CREATE TABLE spot (seq INTEGER PRIMARY KEY, chunk INTEGER NOT NULL, place INTEGER NOT NULL) STRICT;
CREATE TABLE event (id TEXT PRIMARY KEY, state TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE odd (form TEXT, subject TEXT, row INTEGER, PRIMARY KEY (form, subject)) STRICT, WITHOUT ROWID;
CREATE TABLE bad (digest TEXT PRIMARY KEY, times INTEGER NOT NULL) STRICT, WITHOUT ROWID;
`;

/**
 * None of it is needed after a crash. One transaction that never ends: a new database has nothing to undo, so that its journal
 * stays empty. It is written in one go and read at random, so that a large page cache would not help; larger pages do.
 */
const SETTINGS = `PRAGMA page_size = 16384; PRAGMA cache_size = -8192; PRAGMA journal_mode = MEMORY;
PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE`;

/** Rows that a query gives at a time: few, as in read/input.ts. */
const BATCH = 200;

/** Its methods throw a Failure `storage` where the file can't be written. */
export class Store implements Disposable {
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();

  /** Without a name: SQLite makes the file among the temporary ones, readable for nobody else, and nothing of it outlives the process. */
  constructor() {
    this.#database = new DatabaseSync("");
    this.#database.exec(`${SETTINGS}; BEGIN; ${TABLES}`);
  }

  /** What runs a statement, to be kept by who runs it for each row. */
  prepare(sql: string): (...values: readonly SQLInputValue[]) => void {
    const statement = this.#database.prepare(sql);
    return (...values) => {
      try {
        statement.run(...values);
      } catch (cause) {
        throw failureOf(cause);
      }
    };
  }

  /** A function for use in queries: the same of the same text. */
  define(name: string, of: (text: string) => number): void {
    this.#database.function(name, { deterministic: true }, (text) => of(String(text)));
  }

  run(sql: string, ...values: readonly SQLInputValue[]): number {
    return Number(tried(() => this.#kept(sql).run(...values)).changes);
  }

  /** `Found` says what the columns that the query names hold. */
  get<Found extends object>(sql: string, ...values: readonly SQLInputValue[]): Found | undefined {
    return tried(() => this.#kept(sql).get(...values)) as Found | undefined; // as the caller wrote the query
  }

  all<Found extends object>(sql: string, ...values: readonly SQLInputValue[]): readonly Found[] {
    return tried(() => this.#kept(sql).all(...values)) as unknown as readonly Found[]; // likewise
  }

  /** What a query finds, some at a time; what it sorts by must not change meanwhile. */
  batches<Found extends object>(sql: string, ...values: readonly SQLInputValue[]): Generator<readonly Found[]> {
    // A statement of its own: one that is being read can't be asked again.
    return inBatches<Found>(this.#database.prepare(sql).iterate(...values));
  }

  /** The same as arrays, which costs half. */
  tuples<Found extends readonly unknown[]>(
    sql: string,
    ...values: readonly SQLInputValue[]
  ): Generator<readonly Found[]> {
    const statement = this.#database.prepare(sql);
    statement.setReturnArrays(true);
    return inBatches<Found>(statement.iterate(...values));
  }

  #kept(sql: string): StatementSync {
    const known = this.#statements.get(sql) ?? this.#database.prepare(sql);
    this.#statements.set(sql, known);
    return known;
  }

  /** Once more does nothing. */
  [Symbol.dispose](): void {
    if (this.#database.isOpen) this.#database.close();
  }
}

function* inBatches<Found>(all: Iterable<unknown>): Generator<readonly Found[]> {
  let batch: Found[] = [];
  try {
    for (const found of all) {
      if (batch.push(found as Found) < BATCH) continue; // as the caller wrote the query
      yield batch;
      batch = [];
    }
  } catch (cause) {
    throw failureOf(cause);
  }
  if (batch.length > 0) yield batch;
}

function tried<T>(work: () => T): T {
  try {
    return work();
  } catch (cause) {
    throw failureOf(cause);
  }
}

/** The file can't be written; what is sorted for a query needs room, too. */
function failureOf(cause: unknown): unknown {
  if (errorCode(cause) !== "ERR_SQLITE_ERROR") return cause;
  const why = cause instanceof Error ? cause.message : String(cause);
  return new Failure("storage", `The plan is a temporary file, and it can't be written (${why}).`, {
    nothingSent: true,
    hint: "Make room for temporary files, or name a folder for them with TMPDIR, then run the same command again.",
    cause,
  });
}

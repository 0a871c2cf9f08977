/** What the ledger needs of a database. SQLite and PostgreSQL each have a driver. */

import type { LockHolder, LockOptions } from "./lock.ts";
import type { Rows, Sql } from "./sql.ts";

/** What reads, each statement on its own or all in one transaction. */
export interface Reader {
  /** The ledger, for people. */
  readonly place: string;
  /** A time of day by the database's clock, as milliseconds since 1970. */
  readonly now: Sql;
  /** What the caller says of the rows follows from the tables' own types. */
  all<T extends object>(statement: Sql): Promise<T[]>;
}

/** What writes, as part of a transaction. */
export interface Writer extends Reader {
  /** @returns how many rows it changed. */
  run(statement: Sql): Promise<number>;
  /** Inserts rows. @param onConflict what stands behind them, such as `ON CONFLICT DO NOTHING`. */
  insert(table: string, rows: Rows, onConflict?: string): Promise<void>;
}

export interface Database extends Reader, AsyncDisposable {
  /** This machine's name, where others share the database. */
  readonly machine: string | undefined;
  readonly exhausted: "a full disk" | "a failed write" | undefined;
  /**
   * All or nothing; after it resolves, it is on disk. The work is done again where it was cut short: it has no other effect than
   * on the database. `once`: it can't be done again, and fails instead.
   */
  write<T>(work: (writer: Writer) => Promise<T>, how?: "once"): Promise<T>;
  /** Wakes workers, after something that they may wait for. */
  wake(writer: Writer): Promise<void>;
  lock(options: LockOptions): Promise<AsyncDisposable>;
  holder(name: string): Promise<LockHolder | undefined>;
  /** On disk. */
  bytes(): Promise<number>;
  /** Gives the disk back what was removed, where the database does not do so by itself. */
  giveBack(): Promise<void>;
}

/**
 * Rows by the names of this program: `http_status` is `httpStatus`, and NULL is undefined.
 *
 * @param json names of what is stored as JSON.
 */
export async function select<T extends object>(
  reader: Reader,
  statement: Sql,
  json: readonly (keyof T)[] = [],
): Promise<readonly T[]> {
  const rows = await reader.all<Readonly<Record<string, unknown>>>(statement);
  const columns = Object.keys(rows[0] ?? {}).map((column) => [column, nameOf(column)] as const);
  const parsed = new Set<unknown>(json);
  return rows.map((row) => {
    const named: Record<string, unknown> = {};
    for (const [column, name] of columns) {
      const value = row[column] ?? undefined;
      named[name] = parsed.has(name) && typeof value === "string" ? JSON.parse(value) : value;
    }
    return named as T; // see Reader
  });
}

const nameOf = (column: string): string => column.replaceAll(/_[a-z]/g, (end) => end.slice(1).toUpperCase());

/** The first row. */
export const first = async <T extends object>(reader: Reader, statement: Sql): Promise<T | undefined> =>
  (await select<T>(reader, statement))[0];

/** The one value of the one row; undefined where there is none. */
export const scalar = async <T extends number | string>(reader: Reader, statement: Sql): Promise<T | undefined> =>
  Object.values((await first<Record<string, T>>(reader, statement)) ?? {})[0];

/** One connection has one transaction at a time; whoever comes meanwhile waits. */
export function oneAtATime(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const result = last.then(work);
    last = result.catch(() => undefined);
    return result;
  };
}

/** What the ledger needs of a database. SQLite and PostgreSQL each have a driver. */

import type { LockHolder, LockOptions } from "./ledger.ts";
import type { Sql, Value } from "./sql.ts";

/** A table that is filled in bulk, and the types of its columns. */
export interface BulkTable {
  readonly name: string;
  readonly columns: Readonly<Record<string, "text" | "int">>;
}

export interface Session {
  /** What the caller says of the rows follows from the tables' own types. */
  all<T extends object>(statement: Sql): Promise<T[]>;
  /** @returns how many rows it changed. */
  run(statement: Sql): Promise<number>;
  /** Inserts rows. @param onConflict what stands behind them, such as `ON CONFLICT DO NOTHING`. @returns how many were inserted or changed. */
  insert(table: BulkTable, rows: readonly (readonly Value[])[], onConflict?: string): Promise<number>;
}

export interface Database extends AsyncDisposable {
  readonly kind: "sqlite" | "postgres";
  readonly place: string;
  readonly exhausted: "a full disk" | "a failed write" | undefined;
  readonly dialect: Dialect;
  /** Each statement on its own. */
  readonly plain: Pick<Session, "all">;
  /** Statements that see one state of the database. */
  read<T>(work: (session: Session) => Promise<T>): Promise<T>;
  /**
   * All or nothing; after it resolves, it is on disk. The work is done again where it was cut short: it has no other effect than
   * on the database. `once`: it can't be done again, and fails instead.
   */
  write<T>(work: (session: Session) => Promise<T>, how?: "once"): Promise<T>;
  lock(options: LockOptions): Promise<AsyncDisposable>;
  holder(name: string): Promise<LockHolder | undefined>;
  /** On disk. */
  bytes(): Promise<number>;
  /** Gives the disk back what was removed, where the database does not do so by itself. */
  giveBack(): Promise<void>;
}

/** In what the databases differ. */
export interface Dialect {
  /** A time of day of the database's clock, as milliseconds since 1970. */
  readonly now: Sql;
  /** Where bytes stand within others, from 1; 0 for nowhere. */
  readonly indexOf: (column: string, bytes: Uint8Array) => Sql;
  /** Keeps a row that was read as it is until the transaction ends. */
  readonly forUpdate: Sql;
}

/** The first row. */
export const first = async <T extends object>(session: Pick<Session, "all">, statement: Sql): Promise<T | undefined> =>
  (await session.all<T>(statement))[0];

/** One connection has one transaction at a time; whoever comes meanwhile waits. */
export function oneAtATime(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const result = last.then(work);
    last = result.catch(() => undefined);
    return result;
  };
}

/** Statements as both databases take them, and what takes them: SQLite and PostgreSQL each have a driver. */

import type { LockHolder, LockOptions } from "./lock.ts";

export type Value = null | number | string | Uint8Array;
type Column = "text" | "int";

/** Many rows as one value: a table within a statement. */
export interface Rows {
  readonly columns: Readonly<Record<string, Column>>;
  readonly rows: readonly (readonly Value[])[];
}

export interface Sql {
  /** One more than there are values. */
  readonly texts: readonly string[];
  readonly values: readonly (Value | Rows)[];
}

/** A statement, or a part of one. Another part may stand where a value does; what is undefined is NULL. */
export function sql(texts: readonly string[], ...given: readonly (Value | Rows | Sql | undefined)[]): Sql {
  const all = [texts[0] ?? ""];
  const values: (Value | Rows)[] = [];
  for (const [at, value] of given.entries()) {
    const after = texts[at + 1] ?? "";
    if (isPart(value)) {
      all.push(`${all.pop()}${value.texts[0]}`, ...value.texts.slice(1));
      values.push(...value.values);
      all.push(`${all.pop()}${after}`);
    } else {
      values.push(value ?? null);
      all.push(after);
    }
  }
  return { texts: all, values };
}

/** Text that stands in a statement as it is. It never comes from outside. */
export const raw = (text: string): Sql => ({ texts: [text], values: [] });

/** `('a', 'b')`, for words of this program. */
export const words = (list: readonly string[]): Sql => raw(`(${list.map((word) => `'${word}'`).join(", ")})`);

/** A table of one column. */
export const listOf = (column: string, type: Column, values: readonly (string | number)[]): Rows => ({
  columns: { [column]: type },
  rows: values.map((value) => [value]),
});

/** What a row gets, by the names of this program: `httpStatus` is the column `http_status`. */
export type Columns = Readonly<Record<string, Value | Sql | undefined>>;

const columnOf = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** `http_status = 200, detail = NULL` */
export const assigned = (columns: Columns): Sql =>
  joined(Object.entries(columns).map(([name, value]) => sql`${raw(columnOf(name))} = ${value}`));

/** One row. @param key where a row has it already, that one gets the other columns. @param anew what such a row gets instead. */
export function insertInto(
  table: string,
  row: Columns,
  key: readonly string[] = [],
  anew: Readonly<Record<string, string>> = {},
): Sql {
  const names = Object.keys(row).map(columnOf);
  const others = names
    .filter((name) => !key.includes(name))
    .map((name) => `${name} = ${anew[name] ?? `excluded.${name}`}`);
  const again = key.length === 0 ? "" : ` ON CONFLICT (${key.join(", ")}) DO UPDATE SET ${others.join(", ")}`;
  const into = raw(`INSERT INTO ${table} (${names.join(", ")})`);
  return sql`${into} VALUES (${joined(Object.values(row))})${raw(again)}`;
}

const joined = (parts: readonly (Value | Sql | undefined)[]): Sql =>
  parts.reduce<Sql>((all, part, at) => (at === 0 ? sql`${part}` : sql`${all}, ${part}`), raw(""));

/** All conditions that are given. */
export const every = (...conditions: readonly (Sql | undefined)[]): Sql =>
  conditions.reduce<Sql>((all, each) => (each === undefined ? all : sql`${all} AND ${each}`), raw("1 = 1"));

const isPart = (value: unknown): value is Sql => typeof value === "object" && value !== null && "texts" in value;

export const isRows = (value: Value | Rows): value is Rows =>
  typeof value === "object" && value !== null && "rows" in value;

/** @param placeOf what stands for a value in the text; called for one after another. */
export const textOf = ({ texts, values }: Sql, placeOf: (value: Value | Rows) => string): string =>
  texts.map((text, at) => (at === 0 ? text : `${placeOf(values[at - 1] ?? null)}${text}`)).join("");

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
  /** Wakes workers, after something that they may wait for. */
  wake(): Promise<void>;
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

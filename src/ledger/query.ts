/** Any question in SQL to a ledger, which it can't change. */

import type { DatabaseSync, SQLOutputValue, StatementSync } from "node:sqlite";
import { cleanText } from "../actions/text.ts";
import { Failure } from "../failure.ts";
import { defineActionsView } from "./actions-view.ts";
import { type OpenOptions, openDatabase, sqliteErrorKind, storageFailure, wrap } from "./open-ledger.ts";

/** An integer is a bigint, so that it keeps its digits; any other number is a real one. */
export type Cell = SQLOutputValue;

export interface Query extends Disposable {
  readonly columns: readonly string[];
  /** Reads while it is walked, once; nothing is gathered. It throws as `openQuery` does. */
  readonly rows: Iterable<readonly Cell[]>;
}

/**
 * @throws Failure `usage` for what is not one statement that only reads, or that SQLite does not understand; as `openLedger`
 * where the ledger can't be read.
 */
export function openQuery(options: Omit<OpenOptions, "readOnly">, sql: string): Query {
  refuseOther(sql);
  const { path } = options;
  const database = openDatabase({ ...options, readOnly: true });
  try {
    defineActionsView(database, wrap(database, path));
    // A file that is opened read-only can't be written; this goes for temporary tables too.
    database.exec("PRAGMA query_only = ON");
    const statement = prepare(database, sql);
    return {
      columns: statement.columns().map(({ name }) => name),
      rows: rowsOf(database, statement, path),
      [Symbol.dispose]: () => database.close(),
    };
  } catch (cause) {
    const failure = queryFailure(database, path, cause);
    database.close();
    throw failure;
  }
}

/** Blanks and comments. */
const NOTHING = String.raw`(?:\s|--[^\n]*(?:\n|$)|/\*(?:[^*]|\*(?!/))*(?:\*/|$))`;
/** Only these begin a statement that reads and does nothing else: the others open files, or change how SQLite behaves. */
const READS = new RegExp(
  `^${NOTHING}*(?:EXPLAIN${NOTHING}+(?:QUERY${NOTHING}+PLAN${NOTHING}+)?)?(?:SELECT|WITH|VALUES)\\b`,
  "i",
);
export const EXPLAINS = new RegExp(`^${NOTHING}*EXPLAIN\\b`, "i");
const EMPTY = new RegExp(`^(?:${NOTHING}|;)*$`);

/** Before the database sees it: SQLite carries some statements out while it reads them. */
export function refuseOther(sql: string): void {
  if (EMPTY.test(sql)) throw new Failure("usage", "The query is empty.", { hint: EXAMPLE });
  if (sql.includes("\0")) throw new Failure("usage", "The query holds a character NUL.", { hint: EXAMPLE });
  if (!READS.test(sql))
    throw new Failure("usage", "A query only reads: it begins with SELECT, WITH, VALUES or EXPLAIN.", {
      hint: EXAMPLE,
    });
}

export const wouldWrite = (cause: unknown): Failure =>
  new Failure("usage", "A query only reads; this one would write.", { hint: EXAMPLE, cause });

export const tablesHint = (names: readonly string[]): string =>
  `There are: ${names.join(", ")}. Their columns: docs/ledger.md`;

const EXAMPLE = "Such as: SELECT run, state, exit_code FROM runs";

function prepare(database: DatabaseSync, sql: string): StatementSync {
  const statement = database.prepare(sql);
  // SQLite takes the first statement and passes over the rest.
  if (!EMPTY.test(sql.slice(statement.sourceSQL.length)))
    throw new Failure("usage", "A query is one statement; here another one follows it.", {
      hint: "Run them one by one.",
    });
  statement.setReadBigInts(true);
  statement.setReturnArrays(true);
  return statement;
}

function* rowsOf(database: DatabaseSync, statement: StatementSync, path: string): Generator<readonly Cell[]> {
  try {
    // As arrays, since `setReturnArrays` says so: names may stand twice.
    for (const row of statement.iterate()) yield row as unknown as readonly Cell[];
  } catch (cause) {
    throw queryFailure(database, path, cause);
  }
}

/** What SQLite says of the query is for the person who wrote it; what it says of the file, or the disk, is not. */
function queryFailure(database: DatabaseSync, path: string, cause: unknown): unknown {
  if (cause instanceof Failure || !(cause instanceof Error)) return cause;
  const kind = sqliteErrorKind(cause);
  if (kind === "read-only") return wouldWrite(cause);
  if (kind !== undefined) return storageFailure(path, cause);
  return new Failure("usage", `SQLite can't run this: ${cleanText(cause.message, 300)}.`, {
    hint: tablesHint(tablesOf(database)),
    cause,
  });
}

/** Names of the tables and views that a query can read. */
function tablesOf(database: DatabaseSync): readonly string[] {
  const sql = `SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')
    UNION SELECT name FROM sqlite_temp_schema WHERE type IN ('table', 'view') ORDER BY name`;
  return database
    .prepare(sql)
    .all()
    .map(({ name }) => String(name))
    .filter((name) => !name.startsWith("sqlite_"));
}

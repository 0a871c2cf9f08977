/** All rows of a table in the order of its key, some at a time, and what they come to. */

import { createHash } from "node:crypto";
import { setImmediate as turn } from "node:timers/promises";
import { type ColumnValue, commonValue } from "./column-values.ts";
import { deedRows, lastDeed } from "./deed-rows.ts";
import type { Ledger, SqlRow } from "./ledger.ts";
import type { LedgerTable } from "./ledger-tables.ts";
import { NOT_COPIED } from "./moved.ts";
import { sqlList } from "./sql-list.ts";

/** Bytes of a page, as far as they can be told before it is read. */
const PAGE_BYTES = 4 * 1024 * 1024;
const [FIRST_ROWS, MOST_ROWS] = [10, 10_000];
/** Rows of one table are much alike, and a page that grows slowly is never far too large. */
const GROWTH = 4;
/** Of a value beside its text or bytes. */
const VALUE_BYTES = 8;

export interface Signals {
  readonly signal: AbortSignal;
  /** Told how many rows more were read. */
  readonly onRows: (rows: number) => void;
}

/**
 * Pages of whole rows. Between two of them signals are heard.
 *
 * @param after the key of the row before the first one; undefined for all rows.
 */
export async function* pagesOf(
  ledger: Ledger,
  table: LedgerTable,
  { signal, onRows }: Signals,
  after?: SqlRow,
): AsyncGenerator<readonly SqlRow[]> {
  if (table.name === "promise_statuses" && !ledger.hasTable(table.name)) return;
  if (isReadWhole(table)) {
    const rows = ledger.all(allSql(table)).toSorted((one, other) => compareKeys(table, one, other));
    if (rows.length > 0) yield rows;
    onRows(rows.length);
    return;
  }
  let last = after;
  for (let most = FIRST_ROWS; ; ) {
    await turn();
    signal.throwIfAborted();
    const rows = pageOf(ledger, table, last, most);
    if (rows.length > 0) yield rows;
    onRows(rows.length);
    if (rows.length < most) return;
    last = rows.at(-1);
    const wanted = Math.floor((PAGE_BYTES * rows.length) / bytesOf(rows));
    most = Math.max(1, Math.min(wanted, most * GROWTH, MOST_ROWS));
  }
}

function pageOf(ledger: Ledger, table: LedgerTable, last: SqlRow | undefined, most: number): SqlRow[] {
  if (hasDeedParts(ledger, table)) return deedRows(ledger, last, most);
  return ledger.all(pageSql(table, last !== undefined), ...(last === undefined ? [] : keyOf(table, last)), most);
}

/** Whether its rows stand in more than one table. */
export const hasDeedParts = ({ kind }: Ledger, { name }: LedgerTable): boolean => kind === "sqlite" && name === "deeds";

/** Small tables: one that says more than the ledger's rows, and those of files, whose order depends on how paths are held. */
export const isReadWhole = ({ name, columns, key }: LedgerTable): boolean =>
  name === "meta" || columns.some((column) => column.kind === "path" && key.includes(column.name));

function compareKeys({ columns, key }: LedgerTable, one: SqlRow, other: SqlRow): number {
  const parts = key.flatMap((part) => columns.filter(({ name }) => name === part));
  for (const column of parts) {
    const [first, second] = [commonValue(one, column), commonValue(other, column)];
    const order =
      typeof first === "number"
        ? first - Number(second)
        : Buffer.compare(Buffer.from(String(first)), Buffer.from(String(second)));
    if (order !== 0) return order;
  }
  return 0;
}

const selectSql = ({ name, columns }: LedgerTable): string =>
  `SELECT ${columns.map((column) => column.name).join(", ")} FROM ${name}`;

/** Marks of a copy belong to the ledger that they are in. */
const allSql = (table: LedgerTable): string =>
  `${selectSql(table)}${table.name === "meta" ? ` WHERE key NOT IN ${sqlList(NOT_COPIED)}` : ""}`;

function pageSql(table: LedgerTable, isBehind: boolean): string {
  const keys = table.key.join(", ");
  const behind = isBehind ? ` WHERE (${keys}) > (${table.key.map(() => "?").join(", ")})` : "";
  return `${selectSql(table)}${behind} ORDER BY ${keys} LIMIT ?`;
}

const keyOf = ({ key }: LedgerTable, row: SqlRow) => key.map((column) => row[column] ?? null);

/** The last row by the key; only the key's columns. */
export function lastKey(ledger: Ledger, table: LedgerTable): SqlRow | undefined {
  if (hasDeedParts(ledger, table)) return lastDeed(ledger);
  const { name, key } = table;
  const order = key.map((column) => `${column} DESC`).join(", ");
  return ledger.get(`SELECT ${key.join(", ")} FROM ${name} ORDER BY ${order} LIMIT 1`);
}

function bytesOf(rows: readonly SqlRow[]): number {
  let bytes = 0;
  for (const row of rows)
    for (const name in row) {
      const value = row[name];
      bytes += VALUE_BYTES + (typeof value === "string" || value instanceof Uint8Array ? value.length : 0);
    }
  return bytes;
}

/** What a table holds: two that have the same rows come to the same. */
export interface TableDigest {
  readonly table: string;
  readonly rows: number;
  /** Of all values of all rows in key order, in hex. */
  readonly sha256: string;
}

export async function digestOf(ledger: Ledger, table: LedgerTable, signals: Signals): Promise<TableDigest> {
  const hash = createHash("sha256");
  const values = new ValueBytes();
  let rows = 0;
  for await (const page of pagesOf(ledger, table, signals)) {
    for (const row of page) for (const column of table.columns) values.add(commonValue(row, column));
    hash.update(values.take());
    rows += page.length;
  }
  return { table: table.name, rows, sha256: hash.digest("hex") };
}

const [NULL, NUMBER, TEXT, BYTES] = [0, 1, 2, 3];

/** Values one after the other, so that no two rows of different values give the same bytes. */
class ValueBytes {
  #bytes = Buffer.alloc(2 * PAGE_BYTES);
  #length = 0;

  add(value: ColumnValue): void {
    if (value === null) this.#head(NULL, 0);
    else if (typeof value === "number" || typeof value === "bigint") {
      this.#head(NUMBER, 8);
      this.#length = this.#bytes.writeDoubleLE(Number(value), this.#length);
    } else if (typeof value === "string") {
      const bytes = Buffer.byteLength(value);
      this.#head(TEXT, bytes);
      this.#length += this.#bytes.write(value, this.#length);
    } else {
      this.#head(BYTES, value.byteLength);
      this.#bytes.set(value, this.#length);
      this.#length += value.byteLength;
    }
  }

  #head(kind: number, bytes: number): void {
    this.#makeRoom(1 + 4 + bytes);
    this.#length = this.#bytes.writeUInt8(kind, this.#length);
    this.#length = this.#bytes.writeUInt32LE(bytes, this.#length);
  }

  #makeRoom(more: number): void {
    if (this.#length + more <= this.#bytes.length) return;
    const larger = Buffer.alloc(Math.max(2 * this.#bytes.length, this.#length + more));
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }

  /** All that was added since the last time. It holds until the next is added. */
  take(): Buffer {
    const taken = this.#bytes.subarray(0, this.#length);
    this.#length = 0;
    return taken;
  }
}

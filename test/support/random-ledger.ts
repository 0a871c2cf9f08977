/** A ledger with random rows in every table, odd ones among them, and all that a ledger holds, to compare it. */

import { DatabaseSync } from "node:sqlite";
import { valueFor } from "../../src/ledger/column-values.ts";
import { foldDeeds } from "../../src/ledger/fold-deeds.ts";
import type { Ledger, SqlRow } from "../../src/ledger/ledger.ts";
import { type LedgerTable, ledgerTables, type TableColumn } from "../../src/ledger/ledger-tables.ts";
import { NOT_COPIED } from "../../src/ledger/moved.ts";
import { openLedger } from "../../src/ledger/open-ledger.ts";
import { makeStatusTable } from "../../src/ledger/promise-statuses.ts";
import { randomOf } from "./random.ts";

type Random = () => number;

/** Whether SQLite gives a text with U+0000 whole. The driver of the lowest supported Node ends it there; nothing that is read as text from a ledger has one. */
function readsNul(): boolean {
  using database = new DatabaseSync(":memory:");
  return database.prepare("SELECT ? AS text").get("\u0000.")?.text === "\u0000.";
}

const CHARACTERS = [
  "",
  "a",
  "Z",
  " ",
  ",",
  "{",
  "}",
  '"',
  "\\",
  "'",
  "\n",
  "\t",
  "é",
  "票",
  "🎟",
  ...(readsNul() ? ["\u0000"] : []),
  "\u0001",
  "\u0002",
  "~",
];
const TEXTS = ["", "NULL", "null", "{}", '{"a":"\\u0000"}', "\\x00", "a,b", "(1)", "--", "x".repeat(5000)];

const pick = <T>(random: Random, from: readonly T[]): T => from[Math.floor(random() * from.length)] as T; // never empty

function textOf(random: Random): string {
  if (random() < 0.3) return pick(random, TEXTS);
  return Array.from({ length: Math.floor(random() * 12) }, () => pick(random, CHARACTERS)).join("");
}

const bytesOf = (random: Random, length: number): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(Array.from({ length }, () => Math.floor(random() * 256)));

/** Every way in which SQLite holds the promises of a block; one of them is as long as so many UUIDs are. */
function promisesOf(random: Random, count: number): SqlRow[string] {
  const way = random();
  if (way < 0.2) return null;
  if (way < 0.6) return bytesOf(random, 16 * count);
  if (way < 0.8) return JSON.stringify(Array.from({ length: count }, () => (random() < 0.3 ? null : textOf(random))));
  return `["${"p".repeat(16 * count - 4)}"]`;
}

const NUMBERS = [0, 1, 2, 3, 7, -1, 5000, 2 ** 31, Number.MAX_SAFE_INTEGER];

/** By column, what its CHECK lets it be; undefined for any text. */
function choicesOf(sql: string, column: string): readonly string[] | undefined {
  const [, list] = new RegExp(`\\b${column} TEXT[^,]*CHECK \\(${column} IN \\(([^)]*)\\)\\)`).exec(sql) ?? [];
  return list?.split(", ").map((each) => each.slice(1, -1));
}

/** Rows that a table refers to are there before it. */
const REFERS: Readonly<Record<string, readonly [column: string, table: string]>> = {
  chunks: ["run_no", "runs"],
  output_segments: ["path", "outputs"],
};

function fill(ledger: Ledger, { name, columns }: LedgerTable, rows: number, random: Random): void {
  const table = name === "deeds" ? "loose_deeds" : name;
  const sql = String(ledger.get("SELECT sql FROM sqlite_schema WHERE name = ?", table)?.sql);
  const must = new Set(
    ledger.all('SELECT name FROM pragma_table_info(?) WHERE "notnull" = 1 OR pk > 0', table).map(({ name }) => name),
  );
  const [refers, to] = REFERS[table] ?? [];
  const there =
    refers === undefined ? [] : ledger.all(`SELECT ${refers} AS value FROM ${to}`).map(({ value }) => value ?? null);
  const randomValue = ({ name, kind }: TableColumn, row: Map<string, unknown>): SqlRow[string] => {
    if (name === refers) return pick(random, there);
    if (!must.has(name) && kind !== "promises" && random() < 0.3) return null;
    if (kind === "bytes") return bytesOf(random, Math.floor(random() * 20));
    if (kind === "promises") return promisesOf(random, Number(row.get("count")));
    if (kind === "text" || kind === "path") return pick(random, choicesOf(sql, name) ?? [textOf(random)]);
    return name === "count" ? 1 + Math.floor(random() * 4) : pick(random, NUMBERS);
  };
  const insert = `INSERT OR IGNORE INTO ${table} (${columns.map(({ name }) => name).join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`;
  for (let row = 0; row < rows; row += 1) {
    const values = new Map<string, SqlRow[string]>();
    for (const column of columns) values.set(column.name, randomValue(column, values));
    ledger.run(insert, ...values.values());
  }
}

/** Deeds as they are written; what else was put there is in no part. */
function fillParts(ledger: Ledger, deeds: number, random: Random): void {
  const sql = `INSERT OR IGNORE INTO loose_deeds (identity, run_no, seq, content, taken, event_no, holder) VALUES (?, ?, ?, ?, ?, ?, ?)`;
  for (let seq = 1; seq <= deeds; seq += 1)
    ledger.run(
      ...([sql, bytesOf(random, 16), seq % 3, seq, bytesOf(random, 8), seq % 2] as const),
      ...[random() < 0.5 ? null : seq, random() < 0.3 ? null : textOf(random)],
    );
  foldDeeds(ledger, { leastOfPart: 1, mostLoose: 0, mostOfPart: deeds });
}

/** Fills a ledger at `path`: up to `rows` rows in every table, more than is read at a time. */
export function fillRandomly(path: string, seed: number, rows = 60): void {
  const random = randomOf(seed);
  using ledger = openLedger({ path, boundTo: "https://service.example.com" });
  makeStatusTable(ledger);
  ledger.transaction(() => {
    for (const table of ledgerTables()) fill(ledger, table, rows, random);
    fillParts(ledger, 3 * rows, random);
  });
}

/** By table, all its rows in the order of the key, without the marks of a copy. */
export function contentOf(ledger: Ledger): Readonly<Record<string, readonly SqlRow[]>> {
  return Object.fromEntries(
    ledgerTables().map(({ name, columns, key }) => {
      const isThere = name !== "promise_statuses" || ledger.hasTable(name);
      const rows = isThere
        ? ledger.all(
            `SELECT ${columns.map((column) => column.name).join(", ")} FROM ${name} ORDER BY ${key.join(", ")}`,
          )
        : [];
      if (name === "meta") return [name, rows.filter(({ key }) => !NOT_COPIED.includes(String(key)))];
      // As SQLite has them.
      const stored = (row: SqlRow) => columns.map((column) => [column.name, valueFor({ kind: "sqlite" }, row, column)]);
      return [name, ledger.kind === "sqlite" ? rows : rows.map((row) => Object.fromEntries(stored(row)))];
    }),
  );
}

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { Failure } from "../../../src/failure.ts";
import { openLedger } from "../../../src/ledger/open-ledger.ts";
import { openQuery } from "../../../src/ledger/query.ts";
import { rowLines } from "../../../src/outputs/row-lines.ts";
import { readPage } from "../../support/pages.ts";

let path: string;
beforeEach(() => {
  const folder = mkdtempSync(join(tmpdir(), "tickets-query-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  path = join(folder, "ledger.db");
  using ledger = openLedger({ path, boundTo: "https://api.example.com" });
  ledger.run("INSERT INTO events (event_id, currency) VALUES ('E', 'EUR')");
  ledger.run("PRAGMA wal_checkpoint(TRUNCATE)");
});

function ask(sql: string): readonly (readonly unknown[])[] {
  using query = openQuery({ path, boundTo: undefined }, sql);
  return [...query.rows];
}

function whyNot(sql: string): Failure {
  try {
    ask(sql);
  } catch (thrown) {
    if (thrown instanceof Failure) return thrown;
    throw thrown;
  }
  throw new Error(`it was run: ${sql}`);
}

describe("a query", () => {
  it.each([
    ["SELECT event_id FROM events", [["E"]]],
    ["-- which\n/* all */ select currency from events; -- all", [["EUR"]]],
    ["WITH x AS (SELECT 1 AS a) SELECT a, a FROM x", [[1n, 1n]]],
    ["VALUES (9007199254740993, 1.5, NULL)", [[9007199254740993n, 1.5, null]]],
    ["SELECT ';' AS a", [[";"]]],
    ["SELECT count(*) FROM actions", [[0n]]],
    ["SELECT name FROM pragma_table_info('events') LIMIT 1", [["event_id"]]],
  ])("is answered: %s", (sql, rows) => expect(ask(sql)).toEqual(rows));

  it.each([
    "",
    " ; -- nothing",
    "DELETE FROM events",
    "INSERT INTO events (event_id) VALUES ('F')",
    "WITH x AS (SELECT 'F' AS id) INSERT INTO events (event_id) SELECT id FROM x",
    "WITH x AS (SELECT 1) DELETE FROM events",
    "CREATE TEMP TABLE x (a)",
    "ATTACH 'other.db' AS other",
    "/* SELECT */ ATTACH 'other.db' AS other",
    "/* 1 */ ATTACH 'other.db' AS other /* */ SELECT 1",
    "-- 1\nATTACH 'other.db' AS other -- \nSELECT 1",
    "PRAGMA query_only = OFF",
    "EXPLAIN PRAGMA query_only = OFF",
    "VACUUM INTO 'copy.db'",
    "BEGIN",
    "SELECT 1; SELECT 2",
    "SELECT 1; DELETE FROM events",
    "SELECT 1\0; DELETE FROM events",
    "SELEC 1",
    "SELECT nonsuch FROM events",
    "SELECT load_extension('x')",
    "SELECT json('{')",
    "SELECT plain_identity('x', '{')",
    "SELECT abs(-9223372036854775808)",
  ])("is refused and changes nothing: %j", (sql) => {
    const before = readFileSync(path);
    expect(whyNot(sql).code).toBe("usage");
    expect(readFileSync(path).equals(before)).toBe(true);
    expect(ask("SELECT count(*) FROM events")).toEqual([[1n]]);
  });

  it("that is wrong is told in SQLite's words, with what there is", () => {
    const { message, hint } = whyNot("SELECT * FROM tickts");
    expect(message).toBe("SQLite can't run this: no such table: tickts.");
    expect(hint).toMatch(/\bactions, attempts, blocks, chunks, .*\btickets\b.*docs\/ledger\.md/);
  });

  it("finds the columns of actions that the page tells, and no others", () => {
    using query = openQuery({ path, boundTo: undefined }, "SELECT * FROM actions");
    const [, section = ""] = /\*\*`actions`\*\*[^\n]*\n\n([\s\S]*?)\n\n/.exec(readPage("docs/ledger.md")) ?? [];
    const rows = section.split("\n").slice(2);
    const told = rows.flatMap((row) => [...(row.split("|")[1] ?? "").matchAll(/`(\w+)`/g)].map(([, name]) => name));
    expect(query.columns.toSorted()).toEqual(told.toSorted());
  });

  it("does not gather its rows", () => {
    const sql = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n";
    using query = openQuery({ path, boundTo: undefined }, sql);
    for (const [i] of query.rows) if (i === 1000n) return;
    expect.unreachable();
  });
});

describe("rows as lines", () => {
  const asked = {
    columns: ["a", "b", "c", "d", "e"],
    rows: [[9007199254740993n, 1, new Uint8Array([0, 255]), null, "=1,\u001b[31m"]],
  };
  it.each([
    ["ndjson", false, '{"a":9007199254740993,"b":1.0,"c":"00ff","d":null,"e":"=1,\\u001b[31m"}\n'],
    ["csv", false, 'a,b,c,d,e\n9007199254740993,1.0,00ff,,"=1,\u001b[31m"\n'],
  ] as const)("%s", (format, safeCsv, text) => expect([...rowLines(asked, format, safeCsv)].join("")).toBe(text));

  it("are guarded as promises are", () => {
    const [head, row] = [...rowLines(asked, "csv", true)];
    expect(head).toContain("tickets:guarded");
    expect(row).toContain(`"'=1,`);
  });
});

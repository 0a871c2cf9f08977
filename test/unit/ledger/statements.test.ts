/** What both ledgers have: the same tables, and statements that both understand. */

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { globSync } from "tinyglobby";
import { describe, expect, it, onTestFinished } from "vitest";
import { openLedger } from "../../../src/ledger/open-ledger.ts";
import { openPostgres } from "../../../src/ledger/postgres/open-postgres.ts";
import { NEEDS_POSTGRES, startPostgres, WITHOUT_POSTGRES } from "../../support/postgres.ts";

const LEDGER = fileURLToPath(new URL("../../../src/ledger", import.meta.url));

/** For a ledger in a file alone: its tables, and what has a database of its own. */
const OF_SQLITE = new Set(["schema.ts", "open-ledger.ts", "lock.ts"]);
/** Rows of values are put in, as SQLite names their columns; PostgreSQL is asked with arrays instead. */
const OVER_VALUES = /\bcolumn\d\b/;
const STATEMENT = /(["`])((?:SELECT|INSERT|UPDATE|DELETE|WITH) (?:(?!\1).)*)\1/gs;

interface Statement {
  readonly file: string;
  readonly sql: string;
}

/** Statements that stand whole in one text. Those that are put together are asked by the tests of what asks them. */
function wholeStatements(): readonly Statement[] {
  const files = globSync("*.ts", { cwd: LEDGER }).filter((file) => !OF_SQLITE.has(file));
  return files.flatMap((file) =>
    [...readFileSync(`${LEDGER}/${file}`, "utf8").matchAll(STATEMENT)]
      .map(([, , sql = ""]) => ({ file, sql }))
      .filter(({ sql }) => !sql.includes("${") && !OVER_VALUES.test(sql)),
  );
}

interface Column {
  readonly name: string;
  readonly type: string;
  readonly required: boolean;
  /** Place in the primary key, from 1; 0 for none. */
  readonly key: number;
}

/** By SQLite's name of a type, PostgreSQL's. Promises, which are bytes or text there, are bytes of text here. */
const TYPES: Readonly<Record<string, string>> = { INTEGER: "bigint", TEXT: "text", BLOB: "bytea", ANY: "bytea" };

/** Where several machines share a ledger. */
const OF_POSTGRES: Readonly<Record<string, readonly string[]>> = { attempts: ["worker", "fence", "limit_at"] };

async function open() {
  const server = await startPostgres();
  const schema = server.newSchema();
  const address = { url: server.url, schema, application: "test", connectTimeoutMs: 10_000 };
  const ledger = openPostgres({ address, boundTo: undefined });
  onTestFinished(() => ledger[Symbol.dispose]());
  return { server, schema, ledger };
}

describe.skipIf(WITHOUT_POSTGRES)(`a ledger in PostgreSQL${NEEDS_POSTGRES}`, () => {
  it("has the tables of one in SQLite, column by column", async () => {
    const { schema, ledger } = await open();
    const folder = mkdtempSync(join(tmpdir(), "tickets-tables-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    using file = openLedger({ path: join(folder, "ledger.db"), boundTo: undefined });
    const tables = file
      .all("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name")
      .map(({ name }) => String(name));
    expect(tables.length).toBeGreaterThan(30);
    for (const table of tables) {
      const inFile = file.all('SELECT name, type, "notnull", pk FROM pragma_table_info(?)', table).map(
        ({ name, type, notnull, pk }): Column => ({
          name: String(name),
          type: TYPES[String(type)] ?? String(type),
          required: notnull === 1 || pk !== 0,
          key: Number(pk),
        }),
      );
      const columns = ledger.all(
        `SELECT column_name AS name, data_type AS type, is_nullable AS nullable, coalesce((
            SELECT ordinal_position FROM information_schema.key_column_usage AS used JOIN information_schema.table_constraints
              USING (constraint_schema, constraint_name)
            WHERE constraint_type = 'PRIMARY KEY' AND used.table_schema = columns.table_schema
              AND used.table_name = columns.table_name AND used.column_name = columns.column_name), 0) AS key
          FROM information_schema.columns WHERE table_schema = ? AND table_name = ? ORDER BY columns.ordinal_position`,
        schema,
        table,
      );
      const inServer = columns
        .map(
          ({ name, type, nullable, key }): Column => ({
            name: String(name),
            type: String(type),
            required: nullable === "NO",
            key: Number(key),
          }),
        )
        .filter(({ name }) => OF_POSTGRES[table]?.includes(name) !== true);
      expect(inServer, table).toEqual(inFile);
    }
  });

  it("understands every statement", async () => {
    const { ledger } = await open();
    const statements = wholeStatements();
    expect(statements.length).toBeGreaterThan(50);
    const refused = statements.flatMap(({ file, sql }, at) => {
      try {
        ledger.run(`PREPARE statement_${at} AS ${sql}`);
        return [];
      } catch (thrown) {
        return [`${file}: ${sql}: ${thrown instanceof Error ? thrown.message : thrown}`];
      }
    });
    expect(refused).toEqual([]);
  });
});

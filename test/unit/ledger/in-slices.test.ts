import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { OF_SLICE, overActions, overTickets, take } from "../../../src/ledger/in-slices.ts";

/** More than two slices, with numbers left out and a run without actions. */
const ROWS = 45_000;

function filled(): DatabaseSync {
  const database = new DatabaseSync(":memory:");
  database.exec(`
    CREATE TABLE runs (run_no INTEGER PRIMARY KEY);
    CREATE TABLE actions (run_no INTEGER, seq INTEGER, times INTEGER DEFAULT 0, PRIMARY KEY (run_no, seq)) WITHOUT ROWID;
    CREATE TABLE tickets (ticket TEXT PRIMARY KEY) WITHOUT ROWID;
    INSERT INTO runs VALUES (1), (2), (7);
    WITH RECURSIVE n (at) AS (SELECT 1 UNION ALL SELECT at + 1 FROM n WHERE at < ${ROWS})
      INSERT INTO actions (run_no, seq) SELECT iif(at % 3 = 0, 7, 1), at FROM n;
    INSERT INTO tickets SELECT printf('ticket:%05d', seq) FROM actions;
  `);
  return database;
}

describe("statements over millions of rows", () => {
  test("come to every action once", () => {
    using database = filled();
    take(database, [overActions(`UPDATE actions SET times = times + 1 WHERE ${OF_SLICE}`)]);
    expect({
      ...database.prepare("SELECT count(*) AS rows, min(times) AS least, max(times) AS most FROM actions").get(),
    }).toEqual({ rows: ROWS, least: 1, most: 1 });
  });

  test("come to every ticket once, whatever they leave of it", () => {
    using database = filled();
    database.exec("CREATE TABLE seen (ticket TEXT PRIMARY KEY)");
    database.exec("CREATE TRIGGER noted AFTER DELETE ON tickets BEGIN INSERT INTO seen VALUES (old.ticket); END");
    take(database, [overTickets("DELETE FROM tickets WHERE ticket > ? AND ticket <= ? AND ticket NOT LIKE '%7'")]);
    expect({ ...database.prepare("SELECT count(*) AS n FROM seen").get() }).toEqual({ n: ROWS * 0.9 });
    expect({ ...database.prepare("SELECT count(*) AS n FROM tickets WHERE ticket LIKE '%7'").get() }).toEqual({
      n: ROWS * 0.1,
    });
  });

  test("end where there is nothing", () => {
    using database = filled();
    database.exec("DELETE FROM actions; DELETE FROM tickets");
    take(database, [
      overActions(`UPDATE actions SET times = times + 1 WHERE ${OF_SLICE}`),
      overTickets("DELETE FROM tickets WHERE ticket > ? AND ticket <= ?"),
    ]);
    expect({ ...database.prepare("SELECT count(*) AS n FROM actions").get() }).toEqual({ n: 0 });
  });
});

/** A ledger as an earlier version wrote it, with what is in one of now. */

import { renameSync, rmSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { actionsThat } from "../../src/actions/actions.ts";
import { defineActionsView } from "../../src/ledger/actions-view.ts";
import { wrap } from "../../src/ledger/open-ledger.ts";
import { makeTables } from "../../src/ledger/schema.ts";

const [SELLING] = actionsThat("sell-ticket");

/** What a source's own key identifies is only among the deeds; and to look for each deed by its action takes long where there are many. */
const DEEDS_BY_PLACE = `CREATE TEMP TABLE deeds_by_place (run_no INTEGER, seq INTEGER, identity BLOB, content BLOB, PRIMARY KEY (run_no, seq)) WITHOUT ROWID;
  INSERT OR IGNORE INTO deeds_by_place SELECT run_no, seq, identity, content FROM main.deeds ORDER BY run_no, seq`;

/** Of one run: what our functions give to a statement is kept until it ends. */
const FILL_ACTIONS = `INSERT INTO older.actions (run_no, seq, chunk, source, line, action, data, outcome, status, action_promise, response, at, identity, content)
  SELECT run_no, seq, chunk, source, line, action, data, outcome, status, action_promise, response, at,
    coalesce(deed.identity, each.identity), coalesce(deed.content, each.content)
  FROM temp.actions AS each LEFT JOIN temp.deeds_by_place AS deed USING (run_no, seq) WHERE run_no = ?`;

const FILL: Readonly<Record<string, string>> = {
  identities: "INSERT INTO older.identities SELECT identity, run_no, seq, content, taken FROM main.deeds",
  tickets: `INSERT INTO older.tickets SELECT * FROM main.tickets;
    INSERT OR IGNORE INTO older.tickets SELECT 'ticket:' || ticket_id, event_id, user_id, 'sold' FROM older.actions
    WHERE action = '${SELLING}' AND outcome IN ('accepted', 'settled by hand') ORDER BY run_no DESC, seq DESC`,
};

/** Makes a ledger one of version 5 or 6, where each deed was a row of `deeds`. */
export function makeDeedsRows(path: string, version: 5 | 6): void {
  const database = new DatabaseSync(path);
  const made = String(database.prepare("SELECT sql FROM sqlite_schema WHERE name = 'loose_deeds'").get()?.sql);
  database.exec(`${made.replace("loose_deeds", "rows_of_deeds")};
    INSERT INTO rows_of_deeds SELECT * FROM deeds;
    DROP VIEW deeds; DROP TABLE loose_deeds; DROP TABLE deed_parts; DROP TABLE deed_blocks;
    ALTER TABLE rows_of_deeds RENAME TO deeds; PRAGMA user_version = ${version}`);
  database.close();
}

/**
 * Puts a ledger of an earlier version in the place of the one at `path`.
 *
 * @param change what else was different then.
 */
export function makeOlder(
  path: string,
  version: 1 | 2 | 3 | 4,
  change: (older: DatabaseSync) => void = () => {},
): void {
  const olderPath = `${path}.older`;
  const database = new DatabaseSync(path);
  defineActionsView(database, wrap(database, path));
  database.exec(DEEDS_BY_PLACE);
  database.exec(`ATTACH '${olderPath.replaceAll("'", "''")}' AS older`);
  const older = new DatabaseSync(olderPath);
  makeTables(older, 0, version);
  older.close();
  database.exec("PRAGMA foreign_keys = OFF");
  for (const { name } of database.prepare("SELECT name FROM older.sqlite_schema WHERE type = 'table'").all()) {
    const table = String(name);
    if (table === "actions") {
      const fill = database.prepare(FILL_ACTIONS);
      for (const { run_no } of database.prepare("SELECT run_no FROM main.runs").all()) fill.run(Number(run_no));
      continue;
    }
    const columns = database.prepare(`SELECT name FROM pragma_table_info('${table}', 'older')`).all();
    const names = columns.map((column) => `"${column.name}"`).join(", ");
    database.exec(FILL[table] ?? `INSERT OR REPLACE INTO older.${table} (${names}) SELECT ${names} FROM main.${table}`);
  }
  database.exec(`PRAGMA older.user_version = ${version}`);
  database.close();
  const made = new DatabaseSync(olderPath);
  change(made);
  made.close();
  for (const end of ["", "-wal", "-shm"]) rmSync(`${path}${end}`, { force: true });
  renameSync(olderPath, path);
}

/** The promises that a run was given, on disk, so that none counts for two actions however large the run is. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

export interface SeenPromises extends Disposable {
  /** Notes the promises of one answer. @returns one that an earlier answer gave: then none of them was noted. */
  add(promises: Iterable<string>): string | undefined;
}

/** Disposing of it removes its file. */
export function openSeenPromises(): SeenPromises {
  const folder = mkdtempSync(join(tmpdir(), "tickets-promises-"));
  const db = new DatabaseSync(join(folder, "seen.db"));
  db.exec(`PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;
    CREATE TABLE seen (promise TEXT PRIMARY KEY) WITHOUT ROWID`);
  const find = db.prepare("SELECT promise FROM json_each(?) JOIN seen ON promise = value LIMIT 1");
  const insert = db.prepare("INSERT INTO seen SELECT value FROM json_each(?) ORDER BY value");
  return {
    add(promises) {
      const list = JSON.stringify([...promises]);
      const found = find.get(list);
      if (found !== undefined) return String(found.promise);
      insert.run(list);
      return undefined;
    },
    [Symbol.dispose]() {
      db.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The promises that a run was given, on disk, so that none counts for two actions however large the run is. */

import { tmpdir } from "node:os";
import { DatabaseSync } from "node:sqlite";
import { Failure } from "../failure.ts";

export interface SeenPromises extends Disposable {
  /** Notes the promises of one answer. @returns one that an earlier answer gave: then none of them was noted. */
  add(promises: Iterable<string>): string | undefined;
  /** Notes promises, also those that are noted. */
  note(promises: Iterable<string>): void;
}

export function openSeenPromises(): SeenPromises {
  // Without a name: SQLite makes a file once they outgrow its memory, and nobody has to remove it.
  const db = new DatabaseSync("");
  db.exec("PRAGMA journal_mode = OFF; CREATE TABLE seen (promise TEXT PRIMARY KEY) WITHOUT ROWID");
  const find = db.prepare("SELECT promise FROM json_each(?) JOIN seen ON promise = value LIMIT 1");
  const insert = db.prepare("INSERT OR IGNORE INTO seen SELECT value FROM json_each(?) ORDER BY value");
  const note = (list: string): void => {
    try {
      insert.run(list);
    } catch (cause) {
      throw new Failure("storage", `The folder for temporary files (${tmpdir()}) can't be written.`, {
        hint: "Make room, or name another with TMPDIR; then run the same command again.",
        cause,
      });
    }
  };
  return {
    add(promises) {
      const list = JSON.stringify([...promises]);
      const found = find.get(list);
      if (found !== undefined) return String(found.promise);
      note(list);
      return undefined;
    },
    note: (promises) => note(JSON.stringify([...promises])),
    [Symbol.dispose]: () => db.close(),
  };
}

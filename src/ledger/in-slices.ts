/**
 * Statements that call a function of ours for each of millions of rows, some thousands of rows at a time: what a function is
 * given stays in memory until the statement that calls it ends.
 */

import type { DatabaseSync } from "node:sqlite";

/** A part of a change of tables: SQL, or more than one statement can do. */
export type Step = string | ((database: DatabaseSync) => void);

/** Rows a slice. */
const SLICE = 20_000;

/** The condition of one slice, for the statement that `overActions` is given. */
export const OF_SLICE = "actions.run_no = ? AND actions.seq BETWEEN ? AND ?";

/** @param sql with `OF_SLICE` in it, once. */
export function overActions(sql: string): Step {
  return (database) => {
    const statement = database.prepare(sql);
    const last = database.prepare("SELECT max(seq) AS seq FROM actions WHERE run_no = ?");
    for (const { run_no } of database.prepare("SELECT run_no FROM runs ORDER BY run_no").all()) {
      const end = Number(last.get(Number(run_no))?.seq ?? 0);
      for (let first = 1; first <= end; first += SLICE) statement.run(Number(run_no), first, first + SLICE - 1);
    }
  };
}

/** @param sql with `ticket > ? AND ticket <= ?` in it, once. */
export function overTickets(sql: string): Step {
  return (database) => {
    const statement = database.prepare(sql);
    const ends = database.prepare("SELECT ticket FROM tickets WHERE ticket > ? ORDER BY ticket LIMIT 1 OFFSET ?");
    for (let from = ""; ; ) {
      const end = ends.get(from, SLICE - 1) ?? database.prepare("SELECT max(ticket) AS ticket FROM tickets").get();
      if (typeof end?.ticket !== "string" || end.ticket <= from) return;
      statement.run(from, end.ticket);
      from = end.ticket;
    }
  };
}

export function take(database: DatabaseSync, steps: readonly Step[]): void {
  for (const step of steps)
    if (typeof step === "string") database.exec(step);
    else step(database);
}

/** Rows of rejects files: when they were rejected, and which are done with, since all that was sent of a mended one was taken. */

import type { Action, ActionData, ActionName } from "../../actions/actions.ts";
import { parseJson } from "../../actions/json.ts";
import type { Ledger } from "./ledger.ts";
import { TAKEN } from "./outcomes.ts";

/** What is known of rows of rejects files, by their keys (`tickets:row`). */
export interface RejectedRows {
  /** Those of which a mended one was taken. */
  readonly mended: ReadonlySet<string>;
  /** What was sent of a row when it was mended, oldest first. */
  deedsOf(key: string): readonly MendedDeed[];
  /** When and as what it was first rejected; undefined where this ledger did not reject it. */
  firstRejected(key: string): FirstRejected | undefined;
}

/** An action of a mended row that the service took. */
interface MendedDeed extends Action {
  readonly accepted: AcceptedAt;
}

/** Where the ledger has an accepted action. */
export interface AcceptedAt {
  readonly runNo: number;
  readonly seq: number;
}

export interface FirstRejected {
  readonly runNo: number;
  /** Place in the plan of the action that the service rejected; undefined where nothing of the row was sent. */
  readonly seq: number | undefined;
  /** What its input was read as. */
  readonly readAs: string;
}

export const NO_REJECTED_ROWS: RejectedRows = {
  mended: new Set(),
  deedsOf: () => [],
  firstRejected: () => undefined,
};

export function rejectedRows(ledger: Ledger): RejectedRows {
  return {
    mended: new Set(ledger.all("SELECT row FROM mended_rows").map(({ row }) => String(row))),
    deedsOf: (key) =>
      ledger
        .all(
          `SELECT run_no, seq, action, data FROM mendings JOIN actions USING (run_no, seq)
           WHERE row = ? AND outcome IN ${TAKEN} ORDER BY run_no, seq`,
          key,
        )
        .map(({ run_no, seq, action, data }) => ({
          action: String(action) as ActionName, // written by the planner
          data: parseJson(String(data)) as ActionData, // written by the planner
          accepted: { runNo: Number(run_no), seq: Number(seq) },
        })),
    firstRejected: (key) => {
      const row = ledger.get("SELECT run_no, seq, read_as FROM rejected_rows WHERE row = ?", key);
      if (row === undefined) return undefined;
      const { run_no, seq, read_as } = row;
      return { runNo: Number(run_no), seq: seq === null ? undefined : Number(seq), readAs: String(read_as) };
    },
  };
}

/** A mended row of a plan. */
export interface Mending {
  /** Key of the row that it was. */
  readonly row: string;
  /** Places in the plan of those of its actions that are sent; the others were taken before. */
  readonly seqs: readonly number[];
}

/**
 * Part of the transaction that enters the run: from then on the outcomes of its actions say whether a row is done with,
 * so that there is no step between their acceptance and its note that a crash could fall into.
 */
export function noteMendings(ledger: Ledger, runNo: number, mendings: readonly Mending[]): void {
  for (const { row, seqs } of mendings) {
    if (seqs.length === 0) ledger.run("INSERT OR IGNORE INTO mended_rows (row) VALUES (?)", row);
    for (const seq of seqs)
      ledger.run("INSERT OR IGNORE INTO mendings (run_no, row, seq) VALUES (?, ?, ?)", runNo, row, seq);
  }
}

/** Rows of which nothing is left to send, so that there is no run: notes them, durably. */
export function noteMended(ledger: Ledger, mendings: readonly Mending[]): void {
  const done = mendings.filter(({ seqs }) => seqs.length === 0);
  if (done.length > 0) ledger.transaction(() => noteMendings(ledger, 0, done));
}

/**
 * Part of a transaction: takes over the run's mended rows of which every action was taken by now. What was sent of them
 * stays: it is what stands in their histories for them.
 */
export function mergeMended(ledger: Ledger, runNo: number): void {
  ledger.run(
    `INSERT OR IGNORE INTO mended_rows (row)
     SELECT row FROM mendings WHERE run_no = ? GROUP BY row HAVING min(EXISTS (
       SELECT 1 FROM actions WHERE actions.run_no = mendings.run_no AND actions.seq = mendings.seq
       AND outcome IN ${TAKEN}))`,
    runNo,
  );
}

/** Part of a transaction: the row stands in a rejects file of the run. The first run that rejected it counts. */
export function noteRejected(ledger: Ledger, key: string, { runNo, seq, readAs }: FirstRejected): void {
  const sql = "INSERT OR IGNORE INTO rejected_rows (row, run_no, seq, read_as) VALUES (?, ?, ?, ?)";
  ledger.run(sql, key, runNo, seq ?? null, readAs);
}

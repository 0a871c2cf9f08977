/** What became of actions, as it comes into the ledger: a row of `actions` for each, and counts of them. */

import { type Columns, insertRows } from "./insert-rows.ts";
import type { Ledger } from "./ledger.ts";
import type { Outcome } from "./states.ts";

/** An action of which it is known what became of it. */
export interface OutcomeFacts {
  /** Place in the plan, from 1. */
  readonly seq: number;
  readonly chunk: number;
  readonly source: string;
  readonly line: number;
  readonly action: string;
  readonly outcome: Outcome;
  /** The service's status of the item; for what a person settled, `settled-by-hand`. */
  readonly status: string;
  readonly actionPromise?: string | undefined;
  /** The service's whole item as JSON text, for everything but an accepted action. */
  readonly response?: string | undefined;
  /** When the answer came, UTC in ISO 8601. */
  readonly at: string;
}

/** An outcome with the digests by which the same deed is recognised. */
export interface NewOutcome extends OutcomeFacts {
  /** The action's data as it was sent, JSON text. */
  readonly data: string;
  readonly identity: Uint8Array;
  readonly content: Uint8Array;
}

const COLUMNS: Columns = {
  ...{ run_no: "INTEGER", seq: "INTEGER", chunk: "INTEGER", source: "TEXT", line: "INTEGER" },
  ...{ action: "TEXT", data: "TEXT", outcome: "TEXT", status: "TEXT", action_promise: "TEXT", response: "TEXT" },
  ...{ at: "TEXT", identity: "BLOB", content: "BLOB" },
};

/** Part of a transaction. */
export function insertOutcomes(ledger: Ledger, runNo: number, outcomes: readonly NewOutcome[]): void {
  const rows = outcomes.map((row) => [
    ...[runNo, row.seq, row.chunk, row.source, row.line, row.action, row.data, row.outcome, row.status],
    ...[row.actionPromise ?? null, row.response ?? null, row.at, row.identity, row.content],
  ]);
  insertRows(ledger, "actions", COLUMNS, rows);
  insertTallies(ledger, runNo, talliesOf(outcomes));
}

/** How many actions of a kind and chunk had an outcome. */
export interface Tally {
  readonly chunk: number;
  readonly action: string;
  readonly outcome: Outcome;
  actions: number;
}

function talliesOf(rows: readonly Pick<NewOutcome, "chunk" | "action" | "outcome">[]): readonly Tally[] {
  const counts = new Map<string, Tally>();
  let last: Tally | undefined;
  for (const { chunk, action, outcome } of rows) {
    if (last?.chunk !== chunk || last.action !== action || last.outcome !== outcome) {
      const key = `${chunk} ${action} ${outcome}`;
      last = counts.get(key) ?? { chunk, action, outcome, actions: 0 };
      counts.set(key, last);
    }
    last.actions += 1;
  }
  return [...counts.values()];
}

/** Part of a transaction. */
export function insertTallies(ledger: Ledger, runNo: number, counts: Iterable<Tally>): void {
  const sql = `INSERT INTO tallies (run_no, chunk, action, outcome, actions) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (run_no, chunk, action, outcome) DO UPDATE SET actions = tallies.actions + excluded.actions`;
  for (const { chunk, action, outcome, actions } of counts) ledger.run(sql, runNo, chunk, action, outcome, actions);
}

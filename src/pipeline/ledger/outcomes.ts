/** What became of single actions. */

import type { Ledger, SqlRow } from "./ledger.ts";
import type { Outcome } from "./schema.ts";

export interface OutcomeRow {
  /** Place in the plan, from 1. */
  readonly seq: number;
  readonly chunk: number;
  readonly source: string;
  readonly line: number;
  readonly action: string;
  /** The action's data as it was sent, JSON text. */
  readonly data: string;
  readonly eventId?: string;
  readonly ticketId?: string;
  readonly nftId?: string;
  readonly outcome: Outcome;
  /** The service's status of the item; for what a person settled, `settled-by-hand`. */
  readonly status: string;
  readonly actionPromise?: string;
  /** The service's whole item as JSON text, for everything but an accepted action. */
  readonly response?: string;
  /** When the answer came, UTC in ISO 8601. */
  readonly at: string;
}

/** An outcome with the digests by which the same deed is recognised. */
export interface NewOutcome extends OutcomeRow {
  readonly identity: Buffer;
  readonly content: Buffer;
}

const INSERT = `INSERT INTO actions (run_no, seq, chunk, source, line, action, data, outcome, status, action_promise, response, at, identity, content)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

/** Part of a transaction. */
export function insertOutcomes(ledger: Ledger, runNo: number, rows: readonly NewOutcome[]): void {
  for (const row of rows) {
    ledger.run(
      INSERT,
      runNo,
      row.seq,
      row.chunk,
      row.source,
      row.line,
      row.action,
      row.data,
      row.outcome,
      row.status,
      row.actionPromise ?? null,
      row.response ?? null,
      row.at,
      row.identity,
      row.content,
    );
  }
}

const COLUMNS =
  "seq, chunk, source, line, action, data, event_id, ticket_id, nft_id, outcome, status, action_promise, response, at";

const toOutcome = (row: SqlRow): OutcomeRow => {
  const text = (column: string): string | undefined => (row[column] === null ? undefined : String(row[column]));
  const [eventId, ticketId, nftId, actionPromise, response] = [
    text("event_id"),
    text("ticket_id"),
    text("nft_id"),
    text("action_promise"),
    text("response"),
  ];
  return {
    seq: Number(row.seq),
    chunk: Number(row.chunk),
    source: String(row.source),
    line: Number(row.line),
    action: String(row.action),
    data: String(row.data),
    ...(eventId !== undefined && { eventId }),
    ...(ticketId !== undefined && { ticketId }),
    ...(nftId !== undefined && { nftId }),
    outcome: String(row.outcome) as Outcome, // the table's CHECK holds it to these
    status: text("status") ?? "",
    ...(actionPromise !== undefined && { actionPromise }),
    ...(response !== undefined && { response }),
    at: String(row.at),
  };
};

/** The outcomes of one chunk in the order of the plan. */
export function outcomesOfChunk(ledger: Ledger, runNo: number, chunk: number): readonly OutcomeRow[] {
  // By the chunk's range in the plan, which the primary key finds; an index by chunk would cost every insert.
  return ledger
    .all(
      `SELECT ${COLUMNS} FROM actions
       WHERE run_no = ? AND chunk = ?
       AND seq >= (SELECT first FROM chunks WHERE run_no = ? AND chunk = ?)
       AND seq < (SELECT first + count FROM chunks WHERE run_no = ? AND chunk = ?)
       ORDER BY seq`,
      runNo,
      chunk,
      runNo,
      chunk,
      runNo,
      chunk,
    )
    .map(toOutcome);
}

/** The outcomes of a chunk that leave the row open: what the service rejected, and what was not sent. */
export function openOutcomesOfChunk(
  ledger: Ledger,
  runNo: number,
  first: number,
  count: number,
): readonly OutcomeRow[] {
  return ledger
    .all(
      `SELECT ${COLUMNS} FROM actions
       WHERE run_no = ? AND seq >= ? AND seq < ? AND outcome IN ('rejected', 'not sent') ORDER BY seq`,
      runNo,
      first,
      first + count,
    )
    .map(toOutcome);
}

/** Chunks that have outcomes but are not noted as written to the promises, in order. */
export function unprojectedChunks(ledger: Ledger, runNo: number): readonly number[] {
  return ledger
    .all(
      `SELECT chunk FROM chunks WHERE run_no = ? AND projected = 0 AND state IN ('settled', 'settled by hand') ORDER BY first, chunk`,
      runNo,
    )
    .map(({ chunk }) => Number(chunk));
}

/** The outcomes of a run in the order of the plan, a page at a time. */
export function* outcomesOfRun(ledger: Ledger, runNo: number): Generator<readonly OutcomeRow[]> {
  let last = 0;
  for (;;) {
    const page = ledger
      .all(`SELECT ${COLUMNS} FROM actions WHERE run_no = ? AND seq > ? ORDER BY seq LIMIT 5000`, runNo, last)
      .map(toOutcome);
    const end = page.at(-1);
    if (end === undefined) return;
    last = end.seq;
    yield page;
  }
}

/** The first outcomes of a run of the given kinds. */
export function firstOutcomes(
  ledger: Ledger,
  runNo: number,
  outcomes: readonly Outcome[],
  limit: number,
): readonly OutcomeRow[] {
  return ledger
    .all(
      `SELECT ${COLUMNS} FROM actions WHERE run_no = ? AND outcome IN (SELECT value FROM json_each(?)) ORDER BY seq LIMIT ?`,
      runNo,
      JSON.stringify(outcomes),
      limit,
    )
    .map(toOutcome);
}

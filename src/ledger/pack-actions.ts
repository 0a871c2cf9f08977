/**
 * Before version 5 each action that had an outcome was a row of its own, and each ticket one of the table of tickets. What this
 * makes of them stands in the tables of now: beside them in a ledger that is only read, in their place in one that is brought
 * to this version.
 */

import { actionsThat } from "../actions/actions.ts";
import { BLOCK_TABLES, insertBlock, type NewOutcome, TAKEN, toBlocks } from "./blocks.ts";
import { DEED_TABLES } from "./deed-tables.ts";
import { overTickets } from "./in-slices.ts";
import type { Ledger, SqlRow } from "./ledger.ts";
import { sqlList } from "./sql-list.ts";
import type { Outcome } from "./states.ts";
import { UNICODE_IDS } from "./unicode-ids.ts";

export const PACKED_TABLES = `${BLOCK_TABLES}${DEED_TABLES}${UNICODE_IDS}
ALTER TABLE keyed_deeds ADD COLUMN event_no INTEGER;
ALTER TABLE keyed_deeds ADD COLUMN holder TEXT;
`;

/** Actions read at a time; blocks of them are whole. */
const PAGE = 5_120;

/** Part of a transaction. */
export function packActions(ledger: Ledger): void {
  for (const { run_no } of ledger.all("SELECT DISTINCT run_no FROM actions ORDER BY run_no"))
    packRun(ledger, Number(run_no));
  for (const sql of [NUMBER_EVENTS, COPY_DEEDS, TELL_KEYED_SALES, NOTE_UNICODE_IDS]) ledger.run(sql);
  compareCounts(ledger);
}

function packRun(ledger: Ledger, runNo: number): void {
  const merged = new Set(
    ledger.all("SELECT chunk FROM chunks WHERE run_no = ? AND merged = 1", runNo).map(({ chunk }) => Number(chunk)),
  );
  const sql = `SELECT seq, chunk, source, line, action, data, outcome, status, action_promise, response, at, identity, content
    FROM actions WHERE run_no = ? AND seq > ? ORDER BY seq LIMIT ${PAGE}`;
  for (let page = ledger.all(sql, runNo, 0); page.length > 0; page = ledger.all(sql, runNo, Number(page.at(-1)?.seq))) {
    for (const block of toBlocks(page.map(toNewOutcome))) {
      insertBlock(ledger, runNo, block);
      if (merged.has(block.chunk))
        ledger.run("DELETE FROM unmerged WHERE run_no = ? AND first = ?", runNo, block.first);
    }
  }
}

function toNewOutcome(row: SqlRow): NewOutcome {
  const text = (column: string): string | undefined => (row[column] === null ? undefined : String(row[column]));
  return {
    seq: Number(row.seq),
    chunk: Number(row.chunk),
    source: String(row.source),
    line: Number(row.line),
    action: String(row.action),
    data: String(row.data),
    outcome: String(row.outcome) as Outcome, // the table's CHECK held it to these
    status: text("status") ?? "",
    actionPromise: text("action_promise"),
    response: text("response"),
    at: String(row.at),
    identity: row.identity as Uint8Array, // BLOB NOT NULL columns
    content: row.content as Uint8Array,
  };
}

const SELLING = sqlList(actionsThat("sell-ticket"));

const NUMBER_EVENTS = `INSERT INTO event_numbers (event_id)
  SELECT DISTINCT event_id FROM actions WHERE action IN ${SELLING} AND outcome IN ${TAKEN} AND event_id IS NOT NULL`;

const COPY_DEEDS = `INSERT INTO loose_deeds (identity, run_no, seq, content, taken, event_no, holder)
  SELECT known.identity, known.run_no, known.seq, known.content, known.taken, event_no, sold.user_id
  FROM identities AS known
  LEFT JOIN actions AS sold ON sold.run_no = known.run_no AND sold.seq = known.seq AND known.taken = 1 AND sold.action IN ${SELLING}
  LEFT JOIN event_numbers ON event_numbers.event_id = sold.event_id
  ORDER BY known.identity, known.run_no, known.seq`;

const TELL_KEYED_SALES = `UPDATE keyed_deeds SET event_no = sold.event_no, holder = sold.holder
  FROM (SELECT run_no, seq, event_no, user_id AS holder FROM actions LEFT JOIN event_numbers USING (event_id)
    WHERE action IN ${SELLING} AND outcome IN ${TAKEN}) AS sold
  WHERE keyed_deeds.taken = 1 AND keyed_deeds.run_no = sold.run_no AND keyed_deeds.seq = sold.seq`;

const NOTE_UNICODE_IDS = `INSERT OR IGNORE INTO unicode_ids (ticket_id) SELECT substr(ticket, 8) FROM tickets
  WHERE ticket >= 'ticket:' AND ticket < 'ticket;' AND length(ticket) < octet_length(ticket)`;

/** Tickets of which the deed of their latest sale says the same. */
export const FORGET_LISTED_TICKETS = overTickets(`DELETE FROM tickets
  WHERE ticket > ? AND ticket <= ? AND state = 'sold' AND ticket >= 'ticket:' AND ticket < 'ticket;' AND EXISTS (
    SELECT 1 FROM (
      SELECT event_no, holder FROM loose_deeds WHERE taken = 1
      AND identity = plain_identity('${actionsThat("sell-ticket")[0]}', json_object('ticketId', substr(tickets.ticket, 8)))
      ORDER BY run_no DESC, seq DESC LIMIT 1
    ) AS sale JOIN event_numbers USING (event_no)
    WHERE event_id IS tickets.event_id AND sale.holder IS tickets.holder)`);

/** @throws Error, and the transaction comes to nothing, where something was left behind. */
function compareCounts(ledger: Ledger): void {
  const counts =
    ledger.get(`SELECT (SELECT count(*) FROM actions) AS actions, (SELECT coalesce(sum(count), 0) FROM blocks) AS packed,
    (SELECT count(*) FROM identities) AS known, (SELECT count(*) FROM loose_deeds) AS deeds`);
  if (counts?.actions !== counts?.packed || counts?.known !== counts?.deeds)
    throw new Error(
      `a ledger of ${counts?.actions} actions and ${counts?.known} deeds became one of ${counts?.packed} and ${counts?.deeds}`,
    );
}

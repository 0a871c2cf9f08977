/** The view `actions`, for people: one row for each action that has an outcome, however the ledger stores them. */

import type { DatabaseSync } from "node:sqlite";
import type { Action } from "../actions/actions.ts";
import { digestOf, identityText, importedIdentityText } from "../actions/identity.ts";
import { parseJson } from "../actions/json.ts";
import { DEED_BYTES, digestsAt } from "./block.ts";
import { blocksWithin } from "./blocks.ts";
import { triedDeeds } from "./deeds.ts";
import type { Ledger } from "./ledger.ts";
import { exceptionsOf, toOutcome } from "./outcomes.ts";

/** The columns that `docs/ledger.md` tells of. */
const COLUMNS = [
  ...["seq", "chunk", "source", "line", "action", "data", "outcome", "status", "action_promise", "response", "at"],
  ...["event_id", "ticket_id", "nft_id", "user_id"],
];

/** Has queries on this connection find `actions`. */
export function defineActionsView(database: DatabaseSync, ledger: Ledger): void {
  database.function("actions_of_block", (runNo, first) => textOf(ledger, Number(runNo), Number(first)));
  database.function(
    "identity_of_action",
    (runNo, seq, action, data) => deedOf(ledger, runNo, seq, action, data)?.identity ?? null,
  );
  database.function(
    "content_of_action",
    (runNo, seq, action, data) => deedOf(ledger, runNo, seq, action, data)?.content ?? null,
  );
  const columns = COLUMNS.map((column, at) => `said.value ->> ${at} AS ${column}`).join(", ");
  database.exec(`CREATE TEMP VIEW actions AS SELECT *,
    identity_of_action(run_no, seq, action, data) AS identity, content_of_action(run_no, seq, action, data) AS content
    FROM (SELECT run_no, ${columns} FROM blocks, json_each(actions_of_block(run_no, first)) AS said)`);
}

/** The actions of a block as JSON: a list of lists, in the order of the columns. */
function textOf(ledger: Ledger, runNo: number, first: number): string {
  const [block] = blocksWithin(ledger, runNo, first, first + 1);
  if (block === undefined) return "[]";
  const exceptions = exceptionsOf(ledger, block);
  return JSON.stringify(
    Array.from({ length: block.count }, (_, at) => {
      const {
        seq,
        chunk,
        source,
        line,
        action,
        data,
        outcome,
        status,
        actionPromise,
        response,
        eventId,
        ticketId,
        nftId,
        userId,
      } = toOutcome(block, first + at, exceptions);
      return [
        ...[seq, chunk, source, line, action, data, outcome, status, actionPromise ?? null, response ?? null, block.at],
        ...[eventId, ticketId, nftId, userId].map((id) => id ?? null),
      ];
    }),
  );
}

interface Digests {
  readonly identity: Uint8Array;
  readonly content: Uint8Array;
}

/** Undefined for a deed that a source's own key identifies: which key that was is not kept. */
function deedOf(ledger: Ledger, runNo: unknown, seq: unknown, action: unknown, data: unknown): Digests | undefined {
  const place = [Number(runNo), Number(seq)] as const;
  const row =
    ledger.get("SELECT identity, content FROM exceptions WHERE run_no = ? AND seq = ?", ...place) ??
    identitiesOf(action, data)
      .map((identity) => deedAt(ledger, identity, ...place))
      .find((found) => found !== undefined);
  return (row as unknown as Digests | undefined) ?? unmergedOf(ledger, ...place); // BLOB NOT NULL columns
}

function deedAt(ledger: Ledger, identity: Buffer, runNo: number, seq: number): Digests | undefined {
  const deed = triedDeeds(ledger, identity).find((each) => each.runNo === runNo && each.seq === seq);
  return deed && { identity, content: deed.content };
}

function identitiesOf(action: unknown, data: unknown): readonly Buffer[] {
  const said = { action: action as Action["action"], data: parseJson(String(data)) as Action["data"] }; // written by the planner
  return [identityText(said), importedIdentityText(said)].flatMap((text) =>
    text === undefined ? [] : [digestOf(text)],
  );
}

function unmergedOf(ledger: Ledger, runNo: number, seq: number): Digests | undefined {
  const sql = "SELECT first, deeds FROM unmerged WHERE run_no = ? AND first <= ? ORDER BY first DESC LIMIT 1";
  const row = ledger.get(sql, runNo, seq);
  if (row === undefined) return undefined;
  const deeds = row.deeds as Uint8Array; // a BLOB NOT NULL column
  const at = seq - Number(row.first);
  return (at + 1) * DEED_BYTES > deeds.length ? undefined : digestsAt(deeds, at);
}

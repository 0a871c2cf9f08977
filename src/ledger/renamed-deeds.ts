/**
 * Before version 3 a scan was known by its ticket and time, and a claim by its ticket and recipient; now both are known by
 * their ticket. Ledgers and plans of that time name them as they were.
 */

import type { DatabaseSync } from "node:sqlite";
import type { Action } from "../actions/actions.ts";
import { digestHex, formerIdentityText, identityText } from "../actions/identity.ts";
import { parseJson } from "../actions/json.ts";
import { TAKEN } from "./blocks.ts";
import { OF_SLICE, overActions, type Step } from "./in-slices.ts";

const RENAMED = "action IN ('scannedTicket', 'claimedTicket')";

/** Meta key: number of the last run that may have been planned with the former identities. */
export const LAST_FORMER_RUN = "last_former_run";

/** The identity (hex) that an action has now, given the one that it had. */
export function presentIdentity(action: Pick<Action, "action" | "data">, identity: string): string {
  const former = formerIdentityText(action);
  // Any other identity is of a source's own key, or of an imported promise.
  return former !== undefined && digestHex(former) === identity ? digestHex(identityText(action)) : identity;
}

/** Lets SQL say `present_identity(action, data, identity)` on this connection. */
export function definePresentIdentity(database: DatabaseSync): void {
  database.function("present_identity", { deterministic: true }, (action, data, identity) => {
    const hex = Buffer.from(identity as Uint8Array).toString("hex"); // a BLOB NOT NULL column
    const { action: name, data: said } = { action: action as Action["action"], data: parseJson(String(data)) }; // written by the planner
    return Buffer.from(presentIdentity({ action: name, data: said as Action["data"] }, hex), "hex");
  });
}

/** An action's identity in SQL, where it may be a former one. */
export const PRESENT_IDENTITY = `CASE WHEN ${RENAMED} THEN present_identity(action, data, identity) ELSE identity END`;

const DEEDS = `SELECT present_identity(action, data, identity) AS identity, run_no, seq, content, outcome IN ${TAKEN} AS taken
  FROM actions WHERE ${OF_SLICE} AND ${RENAMED} AND outcome <> 'not sent'
  AND EXISTS (SELECT 1 FROM chunks WHERE chunks.run_no = actions.run_no AND chunks.chunk = actions.chunk AND merged = 1)`;

export const RENAME_DEEDS: readonly Step[] = [
  `DELETE FROM identities WHERE (run_no, seq) IN (SELECT run_no, seq FROM actions WHERE ${RENAMED})`,
  overActions(`INSERT OR IGNORE INTO identities (identity, run_no, seq, content, taken) ${DEEDS} ORDER BY 1, seq`),
  overActions(
    `UPDATE actions SET identity = present_identity(action, data, identity) WHERE ${OF_SLICE} AND ${RENAMED}`,
  ),
  `INSERT OR REPLACE INTO meta (key, value) SELECT '${LAST_FORMER_RUN}', CAST(max(run_no) AS TEXT) FROM runs HAVING count(*) > 0`,
];

/** The same for a ledger that is opened read-only; there a former identity finds the deed too. */
export const RENAMED_BESIDE: readonly Step[] = [
  "CREATE TEMP TABLE renamed_deeds (identity BLOB, run_no INTEGER, seq INTEGER, content BLOB, taken INTEGER, PRIMARY KEY (identity, run_no, seq)) WITHOUT ROWID",
  overActions(`INSERT OR IGNORE INTO renamed_deeds ${DEEDS}`),
  `CREATE TEMP VIEW identities AS SELECT * FROM main.identities UNION ALL
  SELECT * FROM renamed_deeds WHERE NOT EXISTS (SELECT 1 FROM main.identities AS known WHERE known.identity = renamed_deeds.identity AND known.run_no = renamed_deeds.run_no AND known.seq = renamed_deeds.seq)`,
];

/**
 * What another run has sent since this one was planned. No run sends while another is open, so only an imported run can have:
 * the ledger was put back from an older copy, in which this run is open, and a person went on with it.
 */

import { type Action, actionSpec } from "../../actions/actions.ts";
import { digestOf, identityText, importedIdentityText } from "../../actions/identity.ts";
import { parseJson } from "../../actions/json.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { SENT_ELSEWHERE, SUPERSEDED } from "../ledger/outcomes.ts";
import { chunksOf } from "../ledger/runs.ts";
import type { IndexRecord } from "../plan/index-file.ts";
import type { Plan } from "../plan/plan.ts";
import { closeUnsent } from "./chunk-parts.ts";

/**
 * Closes, unsent, planned actions that another run has sent since, and those of whose history it has sent something: which,
 * a promises file does not tell.
 *
 * @returns how many actions were closed.
 */
export async function closeSentElsewhere(ledger: Ledger, plan: Plan, runNo: number): Promise<number> {
  const { createdAt } = plan.manifest;
  if (!hasLaterRun(ledger, runNo, createdAt)) return 0;
  const chunks = chunksOf(ledger, runNo, "planned");
  const statusOf = new Map<number, string>();
  for (const chunk of chunks) {
    const [lines, records] = await Promise.all([plan.lines(chunk), plan.records(chunk)]);
    for (const [at, record] of records.entries()) {
      const action = parseJson(lines[at]?.toString("utf8") ?? "") as Action; // written by the planner
      const later = identitiesOf(action, record).flatMap((each) => takenLater(ledger, each, runNo, createdAt));
      if (later.length === 0) continue;
      const isThis =
        actionSpec(record.action).identity === "once" || later.some((content) => content.equals(record.content));
      statusOf.set(chunk.first + at, isThis ? SENT_ELSEWHERE : SUPERSEDED);
    }
  }
  await closeUnsent(ledger, plan, chunks, statusOf);
  return statusOf.size;
}

function hasLaterRun(ledger: Ledger, runNo: number, createdAt: string): boolean {
  const sql = "SELECT 1 AS one FROM runs WHERE run_no <> ? AND (ended_at IS NULL OR ended_at > ?) LIMIT 1";
  return ledger.get(sql, runNo, createdAt) !== undefined;
}

/** What the deed may be known under; an import knows neither keys nor, of a history, which deed it is. */
function identitiesOf(action: Action, { identity, keyed }: IndexRecord): readonly Buffer[] {
  const imported = importedIdentityText(action);
  return [
    identity,
    ...(keyed ? [digestOf(identityText(action))] : []),
    ...(imported === undefined ? [] : [digestOf(imported)]),
  ];
}

/** What deeds of an identity say that other runs have sent since. */
function takenLater(ledger: Ledger, identity: Buffer, runNo: number, createdAt: string): readonly Buffer[] {
  const sql = `SELECT identities.content AS content FROM identities JOIN actions USING (run_no, seq)
    WHERE identities.identity = ? AND taken = 1 AND run_no <> ? AND at > ?`;
  return ledger.all(sql, identity, runNo, createdAt).map(({ content }) => Buffer.from(content as Uint8Array)); // a BLOB NOT NULL column
}

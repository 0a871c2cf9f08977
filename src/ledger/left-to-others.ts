/** What a run left out because an earlier run may still send it, and how that stands now. */

import type { Ledger } from "./ledger.ts";
import type { RunRecord } from "./runs.ts";
import { sqlList } from "./sql-list.ts";
import { UNDECIDED_STATES } from "./states.ts";

/** Counts of actions. They add up to what was pending, or waited for it, when the run was planned. */
export interface LeftToOthers {
  /** Another run may still bring them to the service. */
  readonly pending: number;
  /** They depend on what is pending. */
  readonly waiting: number;
  /** The service has them: a person said so of everything that an earlier run had in doubt. */
  readonly sent: number;
  /** Nothing holds them back any more, and the earlier runs have not sent them all. */
  readonly open: number;
}

export const NOTHING_LEFT: LeftToOthers = { pending: 0, waiting: 0, sent: 0, open: 0 };

/**
 * @param planned how many there were when the run was planned. Which they were is not kept, so all are judged alike.
 * @param behind the runs that held what is pending, where those were sent before this one.
 */
export function leftToOthers(
  ledger: Ledger,
  { runNo, createdAt }: Pick<RunRecord, "runNo" | "createdAt">,
  { pending, waiting }: Pick<LeftToOthers, "pending" | "waiting">,
  behind: readonly string[] = [],
): LeftToOthers {
  if (pending + waiting === 0) return NOTHING_LEFT;
  if (isAnyUndecidedBefore(ledger, runNo)) return { ...NOTHING_LEFT, pending, waiting };
  if (behind.length > 0) {
    const open = Math.min(pending, notTakenOf(ledger, behind));
    return { ...NOTHING_LEFT, sent: pending - open, open: open + waiting };
  }
  const [sent, open] = areAllSettledAsSent(ledger, runNo, createdAt) ? [pending, 0] : [0, pending];
  return { ...NOTHING_LEFT, sent, open: open + waiting };
}

function isAnyUndecidedBefore(ledger: Ledger, runNo: number): boolean {
  const sql = `SELECT 1 AS one FROM chunks WHERE run_no < ? AND state IN ${sqlList(UNDECIDED_STATES)} LIMIT 1`;
  return ledger.get(sql, runNo) !== undefined;
}

/** How many actions of these runs the service did not take, or was not asked for. */
function notTakenOf(ledger: Ledger, runs: readonly string[]): number {
  const sql = `SELECT coalesce(sum(actions), 0) AS n FROM tallies JOIN runs USING (run_no)
    WHERE run IN (SELECT value FROM json_each(?)) AND outcome IN ('rejected', 'not sent')`;
  return Number(ledger.get(sql, JSON.stringify(runs))?.n);
}

/** An import decides too, but does not say whether all of a doubt was taken. */
function areAllSettledAsSent(ledger: Ledger, runNo: number, createdAt: string): boolean {
  const sql = "SELECT DISTINCT decision FROM settlements WHERE run_no < ? AND at >= ? AND decision <> 'abandon'";
  const decisions = ledger.all(sql, runNo, createdAt);
  return decisions.length > 0 && decisions.every(({ decision }) => decision === "sent");
}

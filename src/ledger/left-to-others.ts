/** What a run left out because an earlier run may still send it, and how that stands now. */

import type { Ledger } from "./ledger.ts";
import type { Standing } from "./pending.ts";
import { countRun, findRun, type RunRecord } from "./runs.ts";
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

/** A run that holds what is pending. */
interface Holder {
  readonly run: string;
  /** How many; what several runs may hold counts for each. */
  readonly actions: number;
  /** When this run was planned. */
  readonly standing: Standing;
}

/** What a plan says of it. */
interface PlannedLeft {
  /** How many there were. Which they were is not kept, so all of a holder are judged alike. */
  readonly actions: Pick<LeftToOthers, "pending" | "waiting">;
  /** The runs that hold what is pending. Earlier versions named those that were sent before this one, if any. */
  readonly behind?: readonly (string | Holder)[] | undefined;
  /** The last settlement that the plan knew of. Earlier versions did not say it: then the clocks tell which came since. */
  readonly settledBefore?: number | undefined;
}

export function leftToOthers(
  ledger: Ledger,
  { runNo, createdAt }: Pick<RunRecord, "runNo" | "createdAt">,
  { actions: { pending, waiting }, behind = [], settledBefore }: PlannedLeft,
): LeftToOthers {
  if (pending + waiting === 0) return NOTHING_LEFT;
  if (isAnyUndecidedBefore(ledger, runNo)) return { ...NOTHING_LEFT, pending, waiting };
  const holders = behind.map((each) =>
    typeof each === "string" ? ({ run: each, actions: pending, standing: "ahead" } as const) : each,
  );
  const since: Since =
    settledBefore === undefined ? { sql: "at >= ?", value: createdAt } : { sql: "id > ?", value: settledBefore };
  const notSent = holders.reduce((sum, holder) => sum + notSentOf(ledger, holder, since), 0);
  const isKnown = holders.length > 0 || pending === 0 || areAllSettledAsSent(ledger, runNo, since);
  const open = isKnown ? Math.min(pending, notSent) : pending;
  return { ...NOTHING_LEFT, sent: pending - open, open: open + waiting };
}

/** Which settlements came since the run was planned. */
interface Since {
  readonly sql: "id > ?" | "at >= ?";
  readonly value: number | string;
}

function isAnyUndecidedBefore(ledger: Ledger, runNo: number): boolean {
  const sql = `SELECT 1 AS one FROM chunks WHERE run_no < ? AND state IN ${sqlList(UNDECIDED_STATES)} LIMIT 1`;
  return ledger.get(sql, runNo) !== undefined;
}

/** How many of what a run held the service may lack; at most all of it. */
function notSentOf(ledger: Ledger, { run, actions, standing }: Holder, since: Since): number {
  const runNo = findRun(ledger, run)?.runNo;
  if (runNo === undefined) return actions;
  // Of a closed run most was never sent, which says nothing of its doubts.
  if (standing === "closed") return areAllSettledAsSent(ledger, runNo + 1, since, runNo) ? 0 : actions;
  const { rejected, notSent } = countRun(ledger, runNo);
  return Math.min(actions, rejected + notSent);
}

/** An import decides too, but does not say whether all of a doubt was taken. */
function areAllSettledAsSent(ledger: Ledger, before: number, since: Since, from = 0): boolean {
  const sql = `SELECT DISTINCT decision FROM settlements WHERE run_no >= ? AND run_no < ? AND ${since.sql} AND decision <> 'abandon'`;
  const decisions = ledger.all(sql, from, before, since.value);
  return decisions.length > 0 && decisions.every(({ decision }) => decision === "sent");
}

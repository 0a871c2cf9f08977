/** The summary of a command. */

import { type LeftToOthers, NOTHING_LEFT } from "../ledger/left-to-others.ts";
import type { RunCounts } from "../ledger/runs.ts";
import type { Manifest, RowCounts } from "../plan/files/manifest.ts";
import type { Vanished } from "../plan/findings/vanished-tickets.ts";
import type { PlanResult } from "../plan/make-plan.ts";

/** The document of `--json`. Counts add up: rows and actions each to their parts. */
export interface Summary {
  readonly run: string | null;
  readonly environment: string | null;
  readonly state: "finished" | "stopped" | "published" | "nothing new" | "invalid" | "dry run" | "abandoned";
  readonly exitCode: number;
  readonly rows: RowCounts;
  readonly actions: {
    readonly total: number;
    readonly accepted: number;
    readonly rejected: number;
    readonly refused: number;
    readonly inDoubt: number;
    readonly settledByHand: number;
    readonly notSent: number;
    readonly alreadySent: number;
    /** Of those already sent, how many have other content now. */
    readonly changed: number;
    /** Of those not sent, how many are new but stand before others of their history that were accepted. */
    readonly late: number;
    /** Of those not sent, how many were rejected or in doubt earlier, and something later of their history was accepted since. */
    readonly superseded: number;
  };
  readonly byAction: Readonly<Record<string, number>>;
  readonly chunks: { readonly total: number; readonly settled: number };
  readonly problems: { readonly errors: number; readonly warnings: number };
  readonly output: string | null;
  readonly rejects: readonly string[];
  readonly durationMs: number;
  readonly next: string | null;
  readonly resumed: Summary | null;
  /** With `--report-vanished` only. */
  readonly vanished?: Vanished;
}

const NOTHING: RunCounts = {
  accepted: 0,
  rejected: 0,
  refused: 0,
  inDoubt: 0,
  inFlight: 0,
  settledByHand: 0,
  notSent: 0,
  superseded: 0,
  chunks: { total: 0, settled: 0 },
  byAction: {},
};

interface SummaryFields
  extends Pick<Summary, "run" | "environment" | "state" | "exitCode" | "problems" | "durationMs">,
    Partial<Pick<Summary, "output" | "rejects" | "next" | "resumed">> {
  readonly plan: Pick<PlanResult | Manifest, "rows" | "actions" | "byAction">;
  /** Undefined when nothing was sent: then everything planned is not sent. */
  readonly counts?: RunCounts;
  /** As things are now; without it, as they were when this was planned. */
  readonly left?: LeftToOthers;
  readonly vanished?: Vanished | undefined;
}

export function summarise(fields: SummaryFields): Summary {
  const { run, environment, state, exitCode, plan, problems, vanished } = fields;
  const { output = null, rejects = [], next = null, resumed = null } = fields;
  const counts = fields.counts ?? { ...NOTHING, notSent: plan.actions.planned };
  const { pending, waiting, late, superseded, unclear } = plan.actions;
  const left = fields.left ?? { ...NOTHING_LEFT, pending, waiting };
  return {
    run,
    environment,
    state,
    exitCode,
    rows: plan.rows,
    actions: {
      total: plan.actions.total,
      accepted: counts.accepted,
      rejected: counts.rejected,
      refused: counts.refused,
      // What another run may still send is in doubt here too.
      inDoubt: counts.inDoubt + left.pending,
      settledByHand: counts.settledByHand,
      notSent: counts.notSent + left.waiting + left.open + late + superseded + unclear,
      alreadySent: plan.actions.alreadySent + left.sent,
      changed: plan.actions.changed,
      late,
      superseded: superseded + counts.superseded,
    },
    byAction: plan.byAction,
    chunks: counts.chunks,
    problems: { errors: problems.errors, warnings: problems.warnings },
    output,
    rejects,
    durationMs: Math.round(fields.durationMs),
    next,
    resumed,
    ...(vanished !== undefined && { vanished }),
  };
}

/** Whether rows were not sent that someone has to mend, or that wait for those. */
export const hasUnsentRows = ({ invalid, held }: RowCounts): boolean => invalid + held > 0;

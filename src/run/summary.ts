/** The summary of a command: the document of `--json` (design §6). Counts add up: rows and actions each to their parts. */

import type { RunCounts } from "../ledger/ledger.ts";
import type { ActionCounts, RowCounts } from "../plan/plan.ts";

export interface Summary {
  readonly run: string | null;
  readonly environment: string | null;
  readonly state:
    | "finished"
    | "stopped"
    | "published"
    | "nothing new"
    | "adopted"
    | "invalid"
    | "dry run"
    | "abandoned";
  readonly exitCode: number;
  readonly rows: RowCounts;
  readonly actions: {
    readonly total: number;
    /** A person said so of some: they have no promise. */
    readonly accepted: number;
    readonly rejected: number;
    /** Of a chunk that was refused too: nobody knows what was taken of it. */
    readonly inDoubt: number;
    readonly notSent: number;
    readonly alreadySent: number;
    readonly changed: number;
    readonly late: number;
    readonly unclear: number;
  };
  readonly byAction: Readonly<Record<string, number>>;
  readonly chunks: { readonly total: number; readonly settled: number };
  readonly problems: { readonly errors: number; readonly warnings: number };
  readonly output: string | null;
  readonly rejects: readonly string[];
  readonly durationMs: number;
  readonly next: string | null;
  readonly resumed: Summary | null;
}

interface SummaryFields
  extends Pick<Summary, "run" | "environment" | "state" | "exitCode" | "durationMs">,
    Partial<Pick<Summary, "output" | "rejects" | "next" | "resumed">> {
  readonly of: {
    readonly rows: RowCounts;
    /** `new` and `held` become accepted, rejected, in doubt or not sent. */
    readonly actions: ActionCounts;
    readonly byAction: Readonly<Record<string, number>>;
    readonly problems: { readonly errors: number; readonly warnings: number };
  };
  /** Undefined where nothing was sent. */
  readonly counts?: RunCounts;
}

export function summarise(fields: SummaryFields): Summary {
  const { run, environment, state, exitCode, of, counts } = fields;
  const { output = null, rejects = [], next = null, resumed = null } = fields;
  const { total, alreadySent, changed, late, unclear, held } = of.actions;
  const isAdopted = state === "adopted";
  return {
    ...{ run, environment, state, exitCode, rows: of.rows },
    actions: {
      total,
      accepted: (counts?.accepted ?? 0) + (counts?.settled ?? 0),
      rejected: counts?.rejected ?? 0,
      inDoubt: (counts?.inDoubt ?? 0) + (counts?.inFlight ?? 0) + (counts?.refused ?? 0),
      notSent: (counts?.notSent ?? (isAdopted ? 0 : of.actions.new)) + held,
      alreadySent: alreadySent + (isAdopted ? of.actions.new : 0),
      ...{ changed, late, unclear },
    },
    byAction: of.byAction,
    chunks: { total: counts?.chunks ?? 0, settled: counts?.decidedChunks ?? 0 },
    problems: of.problems,
    ...{ output, rejects, durationMs: Math.round(fields.durationMs), next, resumed },
  };
}

/** Whether rows were not sent that someone has to correct, or that wait for those. */
export const hasUnsentRows = ({ invalid, held }: RowCounts): boolean => invalid + held > 0;

/**
 * Whether rows were told and not sent: someone has to decide about them.
 *
 * @param isNews whether something changed of which no earlier command told.
 */
export const holdsBack = ({ late, unclear }: Pick<ActionCounts, "late" | "unclear">, isNews: boolean): boolean =>
  late + unclear > 0 || isNews;

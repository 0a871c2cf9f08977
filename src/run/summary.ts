/** What a command or a run came to: the document of `--json` (docs/reference.md), and the exit code. */

import type { Environment } from "../config/environment.ts";
import { EXIT_CODES, SIGNAL_CODES } from "../failure.ts";
import type { Item, Run, RunCounts } from "../ledger/ledger.ts";
import type { ActionCounts, RowCounts } from "../plan/plan.ts";
import type { Stop, StopRequest } from "../send/stop.ts";

/** Counts add up: rows and actions each to their parts. */
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
    /** Those of a refused chunk too: what was taken of it is not known. */
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

/** What a command ends with that leaves nothing to send. */
export function exitCodeOfDone(
  { rows, actions }: Pick<SummaryFields["of"], "rows" | "actions">,
  // `isNews`: something changed that no earlier command has shown; `doubt`: of a run for which some of the input waits.
  left: { readonly isNews: boolean; readonly doubt: string | undefined; readonly unsent?: number },
): number {
  if (left.doubt !== undefined) return EXIT_CODES["in-doubt"];
  const isLeft = hasUnsentRows(rows) || actions.late + actions.unclear + (left.unsent ?? 0) > 0 || left.isNews;
  return isLeft ? EXIT_CODES["finished-with-rejects"] : EXIT_CODES.ok;
}

/** What ends with which exit code. */
export const STOP_CODES = {
  "in doubt": EXIT_CODES["in-doubt"],
  refused: EXIT_CODES.refused,
  "too many rejections": EXIT_CODES.refused,
  "authentication failed": EXIT_CODES["authentication-failed"],
  "not reachable": EXIT_CODES["stopped-early"],
} as const satisfies Record<Exclude<Stop["kind"], "stopped">, number>;

const REQUEST_CODES: Readonly<Record<StopRequest, number>> = {
  ...SIGNAL_CODES,
  "max-duration": EXIT_CODES["stopped-early"],
  elsewhere: EXIT_CODES["stopped-early"],
};

/** What a command ends with that this stopped. */
export const exitCodeOf = (stop: Stop): number =>
  stop.kind === "stopped" ? REQUEST_CODES[stop.by] : STOP_CODES[stop.kind];

/** How a run ended that was carried out, for now or for good. */
export interface RunEnd {
  readonly environment: Environment;
  readonly summary: Summary;
  readonly run: Run;
  readonly lanes: number;
  /** What stopped it, if anything; the first reason decides. */
  readonly stops: readonly Stop[];
  /** What this command sent of it, and how long that took. */
  readonly sent: { readonly actions: number; readonly ms: number };
  /** The first actions that were rejected. */
  readonly rejected: readonly Item[];
}

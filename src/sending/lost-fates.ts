/** What becomes of an action of a run of which the ledger lacks a part. Pure. */

import { SENT_ELSEWHERE } from "../ledger/outcomes.ts";
import type { LostRun } from "../ledger/run-list.ts";
import type { ChunkRecord } from "../ledger/runs.ts";
import type { ChunkState } from "../ledger/states.ts";
import type { ItemFacts } from "./chunk-outcomes.ts";
import type { PromisedElsewhere } from "./sent-elsewhere.ts";

/** Don't change these words: `countDoubted` finds the doubts by them, also those that earlier versions wrote. */
export const WHY_LOST = "the ledger does not know whether this was sent: it was lost, or put back from an older copy";

/** States of chunks without outcomes. A stored answer is recorded as usual: it says more than the list. */
export const MENDED_STATES = ["planned", "in doubt", "refused"] as const satisfies readonly ChunkState[];

/** What the list of runs, and the promises of other runs, say of an action without an outcome. */
export interface LostAction {
  /** Its chunk, as the ledger has it. */
  readonly chunk: Pick<ChunkRecord, "detail"> & { readonly state: (typeof MENDED_STATES)[number] };
  /** By the list it was never sent, and still is to be. */
  readonly isPlanned: boolean;
  /** By the list it was closed unsent. */
  readonly isUnsent: boolean;
  readonly promised: PromisedElsewhere | undefined;
}

/** What is known of the whole run. */
export interface LostRunFacts extends Pick<LostRun, "isDecided"> {
  /** The ledger knows all promises of the run. */
  readonly isWholeRead: boolean;
  /** All of which the list says nothing was rejected. */
  readonly wereRejected: boolean;
}

/** The state that its chunk is to be in, and what is said of it: a detail, or the outcome of an action that is closed. */
export type LostFate =
  | { readonly state: "abandoned"; readonly item: ItemFacts }
  | { readonly state: (typeof MENDED_STATES)[number]; readonly detail: string | undefined };

const NOT_SENT: ItemFacts = { outcome: "not sent", status: "not-sent" };
const REJECTED: ItemFacts = { outcome: "rejected", status: "rejected" };

export function fateOfLost({ chunk, isPlanned, isUnsent, promised }: LostAction, run: LostRunFacts): LostFate {
  const kept = (state: ChunkState): string | undefined => (chunk.state === state ? chunk.detail : undefined);
  if (isPlanned) return { state: "planned", detail: kept("planned") };
  if (isUnsent) return { state: "abandoned", item: NOT_SENT };
  const isElsewhere = promised !== undefined && isSurelyElsewhere(promised, run);
  if (run.wereRejected) return { state: "abandoned", item: REJECTED };
  if (isElsewhere) return { state: "abandoned", item: { ...NOT_SENT, status: SENT_ELSEWHERE } };
  if (run.isDecided) return { state: "abandoned", item: NOT_SENT };
  if (chunk.state === "refused") return { state: "refused", detail: chunk.detail };
  return { state: "in doubt", detail: whyElsewhere(promised) ?? kept("in doubt") ?? WHY_LOST };
}

/** For a deed that may be done repeatedly, a later promise may be for another one, unless all promises of this run are known. */
const isSurelyElsewhere = ({ isOnce, isSame }: PromisedElsewhere, { isWholeRead }: LostRunFacts): boolean =>
  isOnce || (isSame && isWholeRead);

/** The detail of a doubt where another run has a promise. */
const whyElsewhere = (promised: PromisedElsewhere | undefined): string | undefined =>
  promised &&
  `${WHY_LOST}; run ${promised.run} has since received a promise for the same action, or for one that can't be told from it`;

/** Accepted deeds that an input lacks. Each of its bad rows may be one of them. */

import { acceptedDeeds } from "../../ledger/deeds.ts";
import { keyedDeeds } from "../../ledger/keyed-deeds.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import type { Pending } from "../../ledger/pending.ts";
import type { AskedAt } from "../../ledger/row-places.ts";
import { type Candidate, readCandidates } from "../candidates/candidates.ts";
import type { BlockedDeed, BlockedHistories } from "./blocked-deeds.ts";
import { historyOf, lastCounts } from "./history-of-candidate.ts";

export interface LeftOptions {
  readonly ledger: Ledger;
  readonly pending: Pending;
  /** What was accepted, or is pending, as a candidate (hex); undefined where nothing was. */
  readonly acceptedAs: (candidate: Candidate) => string | undefined;
  /** Bad rows that stand in the place of accepted ones. */
  readonly closed: readonly BlockedDeed[];
}

/** @returns histories (hex) of bad rows of which more was accepted, or is pending, than the input has beside them. */
export async function findLeftAccepted(
  directory: string,
  blockedRows: BlockedHistories,
  { ledger, pending, acceptedAs, closed }: LeftOptions,
): Promise<ReadonlySet<string>> {
  const left = new Map<string, (AskedAt & { readonly content: string })[]>();
  for (const [history, held] of blockedRows) {
    if (held.every(({ accepted }) => accepted !== undefined)) continue;
    const identity = Buffer.from(history, "hex");
    const taken = [
      ...acceptedDeeds(ledger, identity),
      ...keyedDeeds(ledger, identity).filter(({ isTaken }) => isTaken),
    ];
    const deeds = [
      ...taken.map(({ runNo, seq, content }) => ({ runNo, seq, content: content.toString("hex") })),
      ...(pending.deeds.get(history) ?? []),
    ].filter((deed) => !held.some(({ accepted }) => accepted?.runNo === deed.runNo && accepted.seq === deed.seq));
    if (deeds.length > 0) left.set(history, deeds);
  }
  if (left.size === 0) return new Set();
  for await (const batch of readCandidates(directory)) {
    for (const candidate of batch) {
      const content = lastCounts(candidate.action) ? acceptedAs(candidate) : undefined;
      if (content === undefined) continue;
      const deeds = left.get(historyOf(candidate).toString("hex")) ?? [];
      const at = deeds.findIndex((deed) => deed.content === content);
      if (at !== -1) deeds.splice(at, 1);
    }
  }
  const inPlace = new Set(closed);
  const isLeft = ([history, deeds]: readonly [string, readonly AskedAt[]]): boolean =>
    deeds.length > (blockedRows.get(history)?.filter((held) => inPlace.has(held)).length ?? 0);
  return new Set([...left].filter(isLeft).map(([history]) => history));
}

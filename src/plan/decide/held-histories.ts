/** Histories in which an unsent row has a deed: what follows in them waits for that row. */

import { actionSpec } from "../../actions/actions.ts";
import type { SourceLine } from "../../actions/problem.ts";
import type { Candidate } from "../candidates/candidates.ts";
import { historyOf, replaces } from "../identity/history-of-candidate.ts";

export class HeldHistories {
  /** By history (hex): the first such row. */
  readonly #rows = new Map<string, SourceLine>();

  /** @param candidates of a row that is not sent. */
  hold(candidates: readonly Candidate[], row: SourceLine): void {
    for (const candidate of candidates) {
      if (!isInOrder(candidate)) continue;
      const history = nameOf(candidate);
      if (!this.#rows.has(history)) this.#rows.set(history, row);
    }
  }

  /** The row that the candidate waits for. */
  before(candidate: Candidate): SourceLine | undefined {
    return this.#rows.size > 0 && isInOrder(candidate) ? this.#rows.get(nameOf(candidate)) : undefined;
  }
}

const nameOf = (candidate: Candidate): string => historyOf(candidate).toString("hex");

/** Whether it must keep its order in its history. A scan with a key need not: the key tells it from all others. */
const isInOrder = ({ action, keyed }: Candidate): boolean =>
  actionSpec(action).identity === "history" && (!keyed || replaces(action));

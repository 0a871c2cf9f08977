/** What becomes of candidates, once it is known what is sent before them from their own input. */

import { type Action, actionSpec } from "../../actions/actions.ts";
import { digestOf, identityText, importedIdentityText } from "../../actions/identity.ts";
import { acceptedDeeds } from "../../ledger/deeds.ts";
import { IMPORTED } from "../../ledger/known-state.ts";
import { type Ledger, readMeta } from "../../ledger/ledger.ts";
import type { Pending } from "../../ledger/pending.ts";
import { actionOf, type Candidate, type CandidateLines } from "../candidates/candidates.ts";
import { isUnknownContent, type Verdict, type Verdicts } from "../identity/verdicts.ts";
import { createWaiting, type Waiting } from "./waiting-for-runs.ts";

/** What becomes of a candidate: `new` is sent, unless its row is invalid. */
export type Fate = Exclude<Verdict, "repeated"> | "waiting" | "imported";

/** Nobody can tell whether these were accepted, or which row of a ticket is the right one. None is ever sent, whatever severity the config gives their rules. */
export const UNDECIDED: ReadonlySet<Fate> = new Set(["unclear", "key shared", "sold twice", "imported"]);

export class Fates {
  readonly #verdicts: Verdicts;
  readonly #lines: CandidateLines;
  /** Set where promises were imported, which don't hold everything about their deeds. */
  readonly #imported: Ledger | undefined;
  readonly #waiting: Waiting;
  /** The first of each repeated deed, by number, or the one that stands in for it. */
  readonly #brought = new Set<number>();

  constructor(verdicts: Verdicts, lines: CandidateLines, comparedWith: Ledger | undefined, pending: Pending) {
    this.#verdicts = verdicts;
    this.#lines = lines;
    this.#imported =
      comparedWith !== undefined && readMeta(comparedWith, IMPORTED) !== undefined ? comparedWith : undefined;
    this.#waiting = createWaiting(pending);
  }

  of(candidate: Candidate, ofRow: readonly Candidate[]): Fate {
    const fate = this.#beforeImport(candidate, ofRow);
    if (this.#imported === undefined) return fate;
    const isOpen = fate === "new" || fate === "held" || fate === "late" || fate === "superseded";
    return isOpen && wasImported(this.#imported, candidate, actionOf(candidate, this.#lines)) ? "imported" : fate;
  }

  #beforeImport(candidate: Candidate, ofRow: readonly Candidate[]): Fate {
    const verdict = this.#verdicts.of(candidate);
    // Where the config lets go what is held, it still waits for what is pending.
    if (verdict === "held" && this.#waiting.has(candidate)) return "waiting";
    if (verdict !== "repeated" && verdict !== "new") return verdict;
    if (verdict === "repeated") {
      const first = this.#firstOf(candidate);
      // An earlier one whose row is invalid is not sent, so this one is the first.
      if (this.#brought.has(first) || ofRow.some((each) => each.seq < candidate.seq && this.#firstOf(each) === first))
        return "sent";
    }
    return this.#waiting.has(candidate) ? "waiting" : "new";
  }

  #firstOf(candidate: Candidate): number {
    const detail = this.#verdicts.detailOf(candidate);
    return detail?.kind === "repeated" ? detail.first : candidate.seq;
  }

  /** It is sent, so its repetitions are not. */
  bring(candidate: Candidate): void {
    if (this.#verdicts.isRepeated(candidate) || this.#verdicts.of(candidate) === "repeated")
      this.#brought.add(this.#firstOf(candidate));
  }

  /** It waits: what depends on it waits too. */
  wait(candidate: Candidate): void {
    this.#waiting.add(candidate);
  }
}

/**
 * Whether just this deed was taken before, so that the bad row that it mends is done with. A deed of a history may be another
 * one that says the same (A, B, A), or nearly the same: then the bad row is reported again, rather than never.
 */
export function isSurelyDone({ action, untimed, keyed }: Candidate, fate: Fate): boolean {
  const isOneOfMany = !keyed && actionSpec(action).identity === "history";
  return fate === "sent" ? !(isOneOfMany && untimed) : fate === "changed" && !isOneOfMany;
}

/** Whether promises were imported that may be those of this very action. */
function wasImported(comparedWith: Ledger, { keyed }: Candidate, action: Action): boolean {
  // They don't hold the key of a source either, so there is only what would name the deed without one.
  const text = importedIdentityText(action) ?? (keyed ? identityText(action) : undefined);
  return text !== undefined && acceptedDeeds(comparedWith, digestOf(text)).some(isUnknownContent);
}

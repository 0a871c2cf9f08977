/** Which candidates are sent, and how all others are counted. */

import { type ActionName, registersEvent } from "../../actions/actions.ts";
import type { Severity, SourceLine } from "../../actions/problem.ts";
import type { Candidate, KeptRange } from "../candidates/candidates.ts";
import type { Compiled } from "../compile/compile.ts";
import type { ChangedAction } from "../findings/changed-actions.ts";
import type { Verdict } from "../identity/verdicts.ts";
import type { LastAccepted } from "../rejects/find-row-places.ts";
import type { Fate } from "./fates.ts";
import type { HeldFor } from "./held-rows.ts";
import { type WaitingRows, WaitingRowsTally } from "./waiting-rows.ts";

/** What decisions need of what was compiled. */
export interface DecidedOf extends Pick<Compiled, "mends"> {
  readonly inputs: readonly Pick<Compiled["inputs"][number], "name" | "format" | "readAs" | "rows">[];
}

export interface Selection {
  /** The candidates that are sent, in order. */
  readonly kept: readonly KeptRange[];
  readonly fresh: number;
  readonly alreadySent: number;
  /** Of those already sent, how many repeat a deed of their own input. */
  readonly repeated: number;
  readonly pending: number;
  /** By run that holds what is pending: how many of it. What several runs may hold counts for each. */
  readonly heldBy: ReadonlyMap<string, number>;
  /** Not sent because they depend on what is pending. */
  readonly waiting: number;
  /** The rows of these two. */
  readonly waitingRows: WaitingRows;
  /** Not sent because something later of their history was accepted already. */
  readonly late: number;
  /** Rejected earlier, and not sent because something later of their history was accepted since. */
  readonly superseded: number;
  /** Not sent because nobody can tell whether they were accepted, where the rule for that is not an error. */
  readonly unclear: number;
  readonly changed: { readonly count: number; readonly shown: readonly ChangedAction[] };
  readonly byAction: Readonly<Record<string, number>>;
  /** Of those that are sent. */
  readonly plannedByAction: Readonly<Record<string, number>>;
  /** The rows that others are held for. */
  readonly heldFor: readonly HeldFor[];
  /** By row, what is open of invalid rows that were partly accepted before; of other rows, everything is open. */
  readonly openOfInvalid: ReadonlyMap<number, readonly string[]>;
  /** The accepted deeds among which unsent rows have their places. */
  readonly lastAccepted: LastAccepted;
  /** The inputs, by number, that go from the latest time to the earliest. */
  readonly newestFirst: ReadonlySet<number>;
  /** Mended rows of which nothing is open except what is sent now. */
  readonly mends: Compiled["mends"];
}

/** What a pass over the candidates comes to. */
export type Passed = Omit<Selection, "openOfInvalid" | "lastAccepted" | "newestFirst">;

/** Where the config lets actions pass that register a second time, they are deeds that repeat like any other, and sent once. */
export const isSentOnce =
  (severityOf: (rule: string) => Severity) =>
  (action: ActionName): boolean =>
    severityOf(registersEvent(action) ? "event-registered-twice" : "ticket-sold-twice") !== "error";

/** How candidates that are not sent are counted. */
const COUNTED = {
  sent: "alreadySent",
  changed: "alreadySent",
  pending: "pending",
  waiting: "waiting",
  late: "late",
  superseded: "superseded",
  unclear: "unclear",
  "key shared": "unclear",
  "sold twice": "unclear",
  imported: "unclear",
} as const satisfies Record<Exclude<Fate, "new" | "held">, string>;

/** How many changed actions are shown with both values. */
const CHANGED_SHOWN = 1000;

/** A selection while it is made, candidate by candidate in order. */
export class SelectionTally {
  readonly #kept: { start: number; end: number; first: number; count: number }[] = [];
  readonly #byAction: Record<string, number> = {};
  readonly #plannedByAction: Record<string, number> = {};
  readonly #changed: { count: number; readonly shown: ChangedAction[] } = { count: 0, shown: [] };
  readonly #counts = {
    fresh: 0,
    alreadySent: 0,
    repeated: 0,
    pending: 0,
    waiting: 0,
    late: 0,
    superseded: 0,
    unclear: 0,
  };

  readonly #waitingRows = new WaitingRowsTally();
  readonly #heldBy = new Map<string, number>();

  /** Adds one that is sent. */
  keep(start: number, length: number, seq: number, action: ActionName): void {
    this.#byAction[action] = (this.#byAction[action] ?? 0) + 1;
    this.#plannedByAction[action] = (this.#plannedByAction[action] ?? 0) + 1;
    const last = this.#kept.at(-1);
    if (last !== undefined && last.end === start) {
      last.end = start + length;
      last.count += 1;
    } else this.#kept.push({ start, end: start + length, first: seq, count: 1 });
    this.#counts.fresh += 1;
  }

  /** Counts one that is not sent. */
  leave({ action }: Pick<Candidate, "action">, fate: keyof typeof COUNTED, verdict: Verdict): void {
    this.#byAction[action] = (this.#byAction[action] ?? 0) + 1;
    this.#counts[COUNTED[fate]] += 1;
    if (fate === "sent" && verdict === "repeated") this.#counts.repeated += 1;
    if (fate === "changed") this.#changed.count += 1;
  }

  /** Notes which runs may hold one that is pending. */
  hold(runs: Iterable<string>): void {
    for (const run of new Set(runs)) this.#heldBy.set(run, (this.#heldBy.get(run) ?? 0) + 1);
  }

  /** Names the row of one that is not sent because of another run. */
  name(fate: keyof WaitingRows, row: number, at: SourceLine): void {
    this.#waitingRows[fate].add(row, at);
  }

  /** Shows one that is changed, with both values, unless enough are shown. */
  show(describe: () => ChangedAction): void {
    if (this.#changed.shown.length < CHANGED_SHOWN) this.#changed.shown.push(describe());
  }

  get selected(): Omit<Passed, "heldFor" | "mends"> {
    return {
      ...this.#counts,
      kept: this.#kept,
      changed: this.#changed,
      byAction: this.#byAction,
      plannedByAction: this.#plannedByAction,
      waitingRows: this.#waitingRows,
      heldBy: this.#heldBy,
    };
  }
}

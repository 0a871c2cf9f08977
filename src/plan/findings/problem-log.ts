import type { Problem } from "../../actions/problem.ts";

/** What was found of one rule: how often, and the first example. */
interface RuleTally {
  readonly rule: string;
  readonly severity: "warn" | "error";
  count: number;
  readonly first: Problem;
  /** How often by kind of action, where the rule tells it. */
  readonly byAction: ReadonlyMap<string, number>;
}

type Tally = RuleTally & { readonly byAction: Map<string, number> };

/** Problems counted in full and kept up to a cap, so that memory does not grow with a bad file. */
export interface ProblemLog {
  add(problem: Problem): void;
  readonly errors: number;
  readonly warnings: number;
  /** The first problems, in the order of the input, up to the cap. */
  readonly kept: readonly Problem[];
  /** One entry per rule and severity, in order of first appearance. */
  readonly tallies: readonly RuleTally[];
  /** Whether nothing of such a problem is kept any more but its number, so that nobody reads what it says. */
  onlyCounts(rule: string, severity: Problem["severity"], hasCause: boolean): boolean;
  /** What is still kept; so much a fork needs to keep. */
  readonly capacity: LogCapacity;
  /** An empty log with the same cap, whose problems may be absorbed later or dropped. */
  fork(): ProblemLog;
  /** Takes over what a fork holds, which was made when no less was kept than now. */
  absorb(fork: Pick<ProblemLog, "kept" | "tallies">): void;
}

/** The problems of a full log: errors take the places of warnings and of rows that only wait for another, as long as there are any. */
export interface LogCapacity {
  readonly cap: number;
  readonly keeps: "all" | "errors" | "none";
}

export function createProblemLog(cap: number, keeps: LogCapacity["keeps"] = "all"): ProblemLog {
  const kept: Problem[] = [];
  /** Neither a warning nor a row that only waits for another crowds out an error that stops the run. */
  const isMinor = ({ severity, cause }: Pick<Problem, "severity" | "cause">): boolean =>
    severity === "warn" || cause !== undefined;
  const inOrder: Tally[] = [];
  const tallies = { error: new Map<string, Tally>(), warn: new Map<string, Tally>() };
  let keptMinor = 0;
  let errors = 0;
  let warnings = 0;
  const keep = (problem: Problem): void => {
    if (keeps === "none" || (keeps === "errors" && isMinor(problem))) return;
    if (kept.length < cap) {
      kept.push(problem);
      if (isMinor(problem)) keptMinor += 1;
    } else if (!isMinor(problem)) {
      if (keptMinor === 0) return;
      kept.splice(kept.findLastIndex(isMinor), 1);
      keptMinor -= 1;
      kept.push(problem);
    }
  };
  /** @param first called for the first of its rule alone. */
  const tallyOf = (rule: string, severity: RuleTally["severity"], first: () => Problem): Tally => {
    let known = tallies[severity].get(rule);
    if (known === undefined) {
      known = { rule, severity, count: 0, first: first(), byAction: new Map() };
      tallies[severity].set(rule, known);
      inOrder.push(known);
    }
    return known;
  };
  const count = (tally: Tally, times: number): void => {
    if (tally.severity === "error") errors += times;
    else warnings += times;
    tally.count += times;
  };
  const countOf = ({ byAction }: Tally, action: string, times: number): void => {
    byAction.set(action, (byAction.get(action) ?? 0) + times);
  };
  return {
    add(problem) {
      keep(problem);
      const { rule, severity, action } = problem;
      const tally = tallyOf(rule, severity, () => withoutMark(problem));
      count(tally, 1);
      if (action !== undefined) countOf(tally, action, 1);
    },
    get errors() {
      return errors;
    },
    get warnings() {
      return warnings;
    },
    kept,
    get tallies() {
      return [...inOrder];
    },
    onlyCounts(rule, severity, hasCause) {
      const left = this.capacity.keeps;
      const isKept = left === "all" || (left === "errors" && severity === "error" && !hasCause);
      return !isKept && tallies[severity].has(rule);
    },
    get capacity(): LogCapacity {
      return { cap, keeps: kept.length < cap ? keeps : keptMinor > 0 ? "errors" : "none" };
    },
    fork() {
      return createProblemLog(cap, this.capacity.keeps);
    },
    absorb(fork) {
      for (const problem of fork.kept) keep(problem);
      for (const each of fork.tallies) {
        const tally = tallyOf(each.rule, each.severity, () => each.first);
        count(tally, each.count);
        for (const [action, times] of each.byAction) countOf(tally, action, times);
      }
    },
  };
}

/** Whether a row is marked depends on the room that is left. */
function withoutMark({ mark: _mark, ...problem }: Problem): Problem {
  return problem;
}

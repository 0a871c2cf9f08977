/** What is found of rows and files: counted in full and kept up to a cap, so that memory does not grow with a bad file. */

import { hash } from "node:crypto";
import type { PlacedProblem, Problem, SourceLine } from "../actions/problem.ts";
import type { Severity } from "../rules.ts";

/** What was found of one rule and field: how often, and the first example. */
export interface Tally {
  readonly rule: string;
  readonly severity: PlacedProblem["severity"];
  count: number;
  readonly first: PlacedProblem;
  /** How often by kind of action, where the rule says it. */
  readonly byAction: Map<string, number>;
  /** Those of them that are kept, in the order of the input. */
  readonly kept: readonly PlacedProblem[];
}

/** Where something is found. */
export interface Where extends SourceLine {
  /** What the row holds. What is said of a whole file stands in its first line, unless a row shows it. */
  readonly text?: string;
  /** JSON pointer to the row's object; undefined for cells, which have none. */
  readonly item?: string | undefined;
  /** Of the row in the input, for what was seen across rows; left out, it is of the row that is read. */
  readonly place?: number;
}

interface Kept {
  readonly problem: PlacedProblem;
  /** What was seen across rows comes behind what a row says by itself, in the order of the input. */
  readonly place: number;
  /** How many came before it. */
  readonly nth: number;
}

type Tallied = Omit<Tally, "kept"> & Pick<Kept, "place">;

/** A file that invents fields has the others of a rule together, so that memory does not grow with it. */
const MOST_TALLIES = 50;

export class Problems {
  readonly severityOf: (rule: string) => Severity;
  readonly #cap: number;
  readonly #tallies = new Map<string, Tallied>();
  /** Up to twice as many as are kept. */
  readonly #kept: Kept[] = [];
  errors = 0;
  warnings = 0;

  /** @param cap how many are kept. */
  constructor(cap: number, severityOf: (rule: string) => Severity) {
    this.#cap = cap;
    this.severityOf = severityOf;
  }

  /** Reports all that is found in one place. @returns whether something of it is an error. */
  report(where: Where, problems: readonly Problem[]): boolean {
    let isError = false;
    for (const problem of problems) if (this.add(where, problem) === "error") isError = true;
    return isError;
  }

  /** @returns how grave it is; of a rule that is off, nothing is noted. */
  add(where: Where, found: Problem, severity = this.severityOf(found.rule)): Severity {
    if (severity === "off") return severity;
    const { source, line, text, item, place = 0 } = where;
    const { pointer, mark: ofRows, ...rest } = found;
    const mark = severity === "warn" ? (ofRows ?? markOf(found, text)) : undefined;
    const problem: PlacedProblem = {
      ...{ source, line, severity, ...rest },
      ...(pointer !== undefined && item !== undefined && { pointer: `${item}${pointer}` }),
      ...(mark !== undefined && { mark }),
    };
    this.#kept.push({ problem, place, nth: this.errors + this.warnings });
    if (this.#kept.length >= 2 * this.#cap) this.#cut();
    this.#count(problem, place);
    return severity;
  }

  /** The first problems in the order of the input. Errors take the places of warnings and of rows that wait for another. */
  get kept(): readonly PlacedProblem[] {
    this.#cut();
    return this.#kept.toSorted(byPlace).map(({ problem }) => problem);
  }

  /** One entry per rule, field and severity, in the order of the input. */
  get tallies(): readonly Tally[] {
    const kept = Map.groupBy(this.kept, (problem) => this.#keyOf(problem));
    return [...this.#tallies]
      .map(([key, tally]) => ({ ...tally, kept: kept.get(key) ?? [] }))
      .sort((one, other) => one.place - other.place);
  }

  #count(problem: PlacedProblem, place: number): void {
    const { rule, severity, action } = problem;
    const key = this.#keyOf(problem);
    const tally = this.#tallies.get(key) ?? { rule, severity, count: 0, first: problem, place, byAction: new Map() };
    this.#tallies.set(key, tally);
    tally.count += 1;
    // What is seen across rows comes by ticket: the first of the input may come last.
    if (place < tally.place) Object.assign(tally, { first: problem, place });
    if (severity === "error") this.errors += 1;
    else this.warnings += 1;
    if (action !== undefined) tally.byAction.set(action, (tally.byAction.get(action) ?? 0) + 1);
  }

  #keyOf({ severity, rule, field = "" }: PlacedProblem): string {
    const own = `${severity} ${rule} ${field}`;
    return this.#tallies.has(own) || this.#tallies.size < MOST_TALLIES ? own : `${severity} ${rule}`;
  }

  #cut(): void {
    if (this.#kept.length <= this.#cap) return;
    this.#kept.sort((one, other) => minor(one.problem) - minor(other.problem) || byPlace(one, other));
    this.#kept.length = this.#cap;
  }
}

const byPlace = (one: Kept, other: Kept): number => one.place - other.place || one.nth - other.nth;

const minor = ({ severity, cause }: PlacedProblem): number => (severity === "warn" || cause !== undefined ? 1 : 0);

/** By it a warning is known again when a later command would show it once more: what its row holds, not where it stands. */
const markOf = ({ rule }: Problem, text: string | undefined): string | undefined =>
  text === undefined ? undefined : hash("sha256", `${rule} ${text}`).slice(0, 32);

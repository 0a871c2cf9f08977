/** Problems counted in full and kept up to a cap, so that memory does not grow with a bad file. */

import { createHash } from "node:crypto";
import type { Finding, Problem, Severity } from "../actions/problem.ts";
import type { InputFile } from "../read/input-file.ts";
import type { Row } from "../read/row.ts";

/** What was found of one rule and field: how often, and the first example. */
export interface Tally {
  readonly rule: string;
  readonly severity: Problem["severity"];
  count: number;
  readonly first: Problem;
  /** How often by kind of action, where the rule says it. */
  readonly byAction: Map<string, number>;
  /** Those of them that are kept, in the order of the input. */
  readonly kept: readonly Problem[];
}

interface Kept {
  readonly problem: Problem;
  /** What was seen across rows comes behind what a row says by itself, in the order of the input. */
  readonly place: number;
  /** How many came before it. */
  readonly nth: number;
}

interface Tallied extends Omit<Tally, "kept"> {
  first: Problem;
  place: number;
}

/** A file that invents fields has the others of a rule together, so that memory does not grow with it. */
const MOST_TALLIES = 50;

export class Problems {
  readonly #cap: number;
  readonly #tallies = new Map<string, Tallied>();
  /** Up to twice as many as are kept. */
  readonly #kept: Kept[] = [];
  errors = 0;
  warnings = 0;

  /** @param cap how many are kept. */
  constructor(cap: number) {
    this.#cap = cap;
  }

  /** @param place of the row in the input, for what was seen across rows; left out, it is of the row that is read. */
  add(problem: Problem, place = 0): void {
    this.#kept.push({ problem, place, nth: this.errors + this.warnings });
    if (this.#kept.length >= 2 * this.#cap) this.#cut();
    const { severity, action } = problem;
    const tally = this.#tallyOf(problem, place);
    tally.count += 1;
    if (severity === "error") this.errors += 1;
    else this.warnings += 1;
    if (action !== undefined) tally.byAction.set(action, (tally.byAction.get(action) ?? 0) + 1);
  }

  /** The first problems in the order of the input. Errors take the places of warnings and of rows that wait for another. */
  get kept(): readonly Problem[] {
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

  /** Whether a warning about the row that is read would be kept. */
  get keepsWarnings(): boolean {
    return this.errors + this.warnings < this.#cap;
  }

  /** What is seen across rows comes by ticket: the first of the input may come last. */
  #tallyOf(problem: Problem, place: number): Tallied {
    const key = this.#keyOf(problem);
    const known = this.#tallies.get(key);
    if (known !== undefined && known.place <= place) return known;
    const { mark: _, ...first } = problem;
    if (known !== undefined) return Object.assign(known, { first, place });
    const tally: Tallied = {
      rule: problem.rule,
      severity: problem.severity,
      count: 0,
      first,
      place,
      byAction: new Map(),
    };
    this.#tallies.set(key, tally);
    return tally;
  }

  #keyOf({ severity, rule, field = "" }: Problem): string {
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

const minor = ({ severity, cause }: Problem): number => (severity === "warn" || cause !== undefined ? 1 : 0);

/** What is said of a whole file stands in its first line, unless a row shows it. */
export const wholeFile = (line: number): Row => ({ kind: "object", line, value: {}, text: "" });

/**
 * Notes what is found of a row. Returns whether one of the findings is an error.
 *
 * @param index of the row in its file, from 0.
 */
export function reportFindings(
  problems: Problems,
  file: Pick<InputFile, "name" | "format">,
  severityOf: (rule: string) => Severity,
  row: Pick<Row, "kind" | "line" | "text">,
  index: number,
  findings: readonly Finding[],
): boolean {
  let isError = false;
  for (const finding of findings) {
    const severity = severityOf(finding.rule);
    if (severity === "off") continue;
    if (severity === "error") isError = true;
    const { pointer: inItem, mark: ofRows, ...rest } = finding;
    const mark = severity === "warn" && problems.keepsWarnings ? (ofRows ?? markOfRow(row)) : undefined;
    const pointer =
      inItem === undefined || row.kind !== "object"
        ? undefined
        : `${file.format === "json" ? `/${index}` : ""}${inItem}`;
    problems.add({
      source: file.name,
      line: row.line,
      severity,
      ...rest,
      ...(pointer !== undefined && { pointer }),
      ...(mark !== undefined && { mark }),
    });
  }
  return isError;
}

/** By which a warning is known again when a later run would tell it once more: what its row holds, not where it stands. */
function markOfRow(row: Pick<Row, "kind" | "text">): string | undefined {
  return row.text === "" ? undefined : digest([row.kind, row.text]);
}

const digest = (parts: readonly string[]): string =>
  createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 32);

/** Why a row is not sent, for its rejects. */
export function reasonOf(findings: readonly Finding[], severityOf: (rule: string) => Severity): string {
  const errors = findings.filter(({ rule }) => severityOf(rule) === "error");
  const shown = (errors.length > 0 ? errors : findings).map(({ rule, message }) => `${rule}: ${message}`);
  // Several actions of a row may all lack the same.
  return [...new Set(shown)].join(" ");
}

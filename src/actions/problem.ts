import type { ActionRule } from "../rules.ts";

/** Why a text or a value is none of its field. */
export interface Fault<Rule extends string = ActionRule> {
  readonly rule: Rule;
  /** JSON pointer inside the value; absent for the value itself. */
  readonly inside?: string;
  /** The end of a sentence that begins with the field. */
  readonly what: string;
  readonly hint: string;
}

/** Where a row stands in the input. */
export interface SourceLine {
  /** Input file as the user named it; `-` is standard input. */
  readonly source: string;
  /** Physical line where the row starts, from 1; of a JSON array the index, from 0. */
  readonly line: number;
}

/** What a check says of one action or field, before it is known where the action came from. */
export interface Problem {
  /** Id of the rule that was broken; see docs/reference.md#rules. */
  readonly rule: string;
  /** Field name, when the problem is about one field. */
  readonly field?: string;
  /** Kind of action, where what it means differs from kind to kind. */
  readonly action?: string;
  /** JSON pointer inside the action object, such as `/data/price`. */
  readonly pointer?: string;
  /** The offending value as text, not yet shortened or cleaned. */
  readonly value?: string;
  /** What is wrong, as a sentence without the location. */
  readonly message: string;
  /** What to do. */
  readonly hint: string;
  /** Where the row that this one waits for stands, in a problem that says nothing else: the row is held for it. */
  readonly cause?: SourceLine;
  /** Of a warning: a digest of what the row holds, or all rows that it stands for, by which it is known again in a later export. */
  readonly mark?: string;
}

/** What a problem says of a field of an action and its value. */
export const about = (field: string, value: string) => ({ field, pointer: `/data/${field}`, value });

/** A problem with its place in an input file and its severity after the config's `rules`. */
export interface PlacedProblem extends Problem, SourceLine {
  readonly severity: "warn" | "error";
}

/** A problem about a whole file, with the line of the first row that shows it. */
export interface FileProblem extends Problem {
  readonly line?: number;
  /** It means nothing where only the first rows were read. */
  readonly isOfAllRows?: true;
}

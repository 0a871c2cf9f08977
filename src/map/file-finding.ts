import type { Finding } from "../actions/problem.ts";

/** A finding about a whole file, with the line of the first row that shows it. */
export interface FileFinding extends Finding {
  readonly line?: number;
  /** It means nothing where only the first rows were read. */
  readonly isOfAllRows?: true;
}

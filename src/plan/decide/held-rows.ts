/** Rows that are held: invalid only because of another row, their cause, and sent by themselves once that is mended. */

import type { Problem, SourceLine } from "../../actions/problem.ts";

/** A row that others wait for. */
export interface HeldFor extends SourceLine {
  readonly rows: number;
  /** The first of the rows that wait. */
  readonly first: readonly SourceLine[];
}

export interface HeldRows {
  note(row: SourceLine, cause: SourceLine): void;
  /** In the order in which their first row was held. */
  readonly causes: readonly HeldFor[];
}

/** As many rows of a cause are told by their place. */
const FIRST = 3;

export function createHeldRows(): HeldRows {
  const causes = new Map<string, SourceLine & { rows: number; readonly first: SourceLine[] }>();
  return {
    note(row, { source, line }) {
      const key = `${line} ${source}`;
      const cause = causes.get(key) ?? { source, line, rows: 0, first: [] };
      causes.set(key, cause);
      cause.rows += 1;
      if (cause.first.length < FIRST) cause.first.push({ source: row.source, line: row.line });
    },
    get causes() {
      return [...causes.values()];
    },
  };
}

/** What a row is held for, by its errors; undefined where it is invalid itself. */
export function causeOf(errors: readonly Problem[]): SourceLine | undefined {
  return errors.every(({ cause }) => cause !== undefined) ? errors[0]?.cause : undefined;
}

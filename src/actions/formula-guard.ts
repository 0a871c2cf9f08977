/**
 * `safeCsv`: an apostrophe before what a spreadsheet would take for a formula. A file that is guarded says so by a
 * column of its own, so that nothing is taken off where nothing was put on.
 */

/** Stands in the header of a guarded file, and has `yes` in each row. */
export const GUARDED_COLUMN = "tickets:guarded";

export const GUARDED = "yes";

/** Apostrophes before it count too: otherwise nothing would show whether the first of them is the guard. */
const FORMULA = /^'*[=+\-@\t\r＝＋－＠]/;

export const guardCell = (cell: string): string => (FORMULA.test(cell) ? `'${cell}` : cell);

/** The cell as it was before `guardCell`. */
export const unguardCell = (cell: string): string =>
  cell.startsWith("'") && FORMULA.test(cell) ? cell.slice(1) : cell;

/** Lines of a file that a quoted cell has swallowed: where one lone quote opens it and another, rows later, closes it. */

/** Which cell looks so, and on which physical lines it begins and ends. */
export interface RowsInCell {
  readonly column: number;
  readonly firstLine: number;
  readonly lastLine: number;
}

/**
 * The first cell of a row whose lines look like rows of the table: what stands before its first line break fills the row
 * that it begins in, what stands behind its last one the row that it ends in, and most lines between them are rows. In
 * tables of one column any lines look so, and of two columns any two: nothing is found. A delimiter
 * followed by a blank counts as prose, as in addresses, unless the table itself writes a blank after its delimiters.
 *
 * @param header its cells, as written.
 * @param line on which the row begins.
 * @param countLineEnds in a cell, as the reader counts them.
 */
export function findRowsInCell(
  cells: readonly string[],
  header: readonly string[],
  delimiter: string,
  line: number,
  countLineEnds: (text: string) => number,
): RowsInCell | undefined {
  if (cells.length < 2) return undefined;
  const counts = hasBlanks(header) || hasBlanks(cells) ? [unspacedIn, delimitersIn] : [unspacedIn];
  let firstLine = line;
  for (const [column, cell] of cells.entries()) {
    const lineEnds = countLineEnds(cell);
    if (counts.some((count) => looksLikeRows(cell, (text) => count(text, delimiter), column, cells.length)))
      return { column, firstLine, lastLine: firstLine + lineEnds };
    firstLine += lineEnds;
  }
  return undefined;
}

const LINE_BREAK = /\r\n|\n|\r/;

/** Whether most delimiters of a row have a blank behind them. */
const hasBlanks = ([, ...behind]: readonly string[]): boolean =>
  behind.filter((cell) => cell.startsWith(" ")).length * 2 > behind.length;

type Count = (text: string) => number;

function looksLikeRows(cell: string, delimiters: Count, column: number, columns: number): boolean {
  const [first, ...others] = cell.split(LINE_BREAK);
  const last = others.pop();
  if (first === undefined || last === undefined) return false;
  if (columns === 2 && others.every((line) => line === "")) return false;
  return (
    delimiters(first) === columns - column - 1 &&
    delimiters(last) === column &&
    mostAreRows(others, delimiters, columns)
  );
}

/** Whether at least half of the lines have as many cells as the table: rows may themselves be wrong. Blank lines don't count. */
function mostAreRows(lines: readonly string[], delimiters: Count, columns: number): boolean {
  const filled = lines.filter((line) => line !== "");
  return filled.filter((line) => delimiters(line) === columns - 1).length * 2 >= filled.length;
}

const delimitersIn = (text: string, delimiter: string): number => text.split(delimiter).length - 1;

/** Those that no blank follows. */
const unspacedIn = (text: string, delimiter: string): number =>
  text
    .split(delimiter)
    .slice(1)
    .filter((behind) => !behind.startsWith(" ")).length;

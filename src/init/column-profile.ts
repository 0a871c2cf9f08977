/** The cells of a column, counted: evidence for what it holds. */

/** The cells of one column in the rows that were looked at. */
export interface ColumnProfile {
  readonly name: string;
  /** Place in the header, from 0. */
  readonly index: number;
  /** Rows that were looked at. */
  readonly rows: number;
  readonly filled: number;
  /** Texts that are not empty, trimmed, with how often they occur. Complete: the rows are a bounded sample. */
  readonly values: ReadonlyMap<string, number>;
}

export function profileColumn(name: string, index: number, cells: readonly string[]): ColumnProfile {
  const values = new Map<string, number>();
  let filled = 0;
  for (const cell of cells) {
    const text = cell.trim();
    if (text === "") continue;
    filled += 1;
    values.set(text, (values.get(text) ?? 0) + 1);
  }
  return { name, index, rows: cells.length, filled, values };
}

/** Whether every row has a text here that no other row has. */
export const isUnique = ({ values, filled, rows }: ColumnProfile): boolean => filled === rows && values.size === rows;

/** Likewise of the rows that have a text here, which are nearly all. */
export const isUniqueButForGaps = ({ values, filled, rows }: ColumnProfile): boolean =>
  values.size === filled && filled * 20 >= rows * 19;

/** Whether texts begin with what an exporter puts before a formula's first character. */
export function hasGuards({ values }: ColumnProfile): boolean {
  return [...values.keys()].some((text) => /^'[=+\-@|%]/.test(text));
}

/** How many cells hold a text that passes the test. */
export function cellsThat(values: ReadonlyMap<string, number>, test: (text: string) => boolean): number {
  let cells = 0;
  for (const [text, times] of values) if (test(text)) cells += times;
  return cells;
}

/** Whether all texts match, or all but a few of many; the few become problems of their rows. */
export function areNearlyAll(texts: readonly string[], pattern: RegExp): boolean {
  const fits = texts.filter((text) => pattern.test(text)).length;
  return fits >= texts.length * (texts.length < 40 ? 1 : 0.95);
}

/** Whether all cells pass the test, or all but a few of many; the few become problems of their rows. */
export function areMost({ values, filled }: ColumnProfile, test: (text: string) => boolean): boolean {
  let fits = 0;
  for (const [text, times] of values) if (test(text)) fits += times;
  return filled > 0 && fits >= filled * (filled < 40 ? 1 : 0.95);
}

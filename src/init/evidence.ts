/** What the beginning of an export shows: its columns, and how its rows are written. */

import { readColumns } from "../map/named-columns.ts";
import { isTotalsWord } from "../map/totals.ts";
import { type Column, columnOf } from "./column.ts";
import { namesBlock, namesCount, says } from "./header-words.ts";

/** The beginning of an export. */
export interface Sample {
  /** Base name of the file. */
  readonly fileName: string;
  /** Headers of a table; of JSON rows the paths of their values. */
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** Whether the file ends with these rows. */
  readonly isWhole: boolean;
  /** Paths of lists in JSON rows; undefined for a table. */
  readonly lists?: readonly string[] | undefined;
  /** The list of tickets whose items are the rows: what is in a ticket is called `item.…`, or `item` if it is a text. */
  readonly items?: string | undefined;
  /** A list in these items, which may hold the tickets. */
  readonly inner?: string | undefined;
  /** Where it is not the comma. */
  readonly delimiter?: string | undefined;
  /** Where it is not UTF-8. */
  readonly encoding?: string | undefined;
  /** Where titles stand above it. */
  readonly headerLine?: number | "none" | undefined;
  /** Quotes in cells stand behind a backslash. */
  readonly isEscaped?: boolean | undefined;
  /** Where the rows are a list in a JSON object: its path. */
  readonly list?: string | undefined;
}

/** What is known of an export; its rows are those that are none of totals, its cells and names without blanks around them. */
export interface Evidence extends Readonly<ReturnType<typeof evidenceOf>> {}

export function evidenceOf(sample: Sample, others: readonly Sample[]) {
  const [header = [], ...trimmed] = [sample.header, ...sample.rows].map((cells) => cells.map((cell) => cell.trim()));
  const rows = trimmed.filter((cells) => !isOfTotals(cells));
  const isUsable = (name: string): boolean =>
    /^[^{}]+$/.test(name) && header.indexOf(name) === header.lastIndexOf(name);
  const columns = header.map((name, index): Column => {
    const cells = rows.map((row) => row[index] ?? "");
    return columnOf(name, index, cells);
  });
  const usable = columns.filter(({ name }) => isUsable(name));
  return {
    ...sample,
    header,
    rows,
    columns,
    /** Those that can be named in a rule: their header occurs once, and has no braces. They hold something, or nothing. */
    all: usable.filter(({ filled }) => filled > 0),
    empty: usable.filter(({ filled }) => filled === 0),
    /** The column and the word of a line of totals, where there is one. */
    totals: totalsIn(header, trimmed.find(isOfTotals)),
    /** Columns that only the first row of a block may fill. */
    blocks: sample.lists === undefined ? blocksIn(header, rows).filter(isUsable) : [],
    /** Columns named like fields. */
    fieldNames: readColumns(header),
    /** What was looked at: `all 3 rows`. */
    allRows: allRowsText(rows.length, sample),
    /** Headers that another file has too. */
    shared: new Set(others.flatMap((other) => other.header.map((name) => name.trim()))),
    column: (name: string) => columns.find((column) => column.name === name),
  };
}

/**
 * Columns that only the first row of a block fills: with the order or event that it is of, else two at least that are blank
 * wherever another says the same as in the row above. Without amounts, which may be those of the whole block.
 */
function blocksIn(header: readonly string[], rows: Sample["rows"]): readonly string[] {
  const signs = (isMarked: (cells: readonly string[], row: number) => boolean): string =>
    rows.map((cells, row) => (isMarked(cells, row) ? "x" : ".")).join("");
  const filled = header.map((_name, at) => signs((cells) => cells[at] !== ""));
  const isAmount = (name: string): boolean => says(name, "price", "inAll") && !says(name, "time");
  const filledAs = (wanted: ReadonlySet<string>): readonly string[] =>
    header.filter((name, at) => wanted.has(filled[at] ?? "") && !isAmount(name) && !namesCount(name));
  const own = filled.filter((sign, at) => /^x+\./.test(sign) && namesBlock(header[at] ?? ""));
  const likely = header.map((_name, at) => {
    const changes = signs((cells, row) => cells[at] !== rows[row - 1]?.[at]);
    const isName = filled[at]?.includes(".") === false && changes.includes(".") && changes.lastIndexOf("x") > 0;
    return isName ? filledAs(new Set([changes])) : [];
  });
  const [most = []] = likely.sort((one, other) => other.length - one.length);
  const sure = filledAs(new Set(own));
  if (sure.length > 0) return sure;
  return most.length > 1 ? most : [];
}

export const hasColumn = ({ header, lists = [] }: Evidence, name: string): boolean =>
  header.some((known) => known === name || (lists.length > 0 && known.startsWith(`${name}.`))) || lists.includes(name);

/** A row that is half empty, and has a word such as Total. */
const isOfTotals = (cells: readonly string[]): boolean =>
  cells.filter((cell) => cell !== "").length * 2 <= cells.length && cells.some(isTotalsWord);

/** An empty cell would not do: a row may lack it too, and its sale would be skipped. */
function totalsIn(
  header: readonly string[],
  totals: readonly string[] = [],
): Readonly<Record<string, string>> | undefined {
  const at = totals.findIndex((cell, at) => isTotalsWord(cell) && header[at] !== "");
  return at === -1 ? undefined : { [header[at] ?? ""]: totals[at] ?? "" };
}

function allRowsText(rows: number, { items, isWhole }: Sample): string {
  if (items !== undefined) return rows === 1 ? `the only item of ${items}` : `all ${rows} items of ${items}`;
  if (!isWhole) return `the first ${rows} rows`;
  return rows === 1 ? "the only row" : `all ${rows} rows`;
}

/** What the beginning of an export shows: its columns, and how its rows are written. */

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
  const given = trimmed.filter((cells) => !isOfTotals(cells));
  const isUsable = (name: string): boolean =>
    /^[^{}]+$/.test(name) && header.indexOf(name) === header.lastIndexOf(name);
  const fillDown = sample.lists === undefined ? blocksIn(header, given).filter(isUsable) : [];
  const rows = given.map((cells) => [...cells]);
  for (const at of fillDown.map((name) => header.indexOf(name)))
    for (const [row, cells] of rows.entries()) if (cells[at] === "") cells[at] = rows[row - 1]?.[at] ?? "";
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
    /** Columns that are filled in the first row of a block only. Their cells below are as if they were filled. */
    fillDown,
    /** Without such: columns that are blank wherever another says the same as in the row above. */
    mayFillDown: sample.lists === undefined && fillDown.length === 0 ? blanksBelow(usable, given) : [],
    /** What was looked at: `all 3 rows`. */
    allRows: allRowsText(rows.length, sample),
    /** Headers that another file has too. */
    shared: new Set(others.flatMap((other) => other.header.map((name) => name.trim()))),
    column: (name: string) => columns.find((column) => column.name === name),
  };
}

/**
 * Columns of orders or events that are filled in the first row and not in all, and those that are filled in the same rows;
 * without amounts, which may be those of the whole block.
 */
function blocksIn(header: readonly string[], rows: Sample["rows"]): readonly string[] {
  const filledIn = header.map((_name, at) => rows.map((cells) => (cells[at] === "" ? "." : "x")).join(""));
  const blocks = new Set(filledIn.filter((filled, at) => /^x+\..*$/.test(filled) && namesBlock(header[at] ?? "")));
  return header.filter(
    (name, at) => blocks.has(filledIn[at] ?? "") && !says(name, "price", "inAll") && !namesCount(name),
  );
}

/** Two columns at least that are filled in the first row of an order only, whose other rows have nothing but its name. */
function blanksBelow(columns: readonly Column[], rows: Sample["rows"]): readonly string[] {
  const filledIn = ({ index }: Column): string => rows.map((cells) => (cells[index] === "" ? "." : "x")).join("");
  const keys = columns.filter(({ filled, distinct }) => filled === rows.length && distinct > 1 && distinct < filled);
  const found = keys.map(({ index }) => {
    const firsts = rows.map((cells, at) => (cells[index] === rows[at - 1]?.[index] ? "." : "x")).join("");
    return columns.filter((column) => filledIn(column) === firsts && firsts.includes("."));
  });
  const [most = []] = found.sort((one, other) => other.length - one.length);
  const isOther = ({ name, amounts }: Column): boolean =>
    !(amounts !== undefined && says(name, "price", "inAll")) && !namesCount(name);
  const names = most.filter(isOther).map(({ name }) => name);
  return names.length > 1 ? names : [];
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

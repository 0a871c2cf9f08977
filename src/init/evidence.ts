/** What the beginning of an export shows: its columns, and how its rows are written. */

import { datesIn } from "../map/file-date.ts";
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

/** What is known of an export; its rows are those that are none of totals, their cells without blanks around them. */
export interface Evidence extends Sample {
  readonly columns: readonly Column[];
  /** Those that can be named in a rule: their header occurs once, and has no braces. They hold something, or nothing. */
  readonly all: readonly Column[];
  readonly empty: readonly Column[];
  /** The word of a line of totals, where there is one. */
  readonly totals: { readonly column: string; readonly text: string } | undefined;
  /** Columns that are filled in the first row of a block only. Their cells below are as if they were filled. */
  readonly fillDown: readonly string[];
  /** What was looked at: `all 3 rows`. */
  readonly allRows: string;
  /** Whether `{file.date}` has one in the file's name. */
  readonly hasFileDate: boolean;
  /** Headers that another file has too. */
  readonly shared: ReadonlySet<string>;
  column(name: string): Column | undefined;
}

export function evidenceOf(sample: Sample, others: readonly Sample[]): Evidence {
  const trimmed = sample.rows.map((cells) => cells.map((cell) => cell.trim()));
  const given = trimmed.filter((cells) => !isOfTotals(cells));
  const blocks = sample.lists === undefined ? blocksIn(sample.header, given) : [];
  const rows = given.map((cells) => [...cells]);
  for (const at of blocks)
    for (const [row, cells] of rows.entries()) if (cells[at] === "") cells[at] = rows[row - 1]?.[at] ?? "";
  const columns = sample.header.map((header, index) =>
    columnOf(
      header.trim(),
      index,
      rows.map((cells) => cells[index] ?? ""),
    ),
  );
  const ofName = Map.groupBy(columns, ({ name }) => name);
  const usable = columns.filter(({ name }) => /^[^{}]+$/.test(name) && ofName.get(name)?.length === 1);
  return {
    ...sample,
    rows,
    columns,
    all: usable.filter(({ filled }) => filled > 0),
    empty: usable.filter(({ filled }) => filled === 0),
    fillDown: blocks.flatMap((at) => sample.header[at]?.trim() ?? []),
    totals: totalsIn(sample.header, trimmed.find(isOfTotals)),
    allRows: allRowsText(rows.length, sample),
    hasFileDate: datesIn(sample.fileName).length === 1,
    shared: new Set(others.flatMap(({ header }) => header.map((name) => name.trim()))),
    column: (name) => columns.find((column) => column.name === name),
  };
}

/**
 * Columns of orders or events that are filled in the first row and not in all, and those that are filled in the same rows;
 * without amounts, which may be those of the whole block.
 */
function blocksIn(header: readonly string[], rows: Sample["rows"]): readonly number[] {
  const filledIn = header.map((_name, at) => rows.map((cells) => (cells[at] === "" ? "." : "x")).join(""));
  const isBlock = (filled: string): boolean => /^x+\..*$/.test(filled);
  const blocks = new Set(filledIn.filter((filled, at) => isBlock(filled) && namesBlock(header[at] ?? "")));
  return [...header.keys()].filter((at) => {
    const name = header[at]?.trim() ?? "";
    const isUsable = /^[^{}]+$/.test(name) && header.filter((other) => other.trim() === name).length === 1;
    return isUsable && blocks.has(filledIn[at] ?? "") && !says(name, "price", "inAll") && !namesCount(name);
  });
}

export function hasColumn({ header, lists = [] }: Sample, name: string): boolean {
  return (
    header.some((known) => known.trim() === name || (lists.length > 0 && known.startsWith(`${name}.`))) ||
    lists.some((list) => list === name)
  );
}

/** A row that is half empty, and has a word such as Total. */
const isOfTotals = (cells: readonly string[]): boolean =>
  cells.filter((cell) => cell !== "").length * 2 <= cells.length && cells.some(isTotalsWord);

/** An empty cell would not do: a row may lack it too, and its sale would be skipped. */
function totalsIn(header: readonly string[], totals: readonly string[] = []) {
  const at = totals.findIndex((cell, at) => isTotalsWord(cell) && header[at]?.trim() !== "");
  return at === -1 ? undefined : { column: header[at]?.trim() ?? "", text: totals[at] ?? "" };
}

function allRowsText(rows: number, { items, isWhole }: Sample): string {
  if (items !== undefined) return rows === 1 ? `the only item of ${items}` : `all ${rows} items of ${items}`;
  if (!isWhole) return `the first ${rows} rows`;
  return rows === 1 ? "the only row" : `all ${rows} rows`;
}

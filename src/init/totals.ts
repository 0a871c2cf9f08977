/** Lines of totals below the rows of an export: they are no rows, and are left out by what they lack. */

import { isTotalsWord } from "../map/totals.ts";
import type { Entry } from "./config-text.ts";

interface Table {
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

const isFilled = (cell: string): boolean => cell.trim() !== "";

/** A row that is half empty, and has a word such as Total. */
const isOfTotals = (cells: readonly string[]): boolean =>
  cells.filter(isFilled).length * 2 <= cells.length && cells.some(isTotalsWord);

/** The rows that are none of totals. */
export const withoutTotals = ({ rows }: Table): readonly (readonly string[])[] =>
  rows.filter((cells) => !isOfTotals(cells));

/** `skip` for them: by a column that only they leave empty, else by their word. */
export function skipTotals({ header, rows }: Table): readonly Entry[] {
  const [totals] = rows.filter(isOfTotals);
  if (totals === undefined) return [];
  const others = rows.filter((cells) => !isOfTotals(cells));
  const at = header.findIndex(
    (_name, place) => !isFilled(totals[place] ?? "") && others.every((cells) => isFilled(cells[place] ?? "")),
  );
  const place = at === -1 ? totals.findIndex(isTotalsWord) : at;
  const value = { flow: [[header[place]?.trim() ?? "", totals[place]?.trim() ?? ""] as const] };
  return [{ key: "skip", value, note: "a line of totals is no row" }];
}

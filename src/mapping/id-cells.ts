/** The cells that an id is put together from. They are watched for the same faults as a whole id. */

import type { FieldName } from "../actions/fields.ts";
import { looksMangled, mangledId } from "../actions/mangled-ids.ts";
import type { Finding } from "../actions/problem.ts";
import { cleanText } from "../actions/text.ts";
import { looseNumber } from "../map/exact-numbers.ts";
import { isTotalsWord } from "../map/totals-words.ts";
import type { IdCell, Names, Read } from "./names.ts";

/** Compiles with the names, and tells the scope of each cell in the id that does not look like part of one. */
export function watchIdCells(field: FieldName, names: Names, compile: (names: Names) => Read): Read {
  const columns: string[] = [];
  /** What each column held when it was last read; the rules of an id need not read all of them. */
  const texts: string[] = [];
  const areLoose: boolean[] = [];
  const read = compile({
    read(name, path) {
      const cell = names.read(name, path);
      const at = columns.push(name) - 1;
      return (scope) => {
        scope.isLoose = false;
        const text = cell(scope);
        texts[at] = text;
        areLoose[at] = scope.isLoose;
        return text;
      };
    },
  });
  if (columns.length === 0) return read;
  const mayBeSum = isOfTicket(field);
  return (scope) => {
    for (let at = 0; at < columns.length; at += 1) texts[at] = "";
    const id = read(scope);
    if (id === "" || scope.onIdCell === undefined) return id;
    for (let at = 0; at < columns.length; at += 1) {
      const text = texts[at] ?? "";
      // What a value table replaced is not part of the id.
      if (text === "" || !id.includes(text)) continue;
      if (areLoose[at]) scope.onIdCell({ field, column: columns[at] ?? "", text, isLoose: true });
      // A cell that is the whole id is checked with the action.
      if (text === id) continue;
      if (looksMangled(text) || (mayBeSum && isTotalsWord(text)))
        scope.onIdCell({ field, column: columns[at] ?? "", text });
    }
    return id;
  };
}

const isOfTicket = (field: FieldName): boolean => field === "ticketId" || field === "nftId";

/** What is likely wrong with the cells; the same cell in several actions gives one finding. */
export function strangeCells(cells: readonly IdCell[]): readonly Finding[] {
  const found = new Map<string, Finding>();
  for (const { field, column, text, isLoose = false } of cells) {
    const key = JSON.stringify([field, column, text, isLoose]);
    if (isLoose) found.set(key, looseNumber(field, text, column));
    else if (looksMangled(text)) found.set(key, mangledId(field, text, cleanText(column, 60)));
  }
  return [...found.values()];
}

/** The word by which one of the cells calls its row a sum. */
export function totalsCell(cells: readonly IdCell[]): string | undefined {
  return cells.find(({ field, text }) => isOfTicket(field) && isTotalsWord(text))?.text;
}

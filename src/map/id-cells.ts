/** The cells that an id is put together from. They are watched for the same faults as a whole id. */

import type { FieldName } from "../actions/fields.ts";
import { looksMangled, mangledId } from "../actions/mangled-ids.ts";
import type { Finding } from "../actions/problem.ts";
import { cleanText } from "../actions/text.ts";
import { looseNumber } from "./exact-numbers.ts";
import type { IdCell, Names, Read } from "./scope.ts";
import { isTotalsWord } from "./totals-words.ts";

/** Compiles with the names, and tells the scope of each cell in the id that does not look like part of one. */
export function watchIdCells(field: FieldName, names: Names, compile: (names: Names) => Read): Read {
  /** What each column held when it was last read; the rules of an id need not read all of them. */
  const cells: { readonly column: string; text: string; isLoose: boolean }[] = [];
  const read = compile({
    read(column, path) {
      const cell = { column, text: "", isLoose: false };
      cells.push(cell);
      const readCell = names.read(column, path);
      return (scope) => {
        scope.isLoose = false;
        cell.text = readCell(scope);
        cell.isLoose = scope.isLoose;
        return cell.text;
      };
    },
  });
  const mayBeSum = isOfTicket(field);
  return (scope) => {
    for (const cell of cells) cell.text = "";
    const id = read(scope);
    if (id === "") return id;
    for (const { column, text, isLoose } of cells) {
      // What a value table replaced is not part of the id.
      if (text === "" || !id.includes(text)) continue;
      if (isLoose) scope.idCells.push({ field, column, text, isLoose });
      // A cell that is the whole id is checked with the action.
      if (text !== id && (looksMangled(text) || (mayBeSum && isTotalsWord(text))))
        scope.idCells.push({ field, column, text, isLoose: false });
    }
    return id;
  };
}

const isOfTicket = (field: FieldName): boolean => field === "ticketId" || field === "nftId";

/** What is likely wrong with the cells; the same cell in several actions gives one finding. */
export function strangeCells(cells: readonly IdCell[]): readonly Finding[] {
  const found = new Map<string, Finding>();
  for (const { field, column, text, isLoose } of cells) {
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

/** The cells that an id is put together from are watched for the same faults as a whole id. */

import type { FieldName } from "../actions/fields.ts";
import { mangled } from "../actions/mangled.ts";
import { cleanText } from "../actions/text.ts";
import { looseNumber } from "./exact-numbers.ts";
import type { Names, Read } from "./scope.ts";
import { isTotalsWord } from "./totals.ts";

/** Compiles with the names, and notes in the scope each cell of the id that does not look like part of one. */
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
  const mayBeSum = field === "ticketId" || field === "nftId";
  return (scope) => {
    for (const cell of cells) cell.text = "";
    const id = read(scope);
    if (id === "") return id;
    for (const { column, text, isLoose } of cells) {
      // What a value table replaced is not part of the id.
      if (text === "" || !id.includes(text)) continue;
      if (isLoose) scope.likely.push(looseNumber(field, text, column));
      // A cell that is the whole id is checked with the action.
      if (text === id) continue;
      const flaw = mangled(text);
      if (flaw !== undefined) {
        const message = `${cleanText(column, 60)}, a part of ${field}, ${flaw.what}.`;
        scope.likely.push({ rule: "id-looks-mangled", field, value: text, message, hint: flaw.hint });
      }
      if (mayBeSum && isTotalsWord(text)) scope.totals ??= text;
    }
    return id;
  };
}

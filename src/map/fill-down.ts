/** Blank cells that take the value of the row above, as exports write the rows of one order. */

import type { MappingRule } from "./rules.ts";
import type { Scope } from "./scope.ts";

interface Filled {
  readonly label: string;
  readonly place: number;
}

export class FillDown {
  readonly #columns: readonly { readonly label: string; readonly place: number; above: string }[];
  readonly #isRejects: boolean;

  /** @param isRejects whether the rows come from a rejects file, where the row above is not the one above it in the export. */
  constructor(columns: readonly Filled[], isRejects: boolean) {
    this.#columns = columns.map((column) => ({ ...column, above: "" }));
    this.#isRejects = isRejects;
  }

  /** Gives the scope's cells what they take from above; what can't be filled is a finding. */
  fill(scope: Scope): void {
    const given = scope.cells;
    let whole: string[] | undefined;
    for (const column of this.#columns) {
      const cell = given[column.place] ?? "";
      if (cell !== "") column.above = cell;
      else if (column.above === "" || this.#isRejects) scope.findings.push(unfilled(column.label, this.#isRejects));
      else {
        whole ??= [...given];
        whole[column.place] = column.above;
      }
    }
    if (whole !== undefined) scope.cells = whole;
  }

  /** Called for a row that could not be read: what it held is not known. */
  forget(): void {
    for (const column of this.#columns) column.above = "";
  }
}

const unfilled = (label: string, isRejects: boolean) => ({
  rule: "fill-down-empty" satisfies MappingRule,
  field: label,
  message: isRejects
    ? `${label} is empty, and the row above in this file is not the one above it in the export.`
    : `${label} is empty, and no readable row above can fill it.`,
  hint: isRejects ? "Write the value that it had." : "Write the value into the first row that has it.",
});

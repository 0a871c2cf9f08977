/** Blank cells that take the value of the row above, as exports write the rows of one order. */

import type { Finding } from "../actions/problem.ts";
import { MappingError, type RulePath } from "../map/mapping-error.ts";
import type { MappingRule } from "../map/rules.ts";
import type { Columns } from "./names.ts";

export type FillDown = ReturnType<typeof compileFillDown>;

/**
 * @param isRejects whether the rows come from a rejects file, where the row above is not the one above it in the export.
 * @throws MappingError for rows of JSON, and for missing columns.
 */
export function compileFillDown(
  config: string | readonly string[],
  columns: Columns,
  isJson: boolean,
  isRejects: boolean,
  path: RulePath,
) {
  if (isJson) throw new MappingError(path, "needs a table; rows of JSON have no cell above");
  const filled = [config].flat().map((label, at) => ({
    label,
    index: columns.indexOf(label, Array.isArray(config) ? [...path, at] : path),
    above: "",
  }));
  return {
    /** The cells with what they take from above; what can't be filled is a finding. */
    fill(cells: readonly string[], findings: Finding[]): readonly string[] {
      let whole: string[] | undefined;
      for (const column of filled) {
        const { label, index, above } = column;
        const cell = cells[index] ?? "";
        if (cell.trim() !== "") column.above = cell;
        else if (above !== "" && !isRejects) {
          whole ??= [...cells];
          whole[index] = above;
        } else
          findings.push({
            rule: "fill-down-empty" satisfies MappingRule,
            field: label,
            message: isRejects
              ? `${label} is empty, and the row above in this file is not the one above it in the export.`
              : `${label} is empty, and no readable row above can fill it.`,
            hint: isRejects ? "Write the value that it had." : "Write the value into the first row that has it.",
          });
      }
      return whole ?? cells;
    },
    /** Called for a row that could not be read: what it held is not known. */
    forget(): void {
      for (const column of filled) column.above = "";
    },
  };
}

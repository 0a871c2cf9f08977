import { parseJson } from "../../../src/actions/json.ts";
import { CellsRow, type Row } from "../../../src/read/row.ts";

/** A row of a table as it is read: the text that `values` make, each in quotes. */
export function cellsRow(line: number, values: readonly string[]): CellsRow {
  const text = values.map((value) => `"${value.replaceAll('"', '""')}"`).join(",");
  return new CellsRow(line, values, text, { header: values });
}

/** One in line 2. */
export function cells(...values: string[]): Row {
  return cellsRow(2, values);
}

/** A JSON row as a reader gives it. */
export function json(text: string): Row {
  const value = parseJson(text);
  if (typeof value !== "object" || value === null) throw new Error("not an object");
  return { kind: "object", line: 1, value: Object.fromEntries(Object.entries(value)), text };
}

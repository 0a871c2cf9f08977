/** A flat row of JSON as a table would have it: its values as texts, and attributes as a list. */

import { ExactNumber, typeName } from "../actions/exact-number.ts";
import { type FieldName, fieldSpec } from "../actions/fields.ts";
import type { Finding } from "../actions/problem.ts";
import type { Row } from "../read/row.ts";
import { isLoose, looseNumber, writtenNumber } from "./exact-numbers.ts";

export type Cell = string | readonly unknown[];

/** A key that is read, by its place. */
export interface ReadKey {
  readonly index: number;
  readonly field: FieldName | "action";
}

export interface FlatCells {
  /** By the place of the key; '' for what is empty or not read. */
  readonly cells: readonly Cell[];
  readonly findings: Finding[];
  /** What to report of ids that are numbers, should their field be used. */
  readonly loose: readonly { readonly field: FieldName; readonly finding: Finding }[];
}

export function cellsOfObject(
  row: Extract<Row, { kind: "object" }>,
  names: readonly string[],
  keys: readonly ReadKey[],
): FlatCells {
  const cells: Cell[] = new Array(names.length).fill("");
  const findings: Finding[] = [];
  const loose: { field: FieldName; finding: Finding }[] = [];
  for (const { index, field } of keys) {
    const key = names[index] ?? "";
    const value = row.value[key];
    if (value === null || value === undefined) continue;
    if (typeof value === "string") cells[index] = value.trim();
    else if (typeof value === "number" || typeof value === "bigint" || value instanceof ExactNumber) {
      const written = writtenNumber(row, key);
      cells[index] = written;
      if (field !== "action" && isId(field) && isLoose(written))
        loose.push({ field, finding: looseNumber(field, written, field) });
    } else if (field === "metadataAttributes" && Array.isArray(value)) cells[index] = value;
    else
      findings.push({
        rule: "field-type",
        field,
        ...(typeof value === "boolean" && { value: String(value) }),
        message: `${field} is ${typeName(value)}, which a flat row can't hold.`,
        hint: `Give it as text or a number, or say in a source which part of it is meant, such as ${field}: "{${key}.${Object.keys(Object(value))[0] ?? "id"}}".`,
      });
  }
  return { cells, findings, loose };
}

/** Whether a field names something, such as userId. */
const isId = (field: FieldName): boolean => fieldSpec(field).kind === "id" || fieldSpec(field).kind === "nftId";

/** Rows of any query as NDJSON or CSV. */

import { rawJson } from "../actions/exact-number.ts";
import { GUARDED, GUARDED_COLUMN, guardCell } from "../actions/formula-guard.ts";
import { stringifyJson } from "../actions/json.ts";
import { escapeUnseen } from "../actions/text.ts";
import type { Cell } from "../ledger/query.ts";
import { csvText } from "./csv-text.ts";
import { delimiterOf, type PromiseFormat } from "./promise-lines.ts";

/** A cell as text: integers with all digits, bytes in hexadecimal digits, nothing for NULL. */
export function cellText(cell: Cell): string {
  if (cell === null) return "";
  if (cell instanceof Uint8Array) return Buffer.from(cell).toString("hex");
  return typeof cell === "number" ? realText(cell) : String(cell);
}

/** As SQLite writes a real number, so that 1.0 is told from 1. */
const realText = (value: number): string => {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "Inf" : "-Inf";
  return Number.isInteger(value) && Math.abs(value) < 1e21 ? value.toFixed(1) : String(value);
};

function jsonValue(cell: Cell): unknown {
  if (cell instanceof Uint8Array) return cellText(cell);
  // JSON has neither; of this readers make an infinity.
  if (Number.isNaN(cell)) return "NaN";
  if (typeof cell === "number") return rawJson(realText(cell).replace("Inf", "1e999"));
  return cell;
}

/** One row as a JSON object. */
export const rowObject = (columns: readonly string[], row: readonly Cell[]): string =>
  escapeUnseen(stringifyJson(Object.fromEntries(columns.map((name, at) => [name, jsonValue(row[at] ?? null)]))));

/** What stands above the rows, and each row as a line. */
export function* rowLines(
  { columns, rows }: { readonly columns: readonly string[]; readonly rows: Iterable<readonly Cell[]> },
  format: PromiseFormat,
  safeCsv: boolean,
): Generator<string> {
  const delimiter = delimiterOf(format);
  if (delimiter === undefined) {
    for (const row of rows) yield `${rowObject(columns, row)}\n`;
    return;
  }
  const line = (cells: readonly string[]): string => csvText([cells], delimiter);
  yield line(safeCsv ? [...columns, GUARDED_COLUMN] : columns);
  for (const row of rows) {
    const cells = row.map((cell) => (safeCsv && typeof cell === "string" ? guardCell(cell) : cellText(cell)));
    yield line(safeCsv ? [...cells, GUARDED] : cells);
  }
}

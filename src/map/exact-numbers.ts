import { ExactNumber } from "../actions/exact-number.ts";
import type { FieldName } from "../actions/fields.ts";
import type { Finding } from "../actions/problem.ts";
import type { Row } from "../read/row.ts";
import { cleanText } from "../text.ts";
import type { MappingRule } from "./rules.ts";

/**
 * A number in JSON that `String` might not give back as it was written, such as `12.50`, `1e3` and `-0`. The character before
 * it keeps digits inside texts from matching, since reading a row this way takes as long as all the rest.
 */
const INEXACT = /[:,[\s](?:-?\d+[.eE]|-0)/;

type ObjectRow = Extract<Row, { kind: "object" }>;

/** The row with its numbers as they were written: as an `ExactNumber` where programs write them in several ways. */
export function withExactNumbers(row: ObjectRow): ObjectRow["value"] {
  if (!INEXACT.test(row.text)) return row.value;
  // A row's text is the JSON object that its value was parsed from.
  return JSON.parse(row.text, asWritten) as ObjectRow["value"];
}

const asWritten = (_key: string, value: unknown, context?: { readonly source?: string }): unknown => {
  if (typeof value !== "number" || context?.source === undefined) return value;
  return isLoose(context.source) ? new ExactNumber(context.source) : context.source;
};

const PLAIN = /^-?[1-9]\d*$|^0$/;

/** Whether programs write the number in several ways: with a fraction, an exponent, or a sign before zero. */
export const isLoose = (written: string): boolean => !PLAIN.test(written);

const NUMBER_VALUE = /\s*:\s*(-?[\d.eE+-]+)/y;

/** The number of a key of the row, as it is written. @param key which needs no escapes in JSON. */
export function writtenNumber(row: ObjectRow, key: string): string {
  const quoted = `"${key}"`;
  const at = row.text.indexOf(quoted);
  // Whatever else is written so may be the key of an object in the row.
  const isOnly = at !== -1 && row.text.indexOf(quoted, at + 1) === -1;
  NUMBER_VALUE.lastIndex = at + quoted.length;
  const written = isOnly ? NUMBER_VALUE.exec(row.text)?.[1] : undefined;
  return written ?? String(withExactNumbers(row)[key]);
}

/** @param column which stands for the id, or for a part of it. */
export function looseNumber(field: FieldName, value: string, column: string): Finding {
  const what = column === field ? `${field} is` : `${cleanText(column, 60)} gives ${field}`;
  return {
    rule: "id-number-spelling" satisfies MappingRule,
    field,
    value,
    message: `${what} a number that the next export may write differently, which would make it another id.`,
    hint: "Have the export give it as text, or without fraction and exponent.",
  };
}

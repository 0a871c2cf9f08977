import { ExactNumber } from "../actions/exact-number.ts";
import type { FieldName } from "../actions/fields.ts";
import type { Problem } from "../actions/problem.ts";
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
  const exact = new ExactNumber(context.source);
  return isLoose(exact) ? exact : context.source;
};

const PLAIN = /^-?[1-9]\d*$|^0$/;

/** Whether programs write a number in several ways: with a fraction, an exponent, or a sign before zero. */
export const isLoose = ({ text }: ExactNumber): boolean => !PLAIN.test(text);

/** @param column which stands for the id, or for a part of it. */
export function looseNumber(field: FieldName, value: string, column: string): Problem {
  const what = column === field ? `${field} is` : `${cleanText(column, 60)} gives ${field}`;
  return {
    rule: "id-number-spelling" satisfies MappingRule,
    field,
    value,
    message: `${what} a number that the next export may write differently, which would make it another id.`,
    hint: "Have the export give it as text, or without fraction and exponent.",
  };
}

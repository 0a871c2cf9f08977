import type { Row } from "../read/row.ts";

/**
 * A number in JSON that `String` might not give back as it was written, such as `12.50`, `1e3` and `-0`. The character before
 * it keeps digits inside texts from matching, since reading a row this way takes as long as all the rest.
 */
const INEXACT = /[:,[\s](?:-?\d+[.eE]|-0)/;

/** A number of JSON that programs write in several ways: with a fraction, an exponent, or a sign before zero. */
export class LooseNumber {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** As it was written. */
  toString(): string {
    return this.#text;
  }
}

type ObjectRow = Extract<Row, { kind: "object" }>;

/** The row with every number as it was written: as text where `String` of the value might differ. */
export const withExactNumbers = (row: ObjectRow): ObjectRow["value"] => reread(row, asWritten);

/** The same for those who need to know which texts were such numbers. */
export const withLooseNumbers = (row: ObjectRow): ObjectRow["value"] => reread(row, asLoose);

type Reviver = (key: string, value: unknown, context?: { readonly source?: string }) => unknown;

function reread(row: ObjectRow, reviver: Reviver): ObjectRow["value"] {
  if (!INEXACT.test(row.text)) return row.value;
  // A row's text is the JSON object that its value was parsed from.
  return JSON.parse(row.text, reviver) as ObjectRow["value"];
}

const asWritten: Reviver = (_key, value, context) => (typeof value === "number" ? (context?.source ?? value) : value);

const PLAIN = /^-?[1-9]\d*$|^0$/;

const asLoose: Reviver = (_key, value, context) => {
  if (typeof value !== "number" || context?.source === undefined) return value;
  return PLAIN.test(context.source) ? context.source : new LooseNumber(context.source);
};

import type { Row } from "./row.ts";

/**
 * A number in JSON that `String` might not give back as it was written, such as `12.50`, `1e3` and `-0`. The character before
 * it keeps digits inside texts from matching, since reading a row this way takes as long as all the rest.
 */
const INEXACT = /[:,[\s](?:-?\d+[.eE]|-0)/;

/** The row with every number as it was written: as text where `String` of the value might differ. */
export function withExactNumbers(row: Extract<Row, { kind: "object" }>): Readonly<Record<string, unknown>> {
  if (!INEXACT.test(row.text)) return row.value;
  // A row's text is the JSON object that its value was parsed from.
  return JSON.parse(row.text, asWritten) as Readonly<Record<string, unknown>>;
}

function asWritten(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  return typeof value === "number" ? (context?.source ?? value) : value;
}

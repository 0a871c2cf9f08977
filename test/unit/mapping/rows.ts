import { parseJson } from "../../../src/actions/json.ts";
import type { Row } from "../../../src/read/row.ts";

/** A CSV row as a reader gives it. */
export function cells(...values: string[]): Row {
  return { kind: "cells", line: 2, cells: values };
}

/** A JSON row as a reader gives it. */
export function json(text: string): Row {
  const value = parseJson(text);
  if (typeof value !== "object" || value === null) throw new Error("not an object");
  return { kind: "object", line: 1, value: Object.fromEntries(Object.entries(value)), text };
}

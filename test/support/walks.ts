import { test } from "vitest";

/** A test that costs seconds, and whose neighbour shows most of the same: the short walk leaves it out. */
export const LONG = { tags: ["long"] };

/**
 * A test for each row.
 *
 * @param short those of the short walk, or the first of so many: the long one has the others.
 */
export function testEach<Row>(
  name: string,
  rows: readonly Row[],
  short: number | ((row: Row) => boolean),
  body: (row: Row) => void | Promise<void>,
  options: { readonly skip?: boolean } = {},
): void {
  const isShort = (row: Row, at: number): boolean => (typeof short === "number" ? at % short === 0 : short(row));
  test.for(rows.filter(isShort))(name, options, (row) => body(row));
  test.for(rows.filter((row, at) => !isShort(row, at)))(name, { ...LONG, ...options }, (row) => body(row));
}

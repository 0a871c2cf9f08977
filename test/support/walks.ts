/** Rows of a table of tests: the short walk has each `nth`, from the first, and the long one the others. */
export function forWalks<Row>(
  rows: readonly Row[],
  nth: number,
): { readonly short: readonly Row[]; readonly long: readonly Row[] } {
  return {
    short: rows.filter((_, at) => at % nth === 0),
    long: rows.filter((_, at) => at % nth !== 0),
  };
}

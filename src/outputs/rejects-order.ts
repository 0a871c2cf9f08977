/** In which order the rows of a rejects file stand: that of their inputs, whenever they were found open. Pure. */

/** A row that stands in the file. */
interface StandingRow {
  /** Its place in the present run's input, where it is one of its rows. */
  readonly number: number | undefined;
  /** Only a later run than the present one has found it open. */
  readonly isBehind: boolean;
}

/**
 * Puts the rows that were found open now between those that stand there, which stay as they are among themselves: before the
 * first one that the input has behind it, and before those of later runs.
 *
 * @param fresh in the order of the input.
 */
export function inOrder<Standing extends StandingRow, Fresh extends { readonly number: number }>(
  standing: readonly Standing[],
  fresh: readonly Fresh[],
): readonly (Standing | Fresh)[] {
  const ordered: (Standing | Fresh)[] = [];
  const leastFrom = leastNumbers(standing);
  let next = 0;
  for (const [at, row] of standing.entries()) {
    for (let each = fresh[next]; each !== undefined; each = fresh[next]) {
      const isHere =
        row.number === undefined ? row.isBehind && (leastFrom[at] ?? 0) > each.number : row.number > each.number;
      if (!isHere) break;
      ordered.push(each);
      next += 1;
    }
    ordered.push(row);
  }
  return [...ordered, ...fresh.slice(next)];
}

/** Of each row, the least number of it and those behind it. */
function leastNumbers(rows: readonly StandingRow[]): readonly number[] {
  const least: number[] = [];
  let so = Number.POSITIVE_INFINITY;
  for (const { number } of rows.toReversed()) {
    so = Math.min(so, number ?? so);
    least.push(so);
  }
  return least.toReversed();
}

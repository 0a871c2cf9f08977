/** In which order the rows of a rejects file stand: that of their inputs, whenever they were found open. Pure. */

/** A row that stands in the file. */
interface StandingRow {
  /** Its place in the present run's input, where it is one of its rows. */
  readonly number: number | undefined;
  /** Only a later run than the present one has found it open. */
  readonly isBehind: boolean;
  readonly histories: ReadonlySet<string>;
}

interface FreshRow {
  readonly number: number;
  /** Histories of which it is known to have a deed (hex). */
  readonly histories: ReadonlySet<string>;
}

/**
 * Puts the rows that were found open now between those that stand there, which stay as they are among themselves: before the
 * first one that the input has behind it, and before those of later runs. A row that shares a history with some that stand there
 * is placed by these: others may be equal to rows of the input and yet be other ones, of another night.
 *
 * @param fresh in the order of the input.
 */
export function inOrder<Standing extends StandingRow, Fresh extends FreshRow>(
  standing: readonly Standing[],
  fresh: readonly Fresh[],
): readonly (Standing | Fresh)[] {
  const byHistory = placesByHistory(standing);
  const least = leastNumbers(standing);
  /** By history, the place of the last of `fresh`. */
  const last = new Map<string, number>();
  const before = new Map<number, Fresh[]>();
  let next = 0;
  for (const row of fresh) {
    while (next < standing.length && !isBehind(standing, least, next, row)) next += 1;
    const places = [...row.histories].flatMap((history) => byHistory.get(history) ?? []);
    const { from, to } = span(
      standing,
      places.toSorted((one, other) => one - other),
      row,
    );
    const after = Math.max(from, ...[...row.histories].map((history) => last.get(history) ?? 0));
    const place = Math.max(after, Math.min(next, to));
    for (const history of row.histories) last.set(history, place);
    const here = before.get(place);
    if (here === undefined) before.set(place, [row]);
    else here.push(row);
  }
  return [...standing, undefined].flatMap((row, at) => [
    ...(before.get(at) ?? []),
    ...(row === undefined ? [] : [row]),
  ]);
}

/** Between which places a row is to be put, by the rows at the given ones alone. */
function span(
  standing: readonly StandingRow[],
  places: readonly number[],
  row: FreshRow,
): { readonly from: number; readonly to: number } {
  const related = places.flatMap((place) => standing[place] ?? []);
  const least = leastNumbers(related);
  const found = related.findIndex((_, at) => isBehind(related, least, at, row));
  const end = found === -1 ? related.length : found;
  return { from: end === 0 ? 0 : (places[end - 1] ?? 0) + 1, to: places[end] ?? standing.length };
}

/** Whether the row that stands at a place comes behind a fresh one. */
function isBehind(standing: readonly StandingRow[], least: readonly number[], at: number, row: FreshRow): boolean {
  const each = standing[at];
  if (each === undefined) return false;
  return each.number === undefined ? each.isBehind && (least[at] ?? 0) > row.number : each.number > row.number;
}

function placesByHistory(rows: readonly StandingRow[]): ReadonlyMap<string, readonly number[]> {
  const places = new Map<string, number[]>();
  for (const [at, { histories }] of rows.entries())
    for (const history of histories) {
      const own = places.get(history);
      if (own === undefined) places.set(history, [at]);
      else own.push(at);
    }
  return places;
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

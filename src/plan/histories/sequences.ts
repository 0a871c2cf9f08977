/** Where the accepted deeds of a history stand among those of an input, by their order. Numbers are places. */

/** A deed of the input, with the accepted one that it is. */
export interface Pair {
  readonly at: number;
  readonly of: number;
}

/** Places of all of `accepted` among `ats`, in their order, if there is only one way to find them. */
export function onlyWay(
  accepted: readonly number[],
  ats: readonly number[],
  fits: (of: number, at: number) => boolean,
): readonly Pair[] | undefined {
  const first = firstWithin(accepted, ats, fits);
  const last = firstWithin(accepted.toReversed(), ats.toReversed(), fits).reverse();
  const isOnly = first.length === accepted.length && first.every(({ at }, number) => at === last[number]?.at);
  return isOnly ? first : undefined;
}

/** The earliest places of all of `accepted` among `ats`, in their order; fewer where they do not stand so. */
function firstWithin(
  accepted: readonly number[],
  ats: readonly number[],
  fits: (of: number, at: number) => boolean,
): Pair[] {
  const pairs: Pair[] = [];
  for (const at of ats) {
    const of = accepted[pairs.length];
    if (of !== undefined && fits(of, at)) pairs.push({ at, of });
  }
  return pairs;
}

export function sameContents(one: readonly string[], other: readonly string[]): boolean {
  const sorted = other.toSorted();
  return one.toSorted().every((content, at) => content === sorted[at]);
}

/**
 * How many of `input`, from its beginning, are old where contents repeat: the longest end of `accepted` that stands, in
 * order, at the beginning of the input, so that A→B→A is kept and repeating an export sends nothing.
 */
export const oldLength = (accepted: readonly string[], input: readonly string[]): number =>
  endLength(accepted, input, (one, other) => one === other);

export function endLength<T>(
  accepted: readonly T[],
  input: readonly T[],
  fits: (accepted: T, input: T) => boolean,
): number {
  for (let length = Math.min(accepted.length, input.length); length > 0; length -= 1) {
    const end = accepted.slice(accepted.length - length);
    if (end.every((each, at) => fits(each, input[at] as T))) return length; // as long as it
  }
  return 0;
}

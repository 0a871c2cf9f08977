/** Patterns for the `match` of sources in one config, none of which matches another's file. */

/** Replaces the characters that mean something in a pattern by `?`, which matches any character. */
const withoutMarks = (name: string): string => name.replace(/[*?{},[\]\\/]/g, "?");

/** The name as `match` sees it. */
const plainName = (fileName: string): string => fileName.replace(/\.(?:gz|zst)$/i, "");

/** The pattern for this file alone. */
export const exactPattern = (fileName: string): string => withoutMarks(plainName(fileName));

/** The pattern for the file and its successors: digits of its name, such as a date, may differ, and more may follow. */
export function widePattern(fileName: string): string {
  const [stem, extension] = partsOf(fileName);
  const named = withoutMarks(stem);
  const pattern = named.replace(/\d[\d_.T:-]*/g, "*");
  return `${/\p{L}/u.test(pattern) ? `${pattern}*`.replace(/\*+/g, "*") : named}${extension}`;
}

/** The pattern for files whose names have the same number of digits in the same places. */
function datedPattern(fileName: string): string {
  const [stem, extension] = partsOf(fileName);
  return `${withoutMarks(stem).replace(/\d/g, "?")}${extension}`;
}

function partsOf(fileName: string): readonly [string, string] {
  const plain = plainName(fileName);
  const [, stem = plain, extension = ""] = /^(.*?)(\.[^.]+)?$/.exec(plain) ?? [];
  return [stem, extension];
}

interface Wanted {
  readonly fileName: string;
  readonly pattern: string;
}

/**
 * The patterns, narrowed where one could take another's file: to the digits of the file's name, else to the name itself.
 * If no pattern can tell two files apart, those two are returned instead.
 */
export function withoutOverlap(
  wanted: readonly Wanted[],
): { readonly patterns: readonly string[] } | { readonly alike: readonly [number, number] } {
  const ladders = wanted.map(({ fileName, pattern }) => [
    ...new Set([
      pattern,
      ...(pattern === exactPattern(fileName) ? [] : [datedPattern(fileName)]),
      exactPattern(fileName),
    ]),
  ]);
  const steps = ladders.map(() => 0);
  const at = (index: number, step = steps[index] ?? 0): string => ladders[index]?.[step] ?? "";
  const isLast = (index: number): boolean => (steps[index] ?? 0) + 1 >= (ladders[index]?.length ?? 0);
  for (;;) {
    const pair = firstPair(ladders.map((_ladder, index) => at(index)));
    if (pair === undefined) return { patterns: ladders.map((_ladder, index) => at(index)) };
    const open = pair.filter((index) => !isLast(index));
    if (open.length === 0) return { alike: pair };
    // The pattern that is wide enough to match the other's file gives way.
    const [one, other] = pair;
    const isWide = (index: number): boolean =>
      overlap(at(index), exactPattern(wanted[index === one ? other : one]?.fileName ?? ""));
    const index = open.find(isWide) ?? open[0] ?? one;
    steps[index] = (steps[index] ?? 0) + 1;
  }
}

function firstPair(patterns: readonly string[]): readonly [number, number] | undefined {
  for (const [one, pattern] of patterns.entries()) {
    const other = patterns.findIndex((each, index) => index > one && overlap(pattern, each));
    if (other !== -1) return [one, other];
  }
  return undefined;
}

/** Whether a name exists that both patterns (of `*`, `?` and characters) match, ignoring case as `match` does. */
function overlap(one: string, other: string): boolean {
  const [left, right] = [charactersOf(one), charactersOf(other)];
  // Which places in the right pattern can be reached with the same text as the place in the left one.
  let reached = reachable([0], right);
  for (const character of left) {
    const next = new Set<number>();
    for (const at of reached) {
      const beside = right[at];
      if (character === "*") for (let to = at; to <= right.length; to += 1) next.add(to);
      else if (beside === "*") next.add(at);
      else if (beside !== undefined && (character === "?" || beside === "?" || beside === character)) next.add(at + 1);
    }
    reached = reachable(next, right);
  }
  return reached.has(right.length);
}

/** A `*` may stand for nothing. */
function reachable(places: Iterable<number>, pattern: readonly string[]): ReadonlySet<number> {
  const all = new Set(places);
  for (const at of all) if (pattern[at] === "*") all.add(at + 1);
  return all;
}

const charactersOf = (pattern: string): readonly string[] =>
  [...pattern].map((character) => character.toUpperCase().toLowerCase());

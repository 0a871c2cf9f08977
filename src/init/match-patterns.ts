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

function partsOf(fileName: string): readonly [string, string] {
  const plain = plainName(fileName);
  const [, stem = plain, extension = ""] = /^(.*?)(\.[^.]+)?$/.exec(plain) ?? [];
  return [stem, extension];
}

/**
 * The patterns, narrowed to the name of the file where one could take another's file.
 * If no pattern can tell two files apart, those two are returned instead.
 */
export function withoutOverlap(
  wanted: readonly { readonly fileName: string; readonly pattern: string }[],
): { readonly patterns: readonly string[] } | { readonly alike: readonly [number, number] } {
  const names = wanted.map(({ fileName }) => exactPattern(fileName));
  const overlapsOther = (pattern: string, at: number, others: readonly string[]): boolean =>
    others.some((other, index) => index !== at && overlap(pattern, other));
  const own = wanted.map(({ pattern }, at) => (overlapsOther(pattern, at, names) ? (names[at] ?? "") : pattern));
  const patterns = own.map((pattern, at) => (overlapsOther(pattern, at, own) ? (names[at] ?? "") : pattern));
  for (const [at, pattern] of patterns.entries()) {
    const other = patterns.findIndex((each, index) => index > at && overlap(pattern, each));
    if (other !== -1) return { alike: [at, other] };
  }
  return { patterns };
}

/** Whether a name exists that both patterns (of `*`, `?` and characters) match, ignoring case as `match` does. */
function overlap(one: string, other: string): boolean {
  const [left, right] = [charactersOf(one), charactersOf(other)];
  // From the ends: whether the rest of `one` and each rest of `other` match a common text.
  let below: readonly boolean[] = [];
  for (let at = left.length; at >= 0; at -= 1) {
    const row: boolean[] = [];
    for (let to = right.length; to >= 0; to -= 1) {
      const [a, b] = [left[at], right[to]];
      const isSame = a === b || a === "?" || b === "?";
      if (a === "*" || b === "*")
        row[to] = (a !== undefined && below[to] === true) || (b !== undefined && row[to + 1] === true);
      else row[to] = a === undefined || b === undefined ? a === b : isSame && below[to + 1] === true;
    }
    below = row;
  }
  return below[0] === true;
}

const charactersOf = (pattern: string): readonly string[] =>
  [...pattern].map((character) => character.toUpperCase().toLowerCase());

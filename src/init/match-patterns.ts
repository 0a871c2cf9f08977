/** Patterns for the `match` of sources in one config, none of which takes another's file. */

import { Failure } from "../failure.ts";
import { matches } from "../map/select-source.ts";
import { unpackedName } from "../read/file-names.ts";
import { cleanText } from "../text.ts";

/** The pattern for this file alone: what means something in a pattern becomes `?`, which is any character. */
export const exactPattern = (fileName: string): string => withoutMarks(unpackedName(fileName));

/** The pattern for the file and its successors: digits of its name, such as a date, may differ, and more may follow. */
export function widePattern(fileName: string): string {
  const [, stem = "", extension = ""] = /^(.*?)(\.[^.]+)?$/s.exec(unpackedName(fileName)) ?? [];
  const named = withoutMarks(stem);
  const pattern = named.replace(/\d[\d_.T:-]*/g, "*");
  return `${/\p{L}/u.test(pattern) ? `${pattern}*`.replace(/\*+/g, "*") : named}${extension}`;
}

/**
 * The patterns, each narrowed to the name of its file where it takes the file of another.
 *
 * @throws Failure("usage") for two files that no pattern tells apart.
 */
export function withoutOverlap(
  wanted: readonly { readonly fileName: string; readonly pattern: string }[],
): readonly string[] {
  const otherTakenBy = (match: string, at: number) =>
    wanted.find(({ fileName }, index) => index !== at && matches({ match }, fileName));
  return wanted.map(({ fileName, pattern }, at) => {
    if (otherTakenBy(pattern, at) === undefined) return pattern;
    const exact = exactPattern(fileName);
    const other = otherTakenBy(exact, at);
    if (other === undefined) return exact;
    throw new Failure(
      "usage",
      `${cleanText(fileName, 200)} and ${cleanText(other.fileName, 200)} can't be distinguished by their names, and a source is chosen by the name of a file.`,
      { hint: "Rename one of them, or write a config for each: tickets init FILE -o NAME.yaml" },
    );
  });
}

const withoutMarks = (name: string): string => name.replace(/[*?{},[\]\\/]/g, "?");

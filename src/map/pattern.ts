/** Patterns that a config writes, matched in time linear to the text (RE2), so that no cell and no pattern hangs a run. */

import { RE2JS } from "re2js";

export interface Pattern {
  /** Names of its groups, in their order. */
  readonly groups: readonly string[];
  /** Its matches from left to right, and the text between and around them; undefined where the text is too long to search. */
  readonly matchesIn: (text: string) => Matches | undefined;
}

export interface Matches {
  /** The named groups of each match that is not empty; a group without a match is left out. */
  readonly items: readonly Readonly<Record<string, string>>[];
  /** The text outside the matches, with a blank for each match. */
  readonly rest: string;
}

/** In characters, over all searches of one text; searching that much takes about half a second. */
const MOST_LOOKED_AT = 4 * 1024 * 1024;

/** The pattern or, as text, why it can't be read: the end of a sentence that begins with its name. */
export function compilePattern(pattern: string): Pattern | string {
  let compiled: RE2JS;
  try {
    new RegExp(pattern, "u"); // what is not a pattern there must not be translated into one
    if (/\\k/.test(pattern.replaceAll("\\\\", ""))) return REFERS_BACK;
    compiled = RE2JS.compile(RE2JS.translateRegExp(pattern));
  } catch (cause) {
    return faultOf(pattern, cause);
  }
  const groups = Object.keys(compiled.namedGroups());
  const matchesIn = (text: string): Matches | undefined => {
    const matcher = compiled.matcher(text);
    const items: Record<string, string>[] = [];
    let looked = text.length;
    let end = 0;
    let rest = "";
    while (matcher.find()) {
      const start = matcher.start();
      rest += `${text.slice(end, start)} `;
      end = matcher.end();
      if (end > start) items.push(withoutNull(groups, matcher.getNamedGroups()));
      looked += text.length - end;
      if (looked > MOST_LOOKED_AT) return undefined;
    }
    return { items, rest: rest + text.slice(end) };
  };
  return { groups, matchesIn };
}

/** Tells whether a whole text matches, ignoring case. For patterns that the code itself builds. */
export function wholeMatcher(pattern: string): (text: string) => boolean {
  const compiled = RE2JS.compile(pattern, RE2JS.CASE_INSENSITIVE);
  return (text) => compiled.testExact(text);
}

function withoutNull(
  groups: readonly string[],
  found: Readonly<Record<string, string | null>>,
): Record<string, string> {
  return Object.fromEntries(
    groups.flatMap((name) => {
      const text = found[name];
      return text == null ? [] : [[name, text]];
    }),
  );
}

const REFERS_BACK = "refers back to a group, which no linear-time pattern can: write out what may be there";

/** What a linear engine can't do, and what to use instead. */
const UNKNOWN_HERE: readonly (readonly [RegExp, string])[] = [
  [
    /\(\?<?[=!]/,
    "looks ahead or behind, which no linear-time pattern can: match the text around it too, outside the group",
  ],
  [/\\[1-9]/, REFERS_BACK],
  [/\(\?<[^>]*[^\w>][^>]*>/, "has a group name of other characters than letters a-z, digits and _"],
  [/\{\d*,?\d{4,}\}/, "repeats more than 1000 times: write * or + instead"],
];

function faultOf(pattern: string, cause: unknown): string {
  const known = UNKNOWN_HERE.find(([sign]) => sign.test(pattern));
  if (known !== undefined) return known[1];
  const why =
    cause instanceof Error
      ? cause.message
          .replace(/^(?:error parsing regexp|Invalid regular expression): /, "")
          .replace(`/${pattern}/u: `, "")
      : "";
  return `is not a valid regular expression: ${why}`;
}

/** The source of a regular expression that matches `text` itself. (`RegExp.escape` needs Node 24.) */
export const literalPattern = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");

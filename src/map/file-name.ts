/** What the name of a file says of its rows: `{file.name}`, `{file.date}`, and that no other date is written for all of them. */

import { MappingError, quote, type RulePath } from "./mapping-error.ts";
import type { Read } from "./scope.ts";
import type { TraitRules, ValueRule } from "./source.ts";
import { templatesOf } from "./template.ts";

/** The file of a source. */
export interface NamedFile {
  /** Base name; "" for standard input. */
  readonly fileName: string;
  /** The patterns that its source takes files by. */
  readonly patterns: readonly string[];
  /** What its rules take from the name. */
  readonly taken: Set<string>;
}

/** `2026-05-09`, `20260509` and `09.05.2026`. */
const DATES = [
  /(?<!\d)(?<y>20\d\d)-(?<m>\d\d)-(?<d>\d\d)(?!\d)/g,
  /(?<!\d)(?<y>20\d\d)(?<m>\d\d)(?<d>\d\d)(?!\d)/g,
  /(?<!\d)(?<d>\d\d)\.(?<m>\d\d)\.(?<y>20\d\d)(?!\d)/g,
];

/** The different dates in a text, as `2026-05-09`. */
export function datesIn(text: string): readonly string[] {
  const found = DATES.flatMap((pattern) => [...text.matchAll(pattern)]);
  const dates = found.map(({ groups: { y = "", m = "", d = "" } = {} }) => `${y}-${m}-${d}`);
  return [...new Set(dates.filter(isDate))];
}

function isDate(date: string): boolean {
  const time = new Date(`${date}T00:00:00Z`);
  return !Number.isNaN(time.getTime()) && time.toISOString().startsWith(date);
}

/** What `{file.name}` or `{file.date}` says in every row; undefined for another name. */
export function readFileName(name: string, { fileName, taken }: NamedFile, path: RulePath): Read | undefined {
  if (name !== "file.name" && name !== "file.date") return undefined;
  if (fileName === "") throw new MappingError(path, `{${name}} needs a file: standard input has no name`);
  const text = name === "file.name" ? fileName : dateOf(fileName, path);
  taken.add(text);
  return () => text;
}

function dateOf(fileName: string, path: RulePath): string {
  const [date, another] = datesIn(fileName);
  if (date === undefined)
    throw new MappingError(
      path,
      `{file.date} finds no date in ${quote(fileName)}`,
      "Name the file with one, such as scans-2026-05-09.csv, scans-20260509.csv or scans-09.05.2026.csv.",
    );
  if (another !== undefined)
    throw new MappingError(
      path,
      `{file.date} finds several dates in ${quote(fileName)}: ${date} and ${another}`,
      "Name the file with the one that is meant.",
    );
  return date;
}

/** A date as a person writes it, also with the month's name. */
const WRITTEN =
  /(?<!\d)20\d\d([-./])\d{1,2}\1\d{1,2}(?!\d)|(?<!\d)\d{1,2}([-./])\d{1,2}\2 ?(?:20)?\d\d(?!\d)|(?<!\d)20\d{6}(?!\d)|\p{L}{3,}\.? \d{1,2},? 20\d\d(?!\d)|(?<!\d)\d{1,2}[. -]+\p{L}{3,}[. -]+20\d\d(?!\d)/u;

/** The date that a template of a time says by itself; what takes nothing from the row is one, in whichever form. */
const dateWrittenIn = (template: string): string | undefined =>
  template.includes("{") ? WRITTEN.exec(template.replace(/\{[^{}]*\}/g, "\n"))?.[0] : template.trim() || undefined;

/**
 * Refuses a date that all rows of a file would have by the config, where the config takes several files, or the file's name
 * has another date: each night would be sent with the date of the first.
 */
export function refuseFixedDate(rule: ValueRule | TraitRules, { fileName, patterns }: NamedFile, path: RulePath): void {
  for (const template of templatesOf(rule)) {
    const fixed = dateWrittenIn(template);
    if (fixed === undefined) continue;
    const [date] = datesIn(fixed);
    const isOfOneDay = patterns.every((pattern) => !/[*?]/.test(pattern) || (date && datesIn(pattern).includes(date)));
    const inName = datesIn(fileName);
    const isOther = date !== undefined && inName.length > 0 && !inName.includes(date);
    if (isOfOneDay && !isOther) continue;
    throw new MappingError(
      path,
      isOther
        ? `says ${quote(fixed)}, but the name of ${quote(fileName)} says ${inName.join(" and ")}`
        : `says ${quote(fixed)} for every file that match takes`,
      "Write {file.date} in its place, the date in a file's name as 2026-05-09; or name one file in match.",
    );
  }
}

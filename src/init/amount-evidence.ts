/** What the cells of a column show of how amounts are written. Evidence, not decisions. */

import { type AmountOptions, compileAmount } from "../map/amount.ts";
import { MARKS, signsOf } from "../map/likely-formats.ts";
import { areMost, type ColumnProfile, cellsThat } from "./column-profile.ts";

/** One way to read the amounts of a column. */
export interface AmountReading {
  readonly decimal: "." | ",";
  readonly thousands: string | undefined;
  /** How many texts can be read this way. */
  readonly fits: number;
  /** What it makes of the evidence's example. */
  readonly example: string | undefined;
}

export interface AmountEvidence {
  readonly signs: readonly string[];
  /** Ways that read most texts, the best first; several of them when the marks leave it open. */
  readonly readings: readonly AmountReading[];
  /** A text that the readings take differently, else the longest. */
  readonly example: string;
  /** Only digits, with at most two or more than three of them behind a point: nothing to decide. */
  readonly isPlain: boolean;
}

/** Undefined where fewer than nine in ten texts are amounts in any reading. */
export function amountsOf({ values, filled }: ColumnProfile): AmountEvidence | undefined {
  const texts = [...values.keys()];
  if (texts.length === 0) return undefined;
  const signs = [...new Set(texts.flatMap((text) => signsOf(text)))].slice(0, 5);
  const counted = MARKS.map(([decimal, thousands]) => {
    const read = compileAmount({ decimal, thousands, signs, path: [] });
    return { decimal, thousands, read, fits: texts.filter((text) => read(text) !== undefined).length };
  });
  const most = Math.max(...counted.map(({ fits }) => fits));
  const read = counted.find(({ fits }) => fits === most)?.read;
  if (most === 0 || cellsThat(values, (text) => read?.(text) !== undefined) < filled * 0.9) return undefined;
  const best = counted.filter(({ fits }) => fits === most);
  const longest = texts.reduce((one, other) => (other.length > one.length ? other : one));
  const example = texts.find((text) => new Set(best.map(({ read }) => read(text))).size > 1) ?? longest;
  return {
    signs,
    example,
    readings: withoutRepeats(
      best.map(({ read, ...rest }) => ({ ...rest, example: read(example) })),
      texts,
      best,
    ),
    isPlain: signs.length === 0 && texts.every((text) => /^\d+(?:\.(?:\d{1,2}|\d{4,}))?$/.test(text)),
  };
}

/** Whether every text of the column is an amount when read so. */
export function readsAll({ values }: ColumnProfile, options: Omit<AmountOptions, "path">): boolean {
  const read = compileAmount({ ...options, path: [] });
  return [...values.keys()].every((text) => read(text) !== undefined);
}

/** Of readings that agree on every text, keeps the one that declares least. */
function withoutRepeats(
  readings: readonly AmountReading[],
  texts: readonly string[],
  compiled: readonly { readonly read: (text: string) => string | undefined }[],
): readonly AmountReading[] {
  const known = new Set<string>();
  return readings.filter((_reading, at) => {
    const all = JSON.stringify(texts.map((text) => compiled[at]?.read(text)));
    return !known.has(all) && known.add(all);
  });
}

/** Amounts that could be nothing else: with a sign, or two decimals. */
export function isMoney(column: ColumnProfile): boolean {
  const found = amountsOf(column);
  return found !== undefined && (found.signs.length > 0 || areMost(column, (text) => /[.,]\d\d$/.test(text)));
}

/** Whole numbers of which one is no 1, also as a spreadsheet writes them (`2.0`), or with a minus where something was given back. */
export function isQuantity(column: ColumnProfile): boolean {
  const isCount = (text: string): boolean => /^-?\d{1,3}(?:\.0)?$/.test(text);
  return areMost(column, isCount) && [...column.values.keys()].some((text) => isCount(text) && Number(text) !== 1);
}

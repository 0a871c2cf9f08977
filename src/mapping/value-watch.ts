/** Compares the values that a file has in the columns of conditions with those that the source names. */

import { distance } from "fastest-levenshtein";
import { foldSpelling } from "../actions/nearest.ts";
import { andMore, cleanText, quoted } from "../actions/text.ts";
import type { FileFinding } from "../map/file-finding.ts";
import { digestHex } from "../map/row-digest.ts";
import type { MappingRule } from "../map/rules.ts";
import type { Read, Scope } from "./names.ts";

/** A column whose values decide, and what the source says about them. */
export interface WatchedColumn {
  readonly label: string;
  readonly read: Read;
  /** Every value that a condition, `skip` or `expect` names. */
  readonly named: ReadonlySet<string>;
  /** A `not` takes whatever it does not name. */
  readonly takesOthers: boolean;
  /** A condition takes only some values, so a value that is named nowhere misses its action. */
  readonly isTested: boolean;
  /** `skip` names all values that give nothing, or `expect` names all values. */
  readonly isComplete: boolean;
  /** Read once for each repetition of `each`, since it may differ there; otherwise once a row. */
  readonly isOfItem: boolean;
}

/** Where a row stands, and the first 64 bits of a digest of what it holds, which is made only where it is asked for. */
interface SeenRow {
  readonly line: number;
  readonly digest: () => bigint;
}

/** What became of a row. */
interface RowOutcome extends SeenRow {
  /** It gave an action other than its event. */
  readonly gave: boolean;
  /** `skip` matched it, whatever else it holds. */
  readonly isSkipped: boolean;
}

export type ValueWatch = ReturnType<typeof watchValues>;

/** How many rows hold a value that is named nowhere, how many of them gave nothing, and where it stands first. */
interface Strange {
  readonly rows: number;
  readonly untaken: number;
  readonly line: number;
  /** The sum, in 64 bits, of the digests of the rows that may be reported: the same in any order. */
  readonly digests: bigint;
}

interface Else extends Omit<Strange, "untaken"> {
  readonly label: string;
  readonly known: string;
  readonly text: string;
}

/** How many values that are named nowhere are kept; a column with more is not a status. */
const MOST_KEPT = 1000;
const MOST_TOLD = 8;
/** In characters; the beginning of a longer text tells it from others. */
const MOST_TEXT = 200;

export function watchValues(columns: readonly WatchedColumn[]) {
  const watched = columns.map((column) => ({
    ...column,
    unmet: new Set([...column.named].filter((value) => value !== "")),
    strange: new Map<string, Mutable<Strange>>(),
    /** Rows whose values are too many to keep. */
    beyond: 0,
    digestsBeyond: 0n,
  }));
  const hasItems = columns.some(({ isOfItem }) => isOfItem);
  const meant = columns.map(({ named }) => meansNamed(named));
  const elses = new Map<string, Mutable<Else>>();
  let rows = 0;
  let gaveAny = false;
  let isFamiliar = watched.length === 0 || watched.some(({ takesOthers }) => takesOthers);
  const look = (scope: Scope, isOfItem: boolean, { line, digest, gave, isSkipped }: RowOutcome): void => {
    // What can't be read in the row is reported where it is needed.
    const { findings } = scope;
    scope.findings = [];
    for (const [at, column] of watched.entries()) {
      if (column.isOfItem !== isOfItem) continue;
      const text = column.read(scope);
      if (column.named.has(text)) {
        isFamiliar = true;
        column.unmet.delete(text);
      } else if (!isSkipped) {
        const value = text.slice(0, MOST_TEXT);
        const untaken = gave ? 0 : 1;
        // A row about which nothing will be reported, such as one that a `not` takes, need not be recognised again.
        const isTold = isOpen(column, value, untaken) || meant[at]?.(value) === true;
        const digests = isTold ? digest() : 0n;
        if (column.strange.size < MOST_KEPT || column.strange.has(value))
          count(column.strange, value, { rows: 1, untaken, line, digests });
        else {
          column.beyond += 1;
          column.digestsBeyond = sum64(column.digestsBeyond, digests);
        }
      }
    }
    scope.findings = findings;
  };
  return {
    /** Looks at what differs within a row. Called before `see` of the row. */
    seeItem(scope: Scope, { line, digest }: SeenRow): void {
      if (hasItems) look(scope, true, { line, digest, gave: true, isSkipped: false });
    },
    see(scope: Scope, row: RowOutcome): void {
      rows += 1;
      gaveAny ||= row.gave;
      look(scope, false, row);
    },
    /** A value table used its `else` for a text that it holds in another spelling. */
    seeElse(label: string, known: string, text: string, { line, digest }: SeenRow): void {
      addElse(elses, { label, known, text, rows: 1, line, digests: digest() });
    },
    /** The findings about all rows. */
    findings: (): readonly FileFinding[] => [
      ...watched.flatMap(nearMisses),
      ...[...elses.values()].map(takenByElse),
      ...watched.flatMap(notNamed),
      ...(rows > 0 && !gaveAny && !isFamiliar ? [nothingMapped(rows, watched)] : []),
    ],
  };
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

function count(strange: Map<string, Mutable<Strange>>, value: string, counts: Strange): void {
  const known = strange.get(value);
  if (known === undefined) strange.set(value, { ...counts });
  else {
    known.rows += counts.rows;
    known.untaken += counts.untaken;
    known.digests = sum64(known.digests, counts.digests);
  }
}

const sum64 = (one: bigint, other: bigint): bigint => BigInt.asUintN(64, one + other);

/** The same for the same rows with these values. */
const markOf = (values: readonly (readonly [value: string, digests: bigint])[]): string =>
  digestHex(JSON.stringify(values.map(([value, digests]) => `${digests.toString(16)} ${value}`).sort()));

/** Whether a value may be what one of these names means. */
function meansNamed(named: ReadonlySet<string>): (value: string) => boolean {
  const known = new Map<string, boolean>();
  return (value) => {
    const before = known.get(value);
    if (before !== undefined) return before;
    const isMeant = [...named].some((name) => name !== "" && isNear(name, value));
    if (known.size < MOST_KEPT) known.set(value, isMeant);
    return isMeant;
  };
}

function addElse(elses: Map<string, Mutable<Else>>, each: Else): void {
  const key = JSON.stringify([each.label, each.known, each.text]);
  const before = elses.get(key);
  if (before !== undefined) {
    before.rows += each.rows;
    before.digests = sum64(before.digests, each.digests);
  } else if (elses.size < MOST_KEPT) elses.set(key, { ...each });
}

type Watched = WatchedColumn & {
  readonly unmet: ReadonlySet<string>;
  readonly strange: ReadonlyMap<string, Strange>;
  readonly beyond: number;
  readonly digestsBeyond: bigint;
};

function nearMisses(column: Watched): readonly FileFinding[] {
  const { label, named, unmet, strange } = column;
  const isToldApart = openValues(column).length > 0;
  return [...named].flatMap((value) => {
    if (value === "") return [];
    const isUnmet = unmet.has(value);
    // Another spelling beside the right one is reported among the values that are not named, if those are reported.
    if (!isUnmet && isToldApart) return [];
    const meant = [...strange].filter(([text]) => (isUnmet ? isNear(value, text) : isSpelling(value, text)));
    const [first] = meant;
    if (first === undefined) return [];
    const [text, { line }] = first;
    const told = meant.slice(0, SPELLINGS).map(([each, { rows }]) => `${rowsText(rows)} ${quoted(each)}`);
    const held = told.join(", ") + andMore(meant.length - told.length);
    return [
      {
        rule: "value-near" satisfies MappingRule,
        line,
        field: label,
        value,
        message: isUnmet
          ? `The source names it, but no row holds it; ${held}.`
          : `The source names it; ${held}, which is another value.`,
        hint: `Did you mean ${quoted(text)}${isUnmet ? "" : " too"}? Values are compared exactly.`,
        mark: markOf(meant.map(([each, { digests }]) => [each, digests])),
      },
    ];
  });
}

function takenByElse({ label, known, text, rows, line, digests }: Else): FileFinding {
  return {
    rule: "value-near" satisfies MappingRule,
    line,
    field: label,
    value: known,
    message: `The value table names it, and ${rowsText(rows)} ${quoted(text)}, which took the else.`,
    hint: `Add ${quoted(text)} to map. Values are compared exactly.`,
    mark: markOf([[text, digests]]),
  };
}

/** The same but for case, blanks and marks. */
const isSpelling = (one: string, other: string): boolean => other !== "" && foldSpelling(one) === foldSpelling(other);

/** Spellings of a value that are shown. */
const SPELLINGS = 5;

/** Whether it is another spelling, or a longer word with one letter changed. Other digits make another value. */
function isNear(one: string, other: string): boolean {
  const [a, b] = [foldSpelling(one), foldSpelling(other)];
  if (a === b) return true;
  if (a.replace(/\D/g, "") !== b.replace(/\D/g, "") || a.length > 64 || b.length > 64) return false;
  return Math.min(a.length, b.length) >= 5 && distance(a, b) <= (a.length >= 10 ? 2 : 1);
}

/** Values that the source should name and does not. An empty cell is not a value, unless its row is lost because of it. */
function openValues(column: Watched): readonly (readonly [string, Strange])[] {
  return [...column.strange].filter(([value, { untaken }]) => isOpen(column, value, untaken));
}

function isOpen({ isTested, takesOthers, isComplete }: WatchedColumn, value: string, untaken: number): boolean {
  return (isTested && value !== "") || (isComplete && !takesOthers && untaken > 0);
}

function notNamed(column: Watched): readonly FileFinding[] {
  const { label, named, beyond, digestsBeyond, isTested } = column;
  const open = [...openValues(column)].sort(([, one], [, other]) => other.rows - one.rows);
  const [first] = open.map(([, { line }]) => line).sort((one, other) => one - other);
  if (first === undefined) return [];
  const told = open.slice(0, MOST_TOLD).map(([value, { rows, line }]) => {
    const meant = [...named].find((known) => known !== "" && isNear(known, value));
    const near = meant === undefined ? "" : `; did you mean ${quoted(meant)}?`;
    return `${quoted(value)} (${rows === 1 ? `line ${line}` : `${rows} times, first in line ${line}`}${near})`;
  });
  const more = open.length - told.length;
  const others = beyond === 0 || more === 0 ? andMore(more) : ` and more than ${more} others`;
  return [
    {
      rule: "value-not-named" satisfies MappingRule,
      line: first,
      field: label,
      message: `No when, skip or expect names ${told.join(", ")}${others}.`,
      hint: isTested
        ? "Add each to the when whose action it should give, to skip if its rows give nothing, or to expect if it is known to need neither."
        : "Add each to the when that should take it, or to skip.",
      mark: markOf([
        ...open.map(([value, { digests }]) => [value, digests] as const),
        ...(beyond === 0 ? [] : [["", digestsBeyond] as const]),
      ]),
    },
  ];
}

function nothingMapped(rows: number, watched: readonly Watched[]): FileFinding {
  const seen = watched.map(
    ({ label, strange }) =>
      `${cleanText(label, 40)}: ${listOf([...strange].map(([value, { rows: times }]) => [value, times]))}`,
  );
  return {
    rule: "nothing-mapped" satisfies MappingRule,
    isOfAllRows: true,
    message: `${rows === 1 ? "The one row gives no action, and the source names none of its" : `None of the ${rows} rows gives an action, and the source names none of their`} values: ${seen.join("; ")}.`,
    hint: "Is it the right source? Add the values to when, or to skip if such rows give nothing.",
  };
}

const rowsText = (rows: number): string => (rows === 1 ? "1 row holds" : `${rows} rows hold`);

function listOf(values: readonly (readonly [string, number])[]): string {
  const most = [...values].sort(([, one], [, other]) => other - one);
  const shown = most.slice(0, MOST_TOLD).map(([value, rows]) => `${quoted(value)} (${rows})`);
  return shown.join(", ") + andMore(most.length - shown.length);
}

/** Which values of the columns that conditions compare a file holds, against those that the source names. */

import { distance } from "fastest-levenshtein";
import { fold } from "../actions/nearest.ts";
import type { Finding } from "../actions/problem.ts";
import { cleanText } from "../actions/text.ts";
import type { Read, Scope } from "./names.ts";
import type { MappingRule } from "./rules.ts";

/** A column whose values decide, and what the source says of them. */
export interface WatchedColumn {
  readonly label: string;
  readonly read: Read;
  /** Every value that a condition or `skip` names. */
  readonly named: ReadonlySet<string>;
  /** A `not` takes whatever it does not name. */
  readonly takesOthers: boolean;
  /** `skip` names all values that give nothing. */
  readonly isComplete: boolean;
}

export interface ValueWatch {
  /** Looks at a row; `gave` tells whether any action but its event came of it. */
  see(scope: Scope, gave: boolean): void;
  /** What the rows since the last call held. */
  take(): SeenValues;
  /** Adds what rows held, in the order of the file. */
  join(seen: SeenValues): void;
  /** What is to be said of all rows that were joined. */
  findings(): readonly Finding[];
}

/** What some rows held. Plain data. */
export interface SeenValues {
  readonly rows: number;
  /** Any action but an event came of one of them. */
  readonly gaveAny: boolean;
  /** For each watched column, the values that the source names, and the others in the order in which they appeared. */
  readonly columns: readonly { readonly met: ReadonlySet<string>; readonly strange: ReadonlyMap<string, Strange> }[];
}

/** How many rows hold a value that is named nowhere, and how many of them gave nothing. */
interface Strange {
  readonly rows: number;
  readonly untaken: number;
}

/** Values that are named nowhere are told up to so many; a column of more is no status. */
const MOST_KEPT = 1000;
const MOST_TOLD = 8;

export function watchValues(columns: readonly WatchedColumn[]): ValueWatch {
  const watched = columns.map((column) => ({
    ...column,
    unmet: new Set([...column.named].filter((value) => value !== "")),
    strange: new Map<string, Mutable<Strange>>(),
  }));
  let rows = 0;
  let gaveAny = false;
  let isFamiliar = watched.length === 0 || watched.some(({ takesOthers }) => takesOthers);
  const nothingSeen = () => ({
    rows: 0,
    gaveAny: false,
    columns: columns.map(() => ({ met: new Set<string>(), strange: new Map<string, Mutable<Strange>>() })),
  });
  let fresh = nothingSeen();
  return {
    see(scope, gave) {
      fresh.rows += 1;
      fresh.gaveAny ||= gave;
      // What can't be read in the row is told where it is needed.
      const { findings } = scope;
      scope.findings = [];
      for (const [at, { met, strange }] of fresh.columns.entries()) {
        const { read, named } = columns[at] as WatchedColumn; // one for each
        const text = read(scope);
        if (named.has(text)) met.add(text);
        else count(strange, text, { rows: 1, untaken: gave ? 0 : 1 });
      }
      scope.findings = findings;
    },
    take() {
      const taken = fresh;
      fresh = nothingSeen();
      return taken;
    },
    join(seen) {
      rows += seen.rows;
      gaveAny ||= seen.gaveAny;
      for (const [at, { met, strange }] of seen.columns.entries()) {
        const column = watched[at] as (typeof watched)[number]; // the same source
        if (met.size > 0) isFamiliar = true;
        for (const value of met) column.unmet.delete(value);
        for (const [value, counts] of strange)
          if (column.strange.size < MOST_KEPT || column.strange.has(value)) count(column.strange, value, counts);
      }
    },
    findings: () => [
      ...watched.flatMap(nearMisses),
      ...watched.flatMap(notNamed),
      ...(rows > 0 && !gaveAny && !isFamiliar ? [nothingMapped(rows, watched)] : []),
    ],
  };
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

function count(strange: Map<string, Mutable<Strange>>, value: string, { rows, untaken }: Strange): void {
  const known = strange.get(value);
  if (known === undefined) strange.set(value, { rows, untaken });
  else {
    known.rows += rows;
    known.untaken += untaken;
  }
}

type Watched = WatchedColumn & {
  readonly unmet: ReadonlySet<string>;
  readonly strange: ReadonlyMap<string, Strange>;
};

function nearMisses({ label, unmet, strange }: Watched): readonly Finding[] {
  return [...unmet].flatMap((value) => {
    const meant = [...strange.keys()].find((text) => isNear(value, text));
    if (meant === undefined) return [];
    return [
      {
        rule: "value-near" satisfies MappingRule,
        field: label,
        value,
        message: `The source names it, but no row holds it; ${rowsText(strange.get(meant)?.rows ?? 0)} ${quoted(meant)}.`,
        hint: `Did you mean ${quoted(meant)}? Values are compared exactly.`,
      },
    ];
  });
}

/** The same but for case, blanks and marks, or for a letter of a longer word; other digits are another value. */
function isNear(one: string, other: string): boolean {
  const [a, b] = [fold(one), fold(other)];
  if (a === b) return true;
  if (a.replace(/\D/g, "") !== b.replace(/\D/g, "") || a.length > 64 || b.length > 64) return false;
  return Math.min(a.length, b.length) >= 5 && distance(a, b) <= (a.length >= 10 ? 2 : 1);
}

function notNamed({ label, strange, takesOthers, isComplete }: Watched): readonly Finding[] {
  const open = [...strange].filter(([, { untaken }]) => untaken > 0);
  if (!isComplete || takesOthers || open.length === 0) return [];
  return [
    {
      rule: "value-not-named" satisfies MappingRule,
      field: label,
      message: `No action takes ${listOf(open.map(([value, { untaken }]) => [value, untaken]))}, and skip does not name ${open.length === 1 ? "it" : "them"}.`,
      hint: "Add each to the when that should take it, or to skip.",
    },
  ];
}

function nothingMapped(rows: number, watched: readonly Watched[]): Finding {
  const seen = watched.map(
    ({ label, strange }) =>
      `${cleanText(label, 40)}: ${listOf([...strange].map(([value, { rows: times }]) => [value, times]))}`,
  );
  return {
    rule: "nothing-mapped" satisfies MappingRule,
    message: `${rows === 1 ? "The one row gives" : `None of the ${rows} rows gives`} an action, and the source names none of their values: ${seen.join("; ")}.`,
    hint: "Is it the right source? Add the values to when, or to skip where such rows give nothing.",
  };
}

const quoted = (text: string): string => JSON.stringify(cleanText(text, 40));
const rowsText = (rows: number): string => (rows === 1 ? "1 row holds" : `${rows} rows hold`);

function listOf(values: readonly (readonly [string, number])[]): string {
  const most = [...values].sort(([, one], [, other]) => other - one);
  const shown = most.slice(0, MOST_TOLD).map(([value, rows]) => `${quoted(value)} (${rows})`);
  return shown.join(", ") + (most.length > shown.length ? ` and ${most.length - shown.length} more` : "");
}

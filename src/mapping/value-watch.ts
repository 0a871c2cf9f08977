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
  /** False where no column is watched, and nothing will be said. */
  readonly isWatching: boolean;
  /** Looks at a row; `gave` tells whether any action but its event came of it. */
  see(scope: Scope, gave: boolean): void;
  /** What is to be said of the whole file. */
  findings(): readonly Finding[];
}

/** Values that are named nowhere are told up to so many; a column of more is no status. */
const MOST_KEPT = 1000;
const MOST_TOLD = 8;

export function watchValues(columns: readonly WatchedColumn[]): ValueWatch {
  const watched = columns.map((column) => ({
    ...column,
    unmet: new Set([...column.named].filter((value) => value !== "")),
    strange: new Map<string, { rows: number; untaken: number }>(),
  }));
  let rows = 0;
  let gaveAny = false;
  let isFamiliar = watched.length === 0 || watched.some(({ takesOthers }) => takesOthers);
  return {
    isWatching: watched.length > 0,
    see(scope, gave) {
      rows += 1;
      gaveAny ||= gave;
      // What can't be read in the row is told where it is needed.
      const { findings } = scope;
      scope.findings = [];
      for (const { read, named, unmet, strange } of watched) {
        const text = read(scope);
        if (named.has(text)) {
          isFamiliar = true;
          if (unmet.size > 0) unmet.delete(text);
          continue;
        }
        let seen = strange.get(text);
        if (seen === undefined) {
          if (strange.size >= MOST_KEPT) continue;
          seen = { rows: 0, untaken: 0 };
          strange.set(text, seen);
        }
        seen.rows += 1;
        if (!gave) seen.untaken += 1;
      }
      scope.findings = findings;
    },
    findings: () => [
      ...watched.flatMap(nearMisses),
      ...watched.flatMap(notNamed),
      ...(rows > 0 && !gaveAny && !isFamiliar ? [nothingMapped(rows, watched)] : []),
    ],
  };
}

type Watched = WatchedColumn & {
  readonly unmet: ReadonlySet<string>;
  readonly strange: ReadonlyMap<string, { readonly rows: number; readonly untaken: number }>;
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

/** Compares the values that a file has in the columns of conditions with those that the source names. */

import { distance } from "fastest-levenshtein";
import { foldSpelling } from "../actions/nearest.ts";
import { andMore, cleanText, quoted } from "../actions/text.ts";
import type { FileFinding } from "./file-finding.ts";
import { digestHex } from "./row-digest.ts";
import type { MappingRule } from "./rules.ts";
import type { Read, Scope } from "./scope.ts";

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

/** What became of a row: it gave an action other than its event; or `skip` matched it, whatever else it holds. */
type Outcome = "gave" | "gave nothing" | "skipped";

/** The rows that hold a value, those of them that gave nothing, and where it stands first. */
interface Held {
  rows: number;
  untaken: number;
  readonly line: number;
  /** The sum, in 64 bits, of the digests of the rows that may be reported: the same in any order. */
  digests: bigint;
}

type HeldText = readonly [text: string, held: Held];

/** How many values that are named nowhere are kept; a column with more is not a status. */
const MOST_KEPT = 1000;
const MOST_TOLD = 8;
/** Spellings of a value that are shown. */
const SPELLINGS = 5;
/** In characters; the beginning of a longer text tells it from others. */
const MOST_TEXT = 200;

/** Texts that took the `else` of a value table which holds them in another spelling. */
export class ElseWatch {
  readonly #taken = new Map<string, Held & { readonly label: string; readonly known: string; readonly text: string }>();

  see(label: string, known: string, text: string, { line, digest }: Scope): void {
    const key = JSON.stringify([label, known, text]);
    const before = this.#taken.get(key);
    if (before !== undefined) add(before, 0, digest);
    else if (this.#taken.size < MOST_KEPT)
      this.#taken.set(key, { label, known, text, rows: 1, untaken: 0, line, digests: digest });
  }

  findings(): readonly FileFinding[] {
    return [...this.#taken.values()].map(({ label, known, text, rows, line, digests }) => ({
      rule: "value-near" satisfies MappingRule,
      line,
      field: label,
      value: known,
      message: `The value table names it, and ${rowsText(rows)} ${quoted(text)}, which took the else.`,
      hint: `Add ${quoted(text)} to map. Values are compared exactly.`,
      mark: markOf([[text, digests]]),
    }));
  }
}

export class ValueWatch {
  readonly #elses: ElseWatch;
  readonly #all: readonly ColumnWatch[];
  readonly #ofRow: readonly ColumnWatch[];
  readonly #ofItem: readonly ColumnWatch[];
  #rows = 0;
  #gaveAny = false;

  constructor(columns: readonly WatchedColumn[], elses: ElseWatch) {
    this.#elses = elses;
    this.#all = columns.map((column) => new ColumnWatch(column));
    this.#ofRow = this.#all.filter(({ column }) => !column.isOfItem);
    this.#ofItem = this.#all.filter(({ column }) => column.isOfItem);
  }

  /** Looks at what differs within a row. Called before `see` of the row. */
  seeItem(scope: Scope): void {
    if (this.#ofItem.length > 0) look(this.#ofItem, scope, "gave");
  }

  see(scope: Scope, outcome: Outcome): void {
    this.#rows += 1;
    if (outcome === "gave") this.#gaveAny = true;
    if (this.#ofRow.length > 0) look(this.#ofRow, scope, outcome);
  }

  /** The findings about all rows. */
  findings(): readonly FileFinding[] {
    const watched = this.#all;
    const isFamiliar = watched.length === 0 || watched.some((watch) => watch.isFamiliar);
    return [
      ...watched.flatMap((watch) => watch.nearMisses()),
      ...this.#elses.findings(),
      ...watched.flatMap((watch) => watch.notNamed()),
      ...(this.#rows > 0 && !this.#gaveAny && !isFamiliar ? [nothingMapped(this.#rows, watched)] : []),
    ];
  }
}

function look(columns: readonly ColumnWatch[], scope: Scope, outcome: Outcome): void {
  // What can't be read in the row is reported where it is needed.
  const { findings } = scope;
  scope.findings = [];
  for (const watch of columns) watch.see(watch.column.read(scope), scope, outcome);
  scope.findings = findings;
}

class ColumnWatch {
  readonly column: WatchedColumn;
  /** A row holds a value that the source names, or takes any. */
  isFamiliar: boolean;
  /** The named values that no row holds. */
  readonly #unmet: Set<string>;
  /** The values that are named nowhere. */
  readonly #strange = new Map<string, Held & { readonly isTold: boolean }>();
  /** Rows whose values are too many to keep. */
  #beyond = 0;
  #digestsBeyond = 0n;
  #last: string | undefined;

  constructor(column: WatchedColumn) {
    this.column = column;
    this.isFamiliar = column.takesOthers;
    this.#unmet = new Set([...column.named].filter((value) => value !== ""));
  }

  see(text: string, scope: Scope, outcome: Outcome): void {
    if (text === this.#last) return;
    if (this.column.named.has(text)) {
      this.#last = text; // which says nothing new
      this.isFamiliar = true;
      this.#unmet.delete(text);
      return;
    }
    if (outcome === "skipped") return;
    const value = text.slice(0, MOST_TEXT);
    const untaken = outcome === "gave" ? 0 : 1;
    const held = this.#strange.get(value);
    // A row about which nothing will be reported, such as one that a `not` takes, need not be recognised again.
    const isTold = held === undefined ? this.#mayMean(value) : held.isTold;
    const digest = isTold || this.#isOpen(value, untaken) ? scope.digest : 0n;
    if (held !== undefined) add(held, untaken, digest);
    else if (this.#strange.size < MOST_KEPT)
      this.#strange.set(value, { rows: 1, untaken, line: scope.line, digests: digest, isTold });
    else {
      this.#beyond += 1;
      this.#digestsBeyond = sum64(this.#digestsBeyond, digest);
    }
  }

  /** Whether a value may be what one of the names means. */
  #mayMean(value: string): boolean {
    for (const name of this.column.named) if (name !== "" && isNear(name, value)) return true;
    return false;
  }

  /** Whether the source should name a value and does not. An empty cell is not a value, unless its row is lost because of it. */
  #isOpen(value: string, untaken: number): boolean {
    const { isTested, takesOthers, isComplete } = this.column;
    return (isTested && value !== "") || (isComplete && !takesOthers && untaken > 0);
  }

  #open(): readonly HeldText[] {
    return [...this.#strange].filter(([value, { untaken }]) => this.#isOpen(value, untaken));
  }

  nearMisses(): readonly FileFinding[] {
    const { label, named } = this.column;
    const isToldApart = this.#open().length > 0;
    return [...named].flatMap((value) => {
      if (value === "") return [];
      const isUnmet = this.#unmet.has(value);
      // Another spelling beside the right one is reported among the values that are not named, if those are reported.
      if (!isUnmet && isToldApart) return [];
      const meant = [...this.#strange].filter(([text]) => (isUnmet ? isNear(value, text) : isSpelling(value, text)));
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

  notNamed(): readonly FileFinding[] {
    const { label, named, isTested } = this.column;
    const open = [...this.#open()].sort(([, one], [, other]) => other.rows - one.rows);
    if (open.length === 0) return [];
    const told = open.slice(0, MOST_TOLD).map(([value, { rows, line }]) => {
      const meant = [...named].find((known) => known !== "" && isNear(known, value));
      const near = meant === undefined ? "" : `; did you mean ${quoted(meant)}?`;
      return `${quoted(value)} (${rows === 1 ? `line ${line}` : `${rows} times, first in line ${line}`}${near})`;
    });
    const more = open.length - told.length;
    const others = this.#beyond === 0 || more === 0 ? andMore(more) : ` and more than ${more} others`;
    return [
      {
        rule: "value-not-named" satisfies MappingRule,
        line: Math.min(...open.map(([, { line }]) => line)),
        field: label,
        message: `No when, skip or expect names ${told.join(", ")}${others}.`,
        hint: isTested
          ? "Add each to the when whose action it should give, to skip if its rows give nothing, or to expect if it is known to need neither."
          : "Add each to the when that should take it, or to skip.",
        mark: markOf([
          ...open.map(([value, { digests }]) => [value, digests] as const),
          ...(this.#beyond === 0 ? [] : [["", this.#digestsBeyond] as const]),
        ]),
      },
    ];
  }

  /** What rows hold that is named nowhere. */
  get told(): string {
    const most = [...this.#strange].sort(([, one], [, other]) => other.rows - one.rows);
    const shown = most.slice(0, MOST_TOLD).map(([value, { rows }]) => `${quoted(value)} (${rows})`);
    return `${cleanText(this.column.label, 40)}: ${shown.join(", ")}${andMore(most.length - shown.length)}`;
  }
}

function add(held: Held, untaken: number, digest: bigint): void {
  held.rows += 1;
  held.untaken += untaken;
  if (digest !== 0n) held.digests = sum64(held.digests, digest);
}

const sum64 = (one: bigint, other: bigint): bigint => BigInt.asUintN(64, one + other);

/** The same for the same rows with these values. */
const markOf = (values: readonly (readonly [value: string, digests: bigint])[]): string =>
  digestHex(JSON.stringify(values.map(([value, digests]) => `${digests.toString(16)} ${value}`).sort()));

function nothingMapped(rows: number, watched: readonly ColumnWatch[]): FileFinding {
  const whose =
    rows === 1
      ? "The one row gives no action, and the source names none of its"
      : `None of the ${rows} rows gives an action, and the source names none of their`;
  return {
    rule: "nothing-mapped" satisfies MappingRule,
    isOfAllRows: true,
    message: `${whose} values: ${watched.map(({ told }) => told).join("; ")}.`,
    hint: "Is it the right source? Add the values to when, or to skip if such rows give nothing.",
  };
}

/** The same but for case, blanks and marks. */
const isSpelling = (one: string, other: string): boolean => other !== "" && foldSpelling(one) === foldSpelling(other);

/** Whether it is another spelling, or a longer word with one letter changed. Other digits make another value. */
function isNear(one: string, other: string): boolean {
  const [a, b] = [foldSpelling(one), foldSpelling(other)];
  if (a === b) return true;
  if (a.replace(/\D/g, "") !== b.replace(/\D/g, "") || a.length > 64 || b.length > 64) return false;
  return Math.min(a.length, b.length) >= 5 && distance(a, b) <= (a.length >= 10 ? 2 : 1);
}

const rowsText = (rows: number): string => (rows === 1 ? "1 row holds" : `${rows} rows hold`);

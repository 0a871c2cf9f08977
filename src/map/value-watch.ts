/** Counts the values that decide what a row gives, and reports those that the source does not name. */

import { foldSpelling } from "../actions/nearest.ts";
import { lineText } from "../actions/problem.ts";
import { andMore, cleanText, quoted } from "../text.ts";
import { digestHex } from "./row-digest.ts";
import type { FileFinding, MappingRule } from "./rules.ts";
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
  /** What an action's own `each` repeats by, of whose items it is. */
  readonly ownEach?: string;
}

/** What became of a row: it gave an action other than its event; or `skip` matched it, whatever else it holds. */
type Outcome = "gave" | "gave nothing" | "skipped";

/** The rows that hold a value which is named nowhere. */
interface Strange {
  readonly line: number;
  /** The name of which it is another spelling. */
  readonly meant: string | undefined;
  rows: number;
  /** The last of them: a row may be read for several actions. */
  lastRow: number;
  /** Those of them that gave nothing. */
  lost: number;
  /** The sum, in 64 bits, of the digests of the rows that may be reported: the same in any order. */
  digests: bigint;
}

/** How many values are kept; a column with more is not a status. */
const MOST_KEPT = 1000;
const MOST_SHOWN = 8;
/** More would not be read. */
const MOST_IN_HINT = 20;
/** In characters; the beginning of a longer text tells it from others. */
const MOST_TEXT = 200;

export class ValueWatch {
  readonly #columns: readonly { readonly column: WatchedColumn; readonly tally: ValueTally }[];
  readonly #tables: ReadonlyMap<string, ValueTally>;
  #rows = 0;
  #gaveAny = false;

  /** @param tables the values that took the `else` of a value table. */
  constructor(columns: readonly WatchedColumn[], tables: ReadonlyMap<string, ValueTally>) {
    this.#columns = columns.map((column) => ({ column, tally: new ValueTally(column) }));
    this.#tables = tables;
  }

  /** Looks at what differs within a row: in an item of the source's `each`, or of an action's own. Called before `see` of the row. */
  seeItem(scope: Scope, ownEach?: string): void {
    this.#look((column) => column.isOfItem && column.ownEach === ownEach, scope, "gave");
  }

  see(scope: Scope, outcome: Outcome): void {
    this.#rows += 1;
    if (outcome === "gave") this.#gaveAny = true;
    this.#look((column) => !column.isOfItem, scope, outcome);
  }

  #look(isSeen: (column: WatchedColumn) => boolean, scope: Scope, outcome: Outcome): void {
    // What can't be read in the row is reported where it is needed.
    const { findings } = scope;
    for (const { column, tally } of this.#columns) {
      if (!isSeen(column)) continue;
      scope.findings = [];
      tally.see(column.read(scope), scope, outcome);
    }
    scope.findings = findings;
  }

  /** The findings about all rows of a file. */
  findings(fileName: string): readonly FileFinding[] {
    const watched = this.#columns.map(({ tally }) => tally);
    const isFamiliar = watched.length === 0 || watched.some((tally) => tally.isFamiliar);
    return [
      ...[...watched, ...this.#tables.values()].flatMap((tally) => tally.nearMisses()),
      ...watched.flatMap((tally) => tally.notNamed(fileName)),
      ...(this.#rows > 0 && !this.#gaveAny && !isFamiliar ? [nothingMapped(this.#rows, watched)] : []),
    ];
  }
}

/** The values of one column. */
export class ValueTally {
  readonly #says: Omit<WatchedColumn, "read">;
  readonly #met = new Set<string>();
  readonly #strange = new Map<string, Strange>();
  /** Rows whose values are too many to keep. */
  readonly #beyond: Strange = { line: 0, meant: undefined, rows: 0, lastRow: 0, lost: 0, digests: 0n };
  #last: string | undefined;

  constructor(says: Omit<WatchedColumn, "read">) {
    this.#says = says;
  }

  see(text: string, scope: Scope, outcome: Outcome): void {
    if (text === this.#last) return;
    if (this.#says.named.has(text)) {
      this.#last = text; // which says nothing new
      this.#met.add(text);
      return;
    }
    if (outcome === "skipped") return;
    const value = text.slice(0, MOST_TEXT);
    const strange = this.#strange.get(value) ?? this.#add(value, scope.line);
    if (strange.lastRow === scope.row) return;
    strange.lastRow = scope.row;
    strange.rows += 1;
    if (outcome === "gave nothing") strange.lost += 1;
    if (strange.meant !== undefined || this.#isOpen(value, strange))
      strange.digests = BigInt.asUintN(64, strange.digests + scope.digest);
  }

  #add(value: string, line: number): Strange {
    if (this.#strange.size >= MOST_KEPT) return this.#beyond;
    const spelling = foldSpelling(value);
    const meant = [...this.#says.named].find((name) => name !== "" && foldSpelling(name) === spelling);
    const strange = { line, meant, rows: 0, lastRow: 0, lost: 0, digests: 0n };
    this.#strange.set(value, strange);
    return strange;
  }

  /** A row holds a value that the source names, or it takes any. */
  get isFamiliar(): boolean {
    return this.#says.takesOthers || this.#met.size > 0;
  }

  /** Whether the source should name a value and does not. An empty cell is not a value, unless its row is lost because of it. */
  #isOpen(value: string, { lost }: Strange): boolean {
    const { isTested, takesOthers, isComplete } = this.#says;
    return (isTested && value !== "") || (isComplete && !takesOthers && lost > 0);
  }

  /** Values that are taken as any other, though they are another spelling of one that the source names. */
  nearMisses(): readonly FileFinding[] {
    const taken = [...this.#strange].filter(([value, strange]) => !this.#isOpen(value, strange));
    return [...this.#says.named].flatMap((name) => {
      const meant = taken.filter(([, strange]) => strange.meant === name);
      const [first] = meant;
      if (first === undefined) return [];
      const shown = meant.slice(0, MOST_SHOWN).map(([value, { rows }]) => `${rowsText(rows)} ${quoted(value)}`);
      return {
        rule: "value-near" satisfies MappingRule,
        line: first[1].line,
        field: this.#says.label,
        value: name,
        message: `The source names it; ${shown.join(", ")}${andMore(meant.length - shown.length)}, which is another value.`,
        hint: `Did you mean ${quoted(first[0])}${this.#met.has(name) ? " too" : ""}? Values are compared exactly.`,
        mark: markOf(meant),
      };
    });
  }

  notNamed(source: string): readonly FileFinding[] {
    const { label } = this.#says;
    const open = byRows([...this.#strange].filter(([value, strange]) => this.#isOpen(value, strange)));
    if (open.length === 0) return [];
    const shown = open.slice(0, MOST_SHOWN).map(([value, { rows, line, meant }]) => {
      const near = meant === undefined ? "" : `; did you mean ${quoted(meant)}?`;
      const place = lineText(source, line);
      return `${quoted(value)} (${rows === 1 ? place : `${rows} times, first in ${place}`}${near})`;
    });
    const more = open.length - shown.length;
    const others = this.#beyond.rows === 0 || more === 0 ? andMore(more) : ` and more than ${more} others`;
    return [
      {
        rule: "value-not-named" satisfies MappingRule,
        line: Math.min(...open.map(([, { line }]) => line)),
        field: label,
        message: `No when, skip or expect names ${shown.join(", ")}${others}.`,
        hint: this.#remedyFor(open),
        mark: markOf([...open, ["", this.#beyond]]),
      },
    ];
  }

  /** The one line that names them for good: `skip` where all their rows give nothing, else `expect` with all that is known. */
  #remedyFor(open: readonly Counted[]): string {
    const { label, named, isOfItem, ownEach } = this.#says;
    const isLost = !isOfItem && open.every(([, { lost, rows }]) => lost === rows);
    const others = [...this.#strange].flatMap(([value, { lost }]) => (isLost && lost === 0 ? [] : value));
    const values = isLost ? others : [...named, ...others];
    // Neither can name what is in the items of an action's own each.
    if (ownEach !== undefined || values.length > MOST_IN_HINT)
      return "Add each value to the when of its action; or list in that when all that give nothing: {not: [one, other]}.";
    const list = values.map((value) => quoted(value, MOST_TEXT)).join(", ");
    const line = `${isLost ? "skip" : "expect"}: {${quoted(label, MOST_TEXT)}: [${list}]}`;
    const condition = isLost ? "If such rows give nothing" : "If such rows lack no action";
    return `${condition}, write ${line} in the source. Else add each value to the when of its action.`;
  }

  /** What rows hold that is named nowhere. */
  get shown(): string {
    const most = byRows([...this.#strange]);
    const shown = most.slice(0, MOST_SHOWN).map(([value, { rows }]) => `${quoted(value)} (${rows})`);
    return `${cleanText(this.#says.label, 40)}: ${shown.join(", ")}${andMore(most.length - shown.length)}`;
  }
}

type Counted = readonly [value: string, strange: Strange];

const byRows = (values: readonly Counted[]) => values.toSorted(([, one], [, other]) => other.rows - one.rows);

/** By which a later run knows a warning again: the same for the same rows with these values. */
const markOf = (values: readonly Counted[]): string =>
  digestHex(JSON.stringify(values.map(([value, { digests }]) => `${digests.toString(16)} ${value}`).sort()));

function nothingMapped(rows: number, watched: readonly ValueTally[]): FileFinding {
  const whose =
    rows === 1
      ? "The one row gives no action, and the source names none of its"
      : `None of the ${rows} rows gives an action, and the source names none of their`;
  return {
    rule: "nothing-mapped" satisfies MappingRule,
    isOfAllRows: true,
    message: `${whose} values: ${watched.map(({ shown }) => shown).join("; ")}.`,
    hint: "Is it the right source? Add the values to when, or to skip if such rows give nothing.",
  };
}

const rowsText = (rows: number): string => (rows === 1 ? "1 row holds" : `${rows} rows hold`);

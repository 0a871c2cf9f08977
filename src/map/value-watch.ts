/** Counts the values that decide what a row gives, and reports those that the source does not name. */

import { foldSpelling } from "../actions/nearest.ts";
import type { FileProblem } from "../actions/problem.ts";
import { lineText } from "../read/file-names.ts";
import type { MappingRule } from "../rules.ts";
import { andMore, cleanText, quoted } from "../text.ts";
import type { Expectation, Skip } from "./expect.ts";
import { digestHex } from "./row-digest.ts";
import type { Read, Scope } from "./scope.ts";
import { headsIn, type Looked, type Naming } from "./when.ts";

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
  readonly readPer: ReadPer;
}

/** How often a column is read: once a row, or where it may differ, for each item of the source's `each` or of an action's own. */
type ReadPer = "row" | "item" | `item of ${string}`;

/**
 * The columns that conditions compare or `skip` names, whatever gives them: the file, a lookup, an item of `each`.
 *
 * @param expectations - name values of them.
 */
export function watchedColumns(
  looked: readonly Looked[],
  lookups: Iterable<string>,
  skips: readonly Skip[] = [],
  expectations: readonly Expectation[] = [],
): readonly WatchedColumn[] {
  const added = new Set(["n", "item", "outer", ...lookups]);
  const compared = new Set(looked.filter(({ presenceOnly }) => !presenceOnly).map(({ label }) => label));
  const looks = looked.filter(({ label }) => compared.has(label));
  const columns = Map.groupBy<string, Naming>([...looks, ...skips], ({ label }) => plainName(label));
  return [...columns].flatMap(([label, naming]) => {
    const [first] = naming;
    if (first === undefined) return [];
    const ofColumn = looks.filter((look) => plainName(look.label) === label);
    const all = [...naming, ...expectations.filter((each) => plainName(each.label) === label)];
    return {
      label,
      read: first.cell,
      named: new Set(all.flatMap(({ named }) => named)),
      takesOthers: ofColumn.some(({ takesOthers }) => takesOthers),
      isTested: ofColumn.some(({ takesOthers }) => !takesOthers),
      readPer: headsIn(first.label).some((head) => added.has(head)) ? "item" : "row",
    };
  });
}

/** `{Status}` is the column `Status`. */
const plainName = (label: string): string => /^\{([^{}]+)\}$/.exec(label)?.[1]?.trim() ?? label;

/** The rows that hold a value which is named nowhere. */
interface Strange {
  readonly line: number;
  /** The value that is named and differs from it in case, blanks and signs only. */
  readonly near: string | undefined;
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
  readonly #tallies: readonly ValueTally[];
  readonly #readPer: ReadonlyMap<ReadPer, readonly ValueTally[]>;
  #rows = 0;
  /** A row gave an action, or `skip` named it. */
  #fits = false;

  constructor(columns: readonly WatchedColumn[]) {
    this.#tallies = columns.map((column) => new ValueTally(column));
    this.#readPer = Map.groupBy(this.#tallies, ({ column }) => column.readPer);
  }

  /** Looks at what differs within a row. Called before `see` of the row. */
  seeItem(scope: Scope, per: Exclude<ReadPer, "row"> = "item"): void {
    this.#look(per, scope, true);
  }

  /** @param gave whether the row gave an action other than its event. */
  see(scope: Scope, gave: boolean): void {
    this.#rows += 1;
    if (gave) this.#fits = true;
    this.#look("row", scope, gave);
  }

  /** What can't be read in the row is reported where it is needed. */
  #look(per: ReadPer, scope: Scope, gave: boolean): void {
    const found = scope.problems.length;
    for (const tally of this.#readPer.get(per) ?? []) tally.see(scope, gave);
    scope.problems.length = found;
  }

  /** A row that `skip` takes, whatever else it holds. */
  seeSkipped(): void {
    this.#fits = true;
  }

  /** The problems about all rows of a file. */
  problems(fileName: string): readonly FileProblem[] {
    const tallies = this.#tallies;
    const deciding = tallies.filter(({ column }) => column.isTested || column.takesOthers);
    const isFamiliar = this.#fits || deciding.length === 0 || deciding.some((tally) => tally.isFamiliar);
    const isLost = this.#rows > 0 && !isFamiliar;
    return [
      ...tallies.flatMap((tally) => tally.notNamed(fileName)),
      ...(isLost ? [nothingMapped(this.#rows, deciding)] : []),
    ];
  }
}

/** The values of one column. */
class ValueTally {
  readonly column: WatchedColumn;
  #metAny = false;
  readonly #strange = new Map<string, Strange>();
  /** Rows whose values are too many to keep. */
  readonly #beyond: Strange = { line: 0, near: undefined, rows: 0, lastRow: 0, lost: 0, digests: 0n };
  #last: string | undefined;

  constructor(column: WatchedColumn) {
    this.column = column;
  }

  see(scope: Scope, gave: boolean): void {
    const text = this.column.read(scope);
    if (text === this.#last) return;
    if (this.column.named.has(text)) {
      this.#last = text; // which says nothing new
      this.#metAny = true;
      return;
    }
    const value = text.slice(0, MOST_TEXT);
    const strange = this.#strange.get(value) ?? this.#add(value, scope.line);
    if (strange.lastRow === scope.row) return;
    strange.lastRow = scope.row;
    strange.rows += 1;
    if (!gave) strange.lost += 1;
    if (this.#isOpen(value, strange)) strange.digests = BigInt.asUintN(64, strange.digests + scope.digest);
  }

  #add(value: string, line: number): Strange {
    if (this.#strange.size >= MOST_KEPT) return this.#beyond;
    const strange = { line, near: this.#nearTo(value), rows: 0, lastRow: 0, lost: 0, digests: 0n };
    this.#strange.set(value, strange);
    return strange;
  }

  /** A row holds a value that the source names, or it takes any. */
  get isFamiliar(): boolean {
    return this.column.takesOthers || this.#metAny;
  }

  #nearTo(value: string): string | undefined {
    const spelling = foldSpelling(value);
    return spelling === "" ? undefined : [...this.column.named].find((name) => foldSpelling(name) === spelling);
  }

  /**
   * Whether the source should name a value and does not: where a condition takes only some, and where it seems to mean one
   * that is written otherwise. An empty cell is not a value.
   */
  #isOpen(value: string, { near }: Strange): boolean {
    return near !== undefined || (this.column.isTested && value !== "");
  }

  notNamed(source: string): readonly FileProblem[] {
    const { label } = this.column;
    const open = byRows([...this.#strange].filter(([value, strange]) => this.#isOpen(value, strange)));
    if (open.length === 0) return [];
    const shown = open.slice(0, MOST_SHOWN).map(([value, { rows, line, near }]) => {
      const meant = near === undefined ? "" : `; did you mean ${quoted(near)}?`;
      const place = lineText(source, line);
      return `${quoted(value)} (${rows === 1 ? place : `${rows} times, first in ${place}`}${meant})`;
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
    const { label, named, readPer, isTested } = this.column;
    if (!isTested)
      return "Such rows are taken as any other. Where they should not be, name the values as the file writes them.";
    const isLost = readPer === "row" && open.every(([, { lost, rows }]) => lost === rows);
    const others = [...this.#strange].flatMap(([value, { lost }]) => (isLost && lost === 0 ? [] : value));
    const values = isLost ? others : [...named, ...others];
    // Neither can name what is in the items of an action's own each.
    if (readPer.startsWith("item of") || values.length > MOST_IN_HINT)
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
    return `${cleanText(this.column.label, 40)}: ${shown.join(", ")}${andMore(most.length - shown.length)}`;
  }
}

type Counted = readonly [value: string, strange: Strange];

const byRows = (values: readonly Counted[]) => values.toSorted(([, one], [, other]) => other.rows - one.rows);

/** By which a later run knows a warning again: the same for the same rows with these values. */
const markOf = (values: readonly Counted[]): string =>
  digestHex(JSON.stringify(values.map(([value, { digests }]) => `${digests.toString(16)} ${value}`).sort()));

function nothingMapped(rows: number, watched: readonly ValueTally[]): FileProblem {
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

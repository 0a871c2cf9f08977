/** Columns of a table by their names. */

import { nearest } from "../actions/nearest.ts";
import type { FileProblem } from "../actions/problem.ts";
import { OWN_COLUMNS } from "../read/rejects-columns.ts";
import type { MappingRule } from "../rules.ts";
import { listed, MappingError, quote, type RulePath } from "./mapping-error.ts";
import type { Read, Scope } from "./scope.ts";
import type { ColumnAliases, SourceConfig } from "./source.ts";

/** A source's own names for columns, and where they stand in the config. */
export interface Aliases {
  readonly aliases: ColumnAliases;
  readonly path: RulePath;
}

export class TableColumns {
  readonly #what: string;
  /** As the file has it, and trimmed. */
  readonly #written: readonly string[];
  readonly #header: readonly string[];
  readonly #aliases: Aliases;
  /** Where columns stand, from 0. */
  readonly #places: ReadonlyMap<string, readonly number[]>;
  readonly #used = new Set<number>();
  /** The columns that were asked for by their position alone, by the source's own names. */
  readonly #byPosition = new Map<string, number>();

  /** @param what the file, in messages. */
  constructor(what: string, header: readonly string[], aliases: Aliases) {
    this.#what = what;
    this.#written = header;
    this.#header = header.map((name) => name.trim());
    this.#aliases = aliases;
    this.#places = Map.groupBy(this.#header.keys(), (place) => this.#header[place] ?? "");
  }

  read(name: string, path: RulePath): Read {
    return readAt(this.placeOf(name, path));
  }

  placeOf(name: string, path: RulePath): number {
    const place = this.find(name, path);
    if (place === undefined) throw this.#missing([name], path);
    return place;
  }

  /** The headers of the columns that were asked for. */
  get used(): readonly string[] {
    return this.#written.filter((_name, place) => this.#used.has(place));
  }

  get unused(): readonly string[] {
    return this.#written.filter((name, place) => !this.#used.has(place) && !OWN_COLUMNS.has(name.trim()));
  }

  /** Problems for columns taken by position alone: nothing shows that they are still the ones that were meant. */
  problems(): readonly FileProblem[] {
    return [...this.#byPosition].flatMap(([name, place]) => {
      const header = this.#header[place] ?? "";
      // A header that names no other column could be written instead; `header: none` makes the position one.
      if (header === "" || header === String(place + 1) || this.#places.get(header)?.length !== 1) return [];
      return {
        rule: "column-by-position" satisfies MappingRule,
        field: name,
        message: `It is taken by its position, column ${place + 1}, which is now ${quote(header)}.`,
        hint: `To be safe when columns move, name its header: ${name}: ${JSON.stringify(header)}.`,
      };
    });
  }

  /** The place of a column; undefined when none has this name. */
  find(name: string, path: RulePath): number | undefined {
    const { aliases, path: ofAliases } = this.#aliases;
    const alias = Object.hasOwn(aliases, name) ? aliases[name] : undefined;
    const place =
      alias === undefined ? this.#called(name, path) : this.#placeOfAlias(name, [alias].flat(), [...ofAliases, name]);
    if (place !== undefined) this.#used.add(place);
    return place;
  }

  #called(name: string, path: RulePath): number | undefined {
    const exact = this.#places.get(name);
    if (exact?.length === 1) return exact[0];
    if (exact !== undefined)
      throw new MappingError(
        path,
        `${this.#what} has ${exact.length} columns called ${quote(name)}`,
        `Say which: ${exact.map((_place, at) => `${name}#${at + 1}`).join(" or ")}.`,
      );
    const [, base = "", nth] = /^(.*)#(\d{1,4})$/s.exec(name) ?? [];
    return nth === undefined ? undefined : this.#places.get(base.trim())?.[Number(nth) - 1];
  }

  #placeOfAlias(name: string, choices: readonly string[], path: RulePath): number {
    for (const choice of choices) {
      const called = this.#called(choice.trim(), path);
      if (called !== undefined) return called;
      const place = /^[1-9]\d{0,4}$/.test(choice) ? Number(choice) - 1 : undefined;
      if (place === undefined || place >= this.#header.length) continue;
      this.#byPosition.set(name, place);
      return place;
    }
    throw this.#missing(choices, path);
  }

  #missing(names: readonly string[], path: RulePath): MappingError {
    const what = `${this.#what} has no column ${names.map(quote).join(" or ")}`;
    return new MappingError(path, what, this.#hint(names[0] ?? ""));
  }

  /** What a name that is not found could have been. */
  #hint(name: string): string {
    const [only = ""] = this.#header;
    if (this.#header.length === 1 && /[,;\t|]/.test(only))
      return `Its only column is ${quote(only)}: is the delimiter in csv wrong, or was it not detected?`;
    const title = titleHint(this.#header);
    if (title !== undefined) return title;
    const near = nearest(name, this.#places.keys());
    return near === undefined ? `Its columns are ${listed([...this.#places.keys()])}.` : `Did you mean ${quote(near)}?`;
  }
}

/** Of a header with one name only, which may be a title above it. */
export function titleHint(header: readonly string[]): string | undefined {
  const [only, ...others] = header.filter((each) => each !== "");
  if (only === undefined || others.length > 0) return undefined;
  return `Its only column is ${quote(only)}. If that is a title, give the line of the header in its source: csv: {header: LINE}.`;
}

export const readAt =
  (place: number): Read =>
  ({ cells }) =>
    cells[place] ?? "";

/** Trimmed cells without the apostrophe that exporters put before what a spreadsheet would take for a formula, if they do. */
export function unguarded(cells: readonly string[], csv: SourceConfig["csv"]): readonly string[] {
  return csv?.guards === "strip" ? cells.map((cell) => (GUARDED.test(cell) ? cell.slice(1).trim() : cell)) : cells;
}
const GUARDED = /^'[=+\-@|%\t\r]/;

/** Blank cells that take the value of the row above, as exports write the rows of one order. */
export class FillDown {
  readonly #columns: readonly { readonly label: string; readonly place: number; above: string }[];
  readonly #isRejects: boolean;
  /** What the row in hand has from above, by the columns; undefined where that is not known. */
  taken: readonly string[] | undefined;

  /** @param isRejects whether the rows come from a rejects file, where the row above is not the one above it in the export. */
  constructor(columns: readonly { readonly label: string; readonly place: number }[], isRejects: boolean) {
    this.#columns = columns.map((column) => ({ ...column, above: "" }));
    this.#isRejects = isRejects;
  }

  /** Gives the scope's cells what they take from above; what can't be filled is a problem. */
  fill(scope: Scope): void {
    const whole = [...scope.cells];
    const taken: string[] = [];
    let isFilled = true;
    for (const column of this.#columns) {
      const cell = whole[column.place] ?? "";
      if (cell !== "") column.above = cell;
      else if (column.above === "" || this.#isRejects) {
        scope.problems.push(unfilled(column.label, this.#isRejects));
        isFilled = false;
      } else {
        whole[column.place] = column.above;
        taken.push(column.label, column.above);
      }
    }
    scope.cells = whole;
    this.taken = isFilled ? taken : undefined;
  }

  /** Called for a row that could not be read: what it held is not known. */
  forget(): void {
    this.taken = undefined;
    for (const column of this.#columns) column.above = "";
  }
}

const unfilled = (label: string, isRejects: boolean) => ({
  rule: "fill-down-empty" satisfies MappingRule,
  field: label,
  message: isRejects
    ? `${label} is empty, and the row above in this file is not the one above it in the export.`
    : `${label} is empty, and no readable row above can fill it.`,
  hint: isRejects ? "Write the value that it had." : "Write the value into the first row that has it.",
});

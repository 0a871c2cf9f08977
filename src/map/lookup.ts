/** Rows of another file, joined by key: `{order.Total}` is the column Total of the one row of `order` that fits. */

import type { MappingRule } from "../rules.ts";
import { MappingError, quote, type RulePath } from "./mapping-error.ts";
import { type Names, type Read, Scope } from "./scope.ts";
import type { LookupConfig } from "./source.ts";
import { TableColumns, unguarded } from "./table-columns.ts";
import { compileTemplate } from "./template.ts";

/** A lookup file, read whole. Its rows stay in memory as long as the mapper. */
export interface LookupTable {
  /** As the user knows it. */
  readonly file: string;
  readonly header: readonly string[];
  /** Of trimmed cells. */
  readonly rows: readonly (readonly string[])[];
}

type Found = readonly string[] | "none" | "several";

export class Lookup {
  readonly #name: string;
  readonly #config: LookupConfig;
  readonly #table: LookupTable;
  readonly #columns: TableColumns;
  /** What a row joins by. */
  readonly #key: readonly Read[];
  readonly #rows = new Map<string, Found>();
  /** The row of the table, whose columns are read like those of a file. */
  readonly #joined = new Scope();
  #turn = -1;
  #found: Found = "none";

  /** @param names those of the row that is joined. */
  constructor(name: string, config: LookupConfig, table: LookupTable, names: Names, path: RulePath) {
    this.#name = name;
    this.#config = config;
    this.#table = table;
    this.#columns = new TableColumns(table.file, table.header, { aliases: {}, path });
    const where = Object.entries(config.where);
    if (where.length === 0) throw new MappingError([...path, "where"], "names no column to join by");
    const ofTable = where.map(([column]) => this.#columns.read(column, [...path, "where", column]));
    this.#key = where.map(([column, template]) =>
      compileTemplate(template, names, [...path, "where", column], "any column is"),
    );
    for (const row of table.rows) {
      this.#joined.cells = unguarded(row, config.csv);
      const key = keyOf(ofTable, this.#joined);
      if (key !== undefined) this.#rows.set(key, this.#rows.has(key) ? "several" : this.#joined.cells);
    }
  }

  read(column: string, path: RulePath): Read {
    const read = this.#columns.read(column, path);
    return (scope) => {
      if (scope.turn !== this.#turn) this.#find(scope);
      if (typeof this.#found === "string") return "";
      this.#joined.cells = this.#found;
      return read(this.#joined);
    };
  }

  #find(scope: Scope): void {
    this.#turn = scope.turn;
    const key = keyOf(this.#key, scope);
    const found = key === undefined ? "none" : (this.#rows.get(key) ?? "none");
    this.#found = found;
    if (typeof found !== "string" || (found === "none" && this.#config.missing === "empty")) return;
    const isNone = found === "none";
    scope.problems.push({
      rule: (isNone ? "lookup-missing" : "lookup-ambiguous") satisfies MappingRule,
      field: this.#name,
      value: this.#key.map((read) => read(scope)).join(", "),
      message: `${this.#table.file} has ${isNone ? "no row" : "several rows"} with this ${Object.keys(this.#config.where).map(quote).join(" and ")}.`,
      hint: isNone
        ? "Is the file from the same export? Declare missing: empty if some rows have none."
        : "Join by columns that tell them apart.",
    });
  }
}

/** Undefined where a part of it is empty. */
function keyOf(parts: readonly Read[], scope: Scope): string | undefined {
  const [only] = parts;
  if (only !== undefined && parts.length === 1) return only(scope) || undefined;
  const texts = parts.map((read) => read(scope));
  return texts.includes("") ? undefined : JSON.stringify(texts);
}

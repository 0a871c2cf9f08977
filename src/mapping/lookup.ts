/** Rows of another file, joined by key: `{order.Total}` is the column Total of the one row of `order` that fits. */

import type { FileFinding } from "../map/file-finding.ts";
import { MappingError, type RulePath } from "../map/mapping-error.ts";
import type { MappingRule } from "../map/rules.ts";
import type { LookupConfig } from "../map/source.ts";
import { quote } from "../map/words.ts";
import { columnsOf, emptyScope, type Names, type Read, type Scope } from "./names.ts";
import { compileTemplate } from "./template.ts";

/** A lookup file, read whole. Its rows stay in memory as long as the mapper. */
export interface LookupTable {
  /** As the user knows it. */
  readonly file: string;
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** How often rows with a key asked a lookup, and how often it found a row. */
export interface LookupTally {
  asked: number;
  found: number;
  /** What was looked for first. */
  example: string | undefined;
}

type Found = readonly string[] | "none" | "several";

/** The columns of a lookup as names. `names` are those of the row that is joined. */
export function compileLookup(
  name: string,
  config: LookupConfig,
  table: LookupTable,
  names: Names,
  path: RulePath,
  tally: LookupTally,
): Names {
  const columns = columnsOf(table.file, table.header, { aliases: {}, path }, config.csv?.guards === "strip");
  const where = Object.entries(config.where).map(([column, template]) => ({
    ofTable: columns.read(column, [...path, "where", column]),
    ofRow: compileTemplate(template, names, [...path, "where", column], "any column is"),
  }));
  if (where.length === 0) throw new MappingError([...path, "where"], "names no column to join by");
  const index = indexOf(
    table,
    where.map(({ ofTable }) => ofTable),
  );

  let turn = -1;
  let found: Found = "none";
  const find = (scope: Scope): Found => {
    if (scope.turn === turn) return found;
    turn = scope.turn;
    const key = where.map(({ ofRow }) => ofRow(scope));
    found = key.includes("") ? "none" : (index.get(joined(key)) ?? "none");
    if (!key.includes("")) {
      tally.asked += 1;
      tally.example ??= key.join(", ");
      if (found !== "none") tally.found += 1;
    }
    if (found === "none" && config.missing === "empty") return found;
    if (typeof found === "string")
      scope.findings.push({
        rule: (found === "none" ? "lookup-missing" : "lookup-ambiguous") satisfies MappingRule,
        field: name,
        value: key.join(", "),
        message: `${table.file} has ${found === "none" ? "no row" : "several rows"} with this ${Object.keys(config.where).map(quote).join(" and ")}.`,
        hint:
          found === "none"
            ? "Is the file from the same export? Declare missing: empty if some rows have none."
            : "Join by columns that tell them apart.",
      });
    return found;
  };

  return {
    read(column, at): Read {
      const read = columns.read(column, at);
      const ofTable = emptyScope();
      return (scope) => {
        const row = find(scope);
        if (typeof row === "string") return "";
        ofTable.cells = row;
        return read(ofTable);
      };
    },
  };
}

function indexOf(table: LookupTable, keys: readonly Read[]): ReadonlyMap<string, Found> {
  const index = new Map<string, Found>();
  const scope = emptyScope();
  for (const row of table.rows) {
    scope.cells = row;
    const key = keys.map((read) => read(scope));
    if (key.includes("")) continue;
    const text = joined(key);
    index.set(text, index.has(text) ? "several" : row);
  }
  return index;
}

const joined = (key: readonly string[]): string => (key.length === 1 ? (key[0] ?? "") : JSON.stringify(key));

/** A finding for a lookup that found nothing for any row: its file may be the wrong one, or its values written differently. */
export function fitsNothing(
  name: string,
  { file }: LookupTable,
  { asked, found, example }: LookupTally,
): readonly FileFinding[] {
  if (asked === 0 || found > 0) return [];
  return [
    {
      rule: "lookup-fits-nothing" satisfies MappingRule,
      field: name,
      ...(example !== undefined && { value: example }),
      message: `${file} matches ${asked === 1 ? "not even the one row that uses" : `none of the ${asked} rows that use`} it, so what it should add is missing everywhere.`,
      hint: "Is it from the same export, and are the values written the same way?",
    },
  ];
}

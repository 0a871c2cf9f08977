/** The columns whose values decide what a row gives, so that a preview can count what each value leads to. */

import { withExactNumbers } from "../map/exact-numbers.ts";
import type { ConditionMap, SourceConfig } from "../map/source.ts";
import type { Row } from "../read/row.ts";
import { columnsOf, emptyScope, namesOf, pathsOf, type Read } from "./names.ts";
import { columnReader } from "./when.ts";

export interface DecidingColumn {
  /** As `when` calls it. */
  readonly label: string;
  /** Its text in a row; undefined for a malformed one. */
  readonly read: (row: Row) => string | undefined;
}

/**
 * The columns that the `when` of a source's actions compare with values, in the order of the config. Without columns of which
 * it only matters whether they are empty, those of lookups, and the items of `each`.
 */
export function decidingColumns(
  config: SourceConfig,
  header: readonly string[] | undefined,
): readonly DecidingColumn[] {
  const aliases = { aliases: config.columns ?? {}, path: [] };
  const columns =
    header === undefined ? pathsOf(aliases) : columnsOf("", header, aliases, config.csv?.guards === "strip");
  const names = namesOf(columns, { counts: false }, new Map(), header === undefined);
  const added = new Set(["item", ...Object.keys(config.lookup ?? {})]);
  const labels = new Set(
    (config.actions ?? [])
      .flatMap((entry) => Object.values(entry))
      .flatMap((action) => [action?.when ?? []].flat())
      .flatMap((map: ConditionMap) => Object.entries(map))
      .filter(([, condition]) => comparesValues(condition))
      .map(([label]) => label)
      .filter((label) => !label.includes(".") || !added.has(label.split(".")[0] ?? "")),
  );
  return [...labels].flatMap((label) => {
    const read = columnReader(label, names);
    return read === undefined ? [] : [{ label, read: (row) => textOf(row, read) }];
  });
}

function comparesValues(condition: ConditionMap[string]): boolean {
  if (condition === undefined || typeof condition === "string" || Array.isArray(condition)) return true;
  return "not" in condition && condition.not !== undefined;
}

function textOf(row: Row, read: Read): string | undefined {
  if (row.kind === "malformed") return undefined;
  return read(row.kind === "cells" ? emptyScope({ cells: row.cells }) : emptyScope({ value: withExactNumbers(row) }));
}

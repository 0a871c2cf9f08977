/** The columns whose values decide what a row gives, so that a preview can count what each value leads to. */

import type { Row } from "../read/row.ts";
import { withExactNumbers } from "./exact-numbers.ts";
import { namesOf } from "./names.ts";
import { columnsOf, readerOf } from "./program.ts";
import { Scope } from "./scope.ts";
import type { ConditionMap, SourceConfig } from "./source.ts";

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
  const names = namesOf(columnsOf({ config, header, fileName: "" }, []), { counts: false }, new Map());
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
  const scope = new Scope();
  return [...labels].flatMap((label) => {
    const read = readerOf(label, names);
    if (read === undefined) return [];
    const textIn = (row: Row): string | undefined => {
      if (row.kind === "malformed") return undefined;
      if (row.kind === "cells") scope.cells = row.cells;
      else scope.value = withExactNumbers(row);
      return read(scope);
    };
    return [{ label, read: textIn }];
  });
}

function comparesValues(condition: ConditionMap[string]): boolean {
  if (condition === undefined || typeof condition === "string" || Array.isArray(condition)) return true;
  return "not" in condition && condition.not !== undefined;
}

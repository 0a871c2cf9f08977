/** The columns of which a source makes what names a person. */

import { PERSONAL_FIELDS } from "../actions/fields.ts";
import type { ColumnAliases, SourceConfig } from "./source.ts";
import { namesIn, templatesOf } from "./template.ts";

export function personalColumns(config: SourceConfig, header: readonly string[] = []): ReadonlySet<string> {
  const actions = (config.actions ?? []).flatMap((entry) => Object.values(entry).flatMap((action) => action ?? []));
  const rules = [config, ...actions].flatMap(({ fields }) => PERSONAL_FIELDS.map((field) => fields?.[field]));
  const items = [config, ...actions].flatMap(({ each }) => (each !== undefined && "in" in each ? [each.in] : []));

  const found = new Set<string>();
  const add = (template: string): void => {
    for (const name of template.includes("{") ? namesIn(template, []) : []) {
      if (found.has(name)) continue;
      found.add(name);
      for (const column of columnsOf(config.columns?.[name], header)) found.add(column);
      const [head = ""] = name.split(".");
      // What a lookup gives is found by what it joins by; an item is a part of a cell.
      const madeOf = head === "item" || head === "outer" ? items : Object.values(config.lookup?.[head]?.where ?? {});
      madeOf.forEach(add);
    }
  };
  rules.flatMap((rule) => (rule === undefined ? [] : templatesOf(rule))).forEach(add);
  return found;
}

/** The columns that a name of the source's own may stand for. */
function columnsOf(alias: ColumnAliases[string] | undefined, header: readonly string[]): readonly string[] {
  return [alias ?? []].flat().flatMap((choice) => [choice, header[Number(choice) - 1] ?? []].flat());
}

/** What a name in a template stands for: a column or key, the counter `n`, the item of `each`, a lookup's column, the file's name. */

import { nearest } from "../actions/nearest.ts";
import { type NamedFile, readFileName } from "./file-name.ts";
import { JsonKeys, leafAt } from "./json-rows.ts";
import type { Lookup } from "./lookup.ts";
import { listed, MappingError, quote, type RulePath } from "./mapping-error.ts";
import type { Names, Read, Scope } from "./scope.ts";
import { readAt, type TableColumns } from "./table-columns.ts";

export type Columns = TableColumns | JsonKeys;

/** What an `each` adds to the names, beside `{n}`. */
export interface EachNames {
  readonly item?: ItemNames | undefined;
  /** The item of the `each` around it. */
  readonly outer?: ItemNames | undefined;
  /** How many items a cell has, as `Barcodes.length`; of a list in JSON that is a path. */
  readonly length?: { readonly name: string; readonly read: Read } | undefined;
}

/** The named groups of a match; or any path in the items of a list of JSON. */
type ItemNames =
  | { readonly groups: readonly string[]; readonly list?: undefined }
  | { readonly list: string; readonly groups?: undefined };

/** All names of a rule: those of the rows, and what `each`, the lookups and the file's name add. */
export function namesOf(
  columns: Columns,
  each: EachNames | undefined,
  lookups: ReadonlyMap<string, Lookup>,
  file: NamedFile,
): Names {
  const added = (name: string, path: RulePath) =>
    addedName(name, columns, each, lookups, path) ?? readFileName(name, file, path);
  // The keys of JSON rows are not known yet, so there the names that `each` and lookups add come first.
  if (columns instanceof JsonKeys) return (name, path) => added(name, path) ?? columns.read(name);
  return (name, path) => {
    const place = columns.find(name, path);
    if (place === undefined) return added(name, path) ?? noColumn(name, columns, each, path);
    if (name !== "n" || each === undefined) return readAt(place);
    throw new MappingError(
      path,
      "n is a column and the counter of each",
      "Give the column another name under columns.",
    );
  };
}

function noColumn(name: string, columns: TableColumns, each: EachNames | undefined, path: RulePath): Read {
  if (name === "n" || name === "item" || name.startsWith("item."))
    throw new MappingError(path, `{${name}} means something only with each`, "Add each, or name a column.");
  if (each?.item?.groups?.includes(name) === true)
    throw new MappingError(path, `has no column ${quote(name)}`, `Did you mean {item.${name}}?`);
  return columns.read(name, path);
}

function addedName(
  name: string,
  columns: Columns,
  each: EachNames | undefined,
  lookups: ReadonlyMap<string, Lookup>,
  path: RulePath,
): Read | undefined {
  if (name === "n" && each !== undefined) return ({ n }) => n;
  if (name === each?.length?.name) return each.length.read;
  const [head = "", ...rest] = name.split(".");
  const below = rest.join(".");
  const lookup = below === "" ? undefined : lookups.get(head);
  if (lookup !== undefined) return lookup.read(below, path);
  const of = head === "item" ? each?.item : head === "outer" ? each?.outer : undefined;
  if (of === undefined) return undefined;
  const itemOf = head === "item" ? ({ item }: Scope) => item : ({ outer }: Scope) => outer;
  if (of.groups !== undefined) return readGroup(of.groups, below, head, itemOf, path);
  if (!(columns instanceof JsonKeys)) throw new Error("only rows of JSON have lists");
  if (below === "") return columns.leaf(name, itemOf);
  const outer = head === "item" ? each?.outer?.list : undefined;
  columns.want({ name, choices: [name], list: of.list, outer, isIn: (item) => leafAt(item, below) !== undefined });
  return columns.leaf(name, (scope) => leafAt(itemOf(scope), below));
}

/** Reads a named group of a match. */
function readGroup(
  groups: readonly string[],
  group: string,
  head: string,
  itemOf: (scope: Scope) => unknown,
  path: RulePath,
): Read {
  if (groups.includes(group)) {
    return (scope) => {
      const text = leafAt(itemOf(scope), group);
      return typeof text === "string" ? text.trim() : "";
    };
  }
  const near = nearest(group, groups);
  throw new MappingError(
    path,
    `match has no named group ${quote(group)}`,
    near === undefined ? `Its groups are ${listed(groups)}.` : `Did you mean {${head}.${near}}?`,
  );
}

/** What a name in a template stands for: a column or key, the counter `n`, the item of `each`, a lookup's column, the file's name. */

import { PERSONAL_FIELDS } from "../actions/fields.ts";
import { nearest } from "../actions/nearest.ts";
import { JsonKeys, leafAt } from "./json-rows.ts";
import type { Lookup } from "./lookup.ts";
import { listed, MappingError, quote, type RulePath } from "./mapping-error.ts";
import type { Names, Read, Scope } from "./scope.ts";
import type { ColumnAliases, SourceConfig } from "./source.ts";
import { readAt, type TableColumns } from "./table-columns.ts";
import { namesIn, templatesOf } from "./template.ts";

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

// ---- the file's name ----

/** The file of a source. */
export interface NamedFile {
  /** Base name; "" for standard input. */
  readonly fileName: string;
  /** The patterns that its source takes files by. */
  readonly patterns: readonly string[];
  /** What its rules take from the name. */
  readonly taken: Set<string>;
}

/** `2026-05-09`, `20260509` and `09.05.2026`. */
const DATES = [
  /(?<!\d)(?<y>20\d\d)-(?<m>\d\d)-(?<d>\d\d)(?!\d)/g,
  /(?<!\d)(?<y>20\d\d)(?<m>\d\d)(?<d>\d\d)(?!\d)/g,
  /(?<!\d)(?<d>\d\d)\.(?<m>\d\d)\.(?<y>20\d\d)(?!\d)/g,
];

/** The different dates in a text, as `2026-05-09`. */
export function datesIn(text: string): readonly string[] {
  const found = DATES.flatMap((pattern) => [...text.matchAll(pattern)]);
  const dates = found.map(({ groups: { y = "", m = "", d = "" } = {} }) => `${y}-${m}-${d}`);
  return [...new Set(dates.filter(isDate))];
}

function isDate(date: string): boolean {
  const time = new Date(`${date}T00:00:00Z`);
  return !Number.isNaN(time.getTime()) && time.toISOString().startsWith(date);
}

/** What `{file.name}` or `{file.date}` says in every row; undefined for another name. */
function readFileName(name: string, { fileName, taken }: NamedFile, path: RulePath): Read | undefined {
  if (name !== "file.name" && name !== "file.date") return undefined;
  if (fileName === "") throw new MappingError(path, `{${name}} needs a file: standard input has no name`);
  const text = name === "file.name" ? fileName : dateOf(fileName, path);
  taken.add(text);
  return () => text;
}

function dateOf(fileName: string, path: RulePath): string {
  const [date, another] = datesIn(fileName);
  if (date === undefined)
    throw new MappingError(
      path,
      `{file.date} finds no date in ${quote(fileName)}`,
      "Name the file with one, such as scans-2026-05-09.csv, scans-20260509.csv or scans-09.05.2026.csv.",
    );
  if (another !== undefined)
    throw new MappingError(
      path,
      `{file.date} finds several dates in ${quote(fileName)}: ${date} and ${another}`,
      "Name the file with the one that is meant.",
    );
  return date;
}

// ---- names that stand for what names a person ----

/** The columns of which a source makes its personal fields: they name a person as the fields do. */
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

/** What a name in a template stands for: a column, a path in a JSON row, the counter `n`, the item of `each`, a lookup's column. */

import type { FieldName } from "../actions/fields.ts";
import { typeName } from "../actions/formats.ts";
import { nearest } from "../actions/nearest.ts";
import type { Finding } from "../actions/problem.ts";
import { OWN_COLUMNS } from "../actions/rejects-columns.ts";
import { LooseNumber } from "../map/exact-numbers.ts";
import { unguard } from "../map/guards.ts";
import { MappingError, type RulePath } from "../map/mapping-error.ts";
import { isList } from "../map/schema-words.ts";
import type { ColumnAliases, PositionConfig } from "../map/source.ts";
import { listed, quote } from "../map/words.ts";
import { createWantedKeys, type WantedKeys } from "./wanted-keys.ts";

/** A cell that is part of an id, but does not look like it. */
export interface IdCell {
  readonly field: FieldName;
  /** As the source calls it. */
  readonly column: string;
  readonly text: string;
  /** Set where it is a number that may be written otherwise; it may be the whole id then. */
  readonly isLoose?: true;
}

/** What becomes of a name in UTF-8 that is read as what most systems call Latin. */
const asMisread = (name: string): string => new TextDecoder("windows-1252").decode(Buffer.from(name));

/** The row being read. One object serves all rows of a file. */
export interface Scope {
  cells: readonly string[];
  value: Readonly<Record<string, unknown>>;
  /** 1-based index in `each`. */
  n: number;
  item: unknown;
  /** The item of the outer `each`, where one stands inside another. */
  outer?: unknown;
  /** A number for each row and each repetition. What is looked up once for them is kept under it. */
  turn: number;
  findings: Finding[];
  /** Set by whoever reads a number that may be written otherwise. */
  isLoose?: boolean;
  /** Called for a text that takes the `else` of a value table although the table holds it in another spelling. */
  readonly onElse?: (label: string, known: string, text: string) => void;
  /** Called for a part of an id that does not look like one. */
  readonly onIdCell?: (cell: IdCell) => void;
}

/** The scope of a row of which nothing else is known. */
export const emptyScope = (known: Partial<Scope> = {}): Scope => ({
  ...{ cells: [], value: {}, n: 1, item: undefined, turn: 0, findings: [] },
  ...known,
});

/** A trimmed text of the row; empty when there is none. Adds to the scope's findings what can't be read. */
export type Read = (scope: Scope) => string;

export interface Names {
  /** Throws `MappingError` for a name that stands for nothing, or for more than one thing. */
  read(name: string, path: RulePath): Read;
}

/** What `each` adds to the names. */
export interface EachNames {
  readonly counts: boolean;
  /** `json`: `{item}` and any path below it; a list: the named groups of a match. */
  readonly item?: "json" | readonly string[];
  /** The path of the list whose items they are. */
  readonly list?: string;
  /** The same of the outer `each`, under `{outer}`. */
  readonly outer?: "json" | readonly string[];
  readonly outerList?: string;
}

interface OwnNames {
  readonly aliases: ColumnAliases;
  /** Where the aliases stand in the config. */
  readonly path: RulePath;
}

interface ByPosition {
  /** The source's own name for it. */
  readonly name: string;
  /** From 1. */
  readonly at: number;
  readonly header: string;
}

export interface Columns extends Names {
  /** Place of a table's column, from 0. */
  indexOf(name: string, path: RulePath): number;
  /** Undefined when no column has this name. */
  find(name: string, path: RulePath): Read | undefined;
  /** Headers of the columns that were asked for, in the order of the file; of JSON rows the names. */
  readonly used: () => readonly string[];
  readonly unused: () => readonly string[];
  /** Which keys the rows have; undefined where a header says it. */
  readonly keys: WantedKeys | undefined;
  /** The columns that were asked for by their position alone. */
  readonly positions: () => readonly ByPosition[];
  /** What a name that is not found could have been. */
  hint(name: string): string;
  /** Reads a value of a JSON row under a name of its own. */
  leaf(label: string, get: (scope: Scope) => unknown): Read;
}

/** Names of CSV columns. */
export function columnsOf(
  what: string,
  header: readonly string[],
  { aliases, path: aliasPath }: OwnNames,
  guards: boolean,
): Columns {
  const indexes = Map.groupBy(header.keys(), (index) => header[index]?.trim() ?? "");
  const used = new Set<number>();

  const reader = (index: number): Read => {
    used.add(index);
    return guards ? ({ cells }) => unguard(cells[index]?.trim() ?? "") : ({ cells }) => cells[index]?.trim() ?? "";
  };
  const indexOf = (name: string, path: RulePath): number | undefined => {
    const exact = indexes.get(name);
    if (exact?.length === 1) return exact[0];
    if (exact !== undefined)
      throw new MappingError(
        path,
        `${what} has ${exact.length} columns called ${quote(name)}`,
        `Say which: ${exact.map((_index, at) => `${name}#${at + 1}`).join(" or ")}.`,
      );
    const [, base, nth] = /^(.*)#(\d{1,4})$/s.exec(name) ?? [];
    return base === undefined ? undefined : indexes.get(base.trim())?.[Number(nth) - 1];
  };
  const hint = (name: string): string => {
    const [only = ""] = header;
    if (header.length === 1 && /[,;\t|]/.test(only))
      return `Its only column is ${quote(only)}: is the delimiter in csv wrong, or was it not detected?`;
    const misread = asMisread(name);
    if (misread !== name && indexes.has(misread))
      return `It has ${quote(misread)}: the file is UTF-8 and read as another encoding. Leave encoding out of csv of its source, and --encoding out.`;
    const near = nearest(name, [...indexes.keys()]);
    return near === undefined ? `Its columns are ${listed([...indexes.keys()])}.` : `Did you mean ${quote(near)}?`;
  };
  const positions = new Map<string, ByPosition>();
  const atPosition = (name: string, index: number): number => {
    positions.set(name, { name, at: index + 1, header: header[index]?.trim() ?? "" });
    return index;
  };
  const ofAlias = (name: string): number | undefined => {
    if (!Object.hasOwn(aliases, name)) return undefined;
    const alias = aliases[name] ?? [];
    const path = [...aliasPath, name];
    if (isPosition(alias)) {
      const index = indexAt(header, what, alias, path);
      return alias.named === undefined ? atPosition(name, index) : index;
    }
    const choices = [alias].flat();
    for (const choice of choices) {
      const called = indexOf(choice.trim(), path);
      const index = called ?? positionIn(header, choice);
      if (index === undefined) continue;
      return called === undefined ? atPosition(name, index) : index;
    }
    throw new MappingError(path, `${what} has no column ${choices.map(quote).join(" or ")}`, hint(choices[0] ?? name));
  };
  const placeOf = (name: string, path: RulePath): number | undefined => ofAlias(name) ?? indexOf(name, path);
  const missing = (name: string, path: RulePath): MappingError =>
    new MappingError(path, `${what} has no column ${quote(name)}`, hint(name));
  const find = (name: string, path: RulePath): Read | undefined => {
    const index = placeOf(name, path);
    return index === undefined ? undefined : reader(index);
  };
  return {
    find,
    hint,
    read: (name, path) => {
      const found = find(name, path);
      if (found === undefined) throw missing(name, path);
      return found;
    },
    indexOf: (name, path) => {
      const index = placeOf(name, path);
      if (index === undefined) throw missing(name, path);
      return index;
    },
    used: () => header.filter((_name, index) => used.has(index)),
    unused: () => header.filter((name, index) => !used.has(index) && !OWN_COLUMNS.has(name.trim())),
    keys: undefined,
    positions: () => [...positions.values()],
    leaf: (label) => () => label,
  };
}

/** Place, from 0, of a column that is declared by its position. If the config names its header, that must be there. */
function indexAt(header: readonly string[], what: string, { at, named }: PositionConfig, path: RulePath): number {
  const index = positionIn(header, at);
  if (index === undefined)
    throw new MappingError([...path, "at"], `${what} has ${header.length} columns, and no column ${at}`);
  const found = header[index]?.trim() ?? "";
  const wanted = [named ?? []].flat().map((each) => each.trim());
  if (named !== undefined && !wanted.includes(found)) {
    const now = header.findIndex((each) => wanted.includes(each.trim()));
    throw new MappingError(
      [...path, "named"],
      `column ${at} of ${what} is called ${quote(found)}, not ${wanted.map(quote).join(" or ")}`,
      now === -1
        ? "Check which column it is now, then correct at and named."
        : `That is column ${now + 1} now. Correct at if the export has changed.`,
    );
  }
  return index;
}

const isPosition = (alias: ColumnAliases[string]): alias is PositionConfig =>
  typeof alias === "object" && !isList(alias);

function positionIn(header: readonly string[], choice: string): number | undefined {
  const position = /^[1-9]\d{0,4}$/.test(choice) ? Number(choice) : undefined;
  return position !== undefined && position <= header.length ? position - 1 : undefined;
}

/** Names of JSON rows: a key, or a path such as `seating.row` and `codes.0`. Keys that a row lacks are empty. */
export function pathsOf({ aliases, path: aliasPath }: OwnNames): Columns {
  const keys = createWantedKeys();
  const used = new Set<string>();
  const leaf: Columns["leaf"] = (label, get) => {
    used.add(label);
    return (scope) => {
      const value = get(scope);
      return value === undefined ? "" : leafText(value, label, scope);
    };
  };
  const reader = (name: string): Read => leaf(name, ({ value }) => leafAt(value, name));
  const find = (name: string): Read => {
    if (!Object.hasOwn(aliases, name)) {
      keys.want([name], undefined, (value) => leafAt(value, name) !== undefined);
      return reader(name);
    }
    const alias = aliases[name] ?? [];
    if (isPosition(alias))
      throw new MappingError(
        [...aliasPath, name],
        "has a position, but rows of JSON have none",
        "Name a key or a path.",
      );
    const choices = [alias].flat();
    keys.want([name, ...choices], undefined, (value) => choices.some((choice) => leafAt(value, choice) !== undefined));
    const readers = choices.map((choice) => ({ choice, read: reader(choice) }));
    return (scope) => readers.find(({ choice }) => leafAt(scope.value, choice) !== undefined)?.read(scope) ?? "";
  };
  return {
    find,
    read: find,
    hint: () => "",
    indexOf: (name, path) => {
      throw new MappingError(path, `${name} is not a column: rows of JSON have none`);
    },
    leaf,
    used: () => [...used],
    unused: () => [],
    keys,
    positions: () => [],
  };
}

/** The value at a key or path, or undefined. An exact key comes before a path. */
export function leafAt(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null) return undefined;
  if (Object.hasOwn(value, name)) return Reflect.get(value, name);
  const dot = name.indexOf(".");
  if (dot === -1) return undefined;
  const head = name.slice(0, dot);
  return Object.hasOwn(value, head) ? leafAt(Reflect.get(value, head), name.slice(dot + 1)) : undefined;
}

function leafText(leaf: unknown, name: string, scope: Scope): string {
  switch (typeof leaf) {
    case "string":
      return leaf.trim();
    case "number":
    case "bigint":
    case "boolean":
      return String(leaf);
    default:
      if (leaf === null || leaf === undefined) return "";
      if (leaf instanceof LooseNumber) {
        scope.isLoose = true;
        return String(leaf);
      }
      scope.findings.push({
        rule: "field-type",
        field: name,
        message: `${name} is ${typeName(leaf)}, not text.`,
        hint: `Name what is inside, such as {${name}.${Array.isArray(leaf) ? "0" : "key"}}.`,
      });
      return "";
  }
}

/** All names of a rule: columns first, then what `each` and the lookups add. */
export function namesOf(
  columns: Columns,
  each: EachNames,
  lookups: ReadonlyMap<string, Names>,
  isJson: boolean,
): Names {
  const added = (name: string, path: RulePath): Read | undefined => {
    if (each.counts && name === "n") return ({ n }) => String(n);
    const [head = "", ...rest] = name.split(".");
    const below = rest.join(".");
    const lookup = below === "" ? undefined : lookups.get(head);
    if (lookup !== undefined) return lookup.read(below, path);
    const kind = head === "item" ? each.item : head === "outer" ? each.outer : undefined;
    if (kind === undefined) return undefined;
    const itemOf = head === "item" ? ({ item }: Scope) => item : ({ outer }: Scope) => outer;
    if (kind === "json") {
      const list = head === "item" ? each.list : each.outerList;
      if (below !== "") columns.keys?.want([name], list, (item) => leafAt(item, below) !== undefined);
      return columns.leaf(name, (scope) => (below === "" ? itemOf(scope) : leafAt(itemOf(scope), below)));
    }
    if (!kind.includes(below)) {
      const near = nearest(below, kind);
      throw new MappingError(
        path,
        `match has no named group ${quote(below)}`,
        near === undefined ? `Its groups are ${listed(kind)}.` : `Did you mean {${head}.${near}}?`,
      );
    }
    return (scope) => groupOf(itemOf(scope), below);
  };
  return {
    read(name, path) {
      // The keys of JSON rows are not known yet, so there the names that `each` and lookups add come first.
      const first = isJson ? added(name, path) : undefined;
      if (first !== undefined) return first;
      const column = columns.find(name, path);
      if (column === undefined) {
        const found = added(name, path);
        if (found !== undefined) return found;
        if (name === "n" || name === "item" || name.startsWith("item."))
          throw new MappingError(path, `{${name}} means something only with each`, "Add each, or name a column.");
        if (Array.isArray(each.item) && each.item.includes(name))
          throw new MappingError(path, `has no column ${quote(name)}`, `Did you mean {item.${name}}?`);
        return columns.read(name, path);
      }
      if (!isJson && name === "n" && each.counts)
        throw new MappingError(
          path,
          "n is a column and the counter of each",
          "Give the column another name under columns.",
        );
      return column;
    },
  };
}

function groupOf(item: unknown, name: string): string {
  const group: unknown = typeof item === "object" && item !== null ? Reflect.get(item, name) : undefined;
  return typeof group === "string" ? group.trim() : "";
}

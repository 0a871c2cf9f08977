/** Keys of JSON rows: `id`, or a path such as `seating.row` and `codes.0`. A key that no row has is a missing column. */

import { ExactNumber, typeName } from "../actions/exact-number.ts";
import { MappingError, quote, type RulePath } from "./mapping-error.ts";
import type { FileFinding, MappingRule } from "./rules.ts";
import type { Names, Read, Scope } from "./scope.ts";
import { type Aliases, isPosition } from "./table-columns.ts";

/** A key or path that a rule of the source reads. */
interface WantedKey {
  /** What the config calls it: its own name under `columns`, or the key itself. */
  readonly names: readonly string[];
  /** The path of the list in whose items it stands; undefined in the row itself. */
  readonly list: string | undefined;
  readonly isIn: (value: unknown) => boolean;
  /** Whether any row had it. */
  isFound: boolean;
}

export class JsonKeys implements Names {
  readonly #aliases: Aliases;
  readonly #used = new Set<string>();
  readonly #wanted = new Map<string, WantedKey>();
  /** Keys that no row had yet. Once a file has shown all of them, rows cost nothing more. */
  #unmet: WantedKey[] = [];
  #hasRows = false;
  /** Paths of lists that had items. */
  readonly #lists = new Set<string>();

  constructor(aliases: Aliases) {
    this.#aliases = aliases;
  }

  /** Keys that a row lacks are empty. */
  read(name: string): Read {
    const { aliases, path } = this.#aliases;
    if (!Object.hasOwn(aliases, name)) {
      this.want([name], undefined, (value) => leafAt(value, name) !== undefined);
      return this.leaf(name, ({ value }) => leafAt(value, name));
    }
    const alias = aliases[name] ?? [];
    if (isPosition(alias))
      throw new MappingError([...path, name], "has a position, but rows of JSON have none", "Name a key or a path.");
    const choices = [alias].flat();
    this.want([name, ...choices], undefined, (value) => choices.some((choice) => leafAt(value, choice) !== undefined));
    const readers = choices.map((choice) => ({
      choice,
      read: this.leaf(choice, ({ value }) => leafAt(value, choice)),
    }));
    return (scope) => readers.find(({ choice }) => leafAt(scope.value, choice) !== undefined)?.read(scope) ?? "";
  }

  /** Reads a value of the row under a name. */
  leaf(name: string, get: (scope: Scope) => unknown): Read {
    this.#used.add(name);
    return (scope) => {
      const value = get(scope);
      return typeof value === "string" ? value.trim() : leafText(value, name, scope);
    };
  }

  placeOf(name: string, path: RulePath): never {
    throw new MappingError(path, `${name} is not a column: rows of JSON have none`);
  }

  get used(): readonly string[] {
    return [...this.#used];
  }

  readonly unused: readonly string[] = [];
  readonly wanted: undefined;

  want(names: readonly string[], list: string | undefined, isIn: (value: unknown) => boolean): void {
    const id = JSON.stringify([list, names[0]]);
    if (this.#wanted.has(id)) return;
    const key = { names, list, isIn, isFound: false };
    this.#wanted.set(id, key);
    this.#unmet.push(key);
  }

  /** Looks at a row, whatever actions it gives. */
  seeRow(value: unknown): void {
    this.#hasRows = true;
    if (this.#unmet.length > 0) this.#look(undefined, value);
  }

  seeItems(list: string, items: readonly unknown[]): void {
    if (items.length > 0) this.#lists.add(list);
    for (const item of items) {
      if (this.#unmet.length === 0) return;
      this.#look(list, item);
    }
  }

  #look(list: string | undefined, value: unknown): void {
    for (const key of this.#unmet) if (key.list === list && key.isIn(value)) key.isFound = true;
    this.#unmet = this.#unmet.filter(({ isFound }) => !isFound);
  }

  /** The names of each key that no row had; keys of items only where there were items. */
  get #neverFound(): readonly (readonly string[])[] {
    return [...this.#wanted.values()]
      .filter(({ isFound, list }) => !isFound && (list === undefined ? this.#hasRows : this.#lists.has(list)))
      .map(({ names }) => names);
  }
  get notes(): readonly string[] {
    return this.#neverFound.map(([key]) => `no row so far has ${JSON.stringify(key)}`);
  }

  /**
   * Findings for keys that no row has, like a table that lacks columns. They mean nothing where only the first rows were read.
   */
  findings(optional: readonly string[] = []): readonly FileFinding[] {
    return this.#neverFound
      .filter((names) => !names.some((name) => optional.includes(name)))
      .map(([name = "", ...choices]) => ({
        rule: "key-missing" satisfies MappingRule,
        field: name,
        message: `No row has ${(choices.length === 0 ? [name] : choices).map(quote).join(" or ")}, which the source reads.`,
        hint: `Is it written as in the file? If a whole file may lack it, say so in the source: optional: [${name}].`,
        isOfAllRows: true,
      }));
  }
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
  if (leaf === null || leaf === undefined) return "";
  if (leaf instanceof ExactNumber) {
    scope.isLoose = true;
    return String(leaf);
  }
  if (typeof leaf !== "object") return String(leaf);
  scope.findings.push({
    rule: "field-type",
    field: name,
    message: `${name} is ${typeName(leaf)}, not text.`,
    hint: `Name what is inside, such as {${name}.${Array.isArray(leaf) ? "0" : "key"}}.`,
  });
  return "";
}

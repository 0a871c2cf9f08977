/**
 * Rows of JSON: their numbers as they are written, and their keys: `id`, or a path such as `seating.row` and `codes.0`. A key
 * that no row has is a missing column.
 */

import { ExactNumber, isJsonObject, typeName } from "../actions/exact-number.ts";
import type { FieldName } from "../actions/fields.ts";
import type { FileProblem, Problem } from "../actions/problem.ts";
import type { Row } from "../read/row.ts";
import type { MappingRule } from "../rules.ts";
import { cleanText } from "../text.ts";
import { quote } from "./mapping-error.ts";
import type { Read, Scope } from "./scope.ts";
import type { Aliases } from "./table-columns.ts";

/**
 * A number in JSON that `String` might not give back as it was written, such as `12.50`, `1e3` and `-0`. The character before
 * it keeps digits inside texts from matching, since reading a row this way takes as long as all the rest.
 */
const INEXACT = /[:,[\s](?:-?\d+[.eE]|-0)/;

type ObjectRow = Extract<Row, { kind: "object" }>;

/** The row with its numbers as they were written: as an `ExactNumber` where programs write them in several ways. */
export function withExactNumbers(row: ObjectRow): ObjectRow["value"] {
  if (!INEXACT.test(row.text)) return row.value;
  // A row's text is the JSON object that its value was parsed from.
  return JSON.parse(row.text, asWritten) as ObjectRow["value"];
}

const asWritten = (_key: string, value: unknown, context?: { readonly source?: string }): unknown => {
  if (typeof value !== "number" || context?.source === undefined) return value;
  const exact = new ExactNumber(context.source);
  return isLoose(exact) ? exact : context.source;
};

const PLAIN = /^-?[1-9]\d*$|^0$/;

/** Whether programs write a number in several ways: with a fraction, an exponent, or a sign before zero. */
export const isLoose = ({ text }: ExactNumber): boolean => !PLAIN.test(text);

/** @param column which stands for the id, or for a part of it. */
export function looseNumber(field: FieldName, value: string, column: string): Problem {
  const what = column === field ? `${field} is` : `${cleanText(column, 60)} gives ${field}`;
  return {
    rule: "id-number-spelling" satisfies MappingRule,
    field,
    value,
    message: `${what} a number that the next export may write differently, which would make it another id.`,
    hint: "Have the export give it as text, or without fraction and exponent.",
  };
}

/** A key or path that a rule of the source reads. */
interface WantedKey {
  /** The name for it that the source's `columns` or a template gives. */
  readonly name: string;
  /** What it may be called in the file. */
  readonly choices: readonly string[];
  /** The path of the list in whose items it stands; undefined in the row itself. */
  readonly list?: string | undefined;
  readonly isIn: (value: unknown) => boolean;
  /** Of an item of a list in another: the path of that one. */
  readonly outer?: string | undefined;
}

/** Paths that are remembered: keys may be made of data, and so without end. */
const MOST_PATHS = 1000;

export class JsonKeys {
  readonly #aliases: Aliases;
  readonly #used = new Set<string>();
  readonly #wanted = new Set<string>();
  /** Keys that no row had yet. Once a file has shown all of them, rows cost nothing more. */
  #unmet: WantedKey[] = [];
  #hasRows = false;
  /** Paths of lists that had items. */
  readonly #lists = new Set<string>();
  /** Paths of the values that rows have, and items, which are called `item`. */
  readonly #seen = new Set<string>();

  constructor(aliases: Aliases) {
    this.#aliases = aliases;
  }

  /** Keys that a row lacks are empty. */
  read(name: string): Read {
    const { aliases } = this.#aliases;
    const alias = (Object.hasOwn(aliases, name) && aliases[name]) || name;
    const choices = [alias].flat();
    this.want({ name, choices, isIn: (value) => choices.some((choice) => leafAt(value, choice) !== undefined) });
    for (const choice of choices) this.#used.add(choice);
    return (scope) => {
      for (const choice of choices) {
        const leaf = leafAt(scope.value, choice);
        if (leaf !== undefined) return leafText(leaf, choice, scope);
      }
      return "";
    };
  }

  /** Reads a value of an item under a name. */
  leaf(name: string, get: (scope: Scope) => unknown): Read {
    this.#used.add(name);
    return (scope) => leafText(get(scope), name, scope);
  }

  get used(): readonly string[] {
    return [...this.#used];
  }

  get unused(): readonly string[] {
    const used = [...this.#used].map((name) => name.replace(/^outer\b/, "item"));
    const isRead = (path: string): boolean =>
      this.#lists.has(path) || used.some((name) => name === path || name.startsWith(`${path}.`));
    return [...this.#seen].filter((path) => !isRead(path));
  }

  want(key: WantedKey): void {
    const id = JSON.stringify([key.list, key.name]);
    if (this.#wanted.has(id)) return;
    this.#wanted.add(id);
    this.#unmet.push(key);
  }

  /** Looks at a row, whatever actions it gives. */
  seeRow(value: unknown): void {
    this.#hasRows = true;
    this.#see(value, undefined);
  }

  seeItems(list: string, items: readonly unknown[]): void {
    if (items.length > 0) this.#lists.add(list);
    for (const item of items) this.#see(item, list);
  }

  #see(value: unknown, list: string | undefined): void {
    this.#seePaths(list === undefined ? "" : "item.", value);
    if (this.#unmet.length > 0) this.#unmet = this.#unmet.filter((key) => key.list !== list || !key.isIn(value));
  }

  #seePaths(before: string, value: unknown): void {
    if (this.#seen.size >= MOST_PATHS || !isJsonObject(value)) return;
    for (const key of Object.keys(value)) {
      const path = before === "" ? key : before + key;
      const inner = value[key];
      if (isJsonObject(inner)) this.#seePaths(`${path}.`, inner);
      else this.#seen.add(path);
    }
  }

  /**
   * Problems for keys that no row has, like a table that lacks columns; for those of items where there were items. They mean
   * nothing where only the first rows were read.
   */
  problems(optional: readonly string[] = []): readonly FileProblem[] {
    return this.#unmet
      .filter(({ list }) => (list === undefined ? this.#hasRows : this.#lists.has(list)))
      .filter(({ name, choices }) => ![name, ...choices].some((each) => optional.includes(each)))
      .map((key) => ({
        rule: "key-missing" satisfies MappingRule,
        field: key.name,
        message: `No row has ${key.choices.map(quote).join(" or ")}, which the source reads.`,
        hint: hintOf(key),
        isOfAllRows: true,
      }));
  }
}

function hintOf({ name, list, outer }: WantedKey): string {
  if (list === undefined && name.startsWith("outer."))
    return "outer is known only in an action with an each of its own below that of the source. Give each action that reads it one, or write it in the fields of those that have one.";
  if (list === undefined && name.startsWith("item."))
    return "An item is known only within each. skip reads the whole row, and so does expect where the source itself has no each.";
  const likely =
    outer === undefined
      ? "Is it written as in the file, and inside its rows?"
      : `Here item is one of ${list}. For a value in ${outer}, write {${name.replace("item", "outer")}}.`;
  return `${likely} If a whole file may lack it, say so in the source: optional: [${name}].`;
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
  if (typeof leaf === "string") return leaf.trim();
  if (leaf === null || leaf === undefined) return "";
  if (leaf instanceof ExactNumber) {
    scope.isLoose = isLoose(leaf);
    return String(leaf);
  }
  if (typeof leaf !== "object") return String(leaf);
  scope.problems.push({
    rule: "field-type",
    field: name,
    message: `${name} is ${typeName(leaf)}, not text.`,
    hint: `Name what is inside, such as {${name}.${Array.isArray(leaf) ? "0" : "key"}}.`,
  });
  return "";
}

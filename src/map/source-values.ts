/** What a source says of the values of columns: `expect`, `skip`, and those that its conditions name. */

import { MappingError, type RulePath } from "./mapping-error.ts";
import type { Names, Read, Scope } from "./scope.ts";
import type { SourceConfig } from "./source.ts";
import { compileColumn, compileTemplate, constantOf, namesIn } from "./template.ts";
import type { WatchedColumn } from "./value-watch.ts";
import { type Looked, textsOf } from "./when.ts";

export interface Expectation {
  readonly label: string;
  readonly read: Read;
  readonly allowed: (scope: Scope) => ReadonlySet<string>;
}

export interface Skip {
  readonly label: string;
  readonly read: Read;
  readonly values: ReadonlySet<string>;
}

/** @param path of `expect`. */
export function compileExpect({ expect = {} }: SourceConfig, names: Names, path: RulePath): readonly Expectation[] {
  return Object.entries(expect).map(([label, expected]) => ({
    label,
    read: compileColumn(label, names, [...path, label]),
    allowed: allowedOf([expected].flat(), names, [...path, label]),
  }));
}

/** The texts that a column may have; templates among them are filled in from the row. */
function allowedOf(expected: readonly string[], names: Names, path: RulePath): Expectation["allowed"] {
  const constants = expected.map((text) => (/[{}]/.test(text) ? constantOf(text, path) : text.trim()));
  const fixed = new Set(constants.filter((text) => text !== undefined));
  const templates = expected
    .filter((_text, at) => constants[at] === undefined)
    .map((text) => compileTemplate(text, names, path, "any column is"));
  if (templates.length === 0) return () => fixed;
  // A template that can't be filled in allows nothing, not even an empty cell.
  return (scope) => new Set([...fixed, ...templates.map((read) => read(scope)).filter((text) => text !== "")]);
}

/** @param path of `skip`. */
export const compileSkip = ({ skip = {} }: SourceConfig, names: Names, path: RulePath): readonly Skip[] =>
  Object.entries(skip).map(([label, values]) => ({
    label,
    read: compileColumn(label, names, [...path, label]),
    values: textsOf(values),
  }));

/**
 * The columns that conditions compare, whatever gives them: the file, a lookup, an item of `each`. `skip` and `expect` name
 * values of them; `skip` alone makes a column one to be watched.
 */
export function watchedColumns(
  config: SourceConfig,
  names: Names,
  looked: readonly Looked[],
): readonly WatchedColumn[] {
  const added = new Set(["item", "outer", ...Object.keys(config.lookup ?? {})]);
  const byLabel = new Map<string, WatchedColumn>();
  const add = (label: string, says: Pick<WatchedColumn, "named"> & Partial<WatchedColumn>): void => {
    const plain = plainName(label);
    const known = byLabel.get(plain);
    const read = known?.read ?? readerOf(plain, names);
    if (read === undefined) return;
    byLabel.set(plain, {
      label: plain,
      read,
      named: new Set([...(known?.named ?? []), ...says.named]),
      takesOthers: says.takesOthers === true || known?.takesOthers === true,
      isTested: says.isTested === true || known?.isTested === true,
      isComplete: says.isComplete === true || known?.isComplete === true,
      isOfItem: namesIn(plain, []).some((name) => name === "n" || added.has(name.split(".")[0] ?? "")),
    });
  };
  const compared = new Set(looked.filter(({ presenceOnly }) => !presenceOnly).map(({ label }) => label));
  for (const { label, named, takesOthers } of looked)
    if (compared.has(label)) add(label, { named: new Set(named), takesOthers, isTested: !takesOthers });
  for (const [label, values] of Object.entries(config.skip ?? {}))
    add(label, { named: textsOf(values), isComplete: true });
  for (const [label, values] of Object.entries(config.expect ?? {}))
    if (byLabel.has(plainName(label))) add(label, { named: textsOf(values), isComplete: true });
  return [...byLabel.values()];
}

/** `{Status}` is the column `Status`. */
const plainName = (label: string): string => /^\{([^{}]+)\}$/.exec(label)?.[1]?.trim() ?? label;

/** Undefined for a name that is no column by itself, such as the counter of `each`. */
function readerOf(column: string, names: Names): Read | undefined {
  try {
    return compileColumn(column, names, []);
  } catch (cause) {
    if (cause instanceof MappingError) return undefined;
    throw cause;
  }
}

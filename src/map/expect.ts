/** What a source says of the values of columns: those that are expected, and those whose rows are skipped. */

import type { RulePath } from "./mapping-error.ts";
import type { Names, Scope } from "./scope.ts";
import type { SourceConfig } from "./source.ts";
import { compileColumn, compileTemplate, constantOf } from "./template.ts";
import { type Naming, ownerOf, textsOf } from "./when.ts";

export interface Expectation extends Naming {
  readonly allowed: (scope: Scope) => ReadonlySet<string>;
}

export interface Skip extends Naming {
  readonly values: ReadonlySet<string>;
}

/** @param path of `expect`. */
export function compileExpect({ expect = {} }: SourceConfig, names: Names, path: RulePath): readonly Expectation[] {
  return Object.entries(expect).map(([label, expected]) => ({
    label,
    of: ownerOf(label),
    cell: compileColumn(label, names, [...path, label]),
    named: [...textsOf(expected)],
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
  Object.entries(skip).map(([label, texts]) => {
    const values = textsOf(texts);
    return { label, of: "row", cell: compileColumn(label, names, [...path, label]), named: [...values], values };
  });

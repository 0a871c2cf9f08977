/** Conditions of rows. */

import { MappingError, type RulePath } from "../map/mapping-error.ts";
import { isList } from "../map/schema-words.ts";
import type { Condition, ConditionMap, WhenConfig } from "../map/source.ts";
import type { Names, Read, Scope } from "./names.ts";
import { compileTemplate } from "./template.ts";

/** A column that a condition looks at, so that a skipped row can say why. */
export interface Looked {
  readonly label: string;
  readonly read: Read;
  /** Whether only its being empty matters, so that its values are not worth naming. */
  readonly presenceOnly: boolean;
  /** The values that the condition names. */
  readonly named: readonly string[];
  /** Whether values that it does not name meet it. */
  readonly takesOthers: boolean;
}

export interface When {
  readonly holds: (scope: Scope) => boolean;
  readonly looked: readonly Looked[];
}

export function compileWhen(config: WhenConfig, names: Names, path: RulePath): When {
  const maps: readonly ConditionMap[] = [config].flat();
  const alternatives = maps.map((map, at) => compileMap(map, names, isList(config) ? [...path, at] : path));
  const looked = alternatives.flatMap((each) => each.looked);
  const [only] = alternatives;
  if (only !== undefined && alternatives.length === 1) return only;
  return { holds: (scope) => alternatives.some(({ holds }) => holds(scope)), looked };
}

function compileMap(map: ConditionMap, names: Names, path: RulePath): When {
  const tests: ((scope: Scope) => boolean)[] = [];
  const looked: Looked[] = [];
  for (const [column, condition] of Object.entries(map)) {
    const here = [...path, column];
    const read = readColumn(column, names, here);
    const { accepts, ...rest } = compileCondition(condition);
    tests.push((scope) => accepts(read(scope)));
    looked.push({ label: column, read, ...rest });
  }
  return { holds: (scope) => tests.every((holds) => holds(scope)), looked };
}

/** A column by its name, or a template. */
export function readColumn(column: string, names: Names, path: RulePath): Read {
  return column.includes("{") ? compileTemplate(column, names, path, "all columns are") : names.read(column, path);
}

interface Test extends Pick<Looked, "presenceOnly" | "named" | "takesOthers"> {
  readonly accepts: (text: string) => boolean;
}

function compileCondition(condition: Condition): Test {
  if (typeof condition === "string" || isList(condition)) return oneOf(condition);
  if ("not" in condition) {
    const { accepts, named } = oneOf(condition.not);
    return { accepts: (text) => !accepts(text), presenceOnly: false, named, takesOthers: true };
  }
  const wanted = condition.empty === "true";
  // It always knows an empty cell; other values only where it takes any.
  return { accepts: (text) => (text === "") === wanted, presenceOnly: true, named: [""], takesOthers: !wanted };
}

function oneOf(wanted: string | readonly string[]): Test {
  const known = new Set([wanted].flat().map((text) => text.trim()));
  const presenceOnly = typeof wanted === "string" && known.has("");
  return { accepts: (text) => known.has(text), presenceOnly, named: [...known], takesOthers: false };
}

/** Reads a column, or undefined for a name that is no column by itself, such as the counter of `each`. */
export function columnReader(column: string, names: Names): Read | undefined {
  try {
    return readColumn(column, names, []);
  } catch (cause) {
    if (cause instanceof MappingError) return undefined;
    throw cause;
  }
}

/** Conditions of rows. */

import type { RulePath } from "./mapping-error.ts";
import type { Names, Read, Scope } from "./names.ts";
import type { Condition, ConditionMap, WhenConfig } from "./source.ts";
import { compileTemplate } from "./template.ts";

/** A column that a condition looks at, so that a skipped row can say why. */
export interface Looked {
  readonly label: string;
  readonly read: Read;
  /** Whether only its being empty mattered, so that its values are not worth telling. */
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
  const isList = Array.isArray(config);
  const maps: readonly ConditionMap[] = [config].flat();
  const alternatives = maps.map((map, at) => compileMap(map, names, isList ? [...path, at] : path));
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
  if (typeof condition === "string") return equalTo(condition);
  if (isList(condition)) return oneOf(condition);
  if ("not" in condition) {
    const { accepts, named } = typeof condition.not === "string" ? equalTo(condition.not) : oneOf(condition.not);
    return { accepts: (text) => !accepts(text), presenceOnly: false, named, takesOthers: true };
  }
  const wanted = condition.empty === "true";
  // An empty cell is known to it either way; what a cell holds only where it takes any.
  return { accepts: (text) => (text === "") === wanted, presenceOnly: true, named: [""], takesOthers: !wanted };
}

function equalTo(wanted: string): Test {
  const exact = wanted.trim();
  return { accepts: (text) => text === exact, presenceOnly: exact === "", named: [exact], takesOthers: false };
}

function oneOf(wanted: readonly string[]): Test {
  const known = new Set(wanted.map((text) => text.trim()));
  return { accepts: (text) => known.has(text), presenceOnly: false, named: [...known], takesOthers: false };
}

/** `Array.isArray` does not narrow readonly lists. */
function isList(condition: object): condition is readonly string[] {
  return Array.isArray(condition);
}

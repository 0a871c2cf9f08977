/** Conditions of rows, and why a row that meets none gives nothing. */

import { cleanText } from "../actions/text.ts";
import type { RulePath } from "./mapping-error.ts";
import type { Names, Read, Scope } from "./scope.ts";
import type { Condition, ConditionMap, WhenConfig } from "./source.ts";
import { isList } from "./source.ts";
import { compileColumn } from "./template.ts";

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

/** A map: all of its columns; a list of maps: any of them. */
export function compileWhen(config: WhenConfig, names: Names, path: RulePath): When {
  if (!isList(config)) return compileMap(config, names, path);
  const any = config.map((map, at) => compileMap(map, names, [...path, at]));
  return { holds: (scope) => any.some(({ holds }) => holds(scope)), looked: any.flatMap(({ looked }) => looked) };
}

function compileMap(map: ConditionMap, names: Names, path: RulePath): When {
  const tests = Object.entries(map).map(([column, condition]) => {
    const { accepts, ...rest } = compileCondition(condition);
    const read = compileColumn(column, names, [...path, column]);
    return { accepts, looked: { label: column, read, ...rest } };
  });
  const holds = (scope: Scope): boolean => {
    for (const { accepts, looked } of tests) if (!accepts(looked.read(scope))) return false;
    return true;
  };
  return { holds, looked: tests.map(({ looked }) => looked) };
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
  const known = textsOf(wanted);
  const presenceOnly = typeof wanted === "string" && known.has("");
  return { accepts: (text) => known.has(text), presenceOnly, named: [...known], takesOthers: false };
}

export const textsOf = (values: string | readonly string[]): ReadonlySet<string> =>
  new Set([values].flat().map((text) => text.trim()));

/** What the conditions of actions look at, each column once. */
export function uniqueLooks(looked: readonly Looked[]): readonly Looked[] {
  const byLabel = new Map<string, Looked>();
  for (const look of looked) {
    const known = byLabel.get(look.label);
    if (known === undefined || known.presenceOnly) byLabel.set(look.label, look);
  }
  return [...byLabel.values()];
}

/** The reason of a row whose conditions take no action. */
export function reasonOfLooks(looked: readonly Looked[], scope: Scope): string {
  const shown = looked.map(({ label, read, presenceOnly }) => {
    const text = read(scope);
    return text !== "" && presenceOnly ? `${label} is not empty` : labelled(label, text);
  });
  return shown.length > 0 ? shown.join(", ") : EVENT_GIVEN; // without conditions nothing else is left out
}

export const EVENT_GIVEN = "the event was given by an earlier row";

export const labelled = (label: string, text: string): string =>
  text === "" ? `${label} is empty` : `${label} = ${PLAIN.test(text) ? text : cleanText(text, 40)}`;

/** What is shown as it is. */
const PLAIN = /^[ -~]{1,40}$/;

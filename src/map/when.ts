/** Conditions of rows, and why a row that meets none gives nothing. */

import type { MappingRule } from "../rules.ts";
import { cleanText } from "../text.ts";
import { amountsIn } from "./likely-formats.ts";
import type { RulePath } from "./mapping-error.ts";
import type { Names, Read, Scope } from "./scope.ts";
import { type Condition, type ConditionMap, isList, type WhenConfig } from "./source.ts";
import { compileColumn, namesIn } from "./template.ts";

/** A column of which something is said, and the values that are named. */
export interface Naming {
  readonly label: string;
  /** The item is that of the inner `each`, where one stands inside another. */
  readonly of: "row" | "item" | "outer";
  /** What it holds. */
  readonly cell: Read;
  readonly named: readonly string[];
}

/** A column that a condition looks at, so that a skipped row can say why. */
export interface Looked extends Naming {
  /** What decides: what the column holds, or on which side of a number that lies. */
  readonly read: Read;
  readonly accepts: (text: string) => boolean;
  /** Whether only its being empty matters, so that its values are not worth naming. */
  readonly presenceOnly: boolean;
  /** Whether values that it does not name meet it. */
  readonly takesOthers: boolean;
}

export interface When {
  readonly holds: (scope: Scope) => boolean;
  readonly looked: readonly Looked[];
}

/** A map: all of its columns; a list of maps: any of them. */
export function compileWhen(config: WhenConfig, names: Names, path: RulePath): When {
  if (!isList(config)) return compileConditions(config, names, path);
  const any = config.map((map, at) => compileConditions(map, names, [...path, at]));
  return { holds: (scope) => any.some(({ holds }) => holds(scope)), looked: any.flatMap(({ looked }) => looked) };
}

function compileConditions(map: ConditionMap, names: Names, path: RulePath): When {
  const looked = Object.entries(map).map(([label, condition]): Looked => {
    const cell = compileColumn(label, names, [...path, label]);
    return { label, of: ownerOf(label), cell, read: cell, ...compileCondition(condition, label, cell) };
  });
  const holds = (scope: Scope): boolean => {
    for (const { accepts, read } of looked) if (!accepts(read(scope))) return false;
    return true;
  };
  return { holds, looked };
}

/** What the names of a column or template are read from. */
export function ownerOf(label: string): Naming["of"] {
  const heads = headsIn(label);
  return (["item", "outer"] as const).find((head) => heads.includes(head)) ?? "row";
}

export const headsIn = (label: string): readonly string[] => namesIn(label, []).map((name) => name.split(".")[0] ?? "");

type Test = Omit<Looked, "label" | "of" | "cell" | "read"> & { readonly read?: Read };

function compileCondition(condition: Condition, label: string, cell: Read): Test {
  const isNot = typeof condition === "object" && "not" in condition;
  const wanted = isNot ? condition.not : condition;
  if (typeof wanted === "string" || isList(wanted)) {
    const known = textsOf(wanted);
    const presenceOnly = !isNot && wanted === "";
    return { accepts: (text) => known.has(text) !== isNot, presenceOnly, named: [...known], takesOthers: isNot };
  }
  if ("empty" in wanted) {
    const isEmpty = wanted.empty === "true";
    // It always knows an empty cell; other values only where it takes any.
    return { accepts: (text) => (text === "") === isEmpty, presenceOnly: true, named: [""], takesOthers: !isEmpty };
  }
  const [word, than] = "below" in wanted ? (["below", wanted.below] as const) : (["above", wanted.above] as const);
  const named = isNot ? [`not ${word} ${than}`, ""] : [`${word} ${than}`];
  // Every amount lies on one side of a number, so none has to be named.
  const rest = { presenceOnly: false, named, takesOthers: true };
  return { accepts: (text) => named.includes(text), read: compared(label, cell, word, than), ...rest };
}

/** What a cell is compared with a number, in words; empty where it is. However it is written, the answer must be the same. */
function compared(label: string, cell: Read, word: "below" | "above", than: string): Read {
  return (scope) => {
    const text = cell(scope);
    if (text === "") return "";
    const answers = new Set(
      amountsIn(text).map((amount) => (word === "below" ? amount < Number(than) : amount > Number(than))),
    );
    const [answer] = answers;
    if (answer !== undefined && answers.size === 1) return answer ? `${word} ${than}` : `not ${word} ${than}`;
    scope.problems.push({
      rule: "value-unexpected" satisfies MappingRule,
      field: label,
      value: text,
      message: `${label} is compared with ${than}, and ${answer === undefined ? "is no amount" : "may be read as two amounts"}.`,
      hint: "Name its texts one by one in when, or leave such rows out by skip.",
    });
    return text;
  };
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

const EVENT_GIVEN = "the event was given by an earlier row";

export const labelled = (label: string, text: string): string =>
  text === "" ? `${label} is empty` : `${label} = ${PLAIN.test(text) ? text : cleanText(text, 40)}`;

/** What is shown as it is. */
const PLAIN = /^[ -~]{1,40}$/;

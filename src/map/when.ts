/** Conditions of rows, and why a row that meets none gives nothing. */

import { cleanText } from "../text.ts";
import { amountsIn } from "./likely-formats.ts";
import { MappingError, type RulePath } from "./mapping-error.ts";
import type { MappingRule } from "./rules.ts";
import type { Names, Read, Scope } from "./scope.ts";
import { type Condition, type ConditionMap, isList, type SourceConfig, type WhenConfig } from "./source.ts";
import { compileColumn, compileTemplate, constantOf, namesIn } from "./template.ts";
import type { WatchedColumn } from "./value-watch.ts";

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
    const bound = boundOf(condition);
    const cell = compileColumn(column, names, [...path, column]);
    const read = bound === undefined ? cell : compared(column, cell, bound);
    const { accepts, takesOthers, ...rest } = compileCondition(bound?.holds ?? condition);
    // Every amount lies on one side of a number, so none has to be named.
    return { accepts, looked: { label: column, read, ...rest, takesOthers: takesOthers || bound !== undefined } };
  });
  const holds = (scope: Scope): boolean => {
    for (const { accepts, looked } of tests) if (!accepts(looked.read(scope))) return false;
    return true;
  };
  return { holds, looked: tests.map(({ looked }) => looked) };
}

/** Which side of a number an amount lies on. */
interface Bound {
  readonly word: "below" | "above";
  readonly than: string;
  /** The texts of `compared` that meet the condition. */
  readonly holds: readonly string[];
}

function boundOf(condition: Condition): Bound | undefined {
  if (typeof condition === "string" || isList(condition)) return undefined;
  const isNot = "not" in condition;
  const inner = isNot ? condition.not : condition;
  if (typeof inner === "string" || isList(inner) || !("below" in inner || "above" in inner)) return undefined;
  const [word, than] = "below" in inner ? (["below", inner.below] as const) : (["above", inner.above] as const);
  return { word, than, holds: isNot ? [`not ${word} ${than}`, ""] : [`${word} ${than}`] };
}

/** What a cell is compared with a number, in words; empty where it is. However it is written, the answer must be the same. */
function compared(label: string, cell: Read, { word, than }: Bound): Read {
  return (scope) => {
    const text = cell(scope);
    if (text === "") return "";
    const answers = new Set(
      amountsIn(text).map((amount) => (word === "below" ? amount < Number(than) : amount > Number(than))),
    );
    const [answer] = answers;
    if (answer !== undefined && answers.size === 1) return answer ? `${word} ${than}` : `not ${word} ${than}`;
    scope.findings.push({
      rule: "value-unexpected" satisfies MappingRule,
      field: label,
      value: text,
      message: `${label} is compared with ${than}, and ${answer === undefined ? "is no amount" : "may be read as two amounts"}.`,
      hint: "Name its texts one by one in when, or leave such rows out by skip.",
    });
    return text;
  };
}

interface Test extends Pick<Looked, "presenceOnly" | "named" | "takesOthers"> {
  readonly accepts: (text: string) => boolean;
}

/** @param condition no bound: what `compared` says of one is a text. */
function compileCondition(condition: Condition): Test {
  if (typeof condition === "string" || isList(condition)) return oneOf(condition);
  if ("empty" in condition) {
    const wanted = condition.empty === "true";
    // It always knows an empty cell; other values only where it takes any.
    return { accepts: (text) => (text === "") === wanted, presenceOnly: true, named: [""], takesOthers: !wanted };
  }
  const excluded = "not" in condition ? condition.not : "";
  const { accepts, named } = oneOf(typeof excluded === "string" || isList(excluded) ? excluded : "");
  return { accepts: (text) => !accepts(text), presenceOnly: false, named, takesOthers: true };
}

function oneOf(wanted: string | readonly string[]): Test {
  const known = textsOf(wanted);
  const presenceOnly = typeof wanted === "string" && known.has("");
  return { accepts: (text) => known.has(text), presenceOnly, named: [...known], takesOthers: false };
}

const textsOf = (values: string | readonly string[]): ReadonlySet<string> =>
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

/** What a source says of the values of columns: `expect`, `skip`, and those that its conditions name. */

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
  const compared = new Set(looked.filter(({ presenceOnly }) => !presenceOnly).map(({ label }) => label));
  const tested = looked
    .filter(({ label }) => compared.has(label))
    .map((look) => ({ ...look, isTested: !look.takesOthers, isComplete: false }));
  const complete = (values: SourceConfig["skip"] = {}) =>
    Object.entries(values).map(([label, texts]) => {
      return { label, named: [...textsOf(texts)], takesOthers: false, isTested: false, isComplete: true };
    });
  const watched = Map.groupBy([...tested, ...complete(config.skip)], ({ label }) => plainName(label));
  const expected = Map.groupBy(complete(config.expect), ({ label }) => plainName(label));
  return [...watched].flatMap(([label, ofColumn]) => {
    const read = readerOf(label, names);
    if (read === undefined) return [];
    const all = [...ofColumn, ...(expected.get(label) ?? [])];
    return {
      label,
      read,
      named: new Set(all.flatMap(({ named }) => named)),
      takesOthers: all.some(({ takesOthers }) => takesOthers),
      isTested: all.some(({ isTested }) => isTested),
      isComplete: all.some(({ isComplete }) => isComplete),
      isOfItem: namesIn(label, []).some((name) => name === "n" || added.has(name.split(".")[0] ?? "")),
    };
  });
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

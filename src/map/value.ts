/** The rule of a field → the text of the field: templates, lists, and steps in their fixed order. */

import { decodeMarkup } from "../actions/markup.ts";
import { nearest } from "../actions/nearest.ts";
import { listed, MappingError, type RulePath } from "./mapping-error.ts";
import { amountStep, divideStep, type ParseContext, type Step, timeStep } from "./parse-steps.ts";
import type { MappingRule } from "./rules.ts";
import type { Read } from "./scope.ts";
import type { TraitRules, ValueRule, ValueSteps } from "./source.ts";
import { isList } from "./source.ts";
import { compileTemplate, type EmptyWhen, firstFilled } from "./template.ts";

export interface ValueContext extends ParseContext {
  readonly emptyWhen: EmptyWhen;
  readonly clearWord: string;
  /** Whether `display` may stand here. */
  readonly displays: boolean;
}

export const isSteps = (rule: ValueRule | TraitRules): rule is ValueSteps =>
  typeof rule === "object" && !isList(rule) && Object.hasOwn(rule, "from");

export const isTraits = (rule: ValueRule | TraitRules): rule is TraitRules =>
  typeof rule === "object" && !isList(rule) && !isSteps(rule);

export function compileValue(rule: ValueRule, context: ValueContext): Read {
  const { names, path, emptyWhen } = context;
  if (typeof rule === "string") return compileTemplate(rule, names, path, emptyWhen);
  if (isSteps(rule)) return compileSteps(rule, context);
  return firstFilled(rule, (choice, at) => compileValue(choice, { ...context, displays: false, path: [...path, at] }));
}

function compileSteps(steps: ValueSteps, context: ValueContext): Read {
  const { path, names, clearWord, emptyWhen } = context;
  if (steps.display !== undefined && !context.displays)
    throw new MappingError([...path, "display"], "means something only in a trait of metadataAttributes");
  const from = compileValue(steps.from, { ...context, displays: false, path: [...path, "from"] });
  const map = compileMap(steps, context);
  const blank =
    steps.blank === undefined ? undefined : compileTemplate(steps.blank, names, [...path, "blank"], emptyWhen);
  const parse = compileParse(steps, context);
  const divide = divideStep(steps, context);
  const codings = [steps.decode ?? []].flat();
  return (scope) => {
    let text = from(scope);
    if (text === clearWord) return text;
    for (const coding of codings) text = decodeMarkup(text, coding).trim();
    if (map !== undefined) text = map(text, scope);
    if (text === "" && blank !== undefined) text = blank(scope);
    if (text !== "" && parse !== undefined) text = parse(text, scope);
    if (text !== "" && divide !== undefined) text = divide(text, scope);
    return text;
  };
}

/** A value table: exact texts, each with its template. */
function compileMap(steps: ValueSteps, context: ValueContext): Step | undefined {
  const { path, names, label, emptyWhen } = context;
  if (steps.map === undefined) {
    if (steps.else !== undefined) throw new MappingError([...path, "else"], "has no map before it");
    return undefined;
  }
  const compile = (template: string, at: RulePath) => compileTemplate(template, names, [...path, ...at], emptyWhen);
  const table = new Map(
    Object.entries(steps.map).map(([known, value]) => [known.trim(), compile(value, ["map", known])]),
  );
  const otherwise = steps.else === undefined ? undefined : compile(steps.else, ["else"]);
  return (text, scope) => {
    const value = table.get(text);
    if (value !== undefined) return value(scope);
    if (text === "") return "";
    if (otherwise !== undefined) return otherwise(scope);
    const near = nearest(text, table.keys());
    scope.problems.push({
      rule: "value-unknown" satisfies MappingRule,
      field: label,
      value: text,
      message: `The value table of ${label} does not hold it.`,
      hint: `${near === undefined ? `It holds ${listed([...table.keys()])}.` : `Did you mean ${near}?`} Add it to map, or declare else.`,
    });
    return "";
  };
}

const AMOUNT_KEYS = ["decimal", "thousands", "sign"] as const;
const TIME_KEYS = ["format", "zone", "rollover"] as const;

function compileParse(steps: ValueSteps, context: ValueContext): Step | undefined {
  const { path, label, parsing } = context;
  const amountKey = AMOUNT_KEYS.find((key) => steps[key] !== undefined);
  const timeKey = TIME_KEYS.find((key) => steps[key] !== undefined);
  const refuse = (key: string, what: string) => new MappingError([...path, key], `${label} is ${what}`);
  if (amountKey !== undefined && (parsing === "time" || parsing === "none")) throw refuse(amountKey, "not an amount");
  if (timeKey !== undefined && (parsing === "amount" || parsing === "none")) throw refuse(timeKey, "not a time");
  if (amountKey !== undefined && timeKey !== undefined) throw refuse(timeKey, "already read as an amount");
  if (amountKey !== undefined) return amountStep(steps, context);
  return timeKey === undefined ? undefined : timeStep(steps, context);
}

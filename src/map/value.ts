/** The rule of a field → the text of the field: templates, lists, and steps in their fixed order. */

import { decodeMarkup, NO_TIME } from "../actions/mangled.ts";
import { nearest } from "../actions/nearest.ts";
import { BEFORE_1970, TIME_FAULTS } from "../actions/times.ts";
import type { MappingRule } from "../rules.ts";
import { compileAmount, divideAmount } from "./amount.ts";
import { amountsThatRead, formatsThatRead } from "./likely-formats.ts";
import { listed, MappingError, type RulePath } from "./mapping-error.ts";
import type { Names, Read, Scope } from "./scope.ts";
import { isList, type TraitRules, type ValueRule, type ValueSteps } from "./source.ts";
import { compileTemplate, type EmptyWhen, firstFilled } from "./template.ts";
import { compileTime } from "./time-format.ts";

/** What the parse step of a value can be. */
export type Parsing = "amount" | "time" | "either" | "none";

export interface ValueContext {
  /** What messages call the value: a field, or a trait. */
  readonly label: string;
  readonly parsing: Parsing;
  readonly names: Names;
  readonly path: RulePath;
  readonly emptyWhen: EmptyWhen;
  readonly clearWord: string;
  readonly zone: string | undefined;
  /** The template of `each: {count}` around the value, for remainders. */
  readonly count: string | undefined;
}

/** A text after a step; empty where it can't be read. */
type Step = (text: string, scope: Scope) => string;

export const isSteps = (rule: ValueRule | TraitRules): rule is ValueSteps =>
  typeof rule === "object" && !isList(rule) && Object.hasOwn(rule, "from");

export const isTraits = (rule: ValueRule | TraitRules): rule is TraitRules =>
  typeof rule === "object" && !isList(rule) && !isSteps(rule);

export function compileValue(rule: ValueRule, context: ValueContext): Read {
  const { names, path, emptyWhen } = context;
  if (typeof rule === "string") return compileTemplate(rule, names, path, emptyWhen);
  if (isSteps(rule)) return compileSteps(rule, context);
  return firstFilled(rule, (choice, at) => compileValue(choice, { ...context, path: [...path, at] }));
}

function compileSteps(steps: ValueSteps, context: ValueContext): Read {
  const { path, names, clearWord, emptyWhen } = context;
  if (steps.display !== undefined)
    throw new MappingError([...path, "display"], "means something only in a trait of metadataAttributes");
  const from = compileValue(steps.from, { ...context, path: [...path, "from"] });
  const map = compileValueTable(steps, context);
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
function compileValueTable(steps: ValueSteps, context: ValueContext): Step | undefined {
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

function amountStep(steps: ValueSteps, { path, label }: ValueContext): Step {
  const { decimal, thousands } = steps;
  const signs = [steps.sign ?? []].flat();
  const read = compileAmount({ decimal, thousands, signs, path });
  const declared = [
    `decimal: ${JSON.stringify(decimal ?? ".")}`,
    ...(thousands === undefined ? [] : [`thousands: ${JSON.stringify(thousands)}`]),
    ...(signs.length === 0 ? [] : [`sign: ${signs.join(" ")}`]),
  ].join(", ");
  return (text, { problems }) => {
    const amount = read(text);
    if (amount !== undefined) return amount;
    problems.push({
      rule: "price-invalid",
      field: label,
      value: text,
      message: `${label} is not an amount as the source declares it (${declared}).`,
      hint: amountHint(text),
    });
    return "";
  };
}

function amountHint(text: string): string {
  if (!/\d/.test(text))
    return `If it means nothing to pay: map: {${JSON.stringify(text)}: "0"}, else: "{…}" with the column.`;
  const ways = amountsThatRead(text);
  if (ways.length === 0) return "Declare decimal, thousands and sign as the file writes them; they are never guessed.";
  return `${ways.join("; ")}. Declare what the file means; it is never guessed.`;
}

/** What a time is when its rule declares no format. */
const DEFAULT_FORMATS: readonly string[] = ["unix", "iso"];

/** Trying every common format takes long, and a column in another format shows in its first texts. */
const MOST_LOOKS = 200;

function timeStep(steps: ValueSteps, { path, label, parsing, zone }: ValueContext): Step {
  const formats = steps.format === undefined ? DEFAULT_FORMATS : [steps.format].flat();
  const read = compileTime({ formats, path, zone: steps.zone ?? zone, rollover: steps.rollover });
  let looks = MOST_LOOKS;
  const faultOf = (time: ReturnType<typeof read>, text: string) => {
    if (typeof time === "number") return BEFORE_1970;
    if (typeof time === "string") return TIME_FAULTS[time];
    looks -= 1;
    return {
      rule: "time-unreadable",
      what: `is not written as ${formats.join(" or ")}`,
      hint: timeHint(looks < 0 ? "" : text, formats),
    } as const;
  };
  return (text, { problems }) => {
    const time = read(text);
    if (typeof time === "object" || (typeof time === "number" && (time >= 0 || parsing !== "time")))
      return String(time);
    const fault = NO_TIME.test(text) ? noTime(text) : faultOf(time, text);
    problems.push({
      rule: fault.rule,
      field: label,
      value: text,
      message: `${label} ${fault.what}.`,
      hint: fault.hint,
    });
    return "";
  };
}

const noTime = (text: string) =>
  ({
    rule: "time-unreadable",
    what: "is what databases write for no time",
    hint: `Leave it out by map: {${JSON.stringify(text)}: ""}, else: "{…}" with the column; in a when, write {not: ["", ${JSON.stringify(text)}]} for {empty: false}.`,
  }) as const;

/** Whether it has a time of day: all whose names are words do. */
const hasHours = (format: string): boolean => /[Hh]|^[a-z-]+$/.test(format);

function timeHint(text: string, declared: readonly string[]): string {
  const found = text === "" ? [] : formatsThatRead(text);
  // Midnight would be wrong where the time of day is only missing.
  const [only, ...others] = found.filter((format) => hasHours(format) || !declared.every(hasHours));
  if (only === undefined && found.length > 0)
    return "It has no time of day: is a cell empty, or does another column hold it?";
  if (only === undefined) return 'Declare how the file writes it, such as format: "d.M.yyyy HH:mm".';
  if (others.length === 0) return `format: ${JSON.stringify(only)} reads it.`;
  return `${[only, ...others].map((format) => `format: ${JSON.stringify(format)}`).join(" and ")} read it; which is right is never guessed.`;
}

function divideStep(steps: ValueSteps, { path, label, names, parsing, count }: ValueContext): Step | undefined {
  if (steps.divide === undefined) {
    const stray = (["places", "remainder"] as const).find((key) => steps[key] !== undefined);
    if (stray !== undefined) throw new MappingError([...path, stray], "means something only with divide");
    return undefined;
  }
  if (parsing !== "amount") throw new MappingError([...path, "divide"], `${label} is not an amount`);
  const by = compileTemplate(steps.divide, names, [...path, "divide"], "any column is");
  const places = steps.places === undefined ? undefined : Number(steps.places);
  const remainder = steps.remainder ?? "error";
  if (remainder === "first" && count !== steps.divide)
    throw new MappingError(
      [...path, "remainder"],
      "can give the rest to the first tickets only where each counts by the same template as divide",
      `Write each: {count: ${JSON.stringify(steps.divide)}}.`,
    );
  return (text, scope) => {
    const divisor = by(scope);
    const quotient = divideAmount(text, divisor, places, remainder, Number(scope.n));
    if (quotient.kind === "amount") return quotient.text;
    scope.problems.push(
      quotient.kind === "does-not-divide"
        ? {
            rule: "amount-not-divisible" satisfies MappingRule,
            field: label,
            value: text,
            message: `${label} does not divide by ${divisor} into equal amounts${places === undefined ? "" : ` of ${places} decimals`}.`,
            hint: `Declare ${places === undefined ? "places, or " : ""}remainder: first (one unit more for the first tickets) or round.`,
          }
        : {
            rule: "price-invalid",
            field: label,
            value: quotient.kind === "not-an-amount" ? text : divisor,
            message:
              quotient.kind === "not-an-amount"
                ? `${label} is not an amount that can be divided.`
                : `${label} can't be divided by this: it is not a whole number above zero.`,
            hint: "Is the right column named?",
          },
    );
    return "";
  };
}

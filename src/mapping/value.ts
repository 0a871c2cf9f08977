/** The rule of a field → the text of the field: templates, lists, and steps in their fixed order. */

import { foldSpelling, nearest } from "../actions/nearest.ts";
import { BEFORE_1970, SKIPPED_HOUR } from "../actions/times.ts";
import { type AmountOptions, compileAmount, divideAmount } from "../map/amount.ts";
import { amountsThatRead, formatsThatRead } from "../map/likely-formats.ts";
import { MappingError, type RulePath } from "../map/mapping-error.ts";
import type { MappingRule } from "../map/rules.ts";
import { isList } from "../map/schema-words.ts";
import type { TraitRules, ValueRule, ValueSteps } from "../map/source.ts";
import { compileTime } from "../map/time-format.ts";
import { listed } from "../map/words.ts";
import type { Names, Read, Scope } from "./names.ts";
import { compileTemplate, type EmptyWhen, firstFilled } from "./template.ts";

/** What the parse step of a value can be. */
export type Parsing = "amount" | "time" | "either" | "none";

export interface ValueContext {
  /** What messages call the value: a field, or a trait. */
  readonly label: string;
  readonly parsing: Parsing;
  readonly emptyWhen: EmptyWhen;
  readonly names: Names;
  readonly path: RulePath;
  readonly zone: string | undefined;
  readonly zonePath: RulePath;
  readonly clearWord: string;
  /** The template of `each: {count}` around the value, for remainders. */
  readonly count: string | undefined;
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

type Step = (text: string, scope: Scope) => string;

function compileSteps(steps: ValueSteps, context: ValueContext): Read {
  const { path, names, clearWord } = context;
  if (steps.display !== undefined && !context.displays)
    throw new MappingError([...path, "display"], "means something only in a trait of metadataAttributes");
  const from = compileValue(steps.from, { ...context, displays: false, path: [...path, "from"] });
  const map = compileMap(steps, context);
  const blank =
    steps.blank === undefined ? undefined : compileTemplate(steps.blank, names, [...path, "blank"], context.emptyWhen);
  const parse = compileParse(steps, context);
  const divide = compileDivide(steps, context);
  return (scope) => {
    let text = from(scope);
    if (text === clearWord) return text;
    if (map !== undefined) text = map(text, scope);
    if (text === "" && blank !== undefined) text = blank(scope);
    if (text !== "" && parse !== undefined) text = parse(text, scope);
    if (text !== "" && divide !== undefined) text = divide(text, scope);
    return text;
  };
}

function compileMap(steps: ValueSteps, context: ValueContext): Step | undefined {
  const { path, names, label, emptyWhen } = context;
  if (steps.map === undefined) {
    if (steps.else !== undefined) throw new MappingError([...path, "else"], "has no map before it");
    return undefined;
  }
  const table = new Map(
    Object.entries(steps.map).map(([known, value]) => [
      known.trim(),
      compileTemplate(value, names, [...path, "map", known], emptyWhen),
    ]),
  );
  const otherwise =
    steps.else === undefined ? undefined : compileTemplate(steps.else, names, [...path, "else"], emptyWhen);
  const spellings = new Map([...table.keys()].map((known) => [foldSpelling(known), known]));
  return (text, scope) => {
    const value = table.get(text);
    if (value !== undefined) return value(scope);
    if (text === "") return "";
    if (otherwise !== undefined) {
      const known = scope.onElse === undefined ? undefined : spellings.get(foldSpelling(text));
      if (known !== undefined) scope.onElse?.(label, known, text);
      return otherwise(scope);
    }
    const near = nearest(text, table.keys());
    scope.findings.push({
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
  const given = (keys: readonly (keyof ValueSteps)[]) => keys.find((key) => steps[key] !== undefined);
  const amountKey = given(AMOUNT_KEYS);
  const timeKey = given(TIME_KEYS);
  if (amountKey !== undefined && (parsing === "time" || parsing === "none"))
    throw new MappingError([...path, amountKey], `${label} is not an amount`);
  if (timeKey !== undefined && (parsing === "amount" || parsing === "none"))
    throw new MappingError([...path, timeKey], `${label} is not a time`);
  if (amountKey !== undefined && timeKey !== undefined)
    throw new MappingError([...path, timeKey], `${label} is already read as an amount`);
  if (amountKey !== undefined) return amountStep(steps, context);
  return timeKey === undefined ? undefined : timeStep(steps, context);
}

function amountStep(steps: ValueSteps, { path, label }: ValueContext): Step {
  const options: AmountOptions = {
    decimal: steps.decimal,
    thousands: steps.thousands,
    signs: [steps.sign ?? []].flat(),
    path,
  };
  const parse = compileAmount(options);
  const hintOfGroups = groupsHint(options);
  const declared = [
    `decimal: ${JSON.stringify(options.decimal ?? ".")}`,
    ...(options.thousands === undefined ? [] : [`thousands: ${JSON.stringify(options.thousands)}`]),
    ...(options.signs.length === 0 ? [] : [`sign: ${options.signs.join(" ")}`]),
  ].join(", ");
  return (text, { findings }) => {
    const amount = parse(text);
    if (amount !== undefined) return amount;
    const groups = hintOfGroups(text);
    findings.push({
      rule: "price-invalid",
      field: label,
      value: text,
      message:
        groups === undefined
          ? `${label} is not an amount as the source declares it (${declared}).`
          : `${label} begins with 0, which a number grouped in thousands never does (${declared}).`,
      hint: groups ?? amountHint(text),
    });
    return "";
  };
}

/** Explains both readings of a text that would be grouped in thousands if it did not begin with 0. */
function groupsHint(options: AmountOptions): (text: string) => string | undefined {
  const { thousands, signs, path } = options;
  const grouped = compileAmount(options, "0");
  const isDecimal = thousands === "," || thousands === ".";
  const decimal = isDecimal ? compileAmount({ decimal: thousands, thousands: undefined, signs, path }) : undefined;
  return (text) => {
    const asGroups = grouped(text)?.replace(/^(-?)0+(?=\d)/, "$1");
    if (asGroups === undefined) return undefined;
    const asDecimal = decimal?.(text);
    const other = asDecimal === undefined ? "" : `; with ${thousands} as its decimal mark, ${asDecimal}`;
    return `Grouped as declared it would be ${asGroups}${other}. Declare what the file means; it is never guessed.`;
  };
}

function amountHint(text: string): string {
  const ways = amountsThatRead(text);
  if (ways.length === 0) return "Declare decimal, thousands and sign as the file writes them; they are never guessed.";
  return `${ways.join("; ")}. Declare what the file means; it is never guessed.`;
}

/** What a time is when its rule declares no format. */
const DEFAULT_FORMATS: readonly string[] = ["unix", "iso"];

function timeStep(steps: ValueSteps, { path, label, parsing, zone, zonePath }: ValueContext): Step {
  const formats = steps.format === undefined ? DEFAULT_FORMATS : [steps.format].flat();
  const parse = compileTime({
    formats,
    formatPath: [...path, "format"],
    zone: steps.zone ?? zone,
    zonePath: steps.zone === undefined ? zonePath : [...path, "zone"],
    rollover: steps.rollover,
    rolloverPath: [...path, "rollover"],
  });
  let looks = MOST_LOOKS;
  return (text, { findings }) => {
    const time = parse(text);
    if (typeof time === "number" || typeof time === "bigint") {
      if (time >= 0 || parsing !== "time") return String(time);
      findings.push({
        rule: "u64-invalid",
        field: label,
        value: text,
        message: `${label} is before 1970.`,
        hint: BEFORE_1970,
      });
      return "";
    }
    if (time === undefined) looks -= 1;
    const { rule, what, hint } =
      time === undefined
        ? {
            rule: "time-unreadable",
            what: `is not written as ${formats.join(" or ")}`,
            hint: timeHint(looks < 0 ? "" : text),
          }
        : TIME_FAULTS[time];
    findings.push({ rule, field: label, value: text, message: `${label} ${what}.`, hint });
    return "";
  };
}

/** Trying every common format takes long, and a column in another format shows in its first texts. */
const MOST_LOOKS = 200;

/** What a text that is no time in these formats is told: the end of a sentence that begins with its field. */
const TIME_FAULTS = {
  "no-zone": {
    rule: "time-without-zone",
    what: "is a local time without a zone",
    hint: "Declare it for the source, such as zone: Europe/Berlin.",
  },
  "skipped-hour": SKIPPED_HOUR,
  impossible: {
    rule: "time-unreadable",
    what: "is a time that does not exist",
    hint: "Is the format right? Day and month may be the other way round.",
  },
  "unknown-zone": {
    rule: "time-unreadable",
    what: "names an unknown zone, or an abbreviation that several zones share",
    hint: "Write the offset.",
  },
} as const satisfies Record<string, { readonly rule: MappingRule; readonly what: string; readonly hint: string }>;

function timeHint(text: string): string {
  const [only, ...others] = text === "" ? [] : formatsThatRead(text);
  if (only === undefined) return 'Declare how the file writes it, such as format: "d.M.yyyy HH:mm".';
  if (others.length === 0) return `format: ${JSON.stringify(only)} reads it.`;
  return `${[only, ...others].map((format) => `format: ${JSON.stringify(format)}`).join(" and ")} read it; which is right is never guessed.`;
}

/** No currency has more decimals. */
const MOST_PLACES = 18;

function compileDivide(steps: ValueSteps, context: ValueContext): Step | undefined {
  const { path, label, names, parsing, count } = context;
  if (steps.divide === undefined) {
    const stray = (["places", "remainder"] as const).find((key) => steps[key] !== undefined);
    if (stray !== undefined) throw new MappingError([...path, stray], "means something only with divide");
    return undefined;
  }
  if (parsing !== "amount") throw new MappingError([...path, "divide"], `${label} is not an amount`);
  const by = compileTemplate(steps.divide, names, [...path, "divide"], "any column is");
  const places = steps.places === undefined ? undefined : Number(steps.places);
  if (places !== undefined && places > MOST_PLACES)
    throw new MappingError([...path, "places"], `is not a whole number from 0 to ${MOST_PLACES}`);
  const remainder = steps.remainder ?? "error";
  if (remainder === "first" && count !== steps.divide)
    throw new MappingError(
      [...path, "remainder"],
      "can give the rest to the first tickets only where each counts by the same template as divide",
      `Write each: {count: ${JSON.stringify(steps.divide)}}.`,
    );
  return (text, scope) => {
    const divisor = by(scope);
    const quotient = divideAmount(text, divisor, places, remainder, scope.n);
    if (quotient.kind === "amount") return quotient.text;
    if (quotient.kind === "does-not-divide")
      scope.findings.push({
        rule: "amount-not-divisible" satisfies MappingRule,
        field: label,
        value: text,
        message: `${label} does not divide by ${divisor} into equal amounts${places === undefined ? "" : ` of ${places} decimals`}.`,
        hint: "Declare places, or remainder: first (one unit more for the first tickets) or round.",
      });
    else
      scope.findings.push({
        rule: "price-invalid",
        field: label,
        value: quotient.kind === "not-an-amount" ? text : divisor,
        message:
          quotient.kind === "not-an-amount"
            ? `${label} is not an amount that can be divided.`
            : `${label} can't be divided by this: it is not a whole number above zero.`,
        hint: "Is the right column named?",
      });
    return "";
  };
}

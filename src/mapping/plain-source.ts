/**
 * A source as who reads its plain rows without a mapper needs it: the columns of which its values are made, and how. Of all
 * else, and of what a value means, the rules of the source itself are asked, which a mapper reads by too.
 */

import type { ActionName } from "../actions/actions.ts";
import { type FieldName, type FieldValue, fieldSpec } from "../actions/fields.ts";
import type { Finding } from "../actions/problem.ts";
import { compileAttributes } from "./attributes.ts";
import { type Coerce, coercerOf } from "./coerce.ts";
import { MappingError } from "./mapping-error.ts";
import { type Columns, columnsOf, emptyScope, type Scope } from "./names.ts";
import { isList } from "./schema-words.ts";
import { labelled, reasonOfLooks, uniqueLooks } from "./skip-reason.ts";
import type { TraitRules, ValueRule, ValueSteps } from "./source.ts";
import { compileSource, type SourceRules, type SourceSettings } from "./source-rules.ts";
import { templateParts } from "./template.ts";
import { compileTime } from "./time-format.ts";
import { isSteps, isTraits } from "./value.ts";

/** Texts and places of columns, in turn. */
type Template = readonly (string | number)[];

/** What a value is made of. */
export interface PlainValue {
  readonly field: FieldName;
  readonly recipe: Recipe;
  /** The columns that decide what it is. */
  readonly columns: readonly number[];
  /** The value of a row with these cells; `UNCLEAR` where there is something to say of it. */
  readonly ask: (cells: readonly string[]) => FieldValue | undefined | typeof UNCLEAR;
}

export const UNCLEAR = Symbol("unclear");

type Recipe =
  /** The first of the templates that is not empty. */
  | { readonly kind: "text"; readonly templates: readonly Template[] }
  /** The same as an amount with this decimal mark, where it is digits and a mark; else it is asked. */
  | { readonly kind: "amount"; readonly templates: readonly Template[]; readonly mark: "." | "," }
  | PlainTime
  /** Each with a value of its own, which is its only attribute where it is asked. */
  | { readonly kind: "traits"; readonly traits: readonly { readonly trait: string; readonly value: PlainValue }[] }
  /** Only asking tells. */
  | { readonly kind: "asked" };

export interface PlainTime {
  readonly kind: "time";
  readonly templates: readonly Template[];
  /** Unix seconds are among what it may be. */
  readonly takesDigits: boolean;
  readonly clock: Clock | undefined;
  /** Unix seconds of a text that is not empty; undefined where there is something to say of it. */
  readonly secondsOf: (text: string) => number | undefined;
}

/**
 * Times of which the minutes stand as two digits behind the first colon, and the seconds behind another one there. No other
 * part of them says which minute or second it is.
 */
export interface Clock {
  readonly hasSeconds: boolean;
  /** A point or a comma and digits behind the seconds mean nothing. */
  readonly cutsFraction: boolean;
  /** Digits before the first colon are the hour, from 0 to 23. */
  readonly hasHour: boolean;
}

export interface PlainSourceAction {
  readonly action: ActionName;
  /** It is given once for each event. */
  readonly isOnce: boolean;
  readonly fields: readonly PlainValue[];
}

/** What a row gives as far as conditions tell: actions by their numbers, or nothing and why. */
type Decision =
  | { readonly kind: "actions"; readonly actions: readonly number[] }
  | { readonly kind: "skipped"; readonly reason: string; readonly bySkip: boolean };

export interface PlainSource {
  readonly header: readonly string[];
  readonly clearWord: string;
  readonly stripsGuards: boolean;
  /** The columns that conditions look at; of some only whether they are empty. */
  readonly looked: readonly { readonly column: number; readonly isPresence: boolean }[];
  /** Undefined where there is something to say of it. Of cells others than `looked` nothing is asked. */
  readonly decide: (cells: readonly string[]) => Decision | undefined;
  readonly actions: readonly PlainSourceAction[];
  /** Read of a row of which no action names its event. */
  readonly event: PlainValue | undefined;
  /** What identifies the rows: the first of the templates of which all columns are filled. */
  readonly key: readonly Template[] | undefined;
}

/** Undefined where a source has a part that only its mapper knows. */
export function plainSourceOf(
  settings: SourceSettings & { readonly header: readonly string[] },
): PlainSource | undefined {
  const { config } = settings;
  const { each, lookup, fillDown } = config;
  if ([each, lookup, fillDown].some((part) => part !== undefined)) return undefined;
  if (config.actions.some((entry) => Object.values(entry).some((rule) => rule?.each !== undefined))) return undefined;
  try {
    return new SourceDescription(settings).source;
  } catch (cause) {
    // What a mapper would refuse it refuses itself.
    if (cause instanceof MappingError || cause instanceof NotPlain) return undefined;
    throw cause;
  }
}

/** A part of a source that only its mapper knows. */
class NotPlain extends Error {}

class SourceDescription {
  readonly #settings: SourceSettings & { readonly header: readonly string[] };
  readonly #rules: SourceRules;
  readonly #columns: Columns;

  constructor(settings: SourceSettings & { readonly header: readonly string[] }) {
    const { config, header } = settings;
    this.#settings = settings;
    this.#rules = compileSource(settings);
    const names = { aliases: config.columns ?? {}, path: [] };
    this.#columns = columnsOf("", header, names, config.csv?.guards === "strip");
  }

  get source(): PlainSource {
    const { config, header, clearWord } = this.#settings;
    const { rules, event } = this.#rules;
    const ofEvent = config.fields?.eventId;
    return {
      header,
      clearWord,
      stripsGuards: config.csv?.guards === "strip",
      looked: this.#looked(),
      decide: decider(this.#rules),
      actions: rules.map((rule, at) => ({
        action: rule.action,
        isOnce: rule.onceBy !== undefined,
        fields: rule.fields.map(({ field, read }) => this.#value(rule.action, field, this.#ruleOf(at, field), read)),
      })),
      event:
        event === undefined || ofEvent === undefined
          ? undefined
          : this.#value("soldTicket", "eventId", ofEvent, event.read),
      key: config.key === undefined ? undefined : [config.key].flat().map((template) => this.#templateOf(template)),
    };
  }

  #ruleOf(at: number, field: FieldName): ValueRule | TraitRules {
    const [own] = Object.values(this.#settings.config.actions[at] ?? {});
    const rule = own?.fields?.[field] ?? this.#settings.config.fields?.[field];
    if (rule === undefined) throw new Error("a field of the source has no rule");
    return rule;
  }

  /** The columns that conditions look at. Where only presence matters to all of them, what stands there does not. */
  #looked(): PlainSource["looked"] {
    const { config } = this.#settings;
    const arePresence = new Map<number, boolean>();
    const look = (label: string, isPresence: boolean): void => {
      const isTemplate = label.includes("{");
      for (const column of isTemplate ? this.#columnsOf(label) : [this.#columnAt(label)])
        arePresence.set(column, isPresence && !isTemplate && arePresence.get(column) !== false);
    };
    for (const { when } of this.#rules.rules)
      for (const { label, presenceOnly } of when?.looked ?? []) look(label, presenceOnly);
    for (const label of Object.keys(config.skip ?? {})) look(label, false);
    for (const [label, allowed] of Object.entries(config.expect ?? {})) {
      look(label, false);
      for (const template of [allowed].flat()) if (/[{}]/.test(template)) look(template, false);
    }
    return [...arePresence].map(([column, isPresence]) => ({ column, isPresence }));
  }

  #value(
    action: ActionName,
    field: FieldName,
    rule: ValueRule | TraitRules,
    read: (scope: Scope) => FieldValue | undefined,
  ): PlainValue {
    return { field, columns: this.#columnsIn(rule), ask: asking(read), recipe: this.#recipe(action, field, rule) };
  }

  #recipe(action: ActionName, field: FieldName, rule: ValueRule | TraitRules): Recipe {
    if (isTraits(rule)) return field === "metadataAttributes" ? this.#traits(action, rule) : { kind: "asked" };
    const steps: ValueSteps = isSteps(rule) ? rule : { from: rule as ValueSteps["from"] };
    const templates = this.#templatesOf(steps.from);
    if (templates === undefined || MORE_STEPS.some((key) => steps[key] !== undefined)) return { kind: "asked" };
    const isTime = TIME_STEPS.some((key) => steps[key] !== undefined);
    if (fieldSpec(field).kind === "u64") return this.#time(action, field, templates, isTime ? steps : undefined);
    if (isTime) return { kind: "asked" };
    if (AMOUNT_STEPS.every((key) => steps[key] === undefined)) return { kind: "text", templates };
    // A sign that may be a part of a number is left to the rule.
    if (fieldSpec(field).kind !== "price" || [steps.sign ?? []].flat().some((sign) => /[\d.,]/.test(sign)))
      return { kind: "asked" };
    return { kind: "amount", templates, mark: steps.decimal ?? (steps.thousands === "." ? "," : ".") };
  }

  #time(
    action: ActionName,
    field: FieldName,
    templates: readonly Template[],
    steps: ValueSteps | undefined,
  ): PlainTime {
    const { config, clearWord } = this.#settings;
    if (steps === undefined) {
      const secondsOf = secondsBy(coercerOf(action, field, clearWord, config.zone));
      return { kind: "time", templates, takesDigits: true, clock: ISO_CLOCK, secondsOf };
    }
    const formats = [steps.format ?? ["unix", "iso"]].flat();
    const parse = compileTime({
      formats,
      formatPath: [],
      zone: steps.zone ?? config.zone,
      zonePath: [],
      rollover: steps.rollover,
      rolloverPath: [],
    });
    const secondsOf = (text: string): number | undefined => {
      const time = parse(text);
      return time?.kind === "seconds" ? plainSeconds(time.seconds) : undefined;
    };
    return { kind: "time", templates, takesDigits: formats.includes("unix"), clock: clockOf(formats), secondsOf };
  }

  #traits(action: ActionName, rules: TraitRules): Recipe {
    const field = "metadataAttributes";
    const traits = Object.entries(rules).flatMap(([trait, rule]) => {
      if (rule === undefined) return [];
      if (isSteps(rule) && rule.display !== undefined) throw new NotPlain("a number of its own kind");
      const value = {
        field,
        columns: this.#columnsIn(rule),
        ask: asking(this.#readerOfTrait(trait, rule)),
        recipe: this.#recipe(action, "name", rule),
      } as const;
      return [{ trait, value }];
    });
    return { kind: "traits", traits };
  }

  /** Reads a trait as the only attribute. */
  #readerOfTrait(trait: string, rule: ValueRule): (scope: Scope) => FieldValue | undefined {
    const { config, clearWord } = this.#settings;
    return compileAttributes(
      { [trait]: rule },
      {
        label: "metadataAttributes",
        parsing: "either",
        emptyWhen: "all columns are",
        names: this.#columns,
        path: [],
        zone: config.zone,
        zonePath: [],
        clearWord,
        count: undefined,
        displays: true,
      },
    );
  }

  /** Undefined where a choice is more than a template. */
  #templatesOf(rule: ValueRule): readonly Template[] | undefined {
    if (typeof rule === "string") return [this.#templateOf(rule)];
    if (!isList(rule)) return undefined;
    const templates = rule.map((choice) => this.#templatesOf(choice));
    return templates.every((each) => each !== undefined) ? templates.flat() : undefined;
  }

  #templateOf(text: string): Template {
    return templateParts(text, []).map((part) => (typeof part === "string" ? part : this.#columnAt(part.name)));
  }

  #columnAt(name: string): number {
    return this.#columns.indexOf(name, []);
  }

  #columnsIn(rule: ValueRule | TraitRules): readonly number[] {
    return [...new Set(textsIn(rule).flatMap((template) => this.#columnsOf(template)))];
  }

  #columnsOf(template: string): readonly number[] {
    return this.#templateOf(template).filter((part) => typeof part === "number");
  }
}

const MORE_STEPS = ["map", "else", "blank", "divide", "places", "remainder"] as const satisfies (keyof ValueSteps)[];
const AMOUNT_STEPS = ["decimal", "thousands", "sign"] as const satisfies (keyof ValueSteps)[];
const TIME_STEPS = ["format", "zone", "rollover"] as const satisfies (keyof ValueSteps)[];

/** All texts of a rule that may name columns. */
function textsIn(rule: ValueRule | TraitRules | undefined): readonly string[] {
  if (rule === undefined) return [];
  if (typeof rule === "string") return [rule];
  if (isList(rule)) return rule.flatMap(textsIn);
  if (isTraits(rule)) return Object.values(rule).flatMap(textsIn);
  const { from, map = {}, else: otherwise, blank, divide } = rule;
  return [...textsIn(from), ...[...Object.values(map), otherwise, blank, divide].flatMap(textsIn)];
}

function asking(read: (scope: Scope) => FieldValue | undefined): PlainValue["ask"] {
  let isTold = false;
  const tell = (): void => {
    isTold = true;
  };
  const scope = emptyScope({ onElse: tell, onIdCell: tell });
  return (cells) => {
    isTold = false;
    scope.cells = cells;
    scope.findings = [];
    scope.turn += 1;
    const value = read(scope);
    return isTold || scope.findings.length > 0 ? UNCLEAR : value;
  };
}

function decider({ rules, skips, expectations }: SourceRules): PlainSource["decide"] {
  const looked = uniqueLooks(rules);
  const scope = emptyScope();
  return (cells) => {
    scope.cells = cells;
    scope.findings = [];
    for (const { label, read, values } of skips) {
      const text = read(scope);
      if (values.has(text)) return { kind: "skipped", reason: labelled(label, text), bySkip: true };
    }
    const actions = [...rules.keys()].filter((at) => rules[at]?.when?.holds(scope) ?? true);
    if (actions.length === 0) return { kind: "skipped", reason: reasonOfLooks(looked, scope), bySkip: false };
    const isExpected = expectations.every(({ read, allowed }) => allowed(scope).has(read(scope)));
    return isExpected ? { kind: "actions", actions } : undefined;
  };
}

export const ISO_CLOCK: Clock = { hasSeconds: true, cutsFraction: true, hasHour: true };

/** How minutes stand in a text of the formats; undefined where they may stand otherwise. */
function clockOf(formats: readonly string[]): Clock | undefined {
  if (formats.includes("iso") && formats.every((format) => format === "iso" || format === "unix")) return ISO_CLOCK;
  const [only] = formats;
  if (only === undefined || formats.length > 1) return undefined;
  // Quoted text may hold anything, and an offset a colon.
  const found = /^[^:'Z]*:mm?(:ss?)?(?:[^:'A-Za-z][^:']*)?$/.exec(only);
  if (found === null) return undefined;
  return { hasSeconds: found[1] !== undefined, cutsFraction: false, hasHour: /(?:^|[^A-Za-z])HH?:/.test(only) };
}

/** What a field makes of a text, where it is a time that can be calculated with. */
export function secondsBy(coerce: Coerce): PlainTime["secondsOf"] {
  return (text) => {
    const findings: Finding[] = [];
    const value = coerce(text, findings);
    return findings.length === 0 ? plainSeconds(value) : undefined;
  };
}

const plainSeconds = (value: FieldValue | undefined): number | undefined =>
  typeof value === "number" && Number.isSafeInteger(value) ? value : undefined;

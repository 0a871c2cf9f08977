/**
 * The rules of a recipe, adapted to this file: which columns it has, how it writes amounts and times, what is to be filled
 * in.
 */

import type { EachConfig, FieldRules, SourceConfig, TraitRules, ValueRule, ValueSteps } from "../map/source.ts";
import { isList, placeholder } from "../map/source.ts";
import { isSteps, isTraits } from "../map/value.ts";
import { amountsOf, readsAll } from "./amount-evidence.ts";
import { amountLines } from "./amount-rules.ts";
import type { Entry, Line, Value } from "./config-text.ts";
import { type FillIn, type Recipe, toFillIn } from "./recipe.ts";
import { type Evidence, hasColumn } from "./sample.ts";
import { timesFit, timesOf } from "./time-evidence.ts";
import { isTimeField, timeRule } from "./time-rules.ts";
import { allRowsText, ask, choice, MOST_VALUES, rowsText } from "./words.ts";

/** A recipe and the file that it is adapted to. */
export interface View {
  readonly source: SourceConfig;
  readonly remarks: Recipe["remarks"];
  readonly evidence: Evidence;
  /** Whether the rules are a comment, and stay as the recipe has them. */
  readonly isOff: boolean;
}

/** Where the notes of a recipe begin, so that they stand below each other. */
const NOTE_AT = 37;

/** Data of the config as it is written: texts in lists and maps. */
export function dataValue(data: unknown, key = ""): Value {
  if (Array.isArray(data)) return data.map((item) => dataValue(item, key));
  if (typeof data === "object" && data !== null)
    return { flow: Object.entries(data).map(([name, value]) => [name, dataValue(value, name)]) };
  const text = String(data);
  if (key === "match") return { pattern: text };
  return IN_QUOTES.has(key) && text !== "iso" ? { inQuotes: text } : text;
}

/** Steps whose texts look like something else than a text. */
const IN_QUOTES: ReadonlySet<string> = new Set(["blank", "format"]);

/** Rules of fields; those whose columns the file does not have become comments. */
export const fieldLines = (view: View, fields: FieldRules = {}, path: string): readonly Line[] =>
  Object.entries(fields).flatMap(([field, rule]) =>
    rule === undefined ? [] : ruleLines(view, field, rule, `${path}.${field}`),
  );

/** How one row becomes several. */
export function eachLines(view: View, each: EachConfig | undefined, path: string): readonly Line[] {
  if (each === undefined) return [];
  const cell = "count" in each ? each.count : "in" in each ? each.in : "";
  return knownLines(view, "each", each, missingIn(view, cell), path);
}

/** A key with lines below it; a comment with them where all of them are comments. */
export function parentLines(key: string, lines: readonly Line[]): readonly Line[] {
  if (lines.some((line) => "key" in line)) return [{ key, value: { block: lines } }];
  return [
    { comment: `#${key}:` },
    ...lines.flatMap((line) => ("comment" in line ? [{ comment: `  ${line.comment}` }] : [])),
  ];
}

function ruleLines(view: View, field: string, rule: ValueRule | TraitRules, path: string): readonly Line[] {
  if (isTraits(rule)) return traitLines(view, field, rule, path);
  const asRead = view.isOff ? undefined : asFileIsWritten(view.evidence, field, rule);
  if (asRead !== undefined) return asRead;
  if (isSteps(rule) && rule.map !== undefined) {
    const { from, map } = rule;
    const table = Object.entries(map).flatMap(([text, value]) => answerLines(view, text, value, `${path}.map.${text}`));
    return [
      {
        key: field,
        value: {
          block: [
            { key: "from", value: dataValue(from) },
            { key: "map", value: { block: table } },
          ],
        },
      },
    ];
  }
  const known = withoutMissing(view, rule);
  return knownLines(view, field, known, missingIn(view, known), path);
}

/** Attributes: a few on one line, many on lines of their own. */
function traitLines(view: View, field: string, traits: TraitRules, path: string): readonly Line[] {
  const rules = Object.entries(traits);
  if (rules.length > 2) {
    const lines = rules.flatMap(([trait, rule]) =>
      rule === undefined ? [] : ruleLines(view, trait, rule, `${path}.${trait}`),
    );
    return parentLines(field, lines);
  }
  const known = rules.filter(([, rule]) => missingIn(view, rule) === undefined);
  const kept = Object.fromEntries(known.length > 0 ? known : rules.slice(-1));
  return knownLines(view, field, kept, missingIn(view, kept), path);
}

/** The rule, as a comment where the file lacks a column of it. */
function knownLines(
  view: View,
  key: string,
  rule: unknown,
  missing: string | undefined,
  path: string,
): readonly Line[] {
  if (missing === undefined) return answerLines(view, key, rule, path);
  return [choice({ key, value: dataValue(rule), note: `this file has no column ${missing}` })];
}

/** In a list whose first non-empty column counts, keeps the columns that the file has; where it has none, one of them. */
function withoutMissing(view: View, rule: ValueRule): ValueRule {
  if (isList(rule)) {
    const known = rule.filter((each) => missingIn(view, each) === undefined);
    return known.length > 0 ? known : rule.slice(-1);
  }
  if (!isSteps(rule) || typeof rule.from === "string") return rule;
  const known = rule.from.filter((each) => missingIn(view, each) === undefined);
  return { ...rule, from: known.length > 0 ? known : rule.from.slice(-1) };
}

/** A column that stands in a template of the data and that the file does not have. */
function missingIn({ source, evidence }: View, data: unknown): string | undefined {
  const isKnown = (name: string): boolean =>
    hasColumn(evidence, name) ||
    name === "n" ||
    name.startsWith("item.") ||
    Object.hasOwn(source.columns ?? {}, name) ||
    Object.keys(source.lookup ?? {}).some((table) => name.startsWith(`${table}.`)) ||
    (evidence.lists !== undefined && name.includes("."));
  return textsIn(data)
    .flatMap((text) => [...text.matchAll(/\{([^{}]+)\}/g)].map(([, name = ""]) => name))
    .find((name) => !isKnown(name));
}

function textsIn(data: unknown): readonly string[] {
  if (typeof data === "string") return [data];
  return typeof data === "object" && data !== null ? Object.values(data).flatMap(textsIn) : [];
}

/** Amounts and times as this file writes them, where the recipe's way does not fit, or is not the only one that does. */
function asFileIsWritten(evidence: Evidence, field: string, rule: ValueRule): readonly Line[] | undefined {
  const steps: ValueSteps | undefined = typeof rule === "string" ? { from: rule } : isSteps(rule) ? rule : undefined;
  if (steps === undefined || steps.map !== undefined || typeof steps.from !== "string") return undefined;
  const { from, decimal = ".", thousands, sign = [], format, ...more } = steps;
  const column = evidence.column(/^\{([^{}]+)\}$/.exec(from)?.[1] ?? "");
  if (column === undefined || column.filled === 0) return undefined;
  if (field === "price") {
    const found = amountsOf(column);
    if (found === undefined) return undefined;
    if (found.readings.length === 1 && readsAll(column, { decimal, thousands, signs: [sign].flat() })) return undefined;
    const steps = Object.entries(more).map(([key, text]) => [key, dataValue(text, key)]);
    return amountLines(column, found, Object.fromEntries(steps));
  }
  const found = timesOf(column);
  if (typeof format !== "string" || found === undefined || !isTimeField(field)) return undefined;
  if (found.readings.length === 1 && timesFit(column, format)) return undefined;
  return [timeRule(column, evidence.columns, field)];
}

/** An entry of the recipe with its remark; where its value is an example, the question for it. */
export function answerLines(view: View, key: string, data: unknown, path: string): readonly Line[] {
  const remark = view.remarks[path];
  const fillIn = toFillIn(remark);
  if (fillIn !== undefined) return askedLines(view.evidence, key, data, fillIn);
  const value = dataValue(data);
  return [
    remark !== undefined && "note" in remark ? { key, value, note: remark.note, noteAt: NOTE_AT } : { key, value },
  ];
}

/** Asks for what the user must say, with what the file shows of it. */
function askedLines(evidence: Evidence, key: string, data: unknown, asked: FillIn): readonly Line[] {
  const { fillIn, sameIn, forEach, part } = asked;
  const column = evidence.column(sameIn ?? forEach ?? "");
  if (forEach !== undefined && column !== undefined) {
    const values = [...column.values].slice(0, MOST_VALUES);
    const more = column.values.size - values.length;
    return [
      ...values.map(([text, times]): Entry => ({ key: text, value: ask(`${fillIn} (${rowsText(times)})`) })),
      ...(more > 0 ? [{ comment: `# and ${more} more` }] : []),
    ];
  }
  const only = column?.values.size === 1 && column.filled === column.rows ? [...column.values.keys()][0] : undefined;
  if (only !== undefined && /^[A-Z]{3}$/.test(only))
    return [{ key, value: only, note: `as in ${allRowsText(column?.rows ?? 0)}: ${fillIn}` }];
  if (part === undefined) return [{ key, value: ask(fillIn) }];
  return [{ key, value: dataValue(withPlaceholder(data, part, placeholder(fillIn))) }];
}

/** The data with the placeholder in place of a part of its texts. */
function withPlaceholder(data: unknown, part: string, asked: string): unknown {
  if (typeof data === "string") return data.replace(part, () => asked);
  if (typeof data !== "object" || data === null) return data;
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, withPlaceholder(value, part, asked)]));
}

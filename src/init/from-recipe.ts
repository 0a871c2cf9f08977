/**
 * A source for an export of a known system: its recipe, adapted to this file. Rules whose columns the file lacks become
 * comments; amounts, times and the values of conditions are as the file writes them; what it can't say is asked.
 */

import { fold } from "../actions/nearest.ts";
import { cleanText } from "../actions/text.ts";
import { compileAmount } from "../map/amount.ts";
import type {
  ActionConfig,
  ConditionMap,
  FieldRules,
  SourceConfig,
  TraitRules,
  ValueRule,
  ValueSteps,
  WhenConfig,
} from "../map/source.ts";
import { isList, placeholder } from "../map/source.ts";
import { isSteps, isTraits } from "../map/value.ts";
import { expectLines, type Skips, skipLines } from "./conditions.ts";
import { type Comment, type Entry, type Line, switchedOff, type Value } from "./config-text.ts";
import { type Column, type Evidence, hasColumn, timesFit } from "./evidence.ts";
import { csvLines, matchLine } from "./from-columns.ts";
import { allRowsText, ask, choice, MOST_VALUES, rowsText, wrapped } from "./notes.ts";
import { amountLines } from "./price-rules.ts";
import { type FillIn, type Recipe, toFillIn } from "./recipes.ts";
import { isTimeField, timeRule } from "./time-rules.ts";

/** A recipe and the file that it is adapted to. */
interface View extends Recipe {
  readonly evidence: Evidence;
}

export function fromRecipe(recipe: Recipe, evidence: Evidence): readonly Line[] {
  const { source, notes, remarks } = recipe;
  const view: View = { ...recipe, evidence };
  const isOneEvent = toFillIn(remarks["fields.eventId"]) !== undefined;
  const compared = new Set(actionsIn(source).flatMap(([, { when }]) => mapsOf(when).flatMap(Object.keys)));
  const expected = Object.entries(source.expect ?? {})
    .filter(([name]) => hasColumn(evidence, name))
    .flatMap(([name, value]) => answerLines(view, name, value, `expect.${name}`))
    .filter((line) => "key" in line);
  return [
    ...notes.flatMap((note) => wrapped(note).map((line) => ({ comment: `# ${line}` }))),
    matchLine(evidence.fileName, isOneEvent),
    ...csvLines(evidence, source.csv !== undefined),
    ...settings(view),
    ...expectLines(
      expected,
      evidence.columns.filter(({ name }) => compared.has(name)),
    ),
    ...skipLines(skipsOf(source, evidence)),
    { key: "actions", value: { items: actionsIn(source).flatMap(([name, action]) => itemOf(view, name, action)) } },
  ];
}

const actionsIn = ({ actions = [] }: SourceConfig): readonly (readonly [string, ActionConfig])[] =>
  actions.flatMap((item) => Object.entries(item)).map(([name, action = {}]) => [name, action]);

/** What comes before `expect`, `skip` and the actions, in the recipe's order. */
function settings(view: View): readonly Line[] {
  const { zone, lookup, columns, fields } = view.source;
  const lines: Readonly<Record<string, () => readonly Line[]>> = {
    zone: () => answerLines(view, "zone", zone, "zone"),
    lookup: () => [
      {
        key: "lookup",
        value: { block: Object.entries(lookup ?? {}).map(([key, value]) => ({ key, value: dataValue(value) })) },
      },
    ],
    columns: () => [{ key: "columns", value: dataValue(columns) }],
    each: () => eachLines(view, view.source, "each"),
    fields: () => [{ key: "fields", value: { block: fieldLines(view, fields, "fields") } }],
  };
  return Object.keys(view.source).flatMap((key) => lines[key]?.() ?? []);
}

/** An action; one whose values the file lacks becomes a comment: should such a value come later, it is reported as named nowhere. */
function itemOf(view: View, name: string, { when, each, fields }: ActionConfig): readonly (Value | Comment)[] {
  const path = `actions.${name}`;
  const maps = mapsOf(when);
  const absent = maps.map((map) => absentIn(map, view.evidence));
  const [why] = absent;
  const isOff = why !== undefined && !absent.includes(undefined);
  const present = maps
    .filter((_map, at) => isOff || absent[at] === undefined)
    .map((map) => asInFile(map, view.evidence));
  const [only, ...more] = present;
  const condition =
    only === undefined ? [] : [{ key: "when", value: isList(when) ? { items: [only, ...more] } : only }];
  const block = [
    ...condition,
    ...eachLines(view, { each }, `${path}.each`),
    ...(fields === undefined ? [] : parentLines("fields", fieldLines(view, fields, `${path}.fields`))),
  ];
  if (isOff)
    return [
      { comment: `# No row of this file has ${why}; when one does, take the # away and write its value as it stands.` },
      ...switchedOff({ items: [{ block: [{ key: name, value: { block } }] }] }),
    ];
  const [remark] = answerLines(view, name, "", path);
  return [{ block: [{ ...remark, key: name, value: { block } }] }];
}

/** Data of the config as it is written: texts in lists and maps. */
function dataValue(data: unknown, key = ""): Value {
  if (Array.isArray(data)) return data.map((item) => dataValue(item, key));
  if (typeof data === "object" && data !== null)
    return { flow: Object.entries(data).map(([name, value]) => [name, dataValue(value, name)]) };
  const text = String(data);
  if (key === "match") return { pattern: text };
  return (key === "blank" || key === "format") && text !== "iso" ? { inQuotes: text } : text;
}

/** Rules of fields; those whose columns the file does not have become comments. */
const fieldLines = (view: View, fields: FieldRules | TraitRules = {}, path: string): readonly Line[] =>
  Object.entries(fields).flatMap(([field, rule]) =>
    rule === undefined ? [] : ruleLines(view, field, rule, `${path}.${field}`),
  );

/** How one row becomes several. */
function eachLines(view: View, { each }: Pick<SourceConfig, "each">, path: string): readonly Line[] {
  if (each === undefined) return [];
  const cell = "count" in each ? each.count : "in" in each ? each.in : "";
  return knownLines(view, "each", each, missingIn(view, cell), path);
}

/** A key with lines below it; a comment with them where all of them are comments. */
function parentLines(key: string, lines: readonly Line[]): readonly Line[] {
  if (lines.some((line) => "key" in line)) return [{ key, value: { block: lines } }];
  return [
    { comment: `#${key}:` },
    ...lines.flatMap((line) => ("comment" in line ? [{ comment: `  ${line.comment}` }] : [])),
  ];
}

function ruleLines(view: View, field: string, rule: ValueRule | TraitRules, path: string): readonly Line[] {
  if (isTraits(rule)) return traitLines(view, field, rule, path);
  const asRead = asFileIsWritten(view.evidence, field, rule);
  if (asRead !== undefined) return asRead;
  if (isSteps(rule) && rule.map !== undefined) {
    const table = Object.entries(rule.map).flatMap(([text, value]) =>
      answerLines(view, text, value, `${path}.map.${text}`),
    );
    return parentLines(field, [
      { key: "from", value: dataValue(rule.from) },
      { key: "map", value: { block: table } },
    ]);
  }
  const known = withoutMissing(view, rule);
  return knownLines(view, field, known, missingIn(view, known), path);
}

/** Attributes: a few on one line, many on lines of their own. */
function traitLines(view: View, field: string, traits: TraitRules, path: string): readonly Line[] {
  const rules = Object.entries(traits);
  if (rules.length > 2) return parentLines(field, fieldLines(view, traits, path));
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
  const isKnown = (each: unknown): boolean => missingIn(view, each) === undefined;
  const kept = <T>(list: readonly T[]): readonly T[] => (list.some(isKnown) ? list.filter(isKnown) : list.slice(-1));
  if (isList(rule)) return kept(rule);
  return isSteps(rule) && isList(rule.from) ? { ...rule, from: kept(rule.from) } : rule;
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
  if (field === "price" && column.amounts !== undefined) {
    const read = compileAmount({ decimal, thousands, signs: [sign].flat(), path: [] });
    const isRead = [...column.values.keys()].every((text) => read(text) !== undefined);
    if (isRead && column.amounts.readings.length === 1) return undefined;
    const kept = Object.entries(more).map(([key, text]) => [key, dataValue(text, key)]);
    return amountLines(column, column.amounts, Object.fromEntries(kept));
  }
  if (typeof format !== "string" || column.times === undefined || !isTimeField(field)) return undefined;
  const isClear = column.times.readings.length === 1 && timesFit(column, format);
  return isClear ? undefined : [timeRule(column, evidence.columns, field)];
}

/** An entry of the recipe with its remark; where its value is an example, the question for it. */
function answerLines({ remarks, evidence }: View, key: string, data: unknown, path: string): readonly Line[] {
  const remark = remarks[path];
  const fillIn = toFillIn(remark);
  if (fillIn !== undefined) return askedLines(evidence, key, data, fillIn);
  return [{ key, value: dataValue(data), note: remark !== undefined && "note" in remark ? remark.note : undefined }];
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

/** The maps of a condition; one of them must hold. */
const mapsOf = (when: WhenConfig | undefined): readonly ConditionMap[] => [when ?? []].flat();

/** The values of a column that a condition takes. */
const valuesOf = (map: ConditionMap, name: string): readonly string[] => {
  const condition = map[name] ?? [];
  return typeof condition === "string" || isList(condition) ? [condition].flat() : [];
};

/** The texts of the column that say one of the values, but for capitals, blanks and marks. */
const spellingsOf = (values: readonly string[], column: Column | undefined): readonly string[] => [
  ...new Set(
    values.flatMap((value) => [...(column?.values.keys() ?? [])].filter((text) => fold(text) === fold(value))),
  ),
];

/** For columns that every action's condition looks at: the values that none of them names, which give nothing. */
function skipsOf(source: SourceConfig, { columns }: Evidence): readonly Skips[] {
  const conditions = actionsIn(source)
    .filter(([name, { when }]) => name !== "newEvent" || when !== undefined)
    .map(([, { when }]) => mapsOf(when));
  return columns.flatMap((column) => {
    const { name } = column;
    if (conditions.length === 0 || !conditions.every((maps) => maps.some((map) => Object.hasOwn(map, name)))) return [];
    const known = spellingsOf([source.skip?.[name] ?? []].flat(), column);
    const taken = conditions.flat().flatMap((map) => spellingsOf(valuesOf(map, name), column));
    const open = [...column.values.keys()].filter((value) => !taken.includes(value) && !known.includes(value));
    return known.length === 0 && open.length === 0 ? [] : [{ column, known, open }];
  });
}

/** `Status canceled`: a column of the map that the file has, and of whose values it has none. */
function absentIn(map: ConditionMap, evidence: Evidence): string | undefined {
  for (const name of Object.keys(map)) {
    const column = evidence.column(name);
    if (column === undefined || column.values.size === 0) continue;
    const values = valuesOf(map, name);
    if (spellingsOf(values, column).length === 0 && otherAnswers(values, column) === undefined)
      return `${cleanText(name, 40)} ${values.map((value) => cleanText(value, 40)).join(" or ")}`;
  }
  return undefined;
}

/** A yes, a no, and what stands for neither. */
const MOST_ANSWERS = 4;

/** Where a condition takes a yes, the texts of its column where these are yes and no in another language. */
function otherAnswers(values: readonly string[], { values: texts }: Column): string | undefined {
  if (!values.some((value) => fold(value) === "yes") || texts.size > MOST_ANSWERS) return undefined;
  const isOther = [...texts.keys()].some((text) => !/^(?:no|n|false|f|0|-)$/i.test(text));
  return isOther ? [...texts.keys()].map((text) => cleanText(text, 20)).join(" and ") : undefined;
}

/** The condition with the values of each column as they stand in the file; as in the recipe where none does. */
function asInFile(map: ConditionMap, evidence: Evidence): Value {
  return {
    flow: Object.keys(map).map((name) => {
      const column = evidence.column(name);
      const values = valuesOf(map, name);
      const own = spellingsOf(values, column);
      const answers = column === undefined || own.length > 0 ? undefined : otherAnswers(values, column);
      if (answers !== undefined) return [name, ask(`the text that says yes; this file has ${answers}`)];
      const [only = "", ...more] = (own.length === 0 ? values : own).map(asText);
      return [name, more.length === 0 ? only : [only, ...more]];
    }),
  };
}

/** YAML takes some plain words for other things, and so may a reader. */
const asText = (value: string): Value =>
  /^(?:yes|no|true|false|on|off|null|~|\d.*)$/i.test(value) ? { inQuotes: value } : value;

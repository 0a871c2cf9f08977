/**
 * A source for an export of a known system: its recipe, adapted to this file. Rules whose columns the file lacks become
 * comments; amounts, times and the values of conditions are as the file writes them; what it can't say is asked.
 */

import { type Document, isMap, isSeq, type Node, parseDocument } from "yaml";
import { fold } from "../actions/nearest.ts";
import { compileAmount, DECIMAL_MARKS, GROUP_MARKS } from "../map/amount.ts";
import { readerOf } from "../map/likely-formats.ts";
import { cleanText } from "../text.ts";
import { expectLines } from "./conditions.ts";
import { type Column, type Evidence, hasColumn } from "./evidence.ts";
import { type Body, csvLines } from "./from-columns.ts";
import { amountLines } from "./price-rules.ts";
import { type Recipe, readRecipe } from "./recipes.ts";
import { isTimeField, timeRule } from "./time-rules.ts";
import { ask, choice, comments, flow, type Line, listOf, rowsText, text } from "./yaml.ts";

/** A key of the recipe with what stands beside it. */
interface Rule {
  readonly key: string;
  /** All but lists and maps are texts. */
  readonly value: unknown;
  /** As it is written. */
  readonly yaml: string;
  readonly note: string | undefined;
  /** What stands below it on lines of its own. */
  readonly below: readonly Rule[];
}

function rulesIn(document: Document, source: string, node: unknown): readonly Rule[] {
  if (isSeq(node)) return node.items.flatMap((item) => rulesIn(document, source, item));
  if (!isMap<unknown, Node>(node) || node.flow === true) return [];
  return node.items.flatMap(({ key, value }) => {
    if (value === null) return [];
    const yaml = source.slice(...(value.range ?? []));
    const note = (value.comment ?? value.commentBefore)?.trim();
    return [{ key: String(key), value: value.toJS(document), yaml, note, below: rulesIn(document, source, value) }];
  });
}

type Steps = Readonly<Record<string, unknown>>;

const stepsIn = (value: unknown): Steps => (typeof value === "object" ? { ...value } : {});

/** The texts of a text or a list of texts. */
const textsOf = (value: unknown): readonly string[] => [value].flat().filter((of) => typeof of === "string");

/** An action that the rows give, and of whose conditions one must hold. */
interface Action {
  readonly rule: Rule;
  readonly when: readonly Steps[];
}

export function fromRecipe(recipe: Recipe, evidence: Evidence): Body & { readonly actions: readonly string[] } {
  const { notes, source } = readRecipe(recipe);
  const document = parseDocument(source, { schema: "failsafe" });
  const rules = rulesIn(document, source, document.contents);
  const part = (key: string): Rule | undefined => rules.find((rule) => rule.key === key);
  const actions = (part("actions")?.below ?? []).map((rule): Action => {
    const when = rule.below.find(({ key }) => key === "when");
    return { rule, when: when === undefined ? [] : [when.value].flat().map(stepsIn) };
  });
  const compared = new Set(actions.flatMap(({ when }) => when.flatMap(Object.keys)));
  const named = ["n", ...Object.keys(stepsIn(part("columns")?.value))];
  const tables = ["file", "item", ...Object.keys(stepsIn(part("lookup")?.value))];
  const isKnown = (name: string): boolean =>
    hasColumn(evidence, name) ||
    named.includes(name) ||
    tables.some((table) => name.startsWith(`${table}.`)) ||
    (evidence.lists !== undefined && name.includes("."));
  const view: View = { evidence, isKnown };
  const expected = (part("expect")?.below ?? []).filter(({ key }) => hasColumn(evidence, key));
  return {
    actions: actions.map(({ rule }) => rule.key),
    comments: notes.flatMap(comments),
    rules: [
      ...csvLines(evidence, part("csv") !== undefined),
      ...rules.flatMap((rule) => (WITH_THE_FILE.has(rule.key) ? [] : ruleLines(view, rule))),
      ...expectLines(
        expected.flatMap((rule) => ruleLines(view, rule)),
        evidence.columns.filter(({ name }) => compared.has(name)),
      ),
      ...skipLines(actions, stepsIn(part("skip")?.value), evidence),
      { key: "actions", value: { items: actions.map((action) => ({ block: actionLines(view, action) })) } },
    ],
  };
}

/** A file, and what a template of its recipe may name. */
interface View {
  readonly evidence: Evidence;
  isKnown(name: string): boolean;
}

/** Keys whose values this file decides. */
const WITH_THE_FILE: ReadonlySet<string> = new Set(["match", "csv", "expect", "skip", "actions"]);

function actionLines(view: View, { rule, when }: Action): readonly Line[] {
  const maps = when.map((map) => asInFile(map, view.evidence));
  const [only = "", ...more] = maps;
  const condition = { key: "when", value: more.length > 0 ? { items: maps } : only };
  const block = rule.below.flatMap((each) => (each.key === "when" ? [condition] : ruleLines(view, each)));
  return [{ key: rule.key, value: { block }, note: rule.note }];
}

const FILL_IN = /^FILL IN(?: as \{(.+?)\})?(?: for each \{(.+?)\})?: (.*)$/;

/** A rule that has lines is adapted line by line, one on a single line as a whole: as the file is written, asked, or a comment. */
function ruleLines(view: View, rule: Rule): readonly Line[] {
  const { key, note, below } = rule;
  const asked = FILL_IN.exec(note ?? "");
  if (asked !== null) return questions(view.evidence, key, asked);
  if (below.length > 0) {
    const lines = below.flatMap((each) => ruleLines(view, each));
    if (lines.some((line) => "key" in line)) return [{ key, value: { block: lines }, note }];
    // With the `#` of both taken away, a line is below the other's.
    const indented = lines.flatMap((line) => ("comment" in line ? [{ comment: `#  ${line.comment.slice(1)}` }] : []));
    return [{ comment: `#${key}:` }, ...indented];
  }
  const asWritten = asFileIsWritten(view.evidence, rule);
  if (asWritten !== undefined) return asWritten;
  // Where the first non-empty of several templates counts, those whose columns the file has; where it has none, one of them.
  const value = rule.yaml.replace(/\[("\{[^\]]*)\]/, (_list, inside: string) => {
    const templates = inside.split(", ");
    const known = templates.filter((template) => missingIn(view, template) === undefined);
    return listOf(known.length > 0 ? known : templates.slice(-1));
  });
  const missing = missingIn(view, value);
  if (missing === undefined) return [{ key, value, note }];
  return [choice({ key, value, note: `this file has no column ${missing}` })];
}

/** A column that stands in a template and that the file does not have. Templates are in double quotes. */
const missingIn = ({ isKnown }: View, yaml: string): string | undefined =>
  [...yaml.matchAll(/"[^"]*"/g)]
    .flatMap(([template]) => [...template.matchAll(/\{([^{}]+)\}/g)].map(([, name = ""]) => name))
    .find((name) => !isKnown(name));

/** Asks for what the user must say: once, unless a column has the same code in all rows; or for each text of a column. */
function questions(
  evidence: Evidence,
  key: string,
  [, sameIn, forEach, asked = ""]: readonly string[],
): readonly Line[] {
  const column = evidence.column(sameIn ?? forEach ?? "");
  const texts = [...(column?.values ?? [])];
  if (forEach !== undefined && texts.length > 0)
    return texts.map(([of, times]) => ({ key: of, value: ask(`${asked} (${rowsText(times)})`) }));
  const [[only, times] = ["", 0], ...others] = texts;
  if (others.length === 0 && times === column?.rows && /^[A-Z]{3}$/.test(only))
    return [{ key, value: only, note: `as in ${evidence.allRows}: ${asked}` }];
  // An event's id does not hold for the next file.
  return [{ key, value: ask(asked), ofThisFile: key === "eventId" ? "the id of the event" : undefined }];
}

/** Amounts and times as this file writes them, where the recipe's way does not fit, or is not the only one that does. */
function asFileIsWritten(evidence: Evidence, { key, value }: Rule): readonly Line[] | undefined {
  const { from = value, decimal, thousands, sign, format, ...kept } = stepsIn(value);
  const column = evidence.column(/^\{([^{}]+)\}$/.exec(String(from))?.[1] ?? "");
  const texts = [...(column?.values.keys() ?? [])];
  if (column === undefined || texts.length === 0) return undefined;
  const { amounts, times } = column;
  if (key === "price" && amounts !== undefined) {
    const read = compileAmount({
      decimal: DECIMAL_MARKS.find((mark) => mark === decimal) ?? ".",
      thousands: GROUP_MARKS.find((mark) => mark === thousands),
      signs: textsOf(sign),
      path: [],
    });
    if (texts.every((amount) => read(amount) !== undefined) && amounts.readings.length === 1) return undefined;
    const steps = Object.entries(kept).map(([step, of]) => [step, textsOf(of).map(text).join()] as const);
    return amountLines(column, Object.fromEntries(steps));
  }
  if (typeof format !== "string" || times === undefined || !isTimeField(key)) return undefined;
  const read = readerOf(format);
  const isClear = times.readings.length === 1 && texts.every((time) => read(time) !== undefined);
  return isClear ? undefined : [timeRule(column, evidence, key)];
}

/** The texts of the column that say one of the values, but for capitals, blanks and marks. */
const spellingsOf = (values: readonly string[], column: Column | undefined): readonly string[] => [
  ...new Set(values.flatMap((value) => [...(column?.values.keys() ?? [])].filter((own) => fold(own) === fold(value)))),
];

/** `skip` for columns that every action's condition looks at: what the recipe skips, and what no action takes, which is asked. */
function skipLines(actions: readonly Action[], skip: Steps, { columns }: Evidence): readonly Line[] {
  const deciding = actions.filter(({ rule, when }) => rule.key !== "newEvent" || when.length > 0);
  const block = columns.flatMap((column): readonly Line[] => {
    const { name, values } = column;
    if (!deciding.every(({ when }) => when.some((map) => name in map))) return [];
    const known = spellingsOf(textsOf(skip[name]), column);
    const taken = deciding.flatMap(({ when }) => when.flatMap((map) => spellingsOf(textsOf(map[name]), column)));
    const open = [...values].filter(([value]) => !taken.includes(value) && !known.includes(value));
    const asked = open.map(([value, times]) => {
      const shown = `${cleanText(value, 40)} (${rowsText(times)})`;
      return ask(`no action takes ${shown}: write it here if it gives nothing, else in the when of its actions`);
    });
    const items = [...known.map(text), ...asked];
    return items.length === 0 ? [] : [{ key: name, value: { items } }];
  });
  return block.length === 0 ? [] : [{ key: "skip", value: { block }, note: "rows with these give nothing" }];
}

/** The condition with the values of each column as they stand in the file; as in the recipe where none does. */
function asInFile(condition: Steps, evidence: Evidence): string {
  const tests = Object.entries(condition).map(([name, value]) => {
    const values = textsOf(value);
    const own = spellingsOf(values, evidence.column(name));
    const [only = "", ...more] = (own.length === 0 ? values : own).map(text);
    return [name, more.length === 0 ? only : listOf([only, ...more])] as const;
  });
  return flow(Object.fromEntries(tests));
}

/**
 * A source for an export of a known system: its recipe, adapted to this file. Rules whose columns the file lacks become
 * comments; amounts, times and the values of conditions are as the file writes them; what it can't say is asked.
 */

import { isMap, isScalar, isSeq, type Node, parseDocument } from "yaml";
import { fold } from "../actions/nearest.ts";
import { cleanText } from "../actions/text.ts";
import { compileAmount, DECIMAL_MARKS, GROUP_MARKS } from "../map/amount.ts";
import { readerOf } from "../map/likely-formats.ts";
import { expectLines } from "./conditions.ts";
import { type Column, type Evidence, hasColumn } from "./evidence.ts";
import { type Body, csvLines } from "./from-columns.ts";
import { amountLines } from "./price-rules.ts";
import { type Recipe, readRecipe } from "./recipes.ts";
import { isTimeField, timeRule } from "./time-rules.ts";
import {
  ask,
  type Comment,
  choice,
  comments,
  flow,
  inQuotes,
  type Line,
  listOf,
  MOST_VALUES,
  rowsText,
  text,
  type Value,
} from "./yaml.ts";

/** A key of the recipe, what stands below it, and the comment beside it. */
interface Rule {
  readonly key: string;
  readonly node: Node;
  readonly note: string | undefined;
}

const rulesIn = (map: unknown): readonly Rule[] =>
  isMap<unknown, Node>(map)
    ? map.items.flatMap(({ key, value: node }) => {
        const note = node?.comment ?? node?.commentBefore ?? undefined;
        return node === null ? [] : [{ key: String(key), node, note: note?.trim() }];
      })
    : [];

const ruleOf = (rules: readonly Rule[], wanted: string): Node | undefined =>
  rules.find(({ key }) => key === wanted)?.node;

/** The texts of a text or a list of texts. */
const textsOf = (node: unknown): readonly string[] =>
  isSeq(node) ? node.items.map(String) : isScalar(node) ? [String(node.value)] : [];

/** What stands on one line, with the quotes that it has in the recipe. */
function yamlOf(node: unknown): string {
  if (isSeq(node)) return listOf(node.items.map(yamlOf));
  if (isMap(node)) return `{${node.items.map(({ key, value }) => `${yamlOf(key)}: ${yamlOf(value)}`).join(", ")}}`;
  if (!isScalar(node)) return "";
  const of = String(node.value);
  if (node.type === "QUOTE_SINGLE") return `'${of.replaceAll("'", "''")}'`;
  return node.type === "PLAIN" ? of : inQuotes(of);
}

/** One map of a `when`: the values of each column. */
type Condition = ReadonlyMap<string, readonly string[]>;

interface Action {
  readonly name: string;
  readonly note: string | undefined;
  readonly rules: readonly Rule[];
  /** One of them must hold. */
  readonly when: readonly Condition[];
}

const actionsOf = (rules: readonly Rule[]): readonly Action[] => {
  const list = ruleOf(rules, "actions");
  return (isSeq(list) ? list.items : []).flatMap(rulesIn).map(({ key: name, node, note }) => {
    const own = rulesIn(node);
    const when = ruleOf(own, "when");
    const maps = isSeq(when) ? when.items : when === undefined ? [] : [when];
    return {
      name,
      note,
      rules: own.filter(({ key }) => key !== "when"),
      when: maps.map((map) => new Map(rulesIn(map).map((rule) => [rule.key, textsOf(rule.node)]))),
    };
  });
};

/** A file, and what else than its columns a template of its recipe may name. */
interface View {
  readonly evidence: Evidence;
  isKnown(name: string): boolean;
}

/** Keys whose values this file decides. */
const WITH_THE_FILE: ReadonlySet<string> = new Set(["match", "csv", "expect", "skip", "actions"]);

/** @returns the source, and the actions that its rows give. */
export function fromRecipe(recipe: Recipe, evidence: Evidence): Body & { readonly actions: readonly string[] } {
  const { notes, source } = readRecipe(recipe);
  const rules = rulesIn(parseDocument<Node>(source, { schema: "failsafe" }).contents);
  const part = (key: string): readonly Rule[] => rulesIn(ruleOf(rules, key));
  const actions = actionsOf(rules);
  const compared = new Set(actions.flatMap(({ when }) => when.flatMap((map) => [...map.keys()])));
  const named = new Set(["n", ...part("columns").map(({ key }) => key)]);
  const tables = ["item", ...part("lookup").map(({ key }) => key)];
  const view: View = {
    evidence,
    isKnown: (name) =>
      hasColumn(evidence, name) ||
      named.has(name) ||
      tables.some((table) => name.startsWith(`${table}.`)) ||
      (evidence.lists !== undefined && name.includes(".")),
  };
  const expected = part("expect").filter(({ key }) => hasColumn(evidence, key));
  return {
    actions: actions.map(({ name }) => name),
    comments: notes.flatMap(comments),
    rules: [
      ...csvLines(evidence, ruleOf(rules, "csv") !== undefined),
      ...rules.flatMap((rule) => (WITH_THE_FILE.has(rule.key) ? [] : ruleLines(view, rule))),
      ...expectLines(
        expected.flatMap((rule) => ruleLines(view, rule)),
        evidence.columns.filter(({ name }) => compared.has(name)),
      ),
      ...skipLines(actions, part("skip"), evidence),
      { key: "actions", value: { items: actions.map((action) => itemOf(view, action)) } },
    ],
  };
}

function itemOf(view: View, { name, note, rules, when }: Action): Value {
  const maps = when.map((map) => asInFile(map, view.evidence));
  const [only] = maps;
  const block = [
    ...(only === undefined ? [] : [{ key: "when", value: maps.length > 1 ? { items: maps } : only }]),
    ...rules.flatMap((rule) => ruleLines(view, rule)),
  ];
  return { block: [{ key: name, value: { block }, note }] };
}

const FILL_IN = /^FILL IN(?: as \{(.+?)\})?(?: for each \{(.+?)\})?: (.*)$/;

/** A rule that has lines is adapted line by line, one on a single line as a whole: as the file is written, asked, or a comment. */
function ruleLines(view: View, rule: Rule): readonly Line[] {
  const { key, node, note } = rule;
  const [, sameIn = "", forEach, asked] = FILL_IN.exec(note ?? "") ?? [];
  if (asked !== undefined && forEach !== undefined) return askedForEach(view.evidence.column(forEach), key, asked);
  if (asked !== undefined) return [askedLine(view.evidence, sameIn, key, asked)];
  if (isMap(node) && node.flow !== true) {
    const lines = rulesIn(node).flatMap((each) => ruleLines(view, each));
    if (lines.some((line) => "key" in line)) return [{ key, value: { block: lines }, note }];
    return [{ comment: `#${key}:` }, ...lines.flatMap((line) => ("comment" in line ? [indented(line)] : []))];
  }
  const asWritten = asFileIsWritten(view.evidence, rule);
  if (asWritten !== undefined) return asWritten;
  const known = withoutMissing(view, node);
  const value = yamlOf(known);
  const missing = missingIn(view, known);
  return missing === undefined
    ? [{ key, value, note }]
    : [choice({ key, value, note: `this file has no column ${missing}` })];
}

/** Below another comment: with the `#` of both taken away, it is a line below the other's. */
const indented = ({ comment }: Comment): Comment => ({ comment: `#  ${comment.slice(1)}` });

/** Where the first non-empty of several templates counts, those whose columns the file has; where it has none, one of them. */
function withoutMissing(view: View, node: Node): Node {
  const list = isMap(node) ? node.get("from", true) : node;
  if (!isSeq(list)) return node;
  const known = list.items.filter((item) => missingIn(view, item) === undefined);
  list.items = known.length > 0 ? known : list.items.slice(-1);
  return node;
}

/** A column that stands in a template of the rule and that the file does not have. */
function missingIn(view: View, node: unknown): string | undefined {
  // A regular expression has braces of its own.
  if (isMap(node))
    return rulesIn(node).flatMap(({ key, node: inner }) => (key === "match" ? [] : (missingIn(view, inner) ?? [])))[0];
  return textsOf(node)
    .flatMap((template) => [...template.matchAll(/\{([^{}]+)\}/g)].map(([, name = ""]) => name))
    .find((name) => !view.isKnown(name));
}

/** Amounts and times as this file writes them, where the recipe's way does not fit, or is not the only one that does. */
function asFileIsWritten(evidence: Evidence, { key, node }: Rule): readonly Line[] | undefined {
  const steps = rulesIn(node);
  const step = (name: string): readonly string[] => textsOf(ruleOf(steps, name));
  const [from = ""] = isScalar(node) ? textsOf(node) : step("from");
  const column = evidence.column(/^\{([^{}]+)\}$/.exec(from)?.[1] ?? "");
  if (column === undefined || column.filled === 0) return undefined;
  const { amounts, times, values } = column;
  if (key === "price" && amounts !== undefined) {
    const decimal = DECIMAL_MARKS.find((mark) => step("decimal").includes(mark)) ?? ".";
    const thousands = GROUP_MARKS.find((mark) => step("thousands").includes(mark));
    const read = compileAmount({ decimal, thousands, signs: step("sign"), path: [] });
    const isRead = [...values.keys()].every((amount) => read(amount) !== undefined);
    if (isRead && amounts.readings.length === 1) return undefined;
    const kept = steps.filter((each) => !["from", "decimal", "thousands", "sign"].includes(each.key));
    return amountLines(column, amounts, Object.fromEntries(kept.map((each) => [each.key, yamlOf(each.node)])));
  }
  const [format, ...others] = step("format");
  if (format === undefined || others.length > 0 || times === undefined || !isTimeField(key)) return undefined;
  const read = readerOf(format);
  const isClear = times.readings.length === 1 && [...values.keys()].every((time) => read(time) !== undefined);
  return isClear ? undefined : [timeRule(column, evidence, key)];
}

/** One question for each text of the column. */
function askedForEach(column: Column | undefined, key: string, asked: string): readonly Line[] {
  const texts = [...(column?.values ?? [])];
  if (texts.length === 0) return [{ key, value: ask(asked) }];
  const lines = texts.map(([of, times]) => ({ key: of, value: ask(`${asked} (${rowsText(times)})`) }));
  return shortened(lines);
}

/** As many as a user could answer. */
function shortened<T>(lines: readonly T[]): readonly (T | Comment)[] {
  const more = lines.length - MOST_VALUES;
  return more > 0 ? [...lines.slice(0, MOST_VALUES), { comment: `# and ${more} more` }] : lines;
}

/** Asks for what the user must say, unless the file says it: in a column that has one text in all rows. */
function askedLine(evidence: Evidence, sameIn: string, key: string, asked: string): Line {
  const column = evidence.column(sameIn);
  const [[only, times] = ["", 0], ...others] = [...(column?.values ?? [])];
  if (column !== undefined && others.length === 0 && times === column.rows && /^[A-Z]{3}$/.test(only))
    return { key, value: only, note: `as in ${evidence.allRows}: ${asked}` };
  // An event's id does not hold for the next file.
  return { key, value: ask(asked), ofThisFile: key === "eventId" ? "the id of the event" : undefined };
}

/** The texts of the column that say one of the values, but for capitals, blanks and marks. */
const spellingsOf = (values: readonly string[], column: Column | undefined): readonly string[] => [
  ...new Set(values.flatMap((value) => [...(column?.values.keys() ?? [])].filter((own) => fold(own) === fold(value)))),
];

/** `skip` for columns that every action's condition looks at: what the recipe skips, and what no action takes, which is asked. */
function skipLines(actions: readonly Action[], skip: readonly Rule[], { columns }: Evidence): readonly Line[] {
  const conditions = actions.filter(({ name, when }) => name !== "newEvent" || when.length > 0).map(({ when }) => when);
  const block = columns.flatMap((column): readonly Line[] => {
    const { name, values } = column;
    if (!conditions.every((maps) => maps.some((map) => map.has(name)))) return [];
    const known = spellingsOf(textsOf(ruleOf(skip, name)), column);
    const taken = conditions.flat().flatMap((map) => spellingsOf(map.get(name) ?? [], column));
    const asked = [...values]
      .filter(([value]) => !taken.includes(value) && !known.includes(value))
      .map(([value, times]) => {
        const shown = `${cleanText(value, 40)} (${rowsText(times)})`;
        return ask(`no action takes ${shown}: write it here if it gives nothing, else in the when of its actions`);
      });
    const items = [...known.map(text), ...shortened(asked)];
    return items.length === 0 ? [] : [{ key: name, value: { items } }];
  });
  return block.length === 0 ? [] : [{ key: "skip", value: { block }, note: "rows with these give nothing" }];
}

/** The condition with the values of each column as they stand in the file; as in the recipe where none does. */
const asInFile = (condition: Condition, evidence: Evidence): string =>
  flow(
    Object.fromEntries(
      [...condition].map(([name, values]) => {
        const column = evidence.column(name);
        const own = spellingsOf(values, column);
        if (own.length === 0 && column !== undefined && mayHoldOtherYes(values, column)) {
          const answers = [...column.values.keys()].map((answer) => cleanText(answer, 20)).join(" and ");
          return [name, ask(`the text that says yes; this file has ${answers}`)];
        }
        const [only = "", ...more] = (own.length === 0 ? values : own).map(text);
        return [name, more.length === 0 ? only : listOf([only, ...more])];
      }),
    ),
  );

/** A yes, a no, and what stands for neither. */
const MOST_ANSWERS = 4;

/** Whether a yes is wanted, and the column holds what may say yes in another language. */
const mayHoldOtherYes = (values: readonly string[], { values: texts }: Column): boolean =>
  values.some((value) => fold(value) === "yes") &&
  texts.size <= MOST_ANSWERS &&
  [...texts.keys()].some((answer) => !/^(?:no|n|false|f|0|-)$/i.test(answer));

/**
 * A source for an export of a known system: its recipe, as its page in docs/recipes/ describes it, adapted to this file. Rules whose columns the file lacks become
 * comments; amounts, times and the values of conditions are as the file writes them; what it can't say is asked.
 */

import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { type Document, isMap, isSeq, type Node, parseDocument } from "yaml";
import { fold } from "../actions/nearest.ts";
import { compileAmount, DECIMAL_MARKS, GROUP_MARKS } from "../map/amount.ts";
import { readerOf } from "../map/likely-formats.ts";
import { cleanText } from "../text.ts";
import type { Column } from "./column.ts";
import { asHere, expectLines } from "./conditions.ts";
import { type Evidence, hasColumn } from "./evidence.ts";
import { csvLines, type Source } from "./from-columns.ts";
import { amountLines } from "./price-rules.ts";
import { isTimeField, timeRule } from "./time-rules.ts";
import {
  ask,
  choice,
  comments,
  type Data,
  type Entry,
  isList,
  type Line,
  MOST_VALUES,
  oneOrItems,
  oneOrMore,
  rowsText,
  type Steps,
} from "./yaml.ts";

export interface Recipe {
  readonly page: string;
  /** Name of the source. */
  readonly name: string;
  /** The system and the export, in words. */
  readonly title: string;
  /** Headers (for JSON rows: keys) that together occur in no other export. */
  readonly headers: readonly string[];
  /** What a user should know before trusting it. */
  readonly notes: readonly string[];
  /**
   * The source as YAML. There `# FILL IN: what` is beside an example of what no export says, which is asked; `as {Column}`:
   * unless that column has the same text in all rows; `for each {Column}`: once for each of its texts.
   */
  readonly source: string;
}

const FOLDER = "docs/recipes";

/** Each section of a page that says by which columns its export is recognised. */
export function readRecipes(): readonly Recipe[] {
  const own = dirname(createRequire(import.meta.url).resolve("ticket-stream/package.json"));
  return readdirSync(join(own, FOLDER)).flatMap((file) => {
    const page = `${FOLDER}/${file}`;
    const [about = "", ...sections] = readFileSync(join(own, page), "utf8").split("\n## ");
    const system = about.slice("# ".length, about.indexOf("\n"));
    return sections.flatMap((section): readonly Recipe[] => {
      const [, recognised] = /^Recognised by (.*)$/m.exec(section) ?? [];
      const [, name = "", source = ""] = /^sources:\n {2}(\S+):\n(.*?)^```/ms.exec(section) ?? [];
      if (recognised === undefined) return [];
      const [heading = ""] = section.split("\n", 1);
      return [
        {
          page,
          name,
          title: `${system}, ${heading.charAt(0).toLowerCase()}${heading.slice(1)}`,
          headers: [...recognised.matchAll(/`([^`]+)`/g)].map(([, header = ""]) => header),
          notes: [...section.matchAll(/^- (.*)$/gm)].map(([, note = ""]) => note),
          source,
        },
      ];
    });
  });
}

/** A key of the recipe with what stands beside it. */
interface Rule {
  readonly key: string;
  /** All but lists and maps are texts. */
  readonly value: Data;
  readonly note: string | undefined;
  /** What stands below it on lines of its own. */
  readonly below: readonly Rule[];
}

function rulesIn(document: Document, node: unknown): readonly Rule[] {
  if (isSeq(node)) return node.items.flatMap((item) => rulesIn(document, item));
  if (!isMap<unknown, Node>(node) || node.flow === true) return [];
  return node.items.flatMap(({ key, value }) => {
    if (value === null) return [];
    const note = (value.comment ?? value.commentBefore)?.trim();
    return [{ key: String(key), value: value.toJS(document), note, below: rulesIn(document, value) }];
  });
}

const stepsIn = (data: Data = ""): Steps => (typeof data === "string" || isList(data) ? {} : data);

const listIn = (data: Data = []): readonly Data[] => (isList(data) ? data : [data]);

/** The texts of a text or a list of texts. */
const textsIn = (data?: Data): readonly string[] => listIn(data).filter((each) => typeof each === "string");

/** An action that the rows give, and of whose conditions one must hold. */
interface Action {
  readonly rule: Rule;
  readonly when: readonly Steps[];
}

export function fromRecipe({ notes, source }: Recipe, evidence: Evidence): Source {
  const document = parseDocument(source, { schema: "failsafe" });
  const rules = rulesIn(document, document.contents);
  const part = (key: string): Rule | undefined => rules.find((rule) => rule.key === key);
  const actions = (part("actions")?.below ?? []).map((rule): Action => {
    const when = rule.below.find(({ key }) => key === "when");
    return { rule, when: listIn(when?.value).map(stepsIn) };
  });
  const compared = new Set(actions.flatMap(({ when }) => when.flatMap(Object.keys)));
  const named = ["n", ...Object.keys(stepsIn(part("columns")?.value))];
  const tables = ["file", "item", ...Object.keys(stepsIn(part("lookup")?.value))];
  const isKnown = (name: string): boolean =>
    hasColumn(evidence, name) ||
    named.includes(name) ||
    tables.some((table) => name.startsWith(`${table}.`)) ||
    (evidence.lists !== undefined && name.includes("."));
  const file: KnownFile = { evidence, isKnown };
  const expected = (part("expect")?.below ?? []).filter(({ key }) => hasColumn(evidence, key));
  return {
    actions: actions.map(({ rule }) => rule.key),
    comments: notes.flatMap(comments),
    rules: [
      ...csvLines(evidence, part("csv") !== undefined),
      ...rules.flatMap((rule) => (WITH_THE_FILE.has(rule.key) ? [] : ruleLines(file, rule))),
      ...expectLines([
        ...expected.flatMap((rule) => ruleLines(file, rule)),
        ...evidence.all.filter(({ name, values }) => compared.has(name) && values.size <= MOST_VALUES).map(asHere),
      ]),
      ...skipLines(actions, stepsIn(part("skip")?.value), evidence),
      { key: "actions", entries: actions.map((action) => adaptedAction(file, action)) },
    ],
  };
}

/** A file, and what a template of its recipe may name. */
interface KnownFile {
  readonly evidence: Evidence;
  isKnown(name: string): boolean;
}

/** Keys whose values this file decides. */
const WITH_THE_FILE: ReadonlySet<string> = new Set(["match", "csv", "expect", "skip", "actions"]);

function adaptedAction(file: KnownFile, { rule, when }: Action): Entry {
  const condition = { key: "when", ...oneOrItems(when.map((map) => asInFile(map, file.evidence))) };
  const lines = rule.below.flatMap((each) => (each.key === "when" ? [condition] : ruleLines(file, each)));
  return { key: rule.key, lines, note: rule.note };
}

const FILL_IN = /^FILL IN(?: as \{(.+?)\})?(?: for each \{(.+?)\})?: (.*)$/;

/** A rule that has lines is adapted line by line, one on a single line as a whole: as the file is written, asked, or a comment. */
function ruleLines(file: KnownFile, rule: Rule): readonly Line[] {
  const { key, note, below } = rule;
  const asked = FILL_IN.exec(note ?? "");
  if (asked !== null) return questions(file.evidence, key, asked);
  if (below.length > 0) {
    const lines = below.flatMap((each) => ruleLines(file, each));
    if (lines.some((line) => "key" in line)) return [{ key, lines, note }];
    // With the `#` of both taken away, a line is below the other's.
    const indented = lines.flatMap((line) => ("comment" in line ? [{ comment: `#  ${line.comment.slice(1)}` }] : []));
    return [{ comment: `#${key}:` }, ...indented];
  }
  const asWritten = asFileIsWritten(file.evidence, rule);
  if (asWritten !== undefined) return asWritten;
  const value = withKnown(file, rule.value);
  const missing = missingIn(file, value);
  if (missing === undefined) return [{ key, value, note }];
  return [choice({ key, value, note: `this file has no column ${missing}` })];
}

/** Of several templates, of which the first that is not empty counts, those whose columns the file has; where it has none, one of them. */
function withKnown(file: KnownFile, data: Data): Data {
  if (typeof data === "string") return data;
  if (!isList(data)) return Object.fromEntries(stepsOf(data).map(([key, step]) => [key, withKnown(file, step)]));
  const known = data.filter((template) => missingIn(file, template) === undefined);
  return known.length > 0 ? known : data.slice(-1);
}

const stepsOf = (steps: Steps): readonly (readonly [string, Data])[] =>
  Object.entries(steps).flatMap(([key, step]) => (step === undefined ? [] : [[key, step] as const]));

/** A column that stands in a template and that the file does not have. The braces of a pattern are none of a template. */
function missingIn(file: KnownFile, data: Data): string | undefined {
  if (typeof data === "string")
    return [...data.matchAll(/\{([^{}]+)\}/g)].map(([, name = ""]) => name).find((name) => !file.isKnown(name));
  const parts = isList(data) ? data : stepsOf(data).flatMap(([key, step]) => (key === "match" ? [] : [step]));
  return parts.map((each) => missingIn(file, each)).find((name) => name !== undefined);
}

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
  const column = evidence.column(/^\{([^{}]+)\}$/.exec(from.toString())?.[1] ?? "");
  const texts = [...(column?.values.keys() ?? [])];
  if (column === undefined || texts.length === 0) return undefined;
  const { amounts, times } = column;
  if (key === "price" && amounts !== undefined) {
    const read = compileAmount({
      decimal: DECIMAL_MARKS.find((mark) => mark === decimal) ?? ".",
      thousands: GROUP_MARKS.find((mark) => mark === thousands),
      signs: textsIn(sign),
      path: [],
    });
    const isClear = texts.every((amount) => read(amount) !== undefined) && amounts.readings.length === 1;
    return isClear ? undefined : amountLines(column, kept);
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
  const lines = columns.flatMap((column): readonly Line[] => {
    const { name, values } = column;
    if (!deciding.every(({ when }) => when.some((map) => name in map))) return [];
    const known = spellingsOf(textsIn(skip[name]), column);
    const taken = deciding.flatMap(({ when }) => when.flatMap((map) => spellingsOf(textsIn(map[name]), column)));
    const open = [...values].filter(([value]) => !taken.includes(value) && !known.includes(value));
    const asked = open.map(([value, times]) => {
      const shown = `${cleanText(value, 40)} (${rowsText(times)})`;
      return ask(`no action takes ${shown}: write it here if it gives nothing, else in the when of its actions`);
    });
    const items = [...known, ...asked];
    return items.length === 0 ? [] : [{ key: name, items }];
  });
  return lines.length === 0 ? [] : [{ key: "skip", lines, note: "rows with these give nothing" }];
}

/** The condition with the values of each column as they stand in the file; as in the recipe where none does. */
function asInFile(condition: Steps, evidence: Evidence): Steps {
  const tests = stepsOf(condition).map(([name, value]) => {
    const own = spellingsOf(textsIn(value), evidence.column(name));
    return [name, oneOrMore(own.length === 0 ? textsIn(value) : own)] as const;
  });
  return Object.fromEntries(tests);
}

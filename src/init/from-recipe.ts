/** A source for an export of a known system: its recipe, adapted to this file. */

import { fold } from "../actions/nearest.ts";
import { cleanText } from "../actions/text.ts";
import type { ActionConfig, ConditionMap, SourceConfig, WhenConfig } from "../map/source.ts";
import { isList } from "../map/source.ts";
import type { ColumnProfile } from "./column-profile.ts";
import { expectLines, type Skips, skipLines } from "./conditions.ts";
import { type Comment, type Entry, type Line, switchedOff, type Value } from "./config-text.ts";
import { csvLines, everySuchFile, onlyThisFile } from "./file-settings.ts";
import { type Recipe, toFillIn } from "./recipe.ts";
import { answerLines, dataValue, eachLines, fieldLines, parentLines, type View } from "./recipe-rules.ts";
import { type Evidence, hasColumn } from "./sample.ts";
import { ask, valuesTold, wrapped } from "./words.ts";

export function fromRecipe(recipe: Recipe, evidence: Evidence): readonly Line[] {
  const { source, notes, remarks } = recipe;
  const { fileName, columns } = evidence;
  const view: View = { source, remarks, evidence, isOff: false };
  const isOneEvent = toFillIn(remarks["fields.eventId"]) !== undefined;
  const compared = new Set((source.actions ?? []).flatMap((item) => Object.values(item)).flatMap(columnsCompared));
  return [
    ...notes.flatMap((note) => wrapped(note).map((line) => ({ comment: `# ${line}` }))),
    isOneEvent ? onlyThisFile(fileName) : everySuchFile(fileName),
    ...csvLines(evidence, source.csv !== undefined),
    ...settings(view),
    ...expectLines(
      expected(view),
      columns.filter(({ name }) => compared.has(name)),
    ),
    ...skipLines(skipsOf(source, evidence)),
    { key: "actions", value: { items: actionItems(view) } },
  ];
}

/** What comes before `expect`, `skip` and the actions, in the recipe's order. */
function settings(view: View): readonly Line[] {
  const { zone, lookup, columns, each, fields } = view.source;
  const lines: Readonly<Record<string, () => readonly Line[]>> = {
    zone: () => answerLines(view, "zone", zone ?? "", "zone"),
    lookup: () => [
      {
        key: "lookup",
        value: { block: Object.entries(lookup ?? {}).map(([key, value]) => ({ key, value: dataValue(value) })) },
      },
    ],
    columns: () => [{ key: "columns", value: dataValue(columns) }],
    each: () => eachLines(view, each, "each"),
    fields: () => [{ key: "fields", value: { block: fieldLines(view, fields, "fields") } }],
  };
  return Object.keys(view.source).flatMap((key) => lines[key]?.() ?? []);
}

/** Only columns that the file has can be expected. */
const expected = (view: View): readonly Entry[] =>
  Object.entries(view.source.expect ?? {})
    .filter(([name]) => hasColumn(view.evidence, name))
    .flatMap(([name, value]) => answerLines(view, name, value, `expect.${name}`))
    .flatMap((line) => ("key" in line ? [line] : []));

/** The maps of a condition; one of them must hold. */
const mapsOf = (when: WhenConfig | undefined): readonly ConditionMap[] => [when ?? []].flat();

const columnsCompared = (action: ActionConfig | undefined): readonly string[] =>
  mapsOf(action?.when).flatMap((map) => Object.keys(map));

/** The values of a column that a condition takes. */
const valuesOf = (map: ConditionMap, name: string): readonly string[] => {
  const condition = map[name] ?? [];
  return typeof condition === "string" || isList(condition) ? [condition].flat() : [];
};

/** The texts of the column that say the same but for capitals, blanks and marks. */
const spellingsOf = (value: string, { values }: ColumnProfile): readonly string[] =>
  [...values.keys()].filter((text) => fold(text) === fold(value));

/** For columns that every action's condition looks at: the values that none of them names, which give nothing. */
function skipsOf({ actions = [], skip = {} }: SourceConfig, { columns }: Evidence): readonly Skips[] {
  const conditions = actions
    .flatMap((item) => Object.entries(item))
    .filter(([name, action]) => name !== "newEvent" || action?.when !== undefined)
    .map(([, action]) => mapsOf(action?.when));
  return columns.flatMap((column) => {
    const { name } = column;
    if (conditions.length === 0 || !conditions.every((maps) => maps.some((map) => Object.hasOwn(map, name)))) return [];
    const inFile = (values: readonly string[]): readonly string[] => [
      ...new Set(values.flatMap((value) => spellingsOf(value, column))),
    ];
    const known = inFile([skip[name] ?? []].flat());
    const taken = inFile(conditions.flat().flatMap((map) => valuesOf(map, name)));
    const open = [...column.values.keys()].filter((value) => !taken.includes(value) && !known.includes(value));
    return known.length === 0 && open.length === 0 ? [] : [{ column, known, open }];
  });
}

/**
 * The actions, with the values of their conditions exactly as in this file. An action whose values the file lacks becomes a
 * comment: should such a value come later, it is reported as named nowhere.
 */
function actionItems(view: View): readonly (Value | Comment)[] {
  const told = new Set<string>();
  return (view.source.actions ?? [])
    .flatMap((item) => Object.entries(item))
    .flatMap(([name, action]): readonly (Value | Comment)[] => {
      const maps = mapsOf(action?.when);
      const absent = maps.map((map) => absentIn(map, view.evidence));
      const [why] = absent;
      if (why === undefined || absent.includes(undefined)) return [actionItem(view, name, action, told)];
      const wayBack = `No row of this file has ${why}; when one does, take the # away and write its value as it stands.`;
      return [
        { comment: `# ${wayBack}` },
        ...maps.flatMap((map) => valuesToldOnce(map, view.evidence, told)),
        ...switchedOff({ items: [actionItem({ ...view, remarks: {}, isOff: true }, name, action, told)] }),
      ];
    });
}

function actionItem(view: View, name: string, action: ActionConfig = {}, told: Set<string>): Value {
  const path = `actions.${name}`;
  const lines = [
    ...conditionLines(view, action.when, told),
    ...eachLines(view, action.each, `${path}.each`),
    ...(action.fields === undefined ? [] : parentLines("fields", fieldLines(view, action.fields, `${path}.fields`))),
  ];
  const [remark] = answerLines(view, name, "", path);
  return { block: [{ ...remark, key: name, value: { block: lines } }] };
}

function conditionLines(view: View, when: WhenConfig | undefined, told: Set<string>): readonly Line[] {
  const { evidence, isOff } = view;
  const toldOf = (map: ConditionMap): readonly Comment[] => (isOff ? [] : valuesToldOnce(map, evidence, told));
  if (when === undefined) return [];
  if (!isList(when)) return [{ key: "when", value: asInFile(when, evidence) }, ...toldOf(when)];
  // Of several values, those in the file; if it has none of them, all.
  const present = when.filter((map) => isOff || absentIn(map, evidence) === undefined);
  return [{ key: "when", value: { items: present.flatMap((map) => [asInFile(map, evidence), ...toldOf(map)]) } }];
}

/** `Status canceled`: a column of the map that the file has, and of whose values it has none. */
function absentIn(map: ConditionMap, evidence: Evidence): string | undefined {
  for (const name of Object.keys(map)) {
    const column = evidence.column(name);
    if (column === undefined || column.values.size === 0) continue;
    const values = valuesOf(map, name);
    if (values.every((value) => spellingsOf(value, column).length === 0) && saysOtherwise(values, column) === undefined)
      return `${cleanText(column.name, 40)} ${values.map((value) => cleanText(value, 40)).join(" or ")}`;
  }
  return undefined;
}

/** Where a condition takes a yes, the texts of its column that are neither that nor a no: yes and no in another language. */
function saysOtherwise(values: readonly string[], { values: texts }: ColumnProfile): string | undefined {
  if (!values.some((value) => fold(value) === "yes") || texts.size > MOST_ANSWERS) return undefined;
  const others = [...texts.keys()].filter((text) => !isNo(text));
  return others.length === 0 ? undefined : [...texts.keys()].map((text) => cleanText(text, 20)).join(" and ");
}

/** A yes, a no, and what stands for neither. */
const MOST_ANSWERS = 4;
const isNo = (text: string): boolean => /^(?:no|n|false|f|0|-)$/i.test(text);

/** The condition with the values of each column as they stand in the file; as in the recipe where none does. */
function asInFile(map: ConditionMap, evidence: Evidence): Value {
  return {
    flow: Object.keys(map).map((name) => {
      const column = evidence.column(name);
      const values = valuesOf(map, name);
      const own = column === undefined ? [] : [...new Set(values.flatMap((value) => spellingsOf(value, column)))];
      const answers = column === undefined || own.length > 0 ? undefined : saysOtherwise(values, column);
      if (answers !== undefined) return [name, ask(`the text that says yes; this file has ${answers}`)];
      const [only = "", ...more] = (own.length === 0 ? values : own).map(asText);
      return [name, more.length === 0 ? only : [only, ...more]];
    }),
  };
}

/** YAML takes some plain words for other things, and so may a reader. */
const asText = (value: string): Value =>
  /^(?:yes|no|true|false|on|off|null|~|\d.*)$/i.test(value) ? { inQuotes: value } : value;

/** The values of the columns that a condition looks at, each column once. */
const valuesToldOnce = (map: ConditionMap, { columns }: Evidence, told: Set<string>): readonly Comment[] =>
  columns
    .filter(({ name }) => Object.hasOwn(map, name) && !told.has(name))
    .map((column) => {
      told.add(column.name);
      return valuesTold(column);
    });

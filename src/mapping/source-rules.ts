/** The rules of a source in the config, compiled once per header. */

import { ACTION_NAMES, type ActionName, acceptedFields, registersEvent } from "../actions/actions.ts";
import { coercerOf } from "../actions/coerce.ts";
import { FIELD_NAMES, type FieldName, type FieldValue, fieldSpec, isFieldName } from "../actions/fields.ts";
import { showRejects } from "../actions/rejects-columns.ts";
import { faultOf } from "../actions/schemas.ts";
import { fieldsOf, missingFields, publicName } from "../map/columns.ts";
import type { FileFinding } from "../map/file-finding.ts";
import type { Understanding } from "../map/mapper.ts";
import { collectFaults, type Faults, MappingError, type RulePath } from "../map/mapping-error.ts";
import type { MappingRule } from "../map/rules.ts";
import type {
  ActionConfig,
  EachConfig,
  FieldRules,
  SourceAction,
  SourceConfig,
  TraitRules,
  ValueRule,
} from "../map/source.ts";
import { quote } from "../map/words.ts";
import { compileAttributes } from "./attributes.ts";
import { compileEach, type Each, namesOfBoth } from "./each.ts";
import { compileFillDown, type FillDown } from "./fill-down.ts";
import { watchIdCells } from "./id-cells.ts";
import { compileLookup, fitsNothing, type LookupTable, type LookupTally } from "./lookup.ts";
import {
  type Columns,
  columnsOf,
  type EachNames,
  emptyScope,
  type Names,
  namesOf,
  pathsOf,
  type Read,
  type Scope,
} from "./names.ts";
import { compileTemplate, constantText, firstFilled, isConstant } from "./template.ts";
import { compileValue, isTraits, type Parsing, type ValueContext } from "./value.ts";
import { type ValueWatch, type WatchedColumn, watchValues } from "./value-watch.ts";
import { columnReader, compileWhen, readColumn, type When } from "./when.ts";

export interface SourceSettings {
  readonly fileName: string;
  readonly header: readonly string[] | undefined;
  readonly name: string;
  readonly config: SourceConfig & { readonly actions: readonly SourceAction[] };
  readonly clearWord: string;
  readonly relaxedRules: ReadonlySet<string>;
  readonly lookups: ReadonlyMap<string, LookupTable>;
}

interface FieldReader {
  readonly field: FieldName;
  readonly read: (scope: Scope) => FieldValue | undefined;
}

export interface ActionRules {
  readonly action: ActionName;
  readonly when: When | undefined;
  readonly each: Each | undefined;
  readonly fields: readonly FieldReader[];
  readonly key: Read | undefined;
  /** Reads the eventId of an action that is given once per event. */
  readonly onceBy: FieldReader | undefined;
  /** The columns that such an action is made of. */
  readonly cells: readonly Read[];
}

/** Everything that compiling a part of the source needs to know of the whole. */
interface Source extends SourceSettings {
  readonly path: RulePath;
  readonly columns: Columns;
  readonly isJson: boolean;
  readonly each: Each | undefined;
  readonly lookupNames: ReadonlyMap<string, Names>;
  /** All names, with those that an `each` adds; without one, the names within the source's own `each`. */
  readonly namesIn: (added?: EachNames) => Names;
  readonly faults: Faults;
}

interface Expectation {
  readonly label: string;
  readonly read: Read;
  readonly allowed: (scope: Scope) => ReadonlySet<string>;
}

interface Skip {
  readonly label: string;
  readonly read: Read;
  readonly values: ReadonlySet<string>;
}

/** What the rows of a source are read by. */
export interface SourceRules {
  readonly columns: Columns;
  readonly isJson: boolean;
  readonly each: Each | undefined;
  readonly rules: readonly ActionRules[];
  readonly expectations: readonly Expectation[];
  readonly skips: readonly Skip[];
  /** Reads the event of a row of which no action names one. */
  readonly event: FieldReader | undefined;
  readonly fillDown: FillDown | undefined;
  readonly watch: ValueWatch;
  readonly understanding: () => Understanding;
  /** Findings about columns and lookups, once all rows are read. */
  readonly columnFindings: () => readonly FileFinding[];
  readonly lookupFindings: () => readonly FileFinding[];
}

/** Throws `MappingError` for rules that can't be carried out with these columns. */
export function compileSource(settings: SourceSettings): SourceRules {
  const { config, header, fileName, name } = settings;
  const path = ["sources", name];
  if (config.action !== undefined)
    throw new MappingError(
      [...path, "action"],
      "stands beside actions",
      "Keep actions; action is for columns named like fields.",
    );
  const isJson = header === undefined;
  const what = fileName === "" ? "the input" : fileName;
  const aliases = { aliases: config.columns ?? {}, path: [...path, "columns"] };
  const columns = isJson ? pathsOf(aliases) : columnsOf(what, header, aliases, config.csv?.guards === "strip");
  const lookupNames = new Map<string, Names>();
  const optional = new Set(config.optional);
  if (optional.size > 0 && !isJson)
    throw new MappingError([...path, "optional"], "is about keys of JSON rows", "Give tables their own source.");
  const namesIn = (added: EachNames = each?.names ?? { counts: false }): Names =>
    namesOf(columns, added, lookupNames, isJson);
  const each: Each | undefined =
    config.each === undefined
      ? undefined
      : compileEach(config.each, namesIn, { keys: columns.keys, optional }, [...path, "each"]);
  const faults = collectFaults();
  const { attempt } = faults;
  const source: Source = { ...settings, path, columns, isJson, each, lookupNames, namesIn, faults };
  const lookupFindings = compileLookups(source);
  attempt(() => refuseUnusedFields(source));
  const rules = config.actions.flatMap(
    (entry, at) => attempt(() => compileAction(entry, source, [...path, "actions", at])) ?? [],
  );
  const expectations = attempt(() => compileExpect(source)) ?? [];
  const skips = attempt(() => compileSkip(source)) ?? [];
  const eventRule = config.fields?.eventId;
  const event =
    eventRule === undefined
      ? undefined
      : attempt(() =>
          compileField("eventId", eventRule, "soldTicket", undefined, namesIn(), source, [
            ...path,
            "fields",
            "eventId",
          ]),
        );
  const filling = config.fillDown;
  const fillDown =
    filling === undefined
      ? undefined
      : attempt(() => compileFillDown(filling, columns, isJson, showRejects(header ?? []), [...path, "fillDown"]));
  faults.throwAny();
  return {
    columns,
    isJson,
    each,
    rules,
    expectations,
    skips,
    event,
    fillDown,
    watch: watchOf(source, rules),
    understanding: () => understandingOf(source, rules),
    columnFindings: () => [...byPosition(columns), ...keysMissing(columns, optional)],
    lookupFindings,
  };
}

/** Findings for columns taken by position alone: nothing shows that they are still the ones that were meant. */
function byPosition(columns: Columns): readonly FileFinding[] {
  return columns.positions().map(({ name, at, header }) => ({
    rule: "column-by-position" satisfies MappingRule,
    field: name,
    message: `It is column ${at}, whatever its header; now that is ${quote(header)}.`,
    hint: `So that another column is never taken for it: ${name}: {at: ${at}, named: ${JSON.stringify(header)}}.`,
  }));
}

/**
 * Findings for keys that no row has, like a table that lacks columns. They mean nothing where only the first rows were read.
 */
function keysMissing({ keys }: Columns, optional: ReadonlySet<string>): readonly FileFinding[] {
  return (keys?.neverFound() ?? [])
    .filter((names) => !names.some((name) => optional.has(name)))
    .map(([name = "", ...choices]) => ({
      rule: "key-missing" satisfies MappingRule,
      field: name,
      message: `No row has ${(choices.length === 0 ? [name] : choices).map(quote).join(" or ")}, which the source reads.`,
      hint: `Is it spelt as in the file? If a whole file may lack it, say so in the source: optional: [${name}].`,
      isOfAllRows: true,
    }));
}

/** @returns the findings about the lookups once all rows are read. */
function compileLookups({ config, lookups, lookupNames, path, namesIn }: Source): () => readonly FileFinding[] {
  const tallies: { readonly name: string; readonly table: LookupTable; readonly tally: LookupTally }[] = [];
  const names = namesIn();
  for (const [name, lookup] of Object.entries(config.lookup ?? {})) {
    const at = [...path, "lookup", name];
    if (name === "item" || name === "outer" || name === "n" || name.includes("."))
      throw new MappingError(at, `a lookup can't be called ${name}`);
    const table = lookups.get(name);
    if (table === undefined) throw new Error(`the lookup file of ${name} was not read`);
    // A lookup may join by the columns of those before it, not by its own. The map is the one that `names` looks into.
    const tally: LookupTally = { asked: 0, found: 0, example: undefined };
    (lookupNames as Map<string, Names>).set(name, compileLookup(name, lookup, table, names, at, tally));
    if (lookup.missing === "empty") tallies.push({ name, table, tally });
  }
  return () => tallies.flatMap(({ name, table, tally }) => fitsNothing(name, table, tally));
}

function compileExpect({ config, path, namesIn }: Source): readonly Expectation[] {
  const names = namesIn();
  return Object.entries(config.expect ?? {}).map(([column, expected]) => ({
    label: column,
    read: readColumn(column, names, [...path, "expect", column]),
    allowed: allowedOf([expected].flat(), names, [...path, "expect", column]),
  }));
}

/** The texts that a column may have; templates among them are filled in from the row. */
function allowedOf(expected: readonly string[], names: Names, path: RulePath): (scope: Scope) => ReadonlySet<string> {
  const isTemplate = (text: string): boolean => /[{}]/.test(text) && !isConstant(text, path);
  const fixed = new Set(
    expected
      .filter((text) => !isTemplate(text))
      .map((text) => (/[{}]/.test(text) ? constantText(text, path) : text.trim())),
  );
  const templates = expected.filter(isTemplate).map((text) => compileTemplate(text, names, path, "any column is"));
  if (templates.length === 0) return () => fixed;
  // A template that can't be filled in allows nothing, not even an empty cell.
  return (scope) => new Set([...fixed, ...templates.map((read) => read(scope)).filter((text) => text !== "")]);
}

function compileSkip({ config, path, columns, isJson }: Source): readonly Skip[] {
  const names = namesOf(columns, { counts: false }, new Map(), isJson);
  return Object.entries(config.skip ?? {}).map(([column, values]) => ({
    label: column,
    read: readColumn(column, names, [...path, "skip", column]),
    values: textsOf(values),
  }));
}

/**
 * Watches the columns that conditions compare, whatever gives them: the file, a lookup, an item of `each`. `skip` and
 * `expect` name values of them; `skip` alone makes a column one to be watched.
 */
function watchOf({ config, namesIn }: Source, rules: readonly ActionRules[]): ValueWatch {
  const names = namesIn();
  const added = new Set(["item", "outer", ...Object.keys(config.lookup ?? {})]);
  const byLabel = new Map<string, WatchedColumn>();
  const add = (label: string, says: Omit<WatchedColumn, "label" | "read" | "isOfItem">): void => {
    const plain = plainName(label);
    const known = byLabel.get(plain);
    const read = known?.read ?? columnReader(plain, names);
    if (read === undefined) return;
    byLabel.set(plain, {
      label: plain,
      read,
      named: new Set([...(known?.named ?? []), ...says.named]),
      takesOthers: says.takesOthers || known?.takesOthers === true,
      isTested: says.isTested || known?.isTested === true,
      isComplete: says.isComplete || known?.isComplete === true,
      isOfItem: namesOfLabel(plain).some((name) => name === "n" || added.has(name.split(".")[0] ?? "")),
    });
  };
  const looked = rules.flatMap(({ when }) => when?.looked ?? []);
  const compared = new Set(looked.filter(({ presenceOnly }) => !presenceOnly).map(({ label }) => label));
  const says = { named: new Set<string>(), takesOthers: false, isTested: false, isComplete: false };
  for (const { label, named, takesOthers } of looked)
    if (compared.has(label)) add(label, { ...says, named: new Set(named), takesOthers, isTested: !takesOthers });
  for (const [label, values] of Object.entries(config.skip ?? {}))
    add(label, { ...says, named: textsOf(values), isComplete: true });
  for (const [label, values] of Object.entries(config.expect ?? {}))
    if (byLabel.has(plainName(label))) add(label, { ...says, named: textsOf(values), isComplete: true });
  return watchValues([...byLabel.values()]);
}

const textsOf = (values: string | readonly string[]): ReadonlySet<string> =>
  new Set([values].flat().map((text) => text.trim()));

/** `{Status}` is the column `Status`. */
const plainName = (label: string): string => /^\{([^{}]+)\}$/.exec(label)?.[1]?.trim() ?? label;

/** The names in a column's label, which may be a template. */
const namesOfLabel = (label: string): readonly string[] =>
  label.includes("{") ? [...label.matchAll(/\{([^{}]+)\}/g)].map(([, name = ""]) => name.trim()) : [label];

/** Refuses fields that none of the source's actions takes: most likely a wrong name, or a forgotten action. */
function refuseUnusedFields({ config, path, relaxedRules }: Source): void {
  const actions = config.actions.map((entry) => actionOf(entry)[0]);
  const taken = new Set(actions.flatMap((action) => [...fieldsOf(action, relaxedRules)]));
  for (const field of Object.keys(config.fields ?? {}).filter(isFieldName)) {
    const at = [...path, "fields", field];
    // A row's event helps to spread the work even where its actions do not carry it.
    if (!taken.has(field) && field !== "eventId")
      throw new MappingError(at, `is used by none of the source's actions (${actions.join(", ")})`);
  }
}

/** The one action that an entry of the list names. */
function actionOf(entry: SourceAction): readonly [ActionName, ActionConfig] {
  for (const action of ACTION_NAMES) {
    const rules = entry[action];
    if (rules !== undefined) return [action, rules];
  }
  throw new Error("the schema lets no entry without an action pass");
}

function compileAction(entry: SourceAction, source: Source, at: RulePath): ActionRules {
  const [action, rules] = actionOf(entry);
  const path = [...at, action];
  const { config, namesIn } = source;
  const outer = namesIn();
  const each = rules.each === undefined ? undefined : compileInnerEach(rules.each, source, [...path, "each"]);
  const names = namesIn(namesOfBoth(source.each?.names, each?.names));
  const cells: Read[] = [];
  const fields = compileFields(action, rules, registersEvent(action) ? noting(names, cells) : names, source, path);
  const takes = fieldsOf(action, source.relaxedRules);
  const hasRule = (field: FieldName): boolean =>
    takes.has(field) && (ruleOf(rules.fields ?? {}, field) ?? ruleOf(config.fields ?? {}, field)) !== undefined;
  const missing = missingFields(action, hasRule);
  if (missing.length > 0)
    throw new MappingError(
      path,
      `has no rule for ${missing.join(", ")}`,
      "Add it under fields, of the action or of the source.",
      missing,
    );
  return {
    action,
    fields,
    each,
    when: rules.when === undefined ? undefined : compileWhen(rules.when, outer, [...path, "when"]),
    key:
      config.key === undefined
        ? undefined
        : firstFilled([config.key].flat(), (template) =>
            compileTemplate(template, names, [...source.path, "key"], "any column is"),
          ),
    onceBy: registersEvent(action) ? fields.find(({ field }) => field === "eventId") : undefined,
    cells,
  };
}

/** The same names; every reader that they give is added to `reads`. */
function noting(names: Names, reads: Read[]): Names {
  return {
    read(name, path) {
      const read = names.read(name, path);
      reads.push(read);
      return read;
    },
  };
}

function compileInnerEach(config: NonNullable<ActionConfig["each"]>, source: Source, path: RulePath): Each {
  const rows = { keys: source.columns.keys, optional: new Set(source.config.optional) };
  const each = compileEach(config, source.namesIn, rows, path, source.each?.names);
  if (source.each === undefined) return each;
  if (each.names.item === undefined)
    throw new MappingError(
      path,
      "gives the same names as the each of the source",
      "Beside an each of the source, an action takes each with path or in.",
    );
  if (source.each.names.outer !== undefined)
    throw new MappingError(path, "is inside two others", "Only two lists, one in the other, have names.");
  return each;
}

function compileFields(
  action: ActionName,
  rules: ActionConfig,
  names: Names,
  source: Source,
  path: RulePath,
): readonly FieldReader[] {
  const takes = fieldsOf(action, source.relaxedRules);
  const own = rules.fields ?? {};
  for (const field of Object.keys(own).filter(isFieldName)) {
    const at = [...path, "fields", field];
    source.faults.attempt(() => {
      if (!takes.has(field))
        throw new MappingError(at, `${action} takes no ${field}`, `It takes ${acceptedFields(action).join(", ")}.`);
    });
  }
  const common = source.config.fields ?? {};
  const readers: FieldReader[] = [];
  for (const field of takes) {
    const isOwn = ruleOf(own, field) !== undefined;
    const rule = ruleOf(own, field) ?? ruleOf(common, field);
    if (rule === undefined) continue;
    const at = isOwn ? [...path, "fields", field] : [...source.path, "fields", field];
    const count = countOf(rules.each) ?? countOf(source.config.each);
    const reader = source.faults.attempt(() => compileField(field, rule, action, count, names, source, at));
    if (reader !== undefined) readers.push(reader);
  }
  return readers;
}

/** The template of the count. */
function countOf(each: EachConfig | undefined): string | undefined {
  if (each === undefined) return undefined;
  if ("count" in each) return each.count;
  return "path" in each ? `{${each.path}.length}` : undefined;
}

function ruleOf(rules: FieldRules, field: FieldName): ValueRule | TraitRules | undefined {
  return Object.hasOwn(rules, field) ? rules[field] : undefined;
}

function parsingOf(field: FieldName): Parsing {
  switch (fieldSpec(field).kind) {
    case "price":
    case "latitude":
    case "longitude":
      return "amount";
    case "u64":
      return "time";
    default:
      return "none";
  }
}

function compileField(
  field: FieldName,
  rule: ValueRule | TraitRules,
  action: ActionName,
  count: string | undefined,
  names: Names,
  source: Source,
  path: RulePath,
): FieldReader {
  const { kind } = fieldSpec(field);
  const context: ValueContext = {
    label: field,
    parsing: parsingOf(field),
    emptyWhen: kind === "id" || kind === "nftId" ? "any column is" : "all columns are",
    names,
    path,
    zone: source.config.zone,
    zonePath: [...source.path, "zone"],
    clearWord: source.clearWord,
    count,
    displays: false,
  };
  if (field === "metadataAttributes" && isTraits(rule)) return { field, read: compileAttributes(rule, context) };
  if (isTraits(rule)) throw new MappingError(path, "has no from", "Write {from: ...}, or a template.");
  const coerce = coercerOf(action, field, source.clearWord, source.config.zone);
  if (typeof rule === "string" && isConstant(rule, path))
    return constantField(field, compileTemplate(rule, names, path, "all columns are"), coerce, source, path);
  const compile = (from: Names): Read => compileValue(rule, { ...context, names: from });
  const text = kind === "id" || kind === "nftId" ? watchIdCells(field, names, compile) : compile(names);
  return {
    field,
    read: (scope) => {
      const found = text(scope);
      return found === "" ? undefined : coerce(found, scope.findings);
    },
  };
}

/** A field that is the same in every row is read and checked once, in the config. */
function constantField(
  field: FieldName,
  template: Read,
  coerce: ReturnType<typeof coercerOf>,
  { relaxedRules }: Source,
  path: RulePath,
): FieldReader {
  const scope = emptyScope();
  const text = template(scope);
  const value = text === "" ? undefined : coerce(text, scope.findings);
  const [finding] = scope.findings;
  if (finding !== undefined) throw new MappingError(path, finding.message.replace(/\.$/, ""), finding.hint);
  const fault = value === undefined ? undefined : faultOf(field, value);
  if (fault !== undefined && !relaxedRules.has(fault.rule))
    throw new MappingError(path, `${JSON.stringify(text)} ${fault.message}`, fault.hint);
  return { field, read: () => value };
}

function understandingOf(source: Source, rules: readonly ActionRules[]): Understanding {
  const { columns, name, header } = source;
  const actions = [...new Set(rules.map(({ action }) => action))];
  const [only] = actions;
  const publicFields = FIELD_NAMES.filter((field) =>
    rules.some(({ fields }) => fields.some((known) => known.field === field)),
  );
  return {
    how: `source ${name}`,
    ...(only !== undefined && actions.length === 1 && { action: only }),
    columns: header?.length ?? 0,
    used: columns.used(),
    unused: columns.unused(),
    publicFields: publicFields.flatMap((field) => publicName(field) ?? []),
    notes: (columns.keys?.neverFound() ?? []).map(([name]) => `no row so far has ${JSON.stringify(name)}`),
  };
}

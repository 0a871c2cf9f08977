/** A source of the config and a header, compiled to what its rows are read by. */

import { ACTION_NAMES, type ActionName, acceptedFields, registersEvent } from "../actions/actions.ts";
import { compileField, type ReadField } from "../actions/coerce.ts";
import { Draft, numberOf } from "../actions/draft.ts";
import { type FieldName, fieldSpec, isFieldName } from "../actions/fields.ts";
import type { Finding } from "../actions/problem.ts";
import { showRejects } from "../actions/rejects-columns.ts";
import { faultOf } from "../actions/schemas.ts";
import { compileAttributes } from "./attributes.ts";
import { fieldsOf, missingFields } from "./columns.ts";
import { compileEach, type Each, namesOfBoth } from "./each.ts";
import { FillDown } from "./fill-down.ts";
import { watchIdCells } from "./id-cells.ts";
import { JsonKeys } from "./json-keys.ts";
import { Lookup, type LookupTable } from "./lookup.ts";
import { collectFaults, type Faults, MappingError, type RulePath } from "./mapping-error.ts";
import { type Columns, type EachNames, namesOf } from "./names.ts";
import type { Parsing } from "./parse-steps.ts";
import type { Names, Read, Scope } from "./scope.ts";
import type {
  ActionConfig,
  EachConfig,
  FieldRules,
  SourceAction,
  SourceConfig,
  TraitRules,
  ValueRule,
} from "./source.ts";
import { TableColumns } from "./table-columns.ts";
import { compileColumn, compileTemplate, constantOf, firstFilled, namesIn } from "./template.ts";
import type { EventRules } from "./told-events.ts";
import { compileValue, isTraits, type ValueContext } from "./value.ts";
import { ElseWatch, ValueWatch, type WatchedColumn } from "./value-watch.ts";
import { compileWhen, type Looked, textsOf, uniqueLooks, type When } from "./when.ts";

/** Everything that a source is compiled from, as plain data. */
export interface SourceSettings {
  readonly fileName: string;
  /** Undefined for rows of JSON. */
  readonly header: readonly string[] | undefined;
  readonly name: string;
  readonly config: SourceConfig & { readonly actions: readonly SourceAction[] };
  readonly clearWord: string;
  readonly relaxedRules: ReadonlySet<string>;
  readonly lookups: ReadonlyMap<string, LookupTable>;
}

/** Reads a field of the row into the draft. */
type Fill = (scope: Scope, draft: Draft) => void;

interface FieldRule {
  readonly field: FieldName;
  readonly fill: Fill;
  /** The text of the field; undefined for attributes. */
  readonly read: Read | undefined;
}

export interface ActionRules {
  readonly action: ActionName;
  readonly when: When | undefined;
  readonly each: Each | undefined;
  readonly fields: readonly FieldRule[];
  readonly key: Read | undefined;
  /** Of an action that is given once per event: its eventId, and what it says about the event. */
  readonly once: (EventRules & { readonly eventId: Read }) | undefined;
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
export interface Program {
  readonly columns: Columns;
  readonly lookups: readonly Lookup[];
  readonly each: Each | undefined;
  readonly rules: readonly ActionRules[];
  readonly expectations: readonly Expectation[];
  readonly skips: readonly Skip[];
  /** The event of a row of which no action names one. */
  readonly event: Read | undefined;
  readonly fillDown: FillDown | undefined;
  readonly watch: ValueWatch;
  /** The columns that conditions compare with values. */
  readonly deciding: readonly Pick<WatchedColumn, "label" | "read">[];
  /** What the conditions look at, for the reason why a row is skipped. */
  readonly looked: readonly Looked[];
}

/** What compiling a part of the source needs to know of the whole. */
interface Source extends SourceSettings {
  readonly path: RulePath;
  readonly columns: Columns;
  readonly each: Each | undefined;
  readonly lookupNames: ReadonlyMap<string, Lookup>;
  /** All names, with those that an `each` adds; without one, the names within the source's own `each`. */
  readonly namesIn: (added?: EachNames) => Names;
  readonly elses: ElseWatch;
  readonly faults: Faults;
}

/** Throws `MappingError` for rules that can't be carried out with these columns. */
export function compileSource(settings: SourceSettings): Program {
  const { config, header, name } = settings;
  const path = ["sources", name];
  if (config.action !== undefined)
    throw new MappingError(
      [...path, "action"],
      "stands beside actions",
      "Keep actions; action is for columns named like fields.",
    );
  const columns = columnsOf(settings, [...path, "columns"]);
  const optional = new Set(config.optional);
  if (optional.size > 0 && header !== undefined)
    throw new MappingError([...path, "optional"], "is about keys of JSON rows", "Give tables their own source.");
  const lookupNames = new Map<string, Lookup>();
  const within = (added: EachNames): Names => namesOf(columns, added, lookupNames);
  const each =
    config.each === undefined
      ? undefined
      : compileEach(config.each, { columns, optional, namesIn: within }, [...path, "each"]);
  const faults = collectFaults();
  const elses = new ElseWatch();
  const source: Source = {
    ...settings,
    path,
    columns,
    each,
    lookupNames,
    namesIn: (added = each?.names ?? { counts: false }) => within(added),
    elses,
    faults,
  };
  compileLookups(source, lookupNames);
  const { attempt } = faults;
  attempt(() => refuseUnusedFields(source));
  const rules = config.actions.flatMap(
    (entry, at) => attempt(() => compileAction(entry, source, [...path, "actions", at])) ?? [],
  );
  const expectations = attempt(() => compileExpect(source)) ?? [];
  const skips = attempt(() => compileSkip(source)) ?? [];
  const event = attempt(() => compileEvent(source));
  const fillDown = attempt(() => compileFillDown(source));
  faults.throwAny();
  const watched = watchedColumns(source, rules);
  const watch = new ValueWatch(watched, elses);
  const deciding = watched.filter(({ isOfItem, isTested, takesOthers }) => !isOfItem && (isTested || takesOthers));
  const lookups = [...lookupNames.values()];
  const looked = uniqueLooks(rules.map(({ when }) => when));
  return { columns, lookups, each, rules, expectations, skips, event, fillDown, watch, deciding, looked };
}

function columnsOf({ config, header, fileName }: SourceSettings, path: RulePath): Columns {
  const aliases = { aliases: config.columns ?? {}, path };
  if (header === undefined) return new JsonKeys(aliases);
  return new TableColumns(fileName === "" ? "the input" : fileName, header, aliases, config.csv?.guards === "strip");
}

function compileLookups({ config, lookups, path, namesIn }: Source, compiled: Map<string, Lookup>): void {
  const names = namesIn();
  for (const [name, lookup] of Object.entries(config.lookup ?? {})) {
    const at = [...path, "lookup", name];
    if (name === "item" || name === "outer" || name === "n" || name.includes("."))
      throw new MappingError(at, `a lookup can't be called ${name}`);
    const table = lookups.get(name);
    if (table === undefined) throw new Error(`the lookup file of ${name} was not read`);
    // A lookup may join by the columns of those before it, not by its own.
    compiled.set(name, new Lookup(name, lookup, table, names, at));
  }
}

/** Refuses fields that none of the source's actions takes: most likely a wrong name, or a forgotten action. */
function refuseUnusedFields({ config, path, relaxedRules }: Source): void {
  const actions = config.actions.map((entry) => actionOf(entry)[0]);
  const taken = new Set(actions.flatMap((action) => [...fieldsOf(action, relaxedRules)]));
  for (const field of Object.keys(config.fields ?? {}).filter(isFieldName)) {
    // A row's event helps to spread the work even where its actions do not carry it.
    if (!taken.has(field) && field !== "eventId")
      throw new MappingError(
        [...path, "fields", field],
        `is used by none of the source's actions (${actions.join(", ")})`,
      );
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
  const [action, config] = actionOf(entry);
  const path = [...at, action];
  const each = config.each === undefined ? undefined : compileInnerEach(config.each, source, [...path, "each"]);
  const names = source.namesIn(namesOfBoth(source.each?.names, each?.names));
  const cells: Read[] = [];
  const fields = compileFields(action, config, noting(names, cells), source, path);
  const given = new Set([config.fields, source.config.fields].flatMap((rules) => Object.keys(rules ?? {})));
  const takes = fieldsOf(action, source.relaxedRules);
  const missing = missingFields(action, (field) => takes.has(field) && given.has(field));
  if (missing.length > 0)
    throw new MappingError(
      path,
      `has no rule for ${missing.join(", ")}`,
      "Add it under fields, of the action or of the source.",
      missing,
    );
  const { key } = source.config;
  const eventId = registersEvent(action) ? fields.find(({ field }) => field === "eventId")?.read : undefined;
  return {
    action,
    when: config.when === undefined ? undefined : compileWhen(config.when, source.namesIn(), [...path, "when"]),
    each,
    fields,
    key:
      key === undefined
        ? undefined
        : firstFilled([key].flat(), (template) =>
            compileTemplate(template, names, [...source.path, "key"], "any column is"),
          ),
    once: eventId && { eventId, cells, fields: (scope) => textsOfFields(action, fields, scope) },
  };
}

/** The same names; every reader that they give is added to `reads`. */
const noting = (names: Names, reads: Read[]): Names => ({
  read(name, path) {
    const read = names.read(name, path);
    reads.push(read);
    return read;
  },
});

/** What the fields say that are not empty. */
function textsOfFields(
  action: ActionName,
  fields: readonly FieldRule[],
  scope: Scope,
): readonly (readonly [FieldName, string])[] {
  return fields.flatMap(({ field, fill }) => {
    const draft = new Draft(action);
    fill(scope, draft);
    const [key] = draft.keys;
    const text = key === undefined ? "" : (draft.text[numberOf(field)] ?? draft.json(key));
    return text === "" ? [] : [[field, text]];
  });
}

function compileInnerEach(config: NonNullable<ActionConfig["each"]>, source: Source, path: RulePath): Each {
  const { columns, namesIn: within } = source;
  const context = { columns, optional: new Set(source.config.optional), namesIn: within };
  const each = compileEach(config, context, path, source.each?.names);
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
  { fields: own = {}, each }: ActionConfig,
  names: Names,
  source: Source,
  path: RulePath,
): readonly FieldRule[] {
  const takes = fieldsOf(action, source.relaxedRules);
  for (const field of Object.keys(own).filter((field) => isFieldName(field) && !takes.has(field)))
    source.faults.attempt(() => {
      throw new MappingError(
        [...path, "fields", field],
        `${action} takes no ${field}`,
        `It takes ${acceptedFields(action).join(", ")}.`,
      );
    });
  const count = countOf(each) ?? countOf(source.config.each);
  return [...takes].flatMap((field) => {
    const ofAction = ruleOf(own, field);
    const rule = ofAction ?? ruleOf(source.config.fields, field);
    if (rule === undefined) return [];
    const at = [...(ofAction === undefined ? source.path : path), "fields", field];
    return source.faults.attempt(() => compileFieldRule(field, rule, action, count, names, source, at)) ?? [];
  });
}

/** The template of the count. */
function countOf(each: EachConfig | undefined): string | undefined {
  if (each === undefined) return undefined;
  if ("count" in each) return each.count;
  return "path" in each ? `{${each.path}.length}` : undefined;
}

const ruleOf = (rules: FieldRules = {}, field: FieldName): ValueRule | TraitRules | undefined =>
  Object.hasOwn(rules, field) ? rules[field] : undefined;

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

const isId = (field: FieldName): boolean => fieldSpec(field).kind === "id" || fieldSpec(field).kind === "nftId";

function contextOf(field: FieldName, count: string | undefined, names: Names, source: Source, path: RulePath) {
  return {
    label: field,
    parsing: parsingOf(field),
    emptyWhen: isId(field) ? "any column is" : "all columns are",
    names,
    path,
    zone: source.config.zone,
    zonePath: [...source.path, "zone"],
    clearWord: source.clearWord,
    count,
    displays: false,
    elses: source.elses,
  } as const satisfies ValueContext;
}

function compileFieldRule(
  field: FieldName,
  rule: ValueRule | TraitRules,
  action: ActionName,
  count: string | undefined,
  names: Names,
  source: Source,
  path: RulePath,
): FieldRule {
  const context = contextOf(field, count, names, source, path);
  if (isTraits(rule)) {
    if (field !== "metadataAttributes")
      throw new MappingError(path, "has no from", "Write {from: ...}, or a template.");
    return { field, fill: compileAttributes(rule, context), read: undefined };
  }
  const { clearWord } = source;
  const put = compileField(action, field, { clearWord, zone: source.config.zone });
  const constant = typeof rule === "string" ? constantOf(rule, path) : undefined;
  if (constant !== undefined) return { field, ...constantField(field, constant, put, new Draft(action), source, path) };
  const compile = (from: Names): Read => compileValue(rule, { ...context, names: from });
  const read = isId(field) ? watchIdCells(field, names, compile) : compile(names);
  return { field, read, fill: filledBy(read, put) };
}

const filledBy =
  (read: Read, put: ReadField): Fill =>
  (scope, draft) => {
    const text = read(scope);
    if (text !== "") put(text, draft, scope.findings);
  };

/** A field that is the same in every row is read and checked once, in the config. */
function constantField(
  field: FieldName,
  text: string,
  put: ReadField,
  draft: Draft,
  { relaxedRules }: Source,
  path: RulePath,
): Pick<FieldRule, "read" | "fill"> {
  const number = numberOf(field);
  const read = () => text;
  const findings: Finding[] = [];
  if (text !== "") put(text, draft, findings);
  const [finding] = findings;
  if (finding !== undefined) throw new MappingError(path, finding.message.replace(/\.$/, ""), finding.hint);
  if (text === "" || !draft.isOrdinary) {
    const fault = text === "" ? undefined : faultOf(field, draft.value(number));
    if (fault !== undefined && !relaxedRules.has(fault.rule))
      throw new MappingError(path, `${JSON.stringify(text)} ${fault.message}`, fault.hint);
    return { read, fill: filledBy(read, put) };
  }
  const json = draft.json(number);
  const said = draft.text[number];
  return { read, fill: (_scope, given) => given.put(number, json, said) };
}

function compileEvent(source: Source): Read | undefined {
  const rule = source.config.fields?.eventId;
  if (rule === undefined) return undefined;
  const path = [...source.path, "fields", "eventId"];
  return compileFieldRule("eventId", rule, "soldTicket", undefined, source.namesIn(), source, path).read;
}

function compileExpect({ config, path, namesIn }: Source): readonly Expectation[] {
  const names = namesIn();
  return Object.entries(config.expect ?? {}).map(([column, expected]) => ({
    label: column,
    read: compileColumn(column, names, [...path, "expect", column]),
    allowed: allowedOf([expected].flat(), names, [...path, "expect", column]),
  }));
}

/** The texts that a column may have; templates among them are filled in from the row. */
function allowedOf(expected: readonly string[], names: Names, path: RulePath): Expectation["allowed"] {
  const constants = expected.map((text) => (/[{}]/.test(text) ? constantOf(text, path) : text.trim()));
  const fixed = new Set(constants.filter((text) => text !== undefined));
  const templates = expected
    .filter((_text, at) => constants[at] === undefined)
    .map((text) => compileTemplate(text, names, path, "any column is"));
  if (templates.length === 0) return () => fixed;
  // A template that can't be filled in allows nothing, not even an empty cell.
  return (scope) => new Set([...fixed, ...templates.map((read) => read(scope)).filter((text) => text !== "")]);
}

function compileSkip({ config, path, columns }: Source): readonly Skip[] {
  const names = namesOf(columns, { counts: false }, new Map());
  return Object.entries(config.skip ?? {}).map(([column, values]) => ({
    label: column,
    read: compileColumn(column, names, [...path, "skip", column]),
    values: textsOf(values),
  }));
}

function compileFillDown({ config, columns, header, path }: Source): FillDown | undefined {
  const { fillDown } = config;
  if (fillDown === undefined) return undefined;
  const at = [...path, "fillDown"];
  if (columns instanceof JsonKeys) throw new MappingError(at, "needs a table; rows of JSON have no cell above");
  const filled = [fillDown].flat().map((label, nth) => ({
    label,
    place: columns.placeOf(label, Array.isArray(fillDown) ? [...at, nth] : at),
  }));
  return new FillDown(filled, showRejects(header ?? []));
}

/**
 * The columns that conditions compare, whatever gives them: the file, a lookup, an item of `each`. `skip` and `expect` name
 * values of them; `skip` alone makes a column one to be watched.
 */
function watchedColumns({ config, namesIn: within }: Source, rules: readonly ActionRules[]): readonly WatchedColumn[] {
  const names = within();
  const added = new Set(["item", "outer", ...Object.keys(config.lookup ?? {})]);
  const byLabel = new Map<string, WatchedColumn>();
  const add = (label: string, says: Pick<WatchedColumn, "named"> & Partial<WatchedColumn>): void => {
    const plain = plainName(label);
    const known = byLabel.get(plain);
    const read = known?.read ?? readerOf(plain, names);
    if (read === undefined) return;
    byLabel.set(plain, {
      label: plain,
      read,
      named: new Set([...(known?.named ?? []), ...says.named]),
      takesOthers: says.takesOthers === true || known?.takesOthers === true,
      isTested: says.isTested === true || known?.isTested === true,
      isComplete: says.isComplete === true || known?.isComplete === true,
      isOfItem: namesIn(plain, []).some((name) => name === "n" || added.has(name.split(".")[0] ?? "")),
    });
  };
  const looked = rules.flatMap(({ when }) => when?.looked ?? []);
  const compared = new Set(looked.filter(({ presenceOnly }) => !presenceOnly).map(({ label }) => label));
  for (const { label, named, takesOthers } of looked)
    if (compared.has(label)) add(label, { named: new Set(named), takesOthers, isTested: !takesOthers });
  for (const [label, values] of Object.entries(config.skip ?? {}))
    add(label, { named: textsOf(values), isComplete: true });
  for (const [label, values] of Object.entries(config.expect ?? {}))
    if (byLabel.has(plainName(label))) add(label, { named: textsOf(values), isComplete: true });
  return [...byLabel.values()];
}

/** `{Status}` is the column `Status`. */
const plainName = (label: string): string => /^\{([^{}]+)\}$/.exec(label)?.[1]?.trim() ?? label;

/** Undefined for a name that is no column by itself, such as the counter of `each`. */
function readerOf(column: string, names: Names): Read | undefined {
  try {
    return compileColumn(column, names, []);
  } catch (cause) {
    if (cause instanceof MappingError) return undefined;
    throw cause;
  }
}

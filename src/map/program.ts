/** A source of the config and a header, compiled to what its rows are read by. */

import { ACTION_NAMES, type ActionName, acceptedFields, actionSpec } from "../actions/actions.ts";
import { FIELD_NAMES } from "../actions/fields.ts";
import { showRejects } from "../read/rejects-columns.ts";
import { compileEach, type Each } from "./each.ts";
import { compileExpect, compileSkip, type Expectation, type Skip } from "./expect.ts";
import { compileFieldRule, type FieldContext, type FieldRule } from "./field-rules.ts";
import type { NamedFile } from "./file-name.ts";
import { JsonKeys } from "./json-rows.ts";
import { Lookup, type LookupTable } from "./lookup.ts";
import { collectFaults, type Faults, MappingError, type RulePath } from "./mapping-error.ts";
import { fieldsOf, missingFields } from "./named-columns.ts";
import { type Columns, type EachNames, namesOf } from "./names.ts";
import type { Names, Read } from "./scope.ts";
import type { ActionConfig, EachConfig, SourceAction, SourceConfig } from "./source.ts";
import { FillDown, TableColumns } from "./table-columns.ts";
import { compileTemplate, firstFilled, templatesOf } from "./template.ts";
import { ValueWatch, type WatchedColumn, watchedColumns } from "./value-watch.ts";
import { compileWhen, headsIn, type Looked, uniqueLooks, type When } from "./when.ts";

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

export interface ActionRules {
  readonly action: ActionName;
  readonly when: When | undefined;
  readonly each: Each | undefined;
  /** Whether `when` names items of the action's own `each`: it is judged for each of them, otherwise before. */
  readonly isJudgedByItem: boolean;
  /** What `when` looks at in the row, or in the item of the source's `each`; and in the items of the action's own. */
  readonly looked: readonly Looked[];
  readonly lookedInItems: readonly Looked[];
  readonly fields: readonly FieldRule[];
  readonly key: Read | undefined;
}

/** What the rows of a source are read by. */
export interface Program {
  readonly columns: Columns;
  /** The columns of rows of JSON. */
  readonly keys: JsonKeys | undefined;
  readonly each: Each | undefined;
  readonly rules: readonly ActionRules[];
  /** Whether newEvents come without conditions beside other actions. */
  readonly givesEventsBeside: boolean;
  readonly expectations: readonly Expectation[];
  readonly skips: readonly Skip[];
  /** The event of a row of which no action names one. */
  readonly event: Read | undefined;
  readonly fillDown: FillDown | undefined;
  /** What the rules take from the file's name. */
  readonly ofFile: ReadonlySet<string>;
  readonly watch: ValueWatch;
  /** What the conditions look at, for the reason why a row is skipped. */
  readonly looked: readonly Looked[];
  /** The same, where only the tickets are missing: an earlier row gave the event. */
  readonly lookedForTickets: readonly Looked[];
}

/** What compiling a part of the source needs to know of the whole. */
interface Source extends SourceSettings {
  readonly path: RulePath;
  readonly columns: Columns;
  readonly file: NamedFile;
  readonly each: Each | undefined;
  readonly lookupNames: ReadonlyMap<string, Lookup>;
  readonly faults: Faults;
}

/** All names, with those that an `each` adds; without one, the names within the source's own `each`. */
const namesWithin = ({ columns, lookupNames, file, each }: Source, added: EachNames | undefined = each?.names) =>
  namesOf(columns, added, lookupNames, file);

/** Throws `MappingError` for rules that can't be carried out with these columns. */
export function compileSource(settings: SourceSettings): Program {
  const { config, name } = settings;
  const path = ["sources", name];
  const columns = columnsOf(settings, [...path, "columns"]);
  const lookupNames = new Map<string, Lookup>();
  const file = { fileName: settings.fileName, patterns: [config.match ?? []].flat(), taken: new Set<string>() };
  const faults = collectFaults();
  const { attempt } = faults;
  const whole = { ...settings, path, columns, file, each: undefined, lookupNames, faults };
  const source: Source = { ...whole, each: config.each && eachOf(config.each, whole, [...path, "each"]) };
  compileLookups(source, lookupNames);
  const rules = config.actions.flatMap(
    (entry, at) => attempt(() => compileAction(entry, source, [...path, "actions", at])) ?? [],
  );
  const expectations = attempt(() => compileExpect(config, namesWithin(source), [...path, "expect"])) ?? [];
  const ofFile = namesOf(columns, undefined, new Map(), file);
  const skips = attempt(() => compileSkip(config, ofFile, [...path, "skip"])) ?? [];
  const event = attempt(() => compileEvent(source));
  const fillDown = attempt(() => compileFillDown(source));
  faults.throwAny();
  const looked = rules.flatMap((rule) => rule.looked);
  const ofTickets = rules.filter(({ action }) => actionSpec(action).about === "ticket");
  const watched = watchedColumns(looked, lookupNames.keys(), skips, expectations);
  const events = rules.filter(({ action }) => action === "newEvent");
  return {
    ...{ columns, each: source.each, rules, expectations, skips, event, fillDown, ofFile: file.taken },
    keys: columns instanceof JsonKeys ? columns : undefined,
    givesEventsBeside: events.length < rules.length && events.every(({ when }) => when === undefined),
    watch: new ValueWatch([...watched, ...watchedItems(rules, lookupNames)]),
    looked: uniqueLooks(looked),
    lookedForTickets: uniqueLooks(ofTickets.flatMap((rule) => rule.looked)),
  };
}

function columnsOf({ config, header, fileName }: SourceSettings, path: RulePath): Columns {
  const aliases = { aliases: config.columns ?? {}, path };
  if (header === undefined) return new JsonKeys(aliases);
  return new TableColumns(fileName === "" ? "the input" : fileName, header, aliases);
}

/** Of the source, or of an action, within that of the source. */
function eachOf(config: EachConfig, source: Source, path: RulePath): Each {
  const { columns, each: outer } = source;
  const optional = new Set(source.config.optional);
  const each = compileEach(config, { columns, optional, names: namesWithin(source), outer: outer?.names }, path);
  if (outer === undefined || each.names.item !== undefined) return each;
  throw new MappingError(
    path,
    "gives the same names as the each of the source",
    "Beside an each of the source, an action takes each with path or in.",
  );
}

/** The names inside both. */
const namesOfBoth = (outer: EachNames | undefined, inner: EachNames | undefined): EachNames | undefined =>
  inner?.item === undefined ? (outer ?? inner) : { ...inner, outer: outer?.item };

function compileLookups(source: Source, compiled: Map<string, Lookup>): void {
  const { config, lookups, path } = source;
  const names = namesWithin(source);
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
  const each = config.each && eachOf(config.each, source, [...path, "each"]);
  const names = namesWithin(source, namesOfBoth(source.each?.names, each?.names));
  const rules = rulesOf(action, config, source, path);
  const context = contextOf(action, names, source, countOf(config.each) ?? countOf(source.config.each));
  const fields = rules.flatMap(
    ({ field, rule, at }) => source.faults.attempt(() => compileFieldRule(field, rule, context, at)) ?? [],
  );
  const missing = missingFields(action, (field) => rules.some((rule) => rule.field === field));
  if (missing.length > 0)
    throw new MappingError(
      path,
      `has no rule for ${missing.join(", ")}`,
      "Add it under fields, of the action or of the source.",
    );
  const keys = [source.config.key ?? []].flat();
  const compileKey = (template: string) => compileTemplate(template, names, [...source.path, "key"], "any column is");
  const { when: conditions } = config;
  const compileAs = (within: Names) => conditions && compileWhen(conditions, within, [...path, "when"]);
  const ofItems = each?.names.item === undefined ? undefined : compileAs(names);
  const lookedInItems = ofItems?.looked.filter(({ of }) => of !== "row") ?? [];
  const isJudgedByItem = lookedInItems.length > 0;
  const when = isJudgedByItem ? ofItems : compileAs(namesWithin(source));
  const looked = when?.looked.filter((look) => !lookedInItems.includes(look)) ?? [];
  const key = keys.length === 0 ? undefined : firstFilled(keys, compileKey);
  return { action, when, each, isJudgedByItem, looked, lookedInItems, fields, key };
}

/** What conditions compare in the items of each list that actions repeat by. */
function watchedItems(rules: readonly ActionRules[], lookups: ReadonlyMap<string, Lookup>): readonly WatchedColumn[] {
  const repeated = Map.groupBy(rules, ({ each }) => each?.by ?? "");
  return [...repeated].flatMap(([by, ofList]) => {
    const looked = ofList.flatMap(({ lookedInItems }) => lookedInItems);
    return watchedColumns(looked, lookups.keys()).map((column) => ({ ...column, readPer: `item of ${by}` as const }));
  });
}

/** The rules of the fields that the action takes: its own, else the source's. */
function rulesOf(action: ActionName, { fields: own = {} }: ActionConfig, source: Source, path: RulePath) {
  const takes = fieldsOf(action, source.relaxedRules);
  const refused = FIELD_NAMES.filter((field) => own[field] !== undefined && !takes.has(field));
  for (const field of refused)
    source.faults.attempt(() => {
      const hint = `It takes ${acceptedFields(action).join(", ")}.`;
      throw new MappingError([...path, "fields", field], `${action} takes no ${field}`, hint);
    });
  return [...takes].flatMap((field) => {
    const rule = own[field] ?? source.config.fields?.[field];
    const at = [...(own[field] === undefined ? source.path : path), "fields", field];
    return rule === undefined ? [] : [{ field, rule, at }];
  });
}

const contextOf = (
  action: ActionName,
  names: Names,
  { config: { zone }, file, clearWord, relaxedRules }: Source,
  count?: string,
): FieldContext => ({ action, names, file, clearWord, relaxedRules, count, zone });

/** The template of the count. */
function countOf(each: EachConfig | undefined): string | undefined {
  if (each === undefined) return undefined;
  if ("count" in each) return each.count;
  return "path" in each ? `{${each.path}.length}` : undefined;
}

/** That of the row itself: the event of an item of an action's own `each` is known by that action alone. */
function compileEvent(source: Source): Read | undefined {
  const rule = source.config.fields?.eventId;
  if (rule === undefined) return undefined;
  const heads = templatesOf(rule).flatMap(headsIn);
  if (heads.includes("outer") || (source.each === undefined && heads.includes("item"))) return undefined;
  const path = [...source.path, "fields", "eventId"];
  return compileFieldRule("eventId", rule, contextOf("soldTicket", namesWithin(source), source), path).read;
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

/** Rows by the rules of a source in the config. The rules are compiled once per header; a row is then a few loops over closures. */

import {
  ACTION_NAMES,
  type Action,
  type ActionData,
  type ActionName,
  acceptedFields,
  registersEvent,
} from "../actions/actions.ts";
import { FIELD_NAMES, type FieldName, type FieldValue, fieldSpec, isFieldName } from "../actions/fields.ts";
import { stringifyJson } from "../actions/json.ts";
import type { Finding } from "../actions/problem.ts";
import { faultOf } from "../actions/schemas.ts";
import { cleanText } from "../actions/text.ts";
import { compileAttributes } from "./attributes.ts";
import { coercerOf } from "./coerce.ts";
import { fieldsOf, missingFields, publicName, quote } from "./columns.ts";
import { compileEach, type Each, enter, namesOfBoth } from "./each.ts";
import { withExactNumbers } from "./exact-numbers.ts";
import type { FileFinding } from "./file-finding.ts";
import { compileFillDown } from "./fill-down.ts";
import { mangledCells, totalsCell, watchIdCells } from "./id-cells.ts";
import { compileLookup, fitsNothing, type LookupTable, type LookupTally } from "./lookup.ts";
import type { Mapped, Mapper, Understanding } from "./mapper.ts";
import { collectFaults, type Faults, MappingError, type RulePath } from "./mapping-error.ts";
import {
  type Columns,
  columnsOf,
  type EachNames,
  type IdCell,
  type Names,
  namesOf,
  pathsOf,
  type Read,
  type Scope,
} from "./names.ts";
import { isOnlyItem, mapItem } from "./objects.ts";
import { nthOfName, OPEN_ACTIONS_COLUMN, selectOpenActions } from "./open-actions.ts";
import type { Row } from "./row.ts";
import { bitsOfDigest, createRowDigester } from "./row-digest.ts";
import type { MappingRule } from "./rules.ts";
import type {
  ActionConfig,
  EachConfig,
  FieldRules,
  SourceAction,
  SourceConfig,
  TraitRules,
  ValueRule,
} from "./source.ts";
import { compileTemplate, constantText, isConstant } from "./template.ts";
import { watchEvents } from "./told-events.ts";
import { compileValue, isSteps, type Parsing, type ValueContext } from "./value.ts";
import { type ValueWatch, type WatchedColumn, watchValues } from "./value-watch.ts";
import { compileWhen, type Looked, readColumn, type When } from "./when.ts";

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

interface ActionRules {
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
  readonly faults: Faults;
}

/** Throws `MappingError` for rules that can't be carried out with these columns. */
export function createSourceMapper(settings: SourceSettings): Mapper {
  const { config, header, fileName, name } = settings;
  const path = ["sources", name];
  if (config.action !== undefined)
    throw new MappingError(
      [...path, "action"],
      "stands beside actions",
      "Keep actions; action is for columns called like fields.",
    );
  const isJson = header === undefined;
  const what = fileName === "" ? "the input" : fileName;
  const aliases = { aliases: config.columns ?? {}, path: [...path, "columns"] };
  const columns = isJson ? pathsOf(aliases) : columnsOf(what, header, aliases, config.csv?.guards === "strip");
  const lookupNames = new Map<string, Names>();
  const optional = new Set(config.optional);
  if (optional.size > 0 && !isJson)
    throw new MappingError([...path, "optional"], "is about keys of JSON rows", "Give tables a source of their own.");
  const namesIn = (added: EachNames): Names => namesOf(columns, added, lookupNames, isJson);
  const each =
    config.each === undefined
      ? undefined
      : compileEach(config.each, namesIn, { keys: columns.keys, optional }, [...path, "each"]);
  const faults = collectFaults();
  const { attempt } = faults;
  const source: Source = { ...settings, path, columns, isJson, each, lookupNames, faults };
  const lookupFindings = compileLookups(source);
  attempt(() => refuseUnusedFields(source));
  const rules = config.actions.flatMap(
    (entry, at) => attempt(() => compileAction(entry, source, [...path, "actions", at])) ?? [],
  );
  const expectations = attempt(() => compileExpect(source)) ?? [];
  const skips = attempt(() => compileSkip(source)) ?? [];
  const names = namesOf(columns, each?.names ?? { counts: false }, lookupNames, isJson);
  const eventRule = config.fields?.eventId;
  const event =
    eventRule === undefined
      ? undefined
      : attempt(() =>
          compileField("eventId", eventRule, "soldTicket", undefined, names, source, [...path, "fields", "eventId"]),
        );
  const isMended = header?.some((written) => written.trim() === OPEN_ACTIONS_COLUMN) === true;
  const filling = config.fillDown;
  const fillDown =
    filling === undefined
      ? undefined
      : attempt(() => compileFillDown(filling, columns, isJson, isMended, [...path, "fillDown"]));
  faults.throwAny();
  const open = header === undefined ? -1 : header.findIndex((written) => written.trim() === OPEN_ACTIONS_COLUMN);
  const looked = uniqueLooks(rules);
  const watch = watchOf(source, rules);
  const digester = createRowDigester(header, name);
  const events = watchEvents();
  const seenEvents = new Set<string>();
  /** Events that the rows since the last look name, and whether they were seen before. */
  const namedEvents = new Map<string, boolean>();
  let line = 0;
  let rowAt: Row | undefined;
  let digestAt: bigint | undefined;
  /** Of the row that is being read. */
  const digest = (): bigint => {
    if (rowAt === undefined) throw new Error("no row is being read");
    digestAt ??= bitsOfDigest(digester.digest(rowAt));
    return digestAt;
  };
  let idCells: IdCell[] = [];
  const scope: Scope = {
    cells: [],
    value: {},
    n: 1,
    item: undefined,
    turn: 0,
    findings: [],
    onElse: (label, known, text) => watch.seeElse(label, known, text, { line, digest }),
    onIdCell: (cell) => idCells.push(cell),
  };

  const add = (rule: ActionRules, draft: Draft): void => {
    scope.turn += 1;
    const findingsBefore = scope.findings.length;
    if (rule.onceBy !== undefined) {
      const eventId = rule.onceBy.read(scope);
      if (typeof eventId === "string") {
        tellEvent(rule, eventId);
        if (!namedEvents.has(eventId)) namedEvents.set(eventId, seenEvents.has(eventId));
        if (seenEvents.has(eventId) || draft.newEvents.has(eventId)) {
          if (rule.when !== undefined) draft.whyNothing ??= "the event was given by an earlier row";
          return;
        }
        draft.newEvents.add(eventId);
      }
    }
    const data: Record<string, FieldValue> = {};
    for (const { field, read } of rule.fields) {
      const value = read(scope);
      if (value !== undefined) data[field] = value;
    }
    // Each key is a field's name and each value was read by that field's own coercer.
    const action: Action = { action: rule.action, data: data as ActionData };
    draft.actions.push(action);
    if (rule.key !== undefined) draft.keys.push(readKey(rule.key, rule.action));
    if (scope.findings.length > findingsBefore) draft.faulty.add(action);
  };

  /** Notes what the row says of its event, whichever row gives it. */
  const tellEvent = ({ fields, cells }: ActionRules, eventId: string): void => {
    if (cells.length === 0) return;
    const { findings } = scope;
    scope.findings = [];
    const text = cells.map((read) => read(scope)).join("\u0000");
    events.see(eventId, line, text, () =>
      fields.flatMap(({ field, read }) => {
        const value = read(scope);
        return value === undefined || value === ""
          ? []
          : [[field, typeof value === "string" ? value : stringifyJson(value)]];
      }),
    );
    scope.findings = findings;
  };

  const readKey = (read: Read, action: ActionName): string => {
    const key = read(scope);
    if (key === "")
      scope.findings.push({
        rule: "key-empty" satisfies MappingRule,
        field: "key",
        message: `The key of the source is empty for its ${action}.`,
        hint: "Leave such rows out by when, or name a column that is always filled.",
      });
    return key;
  };

  const checkExpectations = (): void => {
    for (const { label, read, allowed: allowedIn } of expectations) {
      const text = read(scope);
      const allowed = allowedIn(scope);
      if (allowed.has(text)) continue;
      scope.findings.push({
        rule: "value-unexpected" satisfies MappingRule,
        field: label,
        value: text,
        message: `${label} is ${text === "" ? "empty" : "something else"}, expected is ${[...allowed].join(" or ")}.`,
        hint: "The rows may belong to another event or source; or widen expect.",
      });
    }
  };

  const addAll = (draft: Draft): void => {
    const items = each === undefined ? ONCE : each.items(scope);
    if (items.length === 0) draft.whyNothing = `nothing in ${each?.by}`;
    for (const [at, item] of items.entries()) {
      scope.n = at + 1;
      enter(scope, item, undefined);
      const { item: ownItem, outer: ownOuter } = scope;
      scope.turn += 1;
      const given = draft.actions.length;
      const found = scope.findings.length;
      for (const rule of rules) {
        if (rule.when !== undefined && !rule.when.holds(scope)) continue;
        if (rule.each === undefined) {
          add(rule, draft);
          continue;
        }
        const inner = rule.each.items(scope);
        if (inner.length === 0) draft.whyNothing ??= `nothing in ${rule.each.by}`;
        for (const [innerAt, innerItem] of inner.entries()) {
          if (each === undefined) scope.n = innerAt + 1;
          if (rule.each.names.item !== undefined) enter(scope, innerItem, ownItem);
          add(rule, draft);
        }
        scope.n = at + 1;
        scope.item = ownItem;
        scope.outer = ownOuter;
        scope.turn += 1;
      }
      if (draft.actions.length > given || scope.findings.length > found) checkExpectations();
      watch.seeItem(scope, { line, digest });
    }
    scope.n = 1;
    enter(scope, items[0], undefined);
    scope.turn += 1;
  };

  const mapScope = (openText: string): Mapped => {
    const draft: Draft = { actions: [], keys: [], faulty: new Set(), newEvents: new Set(), whyNothing: undefined };
    addAll(draft);
    const { findings } = scope;
    if (draft.actions.length === 0 && findings.length === 0)
      return { kind: "skipped", reason: draft.whyNothing ?? skipReason() };
    let actions: readonly Action[] = draft.actions;
    if (openText !== "") actions = selectOpenActions(actions, openText, findings);
    if (findings.length > 0) {
      const attempted = attemptedOf(actions.length === 0 ? draft.actions : actions, draft.faulty);
      const nths = numbersIn(draft.actions, new Set(attempted));
      return { kind: "invalid", findings: withoutRepeats(findings), attempted, nths, ...noted() };
    }
    for (const action of actions) if (registersEvent(action.action)) seenEvents.add(String(action.data.eventId));
    const eventId = eventOf(actions) ?? event?.read(scope);
    const stillOpen = actions === draft.actions ? undefined : new Set<Action | undefined>(actions);
    const keys =
      stillOpen === undefined ? draft.keys : draft.keys.filter((_key, at) => stillOpen.has(draft.actions[at]));
    return {
      kind: "actions",
      actions,
      ...(typeof eventId === "string" && { eventId }),
      ...(config.key !== undefined && { keys }),
      ...(stillOpen !== undefined && {
        nths: numbersIn(draft.actions, stillOpen),
        leftOut: draft.actions.flatMap((action, at) => {
          const key = draft.keys[at];
          return key === undefined || stillOpen.has(action) ? [] : [{ action, key }];
        }),
      }),
      ...(isOnlyEvent(draft.actions) && { eventOnly: draft.whyNothing ?? skipReason() }),
      ...noted(),
    };
  };

  /** What the cells of the row's ids show. */
  const noted = () => {
    if (idCells.length === 0) return undefined;
    const totals = totalsCell(idCells);
    return { likely: mangledCells(idCells), ...(totals !== undefined && { totals }) };
  };

  const hasOthers = rules.some(({ action }) => !registersEvent(action));
  const isConditional = rules.some(({ action, when }) => registersEvent(action) && when !== undefined);
  /** An event without conditions comes with whichever row is its first, and says nothing of the row. */
  const isOnlyEvent = (actions: readonly Action[]): boolean =>
    hasOthers && !isConditional && actions.every(({ action }) => registersEvent(action));

  /** A row with fewer cells than the header, as a line of totals may be: `skip` may know it by what it has. */
  const skippedShort = ({ cells }: Extract<Row, { kind: "malformed" }>): Mapped | undefined => {
    if (cells === undefined || isJson) return undefined;
    scope.cells = cells;
    const taken = skips.find(({ read, values }) => {
      const text = read(scope);
      return text !== "" && values.has(text);
    });
    scope.findings = [];
    return taken === undefined ? undefined : { kind: "skipped", reason: labelled(taken.label, taken.read(scope)) };
  };

  const mapAndWatch = (openText: string): Mapped => {
    for (const { label, read, values } of skips) {
      const text = read(scope);
      if (!values.has(text)) continue;
      scope.findings = [];
      watch.see(scope, { line, digest, gave: false, isSkipped: true });
      return { kind: "skipped", reason: labelled(label, text) };
    }
    const mapped = mapScope(openText);
    const gave = mapped.kind === "invalid" || (mapped.kind === "actions" && mapped.eventOnly === undefined);
    watch.see(scope, { line, digest, gave, isSkipped: false });
    return mapped;
  };

  const skipReason = (): string => {
    const told = looked.map(({ label, read, presenceOnly }) => {
      const text = read(scope);
      return text !== "" && presenceOnly ? `${label} is not empty` : labelled(label, text);
    });
    scope.findings = [];
    if (told.length > 0) return told.join(", ");
    return "the event was given by an earlier row"; // without conditions nothing else is left out
  };

  return {
    get understanding() {
      return understandingOf(source, rules);
    },
    map(row) {
      line = row.line;
      rowAt = row;
      digestAt = undefined;
      if (idCells.length > 0) idCells = [];
      scope.findings = [];
      scope.turn += 1;
      if (row.kind === "malformed") {
        fillDown?.forget();
        return skippedShort(row) ?? { kind: "invalid", findings: row.findings, attempted: [] };
      }
      if (row.kind === "cells") {
        if (isJson) throw new Error("a row of JSON was expected");
        if (row.cells.every((cell) => cell.trim() === "")) return { kind: "skipped", reason: "empty row" };
        scope.cells = fillDown === undefined ? row.cells : fillDown.fill(row.cells, scope.findings);
        return mapAndWatch(open === -1 ? "" : (row.cells[open]?.trim() ?? ""));
      }
      if (!isJson) throw new Error("a row of cells was expected");
      scope.value = withExactNumbers(row);
      if (isOnlyItem(row.value)) return mapItem(row.value);
      columns.keys?.seeRow(row.value);
      const openText = row.value[OPEN_ACTIONS_COLUMN];
      return mapAndWatch(typeof openText === "string" ? openText.trim() : "");
    },
    retract(actions) {
      for (const { action, data } of actions) if (registersEvent(action)) seenEvents.delete(String(data.eventId));
    },
    takeSeen() {
      const named = [...namedEvents].map(([eventId, before]) => ({ eventId, before, after: seenEvents.has(eventId) }));
      namedEvents.clear();
      return {
        values: watch.take(),
        told: events.take(),
        ...(columns.keys !== undefined && { found: columns.keys.takeFound() }),
        events: named,
      };
    },
    agrees: ({ events: named = [] }) => named.every(({ eventId, before }) => seenEvents.has(eventId) === before),
    join({ values, told, found, events: named = [] }) {
      if (told !== undefined) events.join(told);
      if (values !== undefined) watch.join(values);
      if (found !== undefined) columns.keys?.join(found);
      for (const { eventId, after } of named) if (after) seenEvents.add(eventId);
    },
    findingsOfFile: () => [
      ...byPosition(columns),
      ...keysMissing(columns, optional),
      ...watch.findings(),
      ...events.findings(),
      ...lookupFindings(),
    ],
  };
}

/** Columns of which nothing shows that they are still the ones that were meant. */
function byPosition(columns: Columns): readonly FileFinding[] {
  return columns.positions().map(({ name, at, header }) => ({
    rule: "column-by-position" satisfies MappingRule,
    field: name,
    message: `It is column ${at} whatever that is called; now it is ${quote(header)}.`,
    hint: `So that another column is never taken for it: ${name}: {at: ${at}, named: ${JSON.stringify(header)}}.`,
  }));
}

/** Keys that no row has, as a table that lacks columns. Of the first rows it says nothing that they lack one. */
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

const ONCE: readonly unknown[] = [undefined];

const labelled = (label: string, text: string): string =>
  text === "" ? `${label} is empty` : `${label} = ${cleanText(text, 40)}`;

/** What a row gives, before it is known whether all of it can be read. */
interface Draft {
  readonly actions: Action[];
  readonly keys: string[];
  /** Those of the actions that have findings of their own. */
  readonly faulty: Set<Action | undefined>;
  readonly newEvents: Set<string>;
  /** Why the row gives no action, where it is not for its conditions. */
  whyNothing: string | undefined;
}

/**
 * What depends on a row that is not sent. A newEvent is left out of it that can be read and stands in the row only
 * because the row is the first of its event: the next row gives it.
 */
function attemptedOf(actions: readonly Action[], faulty: Draft["faulty"]): readonly Action[] {
  const isOnlyEvents = actions.every(({ action }) => registersEvent(action));
  return actions.filter((action) => isOnlyEvents || !registersEvent(action.action) || faulty.has(action));
}

/** Which of the actions of its name each of `some` is, among all that the row gives. */
function numbersIn(actions: readonly Action[], some: ReadonlySet<Action | undefined>): readonly number[] {
  return nthOfName(actions).filter((_nth, at) => some.has(actions[at]));
}

/** The one event that the row's actions name; undefined when they name none, or several. */
function eventOf(actions: readonly Action[]): string | undefined {
  let eventId: string | undefined;
  for (const { data } of actions) {
    if (data.eventId == null) continue;
    if (eventId !== undefined && eventId !== data.eventId) return undefined;
    eventId = data.eventId;
  }
  return eventId;
}

/** The same column read for several fields and tickets says the same each time. */
function withoutRepeats(findings: readonly Finding[]): readonly Finding[] {
  const known = new Set<string>();
  return findings.filter(({ rule, field, value, message }) => {
    const text = JSON.stringify([rule, field, value, message]);
    return !known.has(text) && known.add(text);
  });
}

function uniqueLooks(rules: readonly ActionRules[]): readonly Looked[] {
  const byLabel = new Map<string, Looked>();
  for (const look of rules.flatMap(({ when }) => when?.looked ?? [])) {
    const known = byLabel.get(look.label);
    if (known === undefined || known.presenceOnly) byLabel.set(look.label, look);
  }
  return [...byLabel.values()];
}

/** @returns what is said of the lookups when all rows are read. */
function compileLookups({
  config,
  lookups,
  lookupNames,
  path,
  columns,
  each,
  isJson,
}: Source): () => readonly FileFinding[] {
  const tallies: { readonly name: string; readonly table: LookupTable; readonly tally: LookupTally }[] = [];
  const names = namesOf(columns, each?.names ?? { counts: false }, lookupNames, isJson);
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

function compileExpect({ config, path, columns, each, lookupNames, isJson }: Source) {
  const names = namesOf(columns, each?.names ?? { counts: false }, lookupNames, isJson);
  return Object.entries(config.expect ?? {}).map(([column, expected]) => ({
    label: column,
    read: readColumn(column, names, [...path, "expect", column]),
    allowed: allowedOf([expected].flat(), names, [...path, "expect", column]),
  }));
}

/** The texts that may stand at a column; templates among them are filled in from the row. */
function allowedOf(expected: readonly string[], names: Names, path: RulePath): (scope: Scope) => ReadonlySet<string> {
  const isTemplate = (text: string): boolean => /[{}]/.test(text) && !isConstant(text, path);
  const fixed = new Set(
    expected
      .filter((text) => !isTemplate(text))
      .map((text) => (/[{}]/.test(text) ? constantText(text, path) : text.trim())),
  );
  const templates = expected.filter(isTemplate).map((text) => compileTemplate(text, names, path, "any column is"));
  if (templates.length === 0) return () => fixed;
  // What can't be filled in allows nothing, not an empty cell.
  return (scope) => new Set([...fixed, ...templates.map((read) => read(scope)).filter((text) => text !== "")]);
}

function compileSkip({ config, path, columns, isJson }: Source) {
  const names = namesOf(columns, { counts: false }, new Map(), isJson);
  return Object.entries(config.skip ?? {}).map(([column, values]) => ({
    label: column,
    read: readColumn(column, names, [...path, "skip", column]),
    values: new Set([values].flat().map((text) => text.trim())),
  }));
}

/**
 * Watches the columns that conditions compare, whatever gives them: the file, a lookup, an item of `each`. `skip` and
 * `expect` name values of them; `skip` alone makes a column one to be watched.
 */
function watchOf({ config, columns, each, lookupNames, isJson }: Source, rules: readonly ActionRules[]): ValueWatch {
  const names = namesOf(columns, each?.names ?? { counts: false }, lookupNames, isJson);
  const added = new Set(["item", "outer", ...Object.keys(config.lookup ?? {})]);
  const byLabel = new Map<string, WatchedColumn>();
  const add = (label: string, says: Omit<WatchedColumn, "label" | "read" | "isOfItem">): void => {
    const plain = plainName(label);
    const known = byLabel.get(plain);
    const read = known?.read ?? readerOf(plain, names);
    if (read === undefined) return;
    byLabel.set(plain, {
      label: plain,
      read,
      named: new Set([...(known?.named ?? []), ...says.named]),
      takesOthers: says.takesOthers || known?.takesOthers === true,
      isTested: says.isTested || known?.isTested === true,
      isComplete: says.isComplete || known?.isComplete === true,
      isOfItem: namesIn(plain).some((name) => name === "n" || added.has(name.split(".")[0] ?? "")),
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
const namesIn = (label: string): readonly string[] =>
  label.includes("{") ? [...label.matchAll(/\{([^{}]+)\}/g)].map(([, name = ""]) => name.trim()) : [label];

function readerOf(label: string, names: Names): Read | undefined {
  try {
    return readColumn(label, names, []);
  } catch (cause) {
    if (cause instanceof MappingError) return undefined;
    throw cause;
  }
}

/** Fields of the source that none of its actions takes: most likely a wrong name or a forgotten action. */
function refuseUnusedFields({ config, path, relaxedRules }: Source): void {
  const actions = config.actions.map((entry) => actionOf(entry)[0]);
  const taken = new Set(actions.flatMap((action) => [...fieldsOf(action, relaxedRules)]));
  for (const field of Object.keys(config.fields ?? {}).filter(isFieldName)) {
    const at = [...path, "fields", field];
    // The event of a row helps to spread the work, also where its actions do not carry it.
    if (!taken.has(field) && field !== "eventId")
      throw new MappingError(at, `is taken by none of the source's actions (${actions.join(", ")})`);
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
  const { columns, lookupNames, isJson, config } = source;
  const outer = namesOf(columns, source.each?.names ?? { counts: false }, lookupNames, isJson);
  const each = rules.each === undefined ? undefined : compileInnerEach(rules.each, source, [...path, "each"]);
  const names = namesOf(columns, namesOfBoth(source.each?.names, each?.names), lookupNames, isJson);
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
    key: config.key === undefined ? undefined : compileKey(config.key, names, source),
    onceBy: registersEvent(action) ? fields.find(({ field }) => field === "eventId") : undefined,
    cells,
  };
}

/** The names, with what is read of them kept. */
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
  const { columns, lookupNames, isJson } = source;
  const namesIn = (added: EachNames): Names => namesOf(columns, added, lookupNames, isJson);
  const rows = { keys: columns.keys, optional: new Set(source.config.optional) };
  const each = compileEach(config, namesIn, rows, path, source.each?.names);
  if (source.each === undefined) return each;
  if (each.names.item === undefined)
    throw new MappingError(
      path,
      "stands beside an each of the source that gives the same names",
      "Beside an each of the source, an action takes each with path or in.",
    );
  if (source.each.names.outer !== undefined)
    throw new MappingError(path, "stands inside two others", "Two lists, one in the other, are as many as have names.");
  return each;
}

function compileKey(key: string | readonly string[], names: Names, source: Source): Read {
  const path = [...source.path, "key"];
  const choices = [key].flat().map((template) => compileTemplate(template, names, path, "any column is"));
  return (scope) => {
    for (const read of choices) {
      const text = read(scope);
      if (text !== "") return text;
    }
    return "";
  };
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

/** The template of how many there are. */
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

function isTraits(rule: ValueRule | TraitRules): rule is TraitRules {
  return typeof rule === "object" && !Array.isArray(rule) && !isSteps(rule);
}

/** A field that is the same in every row is read and checked once, in the config. */
function constantField(
  field: FieldName,
  template: Read,
  coerce: ReturnType<typeof coercerOf>,
  { relaxedRules }: Source,
  path: RulePath,
): FieldReader {
  const scope: Scope = { cells: [], value: {}, n: 1, item: undefined, turn: 0, findings: [] };
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

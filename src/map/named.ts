/**
 * Rows whose columns, or keys, are named like fields; and `{action, data}` items. A header is compiled once, and so are the keys
 * of JSON rows, which may differ from one to the next.
 */

import { ACTION_NAMES, type ActionName, actionSpec, isActionName } from "../actions/actions.ts";
import { compileField, Draft, type ReadField } from "../actions/draft.ts";
import { type FieldName, relaxingRule, setOf } from "../actions/fields.ts";
import { stringifyJson } from "../actions/json.ts";
import { nearest } from "../actions/nearest.ts";
import type { Finding } from "../actions/problem.ts";
import { actionHint } from "../actions/validate.ts";
import { Failure } from "../failure.ts";
import type { CellsRow, Row } from "../read/row.ts";
import {
  actionOfFileName,
  FILE_NAME_PATTERNS,
  fieldsOf,
  missingFields,
  type NamedColumns,
  publicName,
  readColumns,
} from "./columns.ts";
import { type Cell, cellsOfObject, type ReadKey } from "./flat-cells.ts";
import { guessDraft, ID_FIELDS, type Ids, isItem, mapItem } from "./items.ts";
import type { Mapped, Mapper, Understanding } from "./mapper.ts";
import { MappingError, quote } from "./mapping-error.ts";
import type { MappingRule } from "./rules.ts";
import type { NamedSource } from "./source.ts";
import { unguard } from "./table-columns.ts";

/** What holds for all rows of a file. */
export interface NamedSettings {
  readonly fileName: string;
  /** Undefined for rows of JSON. */
  readonly header: readonly string[] | undefined;
  readonly action: ActionName | undefined;
  readonly clearWord: string;
  readonly relaxedRules: ReadonlySet<string>;
  readonly source: NamedSource | undefined;
}

/** Throws `MappingError` for parts of a source that need `actions`. */
export function refuseRules({ name, config }: NamedSource): void {
  if (config.actions !== undefined) return;
  for (const key of ["fields", "each", "expect", "skip", "columns", "lookup", "optional", "key", "fillDown"] as const)
    if (config[key] !== undefined)
      throw new MappingError(
        ["sources", name, key],
        "needs actions",
        "List what each row gives, such as actions: [soldTicket: {}].",
      );
}

interface UsedColumn {
  readonly index: number;
  readonly field: FieldName;
  readonly read: ReadField;
}

/** One action's reading of a header. */
interface ActionColumns {
  readonly action: ActionName;
  readonly used: readonly UsedColumn[];
  /** Columns of fields that the action does not take. */
  readonly refused: readonly { readonly index: number; readonly field: FieldName }[];
}

/** A header, or the keys of some JSON rows, compiled. */
interface Reading {
  readonly names: readonly string[];
  readonly columns: NamedColumns;
  /** Of all rows; undefined where each row names its action, or nothing does. */
  readonly fixed: ActionColumns | undefined;
  readonly byAction: ReadonlyMap<ActionName, ActionColumns>;
  /** Of a JSON row: its values that are read. */
  readonly keys: readonly ReadKey[];
}

function compile(names: readonly string[], settings: NamedSettings): Reading {
  const { clearWord, relaxedRules, source } = settings;
  const columns = readColumns(names);
  const written = { clearWord, zone: source?.config.zone };
  const all = [...columns.fields].map(([field, index]) => ({ field, index }));
  const columnsOf = (action: ActionName): ActionColumns => {
    const takes = fieldsOf(action, relaxedRules);
    return {
      action,
      used: all
        .filter(({ field }) => takes.has(field))
        .map((column) => ({ ...column, read: compileField(action, column.field, written) })),
      refused: all.filter(({ field }) => !takes.has(field)),
    };
  };
  const fixed = fixedAction(columns, settings);
  const actions = fixed === undefined || columns.action !== undefined ? ACTION_NAMES : [fixed];
  const byAction = new Map(actions.map((action) => [action, columnsOf(action)]));
  const ofAll = fixed === undefined ? undefined : byAction.get(fixed);
  const taken = new Set(ofAll?.used.map(({ field }) => field));
  const isRead = (field: FieldName): boolean =>
    isReference(field) || (ofAll === undefined ? columns.action !== undefined : taken.has(field));
  const keys: ReadKey[] = all.filter(({ field }) => isRead(field));
  if (columns.action !== undefined) keys.push({ index: columns.action, field: "action" });
  return { names, columns, fixed: ofAll, byAction, keys };
}

const isReference = (field: FieldName): boolean => ID_FIELDS.some((id) => id === field);

const declaredAction = ({ action, source }: NamedSettings): ActionName | undefined => action ?? source?.config.action;

/** The one action of all rows, unless a column or a key names one. */
function fixedAction(columns: Pick<NamedColumns, "action">, settings: NamedSettings): ActionName | undefined {
  const declared = declaredAction(settings);
  return declared ?? (columns.action === undefined ? actionOfFileName(settings.fileName) : undefined);
}

/** Throws `Failure("usage")` for a table whose header, file name and flags name no action, or not all columns. */
function refuseHeader({ columns, fixed, names }: Reading, settings: NamedSettings): void {
  const fileName = settings.fileName === "" ? "the input" : settings.fileName;
  if (columns.conflict !== undefined) throw conflictFailure(fileName, columns.conflict);
  if (fixed === undefined && columns.action === undefined) throw unknownActionFailure(fileName);
  if (fixed !== undefined) {
    const missing = missingFields(fixed.action, (field) => columns.fields.has(field));
    if (missing.length > 0) throw missingColumnsFailure(fileName, fixed.action, missing, names);
  } else if (columns.fields.size === 0) {
    throw new Failure("usage", `${fileName} has no column named like a field.`, {
      hint: "Name the columns like the fields (eventId, ticketId, ...), or describe the file under sources in the config.",
    });
  }
}

/** How many different sets of keys of one file are kept compiled; beyond this many, all are dropped. */
const MOST_READINGS = 1000;

export class NamedMapper implements Mapper {
  readonly wanted: readonly boolean[] | undefined;
  readonly #settings: NamedSettings;
  readonly #strips: boolean;
  /** Of JSON rows, by their keys. */
  readonly #readings = new Map<string, Reading>();
  /** Of the header, or of the row before. */
  #reading: Reading | undefined;
  #understanding: Understanding | undefined;
  #hasItems = false;

  constructor(settings: NamedSettings) {
    const { header, source } = settings;
    this.#settings = settings;
    this.#strips = source?.config.csv?.guards === "strip";
    if (header === undefined) return;
    this.#reading = compile(header, settings);
    refuseHeader(this.#reading, settings);
    this.#understanding = understandingOf(this.#reading, settings);
    const { fields, action } = this.#reading.columns;
    const wanted = new Set([...fields.values(), action]);
    this.wanted = header.map((_name, index) => wanted.has(index));
  }

  get understanding(): Understanding {
    const flat = this.#understanding;
    if (flat === undefined) {
      const fixed = fixedAction({ action: undefined }, this.#settings);
      if (this.#hasItems || fixed === undefined) return ITEMS_UNDERSTOOD;
      return { ...ITEMS_UNDERSTOOD, how: howNamed(this.#settings, fixed), action: fixed };
    }
    if (!this.#hasItems) return flat;
    return { ...flat, notes: [...flat.notes, "some lines are {action, data}, taken as they are"] };
  }

  map(row: Row): Mapped {
    if (row.kind === "malformed") return { kind: "invalid", findings: row.findings, attempted: [] };
    if (row.kind === "object") return this.#mapObject(row);
    if (this.wanted === undefined || this.#reading === undefined) throw new Error("a row of JSON was expected");
    const cells = this.#strips ? row.cells.map(unguard) : row.cells;
    return mapCells(this.#reading, cells, [], row);
  }

  #mapObject(row: Extract<Row, { kind: "object" }>): Mapped {
    if (this.wanted !== undefined) throw new Error("a row of cells was expected");
    const keys = Object.keys(row.value);
    if (isItem(row.value, keys)) {
      this.#hasItems = true;
      return mapItem(row.value);
    }
    const reading = this.#readingOf(keys);
    const { cells, findings, loose } = cellsOfObject(row, reading.names, reading.keys);
    const { conflict } = reading.columns;
    if (conflict !== undefined) findings.push(conflictFinding(conflict));
    const mapped = mapCells(reading, cells, findings, undefined);
    if (loose.length === 0 || mapped.kind === "skipped" || (mapped.kind === "invalid" && mapped.isGuess)) return mapped;
    const [draft] = mapped.kind === "actions" ? mapped.drafts : mapped.attempted;
    const likely = loose.filter(({ field }) => ((draft?.given ?? 0) & setOf([field])) !== 0);
    return likely.length === 0 ? mapped : { ...mapped, likely: likely.map(({ finding }) => finding) };
  }

  #readingOf(keys: readonly string[]): Reading {
    if (this.#reading !== undefined && areSame(this.#reading.names, keys)) return this.#reading;
    const signature = keys.join("\u0000");
    let reading = this.#readings.get(signature);
    if (reading === undefined) {
      reading = compile(keys, this.#settings);
      this.#understanding = merged(this.#understanding, understandingOf(reading, this.#settings));
      if (this.#readings.size >= MOST_READINGS) this.#readings.clear();
      this.#readings.set(signature, reading);
    }
    this.#reading = reading;
    return reading;
  }
}

function areSame(one: readonly string[], other: readonly string[]): boolean {
  if (one.length !== other.length) return false;
  for (let at = 0; at < one.length; at += 1) if (one[at] !== other[at]) return false;
  return true;
}

/** How the action of a file's rows is known. */
function howNamed({ action, source }: NamedSettings, fixed: ActionName | undefined): string {
  if (action !== undefined) return "--action";
  if (source?.config.action !== undefined) return `source ${source.name}`;
  return fixed === undefined ? "by column action" : "by file name";
}

const ITEMS_UNDERSTOOD: Understanding = {
  how: "{action, data} items",
  columns: 0,
  used: [],
  unused: [],
  publicFields: [],
  notes: [],
};

function understandingOf(reading: Reading, settings: NamedSettings): Understanding {
  const { names, columns, fixed, byAction } = reading;
  const { source } = settings;
  const taken = new Set<FieldName>();
  for (const { used } of fixed === undefined ? byAction.values() : [fixed])
    for (const { field } of used) taken.add(field);
  const usedIndexes = new Set<number>();
  if (fixed === undefined && columns.action !== undefined) usedIndexes.add(columns.action);
  for (const [field, index] of columns.fields) if (taken.has(field)) usedIndexes.add(index);
  const notes = [...columns.notes];
  if (source?.config.actions !== undefined)
    notes.push(`the rules of source ${source.name} are not used, because of --action`);
  for (const { field, index } of fixed?.refused ?? [])
    notes.push(`${quote(names[index] ?? field)} is not used: ${fixed?.action} takes no ${field}`);
  if (fixed !== undefined)
    for (const field of actionSpec(fixed.action).required)
      if (relaxingRule(fixed.action, field) !== undefined && !taken.has(field))
        notes.push(`no column ${field}, which the service's table requires for ${fixed.action}`);
  return {
    how: howNamed(settings, fixed?.action),
    ...(fixed && { action: fixed.action }),
    columns: settings.header?.length ?? 0,
    used: names.filter((_name, index) => usedIndexes.has(index)),
    unused: names.filter((_name, index) => !usedIndexes.has(index)),
    publicFields: [...columns.fields.keys()]
      .filter((field) => taken.has(field))
      .flatMap((field) => publicName(field) ?? []),
    notes,
  };
}

/** The most keys that are named. */
const MOST_NAMES = 200;

function merged(before: Understanding | undefined, next: Understanding): Understanding {
  if (before === undefined) return next;
  const both = (a: readonly string[], b: readonly string[]) => {
    const known = new Set(a);
    return b.every((name) => known.has(name)) ? a : [...new Set([...a, ...b])].slice(0, MOST_NAMES);
  };
  return {
    ...before,
    used: both(before.used, next.used),
    unused: both(before.unused, next.unused),
    publicFields: both(before.publicFields, next.publicFields),
    notes: both(before.notes, next.notes),
  };
}

const EMPTY_ROW: Mapped = { kind: "skipped", reason: "empty row" };

/** @param row of a table; in JSON a row is empty that has no keys. */
function mapCells(
  reading: Reading,
  cells: readonly Cell[],
  findings: Finding[],
  row: Pick<CellsRow, "isBlank"> | undefined,
): Mapped {
  const { columns, fixed } = reading;
  const action = actionOfRow(reading, cells, findings);
  if (action === undefined) {
    if (row === undefined ? reading.names.length === 0 : row.isBlank) return EMPTY_ROW;
    if (findings.length === 0) findings.push(NO_ACTION);
    return { kind: "invalid", findings, attempted: guessFromCells(columns, cells), isGuess: true };
  }
  const draft = new Draft(action.action);
  let isEmpty = true;
  for (const { index, field, read } of action.used) {
    const cell = cells[index];
    if (cell === undefined || cell === "") continue;
    isEmpty = false;
    if (typeof cell === "string") read(cell, draft, findings);
    // Its attributes are checked by the next step, as those of an {action, data} line.
    else draft.putValue(field, cell);
  }
  if (isEmpty && findings.length === 0 && row?.isBlank === true) return EMPTY_ROW;
  if (fixed === undefined) refuseCells(action, cells, findings);
  const drafts = [draft];
  if (findings.length > 0) return { kind: "invalid", findings, attempted: drafts };
  const event = columns.fields.get("eventId");
  const eventId = event === undefined ? undefined : cells[event];
  return typeof eventId !== "string" || eventId === ""
    ? { kind: "actions", drafts }
    : { kind: "actions", drafts, eventId };
}

/** What a row holds that the action which it names does not take. */
function refuseCells({ action, refused }: ActionColumns, cells: readonly Cell[], findings: Finding[]): void {
  for (const { index, field } of refused) {
    const cell = cells[index];
    if (cell === undefined || cell === "") continue;
    findings.push({
      rule: "field-not-accepted",
      field,
      value: typeof cell === "string" ? cell : stringifyJson(cell),
      message: `${action} takes no ${field}.`,
      hint: "Leave the cell empty.",
    });
  }
}

/** The columns to read: those of the fixed action, else those of the action that the row names. */
function actionOfRow(
  { columns, fixed, byAction }: Reading,
  cells: readonly Cell[],
  findings: Finding[],
): ActionColumns | undefined {
  if (columns.action === undefined) return fixed;
  const written = String(cells[columns.action] ?? "");
  const named = isActionName(written) ? byAction.get(written) : undefined;
  if (fixed !== undefined) {
    if (named !== undefined && named !== fixed)
      findings.push({
        rule: "action-conflict" satisfies MappingRule,
        field: "action",
        value: written,
        message: `The row names ${named.action}, but all rows of the file are declared ${fixed.action}.`,
        hint: "Leave --action (or the source's action) out: the rows name their actions.",
      });
    return fixed;
  }
  if (named !== undefined) return named;
  findings.push(
    written === ""
      ? {
          rule: "action-unknown",
          field: "action",
          message: "The row names no action.",
          hint: `Actions are ${ACTION_NAMES.join(", ")}.`,
        }
      : {
          rule: "action-unknown",
          field: "action",
          value: written,
          message: "action is not one of the service's actions.",
          hint: `${actionHint(written)} If the column means something else, give --action NAME.`,
        },
  );
  return undefined;
}

/** What the row may be by its ids. */
function guessFromCells({ fields }: NamedColumns, cells: readonly Cell[]): readonly Draft[] {
  const ids: Ids = {};
  for (const field of ID_FIELDS) {
    const index = fields.get(field);
    const text = index === undefined ? undefined : cells[index];
    if (typeof text === "string" && text !== "") ids[field] = text;
  }
  return guessDraft(ids);
}

const SOURCES_HINT = "or describe the file under sources in the config";

function unknownActionFailure(fileName: string): Failure {
  return new Failure("usage", `Can't tell which action the rows of ${fileName} are.`, {
    hint: `Give --action NAME, or begin the file name like one of ${FILE_NAME_PATTERNS}, or add a column action, ${SOURCES_HINT}.`,
  });
}

function conflictFailure(fileName: string, { field, headers }: NonNullable<NamedColumns["conflict"]>): Failure {
  return new Failure("usage", `${fileName} has two columns for ${field}: ${headers.map(quote).join(" and ")}.`, {
    hint: `Remove or rename one of them, ${SOURCES_HINT}.`,
  });
}

function missingColumnsFailure(
  fileName: string,
  action: ActionName,
  missing: readonly string[],
  header: readonly string[],
): Failure {
  const near = missing.flatMap((field) => {
    const meant = nearest(field, header);
    return meant === undefined ? [] : [`${quote(meant)} is near ${field}`];
  });
  const rename = near.length > 0 ? `${near.join("; ")}. ` : "";
  return new Failure("usage", `${fileName} has no column for ${missing.join(", ")}, which ${action} needs.`, {
    hint: `${rename}Its columns are ${header.map(quote).join(", ")}. Rename or add the column, ${SOURCES_HINT}.`,
  });
}

const NO_ACTION: Finding = {
  rule: "action-unknown",
  message: "Nothing says which action the row is.",
  hint: `Give --action NAME, or begin the file name like one of ${FILE_NAME_PATTERNS}, or add a key action to the row.`,
};

function conflictFinding({ field, headers }: NonNullable<NamedColumns["conflict"]>): Finding {
  return {
    rule: "column-ambiguous" satisfies MappingRule,
    field,
    message: `${headers.map(quote).join(" and ")} both mean ${field}.`,
    hint: "Leave one out.",
  };
}

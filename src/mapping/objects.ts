/** JSON rows: `{action, data}` items, taken as they are, and flat rows, whose keys are columns named like fields. */

import { type Action, type ActionData, type ActionName, isActionName } from "../actions/actions.ts";
import { ExactNumber, isJsonObject } from "../actions/exact-number.ts";
import { type FieldName, type FieldValue, fieldSpec, isFieldName } from "../actions/fields.ts";
import { typeName } from "../actions/formats.ts";
import { stringifyJson } from "../actions/json.ts";
import type { Finding } from "../actions/problem.ts";
import { OWN_COLUMNS, REASON_COLUMN, ROW_COLUMN } from "../actions/rejects-columns.ts";
import { validateItem } from "../actions/validate.ts";
import { LooseNumber, withLooseNumbers } from "../map/exact-numbers.ts";
import type { Understanding } from "../map/mapper.ts";
import type { MappingRule } from "../map/rules.ts";
import type { Row } from "../read/row.ts";
import { actionOfFileName, FILE_NAME_PATTERNS, quote, readColumns } from "./columns.ts";
import { looseNumber } from "./id-cells.ts";
import type { Mapped, Mapper } from "./mapper.ts";
import {
  actionOfRow,
  type CompiledColumns,
  compileColumns,
  guessAction,
  guessFromCells,
  howNamed,
  ID_FIELDS,
  type Ids,
  mappedOf,
  type NamedSettings,
  understandingOf,
} from "./named.ts";

type ObjectRow = Extract<Row, { kind: "object" }>;

/** How many different sets of keys of one file are kept compiled; beyond this many, all are dropped. */
const MOST_KEY_SETS = 1000;

/** A mapper for JSON rows. Its understanding grows with the rows, whose keys may differ from one to the next. */
export function createObjectMapper(settings: NamedSettings): Mapper {
  const fixed = fixedAction(settings);
  const how = howNamed(settings, fixed === undefined);
  const compiledByKeys = new Map<string, { readonly keys: readonly string[]; readonly compiled: CompiledColumns }>();
  let items = 0;
  let flat: Understanding | undefined;

  const compiledFor = (value: ObjectRow["value"]) => {
    const keys = Object.keys(value);
    const signature = keys.join("\u0000");
    let entry = compiledByKeys.get(signature);
    if (entry === undefined) {
      if (compiledByKeys.size >= MOST_KEY_SETS) compiledByKeys.clear();
      const { isNamed, compiled } = compileKeys(keys, settings);
      entry = { keys, compiled };
      compiledByKeys.set(signature, entry);
      flat = merge(flat, understandingOf(isNamed ? "by column action" : how, keys, compiled, settings.source));
    }
    return entry;
  };

  return {
    get understanding(): Understanding {
      if (flat === undefined && (items > 0 || fixed === undefined)) return ITEMS_UNDERSTOOD;
      if (flat === undefined) return { ...ITEMS_UNDERSTOOD, how, ...(fixed && { action: fixed }) };
      if (items === 0) return flat;
      return { ...flat, notes: [...flat.notes, "some lines are {action, data}, taken as they are"] };
    },
    map(row) {
      if (row.kind === "malformed") return { kind: "invalid", findings: row.findings, attempted: [] };
      if (row.kind === "cells") throw new Error("a row of JSON was expected");
      if (settings.isPayload === true || isItem(row.value)) {
        items += 1;
        return mapItem(row.value);
      }
      const { keys, compiled } = compiledFor(row.value);
      return mapFlat(keys, compiled, row);
    },
  };
}

const namedAction = ({ action, source }: NamedSettings): ActionName | undefined => action ?? source?.config.action;

/** The one action of all flat rows that don't name another. */
const fixedAction = (settings: NamedSettings): ActionName | undefined =>
  namedAction(settings) ?? actionOfFileName(settings.fileName);

function compileKeys(keys: readonly string[], settings: NamedSettings) {
  const columns = readColumns(keys);
  const isNamed = namedAction(settings) === undefined && columns.action !== undefined;
  return { isNamed, compiled: compileColumns(columns, isNamed ? undefined : fixedAction(settings), settings) };
}

/** The most keys that are named. */
const MOST_NAMES = 200;

function merge(before: Understanding | undefined, next: Understanding): Understanding {
  if (before === undefined) return { ...next, columns: 0 };
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

const ITEMS_UNDERSTOOD: Understanding = {
  how: "{action, data} items",
  columns: 0,
  used: [],
  unused: [],
  publicFields: [],
  notes: [],
};

const ITEM_KEYS: ReadonlySet<string> = new Set(["action", "data", ...OWN_COLUMNS]);

/** Whether it is an item of a request body and nothing else. Such a row is taken as it is, even among the rows of a source. */
export function isOnlyItem(value: ObjectRow["value"]): boolean {
  return isItem(value) && isJsonObject(value.data) && Object.keys(value).every((key) => ITEM_KEYS.has(key));
}

/** An item of a request body, whole or damaged, as opposed to a flat row with a column `action`. */
function isItem(value: ObjectRow["value"]): boolean {
  if (isItemInOtherLetters(value)) return true;
  if (!Object.hasOwn(value, "action") && !Object.hasOwn(value, "data")) return false;
  const data = Object.hasOwn(value, "data") ? value.data : undefined;
  if (Object.hasOwn(value, "action") && isJsonObject(data)) return true;
  return Object.keys(value).every((key) => ITEM_KEYS.has(key));
}

/** `{"Action": …, "Data": {…}}`: no flat row has an object called data, so it is an item with misspelt keys. */
function isItemInOtherLetters(value: ObjectRow["value"]): boolean {
  const keys = Object.keys(value);
  const find = (name: string): string | undefined => keys.find((key) => key.trim().toLowerCase() === name);
  const [action, data] = [find("action"), find("data")];
  return (
    action !== undefined &&
    data !== undefined &&
    isJsonObject(value[data]) &&
    keys.every((key) => ITEM_KEYS.has(key) || key === action || key === data)
  );
}

export function mapItem(value: ObjectRow["value"]): Mapped {
  const { [REASON_COLUMN]: _reason, [ROW_COLUMN]: _row, ...item } = value;
  const { action, data } = item;
  const isObject = isJsonObject(data);
  const isWhole = typeof action === "string" && isActionName(action) && isObject && Object.keys(item).length === 2;
  if (!isWhole) {
    return {
      kind: "invalid",
      findings: validateItem(item),
      attempted: isObject ? guessAction(idsOf(data)) : [],
      isGuess: true,
    };
  }
  // Its fields are checked by the next step, like those of every action.
  const actions: readonly Action[] = [{ action, data: data as ActionData }];
  const { eventId } = data;
  return typeof eventId === "string" ? { kind: "actions", actions, eventId } : { kind: "actions", actions };
}

function idsOf(data: object): Ids {
  const ids: Ids = {};
  for (const field of ID_FIELDS) {
    const value: unknown = Object.hasOwn(data, field) ? Reflect.get(data, field) : undefined;
    if (typeof value === "string") ids[field] = value;
  }
  return ids;
}

const isId = (field: FieldName): boolean => ID_FIELDS.some((id) => id === field);

/** Whether a column is a field that names something, such as userId. */
const isIdText = (field: FieldName | "action"): field is FieldName =>
  isFieldName(field) && (fieldSpec(field).kind === "id" || fieldSpec(field).kind === "nftId");

function mapFlat(keys: readonly string[], compiled: CompiledColumns, row: ObjectRow): Mapped {
  const { columns } = compiled;
  const findings: Finding[] = [];
  const loose: Finding[] = [];
  let exact: ObjectRow["value"] | undefined;
  const cells: string[] = new Array(keys.length).fill("");
  const lists = new Map<number, readonly unknown[]>();
  const read = (index: number, field: FieldName | "action"): void => {
    const key = keys[index] ?? "";
    const value = row.value[key];
    if (value === null || value === undefined) return;
    if (typeof value === "string") cells[index] = value;
    else if (typeof value === "number" || typeof value === "bigint" || value instanceof ExactNumber) {
      exact ??= withLooseNumbers(row);
      cells[index] = String(exact[key]);
      if (exact[key] instanceof LooseNumber && isIdText(field)) loose.push(looseNumber(field, cells[index], field));
    } else if (field === "metadataAttributes" && Array.isArray(value)) lists.set(index, value);
    else
      findings.push({
        rule: "field-type",
        field,
        value: JSON.stringify(typeof value === "boolean" ? value : typeName(value)),
        message: `${field} is ${typeName(value)}, which a flat row can't hold.`,
        hint: "Give it as text or a number, or write the line as {action, data}.",
      });
  };
  for (const [field, index] of columns.fields) if (isId(field)) read(index, field);
  if (columns.action !== undefined) read(columns.action, "action");
  if (columns.conflict !== undefined) findings.push(conflictFinding(columns.conflict));

  const reading =
    columns.action === undefined && compiled.fixed === undefined ? undefined : actionOfRow(compiled, cells, findings);
  if (reading === undefined) {
    if (keys.length === 0) return { kind: "skipped", reason: "empty row" };
    if (findings.length === 0) findings.push(NO_ACTION);
    return { kind: "invalid", findings, attempted: guessFromCells(columns, cells), isGuess: true };
  }
  const data: Record<string, FieldValue> = {};
  for (const { index, field, coerce } of reading.used) {
    if (!isId(field)) read(index, field);
    const list = lists.get(index);
    // Its attributes are checked by the next step, as those of an {action, data} line.
    if (list !== undefined) data[field] = list as FieldValue<"metadataAttributes">;
    const text = cells[index]?.trim();
    if (text === undefined || text === "") continue;
    const value = coerce(text, findings);
    if (value !== undefined) data[field] = value;
  }
  if (compiled.fixed === undefined) {
    for (const { index, field } of reading.refused) {
      read(index, field);
      if (lists.has(index)) cells[index] = stringifyJson(lists.get(index));
    }
  }
  const mapped = mappedOf(compiled, reading, data, cells, findings);
  const likely = loose.filter(({ field = "" }) => Object.hasOwn(data, field));
  return mapped.kind === "skipped" || likely.length === 0 ? mapped : { ...mapped, likely };
}

const NO_ACTION: Finding = {
  rule: "action-unknown",
  message: "Nothing says which action the row is.",
  hint: `Give --action NAME, or begin the file name like one of ${FILE_NAME_PATTERNS}, or add a key action to the row.`,
};

function conflictFinding({ field, headers }: NonNullable<CompiledColumns["columns"]["conflict"]>): Finding {
  return {
    rule: "column-ambiguous" satisfies MappingRule,
    field,
    message: `${headers.map(quote).join(" and ")} both mean ${field}.`,
    hint: "Leave one out.",
  };
}

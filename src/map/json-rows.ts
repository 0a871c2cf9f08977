/** JSON rows: `{action, data}` items, and flat rows, whose keys are columns named like fields. */

import type { ActionName } from "../actions/actions.ts";
import { Draft } from "../actions/draft.ts";
import { ExactNumber, typeName } from "../actions/exact-number.ts";
import { type FieldName, fieldSpec, setOf } from "../actions/fields.ts";
import { stringifyJson } from "../actions/json.ts";
import type { Finding } from "../actions/problem.ts";
import type { Row } from "../read/row.ts";
import { actionOfFileName, FILE_NAME_PATTERNS, readColumns } from "./columns.ts";
import { isLoose, looseNumber, writtenNumber } from "./exact-numbers.ts";
import { ID_FIELDS, isItem, mapItem, mayBeItem } from "./items.ts";
import type { Mapped, Mapper, Understanding } from "./mapper.ts";
import { quote } from "./mapping-error.ts";
import {
  actionOfRow,
  type CompiledColumns,
  compileColumns,
  guessFromCells,
  howNamed,
  mappedOf,
  type NamedSettings,
  understandingOf,
} from "./named.ts";
import type { MappingRule } from "./rules.ts";

type ObjectRow = Extract<Row, { kind: "object" }>;

/** How many different sets of keys of one file are kept compiled; beyond this many, all are dropped. */
const MOST_KEY_SETS = 1000;

/** Rows of the same keys. */
interface KeySet {
  readonly keys: readonly string[];
  readonly mayBeItem: boolean;
  /** Once one of them is flat. */
  compiled: CompiledColumns | undefined;
}

/** A mapper for JSON rows. Its understanding grows with the rows, whose keys may differ from one to the next. */
export function createJsonMapper(settings: NamedSettings): Mapper {
  const fixed = fixedAction(settings);
  const how = howNamed(settings, fixed === undefined);
  const sets = new Map<string, KeySet>();
  let last: KeySet | undefined;
  let hasItems = false;
  let flat: Understanding | undefined;

  const setWith = (keys: readonly string[]): KeySet => {
    if (last !== undefined && areSame(last.keys, keys)) return last;
    const signature = keys.join("\u0000");
    last = sets.get(signature);
    if (last !== undefined) return last;
    if (sets.size >= MOST_KEY_SETS) sets.clear();
    last = { keys, mayBeItem: mayBeItem(keys), compiled: undefined };
    sets.set(signature, last);
    return last;
  };
  const compile = (keys: readonly string[]): CompiledColumns => {
    const { isNamed, compiled } = compileKeys(keys, settings);
    flat = merge(flat, understandingOf(isNamed ? "by column action" : how, keys, compiled, settings.source));
    return compiled;
  };

  return {
    get understanding(): Understanding {
      if (flat === undefined && (hasItems || fixed === undefined)) return ITEMS_UNDERSTOOD;
      if (flat === undefined) return { ...ITEMS_UNDERSTOOD, how, ...(fixed && { action: fixed }) };
      if (!hasItems) return flat;
      return { ...flat, notes: [...flat.notes, "some lines are {action, data}, taken as they are"] };
    },
    map(row) {
      if (row.kind === "malformed") return { kind: "invalid", findings: row.findings, attempted: [] };
      if (row.kind === "cells") throw new Error("a row of JSON was expected");
      const set = setWith(Object.keys(row.value));
      if (set.mayBeItem && isItem(row.value, set.keys)) {
        hasItems = true;
        return mapItem(row.value);
      }
      set.compiled ??= compile(set.keys);
      return mapFlat(set.keys, set.compiled, row);
    },
  };
}

function areSame(one: readonly string[], other: readonly string[]): boolean {
  if (one.length !== other.length) return false;
  for (let at = 0; at < one.length; at += 1) if (one[at] !== other[at]) return false;
  return true;
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

const isReference = (field: FieldName): boolean => ID_FIELDS.some((id) => id === field);

/** Whether a column is a field that names something, such as userId. */
const isId = (field: FieldName): boolean => fieldSpec(field).kind === "id" || fieldSpec(field).kind === "nftId";

function mapFlat(keys: readonly string[], compiled: CompiledColumns, row: ObjectRow): Mapped {
  const { columns, fixed } = compiled;
  const cells = new FlatCells(keys, row);
  const { findings } = cells;
  for (const [field, index] of columns.fields) if (isReference(field)) cells.read(index, field);
  if (columns.action !== undefined) cells.read(columns.action, "action");
  if (columns.conflict !== undefined) findings.push(conflictFinding(columns.conflict));

  const isTold = columns.action !== undefined || fixed !== undefined;
  const reading = isTold ? actionOfRow(compiled, cells.texts, findings) : undefined;
  if (reading === undefined) {
    if (keys.length === 0) return { kind: "skipped", reason: "empty row" };
    if (findings.length === 0) findings.push(NO_ACTION);
    return { kind: "invalid", findings, attempted: guessFromCells(columns, cells.texts), isGuess: true };
  }
  const draft = new Draft(reading.action);
  for (const { index, field, read } of reading.used) {
    const list = isReference(field) ? undefined : cells.read(index, field);
    const text = cells.texts[index];
    // Its attributes are checked by the next step, as those of an {action, data} line.
    if (list !== undefined) draft.putValue(field, list);
    else if (text !== undefined && text !== "") read(text, draft, findings);
  }
  if (fixed === undefined)
    for (const { index, field } of reading.refused) {
      const list = isReference(field) ? undefined : cells.read(index, field);
      if (list !== undefined) cells.texts[index] = stringifyJson(list);
    }
  const mapped = mappedOf(compiled, reading, draft, cells.texts, findings);
  const likely = cells.loose.filter(({ field }) => (draft.given & setOf([field])) !== 0).map(({ finding }) => finding);
  return mapped.kind === "skipped" || likely.length === 0 ? mapped : { ...mapped, likely };
}

/** The values of a flat row as the texts that a table would have. */
class FlatCells {
  /** By the place of the key; '' for what is empty or not read yet. */
  readonly texts: string[];
  readonly findings: Finding[] = [];
  /** What to report of ids that are numbers, should their field be used. */
  readonly loose: { readonly field: FieldName; readonly finding: Finding }[] = [];
  readonly #keys: readonly string[];
  readonly #row: ObjectRow;

  constructor(keys: readonly string[], row: ObjectRow) {
    this.texts = new Array(keys.length).fill("");
    this.#keys = keys;
    this.#row = row;
  }

  /** Reads a value. A list of attributes, which is no text, is returned. */
  read(index: number, field: FieldName | "action"): readonly unknown[] | undefined {
    const key = this.#keys[index] ?? "";
    const value = this.#row.value[key];
    if (value === null || value === undefined) return undefined;
    if (typeof value === "string") this.texts[index] = value.trim();
    else if (typeof value === "number" || typeof value === "bigint" || value instanceof ExactNumber)
      this.texts[index] = this.#number(key, field);
    else if (field === "metadataAttributes" && Array.isArray(value)) return value;
    else
      this.findings.push({
        rule: "field-type",
        field,
        ...(typeof value === "boolean" && { value: String(value) }),
        message: `${field} is ${typeName(value)}, which a flat row can't hold.`,
        hint: `Give it as text or a number, or say in a source which part of it is meant, such as ${field}: "{${key}.${Object.keys(Object(value))[0] ?? "id"}}".`,
      });
    return undefined;
  }

  /** A number as it is written. */
  #number(key: string, field: FieldName | "action"): string {
    const written = writtenNumber(this.#row, key);
    if (field !== "action" && isId(field) && isLoose(written))
      this.loose.push({ field, finding: looseNumber(field, written, field) });
    return written;
  }
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

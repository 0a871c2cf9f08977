/** Rows whose columns, or keys, are named like fields; and `{action, data}` items. */

import { ACTION_NAMES, isActionName } from "../actions/actions.ts";
import { Draft } from "../actions/draft.ts";
import { ExactNumber, typeName } from "../actions/exact-number.ts";
import { type FieldName, fieldSpec } from "../actions/fields.ts";
import { stringifyJson } from "../actions/json.ts";
import type { Finding } from "../actions/problem.ts";
import { actionHint } from "../actions/validate.ts";
import type { Row } from "../read/row.ts";
import { FILE_NAME_PATTERNS } from "./columns.ts";
import { looseNumber, withExactNumbers } from "./exact-numbers.ts";
import { guessDraft, isItem, mapItem } from "./items.ts";
import type { Mapped, Mapper, Understanding } from "./mapper.ts";
import { quote } from "./mapping-error.ts";
import {
  type ActionColumns,
  actionOfAll,
  compileReading,
  type NamedSettings,
  type Reading,
  refuseHeader,
  understandingOf,
} from "./named-columns.ts";
import type { MappingRule } from "./rules.ts";
import { unguard } from "./table-columns.ts";
import { refuseTotals } from "./totals.ts";

/** How many different sets of keys of one file are kept compiled; beyond this many, all are dropped. */
const MOST_READINGS = 1000;
/** The most keys of JSON rows, and notes about them, that are named. */
const MOST_NAMED = 200;

const ITEMS_UNDERSTOOD: Understanding = {
  how: "{action, data} items",
  columns: 0,
  used: [],
  unused: [],
  publicFields: [],
  notes: [],
};

export class NamedMapper implements Mapper {
  readonly wanted: readonly boolean[] | undefined;
  readonly #settings: NamedSettings;
  readonly #strips: boolean;
  /** Of JSON rows, by their keys, which may differ from one to the next. */
  readonly #readings = new Map<string, Reading>();
  /** Of the header, or of the row before. */
  #reading: Reading | undefined;
  /** Of the header, or of all flat rows so far. */
  readonly #names: Set<string>;
  readonly #notes = new Set<string>();
  #hasItems = false;

  constructor(settings: NamedSettings) {
    const { header, source } = settings;
    this.#settings = settings;
    this.#strips = source?.config.csv?.guards === "strip";
    this.#names = new Set(header);
    if (header === undefined) return;
    this.#reading = compileReading(header, settings);
    refuseHeader(this.#reading, settings);
    const { fields, action } = this.#reading.columns;
    const wanted = new Set([...fields.values(), action, 0]); // the first may call the row a sum
    this.wanted = header.map((_name, index) => wanted.has(index));
  }

  get understanding(): Understanding {
    const settings = this.#settings;
    if (this.#reading === undefined) {
      const { action, how } = actionOfAll(settings, false);
      return this.#hasItems || action === undefined ? ITEMS_UNDERSTOOD : { ...ITEMS_UNDERSTOOD, how, action };
    }
    const names = settings.header ?? [...this.#names];
    const flat = understandingOf(compileReading(names, settings), settings);
    if (settings.header !== undefined) return flat;
    const ofItems = this.#hasItems ? ["some lines are {action, data}, taken as they are"] : [];
    return { ...flat, notes: [...this.#notes, ...ofItems] };
  }

  /** Nothing: each row says all by itself. */
  beside(): readonly string[] {
    return [];
  }

  map(row: Row): Mapped {
    return refuseTotals(row, this.#map(row));
  }

  #map(row: Row): Mapped {
    if (row.kind === "malformed") return { kind: "invalid", findings: row.findings, attempted: [] };
    if (row.kind === "object") return this.#mapObject(row);
    if (this.wanted === undefined || this.#reading === undefined) throw new Error("a row of JSON was expected");
    const cells = this.#strips ? row.cells.map(unguard) : row.cells;
    return mapCells(this.#reading, cells, [], () => row.isBlank);
  }

  #mapObject(row: ObjectRow): Mapped {
    if (this.wanted !== undefined) throw new Error("a row of cells was expected");
    const keys = Object.keys(row.value);
    if (isItem(row.value, keys)) {
      this.#hasItems = true;
      return mapItem(row.value);
    }
    const reading = this.#readingOf(keys);
    const findings: Finding[] = [];
    const cells = cellsOfObject(row, reading, findings);
    return mapCells(reading, cells, findings, () => keys.length === 0);
  }

  #readingOf(keys: readonly string[]): Reading {
    if (this.#reading !== undefined && areSame(this.#reading.names, keys)) return this.#reading;
    const signature = keys.join("\u0000");
    let reading = this.#readings.get(signature);
    if (reading === undefined) {
      reading = compileReading(keys, this.#settings);
      if (this.#readings.size >= MOST_READINGS) this.#readings.clear();
      this.#readings.set(signature, reading);
      for (const key of keys) if (this.#names.size < MOST_NAMED) this.#names.add(key);
      const { notes } = understandingOf(reading, this.#settings);
      for (const note of notes) if (this.#notes.size < MOST_NAMED) this.#notes.add(note);
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

type ObjectRow = Extract<Row, { kind: "object" }>;
/** What a column holds: its text, a number that may be written otherwise, or attributes as a list. */
type Cell = string | ExactNumber | readonly unknown[];

const textOf = (cell: Cell | undefined = ""): string =>
  typeof cell === "string" || cell instanceof ExactNumber ? String(cell) : "";

/** A flat row of JSON as a table would have it, by the place of the key; '' for what is empty or not read. */
function cellsOfObject(row: ObjectRow, { names, keys, columns }: Reading, findings: Finding[]): readonly Cell[] {
  const exact = withExactNumbers(row);
  const cells: Cell[] = new Array(names.length).fill("");
  for (const { index, field } of keys) {
    const key = names[index] ?? "";
    const value = exact[key];
    if (value === null || value === undefined) continue;
    if (typeof value === "string") cells[index] = value.trim();
    else if (typeof value === "number" || typeof value === "bigint") cells[index] = String(value);
    else if (value instanceof ExactNumber) cells[index] = value;
    else if (field === "metadataAttributes" && Array.isArray(row.value[key])) cells[index] = row.value[key];
    else
      findings.push({
        rule: "field-type",
        field,
        ...(typeof value === "boolean" && { value: String(value) }),
        message: `${field} is ${typeName(value)}, which a flat row can't hold.`,
        hint: `Give it as text or a number, or say in a source which part of it is meant, such as ${field}: "{${key}.${Object.keys(Object(value))[0] ?? "id"}}".`,
      });
  }
  if (columns.conflict !== undefined)
    findings.push({
      rule: "column-ambiguous" satisfies MappingRule,
      field: columns.conflict.field,
      message: `${columns.conflict.headers.map(quote).join(" and ")} both mean ${columns.conflict.field}.`,
      hint: "Leave one out.",
    });
  return cells;
}

/** Whether a field names something, such as userId. */
const isId = (field: FieldName): boolean => fieldSpec(field).kind === "id" || fieldSpec(field).kind === "nftId";

const EMPTY_ROW: Mapped = { kind: "skipped", reason: "empty row" };

function mapCells(reading: Reading, cells: readonly Cell[], findings: Finding[], isRowEmpty: () => boolean): Mapped {
  const action = actionOfRow(reading, cells, findings);
  if (action === undefined) {
    if (isRowEmpty()) return EMPTY_ROW;
    const attempted = guessDraft((field) => textOf(cells[reading.columns.fields.get(field) ?? -1]));
    return { kind: "invalid", findings, attempted, isGuess: true };
  }
  const draft = new Draft(action.action);
  const likely: Finding[] = [];
  let isEmpty = true;
  for (const { index, field, read } of action.used) {
    const cell = cells[index];
    if (cell === undefined || cell === "") continue;
    isEmpty = false;
    if (typeof cell === "string") read(cell, draft, findings);
    else if (cell instanceof ExactNumber) {
      read(String(cell), draft, findings);
      if (isId(field)) likely.push(looseNumber(field, String(cell), field));
    }
    // Its attributes are checked by the next step, as those of an {action, data} line.
    else draft.putValue(field, cell);
  }
  if (isEmpty && findings.length === 0 && isRowEmpty()) return EMPTY_ROW;
  if (reading.fixed === undefined) refuseCells(action, cells, findings);
  const drafts = [draft];
  const noted = likely.length === 0 ? undefined : { likely };
  if (findings.length > 0) return { kind: "invalid", findings, attempted: drafts, ...noted };
  const event = reading.columns.fields.get("eventId");
  const eventId = event === undefined ? "" : textOf(cells[event]);
  const mapped: Mapped = eventId === "" ? { kind: "actions", drafts } : { kind: "actions", drafts, eventId };
  return noted === undefined ? mapped : { ...mapped, ...noted };
}

/** What a row holds that the action which it names does not take. */
function refuseCells({ action, refused }: ActionColumns, cells: readonly Cell[], findings: Finding[]): void {
  for (const { index, field } of refused) {
    const cell = cells[index];
    if (cell === undefined || cell === "") continue;
    findings.push({
      rule: "field-not-accepted",
      field,
      value: textOf(cell) || stringifyJson(cell),
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
  if (columns.action === undefined) {
    if (fixed === undefined && findings.length === 0) findings.push(NO_ACTION);
    return fixed;
  }
  const written = textOf(cells[columns.action]);
  const named = isActionName(written) ? byAction.get(written) : undefined;
  if (fixed !== undefined && named !== undefined && named !== fixed)
    findings.push({
      rule: "action-conflict" satisfies MappingRule,
      field: "action",
      value: written,
      message: `The row names ${named.action}, but all rows of the file are declared ${fixed.action}.`,
      hint: "Leave --action (or the source's action) out: the rows name their actions.",
    });
  if (fixed !== undefined || named !== undefined) return fixed ?? named;
  const isNone = written === "";
  findings.push({
    rule: "action-unknown",
    field: "action",
    ...(!isNone && { value: written }),
    message: isNone ? "The row names no action." : "action is not one of the service's actions.",
    hint: isNone
      ? `Actions are ${ACTION_NAMES.join(", ")}.`
      : `${actionHint(written)} If the column means something else, give --action NAME.`,
  });
  return undefined;
}

const NO_ACTION: Finding = {
  rule: "action-unknown",
  message: "Nothing says which action the row is.",
  hint: `Give --action NAME, or begin the file name like one of ${FILE_NAME_PATTERNS}, or add a key action to the row.`,
};

/** Rows whose columns, or keys, are named like fields; and `{action, data}` items. */

import { ACTION_NAMES, isActionName } from "../actions/actions.ts";
import { Draft } from "../actions/draft.ts";
import { ExactNumber, typeName } from "../actions/exact-number.ts";
import { type FieldName, fieldSpec, setOf } from "../actions/fields.ts";
import { stringifyJson } from "../actions/json.ts";
import type { Finding } from "../actions/problem.ts";
import { actionHint } from "../actions/validate.ts";
import type { CellsRow, Row } from "../read/row.ts";
import { FILE_NAME_PATTERNS, type NamedColumns } from "./columns.ts";
import { isLoose, looseNumber, writtenNumber } from "./exact-numbers.ts";
import { guessDraft, ID_FIELDS, type Ids, isItem, mapItem } from "./items.ts";
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
  withNext,
} from "./named-columns.ts";
import type { MappingRule } from "./rules.ts";
import { unguard } from "./table-columns.ts";

/** How many different sets of keys of one file are kept compiled; beyond this many, all are dropped. */
const MOST_READINGS = 1000;

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
  /** Of all rows so far. */
  #understanding: Understanding | undefined;
  #hasItems = false;

  constructor(settings: NamedSettings) {
    const { header, source } = settings;
    this.#settings = settings;
    this.#strips = source?.config.csv?.guards === "strip";
    if (header === undefined) return;
    this.#reading = compileReading(header, settings);
    refuseHeader(this.#reading, settings);
    this.#understanding = understandingOf(this.#reading, settings);
    const { fields, action } = this.#reading.columns;
    const wanted = new Set([...fields.values(), action]);
    this.wanted = header.map((_name, index) => wanted.has(index));
  }

  get understanding(): Understanding {
    const flat = this.#understanding;
    if (flat === undefined) {
      const { action, how } = actionOfAll(this.#settings, false);
      return this.#hasItems || action === undefined ? ITEMS_UNDERSTOOD : { ...ITEMS_UNDERSTOOD, how, action };
    }
    if (!this.#hasItems) return flat;
    return { ...flat, notes: [...flat.notes, "some lines are {action, data}, taken as they are"] };
  }

  /** Nothing: each row says all by itself. */
  beside(): readonly string[] {
    return [];
  }

  map(row: Row): Mapped {
    if (row.kind === "malformed") return { kind: "invalid", findings: row.findings, attempted: [] };
    if (row.kind === "object") return this.#mapObject(row);
    if (this.wanted === undefined || this.#reading === undefined) throw new Error("a row of JSON was expected");
    const cells = this.#strips ? row.cells.map(unguard) : row.cells;
    return mapCells(this.#reading, cells, [], row);
  }

  #mapObject(row: ObjectRow): Mapped {
    if (this.wanted !== undefined) throw new Error("a row of cells was expected");
    const keys = Object.keys(row.value);
    if (isItem(row.value, keys)) {
      this.#hasItems = true;
      return mapItem(row.value);
    }
    const reading = this.#readingOf(keys);
    const { cells, findings, loose } = cellsOfObject(row, reading);
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
      reading = compileReading(keys, this.#settings);
      if (this.#readings.size >= MOST_READINGS) this.#readings.clear();
      this.#readings.set(signature, reading);
      this.#understanding = withNext(this.#understanding, understandingOf(reading, this.#settings));
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
type Cell = string | readonly unknown[];

interface FlatCells {
  /** By the place of the key; '' for what is empty or not read. */
  readonly cells: readonly Cell[];
  readonly findings: Finding[];
  /** What to report of ids that are numbers, should their field be used. */
  readonly loose: readonly { readonly field: FieldName; readonly finding: Finding }[];
}

/** A flat row of JSON as a table would have it: its values as texts, and attributes as a list. */
function cellsOfObject(row: ObjectRow, { names, keys }: Reading): FlatCells {
  const cells: Cell[] = new Array(names.length).fill("");
  const findings: Finding[] = [];
  const loose: { field: FieldName; finding: Finding }[] = [];
  for (const { index, field } of keys) {
    const key = names[index] ?? "";
    const value = row.value[key];
    if (value === null || value === undefined) continue;
    if (typeof value === "string") cells[index] = value.trim();
    else if (typeof value === "number" || typeof value === "bigint" || value instanceof ExactNumber) {
      const written = writtenNumber(row, key);
      cells[index] = written;
      if (field !== "action" && isId(field) && isLoose(written))
        loose.push({ field, finding: looseNumber(field, written, field) });
    } else if (field === "metadataAttributes" && Array.isArray(value)) cells[index] = value;
    else
      findings.push({
        rule: "field-type",
        field,
        ...(typeof value === "boolean" && { value: String(value) }),
        message: `${field} is ${typeName(value)}, which a flat row can't hold.`,
        hint: `Give it as text or a number, or say in a source which part of it is meant, such as ${field}: "{${key}.${Object.keys(Object(value))[0] ?? "id"}}".`,
      });
  }
  return { cells, findings, loose };
}

/** Whether a field names something, such as userId. */
const isId = (field: FieldName): boolean => fieldSpec(field).kind === "id" || fieldSpec(field).kind === "nftId";

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

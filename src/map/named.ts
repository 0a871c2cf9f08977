/** Rows whose columns, or keys, are named like fields; and `{action, data}` items. */

import { ACTION_NAMES, isActionName } from "../actions/actions.ts";
import { Draft } from "../actions/draft.ts";
import { ExactNumber, typeName } from "../actions/exact-number.ts";
import { type FieldName, fieldSpec } from "../actions/fields.ts";
import type { Problem } from "../actions/problem.ts";
import { actionHint } from "../actions/validate.ts";
import type { Row } from "../read/row.ts";
import type { MappingRule } from "../rules.ts";
import { isLoose, looseNumber, withExactNumbers } from "./json-rows.ts";
import { guessDraft, isItem, type Mapped, type Mapper, mapItem, type Understanding } from "./mapper.ts";
import { quote } from "./mapping-error.ts";
import {
  actionOfAll,
  compileReading,
  FILE_NAME_PATTERNS,
  type NamedSettings,
  type Reading,
  refuseHeader,
  understandingOf,
} from "./named-columns.ts";
import { unguarded } from "./table-columns.ts";
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
  readonly #settings: NamedSettings;
  readonly #ofHeader: Reading | undefined;
  /** Of JSON rows, by their keys, which may differ from one to the next. */
  readonly #readings = new Map<string, Reading>();
  /** The keys of all flat rows so far. */
  readonly #keys = new Set<string>();
  readonly #notes = new Set<string>();
  #hasItems = false;

  constructor(settings: NamedSettings) {
    const { header } = settings;
    this.#settings = settings;
    if (header === undefined) return;
    this.#ofHeader = compileReading(header, settings);
    refuseHeader(this.#ofHeader, settings);
  }

  get understanding(): Understanding {
    const settings = this.#settings;
    if (this.#ofHeader !== undefined) return understandingOf(this.#ofHeader, settings);
    if (this.#keys.size === 0) {
      const { action, how } = actionOfAll(settings, false);
      return this.#hasItems || action === undefined ? ITEMS_UNDERSTOOD : { ...ITEMS_UNDERSTOOD, how, action };
    }
    const flat = understandingOf(compileReading([...this.#keys], settings), settings);
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
    if (row.kind === "malformed") return { kind: "invalid", problems: row.problems, attempted: [] };
    if (row.kind === "cells") {
      if (this.#ofHeader === undefined) throw new Error("a row of JSON was expected");
      if (row.isBlank) return EMPTY_ROW;
      return mapCells(this.#ofHeader, unguarded(row.cells, this.#settings.source?.config.csv));
    }
    if (this.#ofHeader !== undefined) throw new Error("a row of cells was expected");
    const keys = Object.keys(row.value);
    if (keys.length === 0) return EMPTY_ROW;
    if (isItem(row.value, keys)) {
      this.#hasItems = true;
      return mapItem(row.value);
    }
    const reading = this.#readingOf(keys);
    return mapCells(reading, cellsOf(row, reading));
  }

  #readingOf(keys: readonly string[]): Reading {
    const signature = keys.join("\u0000");
    let reading = this.#readings.get(signature);
    if (reading === undefined) {
      reading = compileReading(keys, this.#settings);
      if (this.#readings.size >= MOST_READINGS) this.#readings.clear();
      this.#readings.set(signature, reading);
      for (const key of keys) if (this.#keys.size < MOST_NAMED) this.#keys.add(key);
      const { notes } = understandingOf(reading, this.#settings);
      for (const note of notes) if (this.#notes.size < MOST_NAMED) this.#notes.add(note);
    }
    return reading;
  }
}

const EMPTY_ROW: Mapped = { kind: "skipped", reason: "empty row" };

/** A flat row of JSON as a table would have it: texts trimmed, numbers as they are written. */
function cellsOf(row: Extract<Row, { kind: "object" }>, { names, wanted }: Reading): readonly unknown[] {
  const exact = withExactNumbers(row);
  return names.map((key, index) => {
    const value = wanted[index] === true ? exact[key] : undefined;
    if (typeof value === "string") return value.trim();
    return Array.isArray(value) ? row.value[key] : value;
  });
}

/** Undefined for what is neither text nor a number. */
function textIn(cell: unknown): string | undefined {
  if (typeof cell === "string") return cell;
  return typeof cell === "number" || cell instanceof ExactNumber ? String(cell) : undefined;
}

/** Whether a field names something, such as userId. */
const isId = (field: FieldName): boolean => fieldSpec(field).kind === "id" || fieldSpec(field).kind === "nftId";

/** @param cells by the places of the reading. Those that are not wanted may be missing. */
function mapCells(reading: Reading, cells: readonly unknown[]): Mapped {
  const { names, fields, byAction } = reading;
  const problems: Problem[] = [];
  const textOf = (field: FieldName): string => textIn(cells[fields.get(field) ?? -1]) ?? "";
  const action = actionOfRow(reading, cells, problems);
  if (action === undefined) return { kind: "invalid", problems, attempted: guessDraft(textOf), isGuess: true };
  const draft = new Draft(action);
  const likely: Problem[] = [];
  for (const { index, field, read } of byAction.get(action) ?? []) {
    const cell = cells[index];
    if (cell === "" || cell === undefined || cell === null) continue;
    const text = textIn(cell);
    if (text !== undefined) {
      read(text, draft, problems);
      if (cell instanceof ExactNumber && isLoose(cell) && isId(field)) likely.push(looseNumber(field, text, field));
    } else if (field === "metadataAttributes" && Array.isArray(cell)) {
      draft.putValue(field, cell); // checked by the next step, as in an {action, data} line
    } else problems.push(notFlat(field, names[index] ?? "", cell));
  }
  const drafts = [draft];
  const noted = likely.length === 0 ? undefined : likely;
  if (problems.length > 0) return { kind: "invalid", problems, attempted: drafts, likely: noted };
  return { kind: "actions", drafts, eventId: textOf("eventId") || undefined, likely: noted };
}

const notFlat = (field: FieldName, key: string, value: unknown): Problem => ({
  rule: "field-type",
  field,
  ...(typeof value === "boolean" && { value: String(value) }),
  message: `${field} is ${typeName(value)}, which a flat row can't hold.`,
  hint: `Give it as text or a number, or say in a source which part of it is meant, such as ${field}: "{${key}.${Object.keys(Object(value))[0] ?? "id"}}".`,
});

/** The action of all rows, else the one that the row names. */
function actionOfRow({ action, fixed, conflict }: Reading, cells: readonly unknown[], problems: Problem[]) {
  if (conflict !== undefined)
    problems.push({
      rule: "column-ambiguous" satisfies MappingRule,
      field: conflict.field,
      message: `${conflict.headers.map(quote).join(" and ")} both mean ${conflict.field}.`,
      hint: "Leave one out.",
    });
  if (action === undefined) {
    if (fixed === undefined && conflict === undefined)
      problems.push({
        rule: "action-unknown",
        message: "Nothing says which action the row is.",
        hint: `Give --action NAME, or begin the file name like one of ${FILE_NAME_PATTERNS}, or add a key action to the row.`,
      });
    return fixed;
  }
  const written = textIn(cells[action]) ?? "";
  const named = isActionName(written) ? written : undefined;
  if (fixed !== undefined && named !== undefined && named !== fixed)
    problems.push({
      rule: "action-conflict" satisfies MappingRule,
      field: "action",
      value: written,
      message: `The row names ${named}, but all rows of the file are declared ${fixed}.`,
      hint: "Leave --action (or the source's action) out: the rows name their actions.",
    });
  if (fixed !== undefined || named !== undefined) return fixed ?? named;
  const isNone = written === "";
  problems.push({
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

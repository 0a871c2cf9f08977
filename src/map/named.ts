/**
 * Rows whose columns are named like fields. The header is compiled once; reading a row is then one loop over the used
 * columns.
 */

import { ACTION_NAMES, type ActionName, actionSpec, isActionName } from "../actions/actions.ts";
import { compileField, Draft, type ReadField } from "../actions/draft.ts";
import { type FieldName, relaxingRule } from "../actions/fields.ts";
import { nearest } from "../actions/nearest.ts";
import type { Finding } from "../actions/problem.ts";
import { actionHint } from "../actions/validate.ts";
import { Failure } from "../failure.ts";
import type { CellsRow } from "../read/row.ts";
import {
  actionOfFileName,
  FILE_NAME_PATTERNS,
  fieldsOf,
  missingFields,
  type NamedColumns,
  publicName,
  readColumns,
} from "./columns.ts";
import { guessDraft, ID_FIELDS, type Ids } from "./items.ts";
import type { Mapped, Mapper, Understanding } from "./mapper.ts";
import { MappingError, quote } from "./mapping-error.ts";
import type { MappingRule } from "./rules.ts";
import type { NamedSource } from "./source.ts";
import { unguard } from "./table-columns.ts";

/** What holds for all rows of a file. */
export interface NamedSettings {
  readonly fileName: string;
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

/** A header compiled for rows of one action, or of the action that each row names. */
export interface CompiledColumns {
  readonly columns: NamedColumns;
  readonly fixed: ActionColumns | undefined;
  readonly byAction: ReadonlyMap<ActionName, ActionColumns>;
}

export function compileColumns(
  columns: NamedColumns,
  fixed: ActionName | undefined,
  settings: NamedSettings,
): CompiledColumns {
  const { clearWord, relaxedRules, source } = settings;
  const written = { clearWord, zone: source?.config.zone };
  const all = [...columns.fields].map(([field, index]) => ({ field, index }));
  const compile = (action: ActionName): ActionColumns => {
    const takes = fieldsOf(action, relaxedRules);
    return {
      action,
      used: all
        .filter(({ field }) => takes.has(field))
        .map((column) => ({ ...column, read: compileField(action, column.field, written) })),
      refused: all.filter(({ field }) => !takes.has(field)),
    };
  };
  const actions = fixed === undefined || columns.action !== undefined ? ACTION_NAMES : [fixed];
  const byAction = new Map(actions.map((action) => [action, compile(action)]));
  return { columns, fixed: fixed === undefined ? undefined : byAction.get(fixed), byAction };
}

/** Throws `Failure("usage")` when header, file name and flags name no action. */
function compileHeader(settings: NamedSettings & { readonly header: readonly string[] }): CompiledColumns {
  const { header } = settings;
  const fileName = settings.fileName === "" ? "the input" : settings.fileName;
  const columns = readColumns(header);
  if (columns.conflict !== undefined) throw conflictFailure(fileName, columns.conflict);
  const named = settings.action ?? settings.source?.config.action;
  const byColumn = named === undefined && columns.action !== undefined;
  const fixed = named ?? (byColumn ? undefined : actionOfFileName(settings.fileName));
  if (fixed === undefined && !byColumn) throw unknownActionFailure(fileName);
  if (fixed !== undefined) {
    const missing = missingFields(fixed, (field) => columns.fields.has(field));
    if (missing.length > 0) throw missingColumnsFailure(fileName, fixed, missing, header);
  } else if (columns.fields.size === 0) {
    throw new Failure("usage", `${fileName} has no column named like a field.`, {
      hint: "Name the columns like the fields (eventId, ticketId, ...), or describe the file under sources in the config.",
    });
  }
  return compileColumns(columns, fixed, settings);
}

/** A mapper for the cells under `header`. Throws as `compileHeader` does. */
export function createNamedMapper(settings: NamedSettings & { readonly header: readonly string[] }): Mapper {
  const { header } = settings;
  const compiled = compileHeader(settings);
  const strips = stripsGuards(settings);
  return {
    wanted: wantedOf(header, compiled),
    understanding: understandingOf(howNamed(settings, compiled.fixed === undefined), header, compiled, settings.source),
    map(row) {
      if (row.kind === "malformed") return { kind: "invalid", findings: row.findings, attempted: [] };
      if (row.kind === "object") throw new Error("a row of cells was expected");
      return mapCells(compiled, row, strips ? row.cells.map(unguard) : row.cells);
    },
  };
}

/** The columns whose cells are looked at. */
function wantedOf(header: readonly string[], { columns }: CompiledColumns): readonly boolean[] {
  const wanted = new Set([...columns.fields.values(), columns.action]);
  return header.map((_name, index) => wanted.has(index));
}

/** Whether cells lose the signs that keep a spreadsheet from reading them. */
const stripsGuards = ({ source }: NamedSettings): boolean => source?.config.csv?.guards === "strip";

/** How the action of a file's rows is known. */
export function howNamed({ action, source }: NamedSettings, byColumn: boolean): string {
  if (action !== undefined) return "--action";
  if (source?.config.action !== undefined) return `source ${source.name}`;
  return byColumn ? "by column action" : "by file name";
}

export function understandingOf(
  how: string,
  header: readonly string[],
  compiled: CompiledColumns,
  source: NamedSource | undefined,
): Understanding {
  const { columns, fixed, byAction } = compiled;
  const taken = new Set<FieldName>();
  for (const { used } of fixed === undefined ? byAction.values() : [fixed])
    for (const { field } of used) taken.add(field);
  const usedIndexes = new Set<number>();
  if (fixed === undefined && columns.action !== undefined) usedIndexes.add(columns.action);
  const publicFields: string[] = [];
  for (const [field, index] of columns.fields) {
    if (!taken.has(field)) continue;
    usedIndexes.add(index);
    const name = publicName(field);
    if (name !== undefined) publicFields.push(name);
  }
  const notes = [...columns.notes];
  if (source?.config.actions !== undefined)
    notes.push(`the rules of source ${source.name} are not used, because of --action`);
  for (const { field, index } of fixed?.refused ?? [])
    notes.push(`${quote(header[index] ?? field)} is not used: ${fixed?.action} takes no ${field}`);
  if (fixed !== undefined)
    for (const field of actionSpec(fixed.action).required)
      if (relaxingRule(fixed.action, field) !== undefined && !taken.has(field))
        notes.push(`no column ${field}, which the service's table requires for ${fixed.action}`);
  return {
    how,
    ...(fixed && { action: fixed.action }),
    columns: header.length,
    used: header.filter((_name, index) => usedIndexes.has(index)),
    unused: header.filter((_name, index) => !usedIndexes.has(index)),
    publicFields,
    notes,
  };
}

function mapCells(compiled: CompiledColumns, row: CellsRow, cells: readonly string[]): Mapped {
  const findings: Finding[] = [];
  const reading = actionOfRow(compiled, cells, findings);
  if (reading === undefined) {
    if (row.isBlank) return EMPTY_ROW;
    return { kind: "invalid", findings, attempted: guessFromCells(compiled.columns, cells), isGuess: true };
  }
  const draft = new Draft(reading.action);
  let isEmpty = true;
  for (const { index, read } of reading.used) {
    const text = cells[index];
    if (text === undefined || text === "") continue;
    isEmpty = false;
    read(text, draft, findings);
  }
  if (isEmpty && findings.length === 0 && row.isBlank) return EMPTY_ROW;
  return mappedOf(compiled, reading, draft, cells, findings);
}

const EMPTY_ROW: Mapped = { kind: "skipped", reason: "empty row" };

/** Finishes a row whose fields are read: strange cells, the row's event. */
export function mappedOf(
  { columns, fixed }: CompiledColumns,
  reading: ActionColumns,
  draft: Draft,
  cells: readonly string[],
  findings: Finding[],
): Mapped {
  if (fixed === undefined)
    for (const { index, field } of reading.refused) {
      const text = cells[index];
      if (text === undefined || text === "") continue;
      findings.push({
        rule: "field-not-accepted",
        field,
        value: text,
        message: `${reading.action} takes no ${field}.`,
        hint: "Leave the cell empty.",
      });
    }
  const drafts = [draft];
  if (findings.length > 0) return { kind: "invalid", findings, attempted: drafts };
  const event = columns.fields.get("eventId");
  const eventId = event === undefined ? undefined : cells[event];
  return eventId === undefined || eventId === "" ? { kind: "actions", drafts } : { kind: "actions", drafts, eventId };
}

/** The columns to read: those of the fixed action, else those of the action that the row names. */
export function actionOfRow(
  { columns, fixed, byAction }: CompiledColumns,
  cells: readonly string[],
  findings: Finding[],
): ActionColumns | undefined {
  if (columns.action === undefined) return fixed;
  const written = cells[columns.action] ?? "";
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
export function guessFromCells({ fields }: NamedColumns, cells: readonly string[]): readonly Draft[] {
  const ids: Ids = {};
  for (const field of ID_FIELDS) {
    const index = fields.get(field);
    const text = index === undefined ? undefined : cells[index];
    if (text !== undefined && text !== "") ids[field] = text;
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

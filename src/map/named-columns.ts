/** What a file without rules of a source is read as: which action its rows are, and which columns or keys are which field. */

import { ACTION_NAMES, type ActionName, actionSpec } from "../actions/actions.ts";
import { compileField, type ReadField } from "../actions/draft.ts";
import { type FieldName, relaxingRule } from "../actions/fields.ts";
import { nearest } from "../actions/nearest.ts";
import { Failure } from "../failure.ts";
import {
  actionOfFileName,
  FILE_NAME_PATTERNS,
  fieldsOf,
  missingFields,
  type NamedColumns,
  publicName,
  readColumns,
} from "./columns.ts";
import type { Understanding } from "./mapper.ts";
import { MappingError, quote } from "./mapping-error.ts";
import type { NamedSource } from "./source.ts";

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

/** A column, or a key of JSON rows, by its place. */
interface Column {
  readonly index: number;
  readonly field: FieldName;
  readonly read: ReadField;
}

/** A header, or the keys of some JSON rows, compiled. */
export interface Reading {
  readonly names: readonly string[];
  readonly columns: NamedColumns;
  /** How the action of the rows is known. */
  readonly how: string;
  /** Of all rows; undefined where each row names its action, or nothing does. */
  readonly fixed: ActionName | undefined;
  /**
   * What is read of a row, by the actions that it may be. A row that names its action is read whole: what the action does not
   * take is refused. Where all rows are one action, the columns that it does not take are left out.
   */
  readonly byAction: ReadonlyMap<ActionName, readonly Column[]>;
}

export function compileReading(names: readonly string[], settings: NamedSettings): Reading {
  const { clearWord, relaxedRules, source } = settings;
  const columns = readColumns(names);
  const hasActions = columns.action !== undefined;
  const { action: fixed, how } = actionOfAll(settings, hasActions);
  const readBy = (action: ActionName): readonly Column[] => {
    const takes = fieldsOf(action, relaxedRules);
    return [...columns.fields]
      .filter(([field]) => fixed === undefined || takes.has(field))
      .map(([field, index]) => {
        return { field, index, read: compileField(action, field, { clearWord, zone: source?.config.zone }) };
      });
  };
  const ofRows = hasActions ? ACTION_NAMES : [];
  const possible = fixed === undefined ? ofRows : [fixed];
  return { names, columns, how, fixed, byAction: new Map(possible.map((action) => [action, readBy(action)])) };
}

/** The fields that are read in any row. */
const fieldsRead = ({ byAction }: Reading): ReadonlySet<FieldName> =>
  new Set([...byAction.values()].flatMap((columns) => columns.map(({ field }) => field)));

/** The one action of all rows, where they don't name theirs, and how it is known. */
export function actionOfAll({ action, source, fileName }: NamedSettings, hasActions: boolean) {
  if (action !== undefined) return { action, how: "--action" };
  if (source?.config.action !== undefined) return { action: source.config.action, how: `source ${source.name}` };
  const named = hasActions ? undefined : actionOfFileName(fileName);
  return { action: named, how: named === undefined ? "actions by column action" : "file name" };
}

/** Throws `Failure("usage")` for a table whose header, file name and flags name no action, or not all columns. */
export function refuseHeader({ columns, fixed, names }: Reading, settings: NamedSettings): void {
  const fileName = settings.fileName === "" ? "the input" : settings.fileName;
  const refuse = (what: string, hint: string): Failure =>
    new Failure("usage", what, { hint: `${hint}, or describe the file under sources in the config.` });
  const { conflict } = columns;
  if (conflict !== undefined)
    throw refuse(
      `${fileName} has two columns for ${conflict.field}: ${conflict.headers.map(quote).join(" and ")}.`,
      "Remove or rename one of them",
    );
  if (fixed === undefined && columns.action === undefined)
    throw refuse(
      `Can't tell which action the rows of ${fileName} are.`,
      `Give --action NAME, or begin the file name like one of ${FILE_NAME_PATTERNS}, or add a column action`,
    );
  if (fixed === undefined && columns.fields.size === 0)
    throw refuse(
      `${fileName} has no column named like a field.`,
      "Name the columns like the fields (eventId, ticketId, ...)",
    );
  const missing = fixed === undefined ? [] : missingFields(fixed, (field) => columns.fields.has(field));
  if (missing.length === 0) return;
  const near = missing.flatMap((field) => {
    const meant = nearest(field, names);
    return meant === undefined ? [] : [`${quote(meant)} is near ${field}`];
  });
  const rename = near.length > 0 ? `${near.join("; ")}. ` : "";
  throw refuse(
    `${fileName} has no column for ${missing.join(", ")}, which ${fixed} needs.`,
    `${rename}Its columns are ${names.map(quote).join(", ")}. Rename or add the column`,
  );
}

export function understandingOf(reading: Reading, { source, header }: NamedSettings): Understanding {
  const { names, columns, how, fixed } = reading;
  const read = fieldsRead(reading);
  const used = new Set([...columns.fields].flatMap(([field, index]) => (read.has(field) ? index : [])));
  if (fixed === undefined && columns.action !== undefined) used.add(columns.action);
  const notes = [...columns.notes];
  if (source?.config.actions !== undefined)
    notes.push(`the rules of source ${source.name} are not used, because of --action`);
  if (fixed !== undefined) {
    for (const [field, index] of columns.fields)
      if (!read.has(field)) notes.push(`${quote(names[index] ?? field)} is not used: ${fixed} takes no ${field}`);
    for (const field of actionSpec(fixed).required)
      if (relaxingRule(fixed, field) !== undefined && !read.has(field))
        notes.push(`no column ${field}, which the service's table requires for ${fixed}`);
  }
  return {
    how,
    ...(fixed && { action: fixed }),
    columns: header?.length ?? 0,
    used: names.filter((_name, index) => used.has(index)),
    unused: names.filter((_name, index) => !used.has(index)),
    publicFields: [...columns.fields.keys()]
      .filter((field) => read.has(field))
      .flatMap((field) => publicName(field) ?? []),
    notes,
  };
}

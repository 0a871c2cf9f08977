/** Columns named like fields, and what a file without rules of a source is read as: its action, and which column or key is which field. */

import { ACTION_NAMES, ACTIONS, type ActionName, acceptedFields, actionSpec } from "../actions/actions.ts";
import { compileField, type ReadField } from "../actions/draft.ts";
import { FIELD_NAMES, type FieldName, fieldSpec, relaxingRule } from "../actions/fields.ts";
import { fold, nearest } from "../actions/nearest.ts";
import { Failure } from "../failure.ts";
import { OWN_COLUMNS } from "../read/rejects-columns.ts";
import type { Understanding } from "./mapper.ts";
import { quote } from "./mapping-error.ts";
import type { NamedSource } from "./source.ts";
import { titleHint } from "./table-columns.ts";

const EXACT_ONLY = FIELD_NAMES.filter((name) => fieldSpec(name).exactName);

const BY_FOLDED: ReadonlyMap<string, FieldName | "action"> = new Map(
  [...FIELD_NAMES, "action" as const].map((name) => [fold(name), name]),
);

/** `Start Date` may be `startTime`: of a column that is not used, this is but a note. */
const MOST_SLIPS_OF_COLUMN = 3;

/** What a header says by itself, before it is known which action its rows are. */
export interface NamedColumns {
  /** Index of each field's column. */
  readonly fields: ReadonlyMap<FieldName, number>;
  /** Index of the column `action`. */
  readonly action: number | undefined;
  /** Why columns that nearly name a field are not used. */
  readonly notes: readonly string[];
  /** Two columns that mean the same field, by their headers. */
  readonly conflict: { readonly field: string; readonly headers: readonly [string, string] } | undefined;
}

/** Compares names ignoring case, blanks, `_` and `-`; `name`, `description` and `to` by exact header beside a ticket's id only. */
export function readColumns(header: readonly string[]): NamedColumns {
  const fields = new Map<FieldName, number>();
  const notes: string[] = [];
  const strangers: string[] = [];
  let action: number | undefined;
  let conflict: NamedColumns["conflict"];
  for (const [index, written] of header.entries()) {
    const exact = written.trim();
    if (OWN_COLUMNS.has(exact) || exact === "") continue;
    const meant = BY_FOLDED.get(fold(exact));
    if (meant === undefined) {
      strangers.push(exact);
      continue;
    }
    const before = meant === "action" ? action : fields.get(meant);
    if (meant !== "action" && EXACT_ONLY.includes(meant) && exact !== meant)
      notes.push(
        `${quote(exact)} is not used: what ${meant} holds becomes public, so its column must be called ${meant}`,
      );
    else if (before !== undefined) conflict ??= { field: meant, headers: [header[before] ?? "", written] };
    else if (meant === "action") action = index;
    else fields.set(meant, index);
  }
  if (!fields.has("ticketId") && !fields.has("nftId"))
    for (const field of EXACT_ONLY)
      if (fields.delete(field))
        notes.push(
          `${quote(field)} is not used: it becomes public, so it is read only beside a column ticketId or nftId`,
        );
  const missing = FIELD_NAMES.filter((field) => !fields.has(field) && !EXACT_ONLY.includes(field));
  for (const stranger of strangers) {
    const meant = nearest(stranger, missing, MOST_SLIPS_OF_COLUMN);
    if (meant !== undefined) notes.push(`${quote(stranger)} is not used (did you mean ${meant}?)`);
  }
  return { fields, action, notes, conflict };
}

/** The fields of an action, and those whose refusal the config's `rules` relaxed. */
export function fieldsOf(action: ActionName, relaxedRules: ReadonlySet<string>): ReadonlySet<FieldName> {
  const relaxed = FIELD_NAMES.filter((field) => relaxedRules.has(relaxingRule(action, field) ?? ""));
  return new Set([...acceptedFields(action), ...relaxed]);
}

/**
 * Required fields of `action` that have no column, such as `price` or `ticketId or nftId`. Not fields that only a relaxable
 * rule requires, such as a sale's userId: the specification does not show whether the service needs them.
 */
export function missingFields(action: ActionName, has: (field: FieldName) => boolean): readonly string[] {
  const { required, exclusive, anyOf } = actionSpec(action);
  const missing: string[] = required.filter((field) => !has(field) && relaxingRule(action, field) === undefined);
  for (const group of [exclusive, anyOf]) if (group.length > 0 && !group.some(has)) missing.push(group.join(" or "));
  return missing;
}

/** How a field appears on the public blockchain, such as `price` or `ticketId (hashed)`; undefined when it does not. */
export function publicName(field: FieldName): string | undefined {
  const { onChain } = fieldSpec(field);
  return onChain === undefined ? undefined : onChain === "as is" ? field : `${field} (hashed)`;
}

const FILE_NAMES = ACTION_NAMES.flatMap((action) => ACTIONS[action].fileNames.map((prefix) => ({ action, prefix })));

/** `events*, sales*, …`, for messages. */
export const FILE_NAME_PATTERNS: string = FILE_NAMES.map(({ prefix }) => `${prefix}*`).join(", ");

/** The action that a file's name stands for by convention; of several prefixes the longest counts. */
export function actionOfFileName(fileName: string): ActionName | undefined {
  const folded = fileName.toLowerCase();
  const meant = FILE_NAMES.filter(({ prefix }) => folded.startsWith(prefix));
  return meant.sort((one, other) => other.prefix.length - one.prefix.length)[0]?.action;
}

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

/** A column, or a key of JSON rows, by its place. */
interface Column {
  readonly index: number;
  readonly field: FieldName;
  readonly read: ReadField;
}

/** A header, or the keys of some JSON rows, compiled. */
export interface Reading extends NamedColumns {
  readonly names: readonly string[];
  /** How the action of the rows is known. */
  readonly how: string;
  /** Of all rows; undefined where each row names its action, or nothing does. */
  readonly fixed: ActionName | undefined;
  /**
   * What is read of a row, by the actions that it may be. A row that names its action is read whole: what the action does not
   * take is refused. Where all rows are one action, the columns that it does not take are left out.
   */
  readonly byAction: ReadonlyMap<ActionName, readonly Column[]>;
  /** Of each column, whether its cells say something of a row. */
  readonly wanted: readonly boolean[];
}

export function compileReading(names: readonly string[], settings: NamedSettings): Reading {
  const { clearWord, relaxedRules, source } = settings;
  const columns = readColumns(names);
  const { action: fixed, how } = actionOfAll(settings, columns.action !== undefined);
  const columnsOf = (action: ActionName): readonly Column[] => {
    const takes = fieldsOf(action, relaxedRules);
    return [...columns.fields]
      .filter(([field]) => fixed === undefined || takes.has(field))
      .map(([field, index]) => {
        return { field, index, read: compileField(action, field, { clearWord, zone: source?.config.zone }) };
      });
  };
  const ofRows = columns.action === undefined ? [] : ACTION_NAMES;
  const byAction = new Map((fixed === undefined ? ofRows : [fixed]).map((action) => [action, columnsOf(action)]));
  const places = new Set([...columns.fields.values(), columns.action]);
  return { ...columns, names, how, fixed, byAction, wanted: names.map((_name, index) => places.has(index)) };
}

/** The one action of all rows, where they don't name theirs, and how it is known. */
export function actionOfAll({ action, source, fileName }: NamedSettings, hasActions: boolean) {
  if (action !== undefined) return { action, how: "--action" };
  if (source?.config.action !== undefined) return { action: source.config.action, how: `source ${source.name}` };
  const named = hasActions ? undefined : actionOfFileName(fileName);
  return { action: named, how: named === undefined ? "actions by column action" : "file name" };
}

/** Throws `Failure("usage")` for a table whose header, file name and flags name no action, or not all columns. */
export function refuseHeader({ fields, action, fixed, conflict, names }: Reading, settings: NamedSettings): void {
  const fileName = settings.fileName === "" ? "the input" : settings.fileName;
  const refuse = (what: string, hint: string): Failure =>
    new Failure("usage", what, { hint: `${hint}, or describe the file under sources in the config.` });
  if (conflict !== undefined)
    throw refuse(
      `${fileName} has two columns for ${conflict.field}: ${conflict.headers.map(quote).join(" and ")}.`,
      "Remove or rename one of them",
    );
  if (fixed === undefined && action === undefined)
    throw refuse(
      `Can't tell which action the rows of ${fileName} are.`,
      `Give --action NAME, or begin the file name like one of ${FILE_NAME_PATTERNS}, or add a column action`,
    );
  if (fixed === undefined && fields.size === 0)
    throw refuse(
      `${fileName} has no column named like a field.`,
      "Name the columns like the fields (eventId, ticketId, ...)",
    );
  const missing = fixed === undefined ? [] : missingFields(fixed, (field) => fields.has(field));
  if (missing.length === 0) return;
  const lacks = `${fileName} has no column for ${missing.join(", ")}, which ${fixed} needs.`;
  const title = fields.size === 0 ? titleHint(names) : undefined;
  if (title !== undefined) throw new Failure("usage", lacks, { hint: title });
  const near = missing.flatMap((field) => {
    const meant = nearest(field, names);
    return meant === undefined ? [] : [`${quote(meant)} is near ${field}`];
  });
  const rename = near.length > 0 ? `${near.join("; ")}. ` : "";
  throw refuse(lacks, `${rename}Its columns are ${names.map(quote).join(", ")}. Rename or add the column`);
}

export function understandingOf(reading: Reading, { source, header }: NamedSettings): Understanding {
  const { names, fields, action, how, fixed, byAction } = reading;
  const read = [...byAction.values()][0] ?? []; // of actions that rows name, each reads all
  const taken = new Set(read.map(({ field }) => field));
  const used = new Set([...read.map(({ index }) => index), fixed === undefined ? action : undefined]);
  const notes = [...reading.notes];
  if (source?.config.actions !== undefined)
    notes.push(`the rules of source ${source.name} are not used, because of --action`);
  if (fixed !== undefined) {
    for (const [field, index] of fields)
      if (!taken.has(field)) notes.push(`${quote(names[index] ?? field)} is not used: ${fixed} takes no ${field}`);
    for (const field of actionSpec(fixed).required)
      if (relaxingRule(fixed, field) !== undefined && !taken.has(field))
        notes.push(`no column ${field}, which the service's table requires for ${fixed}`);
  }
  return {
    how,
    ...(fixed && { action: fixed }),
    columns: header?.length ?? 0,
    used: names.filter((_name, index) => used.has(index)),
    unused: names.filter((_name, index) => !used.has(index)),
    publicFields: read.flatMap(({ field }) => publicName(field) ?? []),
    notes,
  };
}

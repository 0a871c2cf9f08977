/** Columns named like fields: which column is which field, and notes about the others. */

import { ACTION_NAMES, ACTIONS, type ActionName, acceptedFields, actionSpec } from "../actions/actions.ts";
import { FIELD_NAMES, type FieldName, fieldSpec, relaxingRule } from "../actions/fields.ts";
import { fold, nearest } from "../actions/nearest.ts";
import { OWN_COLUMNS } from "../actions/rejects-columns.ts";
import { quote } from "./mapping-error.ts";

const EXACT_ONLY: ReadonlySet<string> = new Set(FIELD_NAMES.filter((name) => fieldSpec(name).exactName));

const FIELD_BY_FOLDED: ReadonlyMap<string, FieldName> = new Map(FIELD_NAMES.map((name) => [fold(name), name]));

/** What a header says by itself, before it is known which action its rows are. */
export interface NamedColumns {
  /** Index of each field's column. */
  readonly fields: ReadonlyMap<FieldName, number>;
  /** Index of the column `action`. */
  readonly action: number | undefined;
  /** Why columns that nearly name a field are not used. */
  readonly notes: readonly string[];
  readonly conflict: Conflict | undefined;
}

/** Two columns that mean the same field, by their headers. */
export interface Conflict {
  readonly field: string;
  readonly headers: readonly [string, string];
}

/** Compares names ignoring case, blanks, `_` and `-`; `name`, `description` and `to` by exact header beside a ticket's id only. */
export function readColumns(header: readonly string[]): NamedColumns {
  const fields = new Map<FieldName, number>();
  const notes: string[] = [];
  const strangers: string[] = [];
  let action: number | undefined;
  let conflict: Conflict | undefined;
  const clash = (field: string, first: number, second: number) => {
    conflict ??= { field, headers: [header[first] ?? "", header[second] ?? ""] };
  };
  for (const [index, written] of header.entries()) {
    const exact = written.trim();
    if (OWN_COLUMNS.has(exact) || exact === "") continue;
    const folded = fold(exact);
    if (folded === "action") {
      if (action !== undefined) clash("action", action, index);
      action ??= index;
      continue;
    }
    const field = FIELD_BY_FOLDED.get(folded);
    if (field === undefined) {
      strangers.push(exact);
    } else if (EXACT_ONLY.has(field) && exact !== field) {
      notes.push(
        `${quote(exact)} is not used: what ${field} holds becomes public, so its column must be called ${field}`,
      );
    } else {
      const before = fields.get(field);
      if (before === undefined) fields.set(field, index);
      else clash(field, before, index);
    }
  }
  if (!fields.has("ticketId") && !fields.has("nftId")) {
    for (const field of EXACT_ONLY as ReadonlySet<FieldName>) {
      if (!fields.delete(field)) continue;
      notes.push(
        `${quote(field)} is not used: it becomes public, so it is read only beside a column ticketId or nftId`,
      );
    }
  }
  const open = FIELD_NAMES.filter((field) => !fields.has(field) && !EXACT_ONLY.has(field));
  for (const stranger of strangers) {
    const meant = nearest(stranger, open);
    if (meant !== undefined) notes.push(`${quote(stranger)} is not used (did you mean ${meant}?)`);
  }
  return { fields, action, notes, conflict };
}

/** The fields of an action, and those whose refusal the config's `rules` relaxed. */
export function fieldsOf(action: ActionName, relaxedRules: ReadonlySet<string>): ReadonlySet<FieldName> {
  const fields = new Set(acceptedFields(action));
  for (const field of FIELD_NAMES) {
    const rule = relaxingRule(action, field);
    if (rule !== undefined && relaxedRules.has(rule)) fields.add(field);
  }
  return fields;
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

/** The action that a file's name stands for by convention; of several prefixes the longest counts. */
export function actionOfFileName(fileName: string): ActionName | undefined {
  const folded = fileName.toLowerCase();
  const meant = ACTION_NAMES.flatMap((action) =>
    actionSpec(action).fileNames.map((prefix) => ({ action, prefix })),
  ).filter(({ prefix }) => folded.startsWith(prefix));
  return meant.sort((one, other) => other.prefix.length - one.prefix.length)[0]?.action;
}

/** `events*, sales*, …`, for messages. */
export const FILE_NAME_PATTERNS: string = Object.values(ACTIONS)
  .flatMap(({ fileNames }) => fileNames.map((prefix) => `${prefix}*`))
  .join(", ");

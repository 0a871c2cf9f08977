/** The rules of one action by itself, for the client's checks and for the sandbox alike. */

import type { z } from "zod";
import { ACTION_NAMES, type ActionName, acceptedFields, actionSpec } from "./actions.ts";
import { isJsonObject } from "./exact-number.ts";
import { FIELD_NAMES, type FieldName, fieldSpec, isFieldName, relaxingRule } from "./fields.ts";
import { faultOfIssue, issuesOf, typeName } from "./formats.ts";
import { escapePointer, stringifyJson } from "./json.ts";
import { nearest } from "./nearest.ts";
import type { ActionFinding } from "./rules.ts";
import { FIELD_SCHEMAS, itemSchema } from "./schemas.ts";

/** Shared by all sound items. */
export const NONE: readonly ActionFinding[] = Object.freeze([]);

/**
 * Everything that is wrong with an item of a request body, `{action, data}`; empty when nothing is. It is judged by the
 * schema of its action. The findings' severity is the rule's (`ACTION_RULES`), unless the reader relaxes it.
 */
export function validateItem(item: unknown): readonly ActionFinding[] {
  if (!isJsonObject(item))
    return [
      {
        rule: "item-shape",
        pointer: "",
        message: `The item is ${typeName(item)}, not an object with action and data.`,
        hint: ITEM_HINT,
      },
    ];
  const issues = issuesOf(itemSchema(item.action), item);
  if (issues.length === 0) return NONE;
  const data = isJsonObject(item.data) ? item.data : {};
  const action = item.action as ActionName; // else its data is not looked into
  return issues
    .flatMap((issue) => (issue.code === "unrecognized_keys" ? issuesOfKeys(issue, action, data) : [issue]))
    .map((issue) => ({ issue, place: placeOf(issue, data) }))
    .sort((one, other) => one.place - other.place)
    .map(({ issue }) => {
      const isOfItem = issue.path.length === 1;
      return ownFinding(issue) ?? (isOfItem ? itemFinding(issue, item) : dataFinding(issue, action, data));
    });
}

const ITEM_HINT = 'Write {"action": ..., "data": {...}}.';

type Issue = z.core.$ZodIssue;
type Members = Readonly<Record<string, unknown>>;

/** Of each strange key an issue, and those of its value where it is the name of a field. */
function issuesOfKeys(strange: z.core.$ZodIssueUnrecognizedKeys, action: ActionName, data: Members): readonly Issue[] {
  const issues = strange.keys.map((key) => ({ ...strange, path: [...strange.path, key] }));
  if (strange.path.length === 0) return issues;
  return issues.flatMap((issue): readonly Issue[] => {
    const name = String(issue.path[1]);
    const value = data[name];
    if (value === undefined) return [];
    // In an update null says the same as leaving the field out.
    if (!isFieldName(name) || (value === null && actionSpec(action).updates)) return [issue];
    return [issue, ...issuesOf(FIELD_SCHEMAS[name], value).map((inner) => ({ ...inner, path: issue.path }))];
  });
}

/** First what is wrong with the item's keys, then its fields as they stand in data, and at last what is not there. */
function placeOf(issue: Issue, data: Members): number {
  const [key, name] = issue.path.map(String);
  if (ownFinding(issue) !== undefined) return Number.MAX_SAFE_INTEGER;
  if (name === undefined) return issue.code === "unrecognized_keys" ? -3 : key === "data" ? -2 : -1;
  return data[name] === undefined ? Number.MAX_SAFE_INTEGER : Object.keys(data).indexOf(name);
}

/** What is wrong with data as a whole is told by its schema. */
function ownFinding({ code, path, params }: Issue & { readonly params?: unknown }): ActionFinding | undefined {
  return code === "custom" && path.length === 1 ? (params as ActionFinding | undefined) : undefined; // `choiceFindings`
}

function itemFinding({ code, path: [key = ""] }: Issue, { action, data }: Members): ActionFinding {
  if (code === "unrecognized_keys") return strangeKey(String(key));
  if (key === "data")
    return {
      rule: "item-shape",
      pointer: "/data",
      message: `data is ${typeName(data)}, not an object.`,
      hint: ITEM_HINT,
    };
  return {
    rule: "action-unknown",
    pointer: "/action",
    ...textOf(action),
    message: `action is ${typeof action === "string" ? "not one of the service's actions" : typeName(action)}.`,
    hint: actionHint(action),
  };
}

function strangeKey(key: string): ActionFinding {
  const own = nearest(key, ["action", "data"]);
  const meant = nearest(key, FIELD_NAMES);
  const elsewhere = meant === undefined ? "Leave it out." : `Move it into data, as ${meant}.`;
  return {
    rule: "item-shape",
    pointer: `/${escapePointer(key)}`,
    value: key,
    message: `The item has an unknown key ${stringifyJson(key)}; it holds action and data only.`,
    hint: own === undefined ? elsewhere : `Did you mean ${own}?`,
  };
}

export function actionHint(written: unknown): string {
  const meant = typeof written === "string" ? nearest(written, ACTION_NAMES) : undefined;
  return meant === undefined ? `Actions are ${ACTION_NAMES.join(", ")}.` : `Did you mean ${meant}?`;
}

function dataFinding(issue: Issue, action: ActionName, data: Members): ActionFinding {
  const name = String(issue.path[1]);
  const value = data[name];
  if (issue.code === "unrecognized_keys") return strangeField(action, name, value);
  const field = name as FieldName; // the schemas know no others
  const { updates } = actionSpec(action);
  const about = { field, pointer: `/data/${field}` };
  if (value === undefined) return missingField(action, field);
  if (value === null)
    return {
      rule: "field-null",
      ...about,
      value: "null",
      message: updates
        ? `${field} is null, and ${action} needs it.`
        : `${field} is null; only an update takes null, for "leave unchanged".`,
      hint: "Leave the field out.",
    };
  const { rule, inside = "", message, hint } = faultOfIssue(issue, value);
  const isNoId = updates && value === "" && fieldSpec(field).kind !== "id";
  return {
    rule,
    field,
    pointer: `/data/${field}${inside}`,
    ...textOf(value),
    message: `${field} ${message}.`,
    hint: isNoId ? "Leave the field out: it has no default, so it can't be cleared." : hint,
  };
}

function strangeField(action: ActionName, name: string, value: unknown): ActionFinding {
  const where = { field: name, pointer: `/data/${escapePointer(name)}`, ...textOf(value) };
  if (!isFieldName(name)) {
    const meant = nearest(name, acceptedFields(action)) ?? nearest(name, FIELD_NAMES);
    return {
      rule: "field-unknown",
      ...where,
      message: `${stringifyJson(name)} is not a field.`,
      hint: meant === undefined ? "Leave it out." : `Did you mean ${meant}?`,
    };
  }
  const rule = relaxingRule(action, name);
  if (rule !== undefined) {
    return {
      rule,
      ...where,
      message:
        rule === "metadata-template-id"
          ? "The specification does not show which actions accept metadataTemplateId."
          : `By the service's table ${action} takes no ${name}, although one of its samples sends it.`,
      hint: `If your service takes it, set rules: {${rule}: off} in the config.`,
    };
  }
  return {
    rule: "field-not-accepted",
    ...where,
    message: `${action} takes no ${name}.`,
    hint: `It takes ${acceptedFields(action).join(", ")}.`,
  };
}

function missingField(action: ActionName, name: FieldName): ActionFinding {
  const rule = relaxingRule(action, name) ?? "field-required";
  const hint =
    rule === "field-required"
      ? `Add ${name}.`
      : `Add userId. If your service takes a sale without it, set rules: {${rule}: off} in the config.`;
  return { rule, field: name, pointer: "/data", message: `${action} has no ${name}, which is required.`, hint };
}

/** The value as text. What nests too deeply to be written out is a value without a text. */
function textOf(value: unknown): { value?: string } {
  if (value === undefined) return {};
  if (typeof value === "string") return { value };
  try {
    return { value: stringifyJson(value) };
  } catch (cause) {
    if (cause instanceof RangeError) return {};
    throw cause;
  }
}

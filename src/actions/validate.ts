/** The rules of one action by itself, for the client's checks and for the sandbox alike. */

import { ACTION_NAMES, type ActionName, acceptedFields, actionSpec, isActionName } from "./actions.ts";
import { isJsonObject, typeName } from "./exact-number.ts";
import { FIELD_NAMES, type FieldName, fieldSpec, isFieldName, relaxingRule } from "./fields.ts";
import { escapePointer, stringifyJson } from "./json.ts";
import { nearest } from "./nearest.ts";
import type { ActionFinding } from "./rules.ts";
import { faultIn } from "./schemas.ts";

/** Shared by all sound items. */
export const NONE: readonly ActionFinding[] = Object.freeze([]);

/**
 * Everything that is wrong with an item of a request body, `{action, data}`; empty when nothing is. First what is wrong with
 * its keys, then its fields as they stand in data, and at last what is not there. The findings' severity is the rule's
 * (`ACTION_RULES`), unless the reader relaxes it.
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
  const { action, data } = item;
  const findings = Object.keys(item)
    .filter((key) => key !== "action" && key !== "data")
    .map(strangeKey);
  if (!isJsonObject(data))
    findings.push({
      rule: "item-shape",
      pointer: "/data",
      message: `data is ${typeName(data)}, not an object.`,
      hint: ITEM_HINT,
    });
  if (typeof action !== "string" || !isActionName(action))
    findings.push({
      rule: "action-unknown",
      pointer: "/action",
      ...textOf(action),
      message: `action is ${typeof action === "string" ? "not one of the service's actions" : typeName(action)}.`,
      hint: actionHint(action),
    });
  else if (isJsonObject(data)) findings.push(...dataFindings(action, data));
  return findings.length === 0 ? NONE : findings;
}

const ITEM_HINT = 'Write {"action": ..., "data": {...}}.';

type Members = Readonly<Record<string, unknown>>;

function dataFindings(action: ActionName, data: Members): readonly ActionFinding[] {
  const { required, updates } = actionSpec(action);
  const accepted: readonly string[] = acceptedFields(action);
  const findings: ActionFinding[] = [];
  for (const [name, value] of Object.entries(data)) {
    if (value === undefined) continue;
    if (!accepted.includes(name)) findings.push(strangeField(action, name, value));
    if (!isFieldName(name)) continue;
    if (value !== null) findings.push(...valueFindings(action, name, value));
    // In an update null says the same as leaving the field out.
    else if (!updates || required.includes(name)) findings.push(nullField(action, name));
  }
  for (const name of required) if (data[name] === undefined) findings.push(missingField(action, name));
  findings.push(...choiceFindings(action, data));
  return findings;
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

function nullField(action: ActionName, field: FieldName): ActionFinding {
  return {
    rule: "field-null",
    field,
    pointer: `/data/${field}`,
    value: "null",
    message: actionSpec(action).updates
      ? `${field} is null, and ${action} needs it.`
      : `${field} is null; only an update takes null, for "leave unchanged".`,
    hint: "Leave the field out.",
  };
}

function valueFindings(action: ActionName, field: FieldName, value: unknown): readonly ActionFinding[] {
  const fault = faultIn(field, value);
  if (fault === undefined) return NONE;
  const { rule, inside = "", what, hint } = fault;
  const isNoId = actionSpec(action).updates && value === "" && fieldSpec(field).kind !== "id";
  return [
    {
      rule,
      field,
      pointer: `/data/${field}${inside}`,
      ...textOf(value),
      message: `${field} ${what}.`,
      hint: isNoId ? "Leave the field out: it has no default, so it can't be cleared." : hint,
    },
  ];
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

/** What is wrong with the fields of which one is enough. A null that has a finding of its own is not missing as well. */
function choiceFindings(action: ActionName, data: Readonly<Record<string, unknown>>): readonly ActionFinding[] {
  const { exclusive, anyOf, updates } = actionSpec(action);
  const findings: ActionFinding[] = [];
  const isGivenIn = (name: FieldName): boolean => data[name] != null;
  const isReported = (name: FieldName): boolean => !updates && data[name] === null;
  const isMissing = (names: readonly FieldName[]): boolean =>
    names.length > 0 && !names.some((name) => isGivenIn(name) || isReported(name));
  if (isMissing(exclusive))
    findings.push({
      rule: "ticket-reference-missing",
      field: "ticketId",
      pointer: "/data",
      message: `${action} names no ticket: exactly one of ${exclusive.join(" and ")} is required.`,
      hint: "Add the ticketId, or the nftId that the service made.",
    });
  if (exclusive.filter(isGivenIn).length > 1)
    findings.push({
      rule: "ticket-reference-both",
      field: "nftId",
      pointer: "/data/nftId",
      message: `${action} has ${exclusive.join(" and ")}; exactly one is accepted.`,
      hint: "Leave one out.",
    });
  if (isMissing(anyOf))
    findings.push({
      rule: "claim-recipient-missing",
      field: "to",
      pointer: "/data",
      message: `${action} has neither ${anyOf.join(" nor ")}; at least one is required.`,
      hint: "Add the wallet address (to), the userId or both.",
    });
  return findings;
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

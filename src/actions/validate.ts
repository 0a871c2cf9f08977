/** The rules of one action by itself, for the client's checks and for the sandbox alike. */

import type { ActionRule } from "../rules.ts";
import { ACTION_NAMES, type ActionName, acceptedFields, actionSpec, isActionName } from "./actions.ts";
import { type Draft, draftOf, type Given, givenValue } from "./draft.ts";
import { isJsonObject, typeName } from "./exact-number.ts";
import { FIELD_NAMES, type FieldName, isFieldName, recordOf, relaxingRule } from "./fields.ts";
import { escapePointer } from "./json.ts";
import { nearest } from "./nearest.ts";
import type { Fault, Problem } from "./problem.ts";

/** A problem of `validateItem`. */
export interface ActionProblem extends Problem {
  readonly rule: ActionRule;
}

/** Shared by all sound items. */
export const NONE: readonly ActionProblem[] = Object.freeze([]);

/**
 * Everything that is wrong with an item of a request body, `{action, data}`; empty when nothing is. First what is wrong with
 * its keys, then what is with its action (`validateDraft`). The problems' severity is the rule's (`ACTION_RULES`), unless the
 * reader relaxes it.
 */
export function validateItem(item: unknown): readonly ActionProblem[] {
  if (!isJsonObject(item))
    return [shapeProblem("", `The item is ${typeName(item)}, not an object with action and data.`)];
  const { action, data } = item;
  const problems = Object.keys(item)
    .filter((key) => key !== "action" && key !== "data")
    .map(strangeKey);
  if (!isJsonObject(data)) problems.push(shapeProblem("/data", `data is ${typeName(data)}, not an object.`));
  if (typeof action !== "string" || !isActionName(action))
    problems.push({
      rule: "action-unknown",
      pointer: "/action",
      ...shown(action),
      message: `action is ${typeof action === "string" ? "not one of the service's actions" : typeName(action)}.`,
      hint: actionHint(action),
    });
  else if (isJsonObject(data)) problems.push(...validateDraft(draftOf(action, data)));
  return problems.length === 0 ? NONE : problems;
}

function shapeProblem(pointer: string, message: string): ActionProblem {
  return { rule: "item-shape", pointer, message, hint: 'Write {"action": ..., "data": {...}}.' };
}

function strangeKey(key: string): ActionProblem {
  const own = nearest(key, ["action", "data"]);
  const meant = nearest(key, FIELD_NAMES);
  const elsewhere = meant === undefined ? "Leave it out." : `Move it into data, as ${meant}.`;
  return {
    rule: "item-shape",
    pointer: `/${escapePointer(key)}`,
    value: key,
    message: `The item has an unknown key ${JSON.stringify(key)}; it holds action and data only.`,
    hint: own === undefined ? elsewhere : `Did you mean ${own}?`,
  };
}

export function actionHint(written: unknown): string {
  const meant = typeof written === "string" ? nearest(written, ACTION_NAMES) : undefined;
  return meant === undefined ? `Actions are ${ACTION_NAMES.join(", ")}.` : `Did you mean ${meant}?`;
}

/** Everything that is wrong with an action: first its fields as they stand in data, then what is not there. */
export function validateDraft(draft: Draft): readonly ActionProblem[] {
  const problems: ActionProblem[] = [];
  for (const given of draft.given) {
    const { name, value, fault } = given;
    if (!TAKEN[draft.action].has(name)) problems.push(strangeField(draft.action, given));
    if (fault !== undefined) problems.push(faultProblem(draft.action, given, fault));
    if (value === null && isFieldName(name)) problems.push(...nullProblem(draft.action, name));
  }
  addMissing(draft, problems);
  return problems.length === 0 ? NONE : problems;
}

/** What each action takes by its table. */
const TAKEN = recordOf(ACTION_NAMES, (action): ReadonlySet<string> => new Set(acceptedFields(action)));

function strangeField(action: ActionName, given: Given): ActionProblem {
  const { name } = given;
  const where = { field: name, pointer: `/data/${escapePointer(name)}`, ...shownOf(given) };
  if (!isFieldName(name)) {
    const meant = nearest(name, acceptedFields(action)) ?? nearest(name, FIELD_NAMES);
    const hint = meant === undefined ? "Leave it out." : `Did you mean ${meant}?`;
    return { rule: "field-unknown", ...where, message: `${JSON.stringify(name)} is not a field.`, hint };
  }
  const rule = relaxingRule(action, name);
  if (rule === undefined) {
    const hint = `It takes ${acceptedFields(action).join(", ")}.`;
    return { rule: "field-not-accepted", ...where, message: `${action} takes no ${name}.`, hint };
  }
  const message =
    rule === "metadata-template-id"
      ? "The specification does not show which actions accept metadataTemplateId."
      : `By the service's table ${action} takes no ${name}, although one of its samples sends it.`;
  return { rule, ...where, message, hint: `If your service takes it, set rules: {${rule}: off} in the config.` };
}

/** In an update null says the same as leaving the field out. */
function nullProblem(action: ActionName, field: FieldName): readonly ActionProblem[] {
  const { updates, required } = actionSpec(action);
  if (updates && !required.includes(field)) return NONE;
  const message = updates
    ? `${field} is null, and ${action} needs it.`
    : `${field} is null; only an update takes null, for "leave unchanged".`;
  const hint = "Leave the field out.";
  return [{ rule: "field-null", field, pointer: `/data/${field}`, value: "null", message, hint }];
}

function faultProblem(action: ActionName, given: Given, { rule, inside = "", what, hint }: Fault): ActionProblem {
  const { name: field, text } = given;
  const isNoId = actionSpec(action).updates && text === "" && rule !== "id-empty";
  return {
    rule,
    field,
    pointer: `/data/${field}${inside}`,
    ...shownOf(given),
    message: `${field} ${what}.`,
    hint: isNoId ? "Leave the field out: it has no default, so it can't be cleared." : hint,
  };
}

const shownOf = (given: Given): { value?: string } => shown(given.text ?? givenValue(given));

/** The value as text. What nests too deeply to be written out is a value without a text. */
function shown(value: unknown): { value?: string } {
  if (value === undefined) return {};
  if (typeof value === "string") return { value };
  try {
    return { value: JSON.stringify(value) };
  } catch (cause) {
    if (cause instanceof RangeError) return {};
    throw cause;
  }
}

/** What is not there. A null that has a problem of its own is not missing as well. */
function addMissing(draft: Draft, problems: ActionProblem[]): void {
  const { action } = draft;
  const { required, exclusive, anyOf, updates } = actionSpec(action);
  const isThereOrReported = (name: FieldName): boolean => (updates ? draft.has(name) : draft.get(name) !== undefined);
  for (const name of required) if (draft.get(name) === undefined) problems.push(missingField(action, name));
  if (exclusive.length > 0 && !exclusive.some(isThereOrReported))
    problems.push({
      rule: "ticket-reference-missing",
      field: "ticketId",
      pointer: "/data",
      message: `${action} names no ticket: exactly one of ${exclusive.join(" and ")} is required.`,
      hint: "Add the ticketId, or the nftId that the service made.",
    });
  if (exclusive.length > 0 && exclusive.every((name) => draft.has(name)))
    problems.push({
      rule: "ticket-reference-both",
      field: "nftId",
      pointer: "/data/nftId",
      message: `${action} has ${exclusive.join(" and ")}; exactly one is accepted.`,
      hint: "Leave one out.",
    });
  if (anyOf.length > 0 && !anyOf.some(isThereOrReported))
    problems.push({
      rule: "claim-recipient-missing",
      field: "to",
      pointer: "/data",
      message: `${action} has neither ${anyOf.join(" nor ")}; at least one is required.`,
      hint: "Add the wallet address (to), the userId or both.",
    });
}

function missingField(action: ActionName, name: FieldName): ActionProblem {
  const rule = relaxingRule(action, name) ?? "field-required";
  const hint =
    rule === "field-required"
      ? `Add ${name}.`
      : `Add userId. If your service takes a sale without it, set rules: {${rule}: off} in the config.`;
  return { rule, action, field: name, pointer: "/data", message: `${action} has no ${name}, which is required.`, hint };
}

/** The rules of one action by itself, for the client's checks and for the sandbox alike. */

import { ACTION_NAMES, type ActionName, type ActionSpec, acceptedFields, actionSpec, isActionName } from "./actions.ts";
import { isJsonObject } from "./exact-number.ts";
import { FIELD_NAMES, type FieldName, type FieldSpec, fieldSpec, isFieldName, relaxingRule } from "./fields.ts";
import { faultOf, isUnusualWallet, isWithdrawnCurrency, typeName } from "./formats.ts";
import { escapePointer, stringifyJson } from "./json.ts";
import { nearest } from "./nearest.ts";
import type { ActionFinding } from "./rules.ts";

/** Shared, so that a sound action costs nothing. */
const NONE: readonly ActionFinding[] = Object.freeze([]);

/**
 * Everything that is wrong with an item of a request body, `{action, data}`; empty when nothing is.
 * The findings' severity is the rule's (`ACTION_RULES`), unless the reader relaxes it.
 */
export function validateItem(item: unknown): readonly ActionFinding[] {
  if (!isJsonObject(item)) {
    return [
      {
        rule: "item-shape",
        pointer: "",
        message: `The item is ${typeName(item)}, not an object with action and data.`,
      },
    ];
  }
  const { action, data } = item;
  let findings = NONE;
  for (const key of Object.keys(item)) {
    if (key === "action" || key === "data") continue;
    const own = nearest(key, ["action", "data"]);
    const meant = nearest(key, FIELD_NAMES);
    const elsewhere = meant === undefined ? "Leave it out." : `Move it into data, as ${meant}.`;
    findings = [
      ...findings,
      {
        rule: "item-shape",
        pointer: `/${escapePointer(key)}`,
        value: key,
        message: `The item has an unknown key ${stringifyJson(key)}; it holds action and data only.`,
        hint: own === undefined ? elsewhere : `Did you mean ${own}?`,
      },
    ];
  }
  if (!isJsonObject(data)) {
    findings = [
      ...findings,
      { rule: "item-shape", pointer: "/data", message: `data is ${typeName(data)}, not an object.` },
    ];
  }
  if (typeof action !== "string" || !isActionName(action)) {
    return [
      ...findings,
      {
        rule: "action-unknown",
        pointer: "/action",
        ...textOf(action),
        message: `action is ${typeof action === "string" ? "not one of the service's actions" : typeName(action)}.`,
        hint: actionHint(action),
      },
    ];
  }
  if (!isJsonObject(data)) return findings;
  const ofData = validateData(action, data);
  return findings.length === 0 ? ofData : [...findings, ...ofData];
}

export function actionHint(written: unknown): string {
  const meant = typeof written === "string" ? nearest(written, ACTION_NAMES) : undefined;
  return meant === undefined ? `Actions are ${ACTION_NAMES.join(", ")}.` : `Did you mean ${meant}?`;
}

/** Everything that is wrong with the data of an action: fields that are missing, strange, or malformed. */
function validateData(action: ActionName, data: object): readonly ActionFinding[] {
  const spec = actionSpec(action);
  const takes = ACCEPTED.get(action);
  let findings: ActionFinding[] | undefined;
  // Not Object.entries: this runs once per action. An own key called __proto__ is a field like any other unknown one.
  for (const name of Object.keys(data)) {
    const value = (data as Record<string, unknown>)[name]; // an own key
    if (value === undefined) continue;
    const accepted = takes?.get(name);
    const field = accepted ?? (isFieldName(name) ? fieldSpec(name) : undefined);
    if (accepted === undefined) {
      findings ??= [];
      findings.push(strangeField(action, name, value));
    }
    if (field === undefined || !isFieldName(name)) continue;
    if (value === null) {
      // In an update null says the same as leaving the field out, so only what can't be left out is wrong.
      if (spec.updates && !spec.required.includes(name)) continue;
      findings ??= [];
      findings.push(nullField(action, name, spec.updates));
      continue;
    }
    const finding = valueFinding(name, field, value, spec.updates);
    if (finding === undefined) continue;
    findings ??= [];
    findings.push(finding);
  }
  const missing = missingFindings(action, spec, data as Record<string, unknown>); // read only
  if (missing === undefined) return findings ?? NONE;
  return findings === undefined ? missing : [...findings, ...missing];
}

const ACCEPTED: ReadonlyMap<ActionName, ReadonlyMap<string, FieldSpec>> = new Map(
  ACTION_NAMES.map((action) => [action, new Map(acceptedFields(action).map((name) => [name, fieldSpec(name)]))]),
);

function valueFinding(name: FieldName, spec: FieldSpec, value: unknown, updates: boolean): ActionFinding | undefined {
  const fault = faultOf(spec, value);
  if (fault !== undefined) {
    const { rule, inside = "", message } = fault;
    const hint =
      updates && value === "" && spec.kind !== "id" ? "It has no default, so it can't be cleared." : fault.hint;
    return {
      rule,
      field: name,
      pointer: `/data/${name}${inside}`,
      ...textOf(value),
      message: `${name} ${message}.`,
      ...(hint !== undefined && { hint }),
    };
  }
  if (name === "currency" && isWithdrawnCurrency(String(value)))
    return {
      rule: "currency-withdrawn",
      field: name,
      pointer: "/data/currency",
      ...textOf(value),
      message: "currency is not in the current ISO 4217 list.",
    };
  if (name === "to" && isUnusualWallet(String(value)))
    return {
      rule: "wallet-unusual",
      field: name,
      pointer: "/data/to",
      ...textOf(value),
      message: "to is not an address of the 0x form, so it can't be checked here.",
    };
  return undefined;
}

/** What is not there. A null that has a finding of its own is not missing as well. */
function missingFindings(
  action: ActionName,
  { required, exclusive, anyOf, updates }: ActionSpec,
  data: Readonly<Record<string, unknown>>,
): ActionFinding[] | undefined {
  let findings: ActionFinding[] | undefined;
  for (const name of required) {
    if (data[name] !== undefined) continue;
    findings ??= [];
    findings.push(missingField(action, name));
  }
  const isTold = (name: FieldName): boolean => !updates && data[name] === null;
  if (exclusive.length > 0) {
    let given = 0;
    for (const name of exclusive) if (data[name] != null) given += 1;
    if (given === 0 && !exclusive.some(isTold)) {
      findings ??= [];
      findings.push({
        rule: "ticket-reference-missing",
        field: "ticketId",
        pointer: "/data",
        message: `${action} names no ticket: exactly one of ${exclusive.join(" and ")} is required.`,
        hint: "Add the ticketId, or the nftId that the service made.",
      });
    }
    if (given > 1) {
      findings ??= [];
      findings.push({
        rule: "ticket-reference-both",
        field: "nftId",
        pointer: "/data/nftId",
        message: `${action} has ${exclusive.join(" and ")}; exactly one is accepted.`,
        hint: "Leave one out.",
      });
    }
  }
  if (anyOf.length > 0 && !anyOf.some((name) => data[name] != null) && !anyOf.some(isTold)) {
    findings ??= [];
    findings.push({
      rule: "claim-recipient-missing",
      field: "to",
      pointer: "/data",
      message: `${action} has neither ${anyOf.join(" nor ")}; at least one is required.`,
      hint: "Add the wallet address (to), the userId or both.",
    });
  }
  return findings;
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
          ? "Which actions accept metadataTemplateId is not shown."
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

function nullField(action: ActionName, name: FieldName, updates: boolean): ActionFinding {
  return {
    rule: "field-null",
    field: name,
    pointer: `/data/${name}`,
    value: "null",
    message: updates
      ? `${name} is null, and ${action} needs it.`
      : `${name} is null; only an update takes null, for "leave unchanged".`,
    hint: "Leave the field out.",
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

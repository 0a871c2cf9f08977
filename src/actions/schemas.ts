/** The schemas of zod by which every item is judged, and from which JSON Schema derives: one a field, one an action. */

import * as z from "zod";
import {
  ACTION_NAMES,
  type ActionName,
  acceptedFields,
  actionSpec,
  isActionName,
  MAX_ACTIONS_PER_REQUEST,
} from "./actions.ts";
import { isJsonObject } from "./exact-number.ts";
import { FIELD_NAMES, type FieldName, fieldSpec } from "./fields.ts";
import { type Fault, faultOfIssue, issuesOf, type JsonSchema, KEYWORDS, KINDS, telling } from "./formats.ts";
import { ACTION_RULES, type ActionFinding } from "./rules.ts";

/** One for each name of the table. */
export const recordOf = <Name extends string, T>(
  names: readonly Name[],
  make: (name: Name) => T,
): Readonly<Record<Name, T>> => Object.fromEntries(names.map((name) => [name, make(name)])) as Record<Name, T>;

export const FIELD_SCHEMAS = recordOf(FIELD_NAMES, (name) => {
  const spec = fieldSpec(name);
  const schema = KINDS[spec.kind](spec);
  const description = `${spec.meaning} When omitted: ${spec.whenOmitted}.`;
  return schema.register(KEYWORDS, { id: name, description, ...KEYWORDS.get(schema) });
});

/** Returns what is wrong with a value of the field, never a warning. Null is not this function's business. */
export function faultOf(name: FieldName, value: unknown): Fault | undefined {
  const faults = issuesOf(FIELD_SCHEMAS[name], value).map((issue) => faultOfIssue(issue, value));
  return faults.find(({ rule }) => ACTION_RULES[rule].severity === "error");
}

const DATA_SCHEMAS = recordOf(ACTION_NAMES, (action) => {
  const { meaning, required, exclusive, anyOf, updates } = actionSpec(action);
  const shape = recordOf(acceptedFields(action), (name) => {
    if (required.includes(name)) return FIELD_SCHEMAS[name];
    return (updates ? FIELD_SCHEMAS[name].nullable() : FIELD_SCHEMAS[name]).optional();
  });
  const tellChoices = telling((data: Readonly<Record<string, unknown>>) => choiceFindings(action, data));
  return z
    .strictObject(shape)
    .superRefine((_, payload) => tellChoices(payload), { when: () => true })
    .register(KEYWORDS, {
      id: action,
      description: meaning,
      ...(exclusive.length > 0 && { oneOf: exclusive.map((name) => isGiven(name, updates)) }),
      ...(anyOf.length > 0 && { anyOf: anyOf.map((name) => isGiven(name, updates)) }),
    });
});

/** That a field is there; in an update a null is as if it were not. */
function isGiven(name: FieldName, updates: boolean): JsonSchema {
  return { required: [name], ...(updates && { properties: { [name]: { not: { type: "null" } } } }) };
}

/** What is wrong with the fields of which one is enough. A null that has a finding of its own is not missing as well. */
function choiceFindings(action: ActionName, data: Readonly<Record<string, unknown>>): readonly ActionFinding[] {
  const { exclusive, anyOf, updates } = actionSpec(action);
  const findings: ActionFinding[] = [];
  const isGivenIn = (name: FieldName): boolean => data[name] != null;
  const isTold = (name: FieldName): boolean => !updates && data[name] === null;
  const isMissing = (names: readonly FieldName[]): boolean =>
    names.length > 0 && !names.some((name) => isGivenIn(name) || isTold(name));
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

/** Any object, of which nothing more is said. */
const OBJECT = z.custom<Readonly<Record<string, unknown>>>(isJsonObject);

const itemOf = (action: ActionName) =>
  z.strictObject({ action: z.literal(action), data: OBJECT.pipe(DATA_SCHEMAS[action]) });
type Item = ReturnType<typeof itemOf>;
const ITEM = z
  .discriminatedUnion("action", ACTION_NAMES.map(itemOf) as [Item, ...Item[]]) // there are actions
  .register(KEYWORDS, { id: "item" });
/** An item of which not even the action is known. */
const STRANGE_ITEM = z.strictObject({ action: z.enum(ACTION_NAMES), data: OBJECT });

/** The schema by which an item is judged; `action` is whatever it has as such. */
export const itemSchema = (action: unknown): z.ZodType =>
  typeof action === "string" && isActionName(action) ? ITEM : STRANGE_ITEM;

/** The body of `POST /stream`. */
export const PAYLOAD_SCHEMA = z
  .array(ITEM)
  .max(MAX_ACTIONS_PER_REQUEST)
  .register(KEYWORDS, {
    title: "Body of POST /stream",
    description: `At most ${MAX_ACTIONS_PER_REQUEST} actions, processed and answered in this order.`,
  });

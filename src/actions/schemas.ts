/** The schemas of zod: of a field, by which its values are judged, and of an action, from which JSON Schema derives. */

import * as z from "zod";
import { ACTION_NAMES, type ActionName, acceptedFields, actionSpec, MAX_ACTIONS_PER_REQUEST } from "./actions.ts";
import { FIELD_NAMES, type FieldName, fieldSpec } from "./fields.ts";
import { type Fault, faultBy, type JsonSchema, KEYWORDS, KINDS } from "./formats.ts";
import { ACTION_RULES } from "./rules.ts";

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

/** What is wrong with a value of the field, never a warning. Null is not this function's business. */
export function faultOf(name: FieldName, value: unknown): Fault | undefined {
  const fault = faultBy(FIELD_SCHEMAS[name], value);
  return fault !== undefined && ACTION_RULES[fault.rule].severity === "error" ? fault : undefined;
}

const DATA_SCHEMAS = recordOf(ACTION_NAMES, (action) => {
  const { meaning, required, exclusive, anyOf, updates } = actionSpec(action);
  const shape = recordOf(acceptedFields(action), (name) => {
    if (required.includes(name)) return FIELD_SCHEMAS[name];
    return (updates ? FIELD_SCHEMAS[name].nullable() : FIELD_SCHEMAS[name]).optional();
  });
  return z.strictObject(shape).register(KEYWORDS, {
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

const itemOf = (action: ActionName) => z.strictObject({ action: z.literal(action), data: DATA_SCHEMAS[action] });
type Item = ReturnType<typeof itemOf>;
const ITEM = z
  .discriminatedUnion("action", ACTION_NAMES.map(itemOf) as [Item, ...Item[]]) // there are actions
  .register(KEYWORDS, { id: "item" });

/** The body of `POST /stream`. */
export const PAYLOAD_SCHEMA = z
  .array(ITEM)
  .max(MAX_ACTIONS_PER_REQUEST)
  .register(KEYWORDS, {
    title: "Body of POST /stream",
    description: `At most ${MAX_ACTIONS_PER_REQUEST} actions, processed and answered in this order.`,
  });

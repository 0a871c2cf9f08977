/**
 * JSON Schema (draft 2020-12) of what the service takes, from the tables.
 *
 * A schema can't say all that `validateItem` checks: not whether a URL can be parsed, a mixed-case address has its
 * checksum, a key stands twice or text inside a text is JSON. What it refuses, `validateItem` refuses too.
 */

import { ACTION_NAMES, type ActionName, acceptedFields, actionSpec } from "./actions.ts";
import { FIELD_NAMES, type FieldName, fieldSpec, recordOf, whenOmitted } from "./fields.ts";
import { type JsonSchema, KINDS } from "./kinds.ts";

export type { JsonSchema } from "./kinds.ts";

export const DRAFT = "https://json-schema.org/draft/2020-12/schema";

export const refer = (id: string): JsonSchema => ({ $ref: `#/$defs/${id}` });

export const FIELD_SCHEMAS = recordOf(FIELD_NAMES, (name) => {
  const { meaning, kind, maxLength, default: cleared } = fieldSpec(name);
  const { type, ...keywords } = KINDS[kind].keywords;
  return {
    description: `${meaning} When omitted: ${whenOmitted(name)}.`,
    ...(type !== undefined && { type }),
    ...(maxLength !== undefined && { maxLength }),
    ...(cleared === "" && "pattern" in keywords ? { anyOf: [{ const: "" }, keywords] } : keywords),
  };
});

export const DATA_SCHEMAS = recordOf(ACTION_NAMES, (action) => {
  const { meaning, required, exclusive, anyOf, updates } = actionSpec(action);
  const properties = recordOf(acceptedFields(action), (name) => {
    const mayBeNull = updates && !required.includes(name);
    return mayBeNull ? { anyOf: [refer(name), { type: "null" }] } : refer(name);
  });
  return {
    description: meaning,
    ...objectOf(properties, required),
    ...(exclusive.length > 0 && { oneOf: exclusive.map((name) => isGiven(name, updates)) }),
    ...(anyOf.length > 0 && { anyOf: anyOf.map((name) => isGiven(name, updates)) }),
  };
});

export function objectOf(properties: Readonly<Record<string, JsonSchema>>, required: readonly string[]): JsonSchema {
  return { type: "object", properties, ...(required.length > 0 && { required }), additionalProperties: false };
}

/** That a field is there; in an update a null is as if it were not. */
function isGiven(name: FieldName, updates: boolean): JsonSchema {
  return { required: [name], ...(updates && { properties: { [name]: { not: { type: "null" } } } }) };
}

/** Of each action the schema of its `data`, whole by itself. `JSON.stringify` writes it with the greatest time exact. */
export function actionSchemas(): Readonly<Record<ActionName, JsonSchema>> {
  return recordOf(ACTION_NAMES, (action) => ({
    $schema: DRAFT,
    title: action,
    ...DATA_SCHEMAS[action],
    $defs: recordOf(acceptedFields(action), (name) => FIELD_SCHEMAS[name]),
  }));
}

/**
 * JSON Schema (draft 2020-12) of what the service takes and of what `tickets` writes, derived from the tables.
 *
 * A schema can't say all that `validateItem` checks: not whether a URL can be parsed, a mixed-case address has its
 * checksum, a key stands twice or text inside a text is JSON. What it refuses, `validateItem` refuses too.
 */

import { ACTION_NAMES, type ActionName, acceptedFields, actionSpec, MAX_ACTIONS_PER_REQUEST } from "./actions.ts";
import { CURRENCY_CODES } from "./currencies.ts";
import { FIELD_NAMES, type FieldKind, type FieldName, type FieldSpec, fieldSpec } from "./fields.ts";
import { U64_MAX } from "./formats.ts";

/** Written out by `stringifyJson`: the greatest time is a bigint. */
export type JsonSchema = { readonly [keyword: string]: unknown };

const DRAFT = "https://json-schema.org/draft/2020-12/schema";

/** The body of `POST /stream`: a list of `{action, data}`. */
export function payloadJsonSchema(): JsonSchema {
  return {
    $schema: DRAFT,
    title: "Body of POST /stream",
    description: `At most ${MAX_ACTIONS_PER_REQUEST} actions, processed and answered in this order.`,
    type: "array",
    maxItems: MAX_ACTIONS_PER_REQUEST,
    items: { $ref: "#/$defs/item" },
    $defs: {
      item: {
        type: "object",
        properties: { action: { enum: ACTION_NAMES }, data: { type: "object" } },
        required: ["action", "data"],
        additionalProperties: false,
        allOf: ACTION_NAMES.map((action) => ({
          if: { properties: { action: { const: action } }, required: ["action"] },
          // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
          then: { properties: { data: { $ref: `#/$defs/${action}` } } },
        })),
      },
      ...Object.fromEntries(ACTION_NAMES.map((action) => [action, dataSchema(action)])),
      ...Object.fromEntries(FIELD_NAMES.map((name) => [name, fieldSchema(fieldSpec(name))])),
    },
  };
}

/** Of each action the schema of its `data`, whole by itself. The greatest time of one is a bigint. */
export function actionSchemas(): Readonly<Record<ActionName, JsonSchema>> {
  const schemaOf = (action: ActionName): JsonSchema => ({
    $schema: DRAFT,
    title: action,
    ...dataSchema(action),
    $defs: Object.fromEntries(acceptedFields(action).map((name) => [name, fieldSchema(fieldSpec(name))])),
  });
  return Object.fromEntries(ACTION_NAMES.map((action) => [action, schemaOf(action)])) as Readonly<
    Record<ActionName, JsonSchema> // one for each name
  >;
}

function dataSchema(action: ActionName): JsonSchema {
  const { meaning, required, exclusive, anyOf, updates } = actionSpec(action);
  const property = (name: FieldName): JsonSchema => {
    const field = { $ref: `#/$defs/${name}` };
    return updates && !required.includes(name) ? { anyOf: [field, { type: "null" }] } : field;
  };
  return {
    description: meaning,
    type: "object",
    properties: Object.fromEntries(acceptedFields(action).map((name) => [name, property(name)])),
    additionalProperties: false,
    ...(required.length > 0 && { required }),
    ...(exclusive.length > 0 && { oneOf: exclusive.map((name) => isGiven(name, updates)) }),
    ...(anyOf.length > 0 && { anyOf: anyOf.map((name) => isGiven(name, updates)) }),
  };
}

/** That a field is there; in an update a null is as if it were not. */
function isGiven(name: FieldName, updates: boolean): JsonSchema {
  return { required: [name], ...(updates && { properties: { [name]: { not: { type: "null" } } } }) };
}

function fieldSchema(spec: FieldSpec): JsonSchema {
  const value = KINDS[spec.kind](spec);
  const description = `${spec.meaning} When omitted: ${spec.whenOmitted}.`;
  // The blank string passes every format where it is the default.
  const isBlankRefused = spec.default === "" && spec.kind !== "text";
  return { description, ...(isBlankRefused ? { anyOf: [{ const: "" }, value] } : value) };
}

const text = ({ maxLength }: FieldSpec): JsonSchema => ({
  type: "string",
  ...(maxLength !== undefined && { maxLength }),
});

const ATTRIBUTES: JsonSchema = {
  type: "array",
  items: {
    type: "object",
    properties: {
      trait_type: { type: "string" },
      value: { type: ["string", "number", "boolean"] },
      display_type: { type: "string" },
    },
    required: ["trait_type", "value"],
    additionalProperties: false,
  },
};

const KINDS: Record<FieldKind, (spec: FieldSpec) => JsonSchema> = {
  id: (spec) => ({ ...text(spec), pattern: "\\S" }),
  text,
  url: (spec) => ({ ...text(spec), pattern: "^[Hh][Tt][Tt][Pp][Ss]?://[^/\\s]\\S*$" }),
  currency: () => ({ enum: CURRENCY_CODES }),
  latitude: () => ({ type: "number", minimum: -90, maximum: 90 }),
  longitude: () => ({ type: "number", minimum: -180, maximum: 180 }),
  u64: () => ({ type: "integer", minimum: 0, maximum: U64_MAX }),
  nftId: () => ({ type: "string", pattern: "^\\S+-[0-9]+-[0-9]+$" }),
  price: () => ({ type: "string", pattern: "^[0-9]+(\\.[0-9]+)?$" }),
  wallet: () => ({
    type: "string",
    anyOf: [{ pattern: "^0x[0-9a-fA-F]{40}$" }, { pattern: "^(?!0[xX])\\S+$" }],
  }),
  metadata: () => ({
    anyOf: [
      ATTRIBUTES,
      { type: "string", minLength: 2, contentMediaType: "application/json", contentSchema: ATTRIBUTES },
    ],
  }),
  uuid: () => ({
    type: "string",
    pattern: "^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$",
  }),
};

/** One line of a promises file. Later versions may add keys. */
export function promisesJsonSchema(): JsonSchema {
  return {
    $schema: DRAFT,
    title: "A line of a promises file",
    description: "One action that the service has answered, or that a person settled by hand.",
    type: "object",
    properties: {
      source: { type: "string", description: "Input file as it was named; - is standard input." },
      line: { type: "integer", minimum: 1, description: "Physical line where the row starts." },
      action: { enum: ACTION_NAMES },
      eventId: { type: "string" },
      ticketId: { type: "string" },
      nftId: { type: "string" },
      status: {
        type: "string",
        description:
          "success: accepted. settled-by-hand: a person said that the service has it. Anything else is the service's word for a rejection.",
      },
      actionPromise: { type: "string", minLength: 1, description: "Asks the service about the action later." },
      response: { description: "The service's whole answer to a rejected action." },
      environment: { type: "string" },
      run: { type: "string", description: "Id of the run that sent the action." },
      seq: { type: "integer", minimum: 0, description: "Place of the action in the run's plan." },
      chunk: { type: "integer", minimum: 0, description: "The request of the run that carried it." },
      at: { type: "string", format: "date-time", description: "When the answer came." },
    },
    required: ["source", "line", "action", "status", "environment", "run", "seq", "chunk", "at"],
    if: { properties: { status: { const: "success" } }, required: ["status"] },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { required: ["actionPromise"] },
  };
}

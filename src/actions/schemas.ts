/**
 * The schemas of zod: of a field, by which its values are judged, and of an action and a payload, from which JSON Schema
 * (draft 2020-12) derives; and JSON Schema of what `tickets` writes.
 *
 * A schema can't say all that `validateItem` checks: not whether a URL can be parsed, a mixed-case address has its
 * checksum, a key stands twice or text inside a text is JSON. What it refuses, `validateItem` refuses too.
 */

import * as z from "zod";
import { ACTION_NAMES, type ActionName, acceptedFields, actionSpec, MAX_ACTIONS_PER_REQUEST } from "./actions.ts";
import { FIELD_NAMES, type FieldName, fieldSpec, numberOf, recordOf, whenOmitted } from "./fields.ts";
import type { JsonSchema } from "./kind.ts";
import { faultIn, KINDS, U64_MAX } from "./kinds.ts";

/** The keywords of each schema here: zod can't derive them from checks. What has an `id` is defined once and referred to. */
const KEYWORDS = z.registry<JsonSchema>();

/** Of each field the schema that judges its values by the same table as its validator. */
export const FIELD_SCHEMAS = recordOf(FIELD_NAMES, (name) =>
  z
    .unknown()
    .check(({ value, issues }) => {
      const fault = faultIn(numberOf(name), value);
      if (fault !== undefined) issues.push({ code: "custom", input: value, message: fault.what, params: { fault } });
    })
    .register(KEYWORDS, {
      id: name,
      description: `${fieldSpec(name).meaning} When omitted: ${whenOmitted(name)}.`,
      ...keywordsOf(name),
    }),
);

function keywordsOf(name: FieldName): JsonSchema {
  const { kind, maxLength, default: cleared } = fieldSpec(name);
  const { type, ...keywords } = KINDS[kind].keywords;
  return {
    ...(type !== undefined && { type }),
    ...(maxLength !== undefined && { maxLength }),
    ...(cleared === "" && "pattern" in keywords ? { anyOf: [{ const: "" }, keywords] } : keywords),
  };
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

const PAYLOAD = z
  .array(ITEM)
  .max(MAX_ACTIONS_PER_REQUEST)
  .register(KEYWORDS, {
    title: "Body of POST /stream",
    description: `At most ${MAX_ACTIONS_PER_REQUEST} actions, processed and answered in this order.`,
  });

export type { JsonSchema } from "./kind.ts";

const DRAFT = "https://json-schema.org/draft/2020-12/schema";

type Defs = Readonly<Record<string, JsonSchema>>;

/** The body of `POST /stream`: a list of `{action, data}`. */
export function payloadJsonSchema(): JsonSchema {
  const { $defs, ...payload } = z.toJSONSchema(PAYLOAD, { metadata: KEYWORDS });
  return { ...payload, $defs: { ...$defs, ...exactTimes($defs as Defs) } };
}

/** zod writes no number that a number of JavaScript can't hold. */
function exactTimes(defs: Defs): Defs {
  const times = FIELD_NAMES.filter((name) => fieldSpec(name).kind === "u64");
  return Object.fromEntries(times.map((name) => [name, { ...defs[name], maximum: U64_MAX }]));
}

/** Of each action the schema of its `data`, whole by itself. The greatest time of one is a bigint. */
export function actionSchemas(): Readonly<Record<ActionName, JsonSchema>> {
  const defs = payloadJsonSchema().$defs as Defs; // as made above
  return recordOf(ACTION_NAMES, (action) => ({
    $schema: DRAFT,
    title: action,
    ...defs[action],
    $defs: Object.fromEntries(acceptedFields(action).map((name) => [name, defs[name]])),
  }));
}

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

/**
 * JSON Schema (draft 2020-12) of what the service takes, derived from the schemas by which items are judged, and of what `tickets` writes.
 *
 * A schema can't say all that `validateItem` checks: not whether a URL can be parsed, a mixed-case address has its
 * checksum, a key stands twice or text inside a text is JSON. What it refuses, `validateItem` refuses too.
 */

import * as z from "zod";
import { ACTION_NAMES, type ActionName, acceptedFields } from "./actions.ts";
import { FIELD_NAMES, fieldSpec } from "./fields.ts";
import { type JsonSchema, KEYWORDS, U64_MAX } from "./formats.ts";
import { PAYLOAD_SCHEMA, recordOf } from "./schemas.ts";

export type { JsonSchema } from "./formats.ts";

const DRAFT = "https://json-schema.org/draft/2020-12/schema";

type Defs = Readonly<Record<string, JsonSchema>>;

/** The body of `POST /stream`: a list of `{action, data}`. */
export function payloadJsonSchema(): JsonSchema {
  const { $defs, ...payload } = z.toJSONSchema(PAYLOAD_SCHEMA, { metadata: KEYWORDS });
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

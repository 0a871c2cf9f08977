/** The JSON Schemas of a request body and of a promises file. */

import { ACTION_NAMES, MAX_ACTIONS_PER_REQUEST } from "../src/actions/actions.ts";
import { DATA_SCHEMAS, DRAFT, FIELD_SCHEMAS, type JsonSchema, objectOf, refer } from "../src/actions/schemas.ts";

/** The body of `POST /stream`: a list of `{action, data}`. */
export function payloadJsonSchema(): JsonSchema {
  const items = ACTION_NAMES.map((action) =>
    objectOf({ action: { type: "string", const: action }, data: refer(action) }, ["action", "data"]),
  );
  return {
    $schema: DRAFT,
    title: "Body of POST /stream",
    description: `At most ${MAX_ACTIONS_PER_REQUEST} actions, processed and answered in this order.`,
    type: "array",
    maxItems: MAX_ACTIONS_PER_REQUEST,
    items: { oneOf: items },
    $defs: { ...DATA_SCHEMAS, ...FIELD_SCHEMAS },
  };
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

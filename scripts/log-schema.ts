/** The JSON Schema of a log's lines, made of the table of its events. */

import type { JsonSchema } from "../src/actions/schemas.ts";
import { EVENT_FIELDS, LOG_EVENTS, type LogEventSpec, type LogField } from "../src/commands/log-events.ts";

/** Every line has these. */
const LINE_FIELDS = {
  time: { type: "string", meaning: "when, UTC in ISO 8601" },
  event: { type: "string", meaning: "what happened, one of the events of this table" },
  level: { type: "string", meaning: "`info`, `warn` or `error`" },
  message: { type: "string", meaning: "the same in words, which may change between versions" },
} as const satisfies Record<string, LogField>;

/** A line has these as far as they are known by then. */
const PLACE_FIELDS = {
  environment: { type: "string", meaning: "name of the environment" },
  run: { type: "string", meaning: "id of the run" },
} as const satisfies Record<string, LogField>;

const TYPES: Readonly<Record<LogField["type"], JsonSchema>> = {
  string: { type: "string" },
  integer: { type: "integer" },
  boolean: { type: "boolean" },
  counts: { type: "object", additionalProperties: { type: "integer" } },
};

/** The JSON Schema of one line. Later versions may add events and fields. */
export function logJsonSchema(): JsonSchema {
  const propertiesOf = (fields: Readonly<Record<string, LogField>>): JsonSchema =>
    Object.fromEntries(
      Object.entries(fields).map(([name, { type, meaning }]) => [name, { ...TYPES[type], description: meaning }]),
    );
  const events: readonly (readonly [string, LogEventSpec])[] = Object.entries(LOG_EVENTS);
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "A line of --log",
    type: "object",
    properties: { ...propertiesOf({ ...LINE_FIELDS, ...PLACE_FIELDS }), level: { enum: ["info", "warn", "error"] } },
    required: Object.keys(LINE_FIELDS),
    oneOf: events.map(([event, { when, fields }]) => ({
      description: when,
      properties: {
        event: { const: event },
        ...propertiesOf(Object.fromEntries(fields.map((field) => [field, EVENT_FIELDS[field]]))),
      },
    })),
  };
}

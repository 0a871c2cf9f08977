/** `tickets schema`: JSON Schemas for editors and other programs. */

import { stringifyJson } from "../actions/json.ts";
import { type JsonSchema, payloadJsonSchema, promisesJsonSchema } from "../actions/json-schema.ts";
import { configJsonSchema } from "../config/schema.ts";
import { EXIT_CODES } from "../failure.ts";
import type { Context } from "./context.ts";
import { logJsonSchema } from "./log-events.ts";

export const SCHEMAS = ["payload", "config", "promises", "log"] as const;
export type SchemaName = (typeof SCHEMAS)[number];

const SCHEMA_OF = {
  payload: payloadJsonSchema,
  config: configJsonSchema,
  promises: promisesJsonSchema,
  log: logJsonSchema,
} satisfies Record<SchemaName, () => JsonSchema>;

export async function schema(what: SchemaName, { reporter }: Context): Promise<number> {
  reporter.out(`${stringifyJson(SCHEMA_OF[what](), 2)}\n`);
  return EXIT_CODES.ok;
}

/** What a config may hold: the one schema from which parsing, TypeScript types and the published JSON Schema derive. */

import * as z from "zod";
import { SEVERITIES } from "../actions/problem.ts";
import { needs, oneOf, SOURCE_TEXT, sourceSchema, textValue } from "../map/source.ts";
import {
  ENVIRONMENT_NAME,
  ENVIRONMENT_NAME_RULE,
  environmentName,
  environmentSchema,
  stateFolder,
} from "./settings.ts";

export const configSchema = z.strictObject(
  {
    $schema: textValue("the address of a JSON Schema").optional().describe("For editors; tickets does not read it."),
    env: environmentName().optional().describe("Environment used when none is named."),
    environments: z
      .record(z.string().regex(ENVIRONMENT_NAME), environmentSchema, {
        error: (issue) =>
          issue.code === "invalid_key" ? ENVIRONMENT_NAME_RULE : needs("a map of environments")(issue),
      })
      .optional(),
    sources: z.record(z.string(), sourceSchema, { error: needs("a map of sources") }).optional(),
    rules: z
      .record(z.string(), oneOf(SEVERITIES), { error: needs("a map from rule ids to off, warn or error") })
      .optional()
      .describe("Severities that differ from docs/reference.md#rules."),
    stateDir: stateFolder().optional().describe("Folder of ledgers and plans; relative to this file."),
  },
  { error: needs("a map with env, environments, sources, rules and stateDir") },
);

export type ParsedConfig = z.output<typeof configSchema>;
export type ParsedEnvironment = z.output<typeof environmentSchema>;

/** The JSON Schema of a config, for editors: docs/schema/config.schema.json. */
export function configJsonSchema(): Record<string, unknown> {
  const { $schema, ...schema } = z.toJSONSchema(configSchema, {
    io: "input",
    override: ({ jsonSchema }) => {
      delete jsonSchema.id; // what is named is found by its key in $defs
      if (jsonSchema[SOURCE_TEXT] !== true) return;
      delete jsonSchema[SOURCE_TEXT];
      // Editors see 0123 as a number; the config's reader takes its text.
      if (jsonSchema.enum !== undefined) jsonSchema.enum = [...jsonSchema.enum, true, false]; // of {empty: true|false}
      if (jsonSchema.type === "string") jsonSchema.type = ["string", "number", "boolean"] as unknown as "string"; // the type only knows one
    },
  });
  return { $schema, title: "tickets.config", ...schema };
}

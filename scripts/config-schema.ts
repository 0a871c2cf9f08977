/** The JSON Schema of a config, made of what its reader checks by. */

import * as z from "zod";
import { configSchema } from "../src/config/settings.ts";
import { SOURCE_TEXT } from "../src/map/source.ts";

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
